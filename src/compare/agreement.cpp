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

// Both walk over a set in another order, which fills the sets of a cache otherwise.
constexpr double end_margin = 1.25;
// A cache serves nearly nothing of a set that is twice as large.
constexpr double far_beyond = 2.0;

/// One level of a memory, as a probe found it.
struct Rung {
  Finding value{};
  std::optional<Interval> end{};  ///< in which its capacity lies
  double capacity{0.0};           ///< in bytes, where it has an end
};

struct Ladder {
  ProbeResult* result{nullptr};
  std::string_view probe{};
  SharedQuantity what{};
  std::vector<Rung> rungs{};
  double measured_to{std::numeric_limits<double>::infinity()};  ///< bytes
};

/// The interval of a finding's value, or the value alone.
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

/// The name of the probe's findings of a quantity of the same series; empty where it has none.
std::string_view name_beside(const ProbeQuantities& probe, const SharedQuantity& what,
                             Quantity wanted) {
  for (const SharedQuantity& each : probe.quantities) {
    if (each.quantity == wanted && each.series == what.series) return each.finding;
  }
  return {};
}

Ladder ladder_of(ProbeResult& result, const ProbeQuantities& probe, const SharedQuantity& what) {
  Ladder ladder{.result = &result, .probe = probe.probe, .what = what};
  const std::string_view capacity = name_beside(probe, what, Quantity::capacity);
  for (const Finding& each : result.findings) {
    if (each.series != what.series) continue;
    // If the end of a level was not reached, its low end is the largest set that was measured.
    if (each.name == capacity && !each.value && each.low) ladder.measured_to = *each.low;
    if (each.name != what.finding || !each.value || is_at_one_size(each)) continue;
    Rung rung{each, {}};
    const Finding* const end = find_level(result, capacity, what.series, each.level);
    if (end != nullptr) {
      rung.end = interval_of(*end);
      rung.capacity = *end->value;
    }
    ladder.rungs.push_back(std::move(rung));
  }
  std::ranges::stable_sort(ladder.rungs, [](const Rung& a, const Rung& b) {
    return a.value.level.value_or(0) < b.value.level.value_or(0);
  });
  return ladder;
}

/// All that is found of a quantity.
std::vector<Ladder> ladders_of(Run& run, std::span<const ProbeQuantities> all, Quantity quantity) {
  std::vector<Ladder> ladders;
  for (const ProbeQuantities& probe : all) {
    for (ProbeResult& result : run.results) {
      if (result.probe != probe.probe) continue;
      for (const SharedQuantity& each : probe.quantities) {
        if (each.quantity != quantity) continue;
        Ladder ladder = ladder_of(result, probe, each);
        if (!ladder.rungs.empty()) ladders.push_back(std::move(ladder));
      }
    }
  }
  return ladders;
}

double middle_of(const Interval& interval) { return std::sqrt(interval.low * interval.high); }

/// A size that surely lies in a level.
double size_within(const Ladder& ladder, std::size_t number) {
  const std::optional<Interval>& end = ladder.rungs[number].end;
  const bool is_first = number == 0 || !ladder.rungs[number - 1].end;
  if (is_first) return end ? middle_of(*end) / far_beyond : 1.0;
  const double before = middle_of(*ladder.rungs[number - 1].end);
  const double last = end ? middle_of(*end) : ladder.measured_to;
  return std::isinf(last) ? before * far_beyond : std::sqrt(before * last);
}

/// True if the sizes that a level holds are known.
bool is_placed(const Ladder& ladder, std::size_t number) {
  return ladder.rungs[number].end || (number > 0 && ladder.rungs[number - 1].end);
}

const Rung& rung_at(const Ladder& ladder, double size) {
  const auto found = std::ranges::find_if(
      ladder.rungs, [&](const Rung& each) { return !each.end || size <= middle_of(*each.end); });
  return found == ladder.rungs.end() ? ladder.rungs.back() : *found;
}

