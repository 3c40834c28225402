// SPDX-License-Identifier: Apache-2.0
// Cost of kernel launches. Method: docs/launch.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/launch/launch.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/host_effects.hpp"
#include "probes/shared/relative_line.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::launch {
namespace {

/// Returns the reason why the device cannot measure the series. If the device can, returns an
/// empty string.
std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr std::int64_t out_of_order = 1;  // CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
  if (series.manner == Manner::out_of_order &&
      (device.reported.integer_or("queue_properties", 0) & out_of_order) == 0) {
    return "the device has no out-of-order queues";
  }
  if (series.manner == Manner::command_buffer && !has_extension(device, "cl_khr_command_buffer")) {
    return "the device does not support cl_khr_command_buffer";
  }
  if (series.manner == Manner::new_local_size && device.max_work_group_size < 2) {
    return "the device allows only one work-item per work-group";
  }
  if (is_on_device(series.manner) && device.launch_timer != Timer::event) {
    return "the driver's event times are unreliable";
  }
  return {};
}

}  // namespace

Middle middle_half(std::span<const std::uint64_t> times_ns) {
  std::vector<std::uint64_t> times(times_ns.begin(), times_ns.end());
  std::sort(times.begin(), times.end());
  const std::size_t aside = (times.size() + 1) / 4;
  Middle middle;
  for (std::size_t i = aside; i + aside < times.size(); ++i) {
    ++middle.count;
    middle.ns += times[i];
  }
  return middle;
}

Interval interval_of_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  const double aside = student_t(normal_degrees) * std::sqrt(count) / 2.0;
  const double rank = std::max(1.0, std::floor(count / 2.0 - aside));
  const auto from_the_end = static_cast<std::size_t>(rank);
  return {sorted.at(from_the_end - 1), sorted.at(sorted.size() - from_the_end)};
}

Slow slow_one_in_100(std::span<const std::uint64_t> times_ns) {
  constexpr double share = 0.99;
  const std::vector<double> times(times_ns.begin(), times_ns.end());
  const auto count = static_cast<double>(times.size());
  const double aside = student_t(normal_degrees) * std::sqrt(share * (1.0 - share) / count);
  return {quantile(times, share),
          {quantile(times, share - aside), quantile(times, std::min(1.0, share + aside))}};
}

namespace {

constexpr std::string_view median_method = "median";
constexpr std::string_view slope_method = "slope over the number of launches";
constexpr std::string_view difference_method = "difference from queued";

/// Time per launch at a certain number of launches per wait.
struct Cost {
  Shape shape{};
  Estimate each{};
  Interval sure{};  ///< interval of the median, from the samples alone
  double least{0.0};
  bool is_imported{false};
};

/// Returns the costs of one series, in the order of the number of launches.
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
  return seconds_of(name, series, median_method, cost.each.ns, cost.each.ns_interval);
}

/// Makes a finding of the minimum, which is the time of an undisturbed compiler. Eight runs of an
/// H200 made four builds each: the minima differed from their middle by at most 10 %, the medians
/// by 39 %.
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

/// Fits a line through the total times in ns over the numbers of launches per wait.
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

constexpr std::size_t fewest = 3;  // a line fits any two points

/// Returns half the width of a 95 % interval of the relative distance of plain launches from their
/// line; at least 12 %. A driver may be in one of two states during a visit. The samples of the
/// visit then agree with each other, but not with the line. In seven runs of an H200, plain
/// launches were close to their lines, but costs differed by up to a third of a launch.
double share_off_line(const std::vector<Cost>& plain) {
  constexpr double at_least = 0.12;
  if (plain.size() <= fewest) return at_least;
  constexpr std::uint64_t many = 16;  // with fewer launches the wait dominates the time
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

/// Adds the time of an additional launch: the slope, which excludes the wait at the end. For fewer
/// than three numbers of launches, adds the median of the largest, which includes the wait.
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
}

void add_queued(Findings& found, const std::vector<Cost>& all, std::span<const Point> points) {
  if (all.front().shape.launches == 1) {
    found.findings.push_back(median_of("round_trip", queued_series, all.front()));
    add_slow_round_trip(found, points);
  }
  add_launch_time(found, all);
}

