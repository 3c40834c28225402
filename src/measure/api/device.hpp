// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: enumeration, tests of their clocks, program builds and kernel launches. Only this
// header includes OpenCL; probes see it in `prepare` alone.
#pragma once

// Version 110 is set because Debian's opencl.hpp does not compile with 120 and target 300.
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

/// An OpenCL device with the facts that `clprobe list` shows.
struct FoundDevice {
  cl::Device device{};
  DeviceInfo info{};
};

/// A platform without devices, or one whose query failed.
struct PlatformProblem {
  std::string platform{};
  std::string problem{};
};

struct Enumeration {
  std::vector<FoundDevice> devices{};
  std::vector<PlatformProblem> problems{};
};

/// Finds all devices of all platforms, without a build or a launch. Never throws for a driver's
/// answer: an attribute that fails is left out, a platform that fails is a problem.
Enumeration enumerate_devices();

/// Finds device `number` of the platform of `device`, with all attributes. Returns nothing if the
/// driver no longer has that device.
std::optional<FoundDevice> find_neighbour(const DeviceInfo& device, int number);

/// Reads vendor-specific and optional attributes into `info.reported`. Takes longer than `clprobe
/// list` may.
void read_attributes(const cl::Device& device, DeviceInfo& info);

/// Describes an error in one line: "clFinish: CL_OUT_OF_RESOURCES (-5)".
std::string describe(const cl::Error& error);

/// Returns the first line of a build log that names an error.
std::string first_error_line(const std::string& log);

/// Returns true for error codes by which drivers report that memory or resources are missing.
bool is_refusal(cl_int code);

/// Times of one launch.
struct LaunchTimes {
  std::optional<std::uint64_t> event_ns{};
  std::uint64_t host_ns{0};
};

/// A device in use: context, queue and built programs.
class Session {
 public:
  /// Opens a device. `info` is as enumerated, or as an earlier session left it (clock, timer,
  /// pointers).
  Session(const cl::Device& device, DeviceInfo info, std::uint64_t seed);
  /// Opens a device in an existing context, which may have more devices.
  Session(cl::Device device, DeviceInfo info, std::uint64_t seed, cl::Context context);

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  [[nodiscard]] DeviceInfo& info() { return info_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const cl::Context& context() const { return context_; }
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  [[nodiscard]] const cl::Device& device() const { return device_; }

  /// Returns kernel `name` of the embedded `file`; each set of options is built once. The source is
  /// clock.clh for the device's clock, `preamble` with its headers, then the file. Throws
  /// DeviceError with the first line of the build log.
  cl::Kernel kernel(std::string_view file, const char* name, const std::string& options,
                    const std::string& preamble = {});

  /// Builds the program of `kernel` so that the driver's cache has it for another process. Throws
  /// DeviceError with the first line of the build log.
  void build(std::string_view file, const std::string& options, const std::string& preamble);

  /// Time of the longest build so far.
  [[nodiscard]] std::chrono::steady_clock::duration longest_build() const { return longest_build_; }

  /// Start of the first launch, if any. An idle device runs at a low clock before it.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_launch() const {
    return first_launch_;
  }

  /// Returns the identity of a build: the hash of clock.clh, headers and file, and all options.
  [[nodiscard]] KernelBuild build_of(std::string_view file, const std::string& options) const;

  /// Runs the kernel and waits for it. The event gives END - START only, since drivers may take
  /// other timestamps from another clock.
  LaunchTimes launch(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local,
                     const cl::NDRange& offset = cl::NullRange);

  /// Runs launches of one work-group on `core`, which must be an allowed one. CPU only.
  void use_core(int core) { core_ = core; }

  /// Ends the effect of `use_core`. Probes that launch without `launch` call it first.
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
  std::optional<int> core_{};
  std::chrono::steady_clock::duration longest_build_{};
  std::optional<std::chrono::steady_clock::time_point> first_launch_{};
};

/// Value of the argument `never` in cl/clock.clh, which no chain and no offset reaches.
inline constexpr cl_ulong never = ~cl_ulong{0};

/// Returns the clocks that the device's compiler and platform support, best first.
std::vector<ClockKind> candidate_clocks(Session& session);

/// Tests a clock with a kernel: positive, monotonic, proportional to the work (n, 4n, 16n), right
/// end value. Stores the clock in session.info(), or throws DeviceError with the reason. Some
/// drivers crash or hang: call it in a child process.
void try_clock(Session& session, ClockKind kind);

/// Runs chains until three in a row agree within 1 %, on a GPU for at least 0.3 s, since idle
/// devices run at low clocks. Then calibrates ticks against time by regression.
void warm_up_and_calibrate(Session& session);

/// Tests event times. From a chain of n to one of 8n, event times must grow as the host's time
/// does, within a tenth, and must not exceed it. Sets session.info().timer and .launch_timer.
/// Returns the problem, empty if event times are reliable.
std::string try_events(Session& session);

/// Tests that pointers stored by one kernel are valid in the next one. The driver may crash: call
/// it in a child process.
bool try_pointers(Session& session);

/// Page-aligned host memory for CPU devices, on huge pages if the system provides them. Its initial
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

/// Prepares points on an open device. Runs in the worker process, which a crashing driver ends.
class PointPreparer {
 public:
  /// Keeps a reference to the session, which must live longer.
  explicit PointPreparer(Session& session);
  PointPreparer(const PointPreparer&) = delete;
  PointPreparer& operator=(const PointPreparer&) = delete;
  PointPreparer(PointPreparer&&) = delete;
  PointPreparer& operator=(PointPreparer&&) = delete;
  ~PointPreparer();

  /// Prepares a point. The work is valid until the next call. Throws DeviceError and Unsupported.
  Work prepare(const Probe& probe, const Point& point);
  /// Prepares a point that will be prepared again. Keeps its buffers until the memory is needed.
  Work prepare_kept(const Probe& probe, const Point& point);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace clprobe
