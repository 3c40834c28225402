// SPDX-License-Identifier: Apache-2.0
// For each version of the schema the first file that was published: it is never changed, and says
// for ever what it said then. The values are those of the file's text.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "golden.hpp"
#include "run/json.hpp"

namespace clprobe {
namespace {

std::filesystem::path oldest_folder() {
  return std::filesystem::path(CLPROBE_GOLDEN_FOLDER).parent_path() / "schema" / "oldest";
}

Run oldest_run() {
  const auto runs = runs_from_json(read_text(oldest_folder() / "clprobe-run-1.json"));
  REQUIRE(runs.size() == 1);
  return runs.front();
}

const Finding& finding_of(const ProbeResult& result, std::string_view name, std::string_view series,
                          int level) {
  const auto found =
      std::find_if(result.findings.begin(), result.findings.end(), [&](const Finding& each) {
        return each.name == name && each.series == series && each.level == level;
      });
  REQUIRE(found != result.findings.end());
  return *found;
}

TEST_CASE("there is one oldest document for each version, and this test knows all of them") {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(oldest_folder())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"clprobe-run-1.json"});
}

TEST_CASE("version 1: who measured what, and when") {
  const Run run = oldest_run();
  CHECK(run.tool.version == "0.1.0");
  CHECK(run.tool.commit == "unknown commit");
  CHECK(run.tool.compiler == "g++ 13.3.0");
  CHECK(run.started == "2026-11-20T13:28:08Z");
  CHECK(run.arguments == std::vector<std::string>{"latency", "-d", "cpu", "-o", "xeon2.json"});
  CHECK(run.seed == 42);
  CHECK_FALSE(run.interrupted);
  CHECK_FALSE(run.imported.has_value());
  CHECK(run.warnings.empty());
  CHECK(run.host.cpu == "Intel(R) Xeon(R) Processor");
  CHECK(run.host.logical_cpus == 16);
}

TEST_CASE("version 1: the device, and what its timers were") {
  const DeviceInfo device = oldest_run().device;
  CHECK(device.name == "cpu-skylake-avx512-Intel(R) Xeon(R) Processor");
  CHECK(device.driver == "5.0+debian");
  CHECK(device.compute_units == 16);
  CHECK(device.global_memory == Bytes{7343685632});
  CHECK(device.cache_line == Bytes{64});
  CHECK(device.pointers_stay_valid);
  CHECK(device.uuid.empty());
  CHECK(device.clock.kind == ClockKind::cpu);
  CHECK(device.clock.rate == ClockRate::constant_rate);
  CHECK(device.clock.overhead_ticks == 54);
  CHECK(device.clock.quantum_ticks == 2);
  CHECK(device.clock.ticks_per_ns == 2.09993924785765);
  CHECK(device.reported.integer("timer_resolution_ns") == 1);
  CHECK(device.reported.text("profile") == "FULL_PROFILE");
  // The file has no launch_timer: a clock counted only where events were true.
  CHECK(device.timer == Timer::clock);
  CHECK(device.launch_timer == Timer::event);
}

TEST_CASE("version 1: a document without launch_timer has its timer, if that times launches") {
  json::Json document = json::parse(read_text(oldest_folder() / "clprobe-run-1.json"));
  const auto launch_timer = [&] {
    return runs_from_json(document.dump()).front().device.launch_timer;
  };
  document["device"]["timer"] = "host";
  CHECK(launch_timer() == Timer::host);
  document["device"]["timer"] = "event";
  CHECK(launch_timer() == Timer::event);
  document["device"]["timer"] = "clock";
  document["device"]["launch_timer"] = "host";
  CHECK(launch_timer() == Timer::host);
}

TEST_CASE("version 1: samples, kernels and warnings as they were written") {
  const Run run = oldest_run();
  REQUIRE(run.results.size() == 1);
  const ProbeResult& result = run.results.front();
  CHECK(result.probe == "latency");
  CHECK(result.unit == Unit::seconds);
  CHECK(result.status == Status::ok);
  CHECK(result.elapsed_seconds == 17.450401355);
  REQUIRE(result.kernels.size() >= 2);
  CHECK(result.kernels[0].sha256 ==
        "3edc02fb6a8524c8396ce4a54099637e7f23e536612cd4880f16122276fc00b2");
  CHECK(result.kernels[0].options ==
        "-DCLOCK=6 -DSPACE=0 -DADDRESS=0 -DWIDE=0 -DSCALAR=0 -DUNROLL=16");
  REQUIRE(result.points.size() == 506);
  const Point& first = result.points.front();
  CHECK(first.series == "global");
  CHECK(first.parameters.integer("working_set_bytes") == 1024);
  CHECK(first.parameters.text("address") == "pointer");
  REQUIRE(first.samples.size() == 3);
  CHECK(first.samples[0] == Sample{.accesses = 65536,
                                   .ticks = 237316,
                                   .event_ns = 125965,
                                   .host_ns = 156242,
                                   .witness = 704,
                                   .visit = 0});
  const Point& last = result.points.back();
  CHECK(last.parameters.integer("working_set_bytes") == 145439040);
  REQUIRE(last.samples.size() == 6);
  CHECK(last.samples[5].ticks == 12507212);
  CHECK(last.samples[5].visit == 1);
  REQUIRE(result.warnings.size() == 2);
  CHECK(result.warnings[0].code == "wide_intervals");
  CHECK(result.warnings[0].facts.integer("points") == 209);
  CHECK(std::get<double>(*result.warnings[1].facts.find("drift_share")) == 0.026056927584763547);
}

TEST_CASE("version 1: findings by name, level and unit, with and without a value") {
  const ProbeResult result = oldest_run().results.front();
  CHECK(result.findings.size() == 28);
  const Finding& latency = finding_of(result, "latency", "global", 2);
  CHECK(latency.value == 5.3451776527797136e-09);
  CHECK(latency.low == 5.025213387973672e-09);
  CHECK(latency.high == 5.873742864900372e-09);
  CHECK(latency.unit == "seconds");
  CHECK(latency.source == Source::derived);
  CHECK(finding_of(result, "capacity", "image", 1).value == 49480.027488143656);
  const Finding& step = finding_of(result, "step", "global", 1);
  CHECK_FALSE(step.value.has_value());
  CHECK(step.label == "cache");
  CHECK(step.method == "one node per page");
}

}  // namespace
}  // namespace clprobe
