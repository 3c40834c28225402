// SPDX-License-Identifier: Apache-2.0
// Collects the times of a kernel from its points for the analysis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

using prelude::Possibility;
using prelude::Setting;

struct Measured {
  Shape shape{};
  const Point* point{nullptr};
  Visits visits_ns{};
};

std::vector<Measured> measured_launches(const DeviceInfo& device, std::span<const Point> points,
                                        const std::string& label) {
  std::vector<Measured> all;
  for (const Point& point : points) {
    if (label_of(point.series) != label || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    if (!shape) continue;
    Measured each{*shape, &point, access_times_by_visit_ns(point, device)};
    if (!each.visits_ns.empty()) all.push_back(std::move(each));
  }
  return all;
}

const Measured* find_variant(const std::vector<Measured>& all, Variant variant) {
  const auto found = std::find_if(all.begin(), all.end(), [variant](const Measured& each) {
    return each.shape.variant == variant;
  });
  return found == all.end() ? nullptr : &*found;
}

Visits visits_of(const Measured* measured) {
  return measured == nullptr ? Visits{} : measured->visits_ns;
}

std::uint64_t count_in(const Measured& measured, std::string_view fact) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, measured.point->facts.integer_or(fact, 0)));
}

const Measured* find_setting(const std::vector<Measured>& all, const Setting& setting) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Measured& each) {
    return each.shape.variant == Variant::instrumented && each.shape.setting == setting;
  });
  return found == all.end() ? nullptr : &*found;
}

/// Returns a setting with the working-set reduction of `setting` that removes no other cause.
Setting folding_of(const Setting& setting) { return {.exponents = setting.exponents}; }

FactorVerdicts verdicts_in(const Parameters& facts) {
  FactorVerdicts verdicts;
  for (std::size_t i = 0; i < factor_count; ++i) {
    if (factor_rows.at(i).verdict == nullptr) verdicts.at(i) = {Possibility::not_present, {}};
    const std::string reason = facts.text_or(absence_of(factor_rows.at(i).cause.name), "");
    if (reason.empty()) continue;
    const bool is_absent = reason == not_present;
    verdicts.at(i) = {is_absent ? Possibility::not_present : Possibility::refused,
                      is_absent ? std::string() : reason};
  }
  return verdicts;
}

/// Returns the working-set reduction that builds without memory use: the reduction that is combined
/// with the removal of other factors, otherwise the fastest reduction.
std::optional<Setting> chosen_folding(const std::vector<Measured>& all, const KernelTimes& times) {
  const std::optional<Folding> folding = find_folding(times.sweep, times.folding);
  std::optional<Setting> fastest;
  for (const Measured& each : all) {
    const Setting& setting = each.shape.setting;
    if (each.shape.variant != Variant::instrumented || !is_folded(setting)) continue;
    if (setting != folding_of(setting)) return folding_of(setting);
    if (folding && each.shape.distinct_groups == folding->fastest_groups) fastest = setting;
  }
  return fastest;
}

Setting setting_without(const std::vector<Factor>& factors, std::uint32_t bits,
                        const Setting& folding) {
  Setting setting;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if ((bits >> i & 1U) == 0) continue;
    const FactorRow& row = row_of(factors[i]);
    if (row.without == nullptr) setting.exponents = folding.exponents;
    if (row.without != nullptr) setting.*row.without = true;
  }
  return setting;
}

/// Returns the builds of all sets of removable factors; empty if a build is missing.
std::vector<AblationBuild> builds_of(const std::vector<Measured>& all,
                                     const FactorVerdicts& verdicts, const Setting& folding) {
  const std::vector<Factor> factors = removable(verdicts);
  const std::vector<std::uint32_t> needs = needs_of(factors);
  std::vector<AblationBuild> builds;
  for (std::uint32_t bits = 0; bits < 1U << factors.size(); ++bits) {
    if (!is_reachable(bits, needs)) continue;
    const Measured* const found = find_setting(all, setting_without(factors, bits, folding));
    if (found == nullptr) return {};
    builds.push_back({bits, found->visits_ns});
  }
  return builds;
}

std::vector<double> log_ratios_in(const Parameters& facts) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < max_ratios; ++i) {
    const std::optional<double> ratio = share_in(facts, fact_at(ratio_fact, i));
    if (ratio && *ratio > 0.0) logs.push_back(std::log(*ratio));
  }
  return logs;
}

void refuse(Factor factor, KernelTimes& times) {
  prelude::Verdict& verdict = times.verdicts.at(static_cast<std::size_t>(factor));
  if (verdict.possibility != Possibility::usable) return;
  verdict = {Possibility::refused, "some launches without this cause were not measured"};
}

