// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "clprobe/ablation.hpp"
#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/causes.hpp"
#include "probes/stalls/latency_bound.hpp"
#include "probes/stalls/noise.hpp"

namespace clprobe::stalls {
namespace {

constexpr std::string_view issue_label = "no stall: issue";
constexpr std::string_view not_resolved = "not resolved: within two sigma of 0";
static_assert(not_resolved.starts_with(stack_not_resolved));

/// Two builds are never the same but for the cause: registers and the places of instructions
/// differ, too. On GPUs, whose times scatter by a thousandth, that was up to 3.7 % of the time.
constexpr double builds_differ = 0.05;

/// Whether a share can be one: within 0 to 100 %, or outside by no more than its sigma, or than
/// what builds differ by.
bool is_possible(const Cost& cost, double all_ns) {
  const double room = std::max(cost.sigma_ns, builds_differ * all_ns);
  return cost.ns >= -room && cost.ns <= all_ns + room;
}

/// Why a share is not known. A build without a cause that takes longer has got another one.
std::string impossible(std::string_view label, std::string_view verb, const Cost& cost,
                       double all_ns) {
  const double percent = 100.0 / all_ns;
  const std::string_view what = cost.ns < 0.0 ? "below 0 %" : "above 100 %";
  return fmt::format("not known: {} would {} {:.1f} ±{:.1f} % of the time, which is {}", label,
                     verb, cost.ns * percent, cost.sigma_ns * percent, what);
}

/// The cost as a part of `all_ns`.
Finding with_interval(Finding finding, std::string_view label, const Cost& cost, double all_ns) {
  finding.label = label;
  finding.value = cost.ns / all_ns;
  finding.low = cost.interval.low / all_ns;
  finding.high = cost.interval.high / all_ns;
  if (!cost.is_resolved) finding.reason = not_resolved;
  return finding;
}

/// A share of `all_ns`: where it is above the whole by no more than its error, the whole.
Finding within_whole(Finding finding, std::string_view label, std::string_view verb,
                     const Cost& cost, double all_ns) {
  if (!is_possible(cost, all_ns)) {
    finding.label = label;
    finding.reason = impossible(label, verb, cost, all_ns);
    return finding;
  }
  finding = with_interval(std::move(finding), label, cost, all_ns);
  for (auto* const each : {&finding.value, &finding.low, &finding.high}) {
    *each = std::min(**each, 1.0);
  }
  return finding;
}

Finding share_of(std::string_view series, std::string_view label, const Cost& cost, double all_ns) {
  return within_whole(finding_of(stack_part_name, series, "share", stack_view_shapley), label,
                      "take", cost, all_ns);
}

Visits visits_of(const Point& point, const DeviceInfo& device) {
  return point.failure.empty() ? access_times_by_visit_ns(point, device) : Visits{};
}

std::vector<AblationBuild> builds_in(const Points& points, const DeviceInfo& device) {
  std::vector<AblationBuild> builds;
  for (const Point* const point : points) {
    if (noise_of(*point) || !phase_of(*point).empty() || crowd_of(*point) > 0) continue;
    builds.push_back({shape_of<Ablated>(*point).idealised, visits_of(*point, device)});
  }
  return builds;
}

/// The kernel as it is.
const Point* whole_kernel(const Points& points) {
  const auto at = std::find_if(points.begin(), points.end(),
                               [](const Point* each) { return is_whole_kernel(*each); });
  return at == points.end() ? nullptr : *at;
}

/// What the kernel takes. Two cores of a virtual machine may be one for as long as a visit.
Finding time_of(std::string_view bar, const Points& points, const DeviceInfo& device,
                const Ablation& ablation) {
  const Point* const whole = whole_kernel(points);
  if (whole != nullptr) {
    if (auto best = cpu_time_finding(bar, *whole, device)) return *std::move(best);
  }
  return time_finding(bar, ablation.none.ns, ablation.none.interval, "median of the faster half");
}

/// The build of which most has been taken away.
const AblationBuild& without_causes(const std::vector<AblationBuild>& builds) {
  return *std::max_element(
      builds.begin(), builds.end(),
      [](const AblationBuild& a, const AblationBuild& b) { return a.idealised < b.idealised; });
}

/// What is left without all causes, `all`, in two: `all` of the result is what a group takes where
/// others fill its gaps, and its only factor what those took. Nothing where that was not measured.
std::optional<Ablation> split_rest(const AblationBuild& all, const Points& points,
                                   const DeviceInfo& device) {
  const auto point = std::find_if(points.begin(), points.end(),
                                  [](const Point* each) { return crowd_of(*each) > 0; });
  if (point == points.end()) return std::nullopt;
  Visits visits = visits_of(**point, device);
  if (visits.empty()) return std::nullopt;
  for (std::vector<double>& visit : visits) {
    for (double& ns : visit) ns /= static_cast<double>(crowd_of(**point));
  }
  return attribute_time(std::array{AblationBuild{0, all.visits_ns}, AblationBuild{1, visits}}, 1);
}

/// The kinds of noise of which enough was measured.
std::vector<std::pair<std::string_view, NoiseKind>> noise_in(const Points& points,
                                                             const DeviceInfo& device) {
  std::vector<std::pair<std::string_view, NoiseKind>> kinds;
  for (const std::string_view kind : all_noise) {
    std::vector<NoisePoint> amounts;
    for (const Point* const point : points) {
      const auto noise = noise_of(*point);
      if (!noise || noise->kind != kind) continue;
      amounts.push_back({static_cast<double>(noise->amount), visits_of(*point, device)});
    }
    if (amounts.empty()) continue;
    try {
      kinds.push_back({kind, {resource_of_noise(kind), find_absorption(amounts)}});
    } catch (const AblationError&) {
      continue;  // cut short: what was not measured absorbs nothing and saturates nothing
    }
  }
  return kinds;
}

void add_noise(std::string_view bar, const Points& points, const DeviceInfo& device,
               const Ablation& ablation, std::span<const Cause> causes,
               std::vector<Finding>& findings) {
  std::vector<Resource> resources;
  for (const Cause cause : causes) resources.push_back(resource_of(cause));
  std::vector<NoiseKind> kinds;
  for (const auto& [name, kind] : noise_in(points, device)) {
    kinds.push_back(kind);
    const Interval& interval = kind.absorption.share_interval;
    // 95 % are 1.96 sigma on both sides.
    const Cost free{.ns = kind.absorption.share,
                    .interval = interval,
                    .sigma_ns = (interval.high - interval.low) / 3.92,
                    .is_resolved = true};
    Finding absorbed = within_whole(finding_of(stack_absorbed_name, bar, "share", "noise"), name,
                                    "be free", free, 1.0);
    if (!absorbed.value) {
      // Its reason says why it is not known.
    } else if (!kind.absorption.is_found) {
      absorbed.reason = "the kernel absorbed all the noise; the value is a lower bound";
    } else if (!kind.absorption.is_decisive &&
               kind.absorption.share_interval.high < saturated_share) {
      absorbed.reason = "inconclusive: too little noise, or the noise itself added a delay";
    }
    findings.push_back(std::move(absorbed));
  }
  const Agreement agreement = compare_with_noise(ablation, resources, kinds);
  Finding verdict = finding_of(noise_verdict_name, bar, "", "noise");
  constexpr std::string_view words[]{noise_agrees, "inconclusive", "untested"};
  verdict.label = words[static_cast<std::size_t>(agreement.verdict)];
  verdict.reason = agreement.reason;
  findings.push_back(std::move(verdict));
}

void add_interactions(std::string_view bar, const Ablation& ablation, std::span<const Cause> causes,
                      std::span<const std::uint32_t> needs, std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < causes.size(); ++i) {
    for (std::size_t j = i + 1; j < causes.size(); ++j) {
      // What lies behind the other is not there with it.
      if ((needs[i] >> j & 1U) != 0 || (needs[j] >> i & 1U) != 0) continue;
      // A difference of shares, which may be less than nothing.
      Finding both = with_interval(finding_of(stack_part_name, bar, "share", stack_view_shapley),
                                   fmt::format("{} + {}", label_of(causes[i]), label_of(causes[j])),
                                   ablation.interactions[i][j], ablation.none.ns);
      both.name = stack_interaction_name;
      both.method = "interaction cost";
      findings.push_back(std::move(both));
    }
  }
}

/// "taking compute data away costs 3.7 % of the time", of every cause of which that is sure.
std::string costs_of_taking(const Ablation& ablation, std::span<const Cause> causes) {
  std::string costs;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const Cost& cost = ablation.factors[i];
    if (!cost.is_resolved || cost.ns >= 0.0) continue;
    costs += fmt::format("{}removing {} costs {:.1f} % of the time", costs.empty() ? "" : ", ",
                         label_of(causes[i]), -100.0 * cost.ns / ablation.none.ns);
  }
  return costs;
}

