// SPDX-License-Identifier: Apache-2.0
// Number of iterations of a launch.
#include "probes/stalls/case.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace clprobe::stalls {
namespace {

/// Launches that take 18 us to begin, and 1 us per iteration.
class Cold {
 public:
  Sample operator()(std::uint64_t count) {
    asked.push_back(count);
    return {
        .accesses = count, .event_ns = 18'000 + 1'000 * count, .host_ns = 40'000 + 1'000 * count};
  }

  std::vector<std::uint64_t> asked{};
};

}  // namespace

TEST_CASE("a launch is as long as it is to be, whatever its start takes") {
  Cold launches;
  const Length length{.target_ns = 300'000, .few = 4, .most = 100'000, .begins_cold = true};
  // Four iterations take 22 us, so 54 iterations seem to take 300 us. The launch of 54 iterations
  // takes 72 us, so 225 iterations are needed.
  CHECK(fitting_iterations(length, std::ref(launches)) == 225);
  CHECK(launches.asked == std::vector<std::uint64_t>{4, 54});
}

TEST_CASE("one launch tells where a start is short beside it, and where a few are too many") {
  Cold launches;
  CHECK(fitting_iterations({.target_ns = 300'000, .few = 4, .most = 100'000}, std::ref(launches)) ==
        54);
  CHECK(fitting_iterations({.target_ns = 10'000, .few = 4, .most = 100'000, .begins_cold = true},
                           std::ref(launches)) == 4);
  CHECK(fitting_iterations({.target_ns = 300'000, .few = 4, .most = 8, .begins_cold = true},
                           std::ref(launches)) == 8);
  CHECK(launches.asked == std::vector<std::uint64_t>{4, 4, 4, 8});
}

TEST_CASE("an event that says next to nothing is none of the launch") {
  const Sample lying{.accesses = 4, .event_ns = 10, .host_ns = 20'000};
  CHECK(iterations_for(200'000, 4, lying) == 40);
  CHECK(iterations_for(200'000, 4, {.accesses = 4, .event_ns = 2'000, .host_ns = 20'000}) == 400);
  CHECK(iterations_for(200'000, 4, {.accesses = 4}) == 4);
}

}  // namespace clprobe::stalls
