// SPDX-License-Identifier: Apache-2.0
// Judgement of a device's timers by the measured times of chains of known length. Uses no device.
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

/// Returns the number of iterations that take `enough_ns` on a GPU with event times, if
/// `iterations` took `took_ns`. Returns nothing if `took_ns` is below an eighth of `enough_ns`. The
/// start of a launch takes microseconds, so that such a short launch allows no estimate.
inline std::optional<std::uint32_t> length_taking(double enough_ns, std::uint32_t iterations,
                                                  double took_ns) {
  constexpr double min_share = 0.125;
  if (!(took_ns >= min_share * enough_ns)) return std::nullopt;
  if (took_ns >= enough_ns) return iterations;
  return static_cast<std::uint32_t>(std::ceil(iterations * (enough_ns / took_ns)));
}

/// Minimum times of several launches of one length. A busy host only adds time.
struct LeastTimes {
  double event_ns{std::numeric_limits<double>::infinity()};
  /// Minimum of host time minus event time.
  double around_ns{std::numeric_limits<double>::infinity()};

  void add(double event, double host) {
    event_ns = std::min(event_ns, event);
    around_ns = std::min(around_ns, host - event);
  }
};

/// Returns the problem of the event times of two chains, of which `long_chain` is 8 times as long
/// as `short_chain`; empty if there is none. The launch overhead on the host does not depend on the
/// length, so that event time and host time must grow equally.
inline std::string find_event_problem(const LeastTimes& short_chain, const LeastTimes& long_chain) {
  // With PoCL on two cores that 18 processes shared, 1 of 86 pairs of chains exceeded a share of
  // 0.07.
  constexpr double max_share = 0.1;
  if (long_chain.around_ns < 0.0) {
    return "according to event times, a launch took longer than the host waited for it";
  }
  const double event_ns = long_chain.event_ns - short_chain.event_ns;
  const double host_ns = event_ns + long_chain.around_ns - short_chain.around_ns;
  if (event_ns > 0.0 && std::fabs(host_ns - event_ns) <= max_share * host_ns) return {};
  return fmt::format(
      "with 8 times the work, event times grew by {:.3g} ms, but the host's times by {:.3g} ms",
      event_ns / 1e6, host_ns / 1e6);
}

/// Minimum latency of a 64-bit multiplication, in core cycles. If a chain has fewer ticks per link,
/// ticks are not core cycles.
constexpr double min_cycles_of_link = 3.0;

/// Ticks of one launch, and its time in ns.
struct ChainTime {
  double ticks{0.0};
  double ns{0.0};
};

/// Returns the meaning of a tick, derived from launches of one chain while the core clock changed;
/// nothing if the core clock did not change. The number of core cycles per launch is constant,
/// whereas ticks of a constant-rate counter are proportional to the time. A launch counts only if
/// the previous launch took the same time, which excludes interrupted launches.
inline std::optional<ClockRate> find_rate(std::span<const ChainTime> launches) {
  constexpr double max_difference = 0.01;
  constexpr double min_change = 1.1;
  const auto agree = [](double a, double b, double share) { return std::fabs(a - b) <= share * b; };
  std::optional<ChainTime> fast;
  std::optional<ChainTime> slow;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    const ChainTime& each = launches[i];
    if (!agree(launches[i - 1].ns, each.ns, max_difference)) continue;
    if (!agree(launches[i - 1].ticks, each.ticks, max_difference)) continue;
    if (!fast || each.ns < fast->ns) fast = each;
    if (!slow || each.ns > slow->ns) slow = each;
  }
  if (!fast || slow->ns < min_change * fast->ns) return std::nullopt;
  if (agree(slow->ticks, fast->ticks, 2 * max_difference)) return ClockRate::core_cycles;
  const bool is_constant =
      agree(slow->ticks / slow->ns, fast->ticks / fast->ns, 2 * max_difference);
  return is_constant ? std::optional(ClockRate::constant_rate) : std::nullopt;
}

}  // namespace clprobe
