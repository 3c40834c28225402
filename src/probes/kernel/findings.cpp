// SPDX-License-Identifier: Apache-2.0
// Makes findings from the times of a replayed launch.
#include "probes/kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

/// Label of the bar's part for the time that starting the groups takes.
constexpr std::string_view starting_label = "idle: starting groups";

Finding share_of(std::string_view name, const std::string& series, std::string_view method,
                 double share, const Interval& interval) {
  Finding finding = finding_of(name, series, "share", method, share, interval.low, interval.high);
  finding.holds_scatter = true;
  return finding;
}

/// Returns a finding with the share of a cause or a cost, or with the reason why the share is
/// unknown.
Finding finding_of_cause(std::string_view name, const std::string& series, std::string_view method,
                         const KernelCause& cause) {
  if (cause.state == CauseState::refused || cause.state == CauseState::not_present) {
    const std::string_view kind = cause.state == CauseState::refused ? "refused" : "not present";
    const std::string reason =
        cause.reason.empty() ? std::string(kind) : fmt::format("{}: {}", kind, cause.reason);
    return without_value(name, series, method, reason, "share");
  }
  Finding finding = share_of(name, series, method, cause.share, cause.share_interval);
  finding.reason = cause.reason;
  return finding;
}

/// Adds the parts of the stacked bar: the causes, starting groups and the remainder. `starting`:
/// share of the time in which groups start, which is subtracted from the remainder.
void add_stack(const KernelCauses& causes, const std::optional<KernelCause>& starting,
               const std::string& series, Findings& found) {
  for (const KernelCause& each : causes.causes) {
    if (each.state != CauseState::found && each.state != CauseState::not_resolved) continue;
    found.findings.push_back(finding_of_cause(stack_part_name, series, stack_view_shapley, each));
    found.findings.back().label = each.row.gsi;
  }
  const double whole = causes.total.ns;
  const Interval& unattributed = causes.unattributed.interval;
  // Costs of unresolved causes may be negative, so the remainder may slightly exceed the whole
  // time.
  const bool is_whole = causes.unattributed_share > 1.0 && unattributed.low <= whole;
  const double left = is_whole ? 1.0 : causes.unattributed_share;
  const double started = starting ? std::clamp(starting->share, 0.0, std::max(0.0, left)) : 0.0;
  if (started > 0.0) {
    const Interval& interval = starting->share_interval;
    found.findings.push_back(share_of(
        stack_part_name, series, stack_view_shapley, started,
        {std::min(interval.low, started), std::max(started, std::min(interval.high, 1.0))}));
    found.findings.back().label = starting_label;
  }
  found.findings.push_back(share_of(stack_part_name, series, stack_view_shapley, left - started,
                                    {std::max(0.0, unattributed.low / whole - started),
                                     std::max(0.0, unattributed.high / whole - started)}));
  found.findings.back().label = stack_remainder;
  Finding time = finding_of(stack_time_name, series, "seconds", stack_view_shapley,
                            whole / ns_per_second, causes.total.interval.low / ns_per_second,
                            causes.total.interval.high / ns_per_second);
  time.holds_scatter = true;
  found.findings.push_back(std::move(time));
}

void add_believed(const KernelCauses& causes, const std::optional<KernelCause>& starting,
                  const std::string& series, Findings& found) {
  if (causes.folding) {
    const auto groups = static_cast<double>(causes.folding->fastest_groups);
    const std::string folded =
        std::string(label_of(series)) + std::string(suffix_of(Variant::instrumented));
    found.findings.push_back(
        finding_of("least_groups", folded, {}, "working-set reduction", groups, groups, groups));
  }
  for (const KernelCause& each : causes.causes) {
    found.findings.push_back(finding_of_cause(each.row.name, series, stack_view_shapley, each));
  }
  for (const KernelCause& each : causes.details) {
    found.findings.push_back(finding_of_cause(each.row.name, series, "rewriting", each));
  }
  if (causes.near_waits) {
    found.findings.push_back(
        finding_of_cause("near_waits", series, "copies side by side", *causes.near_waits));
  }
  if (causes.total.ns > 0.0) add_stack(causes, starting, series, found);
}

