// SPDX-License-Identifier: Apache-2.0
// From the times of a replayed launch to findings.
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

#include "clprobe/estimate.hpp"
#include "clprobe/kernel_causes.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/card_parts.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

Finding share_of(std::string_view name, const std::string& series, std::string_view method,
                 double share, const Interval& interval) {
  Finding finding = finding_of(name, series, "share", method, share, interval.low, interval.high);
  finding.holds_scatter = true;
  return finding;
}

/// A cause or a cost, whatever is known of it.
Finding finding_of_cause(std::string_view name, const std::string& series, std::string_view method,
                         const KernelCause& cause) {
  if (cause.state == CauseState::refused || cause.state == CauseState::not_present) {
    const std::string_view kind = cause.state == CauseState::refused ? "refused" : "not present";
    const std::string reason = cause.reason.empty() || cause.reason == kind
                                   ? std::string(kind)
                                   : fmt::format("{}: {}", kind, cause.reason);
    return without_value(name, series, method, reason, "share");
  }
  Finding finding = share_of(name, series, method, cause.share, cause.share_interval);
  finding.reason = cause.reason;
  return finding;
}

/// The bar: its causes, what is left, and its time.
void add_stack(const KernelCauses& causes, const std::string& series, Findings& found) {
  const auto add = [&](std::string_view label, double share, const Interval& interval,
                       std::string reason) {
    Finding part = share_of(stack_part_name, series, stack_view_shapley, share, interval);
    part.label = label;
    part.reason = std::move(reason);
    found.findings.push_back(std::move(part));
  };
  for (const KernelCause& each : causes.causes) {
    if (each.state == CauseState::found || each.state == CauseState::not_resolved) {
      add(each.gsi, each.share, each.share_interval, each.reason);
    }
  }
  const double whole = causes.total.ns;
  const Interval& left = causes.unattributed.interval;
  const Interval shares{left.low / whole, left.high / whole};
  // Causes that are not resolved may be less than nothing, and leave a little more than the whole.
  const bool is_whole = causes.unattributed_share > 1.0 && shares.low <= 1.0;
  add(stack_remainder, is_whole ? 1.0 : causes.unattributed_share, shares, {});
  Finding time = finding_of(stack_time_name, series, "seconds", stack_view_shapley,
                            whole / ns_per_second, causes.total.interval.low / ns_per_second,
                            causes.total.interval.high / ns_per_second);
  time.holds_scatter = true;
  found.findings.push_back(std::move(time));
}

void add_interactions(const KernelCauses& causes, const std::string& series, Findings& found) {
  for (const KernelInteraction& each : causes.interactions) {
    if (!each.is_resolved) continue;
    found.findings.push_back(share_of(stack_interaction_name, series, "interaction cost",
                                      each.share, each.share_interval));
    found.findings.back().label = fmt::format("{} + {}", each.first, each.second);
  }
}

void add_spread(const WindowSpread& spread, const std::string& series, Findings& found) {
  Finding finding = finding_of("window_spread", series, "share", "working-set reduction",
                               spread.share, spread.share_interval.low, spread.share_interval.high);
  finding.label = fmt::format("of {} choices of groups", spread.windows);
  if (!spread.is_resolved) finding.reason = "not resolved: within two sigma of 0";
  found.findings.push_back(std::move(finding));
}

void add_believed(const KernelCauses& causes, const std::string& series, Findings& found) {
  if (causes.folding) {
    const auto groups = static_cast<double>(causes.folding->fastest_groups);
    found.findings.push_back(
        finding_of("least_groups", series, {}, "working-set reduction", groups, groups, groups));
  }
  if (causes.window_spread) add_spread(*causes.window_spread, series, found);
  for (const KernelCause& each : causes.causes) {
    found.findings.push_back(finding_of_cause(each.name, series, stack_view_shapley, each));
  }
  if (causes.near_waits) {
    found.findings.push_back(share_of("near_waits", series, "copies side by side",
                                      causes.near_waits->share, causes.near_waits->share_interval));
    found.findings.back().reason = causes.near_waits->reason;
  }
  if (causes.total.ns > 0.0) add_stack(causes, series, found);
  add_interactions(causes, series, found);
}

