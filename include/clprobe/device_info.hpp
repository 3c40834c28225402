// SPDX-License-Identifier: Apache-2.0
// What a run says of its device. Names carry their unit.
#pragma once

#include <cstdint>
#include <string>

#include "clprobe/parameters.hpp"
#include "clprobe/units.hpp"

namespace clprobe {

/// What a device is. Questions about it are asked by name, so that no caller lists types.
enum class DeviceType { gpu, cpu, accelerator, other, simulated };

/// Which in-kernel clock a device has (DESIGN: the clock ladder).
enum class ClockKind { none, khr_device, khr_sub_group, nvidia, amd, intel, cpu, simulated };

/// What a tick is: a cycle of the core (follows its frequency) or of a constant-rate counter.
enum class ClockRate { unknown, core_cycles, constant_rate };

struct Clock {
  ClockKind kind{ClockKind::none};
  ClockRate rate{ClockRate::unknown};
  std::uint64_t overhead_ticks{0};  ///< least distance of two reads with nothing in between
  std::uint64_t quantum_ticks{1};   ///< ticks come in multiples of this
  double ticks_per_ns{0.0};         ///< slope against the timer; 0 when not calibrated
  double ticks_per_ns_low{0.0};
  double ticks_per_ns_high{0.0};
  double r_squared{0.0};

  friend bool operator==(const Clock&, const Clock&) = default;
};

/// What times a sample, best first. `event` and `host` time whole launches, so that only the slope
/// between two amounts of work counts. `wait`: of a point that is about what the host waits for,
/// start and end of the launch included. `imported`: another tool did, and gave results alone.
enum class Timer { clock, event, host, wait, imported };

/// One OpenCL device: what the driver reports, and what was tried on it before measuring.
struct DeviceInfo {
  int index{0};                  ///< flat index over all platforms, as in `clprobe list`
  std::string platform_index{};  ///< "platform:device"
  std::string platform{};
  std::string name{};
  DeviceType type{DeviceType::other};
  std::string vendor{};
  std::string driver{};
  std::string version{};  ///< CL_DEVICE_VERSION
  std::string uuid{};     ///< hexadecimal; empty where the driver has none
  std::string pci{};      ///< "0000:01:00.0"; empty where the driver has none
  std::string isa{};      ///< what the compiler's macros say: "nvptx", "amdgcn", "x86", "spir", ...

  std::int64_t compute_units{0};
  std::int64_t sub_group_size{1};
  std::int64_t max_work_group_size{1};
  Bytes global_memory{};
  Bytes max_allocation{};
  Bytes local_memory{};
  Bytes constant_buffer{};
  Bytes cache_line{};                   ///< as reported; may be 0
  std::int64_t image_buffer_pixels{0};  ///< 0 when the device has no images
  bool pointers_stay_valid{false};      ///< pointers stored by one kernel work in the next (tried)

  Clock clock{};
  Timer timer{Timer::host};         ///< what times accesses: the best that the device has
  Timer launch_timer{Timer::host};  ///< what times whole launches: event where events are true
  Parameters reported{};            ///< every attribute as the driver reported it

  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

/// Whether one thread runs the work-items of a group one after another, with the caches of a core.
inline bool runs_items_in_turn(const DeviceInfo& device) { return device.type == DeviceType::cpu; }
/// Whether nothing is measured: a model of a compute unit is asked.
inline bool is_simulated(const DeviceInfo& device) { return device.type == DeviceType::simulated; }
inline bool is_gpu(const DeviceInfo& device) { return device.type == DeviceType::gpu; }
/// The cache of global memory as the driver reports it, which may be the nearest or the last one;
/// 0 where it says nothing.
Bytes reported_cache(const DeviceInfo& device);
/// Whether so many ticks of the core's own clock a nanosecond are what the driver says is its most:
/// it will not rise further. False where the clock is no core's or the driver says nothing.
bool runs_at_full_clock(const DeviceInfo& device, double ticks_per_ns);

}  // namespace clprobe
