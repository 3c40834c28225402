// SPDX-License-Identifier: Apache-2.0
// Documents of version 1: what they say in keys of version 2, and that nothing else changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "golden.hpp"
#include "run/json.hpp"

namespace clprobe {
namespace {

using json::Json;

const std::filesystem::path source_folder =
    std::filesystem::path(CLPROBE_GOLDEN_FOLDER).parent_path().parent_path();

Json stored(const std::string& file) { return json::parse(read_text(source_folder / file)); }

Run only_run(std::string_view text) {
  std::vector<Run> runs = runs_from_json(text);
  REQUIRE(runs.size() == 1);
  return std::move(runs.front());
}

std::string refusal(const Json& document) {
  try {
    static_cast<void>(runs_from_json(document.dump()));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return "accepted";
}

const ProbeResult* find_result(const Run& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ProbeResult& each) { return each.probe == probe; });
  return found == run.results.end() ? nullptr : &*found;
}

std::vector<std::string> names_in(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters) names.push_back(name);
  return names;
}

struct Stored {
  const char* file;
  DeviceType type;
  Timer launch_timer;  // of the files of 20 November from the clock, since they have none
  int points;
  int with_buffer;
  int with_huge_pages;
};

constexpr std::array stored_runs{
    Stored{"results/intel/xeon/pocl-3.1_2026-11-21.json", DeviceType::cpu, Timer::event, 516, 376,
           335},
    Stored{"results/intel/xeon/pocl-5.0_2026-11-20.json", DeviceType::cpu, Timer::event, 506, 506,
           463},
    Stored{"results/nvidia/h100/580.159.04_2026-11-22.json", DeviceType::gpu, Timer::event, 2185,
           1017, 0},
    Stored{"results/nvidia/h200/580.159.04_2026-11-20.json", DeviceType::gpu, Timer::event, 342,
           342, 0},
    Stored{"results/nvidia/h200/580.159.04_2026-11-22.json", DeviceType::gpu, Timer::event, 2177,
           1009, 0},
    Stored{"tests/schema/oldest/clprobe-run-1.json", DeviceType::cpu, Timer::event, 506, 506, 463},
};

bool has_facts_among_parameters(const Point& point) {
  constexpr std::array facts{"buffer_bytes", "huge_page_percent", "page_kind", "imported_ns",
                             "imported_bytes_per_second"};
  return std::any_of(facts.begin(), facts.end(),
                     [&](const char* name) { return point.parameters.find(name) != nullptr; });
}

// A small document of version 1, with one of everything that is elsewhere in version 2.
constexpr const char* small_document = R"({"schema":"clprobe-run","schema_version":1,
"tool":{"version":"0.1.0","commit":"1","compiler":"g++"},"started":"","arguments":[],"seed":1,
"interrupted":false,"host":{"cpu":"","os":"","kernel":"","logical_cpus":1},
"device":{"index":0,"platform_index":"","platform":"","name":"","type":"accelerator","vendor":"",
"driver":"","version":"","compute_units":1,"sub_group_size":1,"max_work_group_size":1,
"global_memory_bytes":1,"max_allocation_bytes":1,"local_memory_bytes":1,"constant_buffer_bytes":1,
"cache_line_bytes":1,"image_buffer_pixels":0,"pointers_stay_valid":false,
"clock":{"kind":"none","rate":"unknown","overhead_ticks":0,"quantum_ticks":1,"ticks_per_ns":0.0,
"ticks_per_ns_low":0.0,"ticks_per_ns_high":0.0,"r_squared":0.0},"timer":"host","reported":{}},
"warnings":[{"code":"calibration_poor","facts":{}}],
"results":[{"probe":"stride","quantity":"bytes_per_second","status":"ok","elapsed_seconds":1.5,
"findings":[{"name":"bandwidth","series":"","unit":"bytes_per_second","source":"measured"},
{"name":"capacity","series":"","unit":"bytes","source":"derived"},
{"name":"knee","series":"","unit":"bytes","source":"derived"},
{"name":"cycles","series":"","unit":"cycles","source":"derived"}],
"warnings":[{"code":"small_pages","facts":{}},{"code":"too_fast","facts":{}},
{"code":"clock_drift","facts":{}}],"kernels":[],
"points":[{"series":"a","parameters":{"buffer_bytes":8,"step_bytes":4,"page_kind":"huge",
"flush_cycles":3,"cycles":7,"gsi_memory_data_l2_cycles":2.5,"cycles_wanted":1,"imported_ns":1.5,
"imported_bytes_per_second":2.5,"huge_page_percent":50},"samples":[]}]}]})";

}  // namespace

TEST_CASE("every stored run of version 1 has its facts apart, and its device type") {
  for (const Stored& each : stored_runs) {
    CAPTURE(each.file);
    const Run run = only_run(read_text(source_folder / each.file));
    CHECK(run.device.type == each.type);
    CHECK(run.device.timer == Timer::clock);
    CHECK(run.device.launch_timer == each.launch_timer);
    int points = 0;
    int with_buffer = 0;
    int with_huge_pages = 0;
    for (const ProbeResult& result : run.results) {
      const bool is_rate = result.probe == "stride";
      CHECK(result.unit == (is_rate ? Unit::bytes_per_second : Unit::seconds));
      CHECK(result.view == View{});
      for (const Point& point : result.points) {
        ++points;
        with_buffer += point.facts.find("buffer_bytes") != nullptr ? 1 : 0;
        with_huge_pages += point.facts.find("huge_page_percent") != nullptr ? 1 : 0;
        REQUIRE_FALSE(has_facts_among_parameters(point));
        REQUIRE_FALSE(point.parameters.empty());
      }
    }
    CHECK(points == each.points);
    CHECK(with_buffer == each.with_buffer);
    CHECK(with_huge_pages == each.with_huge_pages);
  }
}

