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

#include "clprobe/engine.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

class ChildProcess;
class DriverFolder;

/// Variables that children have beside this process's own, or in the place of these.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// What a child found on this machine.
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
  std::vector<LeftOut> left_out{};  ///< the devices are those of the other drivers
  std::vector<std::string> kept{};  ///< the files of those, where some are left out
  /// Those others, where some are left out: for WorkerSettings, since indexes depend on it.
  std::shared_ptr<const DriverFolder> drivers{};
  /// The child that looked: its drivers are loaded already, so that the first device is opened
  /// there.
  std::shared_ptr<ChildProcess> child{};
};

struct WorkerSettings {
  std::chrono::milliseconds timeout{30'000};  ///< for one answer of the driver
  std::uint64_t seed{42};
  /// Whether memory of the host that a probe is done with may stay for the next one.
  bool keeps_memory{true};
  std::optional<ClockKind> clock{};  ///< try this clock only; nothing: the ladder
  std::function<bool()> cancelled{};
  /// What the driver is asked for now: "open", "try-clock", "prepare", "run".
  std::function<void(std::string_view)> asking{};
  std::shared_ptr<const DriverFolder> drivers{};  ///< of a DeviceList; null: all of them
  Environment environment{};
};

/// Lists the devices in a child process. Where the drivers end it they are tried one by one, and
/// those that do it are left out. Throws DeviceError when none remains.
DeviceList list_devices(const WorkerSettings& settings);

/// Opens the device of that flat index in a child process and tries it there: clock, event times,
/// pointers, warm-up, calibration. Throws DeviceError when it cannot be opened at all.
/// `child` may be that of a DeviceList, if no other backend has it.
std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child = {});

/// The child's side: answers requests on file descriptor 3 until it closes. Returns the exit code.
int serve();

}  // namespace clprobe
