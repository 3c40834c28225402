// SPDX-License-Identifier: Apache-2.0
#include "clprobe/kernel_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/kernel_parts.hpp"

namespace clprobe {
namespace {

/// Beside loads that outlast the kernel, one that waits for loads takes much longer: each of its
/// own stands behind a few of them. One that waits for results does not feel them.
constexpr double max_slowed = 1.2;
/// Where less is free the kernel hardly waits, for whatever it is, and loads beside it take slots.
constexpr double min_free = 0.1;

/// Copies are of what is left, and no more: taking away what makes the kernel slower does not count
/// as a cause, and copies are without it all the same.
constexpr double max_other = 1.1;
/// Copies that take less than this, of the time of one, have not filled a unit.
constexpr double min_filled = 1.25;

KernelCause chains_cause() {
  return {.name = "chains", .title = "dependent arithmetic", .gsi = "compute data"};
}

KernelCause refused(std::string reason) {
  KernelCause cause = chains_cause();
  cause.state = CauseState::refused;
  cause.reason = std::move(reason);
  return cause;
}

/// Of the places of its groups, as they start, the part that work fills: where that is less for
/// one compute unit than for another, or in the last wave, copies fill it as well, and nobody waits
/// there.
double balance_of(const BareRuns& runs) {
  const bool is_known = runs.resident_groups > 0;
  const std::uint64_t places = is_known && runs.groups > runs.resident_groups
                                   ? runs.resident_groups
                                   : std::max<std::uint64_t>(1, runs.units);
  const std::uint64_t turns = (runs.groups + places - 1) / places;
  if (turns == 0) return 1.0;
  return static_cast<double>(runs.groups) / static_cast<double>(turns * places);
}

/// How many copies the device has places for at once, as far as that matters.
double copies_at_once(const BareRuns& runs) {
  if (runs.groups == 0) return 1.0;
  const auto room = static_cast<double>(runs.resident_groups) / static_cast<double>(runs.groups);
  return std::clamp(room, 1.0, static_cast<double>(bare_copies));
}

/// Why the kernel may wait for longer than copies say; empty where they filled a unit.
std::string bound_of(const BareRuns& runs, double alone_ns, double busy_ns) {
  const double at_once = copies_at_once(runs);
  if (busy_ns * at_once >= min_filled * alone_ns) return {};
  return at_once < bare_copies
             ? fmt::format("at least: only {:.1f} copies of its groups fit at once", at_once)
             : fmt::format("at least: {} concurrent copies do not fill the compute units",
                           bare_copies);
}

/// The time for which a unit has work of one launch, where it has most.
Visits busy_of(const BareRuns& runs) {
  const double balance = balance_of(runs);
  Visits busy_ns = runs.copies_ns;
  for (std::vector<double>& visit : busy_ns) {
    for (double& ns : visit) ns /= balance;
  }
  return busy_ns;
}

/// Why nothing is left to wait for: copies hinder each other, or take less time for each, but may
/// have run where one leaves places idle.
std::string nothing_free(const BareRuns& runs, double alone_ns) {
  return typical_ns(runs.copies_ns) < alone_ns
             ? "not resolved: concurrent copies may only fill compute units that the kernel leaves "
               "idle"
             : "not resolved: concurrent copies slow each other, so no compute unit is free";
}

KernelCause valued(Cost free, std::string bound, std::string negative, const KernelCauses& causes) {
  KernelCause cause = chains_cause();
  const bool is_negative = free.is_resolved && free.ns < 0.0;
  if (is_negative) free = {};
  const double whole = causes.total.ns;
  cause.cost = free;
  cause.share = free.ns / whole;
  cause.share_interval = {free.interval.low / whole, free.interval.high / whole};
  const bool is_found = free.is_resolved;
  cause.state = is_found ? CauseState::found : CauseState::not_resolved;
  cause.reason = is_found      ? std::move(bound)
                 : is_negative ? std::move(negative)
                               : "not resolved: within two sigma of 0";
  cause.is_lower_bound = is_found && !cause.reason.empty();
  return cause;
}

/// Of what could not be taken away, waiting that copies fill as well; nothing where there is none.
const KernelCause* find_hidden(const KernelCauses& causes) {
  constexpr std::array hidden{std::string_view("memory"), std::string_view("barriers"),
                              std::string_view("fences"), std::string_view("functions")};
  const auto found = std::ranges::find_if(causes.causes, [&](const KernelCause& each) {
    return each.state == CauseState::refused &&
           std::ranges::find(hidden, each.name) != hidden.end();
  });
  return found == causes.causes.end() ? nullptr : &*found;
}

KernelCause cause_of(const BareRuns& runs, KernelCauses& causes) {
  if (!runs.refusal.empty()) return refused(runs.refusal);
  if (const KernelCause* const hidden = find_hidden(causes)) {
    return refused(fmt::format("the remaining kernel still contains {}", hidden->title));
  }
  if (runs.alone_ns.empty() || runs.copies_ns.empty() || runs.beside_loads_ns.empty()) {
    return refused("not all required launches were measured");
  }
  const double left = typical_ns(runs.alone_ns) / causes.unattributed.ns;
  if (left > max_other || left < 1.0 / max_other) {
    return refused(fmt::format(
        "with all causes removed, the kernel takes {:.2f} times the unattributed time", left));
  }
  const Visits busy = busy_of(runs);
  const Cost free = find_gain(runs.alone_ns, busy);
  const double alone_ns = typical_ns(runs.alone_ns);
  const double slowed = typical_ns(runs.beside_loads_ns) / alone_ns;
  const std::string bound = bound_of(runs, alone_ns, typical_ns(busy));
  KernelCause cause = valued(free, bound, nothing_free(runs, alone_ns), causes);
  if (free.ns < min_free * alone_ns || slowed <= max_slowed) return cause;
  causes.near_waits = {cause.share, cause.share_interval, bound};
  return refused(
      fmt::format("the remaining kernel also waits for loads: next to other loads it takes {:.2f} "
                  "times as long",
                  slowed));
}

}  // namespace

void add_chains(const BareRuns& runs, KernelCauses& causes) {
  if (!causes.is_believed || !(causes.total.ns > 0.0)) return;
  KernelCause cause = cause_of(runs, causes);
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
