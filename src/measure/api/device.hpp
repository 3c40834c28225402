// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: enumeration, tests of clocks, program builds and kernel launches. This is the
// only header that includes OpenCL's C++ interface. Probes reach OpenCL only by `Probe::open`.
#pragma once

// The minimum version is 110, since Debian's opencl.hpp does not compile with minimum 120 and
// target 300.
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {

namespace system {
class Cores;
}

/// An OpenCL device, and what its driver reports about it.
struct FoundDevice {
  cl::Device device{};
  DeviceInfo info{};
};

/// A platform without devices, a failed query, or a device that lacks a mandatory attribute.
struct PlatformProblem {
  std::string platform{};
  std::string problem{};
};

struct Enumeration {
  std::vector<FoundDevice> devices{};
  std::vector<PlatformProblem> problems{};
};

/// Returns the devices of all platforms, without building or launching a kernel. Never throws for a
/// driver's error: a PlatformProblem replaces a platform that cannot be queried, or a device
/// without a mandatory attribute. Other attributes that cannot be read are omitted.
Enumeration enumerate_devices();

/// Returns device `number` of the platform of `device`, with all attributes; nothing if the driver
/// no longer reports this device.
std::optional<FoundDevice> find_neighbour(const DeviceInfo& device, int number);

/// Reads vendor-specific and optional attributes, and the number of devices on the platform, into
/// `info.reported`, `info.uuid` and `info.pci`.
void read_attributes(const cl::Device& device, DeviceInfo& info);

/// Returns an OpenCL error as one line: "clFinish: CL_OUT_OF_RESOURCES (-5)".
std::string describe(const cl::Error& error);

/// Returns a build log's first line that names an error, else its first text, else a substitute.
std::string first_error_line(const std::string& log);

/// Returns true for error codes by which drivers refuse a launch that needs too many resources.
bool is_refusal(cl_int code);

/// Times of one launch in ns, by its event (absent if invalid) and by the host's clock.
struct LaunchTimes {
  std::optional<std::uint64_t> event_ns{};
  std::uint64_t host_ns{0};
};

/// A device in use: context, queue and built programs.
class Session {
 public:
  /// Opens a device. `info` comes from enumerate_devices(), or from an earlier session that tested
  /// the clock, the timer and the pointers.
  Session(const cl::Device& device, DeviceInfo info, std::uint64_t seed);
  /// Opens a device in an existing context, which may contain more devices.
  Session(cl::Device device, DeviceInfo info, std::uint64_t seed, cl::Context context);

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  [[nodiscard]] DeviceInfo& info() { return info_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const cl::Context& context() const { return context_; }
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  [[nodiscard]] const cl::Device& device() const { return device_; }

  /// Returns the kernel `name` of the embedded `file`. Each program is built only once. The source
  /// is clock.clh for the device's clock, `preamble`, and the file with its headers, in this order.
  /// Throws DeviceError with the first line of the build log that names an error.
  cl::Kernel kernel(std::string_view file, const char* name, const std::string& options,
                    const std::string& preamble = {});

  /// Builds the program that `kernel` would build, so that another process finds it in the driver's
  /// cache. Throws DeviceError with the first line of the build log.
  void build(std::string_view file, const std::string& options, const std::string& preamble);

  /// Start of the first launch; nothing before the first launch. Until the first launch, the device
  /// may run at a low clock.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_launch() const {
    return first_launch_;
  }

  /// Returns the identity of a build: the hash of clock.clh, the headers and the file, and all
  /// options.
  [[nodiscard]] KernelBuild build_of(std::string_view file, const std::string& options) const;

  /// Launches the kernel and waits until it ends. Uses only END - START of the event's timestamps,
  /// since drivers may take other timestamps from another clock. Throws cl::Error.
  LaunchTimes launch(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local,
                     const cl::NDRange& offset = cl::NullRange);

  /// Confines launches of one work-group, after the session's first launch, to the core `core`,
  /// which the process must be allowed to use. Has an effect only on CPU devices.
  void use_core(int core) { core_ = core; }

  /// Allows launches on all cores again. Probes that do not launch through `launch` must call this
  /// function first.
  void use_all_cores();

 private:
  const cl::Program& program(std::string_view file, const std::string& options,
                             const std::string& preamble);
  void place_launch(const cl::NDRange& global, const cl::NDRange& local);
  [[nodiscard]] std::string full_options(const std::string& options) const;

  cl::Device device_;
  DeviceInfo info_;
  std::uint64_t seed_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::string, cl::Program, std::less<>> programs_{};
  std::shared_ptr<system::Cores> cores_;
  std::optional<std::int64_t> sub_group_;  ///< size that kernels require, if any
  std::optional<int> core_{};
  std::optional<std::chrono::steady_clock::time_point> first_launch_{};
};

/// Value of the kernel argument `never` in cl/clock.clh. No chain value and no offset is equal to
/// this value.
inline constexpr cl_ulong never = ~cl_ulong{0};

/// Returns the clocks that the device's compiler and platform support, best first. Sets info().isa.
std::vector<ClockKind> candidate_clocks(Session& session);

/// Tests a clock with a kernel. Differences of clock reads must be positive, monotonic and
/// proportional to the work (n, 4n, 16n), and the kernel's result must be correct. Stores the clock
/// in session.info(), or throws DeviceError with the reason. Since the test crashes or hangs some
/// drivers, it must run in a child process.
void try_clock(Session& session, ClockKind kind);

/// Warms up the device until three consecutive chains agree within 1 %, at most 0.5 s (GPUs: 2 s).
/// Idle GPUs run at low clocks, so that GPUs get at least 0.3 s, or until their full clock. Then
/// calibrates the in-kernel clock, if any, by regression, and makes this clock the device's timer.
void warm_up_and_calibrate(Session& session);

/// Returns the problem of the device's event times; empty if event times are reliable. From a chain
/// of length n to a chain of 8n, event time and host time must grow equally within a tenth. Event
/// times must not exceed host times. Sets session.info().timer and .launch_timer.
std::string try_events(Session& session);

/// Returns true if pointers that a kernel stores are valid in the next kernel, and stores this in
/// session.info(). Since the test may crash the driver, it must run in a child process.
bool try_pointers(Session& session);

/// Page-aligned host memory for CPU devices, on huge pages if the system provides them. The initial
/// contents are undefined.
class HostMemory {
 public:
  explicit HostMemory(Bytes size);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  HostMemory(HostMemory&&) = delete;
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  [[nodiscard]] void* begin() const { return begin_; }
  /// Percentage of the touched memory that currently lies on huge pages.
  [[nodiscard]] int huge_page_percent() const;

 private:
  void* begin_;
  Bytes size_;
};

/// Preparation of points on an open device. It runs in the worker process, since a driver may
/// crash.
class PointPreparer {
 public:
  /// Keeps a reference to `session`, which must outlive this object.
  explicit PointPreparer(Session& session);
  PointPreparer(const PointPreparer&) = delete;
  PointPreparer& operator=(const PointPreparer&) = delete;
  PointPreparer(PointPreparer&&) = delete;
  PointPreparer& operator=(PointPreparer&&) = delete;
  ~PointPreparer();

  /// Returns a prepared point, which is valid until the next call. May free the buffers of other
  /// probes and of kept points. Throws DeviceError and Unsupported.
  Work prepare(const Probe& probe, const Point& point);
  /// Returns a prepared point that will be prepared again. Its buffers stay allocated until their
  /// memory is needed.
  Work prepare_kept(const Probe& probe, const Point& point);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace clprobe
