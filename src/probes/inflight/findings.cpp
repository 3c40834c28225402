// SPDX-License-Identifier: Apache-2.0
// Findings of the probe `inflight` from its points. Pure.
#include "clprobe/point_facts.hpp"
#include "probes/inflight/inflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/saturation.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::inflight {
namespace {

/// Finds the end of the plateau after the first sub-group. `rise` is the rise of the time within
/// the first sub-group, in cycles.
std::optional<Gap> find_plateau(const ThreadLatencyPlot& plot, int sub_group, double rise) {
  constexpr double max_share = 0.25;
  std::optional<double> begin;
  Gap end;
  for (std::size_t i = 0; i < plot.work_items.size(); ++i) {
    const int items = plot.work_items[i];
    if (items <= sub_group) {
      begin = plot.robust[i];
    } else if (!begin) {
      return std::nullopt;
    } else if (plot.robust[i] - *begin > max_share * rise) {
      end.after = items;
      break;
    }
    end.before = items;
  }
  const bool ends = end.after > end.before;
  return ends && end.before >= 2 * sub_group ? std::optional(end) : std::nullopt;
}

/// Bandwidth in bytes per ns, with its interval.
struct Rate {
  double value{0.0};
  Interval interval{};
};

/// Returns the maximum memory bandwidth of the rounds of one work-group.
Rate rate_of_unit(const DeviceInfo& device, std::span<const Point> points) {
  Rate best;
  for (const Point& point : points) {
    if (!is_of_curve(point) || !point.failure.empty()) continue;
    const Shape shape = Shape::of(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (shape.pattern.target != "memory" || !time || !(time->ns_interval.low > 0.0)) continue;
    const auto bytes = static_cast<double>(shape.lines_per_round() * shape.line_bytes);
    if (bytes / time->ns <= best.value) continue;
    best = {bytes / time->ns, {bytes / time->ns_interval.high, bytes / time->ns_interval.low}};
  }
  return best;
}

/// Returns the maximum bandwidth of streams during a chase.
Rate rate_of_device(const DeviceInfo& device, std::span<const Point> points) {
  Rate most;
  for (const Point& point : points) {
    if (point.series != loaded_traffic_series || !point.failure.empty()) continue;
    const std::optional<Estimate> time = median_estimate(point, device);
    if (!time || !(time->ns_interval.low > 0.0)) continue;
    const auto bytes = static_cast<double>(LoadedShape::of(point).chase.line_bytes);
    if (bytes / time->ns <= most.value) continue;
    most = {bytes / time->ns, {bytes / time->ns_interval.high, bytes / time->ns_interval.low}};
  }
  return most;
}

/// Removes the fact `variance_fact`, which a stored document may contain with any value.
void remove_variance(Point& point) {
  if (point.facts.find(variance_fact) == nullptr) return;
  Parameters kept;
  for (const auto& [name, value] : point.facts) {
    if (name != variance_fact) kept.set(name, value);
  }
  point.facts = std::move(kept);
}

/// Returns the variance of each point, by series and number of work-items. The first and the last
/// point of a curve have none.
std::map<std::pair<std::string, std::int64_t>, double> variances_of(
    const std::vector<Point>& points) {
  std::vector<std::string> series;
  const std::vector<ThreadLatencyCurve> curves = thread_latency_curves(points, series);
  std::map<std::pair<std::string, std::int64_t>, double> variances;
  for (std::size_t number = 0; number < curves.size(); ++number) {
    const ThreadLatencyPlot plot = plot_of(curves[number]);
    for (std::size_t i = 1; i + 1 < plot.work_items.size(); ++i) {
      constexpr double rounding = 1e-12;  // equal times differ only by rounding
      const double mean = plot.harmonic_mean[i];
      const double variance = plot.variance[i] < rounding * mean * mean ? 0.0 : plot.variance[i];
      if (is_sane(variance)) variances[{series[number], plot.work_items[i]}] = variance;
    }
  }
  return variances;
}

Finding counted(std::string_view name, std::string_view series, std::string_view method,
                double value, double low, double high) {
  return finding_of(name, series, "count", method, value, low, high);
}

Finding in_unit(std::string_view unit, std::string_view name, std::string_view series,
                std::string_view method, double value, const Interval& interval) {
  return finding_of(name, series, unit, method, value, interval.low, interval.high);
}

/// Makes a finding of a lower bound. The value is the low end of `interval`, rounded down to whole
/// loads.
Finding bounded(std::string_view name, std::string_view series, std::string_view method,
                const Interval& interval) {
  const double least = std::floor(interval.low);
  return in_unit("count", name, series, method, least, {least, interval.high});
}

Finding uncounted(std::string_view name, std::string_view series, std::string_view method,
                  std::string_view reason) {
  return without_value(name, series, method, reason, "count");
}

/// Returns the ticks per round of each sample.
std::vector<double> rounds_of(const Point& point) {
  std::vector<double> rounds;
  if (!point.failure.empty()) return rounds;
  for (const Sample& sample : point.samples) {
    if (!sample.ticks || sample.accesses == 0) continue;
    rounds.push_back(static_cast<double>(*sample.ticks) / static_cast<double>(sample.accesses));
  }
  return rounds;
}

/// Returns the minimum ticks per round of each visit.
std::vector<double> min_of_visits(const Point& point) {
  std::map<std::uint64_t, double> least;
  for (const Sample& sample : point.samples) {
    if (!sample.ticks || sample.accesses == 0) continue;
    const double round = static_cast<double>(*sample.ticks) / static_cast<double>(sample.accesses);
    const auto [found, is_new] = least.emplace(sample.visit, round);
    if (!is_new) found->second = std::min(found->second, round);
  }
  std::vector<double> rounds;
  rounds.reserve(least.size());
  for (const auto& [visit, round] : least) rounds.push_back(round);
  return rounds;
}

/// Returns the minimum time of a round without loads, for each number of work-items.
std::map<std::int64_t, double> overheads_in(std::span<const Point> points) {
  std::map<std::int64_t, double> least;
  for (const Point& point : points) {
    const std::vector<double> rounds = rounds_of(point);
    if (point.series != overhead_series || rounds.empty()) continue;
    least[point.parameters.integer_or("work_items", 0)] =
        *std::min_element(rounds.begin(), rounds.end());
  }
  return least;
}

/// Returns the overhead of the smallest work-group. Overhead that grows with the size of the
/// work-group is part of the curve.
double overhead_of(std::span<const Point> points) {
  const std::map<std::int64_t, double> least = overheads_in(points);
  return least.empty() ? 0.0 : least.begin()->second;
}

/// Adds the time of a round without loads, which consists of a barrier, in the smallest and in the
/// largest work-group. The two findings have a separate series, since the report draws a curve for
/// every series that has findings and points.
void add_barrier(Findings& found, std::span<const Point> points) {
  const std::map<std::int64_t, double> least = overheads_in(points);
  if (least.size() < 2) return;
  const auto add = [&](std::string_view name, double cycles) {
    found.findings.push_back(
        in_unit("cycles", name, "barrier", "minimum of the passes", cycles, {cycles, cycles}));
  };
  add("barrier_of_smallest", least.begin()->second);
  add("barrier_of_largest", least.rbegin()->second);
}

void add_serialization(Findings& found, const std::string& series, const ThreadLatencyCurve& curve,
                       int sub_group) {
  if (curve.pattern.loads != 1 || curve.pattern.merger != 1) return;
  const std::optional<Serialization> serial = find_serialization(curve, sub_group);
  if (!serial) return;
  constexpr const char* method = "thread-latency";
  found.findings.push_back(in_unit("cycles", "cycles_per_lane", series, method,
                                   serial->cycles_per_lane, serial->interval));
  if (!serial->plateau) return;
  found.findings.push_back(counted("parallel_items", series, method, serial->plateau->before,
                                   serial->plateau->before, serial->plateau->after));
}

void add_curve(Findings& found, const std::string& series, const CurveFinding& curve) {
  constexpr const char* method = "thread-latency";
  if (curve.spike) {
    found.findings.push_back(counted("spike", series, method, curve.spike->before,
                                     curve.spike->before, curve.spike->after));
  } else {
    Finding none = uncounted("spike", series, method, curve.reason);
    // The label "none" shows that the curve was measured and has no spike.
    if (curve.latency_cycles > 0.0) none.label = "none";
    found.findings.push_back(std::move(none));
  }
  found.findings.push_back(
      in_unit("cycles", "cycles", series, method, curve.latency_cycles, curve.latency_interval));
  found.findings.push_back(in_unit("cycles", "cycles_per_request", series, method,
                                   curve.cycles_per_request, curve.request_interval));
}

void add_range(Findings& found, const char* name, const std::optional<CountRange>& range,
               const std::string& reason) {
  constexpr const char* method = "thread-latency";
  if (!range) {
    found.findings.push_back(uncounted(name, unit_series, method, reason));
    return;
  }
  const auto low = static_cast<double>(range->low);
  const auto high = static_cast<double>(range->high);
  found.findings.push_back(counted(name, unit_series, method, low, low, high));
}

void add_limit(Findings& found, const OutstandingLimit& limit) {
  constexpr const char* method = "thread-latency";
  const std::string reason = fmt::format("{}", fmt::join(limit.reasons, "; "));
  Finding verdict = finding_of("limit", unit_series, "", method);
  verdict.label = to_word(limit.kind);
  verdict.reason = reason;
  found.findings.push_back(std::move(verdict));
  if (limit.kind == OutstandingKind::request_pool || limit.kind == OutstandingKind::ambiguous) {
    add_range(found, "requests", limit.requests, reason);
  }
  if (limit.kind == OutstandingKind::request_table || limit.kind == OutstandingKind::ambiguous) {
    add_range(found, "instructions", limit.instructions, reason);
  }
  if (limit.mergers) {
    found.findings.push_back(
        counted("mergers", unit_series, method, *limit.mergers, *limit.mergers, *limit.mergers));
  }
  const auto least = static_cast<double>(limit.min_requests);
  const auto fastest = static_cast<double>(limit.fastest_requests);
  found.findings.push_back(
      bounded("requests_at_least", unit_series, "little", {least, std::max(least, fastest)}));
}

void add_sub_group_loads(Findings& found, const SubGroupLoads& limit) {
  if (limit.loads || !limit.reason.empty()) {
    add_range(found, "loads_per_sub_group", limit.loads, limit.reason);
  }
  if (limit.loads || limit.at_least == 0) return;
  const auto least = static_cast<double>(limit.at_least);
  found.findings.push_back(
      bounded("loads_per_sub_group_at_least", unit_series, "thread-latency", {least, least}));
}

/// Returns the time of a load among chains. For chains in a GPU's memory this time is the median
/// of the samples, because launches that find their lines in a cache are too fast.
std::optional<Estimate> time_of_chains(const DeviceInfo& device, const Point& point) {
  if (runs_items_in_turn(device) || point.parameters.text_or("target", "") != "memory") {
    return estimate(point, device);
  }
  return median_estimate(point, device);
}

/// Fits the throughput of one target, in loads per ns, as a function of the number of concurrent
/// loads.
std::optional<Saturation> saturation_of(const DeviceInfo& device, std::span<const Point> points,
                                        std::string_view series) {
  ThroughputCurve curve;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const std::optional<Estimate> time = time_of_chains(device, point);
    if (!time || !(time->ns_interval.low > 0.0)) continue;
    const Shape shape = Shape::of(point);
    const Interval& ns = time->ns_interval;
    curve.points.push_back({static_cast<double>(shape.work_items * shape.chains),
                            1.0 / time->ns,
                            {1.0 / ns.high, 1.0 / ns.low}});
  }
  return curve.points.empty() ? std::nullopt : fit_saturation(curve);
}

void add_saturation(Findings& found, const std::string& series,
                    const std::optional<Saturation>& fit) {
  constexpr const char* method = "saturation";
  if (!fit) {
    found.findings.push_back(uncounted("in_flight", series, method, "fewer than 3 usable points"));
    return;
  }
  constexpr double seconds_per_ns = 1e-9;
  found.findings.push_back(in_unit(
      "seconds", "latency", series, method, fit->latency * seconds_per_ns,
      {fit->latency_interval.low * seconds_per_ns, fit->latency_interval.high * seconds_per_ns}));
  found.findings.back().reason =
      "the latency includes the time to compute each address from an index";
  if (fit->is_reached) {
    found.findings.push_back(counted("in_flight", series, method, fit->knee, fit->knee_interval.low,
                                     fit->knee_interval.high));
    return;
  }
  found.findings.push_back(uncounted("in_flight", series, method, "not reached: " + fit->reason));
  found.findings.push_back(bounded("in_flight_at_least", series, method, fit->knee_interval));
}

void add_comparison(Findings& found, const TwoLatencyTest& test) {
  constexpr const char* method = "two latencies";
  Finding bound = finding_of("bound_by", unit_series, "", method);
  bound.label = to_word(test.limit);
  bound.reason = test.reason;
  found.findings.push_back(std::move(bound));
  if (test.capacity && test.capacity_interval) {
    found.findings.push_back(counted("in_flight", unit_series, method, *test.capacity,
                                     test.capacity_interval->low, test.capacity_interval->high));
  } else {
    found.findings.push_back(
        bounded("in_flight_at_least", unit_series, method, test.min_capacity_interval));
  }
}

void add_chains(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  std::vector<std::string> all;
  for (const Point& point : points) {
    const bool is_new = std::find(all.begin(), all.end(), point.series) == all.end();
    if (is_chain(point) && is_new && !point.samples.empty()) all.push_back(point.series);
  }
  std::map<std::string, Saturation> fits;
  for (const std::string& series : all) {
    const std::optional<Saturation> fit = saturation_of(device, points, series);
    add_saturation(found, series, fit);
    if (fit) fits[series] = *fit;
  }
  const auto near = fits.find("cache-chains");
  const auto far = fits.find("memory-chains");
  // On a CPU, the chains of a single work-item show the outstanding misses of one core.
  if (runs_items_in_turn(device) && far != fits.end()) {
    const Saturation& fit = far->second;
    constexpr const char* method = "saturation";
    found.findings.push_back(
        fit.is_reached
            ? counted("memory_parallelism", unit_series, method, fit.knee, fit.knee_interval.low,
                      fit.knee_interval.high)
            : bounded("memory_parallelism_at_least", unit_series, method, fit.knee_interval));
  }
  if (near != fits.end() && far != fits.end()) {
    add_comparison(found, compare_latencies(near->second, far->second));
  }
}

/// Adds the minimum and the maximum of the times of sub-groups in each series, in cycles.
void add_own_times(const DeviceInfo& device, std::span<const Point> points, Findings& found) {
  std::map<std::string, std::pair<Estimate, Estimate>> extremes;
  for (const Point& point : points) {
    if (!is_own_time(point) || !point.failure.empty()) continue;
    const std::optional<Estimate> time = estimate(point, device);
    if (!time) continue;
    const auto [known, is_new] = extremes.emplace(point.series, std::pair(*time, *time));
    if (is_new) continue;
    if (time->ns < known->second.first.ns) known->second.first = *time;
    if (time->ns > known->second.second.ns) known->second.second = *time;
  }
  const double ticks = device.clock.ticks_per_ns;
  const auto add = [&](std::string_view name, const std::string& series, const Estimate& time) {
    found.findings.push_back(finding_of(name, series, "cycles", "in-kernel clock", time.ns * ticks,
                                        time.ns_interval.low * ticks,
                                        time.ns_interval.high * ticks));
  };
  for (const auto& [series, both] : extremes) {
    add("fastest_sub_group", series, both.first);
    add("slowest_sub_group", series, both.second);
  }
}

}  // namespace

