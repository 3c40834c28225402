// SPDX-License-Identifier: Apache-2.0
#include "commands/replay_bundles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "clprobe/worker.hpp"
#include "commands/commands.hpp"
#include "system/interrupt.hpp"
#include "terminal/complain.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

/// The kernels' names; of the second launch of one, "name 2".
std::vector<AskedLaunch> read_launches(const std::vector<bundle::Source>& sources) {
  std::vector<AskedLaunch> launches;
  std::map<std::string, int> seen;
  for (const bundle::Source& source : sources) {
    AskedLaunch launch{.bundle = bundle::read_source(source)};
    launch.label = launch.bundle.launch.kernel;
    const int count = ++seen[launch.label];
    if (count > 1) launch.label += fmt::format(" {}", count);
    launches.push_back(std::move(launch));
  }
  return launches;
}

/// The index of the device that the launch was captured on; empty where it is not here.
std::string device_of(const bundle::Launch& launch, const cli::Options& options) {
  if (!launch.device) return {};
  const DeviceList list = list_devices(
      {.timeout = options.timeout, .seed = options.seed, .cancelled = system::is_interrupted});
  // Drivers pad their names.
  const auto found = std::find_if(
      list.devices.begin(), list.devices.end(),
      [&](const DeviceInfo& each) { return trimmed(each.name) == trimmed(launch.device->name); });
  if (found != list.devices.end()) return std::to_string(found->index);
  terminal::complain(
      fmt::format("device {} is not available: its launches are replayed on the best device",
                  quote(launch.device->name)));
  return {};
}

}  // namespace

std::chrono::milliseconds reading_time(const bundle::Launch& launch) {
  constexpr std::uint64_t bytes_per_second = std::uint64_t{32} << 20U;
  constexpr std::uint64_t milliseconds = 1000;
  return std::chrono::milliseconds(object_bytes(launch) * milliseconds / bytes_per_second);
}

int replay_bundles(const cli::Options& options, const std::vector<bundle::Source>& sources,
                   const std::vector<std::string>& arguments) {
  cli::Options replay = options;
  replay.command = cli::Command::measure;
  replay.words.clear();
  replay.sources = sources;
  try {
    replay.launches = read_launches(sources);
  } catch (const bundle::FormatError& error) {
    throw cli::UsageError(error.what());
  }
  std::chrono::milliseconds longest{0};
  for (const AskedLaunch& each : replay.launches) {
    longest = std::max(longest, reading_time(each.bundle.launch));
  }
  replay.timeout += longest;
  if (replay.device.empty()) {
    replay.device = device_of(replay.launches.front().bundle.launch, replay);
  }
  return measure(replay, arguments);
}

}  // namespace clprobe::commands
