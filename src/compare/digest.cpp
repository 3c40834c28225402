// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/stacks.hpp"
#include "compare/api/disturbance.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

/// Time of one point, and the relative spread of its samples.
struct Spread {
  double seconds{0.0};
  double share{0.0};
};

/// Returns half the width of the 95 % interval of the mean of `values` normal values, in units of
/// their range. The factors are 1.96 divided by the mean range of normal values (Tippett 1925:
/// 1.128, 1.693, ...) and by the square root of their number. For two values, the factor is limited
/// to 1.
double error_of_mean(std::size_t values) {
  constexpr std::array shares{1.0, 0.668, 0.476, 0.377, 0.316};
  constexpr std::size_t fewest = 2;
  return shares.at(std::min(std::max(values, fewest) - fewest, shares.size() - 1));
}

/// Returns the relative uncertainty of a point's time, from the differences between its visits. For
/// a single visit, or for an estimate from the best visits, the uncertainty is that of the
/// estimate's interval.
double spread_of(const Point& point, const Estimate& time, const DeviceInfo& device) {
  const std::vector<double> visits = visit_estimates_ns(point, device);
  if (visits.size() < 2 || time.holds_visits) return time.ns_interval.high / time.ns - 1.0;
  const auto [least, most] = std::ranges::minmax_element(visits);
  return (*most / *least - 1.0) * error_of_mean(visits.size());
}

std::vector<Spread> spreads_of(const std::vector<TimedPoint>& points, const DeviceInfo& device) {
  std::vector<Spread> spreads;
  for (const auto& [point, time] : points) {
    if (time) spreads.push_back({time->ns * 1e-9, spread_of(*point, *time, device)});
  }
  return spreads;
}

/// Returns the relative spread between runs that a finding's samples suggest: the upper quartile of
/// the spreads of the points whose times lie within 5 % of the finding's interval.
double spread_behind(const Finding& finding, double seconds, std::span<const Spread> spreads) {
  constexpr double near = 0.05;
  constexpr double quartile = 0.75;
  const double scale = seconds / *finding.value;
  const double low = finding.low.value_or(*finding.value) * scale * (1.0 - near);
  const double high = finding.high.value_or(*finding.value) * scale * (1.0 + near);
  std::vector<double> shares;
  for (const Spread& each : spreads) {
    if (each.seconds >= low && each.seconds <= high) shares.push_back(each.share);
  }
  return shares.empty() ? 0.0 : quantile(shares, quartile);
}

/// Returns the spread of a share: the upper quartile of the spreads of all points of its series. A
/// share is derived from differences of their times.
double spread_of_all(std::span<const Spread> spreads) {
  constexpr double quartile = 0.75;
  std::vector<double> shares;
  for (const Spread& each : spreads) shares.push_back(each.share);
  return shares.empty() ? 0.0 : quantile(shares, quartile);
}

/// Returns half the relative width of the interval of the calibrated clock rate.
double calibration_share(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  if (device.timer != Timer::clock || !(clock.ticks_per_ns > 0.0)) return 0.0;
  const double width = (clock.ticks_per_ns_high - clock.ticks_per_ns_low) / clock.ticks_per_ns;
  return std::isfinite(width) ? std::max(0.0, width / 2.0) : 0.0;
}

/// Returns the core clock; nothing if another timer measured the accesses, or if the clock does not
/// count core cycles.
std::optional<CoreClock> core_clock(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  const bool is_core = device.timer == Timer::clock && clock.rate == ClockRate::core_cycles;
  if (!is_core || !(clock.ticks_per_ns > 0.0)) return std::nullopt;
  return CoreClock{clock.ticks_per_ns * ns_per_second, clock.ticks_per_ns_low * ns_per_second,
                   clock.ticks_per_ns_high * ns_per_second};
}

/// Returns the spread of the samples from which a finding is derived.
double scatter_of(const Finding& finding, const DeviceInfo& device,
                  std::span<const Spread> spreads) {
  if (finding.value && finding.unit == "share") return spread_of_all(spreads);
  if (!finding.value || !(*finding.value > 0.0)) return 0.0;
  if (finding.unit == "seconds") return spread_behind(finding, *finding.value, spreads);
  // To first order, the relative interval of a rate equals that of the time of one byte.
  if (finding.unit == "bytes_per_second") {
    return spread_behind(finding, 1.0 / *finding.value, spreads);
  }
  const double ticks_per_second = device.clock.ticks_per_ns * ns_per_second;
  if (finding.unit == "cycles" && ticks_per_second > 0.0) {
    return spread_behind(finding, *finding.value / ticks_per_second, spreads);
  }
  return 0.0;
}

/// Returns the step of the grid of measured sizes around a finding's size, as a logarithm: the
/// largest step that its bracket touches. For grids in another unit than bytes (strides in
/// elements), returns the median step.
double step_of(const Finding& finding, const ComparedCurve* curve) {
  if (curve == nullptr || !finding.value || !is_bracket(finding)) return 0.0;
  std::vector<double> sizes;
  for (const ComparedPoint& point : curve->points) {
    if (point.size > 0.0) sizes.push_back(point.size);
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.size() < 2) return 0.0;
  const bool is_in_bytes = curve->varying.front().ends_with("_bytes");
  const double low = finding.low.value_or(*finding.value);
  const double high = finding.high.value_or(*finding.value);
  std::vector<double> steps;
  double widest = 0.0;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    steps.push_back(std::log(sizes[i] / sizes[i - 1]));
    const bool is_around = sizes[i] >= low && sizes[i - 1] <= high;
    if (is_around) widest = std::max(widest, steps.back());
  }
  return is_in_bytes ? widest : median(steps);
}