/// The largest cause, and its part of what those save that save time. Of the time that all together
/// take away it could be more than the whole: some causes cost time to take away, and the values
/// add up with these in it.
void add_first(std::string_view bar, const Ablation& ablation, std::span<const Cause> causes,
               std::vector<Finding>& findings) {
  const auto largest = std::max_element(ablation.factors.begin(), ablation.factors.end(),
                                        [](const Cost& a, const Cost& b) { return a.ns < b.ns; });
  const double saved_ns =
      std::accumulate(ablation.factors.begin(), ablation.factors.end(), 0.0,
                      [](double sum, const Cost& each) { return sum + std::max(0.0, each.ns); });
  Finding first = finding_of(stack_first_name, bar, "share", stack_view_shapley);
  const Cause cause = causes[static_cast<std::size_t>(largest - ablation.factors.begin())];
  if (!is_possible(*largest, ablation.none.ns)) {
    first.reason = impossible(label_of(cause), "take", *largest, ablation.none.ns);
  } else if (largest->is_resolved && largest->ns > 0.0) {
    first.label = label_of(cause);
    first.value = largest->ns / saved_ns;
    // What the others save is as uncertain as what this one does: no more than the whole is said.
    first.low = largest->interval.low / saved_ns;
    first.high = std::max(*first.value, std::min(1.0, largest->interval.high / saved_ns));
    first.reason = costs_of_taking(ablation, causes);
  } else {
    first.reason = "no cause differs from 0 by more than two sigma";
  }
  findings.push_back(std::move(first));
}

