// SPDX-License-Identifier: Apache-2.0
// Costs of how a kernel's groups fill the device, and the advice on all costs.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "clprobe/units.hpp"
#include "probes/kernel/causes.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

/// Ratio of two numbers of groups below which the smaller number counts as fewer. Numbers that
/// differ by at most 5 % count as equal.
constexpr double clearly_fewer = 0.95;

bool is_fewer(const ResidentTime& each, const ResidentTime& base) {
  return static_cast<double>(each.resident_groups) <
         clearly_fewer * static_cast<double>(base.resident_groups);
}

/// Returns the time of `longer` minus the time of `shorter`, as a share of `whole_ns`.
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

/// Returns the launch with fewer resident groups to compare with; null if there is none. Of
/// launches with equal numbers of groups, the launch with minimum padding is chosen, because
/// padding may take memory from a cache.
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

Visits scaled(Visits visits, double factor) {
  for (std::vector<double>& visit : visits) {
    for (double& ns : visit) ns *= factor;
  }
  return visits;
}

KernelCause without_cost(std::string reason) {
  return {.state = CauseState::not_present, .reason = std::move(reason)};
}

KernelCause cost_of_last_wave(std::uint64_t groups, const Tail& tail, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns) {
  if (tail.whole_waves == 0) return without_cost("all groups run at once");
  if (tail.rest_groups == 0) {
    return without_cost(
        fmt::format("no partial wave: {} groups are a multiple of the {} that run at once", groups,
                    resident_groups));
  }
  if (tail.whole_waves >= max_waves) {
    return without_cost(
        fmt::format("the last of {} waves takes too small a share of the time to measure",
                    tail.whole_waves + 1));
  }
  if (whole_ns.empty() || all_ns.empty()) {
    return {.state = CauseState::refused, .reason = "not all required launches were measured"};
  }
  const auto whole = static_cast<double>(tail.whole_waves * resident_groups);
  return cost_between(all_ns, scaled(whole_ns, static_cast<double>(groups) / whole),
                      typical_ns(all_ns),
                      "groups of the last wave take less time than other groups");
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

/// Returns the share of the program's time as text: ", 24 % of the program's device time".
std::string of_program(double share, std::optional<double> app_share) {
  if (!app_share) return {};
  return fmt::format(", {} of the program's device time", percent(share * *app_share));
}

/// Returns the titles of the refused causes, grouped by reason: "memory, atomics (the kernel calls
/// atomic_xchg)".
std::string refused_causes(const KernelCauses& causes) {
  // Pairs of a reason and the titles of its causes.
  std::vector<std::pair<std::string, std::string>> titles;
  for (const KernelCause& each : causes.causes) {
    if (each.state != CauseState::refused) continue;
    const auto same = std::find_if(titles.begin(), titles.end(),
                                   [&](const auto& other) { return other.first == each.reason; });
    if (same == titles.end()) {
      titles.emplace_back(each.reason, each.row.title);
    } else {
      same->second += fmt::format(", {}", each.row.title);
    }
  }
  std::string words;
  for (const auto& [reason, title] : titles) {
    words += fmt::format("{}{}{}", words.empty() ? "" : "; ", title,
                         reason.empty() ? "" : fmt::format(" ({})", reason));
  }
  return words;
}

/// Minimum share of the kernel's time that is worth a change of code.
constexpr double min_share = 0.05;

/// Returns the unresolved cause with the highest upper end of its share. Returns null if no upper
/// end reaches `min_open_share`, because another measurement is then not worth it.
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

std::string advice_without_cause(const KernelCauses& causes) {
  const std::string refused = refused_causes(causes);
  const bool is_everything_refused =
      std::all_of(causes.causes.begin(), causes.causes.end(), [](const KernelCause& each) {
        return each.state == CauseState::refused || each.state == CauseState::not_present;
      });
  if (is_everything_refused) {
    return refused.empty() ? "No cause can be removed from the kernel."
                           : fmt::format("No cause could be removed safely: {}.", refused);
  }
  if (const KernelCause* const open = find_open(causes)) {
    return fmt::format(
        "Up to {} of the kernel's time may be due to {}, but the samples scatter too much to "
        "decide: close other programs, or repeat with --thorough.",
        percent(std::min(open->share_interval.high, 1.0)), open->row.title);
  }
  if (refused.empty()) {
    return "Removing any one of the causes saves little: the kernel is bound by its own "
           "instructions or by waits within a group.";
  }
  return fmt::format(
      "Removing any one of the causes saves little. The kernel is bound by its own instructions, "
      "by waits within a group, or by causes that could not be removed: {}.",
      refused);
}

std::string advice_about_tail(const KernelOccupancy& filled, std::optional<double> app_share) {
  const std::uint64_t resident = filled.occupancy->resident_groups;
  const double share = filled.tail->last_wave.share;
  return fmt::format(
      "{} groups run at once, so {} groups end with a partial wave of {}. This wave costs {} of "
      "the kernel's time{}: launch a multiple of {} groups, or smaller groups.",
      resident, filled.groups, filled.tail->rest_groups, percent(share),
      of_program(share, app_share), resident);
}

std::string advice_about_occupancy(const Occupancy& occupancy) {
  return fmt::format(
      "With {} resident groups instead of {} the kernel takes {} longer: groups hide each other's "
      "waits. To fit more resident groups, use fewer registers or less local memory per group.",
      occupancy.fewer_groups, occupancy.resident_groups, percent(occupancy.fewer.share));
}

double found_share(const KernelCause& cost) {
  return cost.state == CauseState::found && cost.share >= min_share ? cost.share : 0.0;
}

/// Returns the part of memory whose removal alone saves most of what removing memory saves; null if
/// there is none.
const KernelCause* find_main_detail(const KernelCauses& causes, const KernelCause& cause) {
  constexpr double most = 0.6;
  const KernelCause* main = nullptr;
  for (const KernelCause& each : causes.details) {
    const bool is_part = cause.row.name == row_of(Factor::memory).cause.name;
    const bool is_found = each.state == CauseState::found;
    if (!is_part || !is_found || each.share < most * cause.share) continue;
    if (main == nullptr || each.share > main->share) main = &each;
  }
  return main;
}

std::string advice_about_idle_units(const KernelOccupancy& filled) {
  return fmt::format(
      "The launch has {} for {} compute units, so {} of the device is idle: divide the work among "
      "more work-items, in at least {} groups.",
      format_count(filled.groups, "work-group"), filled.units, percent(idle_share(filled)),
      filled.units);
}

/// Returns what the size of the buffers says about the kernel's time. Caches are cold, so memory
/// transfers each used byte at least once.
std::string text_of(const BufferTransfer& transfer) {
  constexpr double bound = 0.7;   // share from which on memory leaves little to gain
  constexpr double whole = 1.25;  // share beyond which the kernel cannot use all bytes
  const std::string rate = format_rate(transfer.bytes_per_second);
  const std::string buffers = size_text(transfer.bytes) + " of buffers";
  if (transfer.share > whole) {
    return fmt::format(
        "The kernel uses only a part of its {}: at the memory's bandwidth of {}, transferring the "
        "whole buffers would take {:.1f} times as long as the kernel.",
        buffers, rate, transfer.share);
  }
  if (transfer.share < bound) {
    return fmt::format(
        "Memory bandwidth ({}) limits the kernel only if the kernel transfers its {} {:.{}f} "
        "times.",
        rate, buffers, 1.0 / transfer.share, transfer.share > 0.1 ? 1 : 0);
  }
  return fmt::format(
      "Memory bandwidth ({}) limits the kernel if the kernel uses all of its {}: transferring the "
      "buffers once takes {} of the kernel's time.",
      rate, buffers, percent(transfer.share));
}

/// Minimum share of starting groups that leads the advice. Groups start while others work: with a
/// fraction of the groups, eight kernels with shares of 16 to 69 % saved at most 16 %.
constexpr double min_leading_start = 0.75;

/// True if the launch has less than half of the groups that the device can run at the same time.
bool is_small(const KernelOccupancy& filled) {
  return filled.occupancy && filled.groups > 0 &&
         2 * filled.groups < filled.occupancy->resident_groups;
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
    found.fewer.reason =
        sorted.size() < 2 ? "not all required launches were measured"
                          : "reserving local memory does not reduce the number of resident groups";
    return found;
  }
  found.fewer_groups = fewer->resident_groups;
  found.fewer = cost_between(fewer->visits_ns, base.visits_ns, typical_ns(base.visits_ns),
                             "fewer resident groups take less time");
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

std::optional<KernelCause> find_starting(const Visits& kernel_ns, const Visits& ending_ns) {
  if (kernel_ns.empty() || ending_ns.empty()) return std::nullopt;
  const KernelCause beyond = cost_between(kernel_ns, ending_ns, typical_ns(kernel_ns));
  // Noise may make a launch without work take longer than a launch with work, so the share is at
  // most 1.
  const auto rest = [](double share) { return std::min(1.0, 1.0 - share); };
  return KernelCause{
      .state = CauseState::found,
      .share = rest(beyond.share),
      .share_interval = {rest(beyond.share_interval.high), rest(beyond.share_interval.low)}};
}

double idle_share(const KernelOccupancy& filled) {
  if (filled.groups == 0 || filled.groups >= filled.units) return 0.0;
  return 1.0 - static_cast<double>(filled.groups) / static_cast<double>(filled.units);
}

std::string doubt_advice(std::string_view doubt) {
  return doubt.empty() ? std::string() : fmt::format("No cause reported: {}.", doubt);
}

std::string kernel_advice(const KernelCauses& causes, const KernelOccupancy& filled,
                          std::optional<double> app_share,
                          const std::optional<BufferTransfer>& transfer) {
  const std::vector<KernelCause> ranked = ranked_causes(causes);
  const double first = ranked.empty() ? 0.0 : ranked.front().share;
  // Causes are shares of the time of the units that work.
  const double idle = idle_share(filled);
  if (idle >= min_share && idle > (1.0 - idle) * first) return advice_about_idle_units(filled);
  const double tail = filled.occupancy && filled.tail ? found_share(filled.tail->last_wave) : 0.0;
  const double started = filled.starting ? found_share(*filled.starting) : 0.0;
  const double starting = started >= min_leading_start ? started : 0.0;
  if (tail > first && tail >= starting) return advice_about_tail(filled, app_share);
  if (starting > first) {
    return fmt::format(
        "Starting {} groups takes {} of the kernel's time, even if the groups do nothing: do more "
        "work per launch, or launch fewer groups with more work per work-item.",
        filled.groups, percent(starting));
  }
  if (first >= min_share) {
    const KernelCause& cause = ranked.front();
    // A change of code removes at most the whole cause, so it gains at most the cost, unless the
    // changed kernel also does less work.
    const double share =
        cause.is_lower_bound ? cause.share : std::max(cause.share, std::min(1.0, cause.max_share));
    const KernelCause* const detail = find_main_detail(causes, cause);
    const std::string alone =
        detail == nullptr
            ? std::string()
            : fmt::format(", the {} alone {}", detail->row.title, percent(detail->share));
    // The working-set reduction leaves the loads and stores, but brings their data nearer.
    const bool is_nearer = !causes.is_rewritten && cause.row.gsi.starts_with("memory data");
    const bool has_barriers = cause.max_has_barriers && !cause.is_lower_bound;
    return fmt::format("{} {}{} saves {} {} of the kernel's time{}{}: {}.",
                       is_nearer ? "Finding data in near caches instead of" : "Removing",
                       cause.row.title, has_barriers ? " and its barriers" : "",
                       cause.is_lower_bound ? "at least" : "at most", percent(share),
                       of_program(share, app_share), alone,
                       detail == nullptr ? cause.row.advice : detail->row.advice);
  }
  if (is_small(filled)) {
    return fmt::format(
        "The launch has {} groups, but the device can run {} groups at once: divide the work among "
        "more work-items.",
        filled.groups, filled.occupancy->resident_groups);
  }
  if (filled.occupancy && found_share(filled.occupancy->fewer) > 0.0) {
    return advice_about_occupancy(*filled.occupancy);
  }
  std::string rest = causes.is_believed ? advice_without_cause(causes) : doubt_advice(causes.doubt);
  if (!transfer) return rest;
  return text_of(*transfer) + (rest.empty() ? "" : " ") + rest;
}

}  // namespace clprobe::kernel
