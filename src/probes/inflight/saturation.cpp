// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/saturation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace clprobe::inflight {
namespace {

constexpr std::array<double, 9> exponents{1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0};
// Minimum relative standard deviation of a rate, even if the residuals of the fit are smaller.
constexpr double min_sigma = 0.005;
// A rate below this share of an earlier maximum counts as a fall, not as noise.
constexpr double min_of_peak = 0.93;
// The knee counts as reached if the curve extends to this multiple of the knee. From there on, the
// rate does not depend on the number of concurrent loads.
constexpr double knee_margin = 1.5;
// Maximum difference of two knees or rates that count as equal, in natural logarithms (16 %); twice
// as much if their intervals overlap. If latencies differ by a factor of 1.5 (0.41), knees and
// rates cannot both differ by less than 0.15.
constexpr double equal_within = 0.15;
constexpr double min_latency_ratio = 1.5;

struct Curve {
  double latency{0.0};
  Interval latency_interval{};
  std::vector<double> requested{};
  std::vector<double> ln_rate{};
  Interval last_rate{};  ///< interval of the rate at the last element of `requested`
};

/// Returns `interval`, widened to include `value`. {0, 0} stands for an unknown interval.
Interval around(const Interval& interval, double value) {
  if (!(interval.high > 0.0)) return {value, value};
  return {std::min(value, interval.low), std::max(value, interval.high)};
}

Interval rate_interval_of(const ThroughputPoint& point) {
  return around(point.rate_interval, point.rate);
}

Curve usable(const ThroughputCurve& given) {
  std::vector<ThroughputPoint> points;
  std::ranges::copy_if(given.points, std::back_inserter(points), [](const ThroughputPoint& point) {
    return point.requested > 0.0 && point.rate > 0.0 && std::isfinite(point.rate);
  });
  std::ranges::sort(points, {}, &ThroughputPoint::requested);
  Curve curve;
  double most = 0.0;
  for (const ThroughputPoint& point : points) {
    // A fall of the rate, due to thrashing or a lack of registers, does not lower the capacity: a
    // kernel could request fewer loads. Points of a fall are left out.
    most = std::max(most, point.rate);
    if (point.rate < min_of_peak * most) continue;
    curve.requested.push_back(point.requested);
    curve.ln_rate.push_back(std::log(point.rate));
    curve.last_rate = rate_interval_of(point);
  }
  if (points.empty()) return curve;
  const ThroughputPoint& first = points.front();
  const Interval rate = rate_interval_of(first);
  const bool is_given = given.latency > 0.0;
  curve.latency = is_given ? given.latency : first.requested / first.rate;
  curve.latency_interval = is_given || !(rate.low > 0.0)
                               ? Interval{curve.latency, curve.latency}
                               : Interval{first.requested / rate.high, first.requested / rate.low};
  return curve;
}

double squares(const Curve& curve, double max_rate, double p) {
  double sum = 0.0;
  for (std::size_t i = 0; i < curve.requested.size(); ++i) {
    const double free = max_rate * curve.latency / curve.requested[i];
    const double ln_rate = std::log(max_rate) - std::log1p(std::pow(free, p)) / p;
    sum += (curve.ln_rate[i] - ln_rate) * (curve.ln_rate[i] - ln_rate);
  }
  return sum;
}

/// Finds the best ln(max_rate) in [low, high] by golden-section search, since `squares` has a
/// single minimum.
double best_rate(const Curve& curve, double p, double low, double high) {
  const double ratio = (std::sqrt(5.0) - 1.0) / 2.0;
  while (high - low > 1e-7) {
    const double left = high - ratio * (high - low);
    const double right = low + ratio * (high - low);
    if (squares(curve, std::exp(left), p) < squares(curve, std::exp(right), p)) {
      high = right;
    } else {
      low = left;
    }
  }
  return (low + high) / 2.0;
}

struct Fit {
  double ln_rate{0.0};
  double p{1.0};
  double squares{std::numeric_limits<double>::infinity()};
};

/// Returns the interval of ln(max_rate), over all exponents, in which `squares` is at most
/// `limit`.
Interval profile(const Curve& curve, const Fit& fit, double limit, double low, double high) {
  Interval interval{fit.ln_rate, fit.ln_rate};
  for (const double p : exponents) {
    const double centre = best_rate(curve, p, low, high);
    if (squares(curve, std::exp(centre), p) > limit) continue;
    const auto edge = [&](double inside, double outside) {
      if (squares(curve, std::exp(outside), p) <= limit) return outside;
      while (std::abs(outside - inside) > 1e-6) {
        const double middle = (inside + outside) / 2.0;
        (squares(curve, std::exp(middle), p) <= limit ? inside : outside) = middle;
      }
      return inside;
    };
    interval.low = std::min(interval.low, edge(centre, low));
    interval.high = std::max(interval.high, edge(centre, high));
  }
  return interval;
}

bool are_equal(double a, const Interval& of_a, double b, const Interval& of_b) {
  const bool overlap = of_a.low <= of_b.high && of_b.low <= of_a.high;
  const double distance = std::abs(std::log(a / b));
  return distance <= equal_within || (overlap && distance <= 2.0 * equal_within);
}

/// Point at which the latency first reaches a limit, by interpolation between the points `before`
/// and `after`.
struct Knee {
  LoadedPoint at{};
  LoadedPoint before{};
  LoadedPoint after{};
};

std::optional<Knee> find_knee(std::span<const LoadedPoint> points, double latency_s) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].latency_s < latency_s) continue;
    const LoadedPoint& a = points[i - 1];
    const LoadedPoint& b = points[i];
    const double rise = b.latency_s - a.latency_s;
    const double share = rise > 0.0 ? std::clamp((latency_s - a.latency_s) / rise, 0.0, 1.0) : 1.0;
    return Knee{{std::lerp(a.bytes_per_second, b.bytes_per_second, share),
                 latency_s,
                 {std::lerp(a.rate_interval.low, b.rate_interval.low, share), b.rate_interval.high},
                 {latency_s, latency_s}},
                a,
                b};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Saturation> fit_saturation(const ThroughputCurve& curve) {
  const Curve used = usable(curve);
  if (used.requested.size() < 3) return std::nullopt;
  const double last_ln_rate = used.ln_rate.back();
  const double low = last_ln_rate - std::log(2.0);
  const double high = last_ln_rate + std::log(100.0);
  Fit fit;
  for (const double p : exponents) {
    const double ln_rate = best_rate(used, p, low, high);
    const double sum = squares(used, std::exp(ln_rate), p);
    if (sum < fit.squares) fit = {ln_rate, p, sum};
  }
  const auto freedom = static_cast<double>(used.requested.size() - 2);
  const double variance = std::max(min_sigma * min_sigma, fit.squares / freedom);
  const Interval ln = profile(used, fit, fit.squares + 4.0 * variance, low, high);
  Saturation found;
  found.latency = used.latency;
  found.latency_interval = used.latency_interval;
  found.exponent = fit.p;
  found.max_rate = std::exp(fit.ln_rate);
  found.max_rate_interval = {std::exp(ln.low), std::exp(ln.high)};
  found.knee = found.max_rate * used.latency;
  found.knee_interval = {found.max_rate_interval.low * used.latency_interval.low,
                         found.max_rate_interval.high * used.latency_interval.high};
  found.is_reached = used.requested.back() >= knee_margin * found.knee;
  if (!found.is_reached) {
    // The lower bound follows from Little's law with the unloaded latency. The bound cannot exceed
    // the number of concurrent loads.
    const double most = used.requested.back();
    found.knee = std::min(std::exp(last_ln_rate) * used.latency, most);
    found.knee_interval = {std::min(used.last_rate.low * used.latency_interval.low, most),
                           std::min(used.last_rate.high * used.latency_interval.high, most)};
    found.reason = "the rate still rises as more loads are requested";
  }
  return found;
}