/// What no cause accounts for: issue, where that is known, and what is unattributed.
void add_rest(std::string_view bar, const Ablation& ablation, const std::optional<Ablation>& rest,
              std::vector<Finding>& findings) {
  if (rest) findings.push_back(share_of(bar, issue_label, rest->all, ablation.none.ns));
  const Cost& unattributed = rest ? rest->factors.front() : ablation.all;
  findings.push_back(share_of(bar, stack_remainder, unattributed, ablation.none.ns));
}

Finding without_share(std::string_view bar, std::string_view reason) {
  return without_value(stack_part_name, bar, stack_view_shapley, reason, "share");
}

}  // namespace

std::int64_t crowd_of(const Point& point) { return point.parameters.integer_or(crowd_name, 0); }

bool is_whole_kernel(const Point& point) {
  const bool is_as_it_is = point.parameters.integer_or("idealised", 0) == 0;
  return is_as_it_is && !noise_of(point) && phase_of(point).empty() && crowd_of(point) == 0;
}

void add_ablation(std::string_view bar, const Points& points, const DeviceInfo& device,
                  std::vector<Finding>& findings) {
  const std::size_t first = findings.size();
  try {
    const std::vector<Cause> causes = causes_in(shape_of<Ablated>(*points.front()).factors);
    const std::vector<AblationBuild> builds = builds_in(points, device);
    const std::vector<std::uint32_t> needs = needs_of(causes);
    const Ablation ablation = attribute_time(builds, causes.size(), {.needs = needs});
    if (!(ablation.none.ns > 0.0)) throw AblationError("the kernel has no measurable time");
    findings.push_back(time_of(bar, points, device, ablation));
    for (std::size_t i = 0; i < causes.size(); ++i) {
      findings.push_back(share_of(bar, label_of(causes[i]), ablation.factors[i], ablation.none.ns));
    }
    add_rest(bar, ablation, split_rest(without_causes(builds), points, device), findings);
    add_first(bar, ablation, causes, findings);
    add_interactions(bar, ablation, causes, needs, findings);
    add_noise(bar, points, device, ablation, causes, findings);
    if (auto bound = find_latency_bound(bar, std::span(findings).subspan(first))) {
      findings.push_back(std::move(*bound));
    }
  } catch (const AblationError& error) {
    findings.push_back(without_share(bar, error.what()));
  } catch (const std::out_of_range& error) {
    findings.push_back(
        without_share(bar, fmt::format("the points come from another version: {}", error.what())));
  }
  for (std::size_t i = first; i < findings.size(); ++i) {
    findings[i].holds_scatter = findings[i].low.has_value();
  }
}

}  // namespace clprobe::stalls