TEST_CASE("the stored points have the values that they had") {
  const Run xeon = only_run(read_text(source_folder / "tests/schema/oldest/clprobe-run-1.json"));
  const Point& chase = xeon.results.at(0).points.at(0);
  CHECK(names_in(chase.parameters) == std::vector<std::string>{"working_set_bytes", "step_bytes",
                                                               "line_bytes", "address", "unroll"});
  CHECK(chase.parameters.integer("working_set_bytes") == 1024);
  CHECK(names_in(chase.facts) == std::vector<std::string>{"buffer_bytes", "huge_page_percent"});
  CHECK(chase.facts.integer("buffer_bytes") == 1073741824);
  CHECK(chase.facts.integer("huge_page_percent") == 100);
  const Run h200 =
      only_run(read_text(source_folder / "results/nvidia/h200/580.159.04_2026-11-22.json"));
  const ProbeResult* const stride = find_result(h200, "stride");
  REQUIRE(stride != nullptr);
  CHECK(stride->points.at(0).facts.integer("buffer_bytes") == 1073741824);
  CHECK(stride->points.at(0).parameters.text("timer") == "event");
  CHECK(stride->findings.at(0).name == "bandwidth");
  CHECK(stride->findings.at(0).value == 4527041554236.373);
  CHECK(stride->findings.at(0).better == Better::more);
  CHECK(stride->findings.at(0).role == Role::fact);
  CHECK(stride->findings.at(3).name == "knee");
  CHECK(stride->findings.at(3).better == Better::unknown);
  const ProbeResult* const latency = find_result(h200, "latency");
  REQUIRE(latency != nullptr);
  CHECK(latency->findings.at(0).name == "latency");
  CHECK(latency->findings.at(0).better == Better::less);
}

TEST_CASE("samples and findings of stored runs stay as they were") {
  for (const Stored& each : stored_runs) {
    CAPTURE(each.file);
    const Json before = stored(each.file);
    const Run run = only_run(before.dump());
    const Json after = json::encode(run);
    for (std::size_t i = 0; i < run.results.size(); ++i) {
      const Json& old_result = before.at("results").at(i);
      const Json& result = after.at("results").at(i);
      REQUIRE(result.at("points").size() == old_result.at("points").size());
      for (std::size_t k = 0; k < result.at("points").size(); ++k) {
        const Json& point = result.at("points").at(k);
        REQUIRE(point.at("samples") == old_result.at("points").at(k).at("samples"));
        std::size_t names = point.at("parameters").size() + point.at("facts").size();
        REQUIRE(names == old_result.at("points").at(k).at("parameters").size());
      }
      Json findings = result.at("findings");
      for (Json& finding : findings) {
        finding.erase("better");
        CHECK_FALSE(finding.contains("role"));
      }
      CHECK(findings == old_result.at("findings"));
    }
    CHECK(runs_from_json(to_json(std::span(&run, 1))) == std::vector<Run>{run});
  }
}

TEST_CASE("what version 1 says otherwise is told from it") {
  const Run run = only_run(small_document);
  CHECK(run.device.type == DeviceType::accelerator);
  CHECK(run.device.launch_timer == Timer::host);
  CHECK(run.warnings.at(0).source == WarningSource::engine);
  const ProbeResult& result = run.results.at(0);
  CHECK(result.unit == Unit::bytes_per_second);
  const Point& point = result.points.at(0);
  CHECK(names_in(point.parameters) == std::vector<std::string>{"step_bytes", "cycles_wanted"});
  CHECK(names_in(point.facts) ==
        std::vector<std::string>{"buffer_bytes", "page_kind", "flush_cycles", "cycles",
                                 "gsi_memory_data_l2_cycles", "imported_ns",
                                 "imported_bytes_per_second", "huge_page_percent"});
  CHECK(point.facts.text("page_kind") == "huge");
  CHECK(result.warnings.at(0).source == WarningSource::analysis);
  CHECK(result.warnings.at(1).source == WarningSource::analysis);
  CHECK(result.warnings.at(2).source == WarningSource::engine);
  CHECK(result.findings.at(0).better == Better::more);
  CHECK(result.findings.at(1).better == Better::more);
  CHECK(result.findings.at(2).better == Better::unknown);
  CHECK(result.findings.at(3).better == Better::less);
}

TEST_CASE("keys of version 2 are unknown to version 1, and the other way round") {
  const Json good = json::parse(small_document);
  REQUIRE(refusal(good) == "accepted");
  const auto refusal_with = [&](const char* place, const Json& value) {
    Json document = good;
    document[Json::json_pointer(place)] = value;
    return refusal(document);
  };
  CHECK(refusal_with("/results/0/unit", "seconds") ==
        R"(results[0].unit: expected no key of this name, found the string "seconds")");
  CHECK(refusal_with("/results/0/view", Json::object()) ==
        "results[0].view: expected no key of this name, found an object");
  CHECK(refusal_with("/results/0/points/0/facts", Json::object()) ==
        "results[0].points[0].facts: expected no key of this name, found an object");
  CHECK(refusal_with("/results/0/findings/0/role", "fact") ==
        R"(results[0].findings[0].role: expected no key of this name, found the string "fact")");
  CHECK(refusal_with("/results/0/findings/0/better", "more") ==
        R"(results[0].findings[0].better: expected no key of this name, found the string "more")");
  CHECK(refusal_with("/warnings/0/source", "engine") ==
        R"(warnings[0].source: expected no key of this name, found the string "engine")");
  CHECK(refusal_with("/device/launch_timer", "event") == "accepted");
  CHECK(refusal_with("/schema_version", 2) ==
        "device.launch_timer: expected a string, found nothing");
}

}  // namespace clprobe
