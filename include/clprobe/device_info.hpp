// SPDX-License-Identifier: Apache-2.0
// The device of a run. Names of fields carry their unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "clprobe/parameters.hpp"
#include "clprobe/units.hpp"
#include "clprobe/words.hpp"

namespace clprobe {

/// Type of a device. Callers test types with the functions at the end of this file.
enum class DeviceType { gpu, cpu, accelerator, other, simulated };
template <>
struct EnumWords<DeviceType> {
  static constexpr std::array table{Word{DeviceType::gpu, "gpu"}, Word{DeviceType::cpu, "cpu"},
                                    Word{DeviceType::accelerator, "accelerator"},
                                    Word{DeviceType::other, "other"},
                                    Word{DeviceType::simulated, "simulated"}};
};

/// In-kernel clock of a device.
enum class ClockKind { none, khr_device, khr_sub_group, nvidia, amd, intel, cpu, simulated };
template <>
struct EnumWords<ClockKind> {
  static constexpr std::array table{Word{ClockKind::none, "none"},
                                    Word{ClockKind::khr_device, "khr-device"},
                                    Word{ClockKind::khr_sub_group, "khr-sub-group"},
                                    Word{ClockKind::nvidia, "nvidia-clock64"},
                                    Word{ClockKind::amd, "amd-cycle-counter"},
                                    Word{ClockKind::intel, "intel-cycle-counter"},
                                    Word{ClockKind::cpu, "cpu-cycle-counter"},
                                    Word{ClockKind::simulated, "simulated-cycles"}};
};

/// Meaning of a clock tick: a cycle of the core, whose frequency varies, or a tick of a
/// constant-rate counter.
enum class ClockRate { unknown, core_cycles, constant_rate };
template <>
struct EnumWords<ClockRate> {
  static constexpr std::array table{Word{ClockRate::unknown, "unknown"},
                                    Word{ClockRate::core_cycles, "core-cycles"},
                                    Word{ClockRate::constant_rate, "constant-rate"}};
};

struct Clock {
  ClockKind kind{ClockKind::none};
  ClockRate rate{ClockRate::unknown};
  std::uint64_t overhead_ticks{0};  ///< minimum difference between two consecutive reads
  std::uint64_t quantum_ticks{1};   ///< greatest common divisor of differences between reads
  /// Clock rate measured against the timer; 0 without calibration.
  double ticks_per_ns{0.0};
  double ticks_per_ns_low{0.0};
  double ticks_per_ns_high{0.0};
  double r_squared{0.0};

  friend bool operator==(const Clock&, const Clock&) = default;
};

/// Timer of a sample, most accurate first. `event` and `host` time whole launches, so that the time
/// of an access is the slope between two amounts of work. `wait` is the time that the host waits
/// for a launch, including its start and end. `imported` marks results of other tools.
enum class Timer { clock, event, host, wait, imported };
template <>
struct EnumWords<Timer> {
  static constexpr std::array table{Word{Timer::clock, "clock"}, Word{Timer::event, "event"},
                                    Word{Timer::host, "host"}, Word{Timer::wait, "wait"},
                                    Word{Timer::imported, "imported"}};
};

/// One OpenCL device: the driver's report, and the results of tests that run before measuring.
struct DeviceInfo {
  int index{0};                  ///< flat index over all platforms, as in `clprobe list`
  std::string platform_index{};  ///< "platform:device"
  std::string platform{};
  std::string name{};
  DeviceType type{DeviceType::other};
  std::string vendor{};
  std::string driver{};
  std::string version{};  ///< CL_DEVICE_VERSION
  std::string uuid{};     ///< hexadecimal; empty if the driver reports none
  std::string pci{};      ///< "0000:01:00.0"; empty if the driver reports none
  std::string isa{};      ///< from the compiler's macros: "nvptx", "amdgcn", "x86", "spir", ...

  std::int64_t compute_units{0};
  std::int64_t sub_group_size{1};
  std::int64_t max_work_group_size{1};
  Bytes global_memory{};
  Bytes max_allocation{};
  Bytes local_memory{};
  Bytes constant_buffer{};
  Bytes cache_line{};                   ///< as the driver reports it; may be 0
  std::int64_t image_buffer_pixels{0};  ///< 0 if the device has no images
  /// True if a test found that pointers stored by a kernel stay valid in later kernels.
  bool pointers_stay_valid{false};

  Clock clock{};
  Timer timer{Timer::host};         ///< most accurate timer of accesses
  Timer launch_timer{Timer::host};  ///< timer of whole launches: event if event times are reliable
  Parameters reported{};            ///< attributes by name, as the driver reported them

  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

/// Returns true for devices that execute the work-items of a group one after another on one thread,
/// which uses the caches of one core.
inline bool runs_items_in_turn(const DeviceInfo& device) { return device.type == DeviceType::cpu; }
/// Returns true for a simulated compute unit, which measures no hardware.
inline bool is_simulated(const DeviceInfo& device) { return device.type == DeviceType::simulated; }
inline bool is_gpu(const DeviceInfo& device) { return device.type == DeviceType::gpu; }
/// Returns the size of the global memory cache that the driver reports; 0 without a report. Some
/// drivers report the size of the first cache level, and other drivers that of the last cache
/// level.
Bytes reported_cache(const DeviceInfo& device);
/// Returns a device's name without the prefix that PoCL puts before it: the driver and the
/// architecture, as in "cpu-skylake-avx512-Intel(R) Xeon(R) Processor".
std::string_view model_name(std::string_view device, DeviceType type);
/// Returns true if `ticks_per_ns` is at least 98 % of the maximum core clock that the driver
/// reports. Returns false for constant-rate clocks and for drivers that report no maximum.
bool runs_at_full_clock(const DeviceInfo& device, double ticks_per_ns);

}  // namespace clprobe
