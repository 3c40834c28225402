// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "probes/launch/middle.hpp"
#include "probes/shared/any_run.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/relative_line.hpp"

namespace clprobe::launch {
namespace {

constexpr std::string_view median_method = "median";
constexpr std::string_view slope_method = "slope over the number of launches";
constexpr std::string_view difference_method = "difference from queued";

/// What a launch takes where so many are waited for together.
struct Cost {
  Shape shape{};
  Estimate each{};
  Interval sure{};  // where the median may be, by its samples
  double least{0.0};
  bool is_imported{false};
};

/// Of one series, by the number of launches.
std::vector<Cost> costs_in(std::string_view series, const DeviceInfo& device,
                           std::span<const Point> points) {
  std::vector<Cost> all;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time) continue;
    const std::vector<double> times = access_times_ns(point, device);
    all.push_back({*shape, *time, interval_of_median(times),
                   *std::min_element(times.begin(), times.end()), shape->timer == Timer::imported});
  }
  std::sort(all.begin(), all.end(),
            [](const Cost& a, const Cost& b) { return a.shape.launches < b.shape.launches; });
  return all;
}

Finding seconds_of(std::string_view name, std::string_view series, std::string_view method,
                   double ns, const Interval& interval) {
  return finding_of(name, series, "seconds", method, ns / ns_per_second,
                    interval.low / ns_per_second, interval.high / ns_per_second);
}

Finding median_of(std::string_view name, std::string_view series, const Cost& cost) {
  Finding finding = seconds_of(name, series, median_method, cost.each.ns, cost.each.ns_interval);
  if (cost.is_imported) {  // one number of another tool is not exact because it is one
    finding.low.reset();
    finding.high.reset();
  }
  return finding;
}

/// What a compiler takes where nobody takes the core or its caches from it. In eight runs with an
/// H200 the least of four builds was at most 10 % off its middle, and their median 39 %.
Finding min_of(std::string_view name, std::string_view series, const Cost& cost) {
  return seconds_of(name, series, "minimum", cost.least, {cost.least, cost.least});
}

void add_slow_round_trip(Findings& found, std::span<const Point> points) {
  for (const Point& point : points) {
    const std::optional<double> slow = number_in(point.facts, slow_ns);
    if (point.series != queued_series || !point.failure.empty() || !slow) continue;
    Finding finding =
        finding_of("slow_round_trip", queued_series, "seconds", "99th percentile of 1,000");
    finding.value = *slow / ns_per_second;
    const std::optional<double> low = number_in(point.facts, slow_low_ns);
    const std::optional<double> high = number_in(point.facts, slow_high_ns);
    if (low && high) {
      finding.low = *low / ns_per_second;
      finding.high = *high / ns_per_second;
    }
    found.findings.push_back(std::move(finding));
    return;
  }
}

/// The line through what so many launches take together, in ns.
Line line_through(const std::vector<Cost>& all) {
  std::vector<double> launches;
  std::vector<double> times;
  for (const Cost& each : all) {
    const auto count = static_cast<double>(each.shape.launches);
    launches.push_back(count);
    times.push_back(count * each.each.ns);
  }
  return fit_relative_line(launches, times);
}

constexpr std::size_t fewest = 3;  // of which the line leaves something over

/// By which share plain launches lie off their line, as half a 95 % interval. A driver that is in
/// one of two states while a point is visited has samples that agree, and are off together. Seven
/// runs with an H200 had costs up to a third of a launch apart whose launches were on their lines.
double share_off_line(const std::vector<Cost>& plain) {
  constexpr double at_least = 0.12;
  if (plain.size() <= fewest) return at_least;
  constexpr std::uint64_t many = 16;  // of fewer the wait is most
  const Line line = line_through(plain);
  double squares = 0.0;
  double count = 0.0;
  for (const Cost& each : plain) {
    if (each.shape.launches < many) continue;
    const auto launches = static_cast<double>(each.shape.launches);
    const double error = (line.intercept / launches + line.slope) / each.each.ns - 1.0;
    squares += error * error;
    ++count;
  }
  if (!(count > 0.0)) return at_least;
  return std::max(at_least, student_t(normal_degrees) * std::sqrt(squares / count));
}

/// What a further launch adds to the time, so that the wait at the end is left out.
void add_launch_time(Findings& found, const std::vector<Cost>& all) {
  if (all.size() < fewest) {
    const Cost& most = all.back();
    if (most.shape.launches == 1) return;
    found.findings.push_back(median_of("launch_time", queued_series, most));
    found.findings.back().method = "median, including the wait";
    return;
  }
  const Line line = line_through(all);
  if (!(line.slope > 0.0)) {
    found.findings.push_back(without_value("launch_time", queued_series, slope_method,
                                           "more launches do not take more time", "seconds"));
    return;
  }
  const Interval slope{std::max(0.0, line.slope_interval.low), line.slope_interval.high};
  found.findings.push_back(
      seconds_of("launch_time", queued_series, slope_method, line.slope, slope));
  Finding rate = finding_of("launch_rate", queued_series, "operations_per_second", slope_method,
                            ns_per_second / line.slope, ns_per_second / slope.high, 0.0);
  if (slope.low > 0.0) {
    rate.high = ns_per_second / slope.low;
  } else {
    rate.high.reset();
  }
  found.findings.push_back(std::move(rate));
}

