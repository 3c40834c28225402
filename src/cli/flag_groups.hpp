// SPDX-License-Identifier: Apache-2.0
// The parts of the table of flags, a file each.
#pragma once

#include <span>

#include "cli/flags.hpp"

namespace clprobe::cli {

inline constexpr unsigned measuring = bit(Command::measure);
inline constexpr unsigned live = bit(Command::live);
inline constexpr unsigned profiling = bit(Command::profile);
inline constexpr unsigned with_probes = measuring | live;
inline constexpr unsigned with_devices = with_probes | bit(Command::list);
inline constexpr unsigned comparing = bit(Command::compare) | live;
inline constexpr unsigned importing = bit(Command::import);
inline constexpr unsigned with_results = with_probes | bit(Command::report) | comparing | importing;
inline constexpr unsigned everywhere =
    with_devices | with_results | profiling | bit(Command::explain);

std::span<const Flag> selection_flags();
std::span<const Flag> effort_flags();
std::span<const Flag> live_flags();
std::span<const Flag> profile_flags();
std::span<const Flag> result_flags();

}  // namespace clprobe::cli
