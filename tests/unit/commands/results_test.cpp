// SPDX-License-Identifier: Apache-2.0
#include "commands/results.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace clprobe::commands {

TEST_CASE("a picture is of the only probe, or of the one that its name begins with") {
  const std::array<std::string, 3> probes{"latency", "bandwidth", "bandwidth_local"};
  const std::span all(probes);
  CHECK(pictured_probe("x/any.svg", all.first(1)) == "latency");
  CHECK(pictured_probe("-", all.first(1)) == "latency");
  CHECK(pictured_probe("any.svg", {}).empty());
  CHECK(pictured_probe("x/latency.svg", all) == "latency");
  CHECK(pictured_probe("latency-h200.svg", all) == "latency");
  CHECK(pictured_probe("bandwidth.v2.svg", all) == "bandwidth");
  CHECK(pictured_probe("bandwidth_local.svg", all) == "bandwidth_local");
  for (const char* const path : {"latencies.svg", "-", "x.svg", "latency/x.svg"}) {
    CAPTURE(path);
    CHECK_THROWS_WITH_AS(pictured_probe(path, all),
                         doctest::Contains("begin the name with the one to draw, as in -o "
                                           "latency.svg"),
                         cli::UsageError);
  }
}

}  // namespace clprobe::commands
