// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/stacks.hpp"
#include "probes/kernel/causes.hpp"
#include "probes/kernel/levels.hpp"
#include "probes/kernel/places.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

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
  return fmt::format("the replay left other bytes in {} than the program", wrong);
}

void add_witness(const Replayed& of, Findings& found) {
  const Parameters& facts = of.any->facts;
  const bool is_deterministic = facts.integer_or(deterministic_fact, 1) != 0;
  found.findings.push_back(word_of("deterministic", of.label, is_deterministic ? "yes" : "no"));
  if (facts.find(equal_fact) == nullptr) {
    found.findings.push_back(without_value("equal_to_app", of.label, replay_method,
                                           "not known: the launch was described by hand"));
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
  }
  if (const auto share = share_in(facts, app_share_fact)) {
    reported(stack_app_share_name, {}, *share);
  }
}

void add_kernel(const Replayed& of, Findings& found) {
  const std::string doubt = doubt_of(*of.any);
  if (!doubt.empty()) {
    found.findings.push_back(
        without_value("time", of.label, replay_method, "not believed: " + doubt, "seconds"));
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
