// SPDX-License-Identifier: Apache-2.0
// The devices of a command, listed when they are first needed and opened one after another.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "app/commands/selection.hpp"
#include "measure/api/worker.hpp"
#include "profile/api/bundle.hpp"

namespace clprobe::commands {

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
