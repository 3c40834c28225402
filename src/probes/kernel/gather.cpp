// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

using prelude::Setting;

struct Measured {
  Shape shape{};
  const Point* point{nullptr};
  Visits visits_ns{};
};

std::vector<Measured> measured_of(const DeviceInfo& device, std::span<const Point> points,
                                  const std::string& label) {
  std::vector<Measured> all;
  for (const Point& point : points) {
    if (label_of(point.series) != label || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    // The program's own launch is compared behind cold caches alone.
    if (!shape || (shape->caches != Caches::cold && !is_folded(shape->setting))) continue;
    Measured each{*shape, &point, access_times_by_visit_ns(point, device)};
    if (!each.visits_ns.empty()) all.push_back(std::move(each));
  }
  return all;
}

Setting without_switches(Setting setting) {
  for (const RemovableCause& each : removable_causes) setting.*each.without = false;
  return setting;
}

const Measured* find_setting(const std::vector<Measured>& all, const Setting& setting) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Measured& each) {
    return each.shape.text == Text::instrumented && each.shape.setting == setting;
  });
  return found == all.end() ? nullptr : &*found;
}

FactorAbsence absence_by(const std::string& reason) {
  if (reason.empty()) return FactorAbsence::none;
  return reason == not_present ? FactorAbsence::not_present : FactorAbsence::refused;
}

std::vector<KernelFactorState> factors_of(const Point& point) {
  std::vector<KernelFactorState> states;
  for (const auto& each : factor_words) {
    const std::string reason = point.facts.text_or(absence_of(each.word), "");
    states.push_back({each.value, absence_by(reason), reason});
  }
  return states;
}

/// The folding without which memory costs nothing: the one that was chosen when other factors
/// were left out of it, else the one that took the least time.
std::optional<Setting> chosen_folding(const std::vector<Measured>& all, const Gathered& gathered) {
  for (const Measured& each : all) {
    const Setting& setting = each.shape.setting;
    const bool is_switched = setting != without_switches(setting);
    if (each.shape.text == Text::instrumented && is_folded(setting) && is_switched) {
      return without_switches(setting);
    }
  }
  const std::optional<Folding> folding = find_folding(gathered.times.sweep, gathered.folding);
  if (!folding) return std::nullopt;
  for (const Measured& each : all) {
    const bool is_sweep = each.point->series.ends_with(folded_suffix);
    if (is_sweep && each.shape.distinct_groups == folding->fastest_groups) {
      return each.shape.setting;
    }
  }
  return std::nullopt;
}

/// Of the factors with these bits, what the launch has that is without them.
Setting setting_without(const std::vector<KernelFactor>& factors, std::uint32_t bits,
                        const Setting& folding) {
  const auto is_without = [&](KernelFactor factor) {
    const auto found = std::find(factors.begin(), factors.end(), factor);
    return found != factors.end() && (bits >> (found - factors.begin()) & 1U) != 0;
  };
  Setting setting = is_without(KernelFactor::memory) ? folding : Setting{};
  for (const RemovableCause& each : removable_causes) {
    setting.*each.without = is_without(each.factor);
  }
  return setting;
}

/// All of them; empty where one is not there.
std::vector<AblationBuild> builds_of(const std::vector<Measured>& all,
                                     const std::vector<KernelFactorState>& states,
                                     const std::optional<Setting>& folding) {
  const std::vector<KernelFactor> factors = taken_away(states);
  std::vector<AblationBuild> builds;
  const std::vector<std::uint32_t> needs = needs_of(factors);
  for (std::uint32_t bits = 0; bits < 1U << factors.size(); ++bits) {
    if (!is_reachable(bits, needs)) continue;
    const Setting setting = setting_without(factors, bits, folding.value_or(Setting{}));
    const Measured* const found = find_setting(all, setting);
    if (found == nullptr) return {};
    builds.push_back({bits, found->visits_ns});
  }
  return builds;
}