/// Adds findings on the causes of the kernel with label `label`. Returns the causes, or the reason
/// why no cause is reported.
KernelCauses add_causes(const DeviceInfo& device, std::span<const Point> points,
                        const std::string& label, Findings& found) {
  const KernelTimes times = gather_times(device, points, label);
  const std::string series =
      label +
      std::string(suffix_of(times.is_rewritten ? Variant::rewritten : Variant::instrumented));
  if (times.plain_ns.empty()) return {};
  if (times.identity_ns.empty()) {
    const prelude::Verdict& memory = times.verdicts.front();
    if (memory.possibility != prelude::Possibility::refused) return {};
    found.findings.push_back(
        without_value("memory", label, stack_view_shapley, "refused: " + memory.reason, "share"));
    return {.doubt = memory.reason};
  }
  if (!times.rewriting_refusal.empty()) {
    found.findings.push_back(without_value("loads", series, "rewriting",
                                           "refused: " + times.rewriting_refusal, "share"));
  }
  try {
    KernelCauses causes = find_kernel_causes(times);
    const Interval& interval = causes.instrument_interval;
    Finding ratio = finding_of(
        "instrument_ratio", series, {},
        times.is_rewritten ? "rewriting without changes" : "instrumentation without changes",
        causes.instrument_ratio, interval.low, interval.high);
    if (causes.is_believed) ratio.reason = instrument_reason(interval);
    found.findings.push_back(std::move(ratio));
    if (causes.is_believed) {
      const auto filled = gather_occupancy(device, points, label);
      add_believed(causes, filled ? filled->starting : std::nullopt, series, found);
    } else {
      found.findings.push_back(without_value(stack_part_name, series, stack_view_shapley,
                                             "not reliable: " + causes.doubt, "share"));
    }
    return causes;
  } catch (const AblationError& error) {
    found.findings.push_back(
        without_value(stack_part_name, series, stack_view_shapley, error.what(), "share"));
    return {.doubt = error.what()};
  }
}

constexpr std::string_view levels_method = "levels of latency";

/// Returns the name that probe `latency` gives to the level: "global 2".
std::string name_of(int level) { return fmt::format("global {}", level); }

/// Cache, with the maximum number of distinct groups whose share of the buffers fits the cache.
struct HeldGroups {
  int level{0};
  double bytes{0.0};
  double groups{0.0};
};

struct WorkingSet {
  double bytes{0.0};
  double groups{0.0};
  std::vector<HeldGroups> levels{};  ///< caches in the order of the levels, L1 first
};

/// Returns the working set of the point; nothing if the size of buffers, the number of groups or
/// the levels are unknown.
std::optional<WorkingSet> working_set_of(const Point& point) {
  const auto shape = find_shape<Shape>(point);
  WorkingSet set;
  set.bytes = number_in(point.facts, buffer_bytes_fact).value_or(0.0);
  if (!shape || shape->groups == 0 || !(set.bytes > 0.0)) return std::nullopt;
  set.groups = static_cast<double>(shape->groups);
  for (std::size_t i = 0; i < max_levels; ++i) {
    const std::optional<double> bytes = number_in(point.facts, fact_at(level_fact, i));
    if (!bytes || !(*bytes > 0.0)) continue;
    set.levels.push_back(
        {static_cast<int>(i) + 1, *bytes, std::floor(*bytes / set.bytes * set.groups)});
  }
  if (set.levels.empty()) return std::nullopt;
  return set;
}

/// Returns the sentence on the levels that the buffers fit: "The kernel's buffers of 64 MiB exceed
/// global 2 (27.2 MiB); with 1024 distinct groups, the used part fits in global 2, ...".
std::string text_of(const WorkingSet& set) {
  const auto holder =
      std::find_if(set.levels.begin(), set.levels.end(),
                   [&](const HeldGroups& each) { return each.groups >= set.groups; });
  const bool is_held = holder != set.levels.end();
  const HeldGroups& level = is_held ? *holder : set.levels.back();
  std::string text =
      fmt::format("The kernel's buffers of {} {} {} ({})", size_text(set.bytes),
                  is_held ? "fit in" : "exceed", name_of(level.level), size_text(level.bytes));
  std::string_view between = "; with ";
  for (auto each = std::make_reverse_iterator(holder); each != set.levels.rend(); ++each) {
    if (each->groups < 1.0) continue;
    const bool is_first = between != ", with ";
    text +=
        fmt::format("{}{:.0f} {}in {}", between, each->groups,
                    is_first ? "distinct groups, the used part fits " : "", name_of(each->level));
    between = ", with ";
  }
  return text + '.';
}

