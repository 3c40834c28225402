// SPDX-License-Identifier: Apache-2.0
// OpenCL in a child process: a driver that crashes or hangs ends the child and not the program.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/run.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {

class ChildProcess;
class DriverFolder;

/// Variables that child processes have in addition to the inherited ones, or instead of them.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Devices of this machine.
struct DeviceList {
  struct Problem {
    std::string platform{};
    std::string problem{};
  };
  /// A driver that ends or hangs the process that loads it.
  struct LeftOut {
    std::string file{};  ///< that registers it
    std::string reason{};
  };
  std::vector<DeviceInfo> devices{};
  std::vector<Problem> problems{};  ///< platforms without devices or that failed
  std::vector<LeftOut> left_out{};  ///< `devices` has those of the other drivers
  std::vector<std::string> kept{};  ///< files of the other drivers, if some are left out
  /// The other drivers, if some are left out: for WorkerSettings, since indexes depend on them.
  std::shared_ptr<const DriverFolder> drivers{};
  /// The child that listed the devices. Its drivers are loaded, so that it opens the first device.
  std::shared_ptr<ChildProcess> child{};
};

struct WorkerSettings {
  std::chrono::milliseconds timeout{30'000};  ///< for one answer of the driver
  std::uint64_t seed{42};
  /// True if host memory of a finished probe may stay for the next one.
  bool keeps_memory{true};
  std::optional<ClockKind> clock{};  ///< try this clock only; nothing: the ladder
  std::function<bool()> cancelled{};
  /// Called with each request to the driver: "open", "try-clock", "prepare", "sample".
  std::function<void(std::string_view)> asking{};
  std::shared_ptr<const DriverFolder> drivers{};  ///< of a DeviceList; null: all of them
  Environment environment{};
};

/// Lists the devices in a child process. If drivers end it, they are tested one by one, and those
/// that do so are left out. Throws DeviceError if none remains.
DeviceList list_devices(const WorkerSettings& settings);

/// Opens the device of that flat index in a child process and tests its clock, event times and
/// pointers there. Throws DeviceError if it cannot be opened. `child` may be that of a DeviceList,
/// if no other backend has it.
std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child = {});

/// The child's side: answers requests on file descriptor 3 until it closes. Returns the exit code.
int serve();

}  // namespace clprobe