/// Refuses factors until `find_builds` returns the builds of all sets of the remaining factors.
void add_all_builds(const std::function<std::vector<AblationBuild>()>& find_builds,
                    KernelTimes& times) {
  times.builds = find_builds();
  for (const Factor each : {Factor::functions, Factor::fences, Factor::lanes, Factor::atomics,
                            Factor::local_memory, Factor::barriers, Factor::memory}) {
    if (!times.builds.empty()) return;
    refuse(each, times);
    times.builds = find_builds();
  }
}

void add_builds(const std::vector<Measured>& all, KernelTimes& times) {
  const std::optional<Setting> folding = chosen_folding(all, times);
  if (!folding) refuse(Factor::memory, times);
  const prelude::Verdict& memory = times.verdicts.at(static_cast<std::size_t>(Factor::memory));
  if (memory.possibility != Possibility::usable) refuse(Factor::lanes, times);
  add_all_builds([&] { return builds_of(all, times.verdicts, folding.value_or(Setting{})); },
                 times);
}

const Measured* find_rewritten(const std::vector<Measured>& all, const Shape& wanted) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Measured& each) {
    return each.shape.variant == Variant::rewritten && each.shape.removed == wanted.removed &&
           each.shape.setting == wanted.setting;
  });
  return found == all.end() ? nullptr : &*found;
}

/// Makes the launches comparable to the plain launch if the kernel takes clearly more or less time
/// only because its branches are replayed. Less time means that branches otherwise wait for loads,
/// so the difference belongs to memory. With more time, the gains are lower bounds.
void adjust_for_replay(KernelTimes& times) {
  const double plain = typical_ns(times.plain_ns);
  const double ratio = typical_ns(times.identity_ns) / plain;
  if (ratio <= max_instrument_ratio && ratio >= 1.0 / max_instrument_ratio) return;
  times.is_adjusted = true;
  const std::vector<Factor> factors = removable(times.verdicts);
  const bool has_memory = !factors.empty() && factors.front() == Factor::memory;
  for (AblationBuild& each : times.builds) {
    const bool lacks_memory = has_memory && (each.idealised & 1U) != 0;
    if (ratio > 1.0 && typical_ns(each.visits_ns) > plain) each.visits_ns = times.plain_ns;
    if (ratio > 1.0 || lacks_memory) continue;
    for (std::vector<double>& visit : each.visits_ns) {
      for (double& ns : visit) ns /= ratio;
    }
  }
  if (ratio < 1.0) return;
  for (const Factor each : factors) {
    times.kept[each] = fmt::format(
        "at least: with replayed branches, the kernel takes {:.2f} times as long even before "
        "clprobe removes anything",
        ratio);
  }
}

/// Replaces the times of the instrumented kernel by those of the rewritten kernel, if the rewritten
/// kernel was launched.
void use_rewritten(const std::vector<Measured>& all, const Parameters& facts, KernelTimes& times) {
  const Measured* const identity = find_rewritten(all, {});
  if (identity == nullptr) return;
  times.is_rewritten = true;
  // Concurrent launches use the instrumented text, whose time must be near the plain time.
  const double ratio =
      times.identity_ns.empty() ? 0.0 : typical_ns(times.identity_ns) / typical_ns(times.plain_ns);
  if (ratio > max_instrument_ratio || ratio < 1.0 / max_instrument_ratio) {
    times.concurrent_runs.reset();
  }
  times.identity_ns = identity->visits_ns;
  times.log_ratios = log_ratios_in(identity->point->facts);
  times.verdicts = rewriting_verdicts(facts);
  times.kept = kept_instructions(facts);
  const auto visits_without = [&all](ptx::Part part) {
    Shape shape;
    shape.removed.set(ptx::index_of(part));
    return visits_of(find_rewritten(all, shape));
  };
  times.without_loads_ns = visits_without(ptx::Part::loads);
  times.without_stores_ns = visits_without(ptx::Part::stores);
  const std::vector<Removal> removals = removals_in(facts);
  add_all_builds(
      [&] {
        const std::vector<Factor> factors = removable(times.verdicts);
        std::vector<Removal> left;
        std::copy_if(
            removals.begin(), removals.end(), std::back_inserter(left), [&](const Removal& each) {
              return std::find(factors.begin(), factors.end(), each.factor) != factors.end();
            });
        std::vector<AblationBuild> builds;
        for (std::uint32_t bits = 0; bits < 1U << left.size(); ++bits) {
          const Measured* const found = find_rewritten(all, shape_without(left, bits));
          if (found == nullptr) return std::vector<AblationBuild>{};
          builds.push_back({bits, found->visits_ns});
        }
        return builds;
      },
      times);
  if (facts.find(replayed_fact) != nullptr) adjust_for_replay(times);
}

