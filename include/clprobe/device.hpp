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

#include "clprobe/engine.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

namespace system {
class Cores;
}

/// A device that was found, in the order of `clprobe list`.
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

/// All devices of all platforms. Never throws for what a driver answers: an attribute that fails is
/// absent, a platform that fails is a problem. Nothing is built or launched.
Enumeration enumerate_devices();

/// The device of that number within the platform of `device`, with all of its attributes; nothing
/// when it is gone.
std::optional<FoundDevice> find_neighbour(const DeviceInfo& device, int number);

/// Reads the vendor's and the optional attributes into `info.reported` (slower than `list` needs).
void read_attributes(const cl::Device& device, DeviceInfo& info);

/// "clFinish: CL_OUT_OF_RESOURCES (-5)".
std::string describe(const cl::Error& error);

/// The line of a build log that a person needs: the first that names an error.
std::string first_error_line(const std::string& log);

/// Whether drivers say so when they have not the memory or the resources that a launch needs, and
/// not when something is broken.
bool is_refusal(cl_int code);

/// How long one launch took.
struct LaunchTimes {
  std::optional<std::uint64_t> event_ns{};
  std::uint64_t host_ns{0};
};

/// One device in use: context, queue and built programs.
class Session {
 public:
  /// `info` as found, or as a former session of the same device left it (clock, timer, pointers).
  Session(const cl::Device& device, DeviceInfo info, std::uint64_t seed);
  /// The same in a context that has more devices than this one.
  Session(cl::Device device, DeviceInfo info, std::uint64_t seed, cl::Context context);

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  [[nodiscard]] DeviceInfo& info() { return info_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const cl::Context& context() const { return context_; }
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  [[nodiscard]] const cl::Device& device() const { return device_; }

  /// Kernel `name` of the embedded `file`, which is built once for each set of options. clock.clh
  /// and the device's clock come with it; `preamble` is put between the two, and headers that
  /// it includes stand in it. Throws DeviceError with the first line of the build log.
  cl::Kernel kernel(std::string_view file, const char* name, const std::string& options,
                    const std::string& preamble = {});

  /// Builds what `kernel` would, so that the driver has it in its cache when another process asks.
  /// Throws as `kernel` does.
  void build(std::string_view file, const std::string& options, const std::string& preamble);

  /// What the longest of all builds took until now.
  [[nodiscard]] std::chrono::steady_clock::duration longest_build() const { return longest_build_; }

  /// When the first launch began; nothing: there was none. An idle device runs at a low clock.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_launch() const {
    return first_launch_;
  }

  /// What `kernel` built: the hash of clock.clh, headers and the file, and all options.
  [[nodiscard]] KernelBuild build_of(std::string_view file, const std::string& options) const;

  /// Runs the kernel and waits for it. Only END - START is taken from the event: other stamps may
  /// come from another clock.
  LaunchTimes launch(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local,
                     const cl::NDRange& offset = cl::NullRange);

  /// On a CPU a launch of one work-group is run by that core, one of those that may run the
  /// process.
  void use_core(int core) { core_ = core; }

  /// Until then all cores run everything: for what a probe asks the driver for itself.
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

/// The argument `never` of cl/clock.clh: a value that no chain and no offset takes.
inline constexpr cl_ulong never = ~cl_ulong{0};

/// The clocks that the device's compiler and platform make worth trying, best first.
std::vector<ClockKind> candidate_clocks(Session& session);

/// Builds and runs a clock kernel and judges it: positive, monotonic, scaling with the work
/// (n, 4n, 16n), its end value right. On success the clock is in session.info(). Else throws
/// DeviceError that says why. May kill or hang the process on some drivers: call it in a child.
void try_clock(Session& session, ClockKind kind);

/// Runs chains until three in a row take the same time within 1 %, at least 0.3 s on a GPU: clocks
/// of idle devices are low. Then measures ticks against time by regression.
void warm_up_and_calibrate(Session& session);

/// Whether event times are true: from a chain of n to one of 8n they must grow as the host's time
/// does, within a tenth, and not exceed it. Sets session.info().timer and .launch_timer.
/// Returns what was false about them; empty when they are true.
std::string try_events(Session& session);

/// Whether pointers stored by one kernel lead the next one right. May crash: call it in a child.
bool try_pointers(Session& session);

/// Page-aligned host memory for CPU devices, on huge pages where the system gives them. It holds
/// what others left there.
class HostMemory {
 public:
  explicit HostMemory(Bytes size);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  HostMemory(HostMemory&&) = delete;
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  [[nodiscard]] void* begin() const { return begin_; }
  /// The share of what was touched of it that is on huge pages now, in percent.
  [[nodiscard]] int huge_page_percent() const;

 private:
  void* begin_;
  Bytes size_;
};

/// Prepares points on an opened device, in this process: a driver that crashes takes it along, so
/// that the worker's child runs it.
class PointPreparer {
 public:
  /// The session must outlive it.
  explicit PointPreparer(Session& session);
  PointPreparer(const PointPreparer&) = delete;
  PointPreparer& operator=(const PointPreparer&) = delete;
  PointPreparer(PointPreparer&&) = delete;
  PointPreparer& operator=(PointPreparer&&) = delete;
  ~PointPreparer();

  /// The work is valid until the next call. Throws DeviceError; Unsupported.
  Work prepare(const Probe& probe, const Point& point);
  /// The same for a point that is prepared again and again: its buffers are kept until the memory
  /// is needed.
  Work prepare_kept(const Probe& probe, const Point& point);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace clprobe
