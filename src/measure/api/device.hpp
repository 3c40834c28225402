// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: finding them, trying them, and building and launching kernels on one.
// The only header that includes OpenCL; probes see it in `prepare` alone.
#pragma once

// 110 and not 120: Debian's opencl.hpp does not compile with 120 and target 300.
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

/// A device as `clprobe list` shows it.
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
/// answer: a failing attribute is absent, a failing platform is a problem.
Enumeration enumerate_devices();

/// Finds the device of that number within the platform of `device`, with all of its attributes;
/// nothing if it is gone.
std::optional<FoundDevice> find_neighbour(const DeviceInfo& device, int number);

/// Reads the vendor's and the optional attributes into `info.reported` (slower than `list` needs).
void read_attributes(const cl::Device& device, DeviceInfo& info);

/// "clFinish: CL_OUT_OF_RESOURCES (-5)".
std::string describe(const cl::Error& error);

/// Returns the first line of a build log that names an error.
std::string first_error_line(const std::string& log);

/// Returns true for codes with which drivers report missing memory or resources of a launch, as
/// opposed to a failure.
bool is_refusal(cl_int code);

/// Times of one launch.
struct LaunchTimes {
  std::optional<std::uint64_t> event_ns{};
  std::uint64_t host_ns{0};
};

/// A device in use: context, queue and built programs.
class Session {
 public:
  /// `info` as found, or as a former session of the same device left it (clock, timer, pointers).
  Session(const cl::Device& device, DeviceInfo info, std::uint64_t seed);
  /// Opens the device in a context that has more devices.
  Session(cl::Device device, DeviceInfo info, std::uint64_t seed, cl::Context context);

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  [[nodiscard]] DeviceInfo& info() { return info_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const cl::Context& context() const { return context_; }
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  [[nodiscard]] const cl::Device& device() const { return device_; }

  /// Returns kernel `name` of the embedded `file`, which is built once per set of options. The text
  /// is clock.clh for the device's clock, `preamble` with the headers that it includes, then the
  /// file. Throws DeviceError with the first line of the build log.
  cl::Kernel kernel(std::string_view file, const char* name, const std::string& options,
                    const std::string& preamble = {});

  /// Builds the program of `kernel`, so that the driver's cache has it for another process. Throws
  /// as `kernel` does.
  void build(std::string_view file, const std::string& options, const std::string& preamble);

  /// Time of the longest build until now.
  [[nodiscard]] std::chrono::steady_clock::duration longest_build() const { return longest_build_; }

  /// Start of the first launch, if any. An idle device runs at a low clock.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_launch() const {
    return first_launch_;
  }

  /// Returns the build of `kernel`: the hash of clock.clh, headers and the file, and all options.
  [[nodiscard]] KernelBuild build_of(std::string_view file, const std::string& options) const;

  /// Runs the kernel and waits for it. Only END - START is taken from the event: other stamps may
  /// come from another clock.
  LaunchTimes launch(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local,
                     const cl::NDRange& offset = cl::NullRange);

  /// CPU only: launches of one work-group run on this core, one of the allowed ones.
  void use_core(int core) { core_ = core; }

  /// Ends `use_core`: for launches that a probe makes without `launch`.
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

/// The argument `never` of cl/clock.clh: a value that no chain and no offset has.
inline constexpr cl_ulong never = ~cl_ulong{0};

/// Returns the clocks that suit the device's compiler and platform, best first.
std::vector<ClockKind> candidate_clocks(Session& session);

/// Builds and runs a clock kernel and judges it: positive, monotonic, proportional to the work (n,
/// 4n, 16n), with the right end value. On success session.info() has the clock; otherwise throws
/// DeviceError with the reason. Some drivers end or hang the process: call it in a child.
void try_clock(Session& session, ClockKind kind);

/// Runs chains until three in a row agree within 1 %, at least 0.3 s on a GPU, since idle devices
/// have low clocks. Then measures ticks against time by regression.
void warm_up_and_calibrate(Session& session);

/// Tests event times: from a chain of n to one of 8n they must grow as the host's time does, within
/// a tenth, and not exceed it. Sets session.info().timer and .launch_timer. Returns the problem;
/// empty if event times are reliable.
std::string try_events(Session& session);

/// Tests that pointers stored by one kernel are valid in the next. May crash: call it in a child.
bool try_pointers(Session& session);

/// Page-aligned host memory for CPU devices, on huge pages if the system provides them. Its initial
/// contents are arbitrary.
class HostMemory {
 public:
  explicit HostMemory(Bytes size);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  HostMemory(HostMemory&&) = delete;
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  [[nodiscard]] void* begin() const { return begin_; }
  /// Percentage of the touched memory that is on huge pages now.
  [[nodiscard]] int huge_page_percent() const;

 private:
  void* begin_;
  Bytes size_;
};

/// Prepares points on an opened device in this process, the worker, which a crashing driver ends.
class PointPreparer {
 public:
  /// The session must outlive it.
  explicit PointPreparer(Session& session);
  PointPreparer(const PointPreparer&) = delete;
  PointPreparer& operator=(const PointPreparer&) = delete;
  PointPreparer(PointPreparer&&) = delete;
  PointPreparer& operator=(PointPreparer&&) = delete;
  ~PointPreparer();

  /// Prepares a point. The work is valid until the next call. Throws DeviceError; Unsupported.
  Work prepare(const Probe& probe, const Point& point);
  /// Prepares a point that will be prepared again: keeps its buffers until the memory is needed.
  Work prepare_kept(const Probe& probe, const Point& point);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace clprobe