/// Adds the size of the buffers, the level that the buffers fit, and the number of distinct groups
/// that fits each level. Assumes that each group uses an equal share of all buffers.
void add_working_set(std::span<const Point> points, const std::string& label, Findings& found) {
  const std::string series = label + std::string(suffix_of(Variant::instrumented));
  const auto point = std::find_if(points.begin(), points.end(),
                                  [&](const Point& each) { return each.series == series; });
  if (point == points.end()) return;
  const std::optional<WorkingSet> set = working_set_of(*point);
  if (!set) return;
  found.findings.push_back(finding_of(working_set_name, series, "bytes", levels_method, set->bytes,
                                      set->bytes, set->bytes));
  Finding sentence = finding_of(levels_name, series, {}, levels_method);
  sentence.label = text_of(*set);
  found.findings.push_back(std::move(sentence));
}

constexpr std::string_view count_method = "count of resident work-groups";

void add_counted(const KernelOccupancy& filled, const std::string& series, Findings& found) {
  const auto resident = static_cast<double>(filled.occupancy->resident_groups);
  found.findings.push_back(
      finding_of("resident_groups", series, {}, count_method, resident, resident, resident));
  const double waves = static_cast<double>(filled.groups) / resident;
  found.findings.push_back(finding_of("waves", series, {}, count_method, waves, waves, waves));
  Finding occupancy = finding_of_cause("occupancy", series, "padding with unused local memory",
                                       filled.occupancy->fewer);
  if (filled.occupancy->fewer_groups > 0) {
    occupancy.label = fmt::format("with {} groups at once", filled.occupancy->fewer_groups);
  }
  found.findings.push_back(std::move(occupancy));
  if (!filled.tail) return;
  Finding tail =
      finding_of_cause("tail", series, "launch without the partial wave", filled.tail->last_wave);
  if (tail.value) {
    tail.label = fmt::format("{} of {} groups", filled.tail->rest_groups, filled.groups);
  }
  found.findings.push_back(std::move(tail));
}

/// Adds findings on how the groups of the kernel with label `label` fill the device. Returns the
/// reported costs.
KernelOccupancy add_occupancy(const DeviceInfo& device, std::span<const Point> points,
                              const std::string& label, Findings& found) {
  const std::string series = label + std::string(suffix_of(Variant::resident));
  const std::optional<KernelOccupancy> filled = gather_occupancy(device, points, label);
  if (filled && idle_share(*filled) > 0.0) {
    const double idle = idle_share(*filled);
    found.findings.push_back(
        finding_of("idle_units", label, "share", "groups and compute units", idle, idle, idle));
  }
  if (filled && filled->doubt.empty() && filled->occupancy) {
    add_counted(*filled, series, found);
    if (filled->starting) {
      found.findings.push_back(finding_of_cause(
          "starting", series, "work-groups that end immediately", *filled->starting));
      found.findings.back().label = fmt::format("{} groups", filled->groups);
    }
    return *filled;
  }
  const bool is_doubtful = filled && !filled->doubt.empty();
  std::string reason = is_doubtful ? "not reliable: " + filled->doubt : std::string();
  for (const Point& point : points) {
    if (!reason.empty() || label_of(point.series) != label) continue;
    const std::string absence = point.facts.text_or(absence_of(entry_factor), "");
    if (!absence.empty()) reason = "refused: " + absence;
  }
  if (!reason.empty()) {
    found.findings.push_back(without_value("resident_groups", series, count_method, reason));
  }
  if (!filled) return {};
  return {.groups = filled->groups, .units = filled->units};
}

constexpr std::string_view replay_method = "replay";
constexpr std::string_view app_method = "the program's events";

/// Times of the plain launches of one kernel.
struct Replayed {
  std::string label{};
  const Point* any{nullptr};
  std::optional<Estimate> cold{};
  std::optional<Estimate> warm{};
};

