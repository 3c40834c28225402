// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/loops.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "probes/latency/test_devices.hpp"

namespace clprobe::latency {
namespace {

TEST_CASE(
    "latency: a layout has aged the first chases where one thread wrote a long ring's share") {
  constexpr std::uint64_t hops = 3 * 16384;
  DeviceInfo device = cpu();
  device.isa = "x86";
  for (const std::int64_t threads : {1, 2, 64}) {
    device.compute_units = threads;
    const std::uint64_t enough = static_cast<std::uint64_t>(threads) * 32 * hops;
    CAPTURE(threads);
    CHECK(is_aged_by_layout(device, enough, hops));
    CHECK_FALSE(is_aged_by_layout(device, enough - 1, hops));
  }
  // A driver that does not say how many there are.
  device.compute_units = 0;
  CHECK(is_aged_by_layout(device, 32 * hops, hops));
}

TEST_CASE("latency: no layout by a GPU, or by code that is not the CPU's own, ages a ring") {
  constexpr std::uint64_t many = std::uint64_t{1} << 31U;
  DeviceInfo device = cpu();
  device.isa = "spir";
  CHECK_FALSE(is_aged_by_layout(device, many, 1));
  CHECK_FALSE(is_aged_by_layout(big_gpu(), many, 1));
}

}  // namespace
}  // namespace clprobe::latency
