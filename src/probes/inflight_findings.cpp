// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/parallelism.hpp"
#include "probes/inflight_loaded.hpp"
#include "probes/inflight_shape.hpp"

namespace clprobe {
namespace {

Finding finding_of(std::string name, std::string_view series, std::string unit,
                   std::string method) {
  Finding finding;
  finding.name = std::move(name);
  finding.series = series;
  finding.unit = std::move(unit);
  finding.method = std::move(method);
  return finding;
}

Finding counted(std::string name, std::string_view series, std::string method, double value,
                double low, double high) {
  Finding finding = finding_of(std::move(name), series, "count", std::move(method));
  finding.value = value;
  finding.low = low;
  finding.high = high;
  return finding;
}

Finding without_value(std::string name, std::string_view series, std::string method,
                      std::string reason) {
  Finding finding = finding_of(std::move(name), series, "count", std::move(method));
  finding.reason = std::move(reason);
  return finding;
}

bool is_chain(const Point& point) { return point.parameters.find("chains") != nullptr; }

/// The ticks of a round in each sample.
std::vector<double> rounds_of(const Point& point) {
  std::vector<double> rounds;
  if (!point.failure.empty()) return rounds;
  for (const Sample& sample : point.samples) {
    if (!sample.ticks || sample.accesses == 0) continue;
    rounds.push_back(static_cast<double>(*sample.ticks) / static_cast<double>(sample.accesses));
  }
  return rounds;
}

/// Of the smallest work-group: what grows with it belongs to the curve.
double overhead_of(std::span<const Point> points) {
  std::map<std::int64_t, double> least;
  for (const Point& point : points) {
    const std::vector<double> rounds = rounds_of(point);
    if (point.series != overhead_series || rounds.empty()) continue;
    least[point.parameters.integer_or("work_items", 0)] =
        *std::min_element(rounds.begin(), rounds.end());
  }
  return least.empty() ? 0.0 : least.begin()->second;
}

void add_curve(Findings& found, const std::string& series, const CurveFinding& curve) {
  constexpr const char* method = "thread-latency";
  if (curve.spike) {
    Finding spike = counted("spike", series, method, curve.spike->gap.before,
                            curve.spike->gap.before, curve.spike->gap.after);
    if (!curve.spike->possible.empty()) {
      spike.low = curve.spike->possible.front().before;
      spike.high = curve.spike->possible.back().after;
    }
    found.findings.push_back(std::move(spike));
  } else {
    Finding none = without_value("spike", series, method, curve.reason);
    // It was looked for: there is none, or none that can be used.
    if (curve.latency_cycles > 0.0) none.label = "none";
    found.findings.push_back(std::move(none));
  }
  Finding latency = finding_of("cycles", series, "cycles", method);
  latency.value = curve.latency_cycles;
  found.findings.push_back(std::move(latency));
  Finding interval = finding_of("cycles_per_request", series, "cycles", method);
  interval.value = curve.cycles_per_request;
  found.findings.push_back(std::move(interval));
}

void add_range(Findings& found, const char* name, const std::optional<CountRange>& range,
               const std::string& reason) {
  constexpr const char* method = "thread-latency";
  if (!range) {
    found.findings.push_back(without_value(name, unit_series, method, reason));
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
  if (limit.kind == OutstandingKind::request_pool && limit.mergers) {
    const char* const name = limit.mergers->at_most ? "mergers" : "mergers_at_least";
    Finding mergers = finding_of(name, unit_series, "count", method);
    mergers.value = limit.mergers->at_least;
    mergers.low = limit.mergers->at_least;
    if (limit.mergers->at_most) mergers.high = *limit.mergers->at_most;
    found.findings.push_back(std::move(mergers));
  }
  Finding least = finding_of("requests_at_least", unit_series, "count", "little");
  least.value = static_cast<double>(limit.least_requests);
  least.low = least.value;
  found.findings.push_back(std::move(least));
}

/// Loads in a nanosecond by how many were asked for at once, for one target.
std::optional<Saturation> saturation_of(const DeviceInfo& device, std::span<const Point> points,
                                        std::string_view series) {
  ThroughputCurve curve;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const std::optional<Estimate> time = estimate(point, device);
    if (!time || !(time->ns > 0.0)) continue;
    const InflightShape shape = InflightShape::of(point);
    curve.points.push_back({static_cast<double>(shape.work_items * shape.chains), 1.0 / time->ns});
  }
  return curve.points.empty() ? std::nullopt : fit_saturation(curve);
}

void add_saturation(Findings& found, const std::string& series,
                    const std::optional<Saturation>& fit) {
  constexpr const char* method = "saturation";
  if (!fit) {
    found.findings.push_back(
        without_value("in_flight", series, method, "fewer than 3 usable points"));
    return;
  }
  constexpr double seconds_per_ns = 1e-9;
  Finding latency = finding_of("latency", series, "seconds", method);
  latency.value = fit->latency * seconds_per_ns;
  found.findings.push_back(std::move(latency));
  if (fit->is_reached) {
    found.findings.push_back(counted("in_flight", series, method, fit->knee, fit->knee_interval.low,
                                     fit->knee_interval.high));
    return;
  }
  found.findings.push_back(
      without_value("in_flight", series, method, "not reached: " + fit->reason));
  Finding least = finding_of("in_flight_at_least", series, "count", method);
  least.value = fit->knee;
  least.low = fit->knee_interval.low;
  found.findings.push_back(std::move(least));
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
    Finding least = finding_of("in_flight_at_least", unit_series, "count", method);
    least.value = test.least_capacity;
    least.low = test.least_capacity;
    found.findings.push_back(std::move(least));
  }
}

/// Where latencies differ from line to line, a round takes the longest of its loads' and Little's
/// law wants their mean, which a single chase gives.
void take_mean_latencies(const DeviceInfo& device, std::span<const Point> points,
                         std::vector<CurveFinding>& curves) {
  for (const Point& point : points) {
    if (!is_chain(point) || !point.failure.empty()) continue;
    const InflightShape shape = InflightShape::of(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (shape.work_items * shape.chains != 1 || !time) continue;
    const double cycles = time->ns * device.clock.ticks_per_ns;
    for (CurveFinding& curve : curves) {
      if (curve.pattern.target != shape.pattern.target || !(curve.latency_cycles > 0.0)) continue;
      const double share = std::min(1.0, cycles / curve.latency_cycles);
      const auto less = [share](std::int64_t count) {
        return static_cast<std::int64_t>(share * static_cast<double>(count));
      };
      curve.least_requests = less(curve.least_requests);
      curve.least_instructions = less(curve.least_instructions);
    }
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
  // Chains of one work-item on a processor: what its core has outstanding.
  if (device.type == "cpu" && far != fits.end()) {
    const Saturation& fit = far->second;
    Finding parallelism =
        finding_of(fit.is_reached ? "memory_parallelism" : "memory_parallelism_at_least",
                   unit_series, "count", "saturation");
    parallelism.value = fit.knee;
    parallelism.low = fit.knee_interval.low;
    if (fit.is_reached) parallelism.high = fit.knee_interval.high;
    found.findings.push_back(std::move(parallelism));
  }
  if (near != fits.end() && far != fits.end()) {
    add_comparison(found, compare_latencies(near->second, far->second));
  }
}

}  // namespace

std::int64_t sub_group_of(const DeviceInfo& device) {
  constexpr std::int64_t usual = 32;  // where the driver does not say
  return device.sub_group_size > 1 ? device.sub_group_size : usual;
}

std::vector<ThreadLatencyCurve> thread_latency_curves(std::span<const Point> points,
                                                      std::vector<std::string>& series) {
  std::vector<ThreadLatencyCurve> curves;
  const double overhead = overhead_of(points);
  for (const Point& point : points) {
    const std::vector<double> rounds = rounds_of(point);
    const bool is_other = is_chain(point) || is_loaded(point) || point.series == overhead_series;
    if (rounds.empty() || is_other) continue;
    const InflightShape shape = InflightShape::of(point);
    const auto place = std::find(series.begin(), series.end(), point.series) - series.begin();
    if (place == static_cast<std::ptrdiff_t>(series.size())) {
      series.push_back(point.series);
      curves.push_back({shape.pattern, overhead, {}});
    }
    curves[static_cast<std::size_t>(place)].points.push_back(
        {static_cast<int>(shape.work_items), rounds});
  }
  return curves;
}

Findings inflight_findings(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  std::vector<std::string> series;
  const auto curves = thread_latency_curves(points, series);
  // A processor runs the work-items one after another, so that its curves say nothing of a limit.
  if (!curves.empty() && device.type != "cpu") {
    const auto sub_group = static_cast<int>(sub_group_of(device));
    std::vector<CurveFinding> each = find_spikes(curves, sub_group);
    take_mean_latencies(device, points, each);
    const OutstandingLimit limit = infer_limit(each, sub_group);
    add_limit(found, limit);
    if (const auto claim = claim_of_paper(each)) {
      Finding beside = finding_of("advice", unit_series, "", "thread-latency");
      beside.label = set_beside(limit, *claim);
      found.findings.push_back(std::move(beside));
    }
    for (std::size_t i = 0; i < each.size(); ++i) add_curve(found, series[i], each[i]);
  }
  add_chains(found, device, points);
  add_loaded_findings(device, points, found);
  return found;
}

}  // namespace clprobe
