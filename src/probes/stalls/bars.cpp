// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "analysis/api/ablation.hpp"
#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {
namespace {

/// Returns the ticks of a phase per iteration, one number per sample.
std::vector<double> ticks_of(const Points& points, std::string_view phase) {
  std::vector<double> ticks;
  for (const Point* const point : points) {
    if (phase_of(*point) != phase || !point->failure.empty()) continue;
    for (const Sample& sample : point->samples) {
      if (!sample.ticks || sample.accesses == 0) continue;
      ticks.push_back(static_cast<double>(*sample.ticks) / static_cast<double>(sample.accesses));
    }
  }
  return ticks;
}

/// Share of a bar's time, with the quartiles of the samples.
struct Share {
  double value{0.0};
  Interval interval{};
};

/// Returns the share of a tail in the span of the whole launch. A tail is the time from the end of
/// a part to the end of the last part. A launch without a tail gives a share of 0.
std::optional<Share> tail_of(const Points& points, std::string_view phase) {
  const std::vector<double> tail = ticks_of(points, phase);
  const std::vector<double> span = ticks_of(points, phase_span);
  if (tail.empty() || span.empty() || !(median(span) > 0.0)) return std::nullopt;
  const auto share = [&](double ticks) { return std::min(ticks / median(span), 1.0); };
  return Share{share(median(tail)), {share(quantile(tail, 0.25)), share(quantile(tail, 0.75))}};
}

Finding part_of(std::string_view bar, std::string_view label, const Share& share) {
  // The slowest sample of a phase may exceed the median of the whole time, so the high end is
  // limited to 1.
  Finding part = finding_of(stack_part_name, bar, "share", stack_view_clock, share.value,
                            share.interval.low, std::min(share.interval.high, 1.0));
  part.label = label;
  return part;
}

const Finding* find_in(std::span<const Finding> findings, std::string_view bar,
                       std::string_view name) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.series == bar && each.name == name;
  });
  return found == findings.end() ? nullptr : &*found;
}

/// Returns the free share of the busiest resource, by the low ends of the intervals. Returns 0 if
/// the share of any resource is unknown.
double free_of_busiest(std::string_view bar, std::span<const Finding> findings) {
  double least = 1.0;
  std::size_t known = 0;
  for (const Finding& each : findings) {
    if (each.series != bar || each.name != stack_absorbed_name) continue;
    if (!each.value) return 0.0;
    least = std::min(least, each.low.value_or(*each.value));
    ++known;
  }
  return known == std::size(all_noise) ? least : 0.0;
}

constexpr std::string_view issue_label = "no stall: issue";
constexpr std::string_view no_first_cause = "the largest saving does not differ clearly from 0";
constexpr std::string_view not_resolved = "not resolved: the interval includes 0";
static_assert(not_resolved.starts_with(stack_not_resolved));

/// Tolerance for differences between builds, as a share of the time. Builds differ in registers and
/// addresses of instructions, not only in causes. On GPUs, whose times scatter by 0.1 %, such
/// differences reached 3.7 % of the time.
constexpr double builds_differ = 0.05;

/// Returns true if the cost is 0 to 100 % of the time. The cost may exceed this range by the larger
/// of its sigma and the tolerance for builds.
bool is_possible(const Cost& cost, double all_ns) {
  const double room = std::max(cost.sigma_ns, builds_differ * all_ns);
  return cost.ns >= -room && cost.ns <= all_ns + room;
}

/// Returns the reason of an unknown share. The share is unknown if removing the cause slowed the
/// kernel down, or saved more time than the whole kernel takes.
std::string impossible(std::string_view label, std::string_view verb, const Cost& cost,
                       double all_ns) {
  const double percent = 100.0 / all_ns;
  const std::string_view what = cost.ns < 0.0 ? "below 0 %" : "above 100 %";
  return fmt::format("not known: {} would {} {:.1f} ±{:.1f} % of the time, which is {}", label,
                     verb, cost.ns * percent, cost.sigma_ns * percent, what);
}

Finding with_interval(Finding finding, std::string_view label, const Cost& cost, double all_ns) {
  finding.label = label;
  finding.value = cost.ns / all_ns;
  finding.low = cost.interval.low / all_ns;
  finding.high = cost.interval.high / all_ns;
  if (!cost.is_resolved) finding.reason = not_resolved;
  return finding;
}

