// SPDX-License-Identifier: Apache-2.0
#include "imported.hpp"

namespace clprobe {

TEST_CASE("lat_mem_rd: a run for each stride, in MiB and ns") {
  const std::vector<Run> runs = import_runs(example_file("lat_mem_rd.txt"), hints());
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].device.name == "file.txt, stride 64");
  CHECK(runs[1].device.name == "file.txt, stride 128");
  CHECK(runs[1].device.index == 1);
  CHECK(size_and_ns(runs[0], 0) == std::pair(std::int64_t{512}, 1.5));
  CHECK(points_in(runs[1])[0].parameters.integer("step_bytes") == 128);
  // Sizes have five decimals, and are what was measured all the same.
  CHECK(size_and_ns(runs[0], 3).first == 3072);
  const std::vector<Level> levels = levels_in(runs[0]);
  REQUIRE(levels.size() == 4);
  CHECK(levels[1].latency == doctest::Approx(5.0).epsilon(0.02));
}

TEST_CASE("lat_mem_rd in a file of lmbench: its blocks alone are read") {
  const std::string text =
      "[lmbench3.0 results for Linux host]\n[ALL: 64]\nSimple syscall: 0.05 microseconds\n\n"
      "Memory load latency\n\"stride=16\n0.00049 1.5\n0.00098 1.6\n\n"
      "\"size=0k ovr=1.42\n2 1.09\n4 1.10\n";
  const std::vector<Run> runs = import_runs(text, hints());
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].device.name == "file.txt");
  CHECK(points_in(runs[0]).size() == 2);
}

TEST_CASE("lat_mem_rd: what cannot be read") {
  CHECK(refusal("\"stride=64\n0.00049 1.5\n0.00098 x\n") ==
        "line 3: expected a size in MiB and a latency in ns, found '0.00098 x'");
  CHECK(refusal("\"stride=64\n0.00049\n").starts_with("line 2: expected a size in MiB"));
  CHECK(refusal("\"stride=64\n\n").ends_with("after lat_mem_rd's line '\"stride=N', found none"));
  // A stride without a block is left out.
  CHECK(import_runs("\"stride=64\n\n\"stride=32\n0.00049 1.5\n", hints()).size() == 1);
}

}  // namespace clprobe
