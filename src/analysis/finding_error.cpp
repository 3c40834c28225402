// SPDX-License-Identifier: Apache-2.0
#include "analysis/finding_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace clprobe {
namespace {

/// Independent errors, each as the half width of a 95 % interval.
double in_quadrature(std::initializer_list<double> errors) {
  double squares = 0.0;
  for (const double error : errors) squares += error * error;
  return std::sqrt(squares);
}

}  // namespace

bool is_share(const Finding& finding) { return finding.unit == "share"; }

bool is_part(const ComparedFinding& compared) {
  return is_share(compared.finding) || compared.whole > 0.0;
}

ComparedFinding as_share(const ComparedFinding& compared, double whole) {
  ComparedFinding share = compared;
  Finding& finding = share.finding;
  finding.unit = "share";
  for (std::optional<double>* const number : {&finding.value, &finding.low, &finding.high}) {
    if (*number) *number = **number / whole;
  }
  share.margin = 0.0;  // no point takes as long as a difference of two
  share.calibration = 0.0;
  share.clock.reset();
  share.whole = 0.0;
  // What makes all of it slower makes a part of it slower by as much of the part.
  if (finding.value) share.disturbance *= std::min(1.0, std::fabs(*finding.value));
  return share;
}

bool is_speed(const Finding& finding) {
  constexpr std::array units{"seconds", "cycles", "bytes_per_second", "bytes_per_cycle"};
  return std::find(units.begin(), units.end(), finding.unit) != units.end();
}

Place locate(const ComparedFinding& compared) {
  const Finding& finding = compared.finding;
  const bool is_part = is_share(finding);
  // An end at or below 0 has no logarithm: the interval is open there.
  const auto on_line = [is_part](double value) {
    if (is_part) return value;
    return value > 0.0 ? std::log(value) : -HUGE_VAL;
  };
  Place place{.value = on_line(*finding.value), .degrees = compared.degrees};
  place.has_interval = finding.low.has_value() && finding.high.has_value();
  const double low = on_line(finding.low.value_or(*finding.value));
  const double high = on_line(finding.high.value_or(*finding.value));
  const double margin = is_part ? compared.margin : std::log1p(compared.margin);
  const double calibration = is_part ? 0.0 : std::log1p(compared.calibration);
  place.below =
      in_quadrature({std::max(0.0, place.value - low), margin, calibration, compared.disturbance});
  place.above =
      in_quadrature({std::max(0.0, high - place.value), margin, calibration, compared.disturbance});
  return place;
}

double Difference::farthest() const {
  return std::max(std::fabs(interval.low), std::fabs(interval.high));
}

double Difference::beyond(double bound) const {
  return std::max(interval.low, -interval.high) - bound;
}

double Difference::p_value(double bound) const {
  const double distance = std::fabs(change) - bound;
  if (!(distance > 0.0)) return 1.0;
  const double half = change > 0.0 ? change - interval.low : interval.high - change;
  if (!(half > 0.0)) return 0.0;
  return two_sided_p(distance / half * student_t(degrees), degrees);
}

// The error of a difference by the "method of variance estimates recovery" (Zou and Donner 2008):
// towards each end that error of either side counts which moves it there.
Difference difference(const Place& from, const Place& to) {
  const double change = to.value - from.value;
  const bool has_from = from.degrees != normal_degrees;
  const bool has_to = to.degrees != normal_degrees;
  const std::size_t degrees =
      has_from && has_to ? std::min(from.degrees, to.degrees) : std::max(from.degrees, to.degrees);
  return {change,
          {change - in_quadrature({to.below, from.above}),
           change + in_quadrature({to.above, from.below})},
          degrees};
}

}  // namespace clprobe