/// Returns the finding with the cost as a share of `all_ns`. A share outside 0 to 1 by more than
/// the tolerance becomes a reason without a value. Other shares above 1 become 1.
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

/// Returns the point of the kernel with all causes; null if the point was not measured.
const Point* whole_kernel(const Points& points) {
  const auto at = std::find_if(points.begin(), points.end(),
                               [](const Point* each) { return is_whole_kernel(*each); });
  return at == points.end() ? nullptr : *at;
}

/// Returns the kernel's time. On a CPU, only the best visits count: two cores of a virtual machine
/// may share one physical core for a whole visit.
Finding time_of(std::string_view bar, const Points& points, const DeviceInfo& device,
                const Ablation& ablation) {
  const Point* const whole = whole_kernel(points);
  if (whole != nullptr) {
    if (auto best = cpu_time_finding(bar, *whole, device)) return *std::move(best);
  }
  return time_finding(bar, ablation.none.ns, ablation.none.interval, "median of the faster half");
}

const AblationBuild& without_causes(const std::vector<AblationBuild>& builds) {
  return *std::max_element(
      builds.begin(), builds.end(),
      [](const AblationBuild& a, const AblationBuild& b) { return a.idealised < b.idealised; });
}

/// Divides the time that remains with all causes removed. The result's `all` is the time per group
/// of a launch with additional groups, which fill the gaps of a group. The only factor is the time
/// of the gaps. Returns nothing if no launch with additional groups was measured.
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

/// Returns the kinds of noise for which enough amounts were measured.
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
      continue;  // too few points, because the run was cut short
    }
  }
  return kinds;
}

constexpr std::string_view not_decisive =
    "inconclusive: too little noise, or the noise itself added a delay";

void add_noise(std::string_view bar, const Points& points, const DeviceInfo& device,
               std::vector<Finding>& findings) {
  for (const auto& [name, kind] : noise_in(points, device)) {
    const Interval& interval = kind.absorption.share_interval;
    // A 95 % interval extends 1.96 sigma to each side.
    const Cost free{.ns = kind.absorption.share,
                    .interval = interval,
                    .sigma_ns = (interval.high - interval.low) / 3.92,
                    .is_resolved = true};
    Finding absorbed = within_whole(finding_of(stack_absorbed_name, bar, "share", "noise"), name,
                                    "be free", free, 1.0);
    if (!absorbed.value) {
      // within_whole() has set the reason for the unknown value.
    } else if (!kind.absorption.is_found) {
      absorbed.reason = "the kernel absorbed all the noise, so the share is a lower bound";
    } else if (!kind.absorption.is_decisive &&
               kind.absorption.share_interval.high < saturated_share) {
      absorbed.reason = not_decisive;
    }
    findings.push_back(std::move(absorbed));
  }
  findings.push_back(finding_of(noise_verdict_name, bar, "", "noise"));
}

/// Returns the noise of a bar by its findings. A share without a value may be any share.
std::vector<NoiseKind> noise_in(std::string_view bar, std::span<const Finding> findings) {
  std::vector<NoiseKind> kinds;
  for (const Finding& each : findings) {
    const bool is_own = each.series == bar && each.name == stack_absorbed_name;
    if (!is_own || std::ranges::find(all_noise, each.label) == std::end(all_noise)) continue;
    kinds.push_back({resource_of_noise(each.label),
                     {.is_found = each.value.has_value(),
                      .share_interval = {each.low.value_or(0.0), each.high.value_or(1.0)},
                      .is_decisive = each.reason != not_decisive}});
  }
  return kinds;
}

/// Removes the value and the label of a first cause whose saving is not resolved.
void decide_first(Finding& first, std::span<const Finding> findings) {
  const bool is_unresolved = std::ranges::any_of(findings, [&](const Finding& each) {
    return each.series == first.series && each.method == first.method &&
           each.label == first.label && is_unresolved_share(each);
  });
  if (!first.value || !is_unresolved) return;
  for (auto* const each : {&first.value, &first.low, &first.high}) each->reset();
  first.disturbance = 0.0;
  first.label.clear();
  first.reason = no_first_cause;
}

