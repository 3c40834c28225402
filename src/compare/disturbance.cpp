// SPDX-License-Identifier: Apache-2.0
#include "compare/api/disturbance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/point_facts.hpp"
#include "clprobe/stacks.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

// Factors from traces of shared hosts, on which disturbances last about 10 s (docs/method.md). A
// run is divided into five parts of equal length. The range of the parts' values, times a factor,
// is half the width of an interval that contains the true value in 95 % of runs. Longer runs
// include more disturbances and have smaller factors.
constexpr std::size_t part_count = 5;
constexpr double long_s = 30.0;
constexpr double medium_s = 15.0;
constexpr double long_factor = 1.1;
constexpr double medium_factor = 1.5;
constexpr double short_factor = 5.0;
constexpr double short_factor_of_two = 8.0;
constexpr double factor_of_three = 2.25;
constexpr double factor_of_two = 3.6;
// Minima of many moments vary less than minima of two, so that their range needs a larger factor.
constexpr std::size_t many_moments = 20;
constexpr double factor_of_many = 1.15;
// Minimum numbers of moments for medians of rates. With fewer than three moments per part, a
// disturbance of one second may determine a part's median. In a long run with at least 9 moments,
// the distance between the quartiles of all moments excludes such a disturbance.
constexpr std::size_t min_in_part = 3;
constexpr std::size_t min_in_halves = 9;
constexpr double factor_of_middle_half = 1.9;
// Minimum number of moments per part with which scatter between moments can be distinguished from
// change.
constexpr std::size_t min_for_scatter = 6;

double factor_of(std::size_t parts, double span_s, bool is_shared) {
  constexpr std::size_t enough_parts = 4;
  if (is_shared && span_s < medium_s) return parts <= 2 ? short_factor_of_two : short_factor;
  if (parts <= 2) return factor_of_two;
  if (parts < enough_parts || span_s < medium_s) return factor_of_three;
  if (parts < part_count) return medium_factor;
  const double longer = std::clamp((span_s - medium_s) / (long_s - medium_s), 0.0, 1.0);
  return medium_factor + longer * (long_factor - medium_factor);
}

/// Logarithms of the times in each of five equal time intervals, from the first to the last moment.
using Parts = std::array<std::vector<double>, part_count>;

Parts in_parts(std::span<const Moment> moments, double begin, double span) {
  Parts parts;
  for (const Moment& each : moments) {
    const double part_index = span > 0.0 ? (each.at_seconds - begin) / span * part_count : 0.0;
    const auto part = static_cast<std::size_t>(std::clamp(part_index, 0.0, part_count - 1.0));
    parts.at(part).push_back(std::log(each.ns));
  }
  return parts;
}

/// Returns the value of each part: the minimum of its times, or the median if `is_rate`. Empty
/// parts are omitted.
std::vector<double> values_of(const Parts& parts, bool is_rate) {
  std::vector<double> values;
  for (const std::vector<double>& part : parts) {
    if (part.empty()) continue;
    values.push_back(is_rate ? median(part) : *std::ranges::min_element(part));
  }
  return values;
}

/// Returns the distance between the lower and the upper quartile of all moments.
double middle_half_of(const Parts& parts) {
  std::vector<double> all;
  for (const std::vector<double>& part : parts) all.insert(all.end(), part.begin(), part.end());
  constexpr double quarter = 0.25;
  return quantile(all, 1.0 - quarter) - quantile(all, quarter);
}

bool has_part_of_fewer(const Parts& parts, std::size_t than) {
  return std::ranges::any_of(parts,
                             [=](const std::vector<double>& part) { return part.size() < than; });
}

/// Returns the standard deviation of a part's median that the scatter between successive moments
/// causes. Such scatter is not a change during the run: bandwidths of 16 CPU cores differ by a
/// tenth between two moments.
double noise_of_middles(const Parts& parts) {
  constexpr double deviation_of_middle_difference = 1.0 / (0.6745 * std::numbers::sqrt2);
  std::vector<double> differences;
  double squares = 0.0;
  for (const std::vector<double>& part : parts) {
    for (std::size_t i = 1; i < part.size(); ++i) {
      differences.push_back(std::fabs(part[i] - part[i - 1]));
    }
    squares += std::numbers::pi / 2.0 / static_cast<double>(part.size());
  }
  return deviation_of_middle_difference * median(differences) * std::sqrt(squares / part_count);
}

