// SPDX-License-Identifier: Apache-2.0
// Which reference points a run has, and that they reach the intervals of its document.
#include "app/commands/measure_run.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "compare/api/compare.hpp"
#include "compare/api/disturbance.hpp"
#include "fake_device.hpp"

namespace clprobe::commands {
namespace {

DeviceInfo big_device(DeviceType type) {
  DeviceInfo info = fake_info();
  info.type = type;
  info.global_memory = gibibytes(64);
  info.max_allocation = gibibytes(16);
  info.max_work_group_size = 1024;
  info.compute_units = 16;
  info.reported.set("cache_bytes", std::int64_t{1} << 20U);
  return info;
}

/// All that takes time takes `ns` an access, which is 4 % more from one moment on.
struct Slower {
  double ns{100.0};
  bool changes{true};
};

/// The run of one probe: each point takes 100 ms, and all that takes time changes after two
/// seconds.
Run run_of(const Probe& probe, DeviceInfo info, const Slower& slower,
           const cli::Options& options = {}) {
  bool is_late = false;
  FakeBackend backend(
      [&](const Point&, std::uint64_t iterations) {
        return launch_of(iterations, slower.ns * (slower.changes && is_late ? 1.04 : 1.0));
      },
      std::move(info));
  const auto begin = backend.now();
  backend.on_prepare([&](const Point&) {
    backend.wait(std::chrono::milliseconds(100));
    is_late = backend.now() - begin > std::chrono::seconds(1);
  });
  Run run;
  run.device = backend.device();
  Observer observer;
  observer.began = backend.now();
  const std::vector<const Probe*> probes{&probe};
  measure_run(options, backend, observer, probes, run, {[](std::size_t) {}, [] {}});
  return run;
}

/// One finding, of the least time of its points, with an interval that is no width by itself.
Findings least_time(const DeviceInfo&, std::span<const Point> points) {
  Findings found;
  if (points.empty() || points.front().samples.empty()) return found;
  const Sample& sample = points.front().samples.front();
  Finding time{.name = "time", .series = "near"};
  time.value = static_cast<double>(*sample.ticks) / static_cast<double>(sample.accesses) * 1e-9;
  time.low = time.value;
  time.high = time.value;
  time.unit = "seconds";
  found.findings.push_back(time);
  return found;
}

Probe timed_probe() {
  Probe probe = fake_probe();
  probe.plan = [](const DeviceInfo& device, const Request&) {
    return fake_plan(device, request_of_points(20));
  };
  probe.analyse = least_time;
  return probe;
}

std::set<ReferenceKind> kinds_of(const Run& run, bool is_rate) {
  std::set<ReferenceKind> kinds;
  for (const Reference& each : run.references) {
    if (each.is_rate == is_rate) kinds.insert(each.kind);
  }
  return kinds;
}

TEST_CASE(
    "a probe without reference points has those of arithmetic, loads and, on a GPU, streams") {
  for (const DeviceType type : {DeviceType::gpu, DeviceType::cpu}) {
    const bool is_gpu = type == DeviceType::gpu;
    const Run run = run_of(timed_probe(), big_device(type), {});
    CHECK(kinds_of(run, false) == std::set<ReferenceKind>{ReferenceKind::core, ReferenceKind::cache,
                                                          ReferenceKind::memory,
                                                          ReferenceKind::arithmetic});
    CHECK(kinds_of(run, true).size() == (is_gpu ? 1 : 0));
    for (const Reference& each : run.references) {
      CHECK(each.moments.size() >= 2);
      CHECK(each.spent_seconds > 0.0);
    }
    CHECK(run.results.at(0).references.empty());
    CHECK(run.disturbances.size() == (is_gpu ? 5 : 4));
  }
}

TEST_CASE("one that has its own has arithmetic beside them, and a first look has none") {
  Probe probe = timed_probe();
  probe.plan = [](const DeviceInfo& device, const Request&) {
    Plan plan = fake_plan(device, request_of_points(20));
    plan.references = {{ReferenceKind::core, 0, PointAlone{plan.points[0], Bytes{}}}};
    return plan;
  };
  const Run run = run_of(probe, big_device(DeviceType::gpu), {});
  REQUIRE(run.references.size() == 1);
  CHECK(run.references[0].kind == ReferenceKind::arithmetic);
  CHECK(run.results.at(0).references.size() == 1);
  cli::Options quick;
  quick.effort = Effort::quick;
  CHECK(run_of(timed_probe(), big_device(DeviceType::gpu), {}, quick).references.empty());
  // A limit that was asked for is one for all buffers.
  cli::Options limited;
  limited.max_memory = gibibytes(1);
  CHECK(run_of(timed_probe(), big_device(DeviceType::gpu), {}, limited).references.size() == 1);
}

TEST_CASE("what the reference points saw is in the intervals, once") {
  const Run quiet = run_of(timed_probe(), big_device(DeviceType::gpu), {.changes = false});
  CHECK(quiet.results.at(0).findings.at(0).disturbance == 0.0);
  CHECK(quiet.results.at(0).findings.at(0).high == quiet.results.at(0).findings.at(0).value);
  const Run run = run_of(timed_probe(), big_device(DeviceType::gpu), {});
  const Finding& found = run.results.at(0).findings.at(0);
  const double seen = disturbance_at(run.disturbances, *found.value, false);
  CHECK(seen > std::log(1.04));
  CHECK(found.disturbance == seen);
  CHECK(*found.high == doctest::Approx(*found.value * std::exp(seen)).scale(0));
  CHECK(*found.low == doctest::Approx(*found.value * std::exp(-seen)).scale(0));
  const ComparedFinding compared = digest(run, "run").results.back().findings.at(0);
  CHECK(compared.disturbance == seen);
  CHECK(*compared.finding.high == doctest::Approx(*found.value).scale(0));
}

}  // namespace
}  // namespace clprobe::commands
