// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/kernel/gather.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

constexpr std::string_view count_method = "groups that count themselves";
constexpr std::string_view padding_method = "local memory that nothing uses";
constexpr std::string_view waves_method = "launch of whole waves";
constexpr std::string_view ending_method = "groups that end at once";

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
    occupancy.label = fmt::format("with {} at once", places.occupancy->fewer_groups);
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

}  // namespace

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
  std::string reason = places ? "not believed: " + places->doubt : std::string();
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

}  // namespace clprobe::kernel
