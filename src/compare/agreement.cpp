// SPDX-License-Identifier: Apache-2.0
#include "clprobe/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "compare/api/disturbance.hpp"

namespace clprobe {
namespace {

// Maximum ratio of two ends that count as one. The probes `latency` and `bandwidth` access the
// working set in different orders, which fills the cache sets differently.
constexpr double end_margin = 1.25;
// Ratio of working set to cache size at which the cache serves almost no accesses.
constexpr double far_beyond = 2.0;

/// One level of a memory, according to one probe.
struct FoundLevel {
  Finding value{};
  std::optional<Interval> end{};  ///< bracket of the level's capacity, if known
  double capacity{0.0};           ///< capacity in bytes; valid if `end` is known
};

struct LevelList {
  ProbeResult* result{nullptr};
  std::string_view probe{};
  SharedQuantity what{};
  std::vector<FoundLevel> levels{};
  /// Largest measured working set in bytes, if the end of a level was not reached; else infinite.
  double measured_to{std::numeric_limits<double>::infinity()};
};

/// Returns the interval of a finding; without an interval, the value as both ends.
Interval interval_of(const Finding& finding) {
  return {finding.low.value_or(*finding.value), finding.high.value_or(*finding.value)};
}

const Finding* find_level(const ProbeResult& result, std::string_view name, std::string_view series,
                          const std::optional<int>& level) {
  const auto found = std::ranges::find_if(result.findings, [&](const Finding& each) {
    return each.name == name && each.series == series && each.level == level && each.value;
  });
  return found == result.findings.end() ? nullptr : &*found;
}

/// Returns the name of the probe's findings of the quantity `wanted` for the series of `what`;
/// empty if the probe declares none.
std::string_view finding_name(const ProbeQuantities& probe, const SharedQuantity& what,
                              Quantity wanted) {
  for (const SharedQuantity& each : probe.quantities) {
    if (each.quantity == wanted && each.series == what.series) return each.finding;
  }
  return {};
}

LevelList levels_of(ProbeResult& result, const ProbeQuantities& probe, const SharedQuantity& what) {
  LevelList list{.result = &result, .probe = probe.probe, .what = what};
  const std::string_view capacity = finding_name(probe, what, Quantity::capacity);
  for (const Finding& each : result.findings) {
    if (each.series != what.series) continue;
    // If the run did not reach the end of a level, the low end of its capacity is the largest
    // measured working set.
    if (each.name == capacity && !each.value && each.low) list.measured_to = *each.low;
    if (each.name != what.finding || !each.value || is_at_one_size(each)) continue;
    FoundLevel level{each, {}};
    const Finding* const end = find_level(result, capacity, what.series, each.level);
    if (end != nullptr) {
      level.end = interval_of(*end);
      level.capacity = *end->value;
    }
    list.levels.push_back(std::move(level));
  }
  std::ranges::stable_sort(list.levels, [](const FoundLevel& a, const FoundLevel& b) {
    return a.value.level.value_or(0) < b.value.level.value_or(0);
  });
  return list;
}

/// Returns all findings of a quantity: one list of levels per series.
std::vector<LevelList> all_levels_of(Run& run, std::span<const ProbeQuantities> all,
                                     Quantity quantity) {
  std::vector<LevelList> lists;
  for (const ProbeQuantities& probe : all) {
    for (ProbeResult& result : run.results) {
      if (result.probe != probe.probe) continue;
      for (const SharedQuantity& each : probe.quantities) {
        if (each.quantity != quantity) continue;
        LevelList list = levels_of(result, probe, each);
        if (!list.levels.empty()) lists.push_back(std::move(list));
      }
    }
  }
  return lists;
}

double middle_of(const Interval& interval) { return std::sqrt(interval.low * interval.high); }

/// Returns a working-set size that surely belongs to level `number`.
double size_within(const LevelList& list, std::size_t number) {
  const std::optional<Interval>& end = list.levels[number].end;
  const bool is_first = number == 0 || !list.levels[number - 1].end;
  if (is_first) return end ? middle_of(*end) / far_beyond : 1.0;
  const double before = middle_of(*list.levels[number - 1].end);
  const double last = end ? middle_of(*end) : list.measured_to;
  return std::isinf(last) ? before * far_beyond : std::sqrt(before * last);
}

/// Returns true if at least one end of level `number`'s range of working sets is known.
bool is_placed(const LevelList& list, std::size_t number) {
  return list.levels[number].end || (number > 0 && list.levels[number - 1].end);
}

const FoundLevel& level_at(const LevelList& list, double size) {
  const auto found = std::ranges::find_if(list.levels, [&](const FoundLevel& each) {
    return !each.end || size <= middle_of(*each.end);
  });
  return found == list.levels.end() ? list.levels.back() : *found;
}

/// Returns the latency level at the sizes of a bandwidth level; null if unknown. If these sizes are
/// unknown, a single latency level matches, and levels of an imported run match by number.
const FoundLevel* matching_level(const LevelList& bandwidth, std::size_t number,
                                 const LevelList& latency, bool is_imported) {
  if (is_placed(bandwidth, number)) return &level_at(latency, size_within(bandwidth, number));
  const auto found = std::ranges::find_if(latency.levels, [&](const FoundLevel& each) {
    return latency.levels.size() == 1 ||
           (is_imported && each.value.level == bandwidth.levels[number].value.level);
  });
  return found == latency.levels.end() ? nullptr : &*found;
}

/// Returns bandwidth times latency: the bytes in flight by Little's law.
Finding implied_by(const Finding& rate, const Finding& time, std::string_view name) {
  const Interval rates = interval_of(rate);
  const Interval times = interval_of(time);
  return {.name = std::string(name),
          .series = rate.series,
          .level = rate.level,
          .value = *rate.value * *time.value,
          .low = rates.low * times.low,
          .high = rates.high * times.high,
          .unit = "bytes",
          .method = std::string(little_method),
          .role = Role::remark};
}

bool is_near(const Interval& a, const Interval& b, double margin) {
  return a.low <= b.high * margin && b.low <= a.high * margin;
}

std::int64_t whole(double bytes) { return static_cast<std::int64_t>(std::llround(bytes)); }

/// Returns the warning that a bandwidth level ends at a size at which no latency level ends;
/// nothing if a latency level ends there or the latency was not measured up to that size.
std::optional<Warning> warning_about(const LevelList& bandwidth, const FoundLevel& level,
                                     const LevelList& latency) {
  const Interval& end = *level.end;
  if (end.high > latency.measured_to) return std::nullopt;
  double nearest = std::numeric_limits<double>::infinity();
  const FoundLevel* beside = nullptr;
  for (const FoundLevel& each : latency.levels) {
    if (!each.end) continue;
    if (is_near(end, *each.end, end_margin)) return std::nullopt;
    const double distance = std::fabs(std::log(middle_of(end) / middle_of(*each.end)));
    if (distance >= nearest) continue;
    nearest = distance;
    beside = &each;
  }
  Warning warning{std::string(beside == nullptr ? lone_end_warning : end_warning),
                  {{"probe", std::string(bandwidth.probe)},
                   {"series", std::string(bandwidth.what.series)},
                   {"ends_at_bytes", whole(level.capacity)},
                   {"other_probe", std::string(latency.probe)},
                   {"other_series", std::string(latency.what.series)}},
                  WarningSource::analysis};
  if (beside != nullptr) warning.facts.set("nearest_bytes", whole(beside->capacity));
  return warning;
}

void warn_of_ends(const LevelList& bandwidth, const LevelList& latency,
                  std::vector<Warning>& warnings) {
  for (const FoundLevel& each : bandwidth.levels) {
    if (!each.end) continue;
    if (auto warning = warning_about(bandwidth, each, latency)) {
      warnings.push_back(std::move(*warning));
    }
  }
}

bool is_disturbed(const Run& run) {
  return std::ranges::any_of(run.warnings, [](const Warning& each) {
    return each.code == reference_warning || each.code == others_warning;
  });
}

void take_back(Run& run) {
  std::erase_if(run.warnings, [](const Warning& each) {
    return each.code == end_warning || each.code == lone_end_warning;
  });
  for (ProbeResult& result : run.results) {
    std::erase_if(result.findings, [](const Finding& each) {
      return each.method == little_method || each.method == latency_end_method;
    });
  }
}

std::string_view made_name(std::span<const ProbeQuantities> all, const LevelList& bandwidth,
                           Quantity made) {
  for (const ProbeQuantities& probe : all) {
    if (probe.probe == bandwidth.probe) return finding_name(probe, bandwidth.what, made);
  }
  return {};
}

/// Returns the smallest working set with a measured bandwidth; nothing for a series without points.
std::optional<double> smallest_set(const LevelList& bandwidth) {
  std::optional<double> smallest;
  for (const Point& point : bandwidth.result->points) {
    if (point.series != bandwidth.what.series) continue;
    const auto size = static_cast<double>(point.parameters.integer_or("working_set_bytes", 0));
    if (size > 0.0 && size < smallest.value_or(HUGE_VAL)) smallest = size;
  }
  return smallest;
}

/// Adds a remark to each bandwidth level: the last latency end in it that no bandwidth level has.
void add_latency_ends(const LevelList& bandwidth, const LevelList& latency, std::string_view name) {
  const std::optional<double> smallest = smallest_set(bandwidth);
  if (!smallest || name.empty()) return;
  for (const FoundLevel& level : bandwidth.levels) {
    const FoundLevel* last = nullptr;
    for (const FoundLevel& each : latency.levels) {
      if (!each.end || &level_at(bandwidth, each.capacity) != &level) continue;
      if (each.end->low <= *smallest || each.end->high >= bandwidth.measured_to) continue;
      const bool is_shared = std::ranges::any_of(bandwidth.levels, [&](const FoundLevel& own) {
        return own.end && is_near(*own.end, *each.end, end_margin);
      });
      if (!is_shared) last = &each;
    }
    if (last == nullptr) continue;
    bandwidth.result->findings.push_back({.name = std::string(name),
                                          .series = level.value.series,
                                          .level = level.value.level,
                                          .value = last->capacity,
                                          .low = last->end->low,
                                          .high = last->end->high,
                                          .unit = "bytes",
                                          .method = std::string(latency_end_method),
                                          .role = Role::remark});
  }
}

}  // namespace

void tell_agreement(Run& run, std::span<const ProbeQuantities> all) {
  take_back(run);
  const std::vector<LevelList> latencies = all_levels_of(run, all, Quantity::latency);
  std::vector<Warning> warnings;
  for (const LevelList& bandwidth : all_levels_of(run, all, Quantity::bandwidth)) {
    const auto is_beside = [&](const LevelList& other) {
      return other.what.memory == bandwidth.what.memory && other.probe != bandwidth.probe;
    };
    const auto latency = std::ranges::find_if(latencies, is_beside);
    if (latency == latencies.end()) continue;
    warn_of_ends(bandwidth, *latency, warnings);
    if (!is_disturbed(run)) {
      add_latency_ends(bandwidth, *latency, made_name(all, bandwidth, Quantity::latency_end));
    }
    const std::string_view name = made_name(all, bandwidth, Quantity::implied_bytes_in_flight);
    if (name.empty()) continue;
    for (std::size_t i = 0; i < bandwidth.levels.size(); ++i) {
      const FoundLevel* const beside =
          matching_level(bandwidth, i, *latency, run.imported.has_value());
      if (beside == nullptr) continue;
      bandwidth.result->findings.push_back(
          implied_by(bandwidth.levels[i].value, beside->value, name));
    }
  }
  if (is_disturbed(run)) return;
  run.warnings.insert(run.warnings.end(), warnings.begin(), warnings.end());
}

}  // namespace clprobe
