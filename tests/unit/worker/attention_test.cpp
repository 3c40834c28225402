// SPDX-License-Identifier: Apache-2.0
#include "worker/attention.hpp"

#include <doctest/doctest.h>

#include <string>

namespace clprobe {
namespace {

DeviceInfo device_of(DeviceType type, Timer timer) {
  DeviceInfo device;
  device.type = type;
  device.timer = timer;
  return device;
}

TEST_CASE("what is waited for, or timed by the host, is of the host's thread; not beside a CPU") {
  Point point;
  CHECK_FALSE(is_of_host(point, device_of(DeviceType::gpu, Timer::clock)));
  CHECK_FALSE(is_of_host(point, device_of(DeviceType::gpu, Timer::event)));
  CHECK(is_of_host(point, device_of(DeviceType::gpu, Timer::host)));
  CHECK_FALSE(is_of_host(point, device_of(DeviceType::cpu, Timer::host)));
  point.parameters.set("timer", std::string("wait"));
  CHECK(is_of_host(point, device_of(DeviceType::gpu, Timer::clock)));
  CHECK_FALSE(is_of_host(point, device_of(DeviceType::cpu, Timer::clock)));
}

TEST_CASE("who waits looks beside a GPU and four cores or more") {
  CHECK(may_look(device_of(DeviceType::gpu, Timer::clock), 4));
  CHECK_FALSE(may_look(device_of(DeviceType::gpu, Timer::clock), 3));
  CHECK_FALSE(may_look(device_of(DeviceType::cpu, Timer::clock), 64));
}

}  // namespace
}  // namespace clprobe