void decide_noise(Finding& noise, std::span<const Finding> findings) {
  const Finding* const first = find_in(findings, noise.series, stack_first_name);
  const auto cause = first == nullptr ? std::nullopt : cause_called(first->label);
  const Agreement agreement =
      cause ? compare_with_noise(resource_of(*cause), noise_in(noise.series, findings))
            : Agreement{NoiseVerdict::unknown,
                        "the largest cause is unknown, so noise cannot confirm it"};
  constexpr std::string_view words[]{noise_agrees, "inconclusive", "not known"};
  noise.label = words[static_cast<std::size_t>(agreement.verdict)];
  noise.reason = agreement.reason;
}

void add_interactions(std::string_view bar, const Ablation& ablation, std::span<const Cause> causes,
                      std::span<const std::uint32_t> needs, std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < causes.size(); ++i) {
    for (std::size_t j = i + 1; j < causes.size(); ++j) {
      // Two causes do not interact if one of them can be removed only after the other cause.
      if ((needs[i] >> j & 1U) != 0 || (needs[j] >> i & 1U) != 0) continue;
      const Cost& cost = ablation.interactions[i][j];
      if (!cost.is_resolved) continue;
      // The interaction is a difference of shares, so its value may be negative.
      Finding both = with_interval(finding_of(stack_part_name, bar, "share", stack_view_shapley),
                                   fmt::format("{} + {}", label_of(causes[i]), label_of(causes[j])),
                                   cost, ablation.none.ns);
      both.name = stack_interaction_name;
      both.method = "interaction cost";
      findings.push_back(std::move(both));
    }
  }
}

/// Returns a text for the causes whose removal costs time, such as "removing compute data slows the
/// kernel by 3.7 %". Unresolved costs are left out.
std::string costs_of_removal(const Ablation& ablation, std::span<const Cause> causes) {
  std::string costs;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const Cost& cost = ablation.factors[i];
    if (!cost.is_resolved || cost.ns >= 0.0) continue;
    costs += fmt::format("{}removing {} slows the kernel by {:.1f} %", costs.empty() ? "" : ", ",
                         label_of(causes[i]), -100.0 * cost.ns / ablation.none.ns);
  }
  return costs;
}

/// Adds the largest cause as a share of the sum of all positive savings. The saving of all causes
/// together would be no basis. Some removals cost time, so a single cause may save more than all
/// causes together.
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
    // The savings of the other causes are uncertain as well, so the interval is limited to 1.
    first.low = largest->interval.low / saved_ns;
    first.high = std::max(*first.value, std::min(1.0, largest->interval.high / saved_ns));
    first.reason = costs_of_removal(ablation, causes);
  } else {
    first.reason = no_first_cause;
  }
  findings.push_back(std::move(first));
}

/// Adds the time that no cause explains: the issue of instructions, if measured, and the
/// unattributed rest.
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

std::string phase_of(const Point& point) { return point.parameters.text_or("phase", ""); }

Finding time_finding(std::string_view bar, double ns, const Interval& interval,
                     std::string_view method) {
  return finding_of(stack_time_name, bar, "seconds", method, ns / ns_per_second,
                    interval.low / ns_per_second, interval.high / ns_per_second);
}

std::optional<Finding> cpu_time_finding(std::string_view bar, const Point& point,
                                        const DeviceInfo& device) {
  if (!runs_items_in_turn(device)) return std::nullopt;
  const std::optional<Estimate> best = estimate_of_best(point, device);
  if (!best) return std::nullopt;
  return time_finding(bar, best->ns, best->ns_interval, "best visits");
}

std::optional<Estimate> phase_time(const Points& points, std::string_view phase,
                                   const DeviceInfo& device) {
  for (const Point* const point : points) {
    if (phase_of(*point) != phase || !point->failure.empty()) continue;
    return estimate(*point, device);
  }
  return std::nullopt;
}

std::vector<PhaseTime> phase_times(const Points& points, const DeviceInfo& device,
                                   std::span<const PhaseLabel> labels) {
  std::vector<PhaseTime> times;
  for (const PhaseLabel& each : labels) {
    if (const auto time = phase_time(points, each.phase, device)) {
      times.push_back({each.label, *time});
    }
  }
  return times;
}

