// SPDX-License-Identifier: Apache-2.0
// How a kernel's groups fill the device, and the sentence on all that was found.
#include "clprobe/kernel_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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

/// What `longer` takes more than `shorter`, as a share of `whole_ns`.
KernelCause cost_between(const Visits& longer, const Visits& shorter, double whole_ns,
                         std::string_view if_negative = {}) {
  return with_cost({}, find_gain(longer, shorter), whole_ns, if_negative);
}

std::vector<ResidentTime> by_padding(std::span<const ResidentTime> times) {
  std::vector<ResidentTime> sorted;
  std::copy_if(
      times.begin(), times.end(), std::back_inserter(sorted),
      [](const ResidentTime& each) { return !each.visits_ns.empty() && each.resident_groups > 0; });
  std::stable_sort(sorted.begin(), sorted.end(), [](const ResidentTime& a, const ResidentTime& b) {
    return a.padding_bytes < b.padding_bytes;
  });
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
  const KernelCause padding = cost_between(last->visits_ns, base.visits_ns, base_ns);
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

KernelCause not_present(std::string reason) {
  return {.state = CauseState::not_present, .reason = std::move(reason)};
}

KernelCause cost_of_last_wave(std::uint64_t groups, const Tail& tail, std::uint64_t resident_groups,
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

struct AdviceRow {
  std::string_view cause;
  std::string_view what;
};

// What a programmer can do about each, in the order of how often it is that.
constexpr std::array advices{
    AdviceRow{"memory", "load and store less, or let resident groups share data (tiles)"},
    AdviceRow{"main_memory",
              "move less data, or let resident groups share tiles that fit the last cache"},
    AdviceRow{"last_cache",
              "keep reused data in local memory or registers, and let neighbouring work-items load "
              "neighbouring words"},
    AdviceRow{"barriers",
              "do more work between two barriers, or use groups of one sub-group without barriers"},
    AdviceRow{
        "lanes",
        "let neighbouring work-items access neighbouring words and take the same branches, and "
        "pad rows of local arrays by one word"},
    AdviceRow{"fences",
              "fence once after all stores of a work-item, or rely on the end of the kernel"},
    AdviceRow{"functions",
              "use native_ functions, call them outside loops, or look values up in a table"},
    AdviceRow{"chains",
              "give each work-item several independent accumulators, or each compute unit more "
              "sub-groups"},
    AdviceRow{"atomics", "accumulate in local or private memory first, then add once per group"},
};

std::string_view advice_about(std::string_view cause) {
  const auto* const found = std::find_if(
      advices.begin(), advices.end(), [&](const AdviceRow& each) { return each.cause == cause; });
  return found == advices.end() ? std::string_view() : found->what;
}

/// Shares as whole percent; what is below one is no reason to do anything.
std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

/// What is not in the text is no objection: nothing of it could have been taken away.
bool is_everything_refused(const KernelCauses& causes) {
  return std::all_of(causes.causes.begin(), causes.causes.end(), [](const KernelCause& each) {
    return each.state == CauseState::refused || each.state == CauseState::not_present;
  });
}

struct Refusal {
  std::string titles{};
  std::string reason{};
};

/// "memory, atomics (it calls atomic_xchg)": causes that have a reason in common stand together.
std::string refused_causes(const KernelCauses& causes) {
  std::vector<Refusal> refusals;
  for (const KernelCause& each : causes.causes) {
    if (each.state != CauseState::refused) continue;
    const auto same = std::find_if(refusals.begin(), refusals.end(), [&](const Refusal& other) {
      return other.reason == each.reason;
    });
    if (same == refusals.end()) {
      refusals.push_back({std::string(each.title), each.reason});
    } else {
      same->titles += fmt::format(", {}", each.title);
    }
  }
  std::string words;
  for (const Refusal& each : refusals) {
    const std::string reason = each.reason.empty() ? "" : fmt::format(" ({})", each.reason);
    words += fmt::format("{}{}{}", words.empty() ? "" : "; ", each.titles, reason);
  }
  return words;
}

/// Below this share nothing is a reason to change code.
constexpr double min_share = 0.05;

/// The cause of those that are not resolved that may cost most, where that is a reason to look
/// again: nothing where none does.
const KernelCause* find_open(const KernelCauses& causes) {
  constexpr double min_open_share = 0.15;
  const KernelCause* open = nullptr;
  for (const KernelCause& each : causes.causes) {
    const double most = each.share_interval.high;
    if (each.state != CauseState::not_resolved || most < min_open_share) continue;
    if (open == nullptr || most > open->share_interval.high) open = &each;
  }
  return open;
}

std::string advice_about_open(const KernelCause& open) {
  return fmt::format(
      "Up to {} of the kernel's time may be due to {}, but the samples scatter too much to decide: "
      "close other programs, or repeat with --thorough.",
      percent(std::min(open.share_interval.high, 1.0)), open.title);
}

double first_share(const KernelCauses& causes) {
  const std::vector<KernelCause> ranked = ranked_causes(causes);
  return ranked.empty() ? 0.0 : ranked.front().share;
}

bool is_found(const KernelCause& cost) {
  return cost.state == CauseState::found && cost.share >= min_share;
}

std::string advice_about_tail(const KernelOccupancy& places) {
  const std::uint64_t resident = places.occupancy->resident_groups;
  const double share = places.tail->last_wave.share;
  const std::string app = places.app_share ? fmt::format(", {} of the program's device time",
                                                         percent(share * *places.app_share))
                                           : "";
  return fmt::format(
      "{} groups run at once, so {} groups end with a partial wave of {}, which costs {} of the "
      "kernel's time{}: launch a multiple of {}, or smaller groups.",
      resident, places.groups, places.tail->rest_groups, percent(share), app, resident);
}

std::string advice_about_occupancy(const Occupancy& occupancy) {
  return fmt::format(
      "With {} resident groups instead of {} the kernel takes {} longer: groups hide each other's "
      "waits. More may hide more: use fewer registers or less local memory per group.",
      occupancy.fewer_groups, occupancy.resident_groups, percent(occupancy.fewer.share));
}

std::string advice_about_groups(const KernelOccupancy& places) {
  return fmt::format(
      "Starting {} groups takes {} of the kernel's time, whatever they do: launch fewer groups, "
      "with more work per work-item.",
      places.groups, percent(places.starting->groups.share));
}

std::string advice_about_launch(const KernelCause& launch) {
  return fmt::format(
      "Launching one empty group takes {} of the kernel's time: do more work per launch.",
      percent(launch.share));
}

double found_share(const KernelCause& cost) { return is_found(cost) ? cost.share : 0.0; }

/// The largest of what costs more than all causes; empty where none does.
std::string advice_about_occupancies(const KernelOccupancy& places, double share) {
  const auto& starting = places.starting;
  const double tail = places.occupancy && places.tail ? found_share(places.tail->last_wave) : 0.0;
  const double groups = starting ? found_share(starting->groups) : 0.0;
  const double launch = starting ? found_share(starting->launch) : 0.0;
  const double most = std::max({share, tail, groups, launch});
  if (most == share) return {};
  if (most == tail) return advice_about_tail(places);
  if (most == groups) return advice_about_groups(places);
  return advice_about_launch(starting->launch);
}

/// A launch that leaves more than half of the device's places empty.
bool is_small(const KernelOccupancy& places) {
  return places.occupancy && places.groups > 0 &&
         2 * places.groups < places.occupancy->resident_groups;
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
  const KernelCause beyond = cost_between(kernel_ns, one_ns, whole_ns);
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

std::string kernel_advice(const KernelCauses& causes, const KernelOccupancy& places) {
  const double share = first_share(causes);
  std::string first = advice_about_occupancies(places, share);
  if (!first.empty()) return first;
  if (share >= min_share) return causes.advice;
  if (is_small(places)) {
    return fmt::format(
        "The launch has {} groups, and the device can run {} at once: use more, smaller groups.",
        places.groups, places.occupancy->resident_groups);
  }
  if (places.occupancy && is_found(places.occupancy->fewer)) {
    return advice_about_occupancy(*places.occupancy);
  }
  return causes.advice;
}

std::string doubt_advice(std::string_view doubt) {
  return doubt.empty() ? std::string() : fmt::format("No cause reported: {}.", doubt);
}

std::string kernel_advice(const KernelCauses& causes) {
  if (!causes.is_believed) return doubt_advice(causes.doubt);
  const std::string refused = refused_causes(causes);
  if (is_everything_refused(causes)) {
    return refused.empty() ? "No cause can be removed from the kernel."
                           : fmt::format("No cause could be removed safely: {}.", refused);
  }
  const std::vector<KernelCause> ranked = ranked_causes(causes);
  if (ranked.empty() || ranked.front().share < min_share) {
    if (const KernelCause* const open = find_open(causes)) return advice_about_open(*open);
    if (refused.empty()) {
      return "Removing any one of the causes saves little: the kernel is bound by its own "
             "instructions or by waits within a group.";
    }
    return fmt::format(
        "Removing any one of the causes saves little. The kernel is bound by its own instructions, "
        "by waits within a group, or by causes that could not be removed: {}.",
        refused);
  }
  const KernelCause& first = ranked.front();
  const std::string app =
      first.app_share ? fmt::format(", {} of the program's device time", percent(*first.app_share))
                      : "";
  // Folding is a perfect cache: no code gains more, unless it also works less.
  const std::string_view bound = first.is_lower_bound ? "at least" : "at most";
  return fmt::format("Removing {} saves {} {} of the kernel's time{}: {}.", first.title, bound,
                     percent(first.share), app, advice_about(first.name));
}

}  // namespace clprobe
