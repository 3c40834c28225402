// SPDX-License-Identifier: Apache-2.0
#include "imported.hpp"

namespace clprobe {

TEST_CASE("MemoryLatency: KiB and ns behind its header, whatever is printed before") {
  const std::vector<Run> runs = import_runs(example_file("MemoryLatency.csv"), hints());
  CHECK(runs.at(0).imported->tool == "MemoryLatency");
  CHECK(size_and_ns(runs[0], 0) == std::pair(std::int64_t{2048}, 1.5));
  CHECK(levels_in(runs[0]).size() == 4);
  // With performance counters, which may count nothing.
  CHECK(size_and_ns(import_runs("Region,Latency (ns),L1D miss\n2,1.5,0\n", hints()).at(0), 0) ==
        std::pair(std::int64_t{2048}, 1.5));
}

TEST_CASE("GpuMemLatency: global memory and constants, up to the largest buffer") {
  const std::vector<Run> runs = import_runs(example_file("GpuMemLatency.txt"), hints());
  CHECK(runs.at(0).imported->tool == "GpuMemLatency");
  CHECK(points_in(runs[0]).size() == 33);
  CHECK(levels_in(runs[0]).size() == 3);
  const std::string constants =
      "Sattolo, constant memory (up to 64 K), no-unroll:\n1,14.5\n2,15.5\n";
  CHECK(points_in(import_runs(constants, hints()).at(0))[0].series == "constant-argument");
  ImportHints image = hints();
  image.series = "image";
  CHECK(points_in(import_runs(constants, image).at(0))[0].series == "image");
}

TEST_CASE("GpuMemLatency: a launch that failed is a point without a time") {
  const std::vector<Run> runs = import_runs(
      "Sattolo, global memory latency (up to 9 K) unroll:\n1,14.5\n2,0.000000\n"
      "Something went wrong, not testing anything bigger.\n",
      hints());
  const std::vector<Point>& points = points_in(runs.at(0));
  REQUIRE(points.size() == 2);
  CHECK(points[1].failure == "the tool reports no time");
  CHECK_FALSE(estimate(points[1], runs[0].device).has_value());
}

TEST_CASE("Chips and Cheese: what cannot be read") {
  CHECK(refusal("Region,Latency (ns)\n2,x\n") ==
        "line 2: expected a size in KiB and a latency in ns, found '2,x'");
  CHECK(refusal("Region,Latency (ns)\nstopped early\n") ==
        "document: expected a size and a latency after the heading, found none");
}

}  // namespace clprobe