std::string_view to_word(ThroughputLimit limit) {
  constexpr std::array<std::string_view, 4> limits{"capacity", "port", "different", "unknown"};
  return limits.at(static_cast<std::size_t>(limit));
}

TwoLatencyTest compare_latencies(const Saturation& near, const Saturation& far) {
  TwoLatencyTest test;
  test.min_capacity_interval =
      near.knee_interval.low > far.knee_interval.low ? near.knee_interval : far.knee_interval;
  if (!(far.latency >= min_latency_ratio * near.latency)) {
    test.reason =
        "the latencies of the cache and of memory are too similar to distinguish the limits";
    return test;
  }
  if (!near.is_reached || !far.is_reached) {
    test.reason = near.is_reached ? far.reason : near.reason;
    return test;
  }
  if (are_equal(near.knee, near.knee_interval, far.knee, far.knee_interval)) {
    test.limit = ThroughputLimit::capacity;
    test.capacity = std::sqrt(near.knee * far.knee);
    test.capacity_interval = Interval{std::min(near.knee_interval.low, far.knee_interval.low),
                                      std::max(near.knee_interval.high, far.knee_interval.high)};
    test.min_capacity_interval = *test.capacity_interval;
    test.reason = "the number of loads in flight is the same at both latencies";
  } else if (are_equal(near.max_rate, near.max_rate_interval, far.max_rate,
                       far.max_rate_interval)) {
    test.limit = ThroughputLimit::port;
    test.reason = "the load rate is the same at both latencies";
  } else {
    test.limit = ThroughputLimit::different;
    test.reason =
        "the number of loads in flight and the load rate both differ between the two latencies";
  }
  return test;
}

