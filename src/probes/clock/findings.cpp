// SPDX-License-Identifier: Apache-2.0
#include "probes/clock/findings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "probes/clock/shape.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::clock {
namespace {

/// The clock at a moment of a load, and what else was seen then.
struct Moment {
  double end_s{0.0};
  double hertz{0.0};
  Seen seen{};
  std::optional<double> watts{};
};

// What fewer moments say of a course is chance.
constexpr std::size_t fewest_of_course = 6;

constexpr std::string_view last_third = "median of the last third";

std::vector<Moment> moments_of(std::string_view series, const DeviceInfo& device,
                               std::span<const Point> points) {
  constexpr double ms_per_s = 1e3;
  constexpr double mw_per_watt = 1e3;
  std::vector<Moment> moments;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time || !(time->ns > 0.0)) continue;
    Moment moment{static_cast<double>(shape->time_ms) / ms_per_s, ns_per_second / time->ns,
                  find_shape<Seen>(point).value_or(Seen{}), number_in(point.facts, "power_mw")};
    if (moment.watts) *moment.watts /= mw_per_watt;
    moments.push_back(moment);
  }
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.end_s < b.end_s; });
  return moments;
}

/// One value of each moment that has it, which is above 0.
std::vector<double> each_of(std::span<const Moment> moments,
                            const std::function<double(const Moment&)>& value) {
  std::vector<double> values;
  for (const Moment& each : moments) {
    const double found = value(each);
    if (found > 0.0 && std::isfinite(found)) values.push_back(found);
  }
  return values;
}

double clock_at(const Moment& moment) { return moment.hertz; }

std::span<const Moment> last_of(std::span<const Moment> moments) {
  return moments.last(std::max<std::size_t>(1, moments.size() / 3));
}

/// After the last moment at which it and the one before were both off by more than a share: a
/// single one may have been disturbed.
double settled_after(std::span<const Moment> moments, double sustained, double near) {
  const auto is_off = [&](const Moment& each) {
    return std::fabs(each.hertz - sustained) > near * sustained;
  };
  double settled = 0.0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool is_still = is_off(moments[i]) && (i == 0 || is_off(moments[i - 1]));
    if (is_still) settled = moments[i].end_s;
  }
  return settled;
}

/// Of the moments those below a part of a clock that are not alone: what disturbs a measurement
/// does so for a moment, what lowers a clock for longer.
double share_below(std::span<const Moment> moments, double clock, double part) {
  const auto is_low = [&](std::size_t i) { return moments[i].hertz < part * clock; };
  std::size_t low = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool has_neighbour =
        (i > 0 && is_low(i - 1)) || (i + 1 < moments.size() && is_low(i + 1));
    if (is_low(i) && has_neighbour) ++low;
  }
  return static_cast<double>(low) / static_cast<double>(moments.size());
}

/// The best clock that was kept for a second, or for a third of a shorter load: one that rises for
/// a moment, as where neighbours on the same host rest, could not have been kept.
double best_kept(std::span<const Moment> moments) {
  constexpr double long_enough_s = 1.0;
  const std::size_t third = std::max<std::size_t>(1, moments.size() / 3);
  const double slot_s = moments.back().end_s / static_cast<double>(moments.size());
  const std::size_t second =
      slot_s > 0.0 ? static_cast<std::size_t>(std::ceil(long_enough_s / slot_s)) : third;
  const std::size_t window = std::min(third, second);
  double best = 0.0;
  for (std::size_t i = 0; i + window <= moments.size(); ++i) {
    best = std::max(best, median(each_of(moments.subspan(i, window), clock_at)));
  }
  return best;
}

/// Once the clock has risen: that it does so is no throttling.
std::span<const Moment> risen(std::span<const Moment> moments, double best) {
  constexpr double nearly = 0.97;
  const auto first = std::find_if(moments.begin(), moments.end(),
                                  [&](const Moment& each) { return each.hertz >= nearly * best; });
  return moments.subspan(static_cast<std::size_t>(first - moments.begin()));
}

void add_course(Findings& found, const SeriesSpec& series, std::span<const Moment> moments,
                double sustained) {
  if (moments.size() < fewest_of_course) return;
  const std::vector<double> all = each_of(moments, clock_at);
  // Where the clock goes on wavering, half or twice the share says something else.
  found.findings.push_back(
      finding_of("settling_time", series.name, "seconds", "within 1 % from then on",
                 settled_after(moments, sustained, 0.01), settled_after(moments, sustained, 0.02),
                 settled_after(moments, sustained, 0.005)));
  const double best = best_kept(moments);
  const std::span<const Moment> later = risen(moments, best);
  found.findings.push_back(
      finding_of("throttled", series.name, "share", "below 97 % of the clock in the best second",
                 share_below(later, best, 0.97), share_below(later, best, 0.96),
                 share_below(later, best, 0.98)));
  Finding spread =
      finding_of("spread", series.name, "share", "5th to 95th percentile of the moments");
  spread.value = (quantile(all, 0.95) - quantile(all, 0.05)) / median(all);
  found.findings.push_back(std::move(spread));
}

