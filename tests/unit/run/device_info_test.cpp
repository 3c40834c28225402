// SPDX-License-Identifier: Apache-2.0
#include "clprobe/device_info.hpp"

#include <doctest/doctest.h>

namespace clprobe {

TEST_CASE("a device is at its full clock when its core ticks as fast as the driver says") {
  DeviceInfo device;
  device.clock.rate = ClockRate::core_cycles;
  CHECK_FALSE(runs_at_full_clock(device, 2.0));  // nothing is said
  device.reported.set("max_clock_mhz", std::int64_t{1980});
  CHECK(runs_at_full_clock(device, 1.976));
  CHECK(runs_at_full_clock(device, 1.942));
  CHECK_FALSE(runs_at_full_clock(device, 1.938));
  CHECK_FALSE(runs_at_full_clock(device, 0.345));
  device.clock.rate = ClockRate::constant_rate;
  CHECK_FALSE(runs_at_full_clock(device, 1.976));
}

}  // namespace clprobe