void refuse(std::vector<KernelFactorState>& states, KernelFactor factor) {
  for (KernelFactorState& each : states) {
    if (each.factor != factor || each.absence != FactorAbsence::none) continue;
    each = {factor, FactorAbsence::refused, "some launches without this cause were not measured"};
  }
}

/// A factor goes with the one that has to be gone before it.
void refuse_unreachable(std::vector<KernelFactorState>& states) {
  const std::vector<KernelFactor> taken = taken_away(states);
  const bool has_memory =
      std::find(taken.begin(), taken.end(), KernelFactor::memory) != taken.end();
  if (!has_memory) refuse(states, KernelFactor::lanes);
}

/// Factors are given up, the last ones first, until all launches without the others are there.
void add_builds(const std::vector<Measured>& all, Gathered& gathered) {
  const std::optional<Setting> folding = chosen_folding(all, gathered);
  std::vector<KernelFactorState>& states = gathered.times.factors;
  if (!folding) refuse(states, KernelFactor::memory);
  refuse_unreachable(states);
  gathered.times.builds = builds_of(all, states, folding);
  for (const KernelFactor each :
       {KernelFactor::functions, KernelFactor::fences, KernelFactor::lanes, KernelFactor::atomics,
        KernelFactor::barriers, KernelFactor::memory}) {
    if (!gathered.times.builds.empty()) break;
    refuse(states, each);
    gathered.times.builds = builds_of(all, states, folding);
  }
  if (!folding) return;
  for (const Measured& each : all) {
    const bool is_window = each.shape.text == Text::instrumented &&
                           each.shape.setting.exponents == folding->exponents &&
                           without_switches(each.shape.setting) == each.shape.setting;
    if (is_window) gathered.times.windows_ns.push_back(each.visits_ns);
  }
}

/// All launches with an entry: of all groups by their padding, of whole waves alone, and of one
/// group and of all that end at once.
struct EnteredTimes {
  std::uint64_t groups{0};
  std::vector<ResidentTime> by_padding{};
  Visits whole_waves_ns{};
  Visits one_ending_ns{};
  Visits all_ending_ns{};
};

EnteredTimes entered_in(const std::vector<Measured>& all) {
  EnteredTimes times;
  for (const Measured& each : all) {
    if (each.shape.text != Text::entered || each.shape.beside != Beside::nothing) continue;
    const bool is_whole = each.shape.distinct_groups >= each.shape.groups;
    if (each.shape.ends_at_once) {
      if (is_whole && each.shape.groups > 1) {
        times.all_ending_ns = each.visits_ns;
      } else {
        times.one_ending_ns = each.visits_ns;
      }
      continue;
    }
    if (!is_whole) {
      times.whole_waves_ns = each.visits_ns;
      continue;
    }
    times.groups = each.shape.groups;
    const auto number = [&](std::string_view fact) {
      const std::int64_t value = each.point->facts.integer_or(fact, 0);
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value));
    };
    times.by_padding.push_back({number(resident_fact), number(padding_fact), each.visits_ns});
  }
  std::stable_sort(times.by_padding.begin(), times.by_padding.end(),
                   [](const ResidentTime& a, const ResidentTime& b) {
                     return a.padding_bytes < b.padding_bytes;
                   });
  return times;
}

/// Nothing where nothing was planned beside what is left.
std::optional<BareRuns> bare_runs_in(const DeviceInfo& device, const std::vector<Measured>& all,
                                     std::span<const Point> points, const std::string& label) {
  BareRuns runs{.units = units_of(device)};
  for (const Point& point : points) {
    const bool is_own = label_of(point.series) == label && !point.failure.empty();
    const auto shape = is_own ? find_shape<Shape>(point) : std::nullopt;
    if (shape && shape->text == Text::bare && runs.refusal.empty()) runs.refusal = point.failure;
  }
  for (const Measured& each : all) {
    const Shape& shape = each.shape;
    if (shape.text == Text::entered && shape.padding_eighths == 0 &&
        shape.beside == Beside::nothing) {
      runs.groups = shape.groups;
      runs.resident_groups = static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, each.point->facts.integer_or(resident_fact, 0)));
    }
    if (shape.text != Text::bare) continue;
    (shape.beside == Beside::copies ? runs.copies_ns : runs.beside_loads_ns) = each.visits_ns;
    const Measured* const alone = find_setting(all, shape.setting);
    if (alone != nullptr) runs.alone_ns = alone->visits_ns;
  }
  const bool is_planned =
      !runs.refusal.empty() || !runs.copies_ns.empty() || !runs.beside_loads_ns.empty();
  if (!is_planned) return std::nullopt;
  return runs;
}

