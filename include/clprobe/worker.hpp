// SPDX-License-Identifier: Apache-2.0
// OpenCL in a child process: a driver that crashes or hangs ends the child and not the program.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/engine.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

class ChildProcess;

/// What a child found on this machine.
struct DeviceList {
  struct Problem {
    std::string platform{};
    std::string problem{};
  };
  std::vector<DeviceInfo> devices{};
  std::vector<Problem> problems{};  ///< platforms without devices or that failed
  /// The child that looked: its drivers are loaded already, so that the first device is opened
  /// there.
  std::shared_ptr<ChildProcess> child{};
};

struct WorkerSettings {
  std::chrono::milliseconds timeout{30'000};  ///< for one answer of the driver
  std::uint64_t seed{42};
  std::optional<ClockKind> clock{};  ///< try this clock only; nothing: the ladder
  std::function<bool()> cancelled{};
};

/// Lists the devices in a child process. Throws DeviceError when the drivers end it.
DeviceList list_devices(const WorkerSettings& settings);

/// Opens the device of that flat index in a child process and tries it there: clock, event times,
/// pointers, warm-up, calibration. Throws DeviceError when it cannot be opened at all.
/// `child` may be that of a DeviceList, if no other backend has it.
std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child = {});

/// The child's side: answers requests on file descriptor 3 until it closes. Returns the exit code.
int serve();

}  // namespace clprobe
