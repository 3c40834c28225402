// SPDX-License-Identifier: Apache-2.0
// Capacities in rounds of turns, on devices that do what they are told.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "analysis/synthetic_memories.hpp"
#include "clprobe/registry.hpp"
#include "commands/live_turns.hpp"
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

std::vector<Point> points_of(const Memory& memory, bool has_gap) {
  std::vector<Point> points;
  for (double size = 4096.0; size < 256.0 * 1048576.0; size *= 1.15) {
    if (has_gap && size > 32.0 * kibibyte && size < 150.0 * kibibyte) continue;
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

/// Two sides: what each first look saw, and what there is in the turns.
class Comparing {
 public:
  Comparing(const Memory& seen_by_a, const Memory& seen_by_b, const Memory& of_a,
            const Memory& of_b, const std::string& name_of_b = "Fake", bool has_gap = false)
      : memories_{of_a, of_b} {
    observer_.say = [](std::string_view) {};
    observer_.progress = [](const terminal::Progress&) {};
    observer_.cancelled = [] { return false; };
    observer_.save = [] {};
    const std::array seen{seen_by_a, seen_by_b};
    for (std::size_t i = 0; i < 2; ++i) {
      DeviceInfo device = fake_info();
      if (i == 1) device.name = name_of_b;
      Side& side = sides_.at(i);
      side.name = i == 0 ? "side A" : "side B";
      side.backend = std::make_unique<FakeBackend>(
          [this, i](const Point& point, std::uint64_t accesses) {
            ++launches_;
            return launch_of(accesses, time_in(memories_.at(i), point));
          },
          device);
      side.run.device = device;
      ProbeResult& result = side.run.results.emplace_back();
      const Probe& latency = *find_probe("latency");
      result.probe = "latency";
      result.status = Status::ok;
      result.points = points_of(seen.at(i), has_gap);
      declare(latency, result);
      analyse_again(latency, device, result);
      digests_.push_back(digest(side.run, side.name));
    }
  }

  explicit Comparing(const Memory& of_b) : Comparing(usual_memory(), of_b, usual_memory(), of_b) {}

  /// What it says refers to what is here.
  Comparison take_turns() & {
    constexpr double threshold = 0.03;
    Comparison comparison = compare(digests_, 0, threshold);
    LiveTurns turns(comparison, sides_, threshold, observer_);
    turns.take(std::chrono::seconds(60));
    left_out_ = turns.left_out();
    clprobe::take_turns(comparison, turns.followed(), false, left_out_);
    return comparison;
  }

  [[nodiscard]] const std::vector<NotFollowed>& left_out() const { return left_out_; }
  [[nodiscard]] int launches() const { return launches_; }
  [[nodiscard]] const std::vector<std::int64_t>& visited() const {
    return static_cast<const FakeBackend&>(*sides_[0].backend).visited();
  }

 private:
  std::array<Memory, 2> memories_;
  LiveObserver observer_{};
  Sides sides_{};
  std::vector<RunDigest> digests_{};
  std::vector<NotFollowed> left_out_{};
  int launches_{0};
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

TEST_CASE("a cache of half the size is found in turns, and the others are the same") {
  Memory smaller = usual_memory();
  smaller.caches[0].capacity_bytes /= 2.0;
  Comparing comparing(smaller);
  const Comparison comparison = comparing.take_turns();
  const Judgement& first = judged(comparison, "capacity", 1);
  CAPTURE(first.reason);
  CHECK(first.verdict == Verdict::worse);
  CHECK(*first.ratio == doctest::Approx(0.5).epsilon(0.1));
  CHECK(first.reason.find("rounds of turns") != std::string::npos);
  CHECK(cell_of(comparison, "capacity", 1).finding->finding.method == "turns");
  CHECK(judged(comparison, "capacity", 2).verdict == Verdict::same);
  CHECK(judged(comparison, "capacity", 2).reason.find("rounds of turns") != std::string::npos);
  CHECK(judged(comparison, "latency", 1).verdict == Verdict::same);
  CHECK(comparing.left_out().empty());
}

TEST_CASE("within a step of the grid no capacity has changed") {
  Memory smaller = usual_memory();
  smaller.caches[0].capacity_bytes *= 0.93;
  Comparing comparing(smaller);
  const Comparison comparison = comparing.take_turns();
  const Judgement& first = judged(comparison, "capacity", 1);
  CHECK(first.verdict == Verdict::same);
  CHECK(*first.ratio == doctest::Approx(0.93).epsilon(0.02));
  CHECK(*first.resolution > 0.14);
  CHECK(*first.resolution < 0.16);
}

TEST_CASE("where everything takes longer no capacity has changed") {
  Memory slower = usual_memory();
  for (double& latency : slower.latencies) latency *= 1.1;
  Comparing comparing(slower);
  const Comparison comparison = comparing.take_turns();
  for (const int level : {1, 2}) {
    CHECK(judged(comparison, "capacity", level).verdict == Verdict::same);
    CHECK(*judged(comparison, "capacity", level).ratio == doctest::Approx(1.0).epsilon(0.001));
    CHECK(judged(comparison, "latency", level).verdict == Verdict::worse);
    CHECK(judged(comparison, "cycles", level).verdict == Verdict::worse);
  }
}

TEST_CASE("where a level may be another one its end tells nothing") {
  Memory other = usual_memory();
  other.caches[0].capacity_bytes /= 2.0;
  other.latencies[1] *= 1.35;
  Comparing comparing(other);
  const Comparison comparison = comparing.take_turns();
  const Judgement& first = judged(comparison, "capacity", 1);
  CHECK(first.verdict == Verdict::unclear);
  CHECK(first.reason.find("but the next level is 35 % apart") != std::string::npos);
  other.latencies[1] /= 1.35;
  other.latencies[0] *= 1.2;
  Comparing slower(other);
  CHECK(judged(slower.take_turns(), "capacity", 1).verdict == Verdict::worse);
}

TEST_CASE(
    "an end that moved far since the first look is told by what it has left behind at least") {
  Memory smaller = usual_memory();
  smaller.caches[0].capacity_bytes /= 4.0;
  const Memory seen = usual_memory();
  Comparing comparing(seen, seen, seen, smaller);
  const Judgement first = judged(comparing.take_turns(), "capacity", 1);
  CHECK(first.verdict == Verdict::worse);
  CHECK(first.interval->low == 0.0);
  CHECK(first.reason.find("as far apart at least") != std::string::npos);
}

TEST_CASE("what shows nothing of an end is said") {
  const Memory memory = usual_memory();
  Comparing two_devices(memory, memory, memory, memory, "another");
  two_devices.take_turns();
  REQUIRE(two_devices.left_out().size() == 2);
  CHECK(two_devices.left_out()[0].reason.starts_with("two devices"));
  Comparing with_gap(memory, memory, memory, memory, "Fake", true);
  with_gap.take_turns();
  REQUIRE(with_gap.left_out().size() == 1);
  CHECK(with_gap.left_out()[0].reason == "the measured sizes around it are too far apart");
  Memory gentle = memory;
  gentle.latencies = {2.0, 2.4, 60.0};
  Comparing hardly(gentle, gentle, gentle, gentle);
  hardly.take_turns();
  REQUIRE(hardly.left_out().size() == 1);
  CHECK(hardly.left_out()[0].reason == "the next level takes hardly longer");
}

TEST_CASE("in a round each pair of points is measured once, whatever it shows") {
  Comparing comparing(usual_memory());
  comparing.take_turns();
  // Four rounds of at most three levels and two ends, of which each is shown by three points.
  const std::vector<std::int64_t>& visited = comparing.visited();
  CHECK(visited.size() <= 4 * (3 + 2 * 3));
  CHECK(visited.size() >= 4 * (3 + 2 * 2));
}

}  // namespace
}  // namespace clprobe::commands
