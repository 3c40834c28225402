// SPDX-License-Identifier: Apache-2.0
// Devices selected by --device. Reads only files of simulated machines.
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

/// Error with exit code 3: no device is available, or none matches.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Device to measure: an OpenCL device or a simulated compute unit.
struct Target {
  DeviceInfo info{};
  std::optional<simulator::Machine> machine{};
};

/// Returns the selected devices, each once. `selector`: an index, "platform:device", a type, part
/// of a name, "all", "sim:PRESET", "sim:FILE.json", or a comma list. An empty `selector` selects
/// the best device: a GPU if there is one, else an accelerator, else a CPU; among devices of one
/// type, the one with the most compute units. `list` is called only for devices that are not
/// simulated. Throws NoDevice if a word matches none. Throws UsageError, with the candidates, if a
/// word matches several, and for an invalid machine.
std::vector<Target> select_targets(std::string_view selector,
                                   const std::function<const DeviceList&()>& list);

/// Returns the words of --device for the built-in simulated machines.
std::vector<std::string> preset_words();

/// Returns the files of simulated machines that `selector` names.
std::vector<std::string> machine_files(std::string_view selector);

/// Returns a line per skipped driver: the reason, and the setting that skips it without a test.
std::vector<std::string> explain_left_out(const DeviceList& list);

/// Returns one line: why there is no device, and what to do. `memory`: limit of this process
/// (`ulimit -v`), which can silently prevent drivers from loading.
std::string explain_no_device(const DeviceList& list, std::optional<Bytes> memory = std::nullopt);

/// Returns the memory limit of this process, if it has one.
std::optional<Bytes> memory_limit();

/// Returns the time in addition to `--timeout` before a launch. Its objects are read, hashed,
/// copied and compared several times, on a busy machine at 32 MiB/s.
std::chrono::milliseconds reading_time(const bundle::Launch& launch);

/// Returns the settings of the child process for these options; an interrupt cancels it.
WorkerSettings worker_settings(const cli::Options& options);

class Devices {
 public:
  /// `say` receives a line per skipped driver. `options` must outlive the object.
  Devices(const cli::Options& options, std::function<void(std::string_view line)> say);

  [[nodiscard]] WorkerSettings& settings() { return settings_; }

  /// Returns the selected devices. Throws as select_targets().
  std::vector<Target> select(std::string_view selector);
  /// Opens a device in a child process, or a simulated one. Throws DeviceError.
  std::unique_ptr<Backend> open(const Target& target);

 private:
  const cli::Options& options_;
  std::function<void(std::string_view line)> say_;
  WorkerSettings settings_;
  std::optional<DeviceList> found_{};
};

}  // namespace clprobe::commands
