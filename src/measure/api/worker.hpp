// SPDX-License-Identifier: Apache-2.0
// OpenCL in a child process: a driver that crashes or hangs ends the child, not the program.
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

/// Variables that child processes get in addition to the inherited ones, or instead of them.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Devices of this machine.
struct DeviceList {
  struct Problem {
    std::string platform{};
    std::string problem{};
  };
  /// Driver that crashes or hangs the process that loads it.
  struct LeftOut {
    std::string file{};  ///< ICD file that registers the driver
    std::string reason{};
  };
  std::vector<DeviceInfo> devices{};
  std::vector<Problem> problems{};  ///< platforms that have no devices or failed
  std::vector<LeftOut> left_out{};  ///< broken drivers, whose devices are not listed
  std::vector<std::string> kept{};  ///< ICD files of the working drivers, if some are left out
  /// Folder of the working drivers, if some are left out. WorkerSettings need it, since device
  /// indexes depend on it.
  std::shared_ptr<const DriverFolder> drivers{};
  /// Child that listed the devices. Its drivers are loaded, so it also opens the first device.
  std::shared_ptr<ChildProcess> child{};
};

struct WorkerSettings {
  std::chrono::milliseconds timeout{30'000};  ///< limit for one answer of the driver
  std::uint64_t seed{42};
  /// False if host memory of a finished probe must be returned to the system.
  bool keeps_memory{true};
  std::optional<ClockKind> clock{};  ///< the only clock to try; nothing: try all
  std::function<bool()> cancelled{};
  /// Called with the name of each request to the driver: "open", "try-clock", "prepare", "sample".
  std::function<void(std::string_view)> asking{};
  std::shared_ptr<const DriverFolder> drivers{};  ///< drivers of a DeviceList; null: all drivers
  Environment environment{};
};

/// Lists the devices in a child process. If drivers crash or hang it, they are tested one by one,
/// and broken ones are left out. Throws DeviceError if no driver works.
DeviceList list_devices(const WorkerSettings& settings);

/// Opens the device with that index of DeviceList::devices in a child process and tests its clock,
/// event times and pointers there. Throws DeviceError if the device cannot be opened. `child` may
/// be the one of a DeviceList, unless another backend uses it.
std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child = {});

/// Runs the worker process: answers requests on file descriptor 3 until it closes. Returns the exit
/// code.
int serve();

}  // namespace clprobe