std::optional<Parallelism> find_parallelism(std::span<const LoadedPoint> points,
                                            double idle_latency_s, double request_bytes,
                                            int compute_units, const Interval& idle_interval) {
  if (!(request_bytes > 0.0)) throw std::invalid_argument("the size of a request must be positive");
  if (compute_units < 1) throw std::invalid_argument("the device must have a compute unit");
  std::vector<LoadedPoint> sorted;
  std::ranges::copy_if(points, std::back_inserter(sorted), [](const LoadedPoint& p) {
    return p.bytes_per_second >= 0.0 && p.latency_s > 0.0;
  });
  for (LoadedPoint& each : sorted) {
    each.rate_interval = around(each.rate_interval, each.bytes_per_second);
    each.latency_interval = around(each.latency_interval, each.latency_s);
  }
  std::ranges::sort(sorted, {}, &LoadedPoint::bytes_per_second);
  if (sorted.empty() || !(sorted.back().bytes_per_second > 0.0)) return std::nullopt;
  const bool is_idle_given = idle_latency_s > 0.0;
  const double idle = is_idle_given ? idle_latency_s : sorted.front().latency_s;
  const double idle_low =
      is_idle_given ? around(idle_interval, idle).low : sorted.front().latency_interval.low;
  const auto in_flight = [&](double bytes_per_second, double latency_s) {
    return bytes_per_second * latency_s / request_bytes;
  };
  Parallelism found;
  const auto knee = find_knee(sorted, 2.0 * idle);
  found.is_knee_reached = knee.has_value();
  const LoadedPoint at = knee ? knee->at : sorted.back();
  const LoadedPoint after = knee ? knee->after : sorted.back();
  found.knee_bytes_per_second = at.bytes_per_second;
  found.knee_interval = {knee ? knee->before.rate_interval.low : at.rate_interval.low,
                         after.rate_interval.high};
  found.requests = in_flight(at.bytes_per_second, at.latency_s);
  found.requests_interval.low =
      in_flight(at.rate_interval.low, std::min(idle_low, at.latency_interval.low));
  found.requests_interval.high =
      std::max(found.requests, in_flight(after.rate_interval.high, after.latency_interval.high));
  if (!knee) found.reason = "the latency never doubled, so more loads in flight may be possible";
  found.per_compute_unit = found.requests / compute_units;
  found.per_compute_unit_interval = {found.requests_interval.low / compute_units,
                                     found.requests_interval.high / compute_units};
  return found;
}

}  // namespace clprobe::inflight
