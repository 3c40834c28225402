// SPDX-License-Identifier: Apache-2.0
#include "analysis/kernel_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "clprobe/kernel_places.hpp"

namespace clprobe {
namespace {

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
  const auto* const found = std::ranges::find(advices, cause, &AdviceRow::cause);
  return found == advices.end() ? std::string_view() : found->what;
}

/// Shares as whole percent; what is below one is no reason to do anything.
std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

/// What is not in the text is no objection: nothing of it could have been taken away.
bool is_everything_refused(const KernelCauses& causes) {
  return std::ranges::all_of(causes.causes, [](const KernelCause& each) {
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
    const auto same = std::ranges::find(refusals, each.reason, &Refusal::reason);
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

bool is_found(const PlaceCost& cost) {
  return cost.state == CauseState::found && cost.share >= min_share;
}

std::string advice_about_tail(const KernelPlaces& places) {
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

std::string advice_about_groups(const KernelPlaces& places) {
  return fmt::format(
      "Starting {} groups takes {} of the kernel's time, whatever they do: launch fewer groups, "
      "with more work per work-item.",
      places.groups, percent(places.starting->groups.share));
}

std::string advice_about_launch(const PlaceCost& launch) {
  return fmt::format(
      "Launching one empty group takes {} of the kernel's time: do more work per launch.",
      percent(launch.share));
}

double found_share(const PlaceCost& cost) { return is_found(cost) ? cost.share : 0.0; }

/// The largest of what costs more than all causes; empty where none does.
std::string advice_about_places(const KernelPlaces& places, double share) {
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
bool is_small(const KernelPlaces& places) {
  return places.occupancy && places.groups > 0 &&
         2 * places.groups < places.occupancy->resident_groups;
}

}  // namespace

std::string kernel_advice(const KernelCauses& causes, const KernelPlaces& places) {
  const double share = first_share(causes);
  std::string first = advice_about_places(places, share);
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
