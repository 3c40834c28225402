// SPDX-License-Identifier: Apache-2.0
#include "imported.hpp"

namespace clprobe {

TEST_CASE("cuda-memcpy: points of transfer, and a run for each device") {
  const std::vector<Run> runs = import_runs(example_file("cuda-memcpy.txt"), hints());
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].imported->tool == "cuda-memcpy");
  CHECK(runs[0].device.index == 0);
  CHECK(runs[1].device.index == 1);
  REQUIRE(runs[0].results.size() == 1);
  CHECK(runs[0].results[0].probe == "transfer");
  REQUIRE(points_in(runs[0]).size() == 4);
  REQUIRE(points_in(runs[1]).size() == 2);
  const Point& last = points_in(runs[0]).back();
  CHECK(last.series == "to-device-pinned");
  CHECK(last.parameters.integer("transfer_bytes") == 268'435'456);
  CHECK(last.parameters.text("direction") == "to-device");
  CHECK(last.parameters.text("way") == "pinned");
  // Nanoseconds of a byte.
  CHECK(estimate(last, runs[0].device)->ns == doctest::Approx(1.0 / 54.5));
}

TEST_CASE("cuda-memcpy: what is no row") {
  const std::string row = "Device: 0  64kB  0.00ms  3.28GB/s  0.00%\n";
  CHECK(refusal(row) == "accepted");
  CHECK(refusal(row + "Device: 0  64kB  0.02ms  3.28GB/s") ==
        "line 2: expected a device and numbers in kB, ms, GB/s and %, found 'Device: 0  64kB  "
        "0.02ms  3.28GB/s'");
  for (const char* const wrong :
       {"Device: x  64kB  0.02ms  3.28GB/s  1%", "Device: 0.5  64kB  0.02ms  3.28GB/s  1%",
        "Device: 0  64MB  0.02ms  3.28GB/s  1%", "Device: 0  64kB  0.02s  3.28GB/s  1%",
        "Device: 0  64kB  0.02ms  0.00GB/s  1%", "Device: 2000  64kB  0.02ms  3.28GB/s  1%"}) {
    CAPTURE(wrong);
    CHECK(refusal(row + wrong).starts_with("line 2: expected a device"));
  }
  for (const char* const wrong :
       {"Device: 0  0.5kB  0.02ms  3.28GB/s  1%", "Device: 0  64kB  0.02ms  2e6GB/s  1%",
        "Device: 0  2e12kB  0.02ms  3.28GB/s  1%"}) {
    CAPTURE(wrong);
    CHECK(refusal(row + wrong) ==
          "line 2: expected a size from 1 to 10^12 kB and a bandwidth up to 10^6 GB/s");
  }
}

}  // namespace clprobe