void add_median(Findings& found, std::string_view name, const SeriesSpec& series,
                std::string_view unit, const std::vector<double>& values) {
  if (values.empty()) return;
  Finding finding = finding_of(name, series.name, unit, last_third, median(values),
                               quantile(values, 0.25), quantile(values, 0.75));
  // What one moment says has no interval.
  constexpr std::size_t fewest = 4;
  if (values.size() < fewest) finding.low = finding.high = std::nullopt;
  found.findings.push_back(std::move(finding));
}

double operations_at(const Moment& moment) {
  return static_cast<double>(moment.seen.operations) /
         static_cast<double>(moment.seen.launched_ns) * ns_per_second;
}

double bandwidth_at(const Moment& moment) {
  return static_cast<double>(moment.seen.moved_bytes) /
         static_cast<double>(moment.seen.launched_ns) * ns_per_second;
}

/// What the load reached: a slow clock and a slow memory look alike in programs, and not here. Of
/// both loads at once each half's part, of which no unit's own is known.
void add_throughput(Findings& found, const SeriesSpec& series, const DeviceInfo& device,
                    std::span<const Moment> moments) {
  const std::span<const Moment> last = last_of(moments);
  const bool is_both = series.load == Load::both;
  if (series.load == Load::arithmetic || is_both) {
    add_median(found, "operations", series, "operations_per_second", each_of(last, operations_at));
  }
  if (series.load == Load::arithmetic) {
    const auto units = static_cast<double>(units_of(device));
    const auto by_cycle = [units](const Moment& moment) {
      return operations_at(moment) / moment.hertz / units;
    };
    add_median(found, "unit_operations", series, "operations_per_cycle", each_of(last, by_cycle));
  }
  if (series.load != Load::stream && !is_both) return;
  add_median(found, "bandwidth", series, "bytes_per_second", each_of(last, bandwidth_at));
  // How two loads share a device is another matter in each run: in six with an H200, three minutes
  // in all, what reads got beside arithmetic fell from 2.31 to 2.16 TB/s.
  if (is_both && !found.findings.empty()) found.findings.back().role = Role::passing;
  const std::vector<double> first =
      each_of(moments.first(std::max<std::size_t>(1, moments.size() / 3)), bandwidth_at);
  const std::vector<double> end = each_of(last, bandwidth_at);
  const bool has_course = moments.size() >= fewest_of_course && !first.empty() && !end.empty();
  if (!has_course) return;
  Finding drift = finding_of("bandwidth_drift", series.name, "share",
                             "median of the last third compared with the first third");
  drift.value = median(end) / median(first) - 1.0;
  found.findings.push_back(std::move(drift));
}

/// Nothing draws 0 W: a meter that said so had not changed since it was read last.
bool has_power(const Moment& moment) { return moment.watts && *moment.watts > 0.0; }

void add_power(Findings& found, const SeriesSpec& series, std::span<const Moment> moments) {
  constexpr std::string_view method = "mean of the last third";
  // Of a meter that is read faster than it changes a moment has none of its own power or that of
  // others as well, and a few moments of a load that ends have no right mean.
  constexpr double few = 0.1;
  const auto none = std::count_if(moments.begin(), moments.end(), [](const Moment& each) {
    return each.watts && !has_power(each);
  });
  if (static_cast<double>(none) > few * static_cast<double>(moments.size())) {
    Finding power = without_value("power", series.name, method,
                                  "the meter was read more often than it updates", "watts");
    power.source = Source::reported;
    found.findings.push_back(std::move(power));
    return;
  }
  double sum = 0.0;
  int count = 0;
  for (const Moment& each : last_of(moments)) {
    if (!has_power(each)) continue;
    sum += *each.watts;
    ++count;
  }
  if (count == 0) return;
  Finding power = finding_of("power", series.name, "watts", method);
  power.value = sum / count;
  power.source = Source::reported;
  found.findings.push_back(std::move(power));
}

void add_missing_power(Findings& found, std::span<const Point> points) {
  for (const Point& point : points) {
    const std::string reason = point.facts.text_or(no_power_fact, "");
    if (reason.empty()) continue;
    Finding power = without_value("power", point.series, "meter", reason, "watts");
    power.source = Source::reported;
    found.findings.push_back(std::move(power));
    return;
  }
}

}  // namespace

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape, Seen>(point);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const SeriesSpec& series : all_series) {
    const std::vector<Moment> moments = moments_of(series.name, device, points);
    if (moments.empty()) continue;
    const std::vector<double> last = each_of(last_of(moments), clock_at);
    add_median(found, "clock", series, "hertz", last);
    add_course(found, series, moments, median(last));
    add_throughput(found, series, device, moments);
    add_power(found, series, moments);
  }
  add_missing_power(found, points);
  return found;
}

}  // namespace clprobe::clock
