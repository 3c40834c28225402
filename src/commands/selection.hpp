// SPDX-License-Identifier: Apache-2.0
// Which devices --device means. Reads nothing but the files of simulated machines.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/run.hpp"
#include "clprobe/worker.hpp"

namespace clprobe::commands {

/// No device is there, or none matches. Exit code 3.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The devices that `selector` means: a flat index, "platform:device", part of a name, "all", or a
/// comma list of those; empty means the best one: a GPU before an accelerator before a CPU, then
/// the one with more compute units. Throws NoDevice when none is meant and UsageError when a word
/// means several, with the reason and the candidates on one line.
std::vector<DeviceInfo> select_devices(const DeviceList& list, std::string_view selector);

/// A device to measure: one of OpenCL, or a simulated compute unit.
struct Target {
  DeviceInfo info{};
  std::optional<simulator::Machine> machine{};
};

/// As select_devices, in the order of the words, which may also be "sim:PRESET" and "sim:FILE",
/// a file's name ending in .json. `list` is asked once, and only where a word is not simulated.
/// Throws UsageError too for a machine that is not there or cannot be: what was expected, and where
/// in the file.
std::vector<Target> select_targets(std::string_view selector,
                                   const std::function<const DeviceList&()>& list);

/// --device: a run's file behind this is played back.
inline constexpr std::string_view recorded_prefix = "recorded:";

/// The files of simulated machines that `selector` names.
std::vector<std::string> machine_files(std::string_view selector);

/// Which drivers are left out, why, and how to do without trying them each time; a line each.
std::vector<std::string> explain_left_out(const DeviceList& list);

/// Why there is no device at all, and what to do about it; one line. With a limit of `memory` for
/// this process (`ulimit -v`), under which drivers cannot be loaded and do not say so.
std::string explain_no_device(const DeviceList& list, std::optional<Bytes> memory = std::nullopt);

/// The limit of this process, where it has one.
std::optional<Bytes> memory_limit();

}  // namespace clprobe::commands