/// Returns the range of five values without the share that noise explains. The result is at least
/// 70 % of `range`, since the range of five values varies much by chance.
double without_noise(double range, double noise) {
  constexpr double mean_range_of_five = 2.326;  // in standard deviations of normal values
  constexpr double min_share = 0.7;
  const double by_noise = mean_range_of_five * noise;
  return std::max(min_share * range, std::sqrt(std::max(0.0, range * range - by_noise * by_noise)));
}

/// Change of a reference point. half_width_of() is the product of `range` and `factor`.
struct ObservedChange {
  double range{0.0};  ///< range or interquartile distance, as the logarithm of a ratio
  double factor{1.0};
};

/// Returns the change of a reference point according to its moments; nothing for fewer than two
/// moments with a time above 0.
std::optional<ObservedChange> observed_change(std::span<const Moment> moments, bool is_rate,
                                              bool is_shared) {
  std::vector<Moment> usable;
  std::ranges::copy_if(moments, std::back_inserter(usable),
                       [](const Moment& each) { return each.ns > 0.0; });
  if (usable.size() < 2) return std::nullopt;
  const auto [first, last] = std::ranges::minmax_element(usable, {}, &Moment::at_seconds);
  const double span = last->at_seconds - first->at_seconds;
  const Parts parts = in_parts(usable, first->at_seconds, span);
  const bool is_long = span >= long_s && usable.size() >= min_in_halves;
  if (is_rate && is_long && has_part_of_fewer(parts, min_in_part)) {
    return ObservedChange{middle_half_of(parts), factor_of_middle_half};
  }
  std::vector<double> values = values_of(parts, is_rate);
  const double many = usable.size() >= many_moments ? factor_of_many : 1.0;
  const double factor = many * factor_of(values.size(), span, is_shared);
  if (values.size() < 2) {  // all moments are in one part
    values.clear();
    for (const Moment& each : usable) values.push_back(std::log(each.ns));
  }
  const auto [least, most] = std::ranges::minmax_element(values);
  const double range = *most - *least;
  const bool is_scatter_known = is_rate && !has_part_of_fewer(parts, min_for_scatter);
  return ObservedChange{is_scatter_known ? without_noise(range, noise_of_middles(parts)) : range,
                        factor};
}

}  // namespace

std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate, bool is_shared) {
  const auto change = observed_change(moments, is_rate, is_shared);
  if (!change) return std::nullopt;
  return change->range * change->factor;
}

namespace {

/// Returns the disturbance according to a reference; nothing for a reference with fewer than two
/// moments.
std::optional<Disturbance> disturbance_by(const Reference& reference, std::string_view probe,
                                          bool is_rate, bool is_shared) {
  const std::optional<double> half_width = half_width_of(reference.moments, is_rate, is_shared);
  if (!half_width) return std::nullopt;
  std::vector<double> times;
  for (const Moment& moment : reference.moments) {
    if (moment.ns > 0.0) times.push_back(moment.ns);
  }
  return Disturbance{
      std::string(probe), reference.series, reference.kind, median(times) / ns_per_second, is_rate,
      *half_width};
}

/// Calls `visit` for each reference of the run, with its probe and with true if it measures a rate.
template <typename Visit>
void each_reference(const Run& run, const Visit& visit) {
  for (const ProbeResult& result : run.results) {
    const bool is_rate = result.unit != Unit::seconds;
    for (const Reference& each : result.references) visit(each, result.probe, is_rate);
  }
  for (const Reference& each : run.references) visit(each, references_section, each.is_rate);
}

bool is_shared(const Run& run) { return run.device.type == DeviceType::cpu; }

}  // namespace

std::vector<Disturbance> find_disturbances(const Run& run) {
  std::vector<Disturbance> found;
  each_reference(run, [&](const Reference& reference, std::string_view probe, bool is_rate) {
    auto one = disturbance_by(reference, probe, is_rate, is_shared(run));
    if (one) found.push_back(std::move(*one));
  });
  return found;
}

