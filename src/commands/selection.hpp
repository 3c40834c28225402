// SPDX-License-Identifier: Apache-2.0
// Which devices --device means. Pure.
#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

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

/// Why there is no device at all, and what to do about it; one line.
std::string explain_no_device(const DeviceList& list);

}  // namespace clprobe::commands