/// The level of latency that a level of bandwidth is; null where that is unknown. Another tool
/// numbers the levels of one device alike, and need not say where those of bandwidth end.
const Rung* rung_beside(const Ladder& bandwidth, std::size_t number, const Ladder& latency,
                        bool is_imported) {
  if (is_placed(bandwidth, number)) return &rung_at(latency, size_within(bandwidth, number));
  const auto found = std::ranges::find_if(latency.rungs, [&](const Rung& each) {
    return latency.rungs.size() == 1 ||
           (is_imported && each.value.level == bandwidth.rungs[number].value.level);
  });
  return found == latency.rungs.end() ? nullptr : &*found;
}

/// Bandwidth times latency.
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

/// The warning about the end of a level of bandwidth; nothing where a level of latency ends there.
std::optional<Warning> warning_about(const Ladder& bandwidth, const Rung& rung,
                                     const Ladder& latency) {
  const Interval& end = *rung.end;
  if (end.high > latency.measured_to) return std::nullopt;
  double nearest = std::numeric_limits<double>::infinity();
  const Rung* beside = nullptr;
  for (const Rung& each : latency.rungs) {
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
                   {"ends_at_bytes", whole(rung.capacity)},
                   {"other_probe", std::string(latency.probe)},
                   {"other_series", std::string(latency.what.series)}},
                  WarningSource::analysis};
  if (beside != nullptr) warning.facts.set("nearest_bytes", whole(beside->capacity));
  return warning;
}

void warn_of_ends(const Ladder& bandwidth, const Ladder& latency, std::vector<Warning>& warnings) {
  for (const Rung& each : bandwidth.rungs) {
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

std::string_view made_name(std::span<const ProbeQuantities> all, const Ladder& bandwidth,
                           Quantity made) {
  for (const ProbeQuantities& probe : all) {
    if (probe.probe == bandwidth.probe) return name_beside(probe, bandwidth.what, made);
  }
  return {};
}

/// The smallest set of which the bandwidth was measured; none of a document without points.
std::optional<double> smallest_set(const Ladder& bandwidth) {
  std::optional<double> smallest;
  for (const Point& point : bandwidth.result->points) {
    if (point.series != bandwidth.what.series) continue;
    const auto size = static_cast<double>(point.parameters.integer_or("working_set_bytes", 0));
    if (size > 0.0 && size < smallest.value_or(HUGE_VAL)) smallest = size;
  }
  return smallest;
}

/// Adds the ends of latency at which the bandwidth goes on: of several in a level the last one.
void add_latency_ends(const Ladder& bandwidth, const Ladder& latency, std::string_view name) {
  const std::optional<double> smallest = smallest_set(bandwidth);
  if (!smallest || name.empty()) return;
  for (const Rung& level : bandwidth.rungs) {
    const Rung* last = nullptr;
    for (const Rung& each : latency.rungs) {
      if (!each.end || &rung_at(bandwidth, each.capacity) != &level) continue;
      if (each.end->low <= *smallest || each.end->high >= bandwidth.measured_to) continue;
      const bool is_shared = std::ranges::any_of(bandwidth.rungs, [&](const Rung& own) {
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
  const std::vector<Ladder> latencies = ladders_of(run, all, Quantity::latency);
  std::vector<Warning> warnings;
  for (const Ladder& bandwidth : ladders_of(run, all, Quantity::bandwidth)) {
    const auto is_beside = [&](const Ladder& other) {
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
    for (std::size_t i = 0; i < bandwidth.rungs.size(); ++i) {
      const Rung* const beside = rung_beside(bandwidth, i, *latency, run.imported.has_value());
      if (beside == nullptr) continue;
      bandwidth.result->findings.push_back(
          implied_by(bandwidth.rungs[i].value, beside->value, name));
    }
  }
  if (is_disturbed(run)) return;
  run.warnings.insert(run.warnings.end(), warnings.begin(), warnings.end());
}

}  // namespace clprobe