double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate) {
  if (!(seconds > 0.0)) return 0.0;
  const bool has_own = std::ranges::any_of(
      disturbances, [&](const Disturbance& each) { return each.is_rate == is_rate; });
  double least = HUGE_VAL;
  double half_width = 0.0;
  for (const Disturbance& each : disturbances) {
    if (has_own && each.is_rate != is_rate) continue;
    // With many bytes in flight, the time of a load is unrelated to the time of a byte.
    const bool is_alike = has_own || !is_rate;
    const double distance = is_alike ? std::fabs(std::log(each.seconds / seconds)) : 0.0;
    if (distance > least) continue;
    // Among references at the same distance, the largest disturbance counts.
    half_width = distance < least ? each.half_width : std::max(half_width, each.half_width);
    least = distance;
  }
  return half_width;
}

double max_disturbance(std::span<const Disturbance> disturbances) {
  return std::max(max_disturbance(disturbances, false), max_disturbance(disturbances, true));
}

double max_disturbance(std::span<const Disturbance> disturbances, bool is_rate) {
  double widest = 0.0;
  for (const Disturbance& each : disturbances) {
    if (each.is_rate == is_rate) widest = std::max(widest, each.half_width);
  }
  return widest;
}

double typical_disturbance(std::span<const Disturbance> disturbances) {
  double squares = 0.0;
  int rates = 0;
  for (const Disturbance& each : disturbances) {
    if (!each.is_rate) continue;
    squares += each.half_width * each.half_width;
    ++rates;
  }
  return rates == 0 ? max_disturbance(disturbances) : std::sqrt(squares / rates);
}

SeriesTimers::SeriesTimers(const ProbeResult& result, const DeviceInfo& device) {
  for (const Point& point : result.points) {
    const bool is_clock = timer_of(point, device) == Timer::clock;
    const bool is_often = point.facts.find(visited_often) != nullptr;
    const std::optional<Estimate> time =
        is_often ? estimate_of_best(point, device) : estimate(point, device);
    by_series_[point.series].push_back({.seconds = time ? time->ns / ns_per_second : 0.0,
                                        .is_clock = is_clock,
                                        .is_best = time && is_often && time->holds_visits,
                                        .is_one_unit = point.facts.find(of_one_unit) != nullptr});
    (is_clock ? all_.clock : all_.launches) = true;
  }
}

TimedBy SeriesTimers::of(const Finding& finding) const {
  constexpr double near = 0.05;
  const auto points = by_series_.find(finding.series);
  const auto kind = by_series_.find(finding.series.substr(0, finding.series.find(' ')));
  const auto own = points == by_series_.end() ? kind : points;
  if (own == by_series_.end()) return all_;
  const bool is_one_unit =
      std::ranges::any_of(own->second, [](const TimedPoint& each) { return each.is_one_unit; });
  TimedBy timed{.is_own = true, .is_one_unit = is_one_unit};
  TimedBy as_long = timed;
  const double seconds = finding.unit == "seconds" ? finding.value.value_or(0.0) : 0.0;
  for (const TimedPoint& each : own->second) {
    (each.is_clock ? timed.clock : timed.launches) = true;
    const bool is_near = std::fabs(each.seconds - seconds) <= near * seconds;
    if (!is_near) continue;
    (each.is_clock ? as_long.clock : as_long.launches) = true;
    as_long.is_best = as_long.is_best || each.is_best;
  }
  return as_long.clock || as_long.launches ? as_long : timed;
}

