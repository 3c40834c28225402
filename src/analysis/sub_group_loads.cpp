// SPDX-License-Identifier: Apache-2.0
// How many loads a sub-group can have outstanding: where one load more takes a latency more, though
// the compute unit holds more than that.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "clprobe/outstanding.hpp"

namespace clprobe {
namespace {

// Loads that are under way together take a latency, and a little for each to be issued; those that
// wait take two. Where issuing takes the time, 4 loads that take up to 1.25 latencies have 8 of
// them take up to 1.6.
constexpr double max_together = 1.25;
constexpr double min_waiting = 1.7;

/// The time of the fewest work-items by their loads.
using TimesByLoads = std::map<int, const CurveFinding*>;

/// What the curves of one target say.
struct OfTarget {
  int at_least{0};
  std::optional<CountRange> range{};
  std::int64_t requests{0};  ///< of the fewest work-items whose loads wait
};

double latencies_of(const TimesByLoads& times, int loads) {
  return times.at(loads)->latency_cycles / times.at(1)->latency_cycles;
}

OfTarget weigh_target(const TimesByLoads& times) {
  OfTarget found;
  if (!times.contains(1)) return found;
  int last_together = 1;
  std::optional<int> first_waiting;
  bool is_one_step = true;
  for (const auto& [loads, curve] : times) {
    const double latencies = latencies_of(times, loads);
    if (!first_waiting && latencies <= max_together) last_together = loads;
    if (first_waiting && latencies < min_waiting) is_one_step = false;
    if (!first_waiting && latencies >= min_waiting) first_waiting = loads;
  }
  if (!is_one_step) return found;
  found.at_least = last_together;
  if (!first_waiting) return found;
  found.range = CountRange{last_together, *first_waiting - 1};
  found.requests = std::int64_t{*first_waiting} * times.at(*first_waiting)->latency_work_items;
  return found;
}

/// Whether the unit as a whole had more under way than the loads that waited: its pool or table was
/// not what they waited for.
bool is_own_limit(std::span<const CurveFinding> curves, const OfTarget& found) {
  return std::any_of(
             curves.begin(), curves.end(),
             [&](const CurveFinding& each) { return each.min_requests >= found.requests; }) &&
         std::any_of(curves.begin(), curves.end(), [&](const CurveFinding& each) {
           return each.min_instructions > found.range->high;
         });
}

std::map<std::string, TimesByLoads> times_by_target(std::span<const CurveFinding> curves) {
  std::map<std::string, TimesByLoads> times;
  for (const CurveFinding& each : curves) {
    if (each.pattern.merger != 1 || !(each.latency_cycles > 0.0)) continue;
    times[each.pattern.target][each.pattern.loads] = &each;
  }
  return times;
}

}  // namespace

SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves) {
  SubGroupLoads all;
  std::optional<CountRange> range;
  for (const auto& [target, times] : times_by_target(curves)) {
    const OfTarget found = weigh_target(times);
    all.at_least = std::max(all.at_least, found.at_least);
    if (!found.range) continue;
    all.open = found.range;
    if (!is_own_limit(curves, found)) {
      all.reason = fmt::format(
          "{} loads of a few work-items wait for each other, but the compute unit never had more "
          "loads in flight, so the limit may be its own",
          found.range->high + 1);
      continue;
    }
    if (!range) range = found.range;
    range->low = std::max(range->low, found.range->low);
    range->high = std::min(range->high, found.range->high);
  }
  if (range) range->low = std::max<std::int64_t>(range->low, all.at_least);
  if (range && range->low > range->high) {
    all.reason =
        "the targets disagree: loads that one serves at once wait for each other in another";
    all.at_least = 0;
  } else if (range) {
    all.loads = range;
  } else if (all.reason.empty() && all.at_least == 0) {
    all.reason = "additional loads do not take longer, or no curve has a single load";
  }
  return all;
}

}  // namespace clprobe
