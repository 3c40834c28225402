// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/kernel_places.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "probes/kernel/causes.hpp"
#include "probes/kernel/gather.hpp"
#include "probes/kernel/levels.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

constexpr std::string_view count_method = "count of resident work-groups";
constexpr std::string_view padding_method = "padding with unused local memory";
constexpr std::string_view waves_method = "launch without the partial wave";
constexpr std::string_view ending_method = "work-groups that end immediately";

Finding share_of(std::string_view name, const std::string& series, std::string_view method,
                 double share, const Interval& interval) {
  Finding finding = finding_of(name, series, "share", method, share, interval.low, interval.high);
  finding.holds_scatter = true;
  return finding;
}

Finding finding_of_cost(std::string_view name, const std::string& series, std::string_view method,
                        const PlaceCost& cost) {
  if (cost.state == CauseState::refused || cost.state == CauseState::not_present) {
    const std::string_view kind = cost.state == CauseState::refused ? "refused" : "not present";
    return without_value(name, series, method, fmt::format("{}: {}", kind, cost.reason), "share");
  }
  Finding finding = share_of(name, series, method, cost.share, cost.share_interval);
  finding.reason = cost.reason;
  return finding;
}

void add_counted(const KernelPlaces& places, const std::string& series, Findings& found) {
  const auto resident = static_cast<double>(places.occupancy->resident_groups);
  found.findings.push_back(
      finding_of("resident_groups", series, {}, count_method, resident, resident, resident));
  const double waves = static_cast<double>(places.groups) / resident;
  found.findings.push_back(finding_of("waves", series, {}, count_method, waves, waves, waves));
  Finding occupancy = finding_of_cost("occupancy", series, padding_method, places.occupancy->fewer);
  if (places.occupancy->fewer_groups > 0) {
    occupancy.label = fmt::format("with {} groups at once", places.occupancy->fewer_groups);
  }
  found.findings.push_back(std::move(occupancy));
  if (!places.tail) return;
  Finding tail = finding_of_cost("tail", series, waves_method, places.tail->last_wave);
  if (tail.value) {
    tail.label = fmt::format("{} of {} groups", places.tail->rest_groups, places.groups);
  }
  found.findings.push_back(std::move(tail));
}

void add_starting(const KernelPlaces& places, const std::string& series, Findings& found) {
  if (!places.starting) return;
  found.findings.push_back(
      finding_of_cost("launching", series, ending_method, places.starting->launch));
  Finding groups = finding_of_cost("starting", series, ending_method, places.starting->groups);
  if (groups.value) groups.label = fmt::format("{} groups", places.groups);
  found.findings.push_back(std::move(groups));
}

/// In the stack of the kernel, as those of `stalls` are.
void add_noise(const KernelPlaces& places, const std::string& series, Findings& found) {
  for (const Absorbed& each : places.noise) {
    Finding absorbed = finding_of_cost(stack_absorbed_name, series, "noise", each.free);
    absorbed.label = each.name;
    found.findings.push_back(std::move(absorbed));
  }
}

/// What taking away a part of the kernel's time gives the program.
struct Saving {
  std::string_view title{};
  double share{0.0};
  Interval interval{};
};

std::optional<Saving> largest_saving(const KernelCauses& causes, const KernelPlaces& places) {
  std::optional<Saving> largest;
  const std::vector<KernelCause> ranked = ranked_causes(causes);
  if (!ranked.empty()) {
    largest = {ranked.front().title, ranked.front().share, ranked.front().share_interval};
  }
  if (!places.tail || places.tail->last_wave.state != CauseState::found) return largest;
  const PlaceCost& tail = places.tail->last_wave;
  if (!largest || tail.share > largest->share) largest = {"tail", tail.share, tail.share_interval};
  return largest;
}

/// Of the kernel of that label. What is not believed is not returned.
KernelPlaces add_places(const DeviceInfo& device, std::span<const Point> points,
                        const std::string& label, Findings& found) {
  const std::string series = label + std::string(at_once_suffix);
  const std::optional<KernelPlaces> places = gather_places(device, points, label);
  if (places && places->doubt.empty()) {
    if (places->occupancy) add_counted(*places, series, found);
    add_starting(*places, series, found);
    add_noise(*places, label + std::string(folded_suffix), found);
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
void add_conclusions(const KernelCauses& causes, const KernelPlaces& places,
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
    const KernelPlaces places = add_places(device, points, each.label, found);
    add_conclusions(causes, places, share_in(each.any->facts, app_share_fact), each.label, found);
  }
  return found;
}

}  // namespace clprobe::kernel
