// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/latency.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

RingShape ring_of(std::uint64_t nodes, std::uint64_t line_bytes = 64) {
  return {
      .working_set_bytes = nodes * line_bytes, .step_bytes = line_bytes, .line_bytes = line_bytes};
}

TEST_CASE(
    "latency: a layout has aged the first chases where one thread wrote a long ring's share") {
  constexpr std::uint64_t hops = 3 * 16384;
  DeviceInfo device = cpu();
  device.isa = "x86";
  for (const std::int64_t threads : {1, 2, 64}) {
    device.compute_units = threads;
    const std::uint64_t enough = static_cast<std::uint64_t>(threads) * 32 * hops;
    CAPTURE(threads);
    CHECK(is_aged_by_layout(device, ring_of(enough), hops));
    CHECK_FALSE(is_aged_by_layout(device, ring_of(enough - 1), hops));
  }
  // If the driver does not report the number of compute units, the number counts as 1.
  device.compute_units = 0;
  CHECK(is_aged_by_layout(device, ring_of(32 * hops), hops));
}

TEST_CASE("latency: a GPU's layout ages what its last cache is small beside") {
  constexpr std::uint64_t hops = 3 * 4096;
  const auto is_aged = [](Bytes size, Bytes cache, Bytes line = Bytes{128}) {
    DeviceInfo device = big_gpu();
    device.reported.set("cache_bytes", static_cast<std::int64_t>(cache.count));
    return is_aged_by_layout(device, ring_of(size / line, line.count), hops);
  };
  CHECK(is_aged(mebibytes(256), Bytes{}));
  CHECK_FALSE(is_aged(mebibytes(255), Bytes{}));
  CHECK(is_aged(mebibytes(400), mebibytes(100)));
  CHECK_FALSE(is_aged(mebibytes(399), mebibytes(100)));
  // With one node per page the ring has few nodes: the next chases would reach the first nodes
  // again.
  CHECK_FALSE(is_aged(mebibytes(512), Bytes{}, kibibytes(16)));
}

TEST_CASE("latency: no layout by code that is not the CPU's own ages a ring") {
  DeviceInfo device = cpu();
  device.isa = "spir";
  CHECK_FALSE(is_aged_by_layout(device, ring_of(std::uint64_t{1} << 31U), 1));
}

}  // namespace
}  // namespace clprobe::latency
