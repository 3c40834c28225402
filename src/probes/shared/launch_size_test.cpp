// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/launch_size.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace clprobe {
namespace {

constexpr std::uint64_t most = 1U << 20U;

TEST_CASE("launches are as long as is wanted, whatever interrupts one of them") {
  int calls = 0;
  // A launch takes 2 us to start and 100 ns per iteration. Every third launch is interrupted for
  // 20 ms.
  const auto ns_of = [&](std::uint64_t iterations) {
    return 2000.0 + 100.0 * static_cast<double>(iterations) + (++calls % 3 == 1 ? 20e6 : 0.0);
  };
  for (const int first : {0, 1, 2}) {
    calls = first;
    const std::uint64_t found = iterations_for(5e6, most, ns_of);
    CHECK(100.0 * static_cast<double>(found) == doctest::Approx(5e6).epsilon(0.01));
  }
}

TEST_CASE("a loop is no longer than it may be, and of one iteration at least") {
  const auto takes = [](double ns) { return [ns](std::uint64_t) { return ns; }; };
  CHECK(iterations_for(5e6, 100, takes(1.0)) == 100);
  CHECK(iterations_for(5e6, most, takes(1e9)) == 1);
  CHECK(iterations_for(5e6, most, takes(0.0)) == most);
}

TEST_CASE(
    "launches grow to half of what is wanted, by 64 times at most, and are made twice there") {
  std::vector<std::uint64_t> asked;
  const auto ns_of = [&](std::uint64_t iterations) {
    asked.push_back(iterations);
    return 1000.0 * static_cast<double>(iterations);
  };
  CHECK(iterations_for(600e3, most, ns_of) == 600);
  CHECK(asked == std::vector<std::uint64_t>{1, 64, 300, 300});
  asked.clear();
  // A launch of a quarter of the wanted time is long enough to compute the number of iterations.
  CHECK(iterations_for(256e3, most, ns_of) == 256);
  CHECK(asked == std::vector<std::uint64_t>{1, 64, 64});
}

TEST_CASE("a third launch is made where two of one length differ") {
  std::vector<double> took;
  std::size_t asked = 0;
  const auto ns_of = [&](std::uint64_t) { return took.at(asked++); };
  // The first launch also builds the kernel, and the second launch is interrupted: the third
  // launch counts.
  took = {30e6, 9e6, 5e6};
  CHECK(iterations_for(20e6, most, ns_of) == 4);
  CHECK(asked == 3);
  took = {30e6, 24e6};
  asked = 0;
  CHECK(iterations_for(72e6, most, ns_of) == 3);
  CHECK(asked == 2);
  // The first launch was interrupted: the second launch shows that one iteration takes 1 us.
  took = {30e6, 1e3, 1e7, 1e7};
  asked = 0;
  CHECK(iterations_for(20e6, most, ns_of) == 128);
  CHECK(asked == 4);
}

}  // namespace
}  // namespace clprobe