namespace {

/// Time of an access, a byte, an operation or a cycle, derived from a finding above 0 that is a
/// time or a rate.
struct FoundTime {
  double seconds{0.0};
  bool is_rate{false};
};

std::optional<FoundTime> time_in(const Finding& finding, const DeviceInfo& device) {
  if (!finding.value || !(*finding.value > 0.0)) return std::nullopt;
  const double ticks_per_second = device.clock.ticks_per_ns * ns_per_second;
  if (finding.unit == "seconds") return FoundTime{*finding.value, false};
  const bool is_rate = finding.unit.ends_with("s_per_second");  // bytes, operations, flops
  if (is_rate) return FoundTime{1.0 / *finding.value, true};
  // A clock rate is that of one core, and is disturbed like a chain of loads in L1.
  if (finding.unit == "hertz") return FoundTime{1.0 / *finding.value, false};
  if (!(ticks_per_second > 0.0)) return std::nullopt;
  if (finding.unit == "cycles") return FoundTime{*finding.value / ticks_per_second, false};
  if (finding.unit == "bytes_per_cycle" || finding.unit == "operations_per_cycle") {
    return FoundTime{1.0 / (*finding.value * ticks_per_second), true};
  }
  return std::nullopt;
}

/// Returns true if the times are those of a single core or compute unit. This holds if the other
/// compute units are idle, an in-kernel clock times all points, or the probe has chains of loads as
/// references.
bool is_of_one_core(const ProbeResult& result, const TimedBy& timed) {
  if (timed.is_one_unit) return true;
  if (timed.clock && !timed.launches) return true;
  return result.unit == Unit::seconds && !result.references.empty();
}

/// Returns the change during the run that affects a finding. A time of more than one core may
/// depend on all compute units, as a rate does.
double changed_meanwhile(const FoundTime& time, bool is_of_core,
                         std::span<const Disturbance> disturbances) {
  if (!is_of_core && !time.is_rate) return typical_disturbance(disturbances);
  return disturbance_at(disturbances, time.seconds, time.is_rate);
}

double changed_meanwhile(const Finding& finding, std::span<const Disturbance> disturbances) {
  if (!finding.value || !is_share(finding)) return 0.0;
  // If the part p of a time changes by the share d, p becomes p (1 + d) / (1 + p d). To first
  // order, the change of p is p (1 - p) d.
  const double widest = max_disturbance(disturbances);
  // Factor by which extrapolation increases a disturbance. The noise test times the kernel at
  // several amounts of noise, and extrapolates a line through these times to zero noise. A relative
  // change d of one time changes the extrapolated value by about 2 d.
  constexpr double drawn_back = 2.0;
  if (finding.name == stack_absorbed_name) return drawn_back * widest;
  const double part = std::clamp(*finding.value, 0.0, 1.0);
  return part * (1.0 - part) * widest;
}

/// Returns the effect of other processes that used a share s of the CPU time for the whole run. No
/// reference point shows this effect. Work of all cores takes up to 1 / (1 - s) times as long;
/// times of a single core do not change.
double disturbed_by_others(const FoundTime& time, bool is_of_core, const ProbeResult& result) {
  constexpr double max_share = 0.95;
  if (is_of_core && !time.is_rate) return 0.0;
  return -std::log1p(-std::min(result.others_share, max_share));
}

/// Returns the effect of a process's page placement on levels after the first, as a half-width; 0
/// except on CPUs of virtual machines. The placement does not change during a process, so a run
/// cannot show its effect. In a virtual machine on an AMD EPYC, the second level took 4.77, 4.93 or
/// 5.04 ns. With this effect, intervals of runs of 6 s contain the true value there.
double by_pages(const Finding& finding, const Meanwhile& meanwhile) {
  constexpr double luck = 0.05;
  const bool is_behind = finding.level.value_or(1) > 1;
  const bool is_known = !meanwhile.disturbances.empty();
  return meanwhile.is_virtual_cpu && is_behind && is_known ? luck : 0.0;
}

bool is_of_virtual_cpu(const Run& run) {
  return run.host.is_virtual && run.device.type == DeviceType::cpu;
}

}  // namespace

Meanwhile meanwhile_of(const Run& run, std::span<const Disturbance> disturbances) {
  return {.disturbances = disturbances, .is_virtual_cpu = is_of_virtual_cpu(run)};
}

namespace {

/// Returns the rate of all compute units in the finding's series and level; null if there is none.
const Finding* rate_of_all(const Finding& finding, std::span<const Finding> findings) {
  const auto all = std::ranges::find_if(findings, [&](const Finding& each) {
    return each.role != Role::remark && each.unit.ends_with("_per_second") &&
           each.series == finding.series && each.level == finding.level && each.value;
  });
  return all == findings.end() ? nullptr : &*all;
}

/// Returns the disturbance of a ratio: that of a rate and that of a time, which change
/// independently. The rate is that of the finding's level, if known.
double disturbance_of_ratio(const Finding& ratio, const ProbeResult& result, const TimedBy& timed,
                            const DeviceInfo& device, const Meanwhile& meanwhile) {
  const auto widest = [&](bool is_rate) {
    const double of_kind = max_disturbance(meanwhile.disturbances, is_rate);
    return of_kind > 0.0 ? of_kind : max_disturbance(meanwhile.disturbances);
  };
  const Finding* const rate = rate_of_all(ratio, result.findings);
  const double of_rate =
      rate != nullptr
          ? disturbance_of(*rate, result, timed, device, meanwhile)
          : std::max(widest(true), disturbed_by_others({}, is_of_one_core(result, timed), result));
  const double both = std::hypot(of_rate, widest(false));
  return is_share(ratio) ? std::fabs(*ratio.value) * both : both;
}

}  // namespace

