// SPDX-License-Identifier: Apache-2.0
#include "clprobe/kernel_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/kernel_parts.hpp"

namespace clprobe {
namespace {

/// A count that misses one group in twenty is another count.
constexpr double clearly_fewer = 0.95;
/// Padding that costs more than this with as many groups at once is seen.
constexpr double min_padding_cost = 0.02;

bool is_fewer(const ResidentTime& each, const ResidentTime& base) {
  return static_cast<double>(each.resident_groups) <
         clearly_fewer * static_cast<double>(base.resident_groups);
}

/// What `longer` takes more than `shorter`, as a share of `whole_ns`. `if_negative`: what it means
/// that it takes less.
PlaceCost cost_between(const Visits& longer, const Visits& shorter, double whole_ns,
                       std::string_view if_negative = {}) {
  PlaceCost found;
  found.cost = find_gain(longer, shorter);
  found.share = found.cost.ns / whole_ns;
  found.share_interval = {found.cost.interval.low / whole_ns, found.cost.interval.high / whole_ns};
  const bool is_found = found.cost.is_resolved && found.cost.ns > 0.0;
  found.state = is_found ? CauseState::found : CauseState::not_resolved;
  if (!is_found) {
    found.reason = fmt::format("not resolved: {}",
                               found.cost.is_resolved ? if_negative : "within two sigma of 0");
  }
  return found;
}

std::vector<ResidentTime> by_padding(std::span<const ResidentTime> times) {
  std::vector<ResidentTime> sorted;
  std::ranges::copy_if(times, std::back_inserter(sorted), [](const ResidentTime& each) {
    return !each.visits_ns.empty() && each.resident_groups > 0;
  });
  std::ranges::stable_sort(sorted, {}, &ResidentTime::padding_bytes);
  return sorted;
}

/// Of equally many groups the one with the least padding: local memory may be taken from a cache.
const ResidentTime* find_fewer(const std::vector<ResidentTime>& sorted) {
  const ResidentTime& base = sorted.front();
  const ResidentTime* half = nullptr;
  const ResidentTime* fewest = nullptr;
  for (const ResidentTime& each : sorted) {
    if (!is_fewer(each, base)) continue;
    if (fewest == nullptr || each.resident_groups < fewest->resident_groups) fewest = &each;
    const bool is_half = 2 * each.resident_groups <= base.resident_groups;
    if (is_half && (half == nullptr || each.resident_groups > half->resident_groups)) half = &each;
  }
  return half == nullptr ? fewest : half;
}

/// Says so where padding costs something that fewer groups do not.
std::string cost_of_padding(const std::vector<ResidentTime>& sorted) {
  const ResidentTime& base = sorted.front();
  const auto last = std::find_if(sorted.rbegin(), sorted.rend(),
                                 [&](const ResidentTime& each) { return !is_fewer(each, base); });
  if (last == sorted.rend() || last->padding_bytes == base.padding_bytes) return {};
  const double base_ns = typical_ns(base.visits_ns);
  const PlaceCost padding = cost_between(last->visits_ns, base.visits_ns, base_ns);
  if (padding.state != CauseState::found || padding.share < min_padding_cost) return {};
  return fmt::format(
      "at most: {} more bytes of local memory cost {:.0f} % with the same number of resident "
      "groups",
      last->padding_bytes, 100.0 * padding.share);
}

Visits scaled(Visits visits, double factor) {
  for (std::vector<double>& visit : visits) {
    for (double& ns : visit) ns *= factor;
  }
  return visits;
}

PlaceCost not_present(std::string reason) {
  return {.state = CauseState::not_present, .reason = std::move(reason)};
}

PlaceCost cost_of_last_wave(std::uint64_t groups, const Tail& tail, std::uint64_t resident_groups,
                            const Visits& all_ns, const Visits& whole_ns) {
  if (tail.whole_waves == 0) return not_present("all groups run at once");
  if (tail.rest_groups == 0) {
    return not_present(fmt::format("{} groups fill whole waves of {}", groups, resident_groups));
  }
  if (tail.whole_waves >= max_waves) {
    return not_present(
        fmt::format("the last of {} waves takes too small a share", tail.whole_waves + 1));
  }
  if (whole_ns.empty() || all_ns.empty()) {
    return {.state = CauseState::refused, .reason = "not all required launches were measured"};
  }
  const auto whole = static_cast<double>(tail.whole_waves * resident_groups);
  return cost_between(all_ns, scaled(whole_ns, static_cast<double>(groups) / whole),
                      typical_ns(all_ns), "groups of the last wave take less time than others");
}

PlaceCost refused(std::string reason) {
  return {.state = CauseState::refused, .reason = std::move(reason)};
}

PlaceCost absorbed_of(const NoiseTimes& noise, const Visits& kernel_ns) {
  // The amounts come in any order; those beside that do nothing are none.
  const auto idle = std::ranges::find_if(
      noise.points, [](const NoisePoint& each) { return each.injected == 0.0; });
  if (idle == noise.points.end() || noise.points.size() < 3) {
    return refused("not all required launches were measured");
  }
  const double ratio = typical_ns(idle->visits_ns) / typical_ns(kernel_ns);
  if (!(ratio <= max_instrument_ratio && ratio >= 1.0 / max_instrument_ratio)) {
    return refused(
        fmt::format("adding idle work-groups alone makes the kernel take {:.2f} times as long, so "
                    "noise would not describe the original",
                    ratio));
  }
  const Absorption found = find_absorption(noise.points);
  PlaceCost free{.state = CauseState::found,
                 .share = std::min(1.0, found.share),
                 .share_interval = {std::min(1.0, found.share_interval.low),
                                    std::min(1.0, found.share_interval.high)}};
  if (!found.is_found) {
    free.reason = "the kernel absorbed all the noise; the value is a lower bound";
  } else if (!found.is_decisive && found.share_interval.high < saturated_share) {
    free.reason = "inconclusive: too little noise, or the noise itself added a delay";
  }
  return free;
}

}  // namespace

std::optional<Occupancy> find_occupancy(std::span<const ResidentTime> times) {
  const std::vector<ResidentTime> sorted = by_padding(times);
  if (sorted.empty()) return std::nullopt;
  const ResidentTime& base = sorted.front();
  Occupancy found{.resident_groups = base.resident_groups};
  const ResidentTime* const fewer = find_fewer(sorted);
  if (fewer == nullptr) {
    found.fewer.state = CauseState::refused;
    found.fewer.reason = sorted.size() < 2
                             ? "not all required launches were measured"
                             : "no local memory size reduces the number of resident groups";
    return found;
  }
  found.fewer_groups = fewer->resident_groups;
  found.fewer = cost_between(fewer->visits_ns, base.visits_ns, typical_ns(base.visits_ns),
                             "fewer resident groups take less time");
  if (found.fewer.state == CauseState::found) found.fewer.reason = cost_of_padding(sorted);
  return found;
}

std::uint64_t groups_of_whole_waves(std::uint64_t groups, std::uint64_t resident_groups) {
  if (resident_groups == 0) return 0;
  const std::uint64_t waves = groups / resident_groups;
  const bool is_worth = waves > 0 && waves < max_waves && groups % resident_groups != 0;
  return is_worth ? waves * resident_groups : 0;
}

std::optional<Tail> find_tail(std::uint64_t groups, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns) {
  if (resident_groups == 0 || groups == 0) return std::nullopt;
  Tail tail{.whole_waves = groups / resident_groups, .rest_groups = groups % resident_groups};
  tail.last_wave = cost_of_last_wave(groups, tail, resident_groups, all_ns, whole_ns);
  return tail;
}

std::optional<Starting> find_starting(const Visits& kernel_ns, const Visits& one_ns,
                                      const Visits& all_ns) {
  if (kernel_ns.empty() || one_ns.empty()) return std::nullopt;
  const double whole_ns = typical_ns(kernel_ns);
  const PlaceCost beyond = cost_between(kernel_ns, one_ns, whole_ns);
  Starting starting;
  starting.launch = {.state = CauseState::found,
                     .cost = {.ns = whole_ns - beyond.cost.ns, .is_resolved = true},
                     .share = std::min(1.0, 1.0 - beyond.share),
                     .share_interval = {std::min(1.0, 1.0 - beyond.share_interval.high),
                                        std::min(1.0, 1.0 - beyond.share_interval.low)}};
  if (all_ns.empty()) {
    starting.groups = not_present("the launch has only one work-group");
    return starting;
  }
  starting.groups = cost_between(all_ns, one_ns, whole_ns, "all groups start as fast as one");
  return starting;
}

std::vector<Absorbed> find_absorbed(std::span<const NoiseTimes> noise, const Visits& kernel_ns) {
  std::vector<Absorbed> all;
  for (const NoiseTimes& each : noise) all.push_back({each.name, absorbed_of(each, kernel_ns)});
  return all;
}

}  // namespace clprobe