std::vector<double> turns_in(const Parameters& facts) {
  std::vector<double> logs;
  for (const std::string_view name : turn_facts) {
    const std::optional<double> ratio = share_in(facts, name);
    if (ratio && *ratio > 0.0) logs.push_back(std::log(*ratio));
  }
  return logs;
}

}  // namespace

std::optional<KernelOccupancy> gather_occupancy(const DeviceInfo& device,
                                                std::span<const Point> points,
                                                const std::string& label) {
  const std::vector<Measured> all = measured_of(device, points, label);
  const auto plain = std::find_if(
      all.begin(), all.end(), [](const Measured& each) { return each.shape.text == Text::own; });
  const EnteredTimes times = entered_in(all);
  if (plain == all.end() || times.by_padding.empty()) return std::nullopt;
  const ResidentTime& as_it_is = times.by_padding.front();
  KernelOccupancy places{.groups = times.groups};
  places.app_share = share_in(plain->point->facts, app_share_fact);
  places.ratio = typical_ns(as_it_is.visits_ns) / typical_ns(plain->visits_ns);
  if (!(places.ratio <= max_instrument_ratio && places.ratio >= 1.0 / max_instrument_ratio)) {
    places.doubt = fmt::format(
        "with clprobe's entry code the kernel takes {:.2f} times as long, so the count would "
        "describe a different kernel",
        places.ratio);
    return places;
  }
  places.occupancy = find_occupancy(times.by_padding);
  if (places.occupancy && runs_items_in_turn(device)) {
    places.occupancy->fewer = {.state = CauseState::not_present,
                               .reason = "a core runs one work-group at a time"};
  }
  places.tail =
      find_tail(times.groups, as_it_is.resident_groups, as_it_is.visits_ns, times.whole_waves_ns);
  places.starting = find_starting(as_it_is.visits_ns, times.one_ending_ns, times.all_ending_ns);
  return places;
}

Gathered gather(const DeviceInfo& device, std::span<const Point> points, const std::string& label) {
  Gathered gathered;
  const std::vector<Measured> all = measured_of(device, points, label);
  if (all.empty()) return gathered;
  const Parameters& facts = all.front().point->facts;
  KernelTimes& times = gathered.times;
  times.factors = factors_of(*all.front().point);
  times.app_share = share_in(facts, app_share_fact);
  gathered.folding.buffer_bytes = number_in(facts, buffer_bytes_fact).value_or(0.0);
  gathered.folding.last_cache_bytes = number_in(facts, last_cache_fact);
  if (runs_items_in_turn(device)) {
    gathered.folding.min_groups = units_of(device);
  }
  for (const Measured& each : all) {
    if (each.shape.text == Text::own) times.plain_ns = each.visits_ns;
    if (each.shape.text == Text::instrumented && each.shape.setting == Setting{}) {
      times.identity_ns = each.visits_ns;
      times.turn_log_ratios = turns_in(each.point->facts);
    }
    const bool is_sweep = each.point->series.ends_with(folded_suffix);
    if (is_sweep && each.shape.distinct_groups > 0) {
      times.sweep.push_back({each.shape.distinct_groups, each.visits_ns});
    }
  }
  if (!times.identity_ns.empty()) add_builds(all, gathered);
  gathered.bare_runs = bare_runs_in(device, all, points, label);
  return gathered;
}

}  // namespace clprobe::kernel
