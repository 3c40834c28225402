// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "imported.hpp"

namespace clprobe {
namespace {

constexpr std::string_view heading = "     data set   exec time     spread        Eff. bw\n";

std::string row(std::string_view text) { return std::string(heading) + std::string(text) + "\n"; }

}  // namespace

TEST_CASE("gpu-cache: points of `bandwidth`, and the levels that they have") {
  const std::vector<Run> runs = import_runs(example_file("gpu-cache.txt"), hints());
  const Run& run = runs.at(0);
  CHECK(run.imported->tool == "gpu-cache");
  REQUIRE(run.results.size() == 1);
  CHECK(run.results[0].probe == "bandwidth");
  CHECK(run.results[0].points.at(0).series == "read");
  CHECK(run.results[0].points[0].parameters.integer("working_set_bytes") == 8192);
  const std::vector<Level> levels =
      find_levels(latency_curve(run.results[0].points, "read", run.device));
  REQUIRE(levels.size() == 3);
  CHECK(1.0 / levels[0].latency == doctest::Approx(8000.0).epsilon(0.01));
  CHECK(1.0 / levels[1].latency == doctest::Approx(2400.0).epsilon(0.01));
}

TEST_CASE("gpu-cache: without most sizes of the first level it is known that there is one") {
  std::istringstream lines(example_file("gpu-cache.txt"));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    constexpr int smallest = 8;
    constexpr int largest_of_first = 114;
    int size = 0;
    if (words >> size && size > smallest && size <= largest_of_first) continue;
    text += line + "\n";
  }
  const Run run = import_runs(text, hints()).at(0);
  const auto curve = latency_curve(run.results.at(0).points, "read", run.device);
  const std::vector<Level> levels = find_levels(curve);
  REQUIRE(!levels.empty());
  CHECK(1.0 / levels[0].latency == doctest::Approx(2400.0).epsilon(0.01));
  const auto faster = faster_than_first(curve, levels);
  REQUIRE(faster.has_value());
  CHECK(faster->working_set_bytes == doctest::Approx(8192.0));
}

TEST_CASE("gpu-cache: gpu-l2-cache writes two sizes, of which the second is the set") {
  const std::vector<Run> runs = import_runs(example_file("gpu-l2-cache.txt"), hints());
  const Point& first = runs.at(0).results.at(0).points.at(0);
  CHECK(first.parameters.integer("working_set_bytes") == 1536 * 1024);
  CHECK(estimate(first, runs[0].device)->ns == doctest::Approx(1.0 / 5000.0));
}

TEST_CASE("gpu-cache: without a heading, a person's series and clock, and lines that are none") {
  ImportHints with = clock_hints(1e9);
  with.series = "read-one-unit";
  const std::vector<Run> runs = import_runs("  64 kB  0ms  0.0%  10.0 GB/s\n", with);
  CHECK(runs.at(0).results.at(0).points.at(0).series == "read-one-unit");
  CHECK(runs[0].device.clock.ticks_per_ns == 1.0);
  const std::string expected = "line 2: expected numbers in kB, ms, % and GB/s, found '";
  for (const std::string_view text :
       {"64 kB 5ms 0.2% 10.0 MB/s", "64 kB 5ms 0.2% 0 GB/s", "0 kB 5ms 0.2% 10.0 GB/s",
        "64 kB 5 0.2% 10.0 GB/s", "64 kB 5ms 10.0 GB/s", "64 kB 32 kB 5ms 0.2%"}) {
    CAPTURE(text);
    CHECK(refusal(row(text)).starts_with(expected));
  }
  CHECK(refusal(row("0.5 kB 5ms 0.2% 10.0 GB/s")) ==
        "line 2: expected a size from 1 to 10^12 kB and a bandwidth up to 10^6 GB/s");
  CHECK(refusal(std::string(heading)) ==
        "document: expected a size and a bandwidth below the heading, found none");
}

}  // namespace clprobe
