// SPDX-License-Identifier: Apache-2.0
// OpenCL in a child process. A driver that crashes or hangs ends only the child process.
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

/// Environment variables of child processes, which extend or replace the inherited variables.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The devices of this machine, and the drivers that were left out.
struct DeviceList {
  struct Problem {
    std::string platform{};
    std::string problem{};
  };
  /// Driver with which the child process crashes, hangs or fails to list the devices.
  struct LeftOut {
    std::string file{};  ///< ICD file that registers the driver
    std::string reason{};
  };
  std::vector<DeviceInfo> devices{};
  std::vector<Problem> problems{};  ///< empty platforms, failed queries, and unusable devices
  std::vector<LeftOut> left_out{};  ///< drivers that do not work; their devices are not listed
  std::vector<std::string> kept{};  ///< ICD files of the working drivers, if each was tested
  /// Folder of the drivers of these devices; null: all drivers. WorkerSettings must use this
  /// folder, since device indexes depend on the drivers.
  std::shared_ptr<const DriverFolder> drivers{};
  /// Child process that listed the devices. The child has already loaded the drivers, so that the
  /// child can also open the first device.
  std::shared_ptr<ChildProcess> child{};
};

struct WorkerSettings {
  std::chrono::milliseconds timeout{30'000};  ///< time limit for one answer of the driver
  std::uint64_t seed{42};
  /// False if the host memory of a finished probe must be returned to the system.
  bool keeps_memory{true};
  std::optional<ClockKind> clock{};  ///< the only clock to try; absent: try all clocks
  std::function<bool()> cancelled{};
  /// Called with the name of each request of a backend to the driver, such as "open", "try-clock",
  /// "prepare" or "sample".
  std::function<void(std::string_view)> asking{};
  /// Folder of the drivers to load, from a DeviceList; null: all drivers.
  std::shared_ptr<const DriverFolder> drivers{};
  Environment environment{};
};

/// Returns the devices, which a child process lists. If the child fails, the drivers are added one
/// by one in new child processes, and those that make the child fail are left out. Throws
/// DeviceError if no driver works, or `cancelled` returns true.
DeviceList list_devices(const WorkerSettings& settings);

/// Opens the device with index `device_index` of DeviceList::devices in a child process. Tests the
/// device's clock, event times and pointers there. Throws DeviceError if the device cannot be
/// opened or the requested clock fails. `child`: unused child of a DeviceList, or null.
std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child = {});

/// Runs the worker process, which answers requests on file descriptor 3 until the descriptor is
/// closed. Ends the process instead of returning.
int serve();

}  // namespace clprobe