std::optional<ConcurrentRuns> concurrent_runs_in(const DeviceInfo& device,
                                                 const std::vector<Measured>& all,
                                                 std::span<const Point> points,
                                                 const std::string& label) {
  ConcurrentRuns runs{.units = units_of(device)};
  for (const Point& point : points) {
    if (label_of(point.series) != label || point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    if (shape && is_concurrent(shape->variant) && runs.refusal.empty()) {
      runs.refusal = point.failure;
    }
  }
  const Measured* const copies = find_variant(all, Variant::copies);
  const Measured* const loads = find_variant(all, Variant::next_to_loads);
  const Measured* const any = copies != nullptr ? copies : loads;
  if (any == nullptr && runs.refusal.empty()) return std::nullopt;
  runs.copies_ns = visits_of(copies);
  runs.next_to_loads_ns = visits_of(loads);
  if (any != nullptr) runs.alone_ns = visits_of(find_setting(all, any->shape.setting));
  for (const Measured& each : all) {
    if (each.shape.variant != Variant::resident || each.shape.padding_eighths != 0) continue;
    runs.groups = each.shape.groups;
    runs.resident_groups = count_in(each, resident_fact);
  }
  return runs;
}

}  // namespace

std::optional<KernelOccupancy> gather_occupancy(const DeviceInfo& device,
                                                std::span<const Point> points,
                                                const std::string& label) {
  const std::vector<Measured> all = measured_launches(device, points, label);
  const Measured* const plain = find_variant(all, Variant::plain);
  std::vector<ResidentTime> times;
  const Measured* own = nullptr;  // launch with minimum padding
  for (const Measured& each : all) {
    if (each.shape.variant != Variant::resident) continue;
    times.push_back({count_in(each, resident_fact), count_in(each, padding_fact), each.visits_ns});
    if (own == nullptr || each.shape.padding_eighths < own->shape.padding_eighths) own = &each;
  }
  if (plain == nullptr) return std::nullopt;
  KernelOccupancy filled{.groups = plain->shape.groups, .units = units_of(device)};
  if (own == nullptr) return filled;
  const double ratio = typical_ns(own->visits_ns) / typical_ns(plain->visits_ns);
  if (!(ratio <= max_instrument_ratio && ratio >= 1.0 / max_instrument_ratio)) {
    filled.doubt = fmt::format(
        "with clprobe's instrumentation the kernel takes {:.2f} times as long, so the count of "
        "resident groups would describe a different kernel",
        ratio);
    return filled;
  }
  filled.occupancy = find_occupancy(times);
  if (filled.occupancy && runs_items_in_turn(device)) {
    filled.occupancy->fewer = {.state = CauseState::not_present,
                               .reason = "a CPU core runs one work-group at a time"};
  }
  filled.tail = find_tail(filled.groups, count_in(*own, resident_fact), own->visits_ns,
                          visits_of(find_variant(all, Variant::whole_waves)));
  filled.starting = find_starting(own->visits_ns, visits_of(find_variant(all, Variant::ending)));
  return filled;
}

KernelTimes gather_times(const DeviceInfo& device, std::span<const Point> points,
                         const std::string& label) {
  KernelTimes times;
  const std::vector<Measured> all = measured_launches(device, points, label);
  const Measured* const plain = find_variant(all, Variant::plain);
  if (plain == nullptr) return times;
  times.plain_ns = plain->visits_ns;
  const Parameters& facts = plain->point->facts;
  times.verdicts = verdicts_in(facts);
  times.folding.buffer_bytes = number_in(facts, buffer_bytes_fact).value_or(0.0);
  times.folding.last_cache_bytes = number_in(facts, last_cache_fact);
  if (runs_items_in_turn(device)) times.folding.min_groups = units_of(device);
  for (const Measured& each : all) {
    const Setting& setting = each.shape.setting;
    if (each.shape.variant != Variant::instrumented || setting != folding_of(setting)) continue;
    if (!is_folded(setting)) {
      times.identity_ns = each.visits_ns;
      times.log_ratios = log_ratios_in(each.point->facts);
    }
    if (each.shape.distinct_groups > 0) {
      times.sweep.push_back({each.shape.distinct_groups, each.visits_ns});
    }
  }
  times.rewriting_refusal = facts.text_or(rewriting_absence, "");
  if (!times.identity_ns.empty()) add_builds(all, times);
  times.concurrent_runs = concurrent_runs_in(device, all, points, label);
  use_rewritten(all, facts, times);
  return times;
}

}  // namespace clprobe::kernel
