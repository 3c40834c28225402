// SPDX-License-Identifier: Apache-2.0
// Launches that go over memory have enough work-items: llvmpipe ends all loops of a work-item after
// 65,535 turns in all.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "clprobe/device_info.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe {
namespace {

constexpr std::uint64_t turns_of_llvmpipe = 65535;

DeviceInfo device(DeviceType type, std::int64_t units) {
  DeviceInfo info;
  info.name = "a device";
  info.type = type;
  info.isa = "spir";
  info.compute_units = units;
  info.max_work_group_size = type == DeviceType::cpu ? 4096 : 1024;
  info.sub_group_size = type == DeviceType::cpu ? 8 : 32;
  info.global_memory = gibibytes(32);
  info.max_allocation = gibibytes(8);
  info.local_memory = kibibytes(512);
  info.constant_buffer = kibibytes(64);
  info.cache_line = Bytes{64};
  info.image_buffer_pixels = 134217728;
  info.timer = info.launch_timer = Timer::event;
  return info;
}

DeviceInfo with_clock(DeviceInfo info) {
  info.timer = Timer::clock;
  info.clock = {ClockKind::intel, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return info;
}

/// As llvmpipe of Mesa 22.3 says of itself.
DeviceInfo llvmpipe() {
  DeviceInfo info = device(DeviceType::cpu, 2);
  info.max_work_group_size = 1024;
  info.local_memory = kibibytes(32);
  info.cache_line = Bytes{};
  info.image_buffer_pixels = 65536;
  info.timer = info.launch_timer = Timer::host;
  return info;
}

/// All of them take SPIR, as drivers do that may end loops.
std::vector<DeviceInfo> devices() {
  const DeviceInfo gpu = device(DeviceType::gpu, 96);
  return {device(DeviceType::cpu, 1),
          device(DeviceType::cpu, 2),
          device(DeviceType::cpu, 64),
          with_clock(device(DeviceType::cpu, 2)),
          llvmpipe(),
          device(DeviceType::gpu, 1),
          gpu,
          with_clock(gpu)};
}

}  // namespace

TEST_CASE("a launch over memory of any size has enough work-items, on any device") {
  for (DeviceInfo info : devices()) {
    for (const char* const isa : {"spir", "nvptx", "x86"}) {
      info.isa = isa;
      for (std::uint64_t places = 1; places <= std::uint64_t{1} << 36U; places *= 2) {
        CAPTURE(places);
        for (const std::uint64_t near : {places, places + 1}) {
          const LaunchSize size = spread_over(info, near);
          CHECK((near + size.items - 1) / size.items <= turns_of_llvmpipe);
          CHECK(size.items % size.group == 0);
        }
      }
    }
  }
}

TEST_CASE("work-items that fill and check strides end their loops, whatever the pattern") {
  for (const bool is_cpu : {false, true}) {
    for (std::uint64_t words = 16; words <= std::uint64_t{1} << 32U; words *= 2) {
      for (std::uint64_t block = 1; block <= words; block *= 2) {
        const stride::Walk walk = stride::Walk::over({words, 0, block, 2 * block}, is_cpu);
        CAPTURE(words);
        CAPTURE(block);
        CHECK(walk.turns() <= turns_of_llvmpipe);
        CHECK(walk.walkers() * walk.each * walk.blocks_each >= words);
      }
    }
  }
}

}  // namespace clprobe