std::vector<Replayed> replayed_in(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<Replayed> all;
  for (const Point& point : points) {
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time || !(time->ns > 0.0)) continue;
    if (shape->variant != Variant::plain && shape->variant != Variant::warm) continue;
    const std::string label(label_of(point.series));
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Replayed& each) { return each.label == label; });
    if (found == all.end()) found = all.insert(all.end(), Replayed{.label = label, .any = &point});
    (shape->variant == Variant::plain ? found->cold : found->warm) = time;
  }
  return all;
}

Finding seconds_of(std::string_view name, const std::string& label, const Estimate& time) {
  return finding_of(name, label, "seconds", replay_method, time.ns / ns_per_second,
                    time.ns_interval.low / ns_per_second, time.ns_interval.high / ns_per_second);
}

Finding word_of(std::string_view name, const std::string& label, std::string word) {
  Finding finding = finding_of(name, label, {}, replay_method);
  finding.label = std::move(word);
  return finding;
}

/// Returns the reason why the replay is not reliable; empty if the replay is reliable. Bytes that
/// are equal in two replays must also equal the program's bytes, except floats of another version
/// of the kernel, which may round differently.
std::string doubt_of(const Point& point) {
  const std::string wrong = point.facts.text_or(wrong_buffers_fact, "");
  if (wrong.empty()) return {};
  return fmt::format("after the replay, the bytes in {} differ from the program's bytes", wrong);
}

void add_witness(const Replayed& of, Findings& found) {
  const Parameters& facts = of.any->facts;
  const bool is_deterministic = facts.integer_or(deterministic_fact, 1) != 0;
  found.findings.push_back(word_of("deterministic", of.label, is_deterministic ? "yes" : "no"));
  if (facts.find(equal_fact) == nullptr) {
    found.findings.push_back(
        without_value("equal_to_app", of.label, replay_method,
                      "not known: a launch described by hand has no program to compare with"));
    return;
  }
  const bool is_equal = facts.integer_or(equal_fact, 1) != 0;
  found.findings.push_back(word_of("equal_to_app", of.label, is_equal ? "yes" : "no"));
  if (const std::string other = facts.text_or(other_floats_fact, ""); !other.empty()) {
    found.warnings.push_back({"other_version_differs",
                              {{"series", of.label}, {"buffers", other}},
                              WarningSource::analysis});
  }
  if (is_equal || is_deterministic) return;
  found.warnings.push_back(
      {"replay_not_deterministic",
       {{"series", of.label}, {"differing_share", share_in(facts, differing_fact).value_or(0.0)}},
       WarningSource::analysis});
}

/// Adds the ratio replay time / program time. Outside the limits, a replay of the program's text
/// gets a warning: it differs from the program's launch in cache contents, clock rates or
/// concurrent kernels.
void add_ratio(const Replayed& of, double app_ns, Findings& found) {
  constexpr double min_ratio = 0.8;
  constexpr double max_ratio = 1.25;
  const Estimate& first = of.cold ? *of.cold : *of.warm;
  const Estimate& second = of.warm ? *of.warm : *of.cold;
  const double low = std::min(first.ns, second.ns) / app_ns;
  const double high = std::max(first.ns, second.ns) / app_ns;
  found.findings.push_back(
      finding_of("replay_ratio", of.label, {}, replay_method, first.ns / app_ns, low, high));
  const bool is_other_text = of.any->facts.find(other_text_fact) != nullptr;
  if (is_other_text || (high >= min_ratio && low <= max_ratio)) return;
  found.warnings.push_back(
      {"replay_unlike_app",
       {{"series", of.label}, {"replay_ratio", first.ns / app_ns}, {"app_ns", app_ns}},
       WarningSource::analysis});
}