std::optional<Serialization> find_serialization(const ThreadLatencyCurve& curve, int sub_group) {
  const ThreadLatencyPlot plot = plot_of(curve);
  std::vector<double> items;
  std::vector<double> cycles;
  for (std::size_t i = 0; i < plot.work_items.size(); ++i) {
    if (plot.work_items[i] > sub_group) break;
    items.push_back(plot.work_items[i]);
    cycles.push_back(plot.robust[i]);
  }
  constexpr std::size_t min_points = 3;
  if (items.size() < min_points) return std::nullopt;
  const Line line = fit_least_squares(items, cycles);
  Serialization found;
  found.cycles_per_lane = line.slope;
  found.interval = line.slope_interval;
  const double rise = line.slope * static_cast<double>(sub_group);
  // If the latencies of lines differ, scatter could hide the end of a plateau. The search for a
  // plateau therefore requires a slope that is certain to 10 %.
  constexpr double max_doubt = 0.1;
  const bool is_clear = line.slope - line.slope_interval.low < max_doubt * line.slope;
  if (line.slope > 0.0 && is_clear) found.plateau = find_plateau(plot, sub_group, rise);
  return found;
}

std::optional<Finding> find_unit_share(const DeviceInfo& device, std::span<const Point> points) {
  const Rate unit = rate_of_unit(device, points);
  const Rate all = rate_of_device(device, points);
  if (!(unit.value > 0.0) || !(all.value > 0.0)) return std::nullopt;
  return finding_of("unit_share", unit_series, "share",
                    "compared with streams of all compute units", unit.value / all.value,
                    unit.interval.low / all.interval.high, unit.interval.high / all.interval.low);
}

