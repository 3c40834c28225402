// SPDX-License-Identifier: Apache-2.0
// Scatter that is worth a warning.
#include "compare/api/disturbance.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace clprobe {
namespace {

TEST_CASE("what the host waits for may scatter by up to 25 %") {
  const auto is_told = [](std::uint64_t longest) {
    Point point;
    point.parameters.set("timer", std::string("wait"));
    // The quartiles of these are what is between the least and the most.
    for (const std::uint64_t ns : {std::uint64_t{1000}, std::uint64_t{1000}, longest, longest}) {
      point.samples.push_back({.accesses = 1, .host_ns = ns});
    }
    return find_scatter(std::vector(8, point), {}).has_value();
  };
  CHECK_FALSE(is_told(1060));
  CHECK_FALSE(is_told(1270));  // 270 of 1135 is 24 %
  CHECK(is_told(1310));        // 310 of 1155 is 27 %
}

}  // namespace
}  // namespace clprobe
