// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "clprobe/estimate.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/units.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stalls/causes.hpp"

namespace clprobe::stalls {
namespace {

/// Beside their intervals: a chase of `latency` is by one work-item, this one by a sub-group of
/// each compute unit at once.
constexpr double may_differ = 0.1;

struct Step {
  Cause cause;
  int level;
  std::string_view farther;  ///< an array, by its fact
  std::string_view nearer;
  std::string_view what;
};
constexpr std::array steps{
    Step{Cause::second_cache, 2, "near", "first", "L2 minus L1"},
    Step{Cause::main_memory, 3, "far", "near", "main memory minus L2"},
    Step{Cause::beyond_first, 3, "far", "first", "main memory minus L1"},
};

std::string fact_name(std::string_view array, std::string_view end) {
  return fmt::format("{}_latency_{}ns", array, end);
}

const KnownLatency* latency_of(Bytes set, std::span<const KnownLatency> known) {
  const auto found = std::find_if(known.begin(), known.end(), [set](const KnownLatency& each) {
    return each.up_to.count == 0 || set <= each.up_to;
  });
  return found == known.end() ? nullptr : &*found;
}

/// A time in seconds and what it is at least and at most.
struct Added {
  double value{0.0};
  double low{0.0};
  double high{0.0};
};

/// The part's share of the bar's time, for each of the loads.
std::optional<Added> added_here(std::string_view bar, const Step& step, double loads,
                                std::span<const Finding> findings) {
  const auto is_of = [&](const Finding& each, std::string_view name) {
    return each.name == name && each.series == bar && each.value && each.low && each.high;
  };
  const auto time = std::find_if(findings.begin(), findings.end(),
                                 [&](const Finding& each) { return is_of(each, stack_time_name); });
  const auto part = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
    return is_of(each, stack_part_name) && each.label == label_of(step.cause);
  });
  if (time == findings.end() || part == findings.end()) return std::nullopt;
  const double of_load = *time->value / loads;
  return Added{*part->value * of_load, *part->low * of_load, *part->high * of_load};
}

/// What `latency` found of an array.
std::optional<KnownLatency> latency_in(const Parameters& facts, std::string_view array) {
  const auto ns = number_in(facts, fact_name(array, ""));
  const auto low_ns = number_in(facts, fact_name(array, "low_"));
  const auto high_ns = number_in(facts, fact_name(array, "high_"));
  if (!ns || !low_ns || !high_ns) return std::nullopt;
  return KnownLatency{.ns = *ns, .low_ns = *low_ns, .high_ns = *high_ns};
}

std::optional<Added> added_by_latency(const Step& step, const Parameters& facts) {
  const auto far = latency_in(facts, step.farther);
  const auto near = latency_in(facts, step.nearer);
  if (!far || !near) return std::nullopt;
  return Added{(far->ns - near->ns) / ns_per_second, (far->low_ns - near->high_ns) / ns_per_second,
               (far->high_ns - near->low_ns) / ns_per_second};
}

Finding finding_for(std::string_view name, std::string_view bar, const Step& step,
                    const Added& added, std::string_view method) {
  Finding finding = finding_of(name, bar, "seconds", method, added.value, added.low, added.high);
  finding.level = step.level;
  return finding;
}

bool agree(const Added& here, const Added& latency) {
  const double room = may_differ * std::max(latency.value, 0.0);
  return here.low - room <= latency.high && here.high + room >= latency.low;
}

}  // namespace

void write_latencies(std::span<const KnownLatency> known, const LoadedSets& sets, Point& point) {
  const auto write = [&](std::string_view array, Bytes set) {
    const KnownLatency* const latency = latency_of(set, known);
    if (latency == nullptr) return;
    point.facts.set(fact_name(array, ""), latency->ns);
    point.facts.set(fact_name(array, "low_"), latency->low_ns);
    point.facts.set(fact_name(array, "high_"), latency->high_ns);
  };
  write("far", sets.far);
  write("near", sets.near);
  write("first", sets.first);
}

void add_steps(std::string_view bar, const Point& usual, double loads,
               std::vector<Finding>& findings) {
  bool agrees = true;
  std::string compared;
  for (const Step& step : steps) {
    const auto here = added_here(bar, step, loads, findings);
    if (!here) continue;
    findings.push_back(finding_for(added_name, bar, step, *here, "removing the level"));
    const auto latency = added_by_latency(step, usual.facts);
    if (!latency) continue;
    findings.push_back(finding_for(added_by_latency_name, bar, step, *latency, "latency"));
    agrees = agrees && agree(*here, *latency);
    compared += fmt::format("{}{}: {:.3g} ns per load, {:.3g} ns by the latency probe",
                            compared.empty() ? "" : "; ", step.what, here->value * ns_per_second,
                            latency->value * ns_per_second);
  }
  if (compared.empty()) return;
  Finding verdict =
      finding_of(as_latency_name, bar, "", "agreement within both intervals plus 10 %");
  verdict.label = agrees ? latency_agrees : latency_doubts;
  verdict.reason = std::move(compared);
  findings.push_back(std::move(verdict));
}

}  // namespace clprobe::stalls