/// Nothing but why.
KernelCauses doubted(std::string why) {
  KernelCauses causes{.doubt = std::move(why)};
  causes.advice = doubt_advice(causes.doubt);
  return causes;
}

/// Of the kernel of that label. What is not believed is not returned.
KernelCauses add_causes(const DeviceInfo& device, std::span<const Point> points,
                        const std::string& label, Findings& found) {
  const Gathered gathered = gather(device, points, label);
  // The curve is that of the series.
  const std::string series = label + std::string(folded_suffix);
  if (gathered.times.plain_ns.empty()) return {};
  if (gathered.times.identity_ns.empty()) {
    for (const KernelFactorState& each : gathered.times.factors) {
      if (each.factor != KernelFactor::memory || each.absence != FactorAbsence::refused) continue;
      found.findings.push_back(
          without_value("memory", label, stack_view_shapley, "refused: " + each.reason, "share"));
      return doubted(each.reason);
    }
    return {};
  }
  try {
    KernelCauses causes = find_kernel_causes(gathered.times, gathered.folding);
    if (gathered.bare_runs) add_chains(*gathered.bare_runs, causes);
    const Interval& interval = causes.instrument_interval;
    Finding ratio = finding_of("instrument_ratio", series, {}, "instrumentation without changes",
                               causes.instrument_ratio, interval.low, interval.high);
    if (causes.is_believed) {
      ratio.reason = instrument_reason(interval);
      found.findings.push_back(std::move(ratio));
      add_believed(causes, series, found);
      return causes;
    }
    found.findings.push_back(std::move(ratio));
    found.findings.push_back(without_value(stack_part_name, series, stack_view_shapley,
                                           "not reliable: " + causes.doubt, "share"));
    return causes;
  } catch (const AblationError& error) {
    found.findings.push_back(
        without_value(stack_part_name, series, stack_view_shapley, error.what(), "share"));
    return doubted(error.what());
  }
}

constexpr std::string_view levels_method = "levels of latency";

/// "global 2", as `latency` calls it.
std::string name_of(int level) { return fmt::format("global {}", level); }

/// A cache, and up to how many distinct groups have their part of the buffers in it.
struct HeldGroups {
  int level{0};
  double bytes{0.0};
  double groups{0.0};
};

struct WorkingSet {
  double bytes{0.0};
  double groups{0.0};
  std::vector<HeldGroups> levels{};  ///< the nearest first
};

/// Nothing where the launch has no buffers or no groups that are known, or no level is.
std::optional<WorkingSet> working_set_of(const Point& point) {
  const auto shape = find_shape<Shape>(point);
  WorkingSet set;
  set.bytes = number_in(point.facts, buffer_bytes_fact).value_or(0.0);
  if (!shape || shape->groups == 0 || !(set.bytes > 0.0)) return std::nullopt;
  set.groups = static_cast<double>(shape->groups);
  for (std::size_t i = 0; i < level_facts.size(); ++i) {
    const std::optional<double> bytes = number_in(point.facts, level_facts.at(i));
    if (!bytes || !(*bytes > 0.0)) continue;
    set.levels.push_back(
        {static_cast<int>(i) + 1, *bytes, std::floor(*bytes / set.bytes * set.groups)});
  }
  if (set.levels.empty()) return std::nullopt;
  return set;
}

/// "Its buffers of 64 MiB exceed global 2 (27.2 MiB); reduced to 1024 distinct groups they fit in
/// global 2, ...".
std::string text_of(const WorkingSet& set) {
  const auto holder =
      std::find_if(set.levels.begin(), set.levels.end(),
                   [&](const HeldGroups& each) { return each.groups >= set.groups; });
  const bool is_held = holder != set.levels.end();
  const HeldGroups& level = is_held ? *holder : set.levels.back();
  std::string text =
      fmt::format("Its buffers of {} {} {} ({})", size_text(set.bytes),
                  is_held ? "fit in" : "exceed", name_of(level.level), size_text(level.bytes));
  std::string_view between = "; reduced ";
  for (auto each = std::make_reverse_iterator(holder); each != set.levels.rend(); ++each) {
    if (each->groups < 1.0) continue;
    const bool is_first = between != ", ";
    text += fmt::format("{}to {:.0f} {}in {}", between, each->groups,
                        is_first ? "distinct groups they fit " : "", name_of(each->level));
    between = ", ";
  }
  return text + '.';
}

