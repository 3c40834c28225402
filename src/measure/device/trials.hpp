// SPDX-License-Identifier: Apache-2.0
// Judgements of a device's timers, from launches of a chain of known length. Pure.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "clprobe/device_info.hpp"

namespace clprobe {

/// The iterations that take `enough_ns`, of a GPU that times them itself, where so many took
/// `took_ns`; nothing where that was too short to tell, since a launch begins in microseconds.
inline std::optional<std::uint32_t> length_taking(double enough_ns, std::uint32_t iterations,
                                                  double took_ns) {
  constexpr double telling = 0.125;
  if (!(took_ns >= telling * enough_ns)) return std::nullopt;
  if (took_ns >= enough_ns) return iterations;
  return static_cast<std::uint32_t>(std::ceil(iterations * (enough_ns / took_ns)));
}

/// The minimum over several launches of one length. A busy host only adds to each.
struct LeastTimes {
  double event_ns{std::numeric_limits<double>::infinity()};
  double around_ns{std::numeric_limits<double>::infinity()};  ///< the host's time minus the event's

  void add(double event, double host) {
    event_ns = std::min(event_ns, event);
    around_ns = std::min(around_ns, host - event);
  }
};

/// Returns the problem of the event times of a chain and of one of 8 times the length; empty if
/// there is none.
/// The host's own part of a launch does not grow with its length, so that both clocks must show the
/// same growth.
inline std::string find_event_problem(const LeastTimes& few, const LeastTimes& many) {
  // With PoCL on two cores that 18 processes shared, 1 of 86 pairs exceeded 0.07.
  constexpr double max_share = 0.1;
  if (many.around_ns < 0.0) {
    return "by event times, a launch took longer than the host waited for this launch";
  }
  const double event_ns = many.event_ns - few.event_ns;
  const double host_ns = event_ns + many.around_ns - few.around_ns;
  if (event_ns > 0.0 && std::fabs(host_ns - event_ns) <= max_share * host_ns) return {};
  return fmt::format(
      "8 times the work added {:.3g} ms by event times, but {:.3g} ms by the host's clock",
      event_ns / 1e6, host_ns / 1e6);
}

/// No multiplier gives 64 bits in fewer cycles: a chain of multiplications of fewer ticks each is
/// not counted in cycles of the core.
constexpr double min_cycles_of_link = 3.0;

/// Ticks and time of one launch.
struct ChainTime {
  double ticks{0.0};
  double ns{0.0};
};

/// Returns the meaning of a tick, from launches of one chain while the core's clock changed: the
/// number of cycles stays the same, ticks of a constant rate follow the time. Returns nothing if
/// the clock did not change. A launch counts if the previous one took as long, which excludes
/// interruptions.
inline std::optional<ClockRate> find_rate(std::span<const ChainTime> launches) {
  constexpr double same = 0.01;
  constexpr double other = 1.1;
  const auto agree = [](double a, double b, double share) { return std::fabs(a - b) <= share * b; };
  std::optional<ChainTime> fast;
  std::optional<ChainTime> slow;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    const ChainTime& each = launches[i];
    if (!agree(launches[i - 1].ns, each.ns, same)) continue;
    if (!agree(launches[i - 1].ticks, each.ticks, same)) continue;
    if (!fast || each.ns < fast->ns) fast = each;
    if (!slow || each.ns > slow->ns) slow = each;
  }
  if (!fast || slow->ns < other * fast->ns) return std::nullopt;
  if (agree(slow->ticks, fast->ticks, 2 * same)) return ClockRate::core_cycles;
  const bool is_constant = agree(slow->ticks / slow->ns, fast->ticks / fast->ns, 2 * same);
  return is_constant ? std::optional(ClockRate::constant_rate) : std::nullopt;
}

}  // namespace clprobe
