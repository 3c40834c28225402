// SPDX-License-Identifier: Apache-2.0
// Checkups of devices, from made-up runs: what is good, noted, or a problem.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "present/api/report.hpp"
#include "present/checkup.hpp"

namespace clprobe::report {
namespace {

constexpr DescribedNumber together[]{{"local.lanes_together", "lanes", "loads"}};
const Probe lanes{.id = "lanes", .described = together};
const std::vector<const Probe*> probes{&lanes};

CardLevel level(std::string_view name, double ns) {
  CardLevel made{.name = std::string(name), .memory = CardMemory::global};
  made.latency = {.name = "latency", .series = "all", .unit = "seconds"};
  made.latency.value = ns * 1e-9;
  return made;
}

Run healthy_run() {
  Run run;
  run.device.name = "Made";
  run.device.type = DeviceType::gpu;
  run.device.sub_group_size = 32;
  run.device.launch_timer = Timer::event;
  run.device.timer = Timer::clock;
  run.device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 1.0, 1.0, 1.0};
  run.device.pointers_stay_valid = true;
  ProbeResult result{.probe = "lanes"};
  result.points.resize(2);
  for (Point& each : result.points) each.samples.resize(3);
  Finding served{.name = "lanes", .series = "loads", .unit = "count"};
  served.value = 32.0;
  result.findings.push_back(served);
  result.card.levels = {level("L1", 16.0), level("memory", 300.0)};
  run.results.push_back(std::move(result));
  return run;
}

/// Returns "PROBLEM topic: text" or "" if there is no such problem.
std::string problem_of(const Run& run) {
  for (const Check& each : checks_of(probes, run)) {
    if (each.health == Health::problem) return each.topic + ": " + each.text;
  }
  return "";
}

}  // namespace

TEST_CASE("a checkup of a device that works has no problem, and says what was tried") {
  const Run run = healthy_run();
  CHECK(problem_of(run).empty());
  CHECK_FALSE(has_problem(probes, run));
  const std::string text = checkup_text(probes, std::vector{run}, {});
  for (const std::string_view said :
       {"Made, driver", "6 samples of 1 probe had", "agree with the host's clock", "%clock64",
        "reports 32 work-items", "L1 16.0 ns, memory 300 ns", "No problem was found."}) {
    CAPTURE(said);
    CHECK(text.find(said) != std::string::npos);
  }
}

TEST_CASE("a checkup calls what the driver does wrong a problem") {
  Run run = healthy_run();
  run.warnings.push_back({"event_times_false", {{"reason", std::string("END before START")}}});
  run.device.launch_timer = Timer::host;
  CHECK(problem_of(run).starts_with("false event times: "));
  CHECK(checkup_text(probes, std::vector{run}, {}).find("1 problem found.") != std::string::npos);

  run = healthy_run();
  run.results[0].status = Status::failed;
  run.results[0].reason = "the child process was killed by signal 11";
  CHECK(problem_of(run) == "results: lanes: the child process was killed by signal 11");

  run = healthy_run();
  run.results[0].points[1].failure = "wrong result";
  CHECK(problem_of(run).starts_with("results: lanes: 1 of 2 points"));

  run = healthy_run();
  run.results[0].points.clear();
  CHECK(problem_of(run) == "results: no sample was measured");

  run = healthy_run();
  run.device.sub_group_size = 16;
  CHECK(problem_of(run).ends_with("so sub-groups are larger than reported"));
  run.device.sub_group_size = 64;  // local memory may serve a sub-group in two halves
  CHECK(problem_of(run).empty());

  run = healthy_run();
  std::swap(run.results[0].card.levels[0].latency, run.results[0].card.levels[1].latency);
  CHECK(problem_of(run).ends_with("a farther level is faster than a nearer one"));
}

TEST_CASE("a checkup notes what other programs do, and what a device lacks") {
  Run run = healthy_run();
  run.warnings.push_back(
      {"wide_intervals",
       {{"points", std::int64_t{1}}, {"of_points", std::int64_t{2}}, {"widest_share", 0.5}}});
  run.device.clock = {};
  run.device.timer = Timer::event;
  CHECK(problem_of(run).empty());
  const std::vector<Check> checks = checks_of(probes, run);
  const auto noted = std::ranges::count(checks, Health::noted, &Check::health);
  CHECK(noted == 2);
  CHECK(checks.back().health == Health::noted);
}

}  // namespace clprobe::report