/// The level that holds the buffers, and the numbers of distinct groups that fit each level, if
/// these are known. Each group is taken to use an equal part of all buffers.
void add_working_set(std::span<const Point> points, const std::string& label, Findings& found) {
  const std::string series = label + std::string(folded_suffix);
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
  for (const HeldGroups& each : set->levels) {
    if (each.groups < 1.0) continue;
    const double groups = std::min(each.groups, set->groups);
    Finding held = finding_of(level_groups_name, series, {}, levels_method, groups, groups, groups);
    held.level = each.level;
    held.label = "of " + size_text(each.bytes);
    found.findings.push_back(std::move(held));
  }
}

constexpr std::string_view count_method = "count of resident work-groups";
constexpr std::string_view padding_method = "padding with unused local memory";
constexpr std::string_view waves_method = "launch without the partial wave";
constexpr std::string_view ending_method = "work-groups that end immediately";

void add_counted(const KernelOccupancy& places, const std::string& series, Findings& found) {
  const auto resident = static_cast<double>(places.occupancy->resident_groups);
  found.findings.push_back(
      finding_of("resident_groups", series, {}, count_method, resident, resident, resident));
  const double waves = static_cast<double>(places.groups) / resident;
  found.findings.push_back(finding_of("waves", series, {}, count_method, waves, waves, waves));
  Finding occupancy =
      finding_of_cause("occupancy", series, padding_method, places.occupancy->fewer);
  if (places.occupancy->fewer_groups > 0) {
    occupancy.label = fmt::format("with {} groups at once", places.occupancy->fewer_groups);
  }
  found.findings.push_back(std::move(occupancy));
  if (!places.tail) return;
  Finding tail = finding_of_cause("tail", series, waves_method, places.tail->last_wave);
  if (tail.value) {
    tail.label = fmt::format("{} of {} groups", places.tail->rest_groups, places.groups);
  }
  found.findings.push_back(std::move(tail));
}

void add_starting(const KernelOccupancy& places, const std::string& series, Findings& found) {
  if (!places.starting) return;
  found.findings.push_back(
      finding_of_cause("launching", series, ending_method, places.starting->launch));
  Finding groups = finding_of_cause("starting", series, ending_method, places.starting->groups);
  if (groups.value) groups.label = fmt::format("{} groups", places.groups);
  found.findings.push_back(std::move(groups));
}

/// What taking away a part of the kernel's time gives the program.
struct Saving {
  std::string_view title{};
  double share{0.0};
  Interval interval{};
};

std::optional<Saving> largest_saving(const KernelCauses& causes, const KernelOccupancy& places) {
  std::optional<Saving> largest;
  const std::vector<KernelCause> ranked = ranked_causes(causes);
  if (!ranked.empty()) {
    largest = {ranked.front().title, ranked.front().share, ranked.front().share_interval};
  }
  if (!places.tail || places.tail->last_wave.state != CauseState::found) return largest;
  const KernelCause& tail = places.tail->last_wave;
  if (!largest || tail.share > largest->share) largest = {"tail", tail.share, tail.share_interval};
  return largest;
}

/// Of the kernel of that label. What is not believed is not returned.
KernelOccupancy add_occupancy(const DeviceInfo& device, std::span<const Point> points,
                              const std::string& label, Findings& found) {
  const std::string series = label + std::string(at_once_suffix);
  const std::optional<KernelOccupancy> places = gather_occupancy(device, points, label);
  if (places && places->doubt.empty()) {
    if (places->occupancy) add_counted(*places, series, found);
    add_starting(*places, series, found);
    return *places;
  }
  std::string reason = places ? "not reliable: " + places->doubt : std::string();
  for (const Point& point : points) {
    if (!reason.empty() || label_of(point.series) != label) continue;
    const std::string absence = point.facts.text_or(absence_of(entry_factor), "");
    if (!absence.empty()) reason = "refused: " + absence;
  }
  if (!reason.empty()) {
    found.findings.push_back(without_value("resident_groups", series, count_method, reason));
  }
  return {};
}

