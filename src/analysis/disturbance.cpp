// SPDX-License-Identifier: Apache-2.0
#include "clprobe/disturbance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

// On shared hosts disturbances last about 10 s. By traces that were recorded there (docs/method.md)
// the range of what was taken in five parts of a run, times one of these factors, is half an
// interval that holds the truth in 95 % of runs: the longer they are, the more a run has seen.
constexpr std::size_t part_count = 5;
constexpr double long_s = 30.0;
constexpr double medium_s = 15.0;
constexpr double long_factor = 1.1;
constexpr double medium_factor = 1.5;
constexpr double short_factor = 5.0;
constexpr double short_factor_of_two = 8.0;
constexpr double factor_of_three = 2.25;
constexpr double factor_of_two = 3.6;
// The least of many moments of a part varies by less than what was visited twice in all.
constexpr std::size_t many_moments = 20;
constexpr double factor_of_many = 1.15;
// Of a rate a part's middle moment counts, which of fewer than three is any of them, in a burst of
// a second or not. The middle half of all moments of a long run does not see the burst.
constexpr std::size_t min_in_part = 3;
constexpr std::size_t min_in_halves = 9;
constexpr double factor_of_middle_half = 1.9;
// Fewer do not tell what is scatter from what is a change.
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

/// The logarithms of what was taken in each of five equal parts of the time between the first and
/// the last moment.
using Parts = std::array<std::vector<double>, part_count>;

Parts in_parts(std::span<const Moment> moments, double begin, double span) {
  Parts parts;
  for (const Moment& each : moments) {
    const double place = span > 0.0 ? (each.at_seconds - begin) / span * part_count : 0.0;
    const auto part = static_cast<std::size_t>(std::clamp(place, 0.0, part_count - 1.0));
    parts.at(part).push_back(std::log(each.ns));
  }
  return parts;
}

/// The least of each part, of rates the middle one. Empty parts are left out.
std::vector<double> values_of(const Parts& parts, bool is_rate) {
  std::vector<double> values;
  for (const std::vector<double>& part : parts) {
    if (part.empty()) continue;
    values.push_back(is_rate ? median(part) : *std::min_element(part.begin(), part.end()));
  }
  return values;
}

/// How far the lower and the upper quartile of all moments are apart.
double middle_half_of(const Parts& parts) {
  std::vector<double> all;
  for (const std::vector<double>& part : parts) all.insert(all.end(), part.begin(), part.end());
  constexpr double quarter = 0.25;
  return quantile(all, 1.0 - quarter) - quantile(all, quarter);
}

bool has_part_of_fewer(const Parts& parts, std::size_t than) {
  return std::any_of(parts.begin(), parts.end(),
                     [=](const std::vector<double>& part) { return part.size() < than; });
}

/// The standard deviation of a part's middle moment by what moments scatter by from one to the
/// next, which is no change of the run: of 16 cores a look at a bandwidth is a tenth off the last
/// one.
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

/// What is left of the range of the five where each is off by that noise; not less than a part of
/// it, since five say little of how far they are apart by chance.
double without_noise(double range, double noise) {
  constexpr double mean_range_of_five = 2.326;  // of normal values
  constexpr double min_share = 0.7;
  const double by_noise = mean_range_of_five * noise;
  return std::max(min_share * range, std::sqrt(std::max(0.0, range * range - by_noise * by_noise)));
}

}  // namespace

std::optional<SeenChange> seen_change_of(std::span<const Moment> moments, bool is_rate,
                                         bool is_shared) {
  std::vector<Moment> usable;
  std::copy_if(moments.begin(), moments.end(), std::back_inserter(usable),
               [](const Moment& each) { return each.ns > 0.0; });
  if (usable.size() < 2) return std::nullopt;
  const auto [first, last] = std::minmax_element(
      usable.begin(), usable.end(),
      [](const Moment& a, const Moment& b) { return a.at_seconds < b.at_seconds; });
  const double span = last->at_seconds - first->at_seconds;
  const Parts parts = in_parts(usable, first->at_seconds, span);
  const bool is_long = span >= long_s && usable.size() >= min_in_halves;
  if (is_rate && is_long && has_part_of_fewer(parts, min_in_part)) {
    return SeenChange{middle_half_of(parts), factor_of_middle_half};
  }
  std::vector<double> values = values_of(parts, is_rate);
  const double many = usable.size() >= many_moments ? factor_of_many : 1.0;
  const double factor = many * factor_of(values.size(), span, is_shared);
  if (values.size() < 2) {  // all at once
    values.clear();
    for (const Moment& each : usable) values.push_back(std::log(each.ns));
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double range = *most - *least;
  const bool is_scatter_known = is_rate && !has_part_of_fewer(parts, min_for_scatter);
  return SeenChange{is_scatter_known ? without_noise(range, noise_of_middles(parts)) : range,
                    factor};
}

std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate, bool is_shared) {
  const auto seen = seen_change_of(moments, is_rate, is_shared);
  if (!seen) return std::nullopt;
  return seen->range * seen->factor;
}

namespace {

/// Nothing for a reference that was measured once.
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

/// Calls `visit` with every reference of the run, its probe, and whether it is of a rate.
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

std::optional<MostChanged> find_most_changed(const Run& run) {
  std::optional<MostChanged> most;
  each_reference(run, [&](const Reference& reference, std::string_view probe, bool is_rate) {
    const auto seen = seen_change_of(reference.moments, is_rate, is_shared(run));
    if (!seen || (most && seen->range <= most->seen.range)) return;
    most = {std::string(probe), reference.series, reference.kind, *seen};
  });
  return most;
}

double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate) {
  if (!(seconds > 0.0)) return 0.0;
  const bool has_own =
      std::any_of(disturbances.begin(), disturbances.end(),
                  [&](const Disturbance& each) { return each.is_rate == is_rate; });
  double least = HUGE_VAL;
  double half_width = 0.0;
  for (const Disturbance& each : disturbances) {
    if (has_own && each.is_rate != is_rate) continue;
    // How long a load takes does not say how long a byte does, of many on their way.
    const bool is_alike = has_own || !is_rate;
    const double distance = is_alike ? std::fabs(std::log(each.seconds / seconds)) : 0.0;
    if (distance > least) continue;
    // Of equally near ones the more disturbed.
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

}  // namespace clprobe
