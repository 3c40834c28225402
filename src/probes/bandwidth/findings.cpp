// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/bandwidth/bandwidth.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/first_level.hpp"
#include "probes/shared/host_effects.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::bandwidth {

namespace {

constexpr std::string_view method = "segmentation";
constexpr std::string_view rate_unit = "bytes_per_second";

/// Returns the relative variation between runs on one machine, which widens intervals. In 14 runs
/// on two EPYC cores, reads of buffers had 0.9 to 1.1 times the median bandwidth. Writes, copies
/// and updates in L1 and L2, and reads of images, had 0.6 to 1.3 times the median.
double share_between_runs(const SeriesSpec& series, const DeviceInfo& device) {
  const bool is_image = series.operation == Operation::image;
  return device.type == DeviceType::cpu && (writes(series.operation) || is_image) ? 0.2 : 0.0;
}

/// Sets a bandwidth from the level's time per byte in ns. `factor` converts bytes per second to
/// the unit of the finding.
void set_rate(Finding& finding, const Level& level, double factor, double between_runs) {
  const Interval time = of_any_run(level.latency_interval, level.latency, between_runs);
  finding.value = factor * ns_per_second / level.latency;
  finding.low = factor * ns_per_second / time.high;
  finding.high = factor * ns_per_second / time.low;
  finding.holds_scatter = true;
}

/// Returns true if the number of compute units is known. Imported files lack this number.
bool knows_units(const DeviceInfo& device) { return device.compute_units > 0; }

/// Makes the finding of the bandwidth of one compute unit. The unit is bytes per cycle if the
/// core's clock is known, otherwise bytes per second.
Finding unit_finding(const SeriesSpec& series, int number, const Level& level,
                     const DeviceInfo& device) {
  const double units = series.is_one_unit ? 1.0 : static_cast<double>(units_of(device));
  const bool in_cycles = counts_core_cycles(device) && device.clock.ticks_per_ns > 0.0;
  Finding finding =
      of_level("unit_bandwidth", series.name, number, in_cycles ? "bytes_per_cycle" : rate_unit);
  const double per_second = 1.0 / units;
  const double per_cycle = per_second / (device.clock.ticks_per_ns * ns_per_second);
  set_rate(finding, level, in_cycles ? per_cycle : per_second, share_between_runs(series, device));
  return finding;
}

void add_levels(Findings& found, const SeriesSpec& series, const DeviceInfo& device,
                std::span<const Point> points, std::span<const CurvePoint> curve,
                const std::vector<Level>& levels) {
  if (levels.empty()) {
    found.findings.push_back(
        at_largest_size(finding_of("bandwidth", series.name, rate_unit, method), points, device));
    return;
  }
  Finding first = of_level("bandwidth", series.name, 1, rate_unit);
  if (auto lost = lost_first_level(curve, levels, std::move(first))) {
    found.findings.push_back(std::move(*lost));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const int number = static_cast<int>(i) + number_of_first(curve, levels);
    Finding rate = of_level("bandwidth", series.name, number, rate_unit);
    set_rate(rate, levels[i], 1.0, share_between_runs(series, device));
    found.findings.push_back(std::move(rate));
    if (series.is_one_unit || knows_units(device)) {
      found.findings.push_back(unit_finding(series, number, levels[i], device));
    }
    if (series.operation == Operation::local) continue;
    found.findings.push_back(
        with_end(of_level("capacity", series.name, number, "bytes"), levels[i], curve));
  }
  if (series.name != read_series) return;
  Finding beyond = finding_of("beyond", series.name, rate_unit, method);
  if (auto rest = beyond_last(std::move(beyond), levels.back(), curve, points, device)) {
    found.findings.push_back(std::move(*rest));
  }
}

/// Returns true if a plateau is not a level: its working sets slightly exceed the cache `before`,
/// which still holds a part of each. An H100 and an H200 had such a plateau in one of four runs:
/// from 250 to 352 KiB, at 88 % of the L1 bandwidth.
bool is_partly_cached(const Level& before, const Level& level) {
  constexpr double hardly_larger = 2.0;
  constexpr double hardly_slower = 1.25;
  return before.capacity && level.capacity &&
         level.capacity->bytes < hardly_larger * before.capacity->bytes &&
         level.latency < hardly_slower * before.latency;
}

/// Returns `levels` without the plateaus of partly cached working sets.
std::vector<Level> true_levels(std::vector<Level> levels) {
  for (std::size_t i = levels.size(); i-- > 1;) {
    if (!is_partly_cached(levels[i - 1], levels[i])) continue;
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return levels;
}

/// Returns the curve with the time of each working set lowered to that of the fastest larger
/// working set. Small working sets are slow: a unit then has few walks that write, and few stores
/// in flight. An H100 wrote 1 MiB at 3.4 TB/s, 66 MiB at 4.0 TB/s and memory at 3.2 TB/s. With
/// unchanged times some runs found no level of memory.
std::vector<CurvePoint> without_slow_starts(std::span<const CurvePoint> curve) {
  std::vector<CurvePoint> found(curve.begin(), curve.end());
  for (std::size_t i = found.size(); i-- > 1;) {
    found[i - 1].latency = std::min(found[i - 1].latency, found[i].latency);
  }
  return found;
}

/// Replaces the time of each level by the median of the measured times within 1 % of its spread.
/// Intervals are at least 3 % wide on each side, since times in L2 depend on the addresses of the
/// buffers. In seven runs an H200 copied at 8.5 to 8.76 TB/s.
std::vector<Level> as_measured(std::vector<Level> levels, std::span<const CurvePoint> curve) {
  constexpr double margin = 1.01;
  constexpr double between_runs = 1.03;
  for (Level& level : levels) {
    std::vector<double> times;
    for (const CurvePoint& point : curve) {
      const bool is_within =
          point.latency >= level.spread.low / margin && point.latency <= level.spread.high * margin;
      if (is_within) times.push_back(point.latency);
    }
    if (!times.empty()) level.latency = median(times);
    Interval& interval = level.latency_interval;
    interval.low = std::min(interval.low, level.latency / between_runs);
    interval.high = std::max(interval.high, level.latency * between_runs);
  }
  return levels;
}

/// Finds the levels of a series. Local memory has one level without an end, at its fastest time.
std::vector<Level> levels_of(const SeriesSpec& series, const DeviceInfo& device,
                             std::span<const CurvePoint> curve) {
  // A CPU's times are not lowered: its number of walks does not depend on the size, and other
  // processes use its cores.
  const bool may_start_slowly =
      series.sharing == Sharing::walk && !series.is_one_unit && device.type != DeviceType::cpu;
  if (may_start_slowly) {
    return as_measured(true_levels(find_rate_levels(without_slow_starts(curve))), curve);
  }
  if (series.operation != Operation::local) return true_levels(find_rate_levels(curve));
  const auto best = std::min_element(
      curve.begin(), curve.end(),
      [](const CurvePoint& a, const CurvePoint& b) { return a.latency < b.latency; });
  return {{.latency = best->latency, .latency_interval = {best->latency, best->latency}}};
}

/// Time per byte in ns of a single unit within a level of all units: the median, with quartiles.
/// The sizes lie between the end of the previous level and the end of this level.
struct Alone {
  double time{0.0};
  Interval interval{};
};

/// Returns one element per level. The element is empty if a single unit was not measured at any
/// size within the level.
std::vector<std::optional<Alone>> alone_in(const std::vector<Level>& levels,
                                           std::span<const CurvePoint> curve) {
  std::vector<std::optional<Alone>> all;
  double before = 0.0;
  for (const Level& level : levels) {
    double end = HUGE_VAL;
    if (level.capacity) {
      // If the brackets of two capacities overlap, no size is certainly within this level.
      end = level.capacity->low > before ? level.capacity->low : level.capacity->bytes;
    }
    std::vector<double> times;
    for (const CurvePoint& point : curve) {
      const bool is_within = point.working_set_bytes > before && point.working_set_bytes <= end;
      if (is_within) times.push_back(point.latency);
    }
    if (level.capacity) before = level.capacity->high;
    all.emplace_back();
    if (times.empty()) continue;
    all.back() = {median(times), {quantile(times, 0.25), quantile(times, 0.75)}};
  }
  return all;
}

/// Decides what limits the bandwidth: shared resources if the scaling is clearly below 90 %, the
/// units if the scaling is clearly above 90 %. If the interval of the scaling contains 90 %, the
/// finding has a reason instead of a label.
Finding limit_finding(const Finding& scaling) {
  constexpr double nearly_all = 0.9;
  Finding limit = of_level("limit", scaling.series, *scaling.level, "");
  limit.method = scaling.method;
  const bool may_be_less = *scaling.low < nearly_all;
  if (may_be_less && *scaling.high >= nearly_all) {
    limit.reason =
        "the scaling's interval includes 90 %, so the limit may be the compute units or the level";
  } else {
    limit.label = may_be_less ? limited_by_level : limited_by_units;
  }
  return limit;
}

/// Levels of the series that all units run, and the number of its first level.
struct LevelsOfAll {
  std::vector<Level> levels{};
  int first{1};

  [[nodiscard]] int number(std::size_t index) const { return first + static_cast<int>(index); }
};

/// Adds two findings per level: the scaling from one compute unit to all, and what limits the
/// scaling. `curve`: bandwidth curve of one compute unit.
void add_scaling(Findings& found, std::string_view series, const DeviceInfo& device,
                 const LevelsOfAll& all, std::span<const CurvePoint> curve) {
  constexpr std::string_view beside = "compared with one compute unit";
  const std::vector<std::optional<Alone>> alone = alone_in(all.levels, curve);
  for (std::size_t i = 0; i < all.levels.size(); ++i) {
    if (!alone[i] && curve.empty()) continue;
    if (!alone[i]) {
      Finding none = without_value(
          "scaling", series, beside,
          "the bandwidth of a single compute unit was not measured at any size of this level",
          "share");
      none.level = all.number(i);
      found.findings.push_back(std::move(none));
      continue;
    }
    const Level& level = all.levels[i];
    const auto units = static_cast<double>(units_of(device));
    Finding scaling =
        finding_of("scaling", series, "share", beside, alone[i]->time / (level.latency * units),
                   alone[i]->interval.low / (level.latency_interval.high * units),
                   alone[i]->interval.high / (level.latency_interval.low * units));
    scaling.level = all.number(i);
    Finding limit = limit_finding(scaling);
    found.findings.push_back(std::move(scaling));
    found.findings.push_back(std::move(limit));
  }
}

/// Adds the write bandwidth of one unit for each level of all units. One unit has too few sizes
/// for levels of its own.
void add_alone(Findings& found, const SeriesSpec& series, const DeviceInfo& device,
               const LevelsOfAll& all, std::span<const CurvePoint> curve) {
  const std::vector<std::optional<Alone>> alone = alone_in(all.levels, curve);
  for (std::size_t i = 0; i < all.levels.size(); ++i) {
    if (!alone[i]) continue;
    const Level level{.latency = alone[i]->time, .latency_interval = alone[i]->interval};
    const int number = all.number(i);
    Finding rate = of_level("bandwidth", series.name, number, rate_unit);
    set_rate(rate, level, 1.0, share_between_runs(series, device));
    found.findings.push_back(std::move(rate));
    found.findings.push_back(unit_finding(series, number, level, device));
  }
}

/// Returns the maximum bandwidth of a compute unit in bytes per second: on a GPU, 512 bytes per
/// cycle of the reported clock. On a CPU the maximum is 256 bytes per cycle at 7 GHz, since the
/// driver may report the clock of an idle core. Returns nothing if a GPU's driver reports no clock.
std::optional<double> max_unit_rate(const DeviceInfo& device) {
  if (device.type == DeviceType::cpu) return 256.0 * 7e9;
  const std::int64_t max_mhz = device.reported.integer_or("max_clock_mhz", 0);
  if (max_mhz <= 0) return std::nullopt;
  return 512.0 * 1e6 * static_cast<double>(max_mhz);
}

/// Returns the bandwidth that the reported width and clock of the memory allow, in bytes per
/// second. The memory of GPUs transfers two bits per line and reported cycle. Returns nothing
/// without a report.
std::optional<double> reported_peak(const DeviceInfo& device) {
  const std::int64_t bits = device.reported.integer_or("memory_bus_bits", 0);
  const std::int64_t mhz = device.reported.integer_or("max_memory_clock_mhz", 0);
  if (bits <= 0 || mhz <= 0) return std::nullopt;
  return static_cast<double>(bits) / 8.0 * 2e6 * static_cast<double>(mhz);
}

/// Adds the bandwidth of memory as a share of the reported peak, and a warning if the share is
/// clearly above 1.
void add_share_of_peak(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  // The last cache of most GPUs holds only a small part of a working set of this size.
  constexpr double surely_memory = static_cast<double>(mebibytes(200).count);
  constexpr double clearly_above = 1.02;
  constexpr std::string_view compared = "compared with the reported peak";
  const std::optional<double> peak = reported_peak(device);
  const Finding* const rate = bandwidth_of_memory(found.findings);
  if (!peak || rate == nullptr) return;
  Finding share = finding_of("share_of_peak", read_series, "share", compared);
  share.source = Source::derived;
  share.level = rate->level;
  const std::vector<CurvePoint> curve = latency_curve(points, read_series, device);
  if (curve.empty() || curve.back().working_set_bytes < surely_memory) {
    share.reason = "a cache may hold working sets below 200 MiB: add larger --sizes";
    found.findings.push_back(std::move(share));
    return;
  }
  const double value = *rate->value / *peak;
  if (value > clearly_above) {
    found.warnings.push_back({"above_reported_peak",
                              {{"peak_share", value},
                               {"peak_bytes_per_second", *peak},
                               {"bus_bits", device.reported.integer("memory_bus_bits")},
                               {"clock_mhz", device.reported.integer("max_memory_clock_mhz")}},
                              WarningSource::analysis});
  }
  share.value = value;
  share.low = rate->low.value_or(*rate->value) / *peak;
  share.high = rate->high.value_or(*rate->value) / *peak;
  found.findings.push_back(std::move(share));
}

void add_warnings(Findings& found, const DeviceInfo& device) {
  const std::optional<double> max_rate = max_unit_rate(device);
  if (!max_rate || !knows_units(device)) return;
  for (const Finding& each : found.findings) {
    const SeriesSpec* const series = series_named(each.series);
    if (each.name != "bandwidth" || !each.value || series == nullptr) continue;
    const double units = series->is_one_unit ? 1.0 : static_cast<double>(units_of(device));
    if (*each.value <= units * *max_rate) continue;
    found.warnings.push_back({"rate_too_high",
                              {{"series", each.series},
                               {"rate_bytes_per_second", *each.value},
                               {"max_bytes_per_second", units * *max_rate}},
                              WarningSource::analysis});
  }
}

}  // namespace

const Finding* bandwidth_of_memory(std::span<const Finding> findings) {
  const Finding* last = find_value(findings, "beyond", read_series);
  if (last != nullptr) return last;
  for (const Finding& each : findings) {
    if (each.series != read_series) continue;
    if (each.name == "bandwidth") last = &each;
    // The curve goes on after the end of a level.
    if (each.name == "capacity" && each.value) last = nullptr;
  }
  return last != nullptr && last->value ? last : nullptr;
}

void combine(std::vector<Finding>& findings) {
  const Finding* const memory = bandwidth_of_memory(findings);
  for (Finding& share : findings) {
    if (share.name != "share_of_peak" || !share.value || memory == nullptr) continue;
    const double per_rate = *share.value / *memory->value;
    if (memory->low) share.low = *memory->low * per_rate;
    if (memory->high) share.high = *memory->high * per_rate;
  }
  for (Finding& limit : findings) {
    if (limit.name != "limit") continue;
    const auto scaling = std::ranges::find_if(findings, [&](const Finding& each) {
      return each.name == "scaling" && each.series == limit.series && each.level == limit.level;
    });
    if (scaling == findings.end() || !scaling->low || !scaling->high) continue;
    const Finding decided = limit_finding(*scaling);
    limit.label = decided.label;
    limit.reason = decided.reason;
  }
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  std::map<std::string_view, LevelsOfAll> of_all;  // key: series of one unit
  for (const SeriesSpec& series : all_series) {
    const std::vector<CurvePoint> curve = latency_curve(points, series.name, device);
    if (curve.empty()) continue;
    if (writes(series.operation) && series.is_one_unit && !of_all[series.name].levels.empty()) {
      add_alone(found, series, device, of_all[series.name], curve);
      continue;
    }
    const std::vector<Level> levels = levels_of(series, device, curve);
    add_levels(found, series, device, points, curve, levels);
    if (series.alone.empty()) continue;
    const std::vector<CurvePoint> alone = latency_curve(points, series.alone, device);
    of_all[series.alone] = {levels, number_of_first(curve, levels)};
    add_scaling(found, series.name, device, of_all[series.alone], alone);
  }
  add_share_of_peak(found, device, points);
  add_warnings(found, device);
  return found;
}

}  // namespace clprobe::bandwidth
