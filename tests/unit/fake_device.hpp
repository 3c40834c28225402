// SPDX-License-Identifier: Apache-2.0
// A device that a test scripts, and a probe for it: what the engine does, without OpenCL and
// without waiting.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/api/engine.hpp"
#include "measure/engine/sampler.hpp"

namespace clprobe {

/// What the device does with a point.
using Answer = std::function<Measurement(const Point&, std::uint64_t iterations)>;

constexpr std::uint64_t right_witness = 4711;

/// `ns` per access, by a clock that ticks once a nanosecond.
inline Measurement launch_of(std::uint64_t accesses, double ns) {
  const auto time = static_cast<std::uint64_t>(static_cast<double>(accesses) * ns);
  Measurement measurement;
  measurement.sample.accesses = accesses;
  measurement.sample.ticks = time;
  measurement.sample.event_ns = time;
  measurement.sample.host_ns = time;
  measurement.sample.witness = right_witness;
  measurement.expected_witness = right_witness;
  return measurement;
}

/// A device whose clock ticks once a nanosecond and costs nothing to read.
inline DeviceInfo fake_info() {
  DeviceInfo info;
  info.name = "Fake";
  info.timer = Timer::clock;
  info.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 1.0, 1.0, 1.0, 1.0};
  return info;
}

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(Answer answer, DeviceInfo info = fake_info())
      : answer_(std::move(answer)), info_(std::move(info)) {}

  [[nodiscard]] const DeviceInfo& device() const override { return info_; }

  PreparedPoint prepare(const Probe&, const Point& point) override {
    visited_.push_back(point.parameters.integer_or("working_set_bytes", 0));
    if (on_prepare_) on_prepare_(point);
    Work work;
    work.iterations = 1000;
    work.max_iterations = 1000;
    work.facts.set("page_kind", std::string("huge"));
    work.build = {"0123", "-DSERIES=" + point.series};
    work.run = [this, point](std::uint64_t iterations) {
      ++launches_;
      wait(std::chrono::microseconds(1));
      return answer_(point, iterations);
    };
    return prepared(std::move(work), info_);
  }

  PreparedPoint prepare_kept(const Probe& probe, const Point& point) override {
    kept_.push_back(point);
    return prepare(probe, point);
  }

  /// Goes on by a microsecond with each launch and by what a test waits: a busy machine is no part
  /// of what it checks.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override { return now_; }
  void wait(std::chrono::nanoseconds time) { now_ += time; }

  void use_core(std::size_t turn) override { cores_.push_back(turn); }
  [[nodiscard]] CoreUse core_use() const override {
    return {launches_ * of_launch_.own_s, launches_ * of_launch_.busy_s,
            launches_ * of_launch_.idle_s};
  }
  /// What the cores do during each launch.
  void each_launch_takes(CoreUse use) { of_launch_ = use; }

  /// The cores that were asked for, in order.
  [[nodiscard]] const std::vector<std::size_t>& cores() const { return cores_; }
  /// Called before a point is prepared; may throw as a driver fails.
  void on_prepare(std::function<void(const Point&)> action) { on_prepare_ = std::move(action); }
  /// The working sets in the order in which they were prepared, those of reference points among
  /// them.
  [[nodiscard]] const std::vector<std::int64_t>& visited() const { return visited_; }
  /// Those of them that were to be kept.
  [[nodiscard]] const std::vector<Point>& kept() const { return kept_; }
  [[nodiscard]] int launches() const { return launches_; }

 private:
  Answer answer_;
  DeviceInfo info_;
  std::function<void(const Point&)> on_prepare_{};
  std::vector<std::int64_t> visited_{};
  std::vector<Point> kept_{};
  std::vector<std::size_t> cores_{};
  int launches_{0};
  CoreUse of_launch_{};
  std::chrono::steady_clock::time_point now_{std::chrono::steady_clock::now()};
};

inline Point fake_point(const std::string& series, std::int64_t working_set_bytes) {
  Point point;
  point.series = series;
  point.parameters = {{"working_set_bytes", working_set_bytes}};
  return point;
}

/// A request that asks fake_probe() for `points` points: 1, 2, ... bytes.
inline Request request_of_points(std::uint64_t points) {
  Request request;
  request.max_memory = Bytes{points};
  return request;
}

/// Plans one point for each byte of max_memory, in each of the wanted series ("near" if none).
inline Plan fake_plan(const DeviceInfo&, const Request& request) {
  Plan plan;
  std::vector<std::string> series = request.series;
  if (series.empty()) series.emplace_back("near");
  for (const std::string& name : series) {
    for (std::uint64_t i = 1; i <= request.max_memory.count; ++i) {
      plan.points.push_back(fake_point(name, static_cast<std::int64_t>(i)));
    }
  }
  return plan;
}

/// One finding for each point that has samples.
inline Findings fake_analysis(const DeviceInfo&, std::span<const Point> points) {
  Findings found;
  for (const Point& point : points) {
    if (point.samples.empty()) continue;
    Finding finding;
    finding.name = "seen";
    finding.series = point.series;
    finding.value = static_cast<double>(point.parameters.integer("working_set_bytes"));
    found.findings.push_back(finding);
  }
  return found;
}

inline Probe fake_probe() {
  Probe probe;
  probe.id = "fake";
  probe.title = "Fake";
  probe.question = "Does the engine work?";
  probe.plan = fake_plan;
  probe.analyse = fake_analysis;
  return probe;
}

/// The same, which looks at its first three points first, and may do so again.
inline Probe urgent_probe() {
  Probe urgent = fake_probe();
  urgent.plan = [](const DeviceInfo& device, const Request& request) {
    Plan plan = fake_plan(device, request);
    plan.is_ordered = true;
    plan.urgent = 3;
    plan.min_urgent_visits = 2;
    plan.max_urgent_visits = 4;
    return plan;
  };
  return urgent;
}

}  // namespace clprobe
