// SPDX-License-Identifier: Apache-2.0
// Descriptions of devices, from made-up probes: what becomes a number, and why others are missing.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "golden.hpp"
#include "present/api/report.hpp"
#include "present/description.hpp"

namespace clprobe::described {
namespace {

constexpr FindingSpec chase_findings[]{{.name = "capacity", .unit = "bytes"}};
constexpr FindingSpec stream_findings[]{{.name = "rate", .unit = "bytes_per_second"}};
constexpr FindingSpec other_findings[]{{.name = "peak", .unit = "operations_per_second"},
                                       {.name = "lines", .unit = "cycles|seconds"},
                                       {.name = "bytes_at_least", .unit = "bytes"}};
constexpr DescribedNumber of_streams[]{
    {"read_bandwidth", "rate", "reading", DescribedAs::of_level}};
constexpr DescribedNumber of_others[]{
    {"peak.fp32", "peak", "fused"},
    {"local.lines", "lines", "first"},
    {"local.lines", "lines", "second"},
    {"in_flight.bytes", "bytes_at_least", "all", DescribedAs::lower_bound}};

void learn_last_cache(const ProbeResult& result, Known& known) {
  for (const CardLevel& each : result.card.levels) {
    if (each.memory != CardMemory::global || !each.capacity.value) continue;
    if (each.what == "reach of a TLB") continue;
    known.last_cache = {static_cast<std::uint64_t>(*each.capacity.value)};
  }
}

const Probe chase{.id = "chase", .findings = chase_findings, .learn = learn_last_cache};
const Probe stream{.id = "stream", .findings = stream_findings, .described = of_streams};
const Probe other{.id = "other", .findings = other_findings, .described = of_others};
const std::vector<const Probe*> probes{&chase, &stream, &other};

Finding finding(std::string_view name, std::string_view series, double value, double share,
                std::string_view unit) {
  Finding made;
  made.name = name;
  made.series = series;
  made.value = value;
  made.low = value * (1.0 - share);
  made.high = value * (1.0 + share);
  made.unit = unit;
  return made;
}

CardLevel level(std::string_view name, double ns, double capacity) {
  CardLevel made{.name = std::string(name), .memory = CardMemory::global};
  made.latency = finding("latency", "chain", ns * 1e-9, 0.0, "seconds");
  made.capacity = finding("capacity", "chain", capacity, 0.25, "bytes");
  return made;
}

/// A device with a cache of two halves, whose bandwidth is that of one, and with local memory.
Run example() {
  Run run;
  run.tool.version = "1.2.3";
  run.started = "2026-01-02T03:04:05Z";
  run.device.name = "Made \x1b[31mdevice";
  run.device.type = DeviceType::gpu;
  run.device.vendor = "Maker";
  run.device.driver = "7";
  run.device.compute_units = 4;
  run.device.reported.set("cache_bytes", std::int64_t{4096});
  run.device.reported.set("max_clock_mhz", std::int64_t{1500});

  ProbeResult levels{.probe = "chase"};
  levels.card.levels = {level("L1", 10.0, 16384.0), level("L2", 100.0, 1048576.0),
                        level("far L2?", 200.0, 2097152.0), level("memory", 400.0, 0.0)};
  levels.card.levels[1].cycles = finding("cycles", "chain", 128.0, 0.0, "cycles");
  levels.card.levels[2].what = "far half of L2, or L3";
  Finding& end = levels.card.levels[3].capacity;
  end.value.reset();
  end.high.reset();
  end.low = 268435456.0;
  end.reason = "the end was not reached";
  CardLevel local = level("local", 20.0, 32768.0);
  local.memory = CardMemory::local;
  levels.card.levels.push_back(local);

  ProbeResult rates{.probe = "stream"};
  CardColumn column{.title = "read", .series = "reading"};
  const auto plateau = [&](double from, double to, bool is_open, double rate) {
    column.plateaus.push_back(
        {from, to, is_open, "text", finding("rate", "reading", rate, 0.5, "bytes_per_second")});
  };
  plateau(1024.0, 16384.0, false, 4e12);
  plateau(20480.0, 2097152.0, false, 1e12);
  plateau(4194304.0, 268435456.0, true, 2e11);
  rates.card.columns.push_back(column);

  ProbeResult others{.probe = "other"};
  others.findings = {finding("peak", "fused", 8e12, 0.5, "operations_per_second"),
                     finding("lines", "second", 2.0, 0.0, "cycles"),
                     finding("bytes_at_least", "all", 65536.0, 0.5, "bytes")};
  Finding none{.name = "lines", .series = "first", .reason = "not visible"};
  others.findings.insert(others.findings.begin(), none);
  run.results = {levels, rates, others};
  return run;
}

report::DeviceNumber number(const Run& run, std::string_view name) {
  const report::Description description = report::describe(probes, run);
  const auto found = std::ranges::find(description.numbers, name, &report::DeviceNumber::name);
  REQUIRE(found != description.numbers.end());
  return *found;
}

TEST_CASE("the description of a made-up run") {
  const std::vector<Run> runs(1, example());
  check_golden("device.json", describe_devices(probes, runs, {}));
}

TEST_CASE("stdout and several devices get an array, as with --json") {
  const std::vector<Run> one(1, example());
  const std::vector<Run> two(2, example());
  const auto size = [](const std::string& text) {
    const auto document = nlohmann::json::parse(text);
    return document.is_array() ? document.size() : 0;
  };
  CHECK(size(describe_devices(probes, one, {})) == 0);
  CHECK(size(describe_devices(probes, one, {.is_stream = true})) == 1);
  CHECK(size(describe_devices(probes, two, {})) == 2);
}

TEST_CASE("a ridge holds all quotients of the two intervals") {
  const report::DeviceNumber ridge = number(example(), "L1.ridge");
  CHECK(ridge.value == doctest::Approx(2.0));
  CHECK(ridge.low == doctest::Approx(4e12 / 6e12));
  CHECK(ridge.high == doctest::Approx(12e12 / 2e12));
  CHECK(ridge.source == Source::derived);
}

TEST_CASE("a probe that failed or did not run is the reason") {
  Run run = example();
  run.results[2] = {.probe = "other", .status = Status::failed, .reason = "out of memory"};
  CHECK(number(run, "peak.fp32").reason == "other: failed: out of memory");
  CHECK(number(run, "L2.ridge").reason == "peak.fp32 has no value");
  run.results.pop_back();
  CHECK(number(run, "peak.fp32").reason == "the run has no results of other");
  CHECK(number(run, "peak.fp32").unit == "operations_per_second");
  run.results[1] = {.probe = "stream", .status = Status::interrupted};
  CHECK(number(run, "L1.read_bandwidth").reason == "stream: interrupted");
  CHECK(number(run, "L1.ridge").reason == "L1.read_bandwidth has no value");
}

TEST_CASE("a last cache that may be the reach of a TLB says so") {
  Run run = example();
  CHECK(number(run, "last_cache.capacity").reason == "this is far L2 (far half of L2, or L3)");
  std::vector<CardLevel>& levels = run.results[0].card.levels;
  levels[1].what.clear();
  levels[2].what = "reach of a TLB";
  const report::DeviceNumber capacity = number(run, "last_cache.capacity");
  CHECK(capacity.value == 1048576.0);
  CHECK(capacity.reason == "without far L2 (reach of a TLB)");
  levels.erase(levels.begin() + 2);
  CHECK(number(run, "last_cache.capacity").reason.empty());
}

TEST_CASE("a run without levels has no last cache") {
  Run run = example();
  run.results.erase(run.results.begin());
  const report::DeviceNumber capacity = number(run, "last_cache.capacity");
  CHECK_FALSE(capacity.value);
  CHECK(capacity.reason == "the run has no results of chase");
  CHECK(number(run, "last_cache.flush").reason == "last_cache.capacity has no value");
  CHECK(report::describe(probes, run).levels.empty());
}

}  // namespace
}  // namespace clprobe::described