void derive_facts(std::vector<Point>& points) {
  derive_variance(points);
  for (Point& point : points) {
    if (is_loaded(point)) point.facts.set(by_median, std::int64_t{1});
  }
}

void derive_variance(std::vector<Point>& points) {
  const auto variances = variances_of(points);
  for (Point& point : points) {
    remove_variance(point);
    const auto found = variances.find({point.series, point.parameters.integer_or("work_items", 0)});
    if (found != variances.end() && point.failure.empty()) {
      point.facts.set(variance_fact, found->second);
    }
  }
}

std::int64_t sub_group_of(const DeviceInfo& device) {
  constexpr std::int64_t usual = 32;  // used if the driver reports no size
  return device.sub_group_size > 1 ? device.sub_group_size : usual;
}

bool is_of_curve(const Point& point) {
  return !is_chain(point) && !is_own_time(point) && !is_loaded(point) &&
         point.series != overhead_series;
}

std::vector<ThreadLatencyCurve> thread_latency_curves(std::span<const Point> points,
                                                      std::vector<std::string>& series) {
  std::vector<ThreadLatencyCurve> curves;
  const double overhead = overhead_of(points);
  for (const Point& point : points) {
    const std::vector<double> rounds = rounds_of(point);
    if (rounds.empty() || !is_of_curve(point)) continue;
    const Shape shape = Shape::of(point);
    const auto index = static_cast<std::size_t>(
        std::find(series.begin(), series.end(), point.series) - series.begin());
    if (index == series.size()) {
      series.push_back(point.series);
      curves.push_back({shape.pattern, overhead, {}});
    }
    curves[index].points.push_back(
        {static_cast<int>(shape.work_items), rounds, min_of_visits(point)});
  }
  return curves;
}

