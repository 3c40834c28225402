// SPDX-License-Identifier: Apache-2.0
#include "clprobe/kernel_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/gain.hpp"
#include "analysis/kernel_advice.hpp"
#include "clprobe/visits.hpp"

namespace clprobe {
namespace {

constexpr std::string_view loads{"scattered"};
constexpr std::array units{std::string_view("arithmetic"), std::string_view("integers"),
                           std::string_view("logic")};

/// Beside loads that take as long as the kernel, one that waits for loads takes much longer: each
/// of its own stands behind a few of them. One that waits for results does not feel them.
constexpr double max_slowed = 1.2;
/// Where less is free the kernel hardly waits, for whatever it is, and noise of loads takes slots.
constexpr double min_free = 0.1;

const Visits* find_kind(const BareNoise& noise, std::string_view name) {
  const auto found = std::find_if(noise.kinds.begin(), noise.kinds.end(),
                                  [&](const BareTimes& each) { return each.name == name; });
  return found == noise.kinds.end() || found->visits_ns.empty() ? nullptr : &found->visits_ns;
}

KernelCause chains_cause() {
  return {.name = "chains", .title = "dependent arithmetic", .gsi = "compute data"};
}

KernelCause refused(std::string reason) {
  KernelCause cause = chains_cause();
  cause.state = CauseState::refused;
  cause.reason = std::move(reason);
  return cause;
}

/// Where noise has a place that a group of the kernel would have, fewer run at once and hide less.
std::string bound_of(const BareNoise& noise) {
  const bool is_full = 4 * noise.groups > 3 * noise.resident_groups;
  return is_full ? "at least: noise takes places of its groups" : "";
}

/// What of the kernel's time is free on the unit that it has most: that is the one that it uses.
/// Nothing where not all units were asked for.
std::optional<Cost> free_of_busiest(const BareNoise& noise) {
  std::optional<Cost> least;
  for (const std::string_view each : units) {
    const Visits* const lost_ns = find_kind(noise, each);
    if (lost_ns == nullptr || noise.alone_ns.empty()) return std::nullopt;
    const Cost free = find_gain(noise.alone_ns, *lost_ns);
    if (!least || free.ns < least->ns) least = free;
  }
  return least;
}

KernelCause valued(const Cost& free, const BareNoise& noise, const KernelCauses& causes) {
  KernelCause cause = chains_cause();
  const double whole = causes.total.ns;
  cause.cost = free;
  cause.share = free.ns / whole;
  cause.share_interval = {free.interval.low / whole, free.interval.high / whole};
  const bool is_found = free.is_resolved && free.ns > 0.0;
  cause.state = is_found ? CauseState::found : CauseState::not_resolved;
  cause.reason = is_found ? bound_of(noise) : "not resolved: within two sigma of nothing";
  cause.is_lower_bound = is_found && !cause.reason.empty();
  return cause;
}

/// Of what could not be taken away, what noise of a unit does not feel; nothing where there is
/// none.
const KernelCause* find_hidden(const KernelCauses& causes) {
  constexpr std::array hidden{std::string_view("memory"), std::string_view("barriers"),
                              std::string_view("fences"), std::string_view("functions")};
  const auto found =
      std::find_if(causes.causes.begin(), causes.causes.end(), [&](const KernelCause& each) {
        return each.state == CauseState::refused &&
               std::find(hidden.begin(), hidden.end(), each.name) != hidden.end();
      });
  return found == causes.causes.end() ? nullptr : &*found;
}

KernelCause cause_of(const BareNoise& noise, KernelCauses& causes) {
  if (!noise.refusal.empty()) return refused(noise.refusal);
  if (const KernelCause* const hidden = find_hidden(causes)) {
    return refused(fmt::format("what is left has {} as well", hidden->title));
  }
  const std::optional<Cost> free = free_of_busiest(noise);
  const Visits* const beside_ns = find_kind(noise, loads);
  if (!free || beside_ns == nullptr) return refused("not all launches for it were measured");
  const double alone_ns = typical_ns(noise.alone_ns);
  const double slowed = typical_ns(*beside_ns) / alone_ns;
  KernelCause cause = valued(*free, noise, causes);
  if (free->ns < min_free * alone_ns || slowed <= max_slowed) return cause;
  causes.near_waits = {cause.share, cause.share_interval, bound_of(noise)};
  return refused(fmt::format(
      "what is left waits for loads as well: beside others it takes {:.2f} of its time", slowed));
}

}  // namespace

void add_chains(const BareNoise& noise, KernelCauses& causes) {
  if (!causes.is_believed || !(causes.total.ns > 0.0)) return;
  KernelCause cause = cause_of(noise, causes);
  if (cause.state == CauseState::found || cause.state == CauseState::not_resolved) {
    // Both are parts of one launch: what one has more, the other has less.
    Cost& left = causes.unattributed;
    left.ns -= cause.cost.ns;
    left.interval = {std::max(0.0, left.interval.low - cause.cost.interval.high),
                     left.interval.high - cause.cost.interval.low};
    causes.unattributed_share -= cause.share;
  }
  causes.causes.push_back(std::move(cause));
  causes.advice = kernel_advice(causes);
}

}  // namespace clprobe
