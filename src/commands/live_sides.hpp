// SPDX-License-Identifier: Apache-2.0
// The two sides of `compare --live`, and the first look at each.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "clprobe/engine.hpp"
#include "clprobe/run.hpp"
#include "commands/selection.hpp"
#include "terminal/progress.hpp"

namespace clprobe::commands {

/// One side: what was chosen for it, where it is measured, and what that gave.
struct Side {
  std::string name{};  ///< "side A", with its variables
  Target target{};
  std::unique_ptr<Backend> backend{};  ///< null: the device could not be opened
  Run run{};
};

using Sides = std::array<Side, 2>;

/// Hears what happens meanwhile.
struct LiveObserver {
  std::function<void(std::string_view message)> say{};
  std::function<void(const terminal::Progress&)> progress{};
  std::function<bool()> cancelled{};
  /// Something more is known.
  std::function<void()> save{};
};

/// Chooses the device of each side, in that side's environment, and opens it. A device that cannot
/// be opened is a warning of its run. Throws UsageError, NoDevice, DeviceError.
void open_sides(const cli::Options& options, const std::vector<std::string>& arguments,
                const LiveObserver& observer, Sides& sides);

/// Whether both sides are one device in one environment.
bool are_alike(const cli::Options& options, const Sides& sides);

/// Measures every probe that was asked for on both sides, pass by pass in turns.
void look_first(const cli::Options& options, const LiveObserver& live, Sides& sides);

}  // namespace clprobe::commands
