// SPDX-License-Identifier: Apache-2.0
#include "app/commands/devices.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "simulation/api/simulated.hpp"
#include "system/api/host.hpp"
#include "system/api/processes.hpp"

namespace clprobe::commands {

std::chrono::milliseconds reading_time(const bundle::Launch& launch) {
  constexpr std::uint64_t bytes_per_second = std::uint64_t{32} << 20U;
  constexpr std::uint64_t milliseconds = 1000;
  return std::chrono::milliseconds(object_bytes(launch) * milliseconds / bytes_per_second);
}

WorkerSettings worker_settings(const cli::Options& options) {
  WorkerSettings settings;
  settings.seed = options.seed;
  settings.keeps_memory = options.max_memory.count == 0;
  std::chrono::milliseconds longest{0};
  for (const AskedLaunch& each : options.launches) {
    longest = std::max(longest, reading_time(each.bundle.launch));
  }
  settings.timeout = options.timeout + longest;
  settings.clock = options.clock;
  settings.cancelled = system::is_interrupted;
  if (!options.sources.empty()) {
    settings.environment.emplace_back(bundle::sources_variable,
                                      bundle::to_environment(options.sources));
  }
  return settings;
}

Devices::Devices(const cli::Options& options, std::function<void(std::string_view line)> say)
    : options_(options), say_(std::move(say)), settings_(worker_settings(options)) {}

std::vector<Target> Devices::select(std::string_view selector) {
  return select_targets(selector, [this]() -> const DeviceList& {
    if (found_) return *found_;
    found_ = list_devices(settings_);
    settings_.drivers = found_->drivers;
    for (const std::string& line : explain_left_out(*found_)) say_(line);
    return *found_;
  });
}

std::unique_ptr<Backend> Devices::open(const Target& target) {
  if (target.machine) {
    return simulated_backend(*target.machine, options_.seed, options_.traces,
                             system::usable_cores(), system::is_interrupted);
  }
  // The child that listed the devices has loaded their drivers already.
  return remote_backend(target.info.index, settings_,
                        found_ ? std::exchange(found_->child, nullptr) : nullptr);
}

}  // namespace clprobe::commands
