// SPDX-License-Identifier: Apache-2.0
// Pairs of made-up runs of one device whose true change is known: how often a verdict is wrong, and
// how often a change is found. What the runs differ by besides it is what pairs of real runs
// differed by: the noise of each finding, the error of a run's calibration, the rate of the core's
// clock.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "compare/api/compare.hpp"
#include "example_runs.hpp"

namespace clprobe {
namespace {

constexpr double threshold = 0.03;
constexpr int pairs = 100;

/// Uniform numbers from -1 to 1, the same in each run of the test.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  double operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    return static_cast<double>(state_ >> 40U) / 8388608.0 - 1.0;
  }

 private:
  std::uint64_t state_;
};

/// The example without its points, and without the probes that are not about times.
Run example_device() {
  Run run = example_gpu_run();
  run.results.erase(run.results.begin() + 1, run.results.end());
  run.results.front().points.clear();
  return run;
}

/// How one run differs from the example.
struct Circumstances {
  double change{1.0};       ///< of every time, in cycles
  double rate{1.0};         ///< of the core's clock, as it truly was
  double calibration{1.0};  ///< the rate that was found to the true one
  double known{0.005};      ///< the calibration's interval, to each side
};

constexpr double noise = 0.01;  // of a finding, to each side

void set_value(Finding& finding, double value) {
  finding.low = value * (1.0 - noise);
  finding.high = value * (1.0 + noise);
  finding.value = value;
}

/// One run of the device: times of nearer levels follow the core's clock, those of the last one do
/// not.
RunDigest run_of(const Run& device, const Circumstances& how, Numbers& numbers) {
  Run run = device;
  Clock& clock = run.device.clock;
  const double true_rate = clock.ticks_per_ns * how.rate;
  clock.ticks_per_ns = true_rate * how.calibration;
  clock.ticks_per_ns_low = clock.ticks_per_ns * (1.0 - how.known);
  clock.ticks_per_ns_high = clock.ticks_per_ns * (1.0 + how.known);
  std::vector<Finding>& findings = run.results.front().findings;
  for (std::size_t i = 0; i + 1 < findings.size(); ++i) {
    Finding& seconds = findings[i];
    Finding& cycles = findings[i + 1];
    if (!seconds.value || seconds.unit != "seconds" || cycles.unit != "cycles") continue;
    const bool is_memory = seconds.series == "global" && seconds.level.value_or(0) >= 3;
    const double factor = (is_memory ? how.rate : 1.0) * how.change * (1.0 + noise * numbers());
    set_value(cycles, *cycles.value * factor);
    set_value(seconds, *cycles.value / clock.ticks_per_ns * 1e-9);
  }
  return digest(run, "run.json");
}

/// The verdicts of many pairs without those on the clock itself, which are `of_clock`.
struct Verdicts {
  VerdictCounts counts{};
  VerdictCounts of_clock{};

  [[nodiscard]] double share(std::size_t count) const {
    return static_cast<double>(count) / static_cast<double>(counts.total());
  }
};

/// Of `pairs` runs as `a` beside as many as `b`, in which each calibration errs anew.
Verdicts verdicts_of(Circumstances a, Circumstances b, double calibration_error) {
  const Run device = example_device();
  Numbers numbers(7);
  Verdicts verdicts;
  for (int pair = 0; pair < pairs; ++pair) {
    a.calibration = 1.0 + calibration_error * numbers();
    b.calibration = 1.0 + calibration_error * numbers();
    const std::array runs{run_of(device, a, numbers), run_of(device, b, numbers)};
    const Comparison made = compare(runs, 0, threshold);
    for (const ComparedRow& row : made.rows) {
      const std::string& unit = row.baseline->finding.unit;
      if (row.cells[1].judgement.reason.empty()) continue;
      if (row.probe == clock_section) count(verdicts.of_clock, row.cells[1].judgement.verdict);
      if (unit != "seconds" && unit != "cycles") continue;
      count(verdicts.counts, row.cells[1].judgement.verdict);
    }
  }
  REQUIRE(verdicts.counts.total() >= 10 * pairs);
  REQUIRE(verdicts.of_clock.total() == pairs);
  return verdicts;
}

std::size_t changed(const VerdictCounts& counts) {
  return counts.better + counts.worse + counts.different;
}

}  // namespace

TEST_CASE("nothing changed: nearly all are the same, however bad the calibrations") {
  for (const double error : {0.0, 0.02, 0.12}) {
    CAPTURE(error);
    const Circumstances how{.known = 0.005 + error};
    const Verdicts verdicts = verdicts_of(how, how, error);
    CHECK(verdicts.share(verdicts.counts.same) >= 0.95);
    CHECK(changed(verdicts.counts) == 0);
    // The two errors are combined as 95 % intervals are, and here each may be as large as can be.
    CHECK(changed(verdicts.of_clock) <= pairs / 20);
  }
}

TEST_CASE("a change of 5 % is found most times, one of 10 % always, and with its sign") {
  for (const double error : {0.0, 0.12}) {
    CAPTURE(error);
    const Circumstances before{.known = 0.005 + error};
    Circumstances after = before;
    after.change = 1.10;
    const Verdicts slower = verdicts_of(before, after, error);
    CHECK(slower.share(slower.counts.worse) == 1.0);
    const Verdicts faster = verdicts_of(after, before, error);
    CHECK(faster.share(faster.counts.better) == 1.0);
    after.change = 1.06;
    const Verdicts some = verdicts_of(before, after, error);
    CHECK(some.share(some.counts.worse) >= 0.9);
    CHECK(some.counts.better == 0);
    // A change of the threshold itself is not beyond it.
    after.change = 1.03;
    const Verdicts few = verdicts_of(before, after, error);
    CHECK(few.share(changed(few.counts)) <= 0.05);
  }
}

TEST_CASE("a clock that runs slower is one change, and no change of all that follows it") {
  const Circumstances before{};
  const Circumstances after{.rate = 0.92};
  const Verdicts verdicts = verdicts_of(before, after, 0.0);
  CHECK(verdicts.of_clock.worse == pairs);
  CHECK(changed(verdicts.counts) == 0);
  CHECK(verdicts.share(verdicts.counts.same) >= 0.95);
  // Where it is slower and something else is, too, both are found.
  const Circumstances both{.change = 1.15, .rate = 0.92};
  const Verdicts found = verdicts_of(before, both, 0.0);
  CHECK(found.share(found.counts.worse) >= 0.9);
  CHECK(found.counts.better == 0);
  CHECK(found.of_clock.worse == pairs);
}

TEST_CASE("of two devices times are compared as times") {
  const Run device = example_device();
  Numbers numbers(1);
  std::array runs{run_of(device, {}, numbers), run_of(device, {.rate = 0.8}, numbers)};
  CHECK(changed(compare(runs, 0, threshold).counts[1]) == 1);  // the clock
  runs[1].device = "another";
  CHECK(compare(runs, 0, threshold).counts[1].worse > 3);
}

}  // namespace clprobe
