// SPDX-License-Identifier: Apache-2.0
#include "compare/comparing.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace clprobe {
namespace {

/// Returns the half-width of independent errors together. Each error is the half-width of a 95 %
/// interval.
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
  // The margin is the spread of the points whose time is that of the finding. A part is a
  // difference of two times, so that no point has its time.
  share.margin = 0.0;
  share.calibration = 0.0;
  share.clock.reset();
  share.whole = 0.0;
  // A disturbance that slows down the whole slows down each part by the same factor.
  if (finding.value) share.disturbance *= std::min(1.0, std::fabs(*finding.value));
  return share;
}

Position locate(const ComparedFinding& compared) {
  const Finding& finding = compared.finding;
  const bool is_part = is_share(finding);
  // An end at or below 0 has no logarithm, so that the interval has no lower limit.
  const auto on_line = [is_part](double value) {
    if (is_part) return value;
    return value > 0.0 ? std::log(value) : -HUGE_VAL;
  };
  Position position{.value = on_line(*finding.value), .degrees = compared.degrees};
  position.has_interval = finding.low.has_value() && finding.high.has_value();
  const double low = on_line(finding.low.value_or(*finding.value));
  const double high = on_line(finding.high.value_or(*finding.value));
  const double margin = is_part ? compared.margin : std::log1p(compared.margin);
  const double calibration = is_part ? 0.0 : std::log1p(compared.calibration);
  position.below = in_quadrature(
      {std::max(0.0, position.value - low), margin, calibration, compared.disturbance});
  position.above = in_quadrature(
      {std::max(0.0, high - position.value), margin, calibration, compared.disturbance});
  return position;
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

namespace {

/// Error of one operand of a difference, towards one end of its interval.
struct Error {
  double half_width{0.0};  ///< half-width of a 95 % interval
  std::size_t degrees{normal_degrees};

  [[nodiscard]] double variance() const {
    const double standard = half_width / student_t(degrees);
    return standard * standard;
  }
  [[nodiscard]] double variance_of_variance() const {
    if (degrees == normal_degrees) return 0.0;
    return variance() * variance() / static_cast<double>(degrees);
  }
};

std::size_t fewer(std::size_t a, std::size_t b) {
  if (a == normal_degrees || b == normal_degrees) return std::max(a, b);
  return std::min(a, b);
}

/// Returns the degrees of freedom of Student's t for both errors together, rounded down (Welch
/// 1938, Satterthwaite 1946).
std::size_t joint_degrees(const Error& a, const Error& b) {
  const double variance = a.variance() + b.variance();
  const double uncertain = a.variance_of_variance() + b.variance_of_variance();
  const double degrees = variance * variance / uncertain;
  // If both errors are 0 or one is infinite, the operands' shares of the joint error are unknown.
  if (!std::isfinite(degrees)) return fewer(a.degrees, b.degrees);
  constexpr double as_normal = 1000.0;
  if (degrees >= as_normal) return normal_degrees;
  return std::max<std::size_t>(1, static_cast<std::size_t>(degrees));
}

}  // namespace

// Uses the "method of variance estimates recovery" (Zou and Donner 2008). The distance to each end
// combines the errors of both operands that move the difference towards this end.
Difference difference(const Position& from, const Position& to) {
  const Error down_from{from.above, from.degrees};
  const Error down_to{to.below, to.degrees};
  const Error up_from{from.below, from.degrees};
  const Error up_to{to.above, to.degrees};
  const std::size_t degrees =
      fewer(joint_degrees(down_from, down_to), joint_degrees(up_from, up_to));
  const auto half_width = [degrees](const Error& a, const Error& b) {
    return student_t(degrees) * std::sqrt(a.variance() + b.variance());
  };
  const double change = to.value - from.value;
  return {change,
          {change - half_width(down_from, down_to), change + half_width(up_from, up_to)},
          degrees};
}

}  // namespace clprobe
