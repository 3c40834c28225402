// SPDX-License-Identifier: Apache-2.0
// Judgements of a device's timers from launches of a chain.
#include "measure/device/trials.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace clprobe {
namespace {

TEST_CASE("a chain is made as long as wanted once a launch is long enough to tell") {
  CHECK_FALSE(length_taking(5e6, 256, 0.6249e6).has_value());
  CHECK(length_taking(5e6, 256, 0.625e6) == 2048);
  CHECK(length_taking(5e6, 1000, 3e6) == 1667);
  CHECK(length_taking(5e6, 1000, 5e6) == 1000);
  CHECK(length_taking(5e6, 1000, 9e6) == 1000);  // long enough chains are not shortened
  CHECK_FALSE(length_taking(5e6, 256, 0.0).has_value());
}

/// Returns the problem of chains of 2.5 and 20 ms whose event times are too short by a factor of
/// `scale`. The host adds `host_ns` to each launch.
std::string problem_of(double scale, double host_ns = 50e3) {
  LeastTimes short_chain;
  LeastTimes long_chain;
  for (const double disturbed_ns : {0.0, 3e6, 0.0, 9e6}) {
    short_chain.add(2.5e6 / scale, 2.5e6 + host_ns + disturbed_ns);
    long_chain.add(20e6 / scale, 20e6 + host_ns + disturbed_ns);
  }
  return find_event_problem(short_chain, long_chain);
}

TEST_CASE("event times are held against the host's from both sides") {
  const std::string too_long =
      "according to event times, a launch took longer than the host waited for it";
  CHECK(problem_of(1.0).empty());
  CHECK(problem_of(1.0, 5e6).empty());  // the overhead is equal for both chains
  CHECK(problem_of(1.08).empty());
  CHECK(problem_of(1.15) ==
        "with 8 times the work, event times grew by 15.2 ms, but the host's times by 17.5 ms");
  CHECK(problem_of(1.5) ==
        "with 8 times the work, event times grew by 11.7 ms, but the host's times by 17.5 ms");
  CHECK(problem_of(42.0) ==
        "with 8 times the work, event times grew by 0.417 ms, but the host's times by 17.5 ms");
  CHECK_FALSE(problem_of(42.0, 5e6).empty());
  CHECK_FALSE(problem_of(1000.0).empty());
  CHECK(problem_of(0.98) == too_long);
  CHECK(problem_of(0.5) == too_long);
  // All events of the driver take 3 ns, and the host was disturbed during the long chain only.
  CHECK_FALSE(find_event_problem({3.0, 2e6}, {3.0, 2e7}).empty());
  CHECK_FALSE(find_event_problem({2e6, 5e6}, {1.4e7, 1e6}).empty());
}

TEST_CASE("what a tick is shows where the core's clock changes") {
  constexpr double chain_cycles = 1e7;
  const auto launches = [&](const std::vector<double>& core_ghz, double constant_ghz) {
    std::vector<ChainTime> times;
    for (const double ghz : core_ghz) {
      const double ns = chain_cycles / ghz;
      times.push_back({constant_ghz > 0.0 ? constant_ghz * ns : chain_cycles, ns});
    }
    return times;
  };
  const std::vector<double> rises{0.6, 0.6, 0.9, 1.4, 1.98, 1.98, 1.98};
  CHECK(find_rate(launches(rises, 0.0)) == ClockRate::core_cycles);
  CHECK(find_rate(launches(rises, 1.0)) == ClockRate::constant_rate);
  CHECK_FALSE(find_rate(launches({1.9, 1.9, 1.98, 1.98}, 1.0)).has_value());
  CHECK_FALSE(find_rate(launches({1.98}, 1.0)).has_value());
  // Single interrupted launches do not count, nor pairs of launches whose ticks grow less than
  // their time.
  CHECK_FALSE(find_rate(launches({1.98, 1.98, 0.6, 1.98}, 0.0)).has_value());
  CHECK_FALSE(
      find_rate(std::vector<ChainTime>{{10, 10}, {10, 10}, {15, 20}, {15, 20}}).has_value());
}

}  // namespace
}  // namespace clprobe