void add_app(const Replayed& of, Findings& found) {
  const Parameters& facts = of.any->facts;
  const auto reported = [&](std::string_view name, std::string_view unit, double value) {
    Finding finding = finding_of(name, of.label, unit, app_method, value, value, value);
    finding.source = Source::reported;
    found.findings.push_back(std::move(finding));
  };
  const std::optional<double> app_ns = number_in(facts, app_ns_fact);
  if (app_ns && *app_ns > 0.0) {
    reported("app_time", "seconds", *app_ns / ns_per_second);
    add_ratio(of, *app_ns, found);
    // The causes describe the recorded launch, but the share of the device time covers all launches
    // of the kernel.
    constexpr double like = 2.0;
    const double mean_ns = number_in(facts, app_mean_ns_fact).value_or(*app_ns);
    if (*app_ns > like * mean_ns || mean_ns > like * *app_ns) {
      found.warnings.push_back({"launch_unlike_mean",
                                {{"series", of.label}, {"app_ns", *app_ns}, {"mean_ns", mean_ns}},
                                WarningSource::analysis});
    }
  }
  if (const auto share = share_in(facts, app_share_fact)) {
    reported(stack_app_share_name, {}, *share);
  }
}

void add_kernel(const Replayed& of, Findings& found) {
  const std::string doubt = doubt_of(*of.any);
  if (!doubt.empty()) {
    found.findings.push_back(
        without_value("time", of.label, replay_method, "not reliable: " + doubt, "seconds"));
  } else {
    if (of.cold) found.findings.push_back(seconds_of("time", of.label, *of.cold));
    if (of.warm) found.findings.push_back(seconds_of("warm_time", of.label, *of.warm));
  }
  add_app(of, found);
  add_witness(of, found);
}

/// Adds and returns the share of the kernel's time that one transfer of all buffer bytes takes.
std::optional<BufferTransfer> add_transfer(const Replayed& of, Findings& found) {
  const double bytes = number_in(of.any->facts, buffer_bytes_fact).value_or(0.0);
  const double rate = number_in(of.any->facts, memory_rate_fact).value_or(0.0);
  if (!of.cold || !(bytes > 0.0) || !(rate > 0.0)) return std::nullopt;
  const double ns = bytes / rate * ns_per_second;
  const BufferTransfer transfer{
      .bytes = bytes, .bytes_per_second = rate, .share = ns / of.cold->ns};
  found.findings.push_back(finding_of("buffer_transfer", of.label, "share", "buffers and bandwidth",
                                      transfer.share, ns / of.cold->ns_interval.high,
                                      ns / of.cold->ns_interval.low));
  return transfer;
}

}  // namespace

std::vector<CardMark> marks_of(const ProbeResult& result) {
  std::vector<CardMark> marks;
  std::vector<std::string> marked;
  for (const Point& point : result.points) {
    const bool is_marked = std::find(marked.begin(), marked.end(), point.series) != marked.end();
    if (is_marked || !point.series.ends_with(suffix_of(Variant::instrumented))) continue;
    const std::optional<WorkingSet> set = working_set_of(point);
    if (!set) continue;
    marked.push_back(point.series);
    double from = 1.0;
    for (const HeldGroups& each : set->levels) {
      const double to = std::min(each.groups, set->groups);
      if (to < from || from >= set->groups) continue;
      const bool is_open = each.groups >= set->groups;
      marks.push_back({point.series, from, to, is_open, name_of(each.level)});
      from = to;
    }
    if (from >= set->groups) continue;
    marks.push_back(
        {point.series, from, set->groups, true, "beyond " + name_of(set->levels.back().level)});
  }
  return marks;
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const Replayed& each : replayed_in(device, points)) {
    add_kernel(each, found);
    if (const std::string doubt = doubt_of(*each.any); !doubt.empty()) {
      found.findings.push_back(word_of("advice", each.label, doubt_advice(doubt)));
      continue;
    }
    add_working_set(points, each.label, found);
    const KernelCauses causes = add_causes(device, points, each.label, found);
    const KernelOccupancy filled = add_occupancy(device, points, each.label, found);
    const std::string advice = kernel_advice(
        causes, filled, share_in(each.any->facts, app_share_fact), add_transfer(each, found));
    if (advice.empty()) continue;
    // If only costs of occupancy are reported, the advice belongs to the series of resident groups.
    // Otherwise the advice belongs to the series of causes.
    const Variant of_causes = causes.is_rewritten ? Variant::rewritten : Variant::instrumented;
    const Variant of = causes.is_believed || !filled.occupancy ? of_causes : Variant::resident;
    found.findings.push_back(
        finding_of("advice", each.label + std::string(suffix_of(of)), {}, stack_view_shapley));
    found.findings.back().label = advice;
  }
  return found;
}

}  // namespace clprobe::kernel
