// SPDX-License-Identifier: Apache-2.0
#include "imported.hpp"

namespace clprobe {

TEST_CASE("gpu-latency, old: 5 columns, the clock in MHz and the latency in cycles") {
  const std::vector<Run> runs = import_runs(example_file("gpu-latency-5.txt"), hints());
  const Run& run = runs.at(0);
  CHECK(run.imported->tool == "gpu-latency");
  CHECK(size_and_ns(run, 0) == std::pair(std::int64_t{2048}, 18.0));
  CHECK(estimate(points_in(run)[0], run.device)->cycles == doctest::Approx(36.0));
  CHECK(run.device.clock.ticks_per_ns == 2.0);
  const std::vector<Level> levels = levels_in(run);
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].latency == doctest::Approx(18.0));
  CHECK(levels[1].latency == doctest::Approx(125.0));
  CHECK(levels[2].latency == doctest::Approx(310.0));
}

TEST_CASE("gpu-latency, new: 8 columns, of which the median counts") {
  const std::string row = "   100000  2000     2.5      5.7   114.0 112.0 110.0 128.0\n";
  const std::vector<Run> runs = import_runs("clock: 2000 2000 \n" + row, hints());
  CHECK(size_and_ns(runs.at(0), 0) == std::pair(std::int64_t{2560}, 56.0));
  CHECK(levels_in(import_runs(example_file("gpu-latency-8.txt"), hints()).at(0)).size() == 3);
}

TEST_CASE("gpu-latency: the person's clock and series count, and a clock that changes is none") {
  ImportHints with = clock_hints(1e9);
  with.series = "constant-argument";
  const std::string rows = "1000000 2000 1 18.0 36.0\n1000000 1000 2 36.0 36.0\n";
  const std::vector<Run> given = import_runs(rows, with);
  CHECK(size_and_ns(given.at(0), 1) == std::pair(std::int64_t{2048}, 36.0));
  CHECK(size_and_ns(given[0], 0).second == 36.0);
  CHECK(points_in(given[0])[0].series == "constant-argument");
  CHECK(given[0].device.clock.ticks_per_ns == 1.0);
  const std::vector<Run> read = import_runs(rows, hints());
  CHECK(size_and_ns(read.at(0), 0).second == 18.0);
  CHECK(size_and_ns(read[0], 1).second == 36.0);
  CHECK(read[0].device.clock.rate == ClockRate::unknown);
}

TEST_CASE("five numbers that do not follow from each other are no row of gpu-latency") {
  CHECK(import_runs("1000000 2000 1 18.0 39.0\n", hints()).at(0).imported->format == "gpu-latency");
  // Cycles that the clock contradicts: a list, which says what it takes.
  CHECK(refusal("1000000 2000 1 18.0 41.0\n")
            .starts_with("line 1: no header gives the unit of sizes"));
  CHECK(refusal("1000000 2000 1 18.0 32.0\n")
            .starts_with("line 1: no header gives the unit of sizes"));
  CHECK(refusal("1000000 2000 1 18.0 36.0\n1000000 0 1 18.0 36.0\n") ==
        "line 2: expected a number of loads, and numbers in MHz, KiB, ms and cycles, "
        "found '1000000 0 1 18.0 36.0'");
}

}  // namespace clprobe
