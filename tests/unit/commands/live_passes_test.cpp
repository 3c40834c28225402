// SPDX-License-Identifier: Apache-2.0
// Alternating passes of a live comparison, on simulated memories.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/synthetic_memories.hpp"
#include "app/commands/live.hpp"
#include "clprobe/registry.hpp"
#include "fake_device.hpp"

namespace clprobe::commands {
namespace {

/// Two caches and memory.
Memory usual_memory() {
  Memory memory;
  memory.caches = {{MissModel::hashed_sets, 64.0 * kibibyte, 0.1, 8},
                   {MissModel::hashed_sets, 4096.0 * kibibyte, 0.1, 16}};
  memory.latencies = {2.0, 8.0, 60.0};
  return memory;
}

double time_in(const Memory& memory, const Point& point) {
  const auto bytes = point.parameters.integer_or("working_set_bytes", 0);
  return memory.true_latency(static_cast<double>(bytes));
}

std::vector<Point> points_of(const Memory& memory) {
  std::vector<Point> points;
  for (double size = 4096.0; size < 256.0 * 1048576.0; size *= 1.15) {
    const auto bytes = static_cast<std::int64_t>(size) / 64 * 64;
    Point point = fake_point("global", bytes);
    point.parameters.set("step_bytes", std::int64_t{64});
    point.parameters.set("line_bytes", std::int64_t{64});
    point.parameters.set("address", std::string("pointer"));
    point.parameters.set("unroll", std::int64_t{16});
    for (int i = 0; i < 3; ++i) {
      point.samples.push_back(launch_of(100'000, time_in(memory, point)).sample);
    }
    points.push_back(std::move(point));
  }
  return points;
}

/// Two sides, each measured once.
class Comparing {
 public:
  explicit Comparing(const Memory& of_b) : memories_{usual_memory(), of_b} {
    observer_.say = [](std::string_view) {};
    observer_.progress = [](const terminal::Progress&) {};
    observer_.cancelled = [] { return false; };
    observer_.save = [] {};
    for (std::size_t i = 0; i < 2; ++i) {
      const DeviceInfo device = fake_info();
      Side& side = sides_.at(i);
      side.name = i == 0 ? "side A" : "side B";
      side.backend = std::make_unique<FakeBackend>(
          [this, i](const Point& point, std::uint64_t accesses) {
            return launch_of(accesses, time_in(memories_.at(i), point));
          },
          device);
      side.run.device = device;
      ProbeResult& result = side.run.results.emplace_back();
      const Probe& latency = *find_probe("latency");
      result.probe = "latency";
      result.status = Status::ok;
      result.points = points_of(memories_.at(i));
      declare(latency, result);
      analyse_again(latency, device, result);
      digests_.push_back(digest(side.run, side.name));
    }
  }

  /// The result refers to digests of this object.
  Comparison alternate() & {
    constexpr double threshold = 0.03;
    Comparison comparison = compare(digests_, 0, threshold);
    LivePasses passes(comparison, sides_, threshold, observer_);
    passes.run(std::chrono::seconds(60));
    clprobe::apply_alternation(comparison, passes.alternated(), false);
    return comparison;
  }

  [[nodiscard]] const std::vector<std::int64_t>& visited() const {
    return static_cast<const FakeBackend&>(*sides_[0].backend).visited();
  }

 private:
  std::array<Memory, 2> memories_;
  LiveObserver observer_{};
  Sides sides_{};
  std::vector<RunDigest> digests_{};
};

const ComparedCell& cell_of(const Comparison& comparison, std::string_view name, int level) {
  const auto found =
      std::find_if(comparison.rows.begin(), comparison.rows.end(), [&](const ComparedRow& row) {
        return row.baseline->finding.name == name && row.baseline->finding.level == level;
      });
  REQUIRE(found != comparison.rows.end());
  return found->cells[1];
}

const Judgement& judged(const Comparison& comparison, std::string_view name, int level) {
  return cell_of(comparison, name, level).judgement;
}

TEST_CASE("a live comparison ends within a minute, of which 20 s alternate, unless more is asked") {
  using Seconds = std::chrono::duration<double>;
  CHECK(alternating_time(std::nullopt, Seconds(6.0)) == Seconds(50.0));
  CHECK(alternating_time(std::nullopt, Seconds(36.0)) == Seconds(20.0));
  CHECK(alternating_time(std::nullopt, Seconds(300.0)) == Seconds(20.0));
  CHECK(alternating_time(Seconds(90.0), Seconds(6.0)) == Seconds(90.0));
  CHECK(alternating_time(Seconds(5.0), Seconds(300.0)) == Seconds(5.0));
}

TEST_CASE(
    "a cache of half the size is unclear in alternating passes, and the reason says how to compare "
    "it") {
  Memory smaller = usual_memory();
  smaller.caches[0].capacity_bytes /= 2.0;
  Comparing comparing(smaller);
  const Comparison comparison = comparing.alternate();
  const Judgement& first = judged(comparison, "capacity", 1);
  CHECK(first.verdict == Verdict::unclear);
  CHECK(*first.ratio == doctest::Approx(0.5).epsilon(0.2));
  CHECK(
      first.reason.ends_with("compare --live does not compare capacities: compare two saved runs"));
  CHECK(judged(comparison, "capacity", 2).verdict == Verdict::same);
  CHECK(judged(comparison, "latency", 1).verdict == Verdict::same);
  CHECK(judged(comparison, "latency", 1).reason.find(" alternating passes: ") != std::string::npos);
  CHECK(cell_of(comparison, "latency", 1).finding->finding.method == "alternating");
}

TEST_CASE("where everything takes longer no capacity has changed") {
  Memory slower = usual_memory();
  for (double& latency : slower.latencies) latency *= 1.1;
  Comparing comparing(slower);
  const Comparison comparison = comparing.alternate();
  for (const int level : {1, 2}) {
    CHECK(judged(comparison, "capacity", level).verdict == Verdict::same);
    CHECK(judged(comparison, "latency", level).verdict == Verdict::worse);
    CHECK(judged(comparison, "cycles", level).verdict == Verdict::worse);
  }
}

TEST_CASE("a pass visits each pair of points once, whatever it shows") {
  Comparing comparing(usual_memory());
  comparing.alternate();
  // Four passes over three levels, whose latencies are headlines in seconds and in cycles.
  CHECK(comparing.visited().size() == 4 * 3);
}

}  // namespace
}  // namespace clprobe::commands