void add_clock_parts(std::string_view bar, std::span<const PhaseTime> times, double min_all_ns,
                     const Points& points, std::vector<Finding>& findings) {
  double all_ns = 0.0;
  for (const PhaseTime& each : times) all_ns += each.time.ns;
  all_ns = std::max(all_ns, min_all_ns);
  std::optional<Share> tail = tail_of(points, phase_tail);
  const std::optional<Share> longest = tail_of(points, phase_longest_tail);
  if (tail && longest) {
    // Different launches measure the two tails, and a busy host may delay only one launch.
    tail->value = std::min(tail->value, longest->value);
    tail->interval.low = std::min(tail->interval.low, tail->value);
  }
  if (!(all_ns > 0.0) && !tail) return;
  const double before_tail = tail ? 1.0 - tail->value : 1.0;
  double covered = 0.0;
  for (const PhaseTime& each : times) {
    const double scale = before_tail / all_ns;
    findings.push_back(
        part_of(bar, each.label,
                {each.time.ns * scale,
                 {each.time.ns_interval.low * scale, each.time.ns_interval.high * scale}}));
    covered += *findings.back().value;
  }
  if (tail) {
    findings.push_back(part_of(bar, "idle: tail", *tail));
    covered += tail->value;
  }
  if (longest) {
    findings.push_back(finding_of(longest_tail_name, bar, "share", stack_view_clock, longest->value,
                                  longest->interval.low, longest->interval.high));
  }
  Finding rest = finding_of(stack_part_name, bar, "share", stack_view_clock);
  rest.label = stack_remainder;
  rest.value = 1.0 - covered;
  if (std::abs(*rest.value) > 1e-6) findings.push_back(std::move(rest));
}

std::optional<Estimate> paired_phase_time(const Points& points, std::string_view phase,
                                          const DeviceInfo& device) {
  std::vector<double> times = ticks_of(points, phase);
  if (times.empty() || !(device.clock.ticks_per_ns > 0.0)) return std::nullopt;
  for (double& each : times) {
    each = std::max(0.0, each - static_cast<double>(device.clock.overhead_ticks)) /
           device.clock.ticks_per_ns;
  }
  return Estimate{median(times), {quantile(times, 0.25), quantile(times, 0.75)}, {}};
}

std::optional<Finding> find_latency_bound(std::string_view bar, std::span<const Finding> findings) {
  constexpr double min_free = 0.2;
  constexpr std::string_view waits_for = "memory data";
  const Finding* const first = find_in(findings, bar, stack_first_name);
  const Finding* const noise = find_in(findings, bar, noise_verdict_name);
  if (first == nullptr || !first->value || !first->label.starts_with(waits_for)) {
    return std::nullopt;
  }
  if (noise == nullptr || noise->label != noise_agrees) return std::nullopt;
  const double free = free_of_busiest(bar, findings);
  if (free < min_free) return std::nullopt;
  Finding bound = finding_of("advice", bar, "", "noise");
  bound.label = fmt::format(
      "bound by latency: {} is the largest cause, and each resource is free for a part of the "
      "time. More loads in flight would make the kernel faster, but a faster resource alone would "
      "not",
      waits_for);
  return bound;
}

void combine(std::vector<Finding>& findings) {
  for (Finding& each : findings) {
    if (is_unresolved_share(each) && each.reason.empty()) {
      each.reason = not_resolved;
    }
    if (each.name == stack_first_name) decide_first(each, findings);
    if (each.name == noise_verdict_name) decide_noise(each, findings);
  }
  for (auto each = findings.begin(); each != findings.end();) {
    const bool is_kept = each->name != "advice" || find_latency_bound(each->series, findings);
    each = is_kept ? std::next(each) : findings.erase(each);
  }
}

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
    if (!(ablation.none.ns > 0.0)) throw AblationError("the kernel took no measurable time");
    findings.push_back(time_of(bar, points, device, ablation));
    for (std::size_t i = 0; i < causes.size(); ++i) {
      findings.push_back(share_of(bar, label_of(causes[i]), ablation.factors[i], ablation.none.ns));
    }
    add_rest(bar, ablation, split_rest(without_causes(builds), points, device), findings);
    add_first(bar, ablation, causes, findings);
    add_interactions(bar, ablation, causes, needs, findings);
    add_noise(bar, points, device, findings);
    decide_noise(findings.back(), findings);
    if (auto bound = find_latency_bound(bar, findings)) findings.push_back(*std::move(bound));
  } catch (const AblationError& error) {
    findings.push_back(without_share(bar, error.what()));
  } catch (const std::out_of_range& error) {
    findings.push_back(without_share(
        bar, fmt::format("the points come from another version of clprobe: {}", error.what())));
  }
  for (std::size_t i = first; i < findings.size(); ++i) {
    findings[i].holds_scatter = findings[i].low.has_value();
  }
}

}  // namespace clprobe::stalls