double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, const Meanwhile& meanwhile) {
  if (finding.is_ratio && finding.value) {
    return disturbance_of_ratio(finding, result, timed, device, meanwhile);
  }
  const std::span<const Disturbance> disturbances = meanwhile.disturbances;
  const bool is_of_core = is_of_one_core(result, timed);
  std::optional<FoundTime> time = time_in(finding, device);
  if (!time) return changed_meanwhile(finding, disturbances);
  // Bytes that one core moves, timed by an in-kernel clock, are disturbed like a time of one core
  // instead of a rate of all cores.
  const bool is_told_by_core = is_of_core && timed.is_own && result.unit == Unit::seconds;
  if (is_told_by_core || timed.is_one_unit) time->is_rate = false;
  const double changed = changed_meanwhile(*time, is_of_core || timed.is_best, disturbances);
  // A stream of one compute unit has many loads in flight, so that no chain of loads resembles it.
  // The largest disturbance of all chains is used.
  const double of_any_chain = timed.is_one_unit ? max_disturbance(disturbances, false) : 0.0;
  const double seen =
      std::max({changed, of_any_chain, disturbed_by_others(*time, is_of_core, result)});
  return time->is_rate ? seen : std::hypot(seen, by_pages(finding, meanwhile));
}

namespace {

/// Returns true if the interval is one of differences instead of ratios: for values at or below 0,
/// and for shares and parts of other findings, except ratios of rates or times.
bool is_of_differences(const Finding& finding) {
  if (!(*finding.value > 0.0)) return true;
  return !finding.is_ratio && (is_share(finding) || !finding.part_of.empty());
}

/// Returns `distance` with the independent distance `other` added (`sign` 1) or removed (`sign`
/// -1), in quadrature.
double combined(double distance, double other, double sign) {
  return std::sqrt(std::max(0.0, distance * distance + sign * other * other));
}

void move_ends(Finding& finding, double half_width, double sign) {
  const double value = *finding.value;
  const bool is_difference = is_of_differences(finding);
  // A disturbance of the whole changes each part by the same factor. The disturbance of a share is
  // in shares.
  double other = half_width;
  if (is_difference && !is_share(finding)) other *= std::fabs(value);
  if (!is_difference && is_share(finding)) other /= value;
  const auto end = [&](double at, double side) {
    // An end at or below 0 has no logarithm and stays unchanged. An end on the wrong side of the
    // value also stays unchanged.
    const bool is_open = !is_difference && !(at > 0.0);
    if (is_open || (at - value) * side < 0.0) return at;
    if (is_difference) return value + side * combined(std::fabs(at - value), other, sign);
    return value * std::exp(side * combined(std::fabs(std::log(at / value)), other, sign));
  };
  finding.low = end(*finding.low, -1.0);
  finding.high = end(*finding.high, 1.0);
}

bool is_rate(const Finding& finding) {
  const std::string_view unit = finding.unit;
  return unit.ends_with("_per_second") || unit.ends_with("_per_cycle");
}

/// Returns true if disturbances widen the interval of the finding: for compared findings with an
/// interval, and for remarks that are rates, times or ratios of these. Passing shares are counts,
/// which disturbances do not change.
bool is_widened(const Finding& finding) {
  const bool is_measured = is_rate(finding) || finding.unit == "seconds" || finding.is_ratio;
  const bool is_said = (finding.role == Role::remark && !is_measured) ||
                       finding.role == Role::advice ||
                       (finding.role == Role::passing && is_share(finding));
  return !is_said && finding.value && finding.low && finding.high;
}

}  // namespace

Finding with_disturbance(const Finding& own, double half_width) {
  if (!is_widened(own) || !(half_width > 0.0)) return own;
  Finding shown = own;
  shown.disturbance = half_width;
  move_ends(shown, half_width, 1.0);
  return shown;
}

Finding without_disturbance(const Finding& finding) {
  Finding own = finding;
  if (!(finding.disturbance > 0.0)) return own;
  move_ends(own, finding.disturbance, -1.0);
  own.disturbance = 0.0;
  return own;
}

void forget_disturbance(Run& run) {
  for (ProbeResult& result : run.results) {
    for (Finding& finding : result.findings) finding = without_disturbance(finding);
  }
}

