// SPDX-License-Identifier: Apache-2.0
// What work-items reach, beside values that exact fractions gave (Python's Fraction, rounded to
// float after each operation), and how much work that is.
#include "probes/clock/clock.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace clprobe::clock {
namespace {

constexpr std::uint32_t more = 0x2545f491;
constexpr std::uint32_t mask = 0x4f6cdd1d;

DeviceInfo cpu_of_2() {
  DeviceInfo device;
  device.type = DeviceType::cpu;
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  device.clock.kind = ClockKind::cpu;
  device.clock.rate = ClockRate::constant_rate;
  return device;
}

DeviceInfo gpu_of_132() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.launch_timer = Timer::event;
  device.clock.kind = ClockKind::nvidia;
  device.clock.rate = ClockRate::core_cycles;
  return device;
}

}  // namespace

TEST_CASE("clock: what arithmetic reaches") {
  CHECK(expected_end({.items = 8, .numbers = 1}, 0) == 0xfd117fd8);
  CHECK(expected_end({.items = 8, .numbers = 3}, 7) == 0xfbdb8d05);
  // Work-item 7 starts its second round with the number 8, which starts the first round of
  // work-item 8.
  CHECK(expected_end({.items = 8, .rounds = 2, .numbers = 3}, 7) == 0xf8fc0dae);
}

TEST_CASE("clock: what streaming adds up, across the end of the buffer and from round to round") {
  Burn threads{.items = 16, .vectors = 1000, .first = 17, .apart = 62, .loads = 2};
  CHECK(expected_end(threads, 5) == 0x3898c440);
  threads.rounds = 2;
  CHECK(expected_end(threads, 5) == 0xe2d20880);
  const Burn groups{
      .items = 512, .group = 256, .vectors = 5000, .first = 4990, .step = 512, .loads = 3};
  CHECK(expected_end(groups, 300) == 0xae092460);
}

TEST_CASE("clock: where there are both, groups of an odd number stream") {
  const Burn both{.items = 512,
                  .group = 256,
                  .vectors = 5000,
                  .first = 4990,
                  .step = 512,
                  .numbers = 3,
                  .loads = 3};
  CHECK(expected_end(both, 7) == 0xfbdb8d05);
  CHECK(expected_end(both, 300) == 0xae092460);
  CHECK(operations_of(both) == 256 * 3 * unroll * operations_of_step);
  CHECK(moved_bytes_of(both) == 256 * 3 * unroll * 16);
  // Two of three work-groups run arithmetic.
  Burn odd = both;
  odd.items = 768;
  CHECK(operations_of(odd) == 2 * operations_of(both));
  CHECK(moved_bytes_of(odd) == moved_bytes_of(both));
  odd.loads = 0;
  CHECK(operations_of(odd) == 3 * operations_of(both));
  CHECK(moved_bytes_of(odd) == 0);
  odd.rounds = 5;
  CHECK(operations_of(odd) == 15 * operations_of(both));
}

TEST_CASE("clock: where a chain ends") {
  CHECK(expected_chain(0, 1, more, mask) == 0x6a29298c);
  CHECK(expected_chain(5, 64, more, mask) == 0x06c40485);
  CHECK(expected_chain(77, 8192, more, mask) == 0x973bc04d);
}

// tests/runtimes/oclgrind.bats checks that an interpreter of the kernels computes the same
// numbers.
TEST_CASE("clock: what the work-items of two small groups reach") {
  constexpr Burn small{.items = 8,
                       .group = 4,
                       .vectors = 37,
                       .first = 3,
                       .step = 5,
                       .rounds = 2,
                       .numbers = 1,
                       .loads = 1,
                       .links = 2};
  constexpr std::uint32_t ends[]{4147997118, 4119268496, 4160346401, 4130955931,
                                 3008147520, 2839103040, 3218998208, 2073322816};
  constexpr std::uint32_t chains[]{2701492224, 2953173505, 2701492226, 2853872131,
                                   2701492228, 3439294981, 2701492230, 2195077639};
  for (std::uint32_t item = 0; item < small.items; ++item) {
    CHECK(expected_end(small, item) == ends[item]);
    CHECK(expected_chain(item, 256, more, mask) == chains[item]);
  }
}

TEST_CASE("clock: a thread of a CPU has a region of its own, work-items of a GPU are neighbours") {
  const Burn threads = launch_shape(cpu_of_2(), mebibytes(64));
  CHECK(threads.group == 1);
  CHECK(threads.items == 16);
  CHECK(threads.vectors == 4U << 20U);
  CHECK(threads.apart == threads.vectors / 16);
  CHECK(threads.step == 1);
  CHECK(threads.rounds > 1);
  CHECK(threads.links > 0);
  const Burn items = launch_shape(gpu_of_132(), mebibytes(512));
  CHECK(items.group == 256);
  CHECK(items.items == 132 * 2048);
  CHECK(items.apart == 1);
  CHECK(items.step == items.items);
  CHECK(items.rounds == 1);
  CHECK(items.links == 0);
  DeviceInfo small = gpu_of_132();
  small.max_work_group_size = 64;
  CHECK(launch_shape(small, mebibytes(512)).group == 64);
  // With fewer vectors than work-items, the step must not be 0.
  const Burn few = launch_shape(gpu_of_132(), kibibytes(4));
  CHECK(few.step > 0);
  CHECK(few.step <= few.vectors);
}

TEST_CASE("clock: what counts a device's cycles") {
  CHECK(counting_of(cpu_of_2()) == Counting::chain);
  CHECK(counting_of(gpu_of_132()) == Counting::steady);
  DeviceInfo other = gpu_of_132();
  for (const ClockKind kind : {ClockKind::amd, ClockKind::intel}) {
    other.clock.kind = kind;
    CHECK(counting_of(other) == Counting::event);
    CHECK(missing_on(other).empty());
  }
  other.launch_timer = Timer::host;
  CHECK(counting_of(other) == Counting::none);
  CHECK(missing_on(other) ==
        "clprobe cannot time the core's cycles, because the device's launch times are unreliable");
  // NVIDIA's two in-kernel counters suffice without events.
  DeviceInfo nvidia = gpu_of_132();
  nvidia.launch_timer = Timer::host;
  CHECK(counting_of(nvidia) == Counting::steady);
}

TEST_CASE("clock: why a device's clock cannot be told") {
  DeviceInfo device = gpu_of_132();
  device.clock = {.kind = ClockKind::amd, .rate = ClockRate::constant_rate};  // gfx11
  CHECK(missing_on(device) ==
        "the in-kernel clock has a constant rate, independent of the core clock");
  device.clock = {.kind = ClockKind::khr_device, .rate = ClockRate::unknown};
  CHECK(missing_on(device) ==
        "the in-kernel clock possibly has a constant rate, independent of the core clock");
  device.clock = {};
  CHECK(missing_on(device) == "kernels cannot read a clock on this device");
  DeviceInfo processor = cpu_of_2();
  CHECK(missing_on(processor).empty());
  processor.clock = {};  // a driver whose compiler reads SPIR
  CHECK(missing_on(processor) == "kernels cannot read a clock on this device");
  DeviceInfo simulated = gpu_of_132();
  simulated.type = DeviceType::simulated;
  CHECK(missing_on(simulated) == "a simulated device has no clock");
}

}  // namespace clprobe::clock