void add_queued(Findings& found, const std::vector<Cost>& all, std::span<const Point> points) {
  if (all.front().shape.launches == 1) {
    found.findings.push_back(median_of("round_trip", queued_series, all.front()));
    add_slow_round_trip(found, points);
  }
  add_launch_time(found, all);
}

/// By how much a launch with something more is dearer than a plain one of as many. Either may be
/// where its samples were seen, and as far from that as plain launches are off their line,
/// independently of the other ("method of variance estimates recovery", as in docs/compare.md).
Finding extra_cost(std::string_view series, const Cost& cost, const std::vector<Cost>& plain) {
  const auto same = std::find_if(plain.begin(), plain.end(), [&](const Cost& each) {
    return each.shape.launches == cost.shape.launches;
  });
  if (same == plain.end()) {
    return without_value("extra_cost", series, difference_method,
                         fmt::format("{} launches of the series {} were not measured",
                                     cost.shape.launches, queued_series),
                         "seconds");
  }
  const double more = cost.each.ns - same->each.ns;
  const double off = share_off_line(plain) * std::hypot(cost.each.ns, same->each.ns);
  const double below =
      std::hypot(cost.each.ns - cost.sure.low, same->sure.high - same->each.ns, off);
  const double above =
      std::hypot(cost.sure.high - cost.each.ns, same->each.ns - same->sure.low, off);
  return seconds_of("extra_cost", series, difference_method, more, {more - below, more + above});
}

Finding found_of(const SeriesSpec& series, std::string_view name, const Cost& cost,
                 const std::vector<Cost>& plain) {
  if (cost.shape.is_extra()) return extra_cost(series.name, cost, plain);
  const bool is_least = series.manner == Manner::build && !cost.is_imported;
  return is_least ? min_of(name, series.name, cost) : median_of(name, series.name, cost);
}

/// What a driver looks up, and the first launch of a new size, is more than a thread's own work.
double share_of_host(const Finding& finding, DeviceType type) {
  constexpr double of_driver = 0.2;
  const bool is_of_driver = finding.series == build_again_series || finding.name == "first_launch";
  return is_of_driver ? of_driver : thread_share(type);
}

/// Widens what the host's state decides to what it is in any run.
void widen_to_any_run(Finding& finding, DeviceType type) {
  const bool is_time = finding.unit == "seconds" && finding.name != "extra_cost";
  if (!is_time || !finding.value || !finding.low || !finding.high) return;
  // How deep a host has gone to sleep is another matter each time: of four runs with a Xeon the
  // first launch took 0.22, 0.33, 0.39 and 0.61 ms.
  const bool is_of_sleep = finding.series == idle_series;
  // From one kernel to the next it is the device that decides, most of the time. Where that is the
  // host, threads that wake each other do: of ten runs of a Xeon the gap was 0.79 to 1.38 us.
  const bool is_of_device = finding.name == "gap" || finding.name == "period";
  const double device_share = type == DeviceType::cpu ? 0.35 : 0.1;
  const Interval wide = of_any_run({*finding.low, *finding.high}, *finding.value,
                                   is_of_device ? device_share : share_of_host(finding, type));
  finding.low = is_of_sleep ? std::min(wide.low, *finding.value / 2.0) : wide.low;
  finding.high = is_of_sleep ? std::max(wide.high, *finding.value * 2.0) : wide.high;
  // The slope of all lengths of queues differs less between runs than visits of a length do, of
  // which some are held up.
  finding.holds_scatter = finding.name == "launch_time";
}

}  // namespace

std::string_view main_finding_of(const SeriesSpec& series) {
  switch (series.manner) {
    case Manner::plain:
      return series.name == queued_series ? "launch_time" : "extra_cost";
    case Manner::event:
    case Manner::wait_list:
    case Manner::changed_argument:
    case Manner::two_programs:
    case Manner::out_of_order:
    case Manner::command_buffer:
      return "extra_cost";
    case Manner::back_to_back:
      return "gap";
    case Manner::start_to_start:
      return "period";
    case Manner::after_idling:
      return "cold_round_trip";
    case Manner::new_local_size:
      return "first_launch";
    case Manner::build:
    case Manner::build_again:
      return "build_time";
  }
  return {};
}

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape, Seen>(point);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const std::vector<Cost> plain = costs_in(queued_series, device, points);
  if (!plain.empty()) add_queued(found, plain, points);
  for (const SeriesSpec& series : all_series) {
    if (series.name == queued_series) continue;
    const std::vector<Cost> all = costs_in(series.name, device, points);
    if (all.empty()) continue;
    const std::string_view name = main_finding_of(series);
    found.findings.push_back(found_of(series, name, all.front(), plain));
  }
  for (Finding& each : found.findings) widen_to_any_run(each, device.type);
  return found;
}

}  // namespace clprobe::launch
