// SPDX-License-Identifier: Apache-2.0
// The devices that --device means. Reads nothing but the files of simulated machines.
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

/// No device is available, or none matches. Exit code 3.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A device to measure: one of OpenCL, or a simulated compute unit.
struct Target {
  DeviceInfo info{};
  std::optional<simulator::Machine> machine{};
};

/// The devices that `selector` means, each once: a flat index, "platform:device", a type, part of a
/// name, "all", "sim:PRESET", "sim:FILE.json", or a comma list of those. An empty selector means
/// the best device: a GPU before an accelerator before a CPU, then the one with more compute units.
/// `list` is called only for devices that are not simulated. Throws NoDevice if a word means none.
/// Throws UsageError, with the candidates, if a word means several, and for a simulated machine
/// that cannot be read.
std::vector<Target> select_targets(std::string_view selector,
                                   const std::function<const DeviceList&()>& list);

/// The words of --device for the simulated machines that come with clprobe.
std::vector<std::string> preset_words();

/// The files of simulated machines that `selector` names.
std::vector<std::string> machine_files(std::string_view selector);

/// A line for each driver that is skipped: why, and how to skip it without a test.
std::vector<std::string> explain_left_out(const DeviceList& list);

/// One line: why there is no device, and what to do. `memory` is the limit of this process
/// (`ulimit -v`), which can keep drivers from loading without a message.
std::string explain_no_device(const DeviceList& list, std::optional<Bytes> memory = std::nullopt);

/// The memory limit of this process, if it has one.
std::optional<Bytes> memory_limit();

/// Time in addition to `--timeout` before a launch: all of its objects are read, hashed, copied and
/// compared several times, on a busy machine at some 32 MiB/s.
std::chrono::milliseconds reading_time(const bundle::Launch& launch);

/// Settings of the child process that the options ask for; an interrupt cancels it.
WorkerSettings worker_settings(const cli::Options& options);

class Devices {
 public:
  /// `say` hears of drivers that are skipped. `options` must outlive the object.
  Devices(const cli::Options& options, std::function<void(std::string_view line)> say);

  [[nodiscard]] WorkerSettings& settings() { return settings_; }

  /// The devices that `selector` means. Throws as select_targets().
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