ComparedFinding compared_finding(const Finding& finding, const DeviceInfo& device,
                                 const TimedBy& timed, std::span<const Spread> spreads,
                                 const ComparedCurve* curve, double disturbance) {
  const double margin = finding.holds_scatter ? 0.0 : scatter_of(finding, device, spreads);
  ComparedFinding compared{.finding = finding,
                           .margin = margin,
                           .step = step_of(finding, curve),
                           .disturbance = disturbance};
  const bool is_in_seconds = finding.unit == "seconds" || finding.unit == "bytes_per_second";
  const bool is_in_cycles = finding.unit == "cycles" || finding.unit == "bytes_per_cycle";
  if (is_in_seconds && timed.clock) compared.calibration = calibration_share(device);
  if ((is_in_seconds && !timed.launches) || is_in_cycles) compared.clock = core_clock(device);
  return compared;
}

/// Returns the value of the larger finding that contains the finding as a part; 0 without such a
/// finding.
double whole_of(const Finding& finding, std::span<const Finding> all) {
  if (finding.part_of.empty()) return 0.0;
  const auto whole = std::ranges::find_if(all, [&](const Finding& each) {
    return each.name == finding.part_of && each.unit == finding.unit && each.value;
  });
  return whole == all.end() ? 0.0 : std::max(0.0, *whole->value);
}

ComparedResult digest_result(const ProbeResult& result, const DeviceInfo& device,
                             const Meanwhile& meanwhile) {
  ComparedResult compared{.probe = result.probe,
                          .method = result.method,
                          .view = result.view,
                          .status = result.status,
                          .reason = result.reason};
  for (const KernelBuild& each : result.kernels) compared.kernels.push_back(each.sha256);
  // A result in which points failed is incomplete.
  const auto failed =
      std::ranges::count_if(result.points, [](const Point& each) { return !each.failure.empty(); });
  if (failed > 0 && compared.status == Status::ok) {
    compared.status = Status::failed;
    compared.reason = fmt::format("{} of {} points failed", failed, result.points.size());
  }
  const bool is_rate = result.unit != Unit::seconds;
  std::map<std::string, std::vector<Spread>, std::less<>> spreads;
  const SeriesTimers timers(result, device);
  for (const std::vector<TimedPoint>& points : points_by_series(result, device)) {
    ComparedCurve curve = curve_of(points, is_rate, result.view.x);
    spreads[curve.series] = spreads_of(points, device);
    if (!curve.points.empty()) compared.curves.push_back(std::move(curve));
  }
  for (const Finding& each : result.findings) {
    if (each.role == Role::remark || each.role == Role::advice) continue;
    // The disturbance is stored separately, since two runs may have a part of it in common.
    const Finding finding = without_disturbance(each);
    const TimedBy by = timers.of(finding);
    const auto curve = std::ranges::find(compared.curves, finding.series, &ComparedCurve::series);
    compared.findings.push_back(
        compared_finding(finding, device, by, spreads[finding.series],
                         curve == compared.curves.end() ? nullptr : &*curve,
                         disturbance_of(finding, result, by, device, meanwhile)));
    compared.findings.back().whole = whole_of(finding, result.findings);
    const auto title = result.card.titles.find(finding.series);
    if (title != result.card.titles.end()) compared.findings.back().series_title = title->second;
  }
  return compared;
}

/// Returns the core clock as a separate result with one finding.
ComparedResult clock_result(const CoreClock& clock, Timer against) {
  Finding rate{.name = "rate", .series = "core"};
  rate.value = clock.hertz;
  rate.low = clock.low;
  rate.high = clock.high;
  rate.unit = "hertz";
  rate.better = usual_direction(rate.unit);
  rate.method = fmt::format("calibration against {}", to_word(against));
  ComparedResult result{.probe = std::string(clock_section)};
  result.findings.push_back({.finding = std::move(rate)});
  return result;
}

}  // namespace

RunDigest digest(const Run& run, std::string_view file) {
  RunDigest result{.file = std::string(file),
                   .device = run.device.name,
                   .label = run.label,
                   .driver = run.device.driver,
                   .uuid = run.device.uuid,
                   .platform = fmt::format("{}, {}", run.device.platform, run.device.version),
                   .platform_index = run.device.platform_index,
                   .started = run.started,
                   .type = run.device.type,
                   .compute_units = run.device.compute_units,
                   .interrupted = run.interrupted};
  result.tool = run.imported ? run.imported->tool
                             : fmt::format("clprobe {} {}", run.tool.version, run.tool.commit);
  for (const Warning& warning : run.warnings) {
    if (warning.code == "device_failed") {
      result.failure = warning.facts.text_or("reason", "the device failed");
    }
  }
  if (const auto clock = core_clock(run.device)) {
    result.results.push_back(clock_result(*clock, run.device.launch_timer));
  }
  const std::vector<Disturbance> disturbances = find_disturbances(run);
  const Meanwhile meanwhile = meanwhile_of(run, disturbances);
  for (const ProbeResult& each : run.results) {
    result.results.push_back(digest_result(each, run.device, meanwhile));
    for (ComparedFinding& finding : result.results.back().findings) {
      finding.is_of_virtual_cpu = meanwhile.is_virtual_cpu;
    }
  }
  name_levels(result, run.imported.has_value());
  return result;
}

}  // namespace clprobe