/// What the program gains at most, where the kernel has `app_share` of its device time, and one
/// sentence.
void add_conclusions(const KernelCauses& causes, const KernelOccupancy& places,
                     std::optional<double> app_share, const std::string& label, Findings& found) {
  // What is said of groups at once stands with them; why nothing is, with the causes.
  const bool is_of_causes = causes.is_believed || !places.occupancy;
  const std::string series = label + std::string(is_of_causes ? folded_suffix : at_once_suffix);
  const std::optional<Saving> first = largest_saving(causes, places);
  if (first && app_share) {
    const Interval& own = first->interval;
    Finding saving = share_of("app_saving", series, stack_view_shapley, first->share * *app_share,
                              {own.low * *app_share, own.high * *app_share});
    saving.label = first->title;
    found.findings.push_back(std::move(saving));
  }
  std::string sentence = kernel_advice(causes, places);
  if (sentence.empty()) return;
  Finding advice = finding_of("advice", series, {}, stack_view_shapley);
  advice.label = std::move(sentence);
  found.findings.push_back(std::move(advice));
}

constexpr std::string_view replay_method = "replay";
constexpr std::string_view app_method = "the program's events";

/// The plain launches of one kernel.
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
    if (!shape || !time || !(time->ns > 0.0) || shape->text != Text::own) continue;
    const std::string label(label_of(point.series));
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Replayed& each) { return each.label == label; });
    if (found == all.end()) found = all.insert(all.end(), Replayed{.label = label, .any = &point});
    (shape->caches == Caches::cold ? found->cold : found->warm) = time;
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

/// Why the replay is not believed; empty where it is. What two replays leave alike has to be what
/// the program left, whatever else of it is left to chance.
std::string doubt_of(const Point& point) {
  if (point.facts.integer_or(equal_fact, 1) != 0) return {};
  std::string wrong = point.facts.text_or(wrong_buffers_fact, "");
  const bool is_deterministic = point.facts.integer_or(deterministic_fact, 1) != 0;
  // Documents that are older have the buffers alone that are other ones.
  if (wrong.empty() && is_deterministic) {
    wrong = point.facts.text_or(other_buffers_fact, "a buffer");
  }
  if (wrong.empty()) return {};
  return fmt::format("after the replay, {} held different bytes than in the program", wrong);
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
  if (is_equal || is_deterministic) return;
  found.warnings.push_back(
      {"replay_not_deterministic",
       {{"series", of.label}, {"differing_share", share_in(facts, differing_fact).value_or(0.0)}},
       WarningSource::analysis});
}

/// Outside of these a replay is another launch than the program's: other caches, clocks, or kernels
/// beside it.
void add_ratio(const Replayed& of, double app_ns, Findings& found) {
  constexpr double min_ratio = 0.8;
  constexpr double max_ratio = 1.25;
  const Estimate& first = of.cold ? *of.cold : *of.warm;
  const Estimate& second = of.warm ? *of.warm : *of.cold;
  const double low = std::min(first.ns, second.ns) / app_ns;
  const double high = std::max(first.ns, second.ns) / app_ns;
  found.findings.push_back(
      finding_of("replay_ratio", of.label, {}, replay_method, first.ns / app_ns, low, high));
  if (high >= min_ratio && low <= max_ratio) return;
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
    // Causes are of this launch, and shares of all of them.
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

}  // namespace

std::vector<CardMark> marks_of(const ProbeResult& result) {
  std::vector<CardMark> marks;
  std::vector<std::string> marked;
  for (const Point& point : result.points) {
    const bool is_marked = std::find(marked.begin(), marked.end(), point.series) != marked.end();
    if (is_marked || !point.series.ends_with(folded_suffix)) continue;
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
    const KernelOccupancy places = add_occupancy(device, points, each.label, found);
    add_conclusions(causes, places, share_in(each.any->facts, app_share_fact), each.label, found);
  }
  return found;
}

}  // namespace clprobe::kernel