/// Returns the extra cost per launch compared with plain launches, at the same number per wait. The
/// interval combines the scatter of the samples of both series with the distance of plain launches
/// from their line. The method is "method of variance estimates recovery", see docs/compare.md.
Finding extra_cost(std::string_view series, const Cost& cost, const std::vector<Cost>& plain) {
  const auto same = std::find_if(plain.begin(), plain.end(), [&](const Cost& each) {
    return each.shape.launches == cost.shape.launches;
  });
  if (same == plain.end()) {
    return without_value("extra_cost", series, difference_method,
                         fmt::format("{} launches per wait were not measured in the series {}",
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

Finding found_of(const SeriesSpec& series, const Cost& cost, const std::vector<Cost>& plain) {
  if (cost.shape.is_extra()) return extra_cost(series.name, cost, plain);
  const bool is_least = series.finding == "minimum_build_time" && !cost.is_imported;
  return is_least ? min_of(series.finding, series.name, cost)
                  : median_of(series.finding, series.name, cost);
}

/// Returns the relative variation of a time between runs that is due to the host. Lookups by the
/// driver and launches with a new work-group size vary more than a thread's own work.
double share_of_host(const Finding& finding, DeviceType type) {
  constexpr double of_driver = 0.2;
  const bool is_of_driver = finding.series == build_again_series || finding.name == "first_launch";
  return is_of_driver ? of_driver : thread_share(type);
}

/// Widens the interval of a time, except an extra cost, by the variation between runs.
void widen_to_any_run(Finding& finding, DeviceType type) {
  const bool is_time = finding.unit == "seconds" && finding.name != "extra_cost";
  if (!is_time || !finding.value || !finding.low || !finding.high) return;
  // The depth of the host's sleep states differs between runs. In four runs of a Xeon the first
  // launch after idling took 0.22, 0.33, 0.39 and 0.61 ms.
  const bool is_of_sleep = finding.series == idle_series;
  // On a GPU the gap between kernels mostly depends on the device. On a CPU the gap depends on
  // threads that wake each other: in ten runs of a Xeon the gap was 0.79 to 1.38 us.
  const bool is_of_device = finding.name == "gap" || finding.name == "period";
  const double device_share = type == DeviceType::cpu ? 0.35 : 0.1;
  const Interval wide = of_any_run({*finding.low, *finding.high}, *finding.value,
                                   is_of_device ? device_share : share_of_host(finding, type));
  finding.low = is_of_sleep ? std::min(wide.low, *finding.value / 2.0) : wide.low;
  finding.high = is_of_sleep ? std::max(wide.high, *finding.value * 2.0) : wide.high;
  // The interval of `launch_time` already contains the scatter of visits. The value is the slope
  // over all numbers of launches, which differs less between runs than single visits.
  finding.holds_scatter = finding.name == "launch_time";
}

}  // namespace

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const std::vector<Cost> plain = costs_in(queued_series, device, points);
  if (!plain.empty()) add_queued(found, plain, points);
  for (const SeriesSpec& series : all_series) {
    if (series.name == queued_series) continue;
    const std::vector<Cost> all = costs_in(series.name, device, points);
    if (all.empty()) continue;
    found.findings.push_back(found_of(series, all.front(), plain));
  }
  for (Finding& each : found.findings) widen_to_any_run(each, device.type);
  return found;
}

namespace {

/// Returns the format `words` with a time in place of {}. Returns an empty string without a time.
std::string time_of(const ProbeResult& result, std::string_view name, std::string_view series,
                    std::string_view words) {
  const Finding* const found = find_value(result.findings, name, series);
  return found == nullptr ? std::string()
                          : fmt::format(fmt::runtime(words), format_seconds(*found->value));
}

/// Returns "event +0.41 µs" for a cost whose interval excludes 0. Returns an empty string for
/// other costs.
std::string sure_cost(const Finding& cost) {
  if (cost.low.value_or(*cost.value) <= 0.0 && cost.high.value_or(*cost.value) >= 0.0) return {};
  return fmt::format("{} {}{}", cost.series, *cost.value > 0.0 ? "+" : "",
                     format_seconds(*cost.value));
}

/// Joins texts with commas: "30.1 µs, after idling 78.2 µs". Empty texts are left out.
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) append(text, ", ", part);
  return text;
}

void add_row(Card& card, std::string_view topic, std::string text) {
  if (!text.empty()) card.rows.push_back({std::string(topic), std::move(text)});
}

Card card(const ProbeResult& result) {
  Card card;
  const std::string alone = time_of(result, "round_trip", queued_series, "{} to launch and wait");
  const std::string queued = time_of(result, "launch_time", queued_series, "{} each when queued");
  std::string line = joined({alone, queued});
  if (!line.empty()) card.lines.push_back({"launch", std::move(line)});

  add_row(card, "alone",
          joined({time_of(result, "round_trip", queued_series, "{}"),
                  time_of(result, "slow_round_trip", queued_series, "99th percentile {}"),
                  time_of(result, "cold_round_trip", idle_series, "after idling {}")}));
  add_row(card, "queued",
          joined({time_of(result, "launch_time", queued_series, "{} per launch"),
                  time_of(result, "gap", gap_series, "gap of {} on the device")}));
  std::string extras;
  for (const Finding& each : result.findings) {
    if (each.name == "extra_cost" && each.value) append(extras, ", ", sure_cost(each));
  }
  add_row(card, "more", std::move(extras));
  add_row(card, "first",
          joined({time_of(result, "minimum_build_time", build_series, "build {}"),
                  time_of(result, "minimum_build_time", build_again_series, "again {}"),
                  time_of(result, "first_launch", local_size_series, "new work-group size {}")}));
  return card;
}

constexpr Option options[]{
    {.name = "launches",
     .value_name = "LIST",
     .summary = "number of launches before each wait, such as 1,16,256 or 1-8",
     .details =
         "Number of launches before each wait: numbers and ranges from 1 to 65,536. Default: 1, "
         "16, 256 and 4,096; with --quick, powers of 4 from 1 to 1,024; with --thorough, powers of "
         "4 from 1 to 4,096. Series that clprobe compares with plain launches use the largest "
         "number up to 256, or the smallest number if all are larger.",
     .value = Numbers{1, 65536}},
    {.name = "idle",
     .value_name = "MS",
     .summary = "idle time in ms before each launch of the series after-idling",
     .details = "Idle time of the device before each launch of the series `after-idling`, in "
                "milliseconds. Default: 100, or 2000 with --thorough.",
     .value = Number{1, 60000}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "round_trip", .unit = "seconds", .role = Role::headline},
    {.name = "slow_round_trip", .unit = "seconds", .role = Role::passing},
    {.name = "cold_round_trip", .unit = "seconds", .role = Role::passing},
    {.name = "launch_time", .unit = "seconds", .role = Role::headline},
    // `gap` and `period` are parts of the launch time on the device.
    {.name = "gap", .unit = "seconds"},
    {.name = "period", .unit = "seconds"},
    {.name = "extra_cost", .unit = "seconds", .role = Role::passing, .part_of = "launch_time"},
    {.name = "first_launch", .unit = "seconds", .role = Role::passing},
    {.name = "minimum_build_time", .unit = "seconds", .role = Role::passing},
};

constexpr DescribedNumber described[]{
    {"launch.round_trip", "round_trip", "queued"},
    {"launch.queued", "launch_time", "queued"},
    {"launch.gap", "gap", "back-to-back"},
};

constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(1),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2,
                                    .samples_per_visit = 2},
                          // This limit is for slow drivers. On an H200 two visits of all points
                          // take a second.
                          .normal = {.probe_time = std::chrono::milliseconds(4500),
                                     .relative_interval = 0.03,
                                     .max_visits = 2,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

/// Returns the planned numbers of launches per wait. A line needs three numbers; a fourth shows
/// the distance of launches from the line.
std::vector<int> counts_of(const Request& request) {
  std::vector<int> counts = request.own.numbers("launches");
  if (counts.empty()) {
    const int most = request.effort == Effort::quick ? 1024 : 4096;
    const int ratio = request.effort == Effort::normal ? 16 : 4;
    for (int count = 1; count <= most; count *= ratio) counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

/// Returns the number of launches per wait in series that are compared with plain launches. With
/// 256 launches the wait is a small part of the time, and a dozen series do not take too long.
int count_beside(const std::vector<int>& counts) {
  constexpr int usual = 256;
  const auto beyond = std::upper_bound(counts.begin(), counts.end(), usual);
  return beyond == counts.begin() ? counts.front() : *(beyond - 1);
}

std::uint64_t idle_ms_of(const Request& request) {
  constexpr std::uint64_t usual = 100;
  constexpr std::uint64_t until_clocks_have_fallen = 2000;
  return request.own.number("idle").value_or(
      request.effort == Effort::thorough ? until_clocks_have_fallen : usual);
}

Point point_of(const SeriesSpec& series, int launches, const Request& request) {
  Point point;
  point.series = series.name;
  write_shape(Shape{.manner = series.manner,
                    .arguments = series.arguments,
                    .idle_queues = series.idle_queues,
                    .launches = static_cast<std::uint64_t>(launches),
                    .idle_ms = series.manner == Manner::after_idling ? idle_ms_of(request) : 0,
                    .timer = is_on_device(series.manner) ? Timer::event : Timer::wait},
              point);
  return point;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  result.is_ordered = true;
  const std::vector<int> counts = counts_of(request);
  const int beside = count_beside(counts);
  const SeriesSpec& queued = all_series.front();
  if (wants(request, queued_series)) {
    for (const int count : counts) result.points.push_back(point_of(queued, count, request));
  }
  bool has_extra = false;
  for (const SeriesSpec& series : all_series) {
    if (series.name == queued_series || !wants(request, series.name)) continue;
    const std::string reason = missing_in(series, device);
    if (!reason.empty()) {
      result.findings.push_back(not_measured(series.finding, series.name, reason));
      continue;
    }
    result.points.push_back(point_of(series, is_of_many(series.manner) ? beside : 1, request));
    has_extra = has_extra || is_of_many(series.manner);
  }
  // An extra cost also needs plain launches with the same number of launches.
  if (has_extra && !wants(request, queued_series)) {
    result.points.insert(result.points.begin(), point_of(queued, beside, request));
  }
  constexpr Bytes counter = kibibytes(4);
  result.memory = counter;
  return result;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "launch",
    .title = "Launches",
    .question = "What does a kernel launch cost, alone and among many launches?",
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "launches", .value_title = "time per launch"},
    .budgets = budgets,
    .plan = plan,
    .open = open,
    .builds = builds,
    .find_problem = find_problem<Shape, Observation>,
    .analyse = analyse,
    .card = card,
    .described = described,
    .is_in_checkup = true,
};

}  // namespace clprobe::launch
