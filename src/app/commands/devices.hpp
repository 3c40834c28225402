// SPDX-License-Identifier: Apache-2.0
// Selection of devices by --device. The functions read no files except those of simulated machines.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/run.hpp"
#include "measure/api/worker.hpp"
#include "profile/api/bundle.hpp"
#include "simulation/api/machine.hpp"

namespace clprobe::commands {

/// Error with exit code 3: no device is available, or no device matches --device.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Device to measure: an OpenCL device or a simulated compute unit.
struct Target {
  DeviceInfo info{};
  std::optional<simulator::Machine> machine{};
};

/// Returns the selected devices without repetitions. `selector`: an index, "platform:device", a
/// type, part of a name, "all", "sim:PRESET", "sim:FILE.json", or a comma list of these words. An
/// empty `selector` selects the best device: a GPU if the system has one, else an accelerator, else
/// a CPU. Among devices of this type, it selects the device with the most compute units. `list`
/// returns the system's devices; it is not called if all selected devices are simulated. Throws
/// NoDevice if there is no device or a word matches none. Throws UsageError for an invalid machine,
/// or if a word matches more than one device; the message lists the candidates.
std::vector<Target> select_targets(std::string_view selector,
                                   const std::function<const DeviceList&()>& list);

/// Returns the words that select the built-in simulated machines ("sim:PRESET").
std::vector<std::string> preset_words();

/// Returns the paths of the machine files that `selector` names by "sim:FILE.json".
std::vector<std::string> machine_files(std::string_view selector);

/// Returns a line per skipped driver: the reason, and the setting with which clprobe skips the
/// driver without a test.
std::vector<std::string> explain_left_out(const DeviceList& list);

/// Returns a line that says why no device was found, and what to do. `memory`: memory limit of this
/// process (`ulimit -v`), which can silently prevent drivers from loading.
std::string explain_no_device(const DeviceList& list, std::optional<Bytes> memory = std::nullopt);

/// Returns the memory limit of this process (`ulimit -v`); nothing without a limit.
std::optional<Bytes> memory_limit();

/// Returns the time that is added to `--timeout` when a captured launch is replayed. The launch's
/// memory objects are read, hashed, copied and compared repeatedly, which takes 1 s per 32 MiB on a
/// busy machine.
std::chrono::milliseconds reading_time(const bundle::Launch& launch);

/// Returns the settings of the child process that measures. An interrupt cancels the requests to
/// the child.
WorkerSettings worker_settings(const cli::Options& options);

class Devices {
 public:
  /// Prepares the selection and opening of devices. `say` receives a line per skipped driver.
  /// `options` must outlive the object.
  Devices(const cli::Options& options, std::function<void(std::string_view line)> say);

  [[nodiscard]] WorkerSettings& settings() { return settings_; }

  /// Returns the devices that `selector` selects. Throws the errors of select_targets().
  std::vector<Target> select(std::string_view selector);
  /// Opens a device: a simulated device in this process, any other device in a child process.
  /// Throws DeviceError.
  std::unique_ptr<Backend> open(const Target& target);

 private:
  const cli::Options& options_;
  std::function<void(std::string_view line)> say_;
  WorkerSettings settings_;
  std::optional<DeviceList> found_{};
};

}  // namespace clprobe::commands