std::vector<CurveFinding> find_curves(const DeviceInfo& device, std::span<const Point> points,
                                      std::span<const ThreadLatencyCurve> curves) {
  std::vector<CurveFinding> found = find_spikes(curves, static_cast<int>(sub_group_of(device)));
  for (const Point& point : points) {
    if (!is_chain(point) || !point.failure.empty()) continue;
    const Shape shape = Shape::of(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (shape.work_items * shape.chains != 1 || !time) continue;
    const double cycles = time->ns * device.clock.ticks_per_ns;
    for (CurveFinding& curve : found) {
      if (curve.pattern.target != shape.pattern.target || !(curve.latency_cycles > 0.0)) continue;
      const double share = std::min(1.0, cycles / curve.latency_cycles);
      for (std::int64_t* const count :
           {&curve.min_requests, &curve.min_instructions, &curve.fastest_requests}) {
        *count = static_cast<std::int64_t>(share * static_cast<double>(*count));
      }
    }
  }
  return found;
}

void combine(std::vector<Finding>& findings) {
  double least = 0.0;
  for (const Finding& each : findings) {
    const bool is_of_chains = each.series != unit_series && each.name.starts_with("in_flight");
    if (is_of_chains && each.low) least = std::max(least, std::round(*each.low));
  }
  for (Finding& each : findings) {
    if (each.series != unit_series || each.name != "in_flight_at_least" || !each.value) continue;
    each.value = each.low = std::min(*each.value, least);
  }
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  std::vector<std::string> series;
  const auto curves = thread_latency_curves(points, series);
  // A CPU runs work-items one after another, so its curves show no limit.
  if (!curves.empty() && !runs_items_in_turn(device)) {
    const auto sub_group = static_cast<int>(sub_group_of(device));
    std::vector<CurveFinding> each = find_curves(device, points, curves);
    const OutstandingLimit limit = infer_limit(each, sub_group);
    // Jumps that show no limit are scatter. The slope then includes all points of the curve.
    if (limit.kind == OutstandingKind::unobservable) {
      for (CurveFinding& curve : each) {
        curve.cycles_per_request = curve.whole_cycles_per_request;
        curve.request_interval = curve.whole_request_interval;
      }
    }
    add_limit(found, limit);
    add_sub_group_loads(found, find_sub_group_loads(each));
    for (std::size_t i = 0; i < each.size(); ++i) {
      add_curve(found, series[i], each[i]);
      add_serialization(found, series[i], curves[i], sub_group);
    }
    add_barrier(found, points);
  }
  add_own_times(device, points, found);
  add_chains(found, device, points);
  add_loaded_findings(device, points, found);
  if (!runs_items_in_turn(device)) {
    if (auto share = find_unit_share(device, points)) found.findings.push_back(std::move(*share));
  }
  return found;
}

}  // namespace clprobe::inflight