void hold_disturbance(Run& run) {
  forget_disturbance(run);
  const Meanwhile meanwhile = meanwhile_of(run, run.disturbances);
  for (ProbeResult& result : run.results) {
    const SeriesTimers timers(result, run.device);
    for (Finding& finding : result.findings) {
      // A remark on the rate of one compute unit is disturbed like the rate of all compute units.
      const bool is_of_one = is_rate(finding) && finding.role == Role::remark;
      const Finding* const rate = is_of_one ? rate_of_all(finding, result.findings) : nullptr;
      const Finding& all = rate != nullptr ? *rate : finding;
      finding = with_disturbance(
          finding, disturbance_of(all, result, timers.of(all), run.device, meanwhile));
    }
  }
}

namespace {

// Minimum relative width of intervals that a warning reports. In stored runs, the quietest series
// have widths of 0.0 % on GPUs, and of 0.05 to 2.3 % on hosts with other tenants. Bandwidths on
// such hosts scatter by 50 %.
constexpr double min_reported = 0.05;
// Minimum relative width that a warning reports for waiting times. Waiting times include the host's
// scheduler, whose scatter more samples do not reduce. Only scatter above `coarse_change` hides
// changes from `compare`.
constexpr double min_reported_of_waits = 0.25;

/// Returns the width of a point's interval as a share of its time.
std::optional<double> width_of(const Point& point, const DeviceInfo& device) {
  const std::optional<Estimate> found = estimate(point, device);
  if (!found || !(found->ns > 0.0)) return std::nullopt;
  return width_of_samples(point, *found, device) / found->ns;
}

}  // namespace

double width_of_samples(const Point& point, const Estimate& found, const DeviceInfo& device) {
  if (!found.holds_visits) return found.ns_interval.high - found.ns_interval.low;
  constexpr double quarter = 0.25;
  const std::vector<double> times = access_times_ns(point, device);
  return median(times) - quantile(times, quarter);
}

std::optional<Warning> find_scatter(std::span<const Point> points, const DeviceInfo& device) {
  std::int64_t wide = 0;
  double widest = 0.0;
  for (const Point& point : points) {
    const double width = width_of(point, device).value_or(0.0);
    widest = std::max(widest, width);
    const bool is_wait = timer_of(point, device) == Timer::wait;
    if (width > (is_wait ? min_reported_of_waits : min_reported)) ++wide;
  }
  const auto all = static_cast<std::int64_t>(points.size());
  constexpr std::int64_t tenth = 10;
  if (wide * tenth <= all) return std::nullopt;
  return Warning{"wide_intervals",
                 {{"points", wide}, {"of_points", all}, {"widest_share", widest}}};
}

namespace {

/// Adds a warning about the reference point with the largest change, if that change exceeds 5 %.
void warn_of_references(Run& run) {
  std::optional<Warning> warning;
  double range = std::log1p(min_reported);
  each_reference(run, [&](const Reference& reference, std::string_view probe, bool is_rate) {
    const auto change = observed_change(reference.moments, is_rate, is_shared(run));
    if (!change || change->range <= range) return;
    range = change->range;
    // In short runs, the interval is several times as wide as the observed change.
    warning = Warning{std::string(reference_warning),
                      {{"probe", std::string(probe)},
                       {"series", reference.series},
                       {"kind", std::string(to_word(reference.kind))},
                       {"changed_share", std::expm1(range)},
                       {"allowed_factor", std::exp(range * change->factor)}},
                      WarningSource::analysis};
  });
  if (warning) run.warnings.push_back(std::move(*warning));
}

/// Adds a warning if other processes used more than a tenth of the CPU time during a probe.
void warn_of_others(Run& run) {
  constexpr double tenth = 0.1;
  const auto most = std::ranges::max_element(run.results, {}, &ProbeResult::others_share);
  if (most == run.results.end() || most->others_share <= tenth) return;
  run.warnings.push_back({std::string(others_warning),
                          {{"probe", most->probe}, {"others_share", most->others_share}},
                          WarningSource::analysis});
}

}  // namespace

void tell_disturbance(Run& run) {
  std::erase_if(run.warnings, [](const Warning& warning) {
    return warning.code == reference_warning || warning.code == others_warning;
  });
  run.disturbances = find_disturbances(run);
  warn_of_others(run);
  warn_of_references(run);
}

}  // namespace clprobe
