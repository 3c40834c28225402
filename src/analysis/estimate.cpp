// SPDX-License-Identifier: Apache-2.0
#include "analysis/api/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

#include "clprobe/point_facts.hpp"

namespace clprobe {
namespace {

std::vector<double> times_by_clock(const Point& point, const Clock& clock) {
  std::vector<double> times;
  if (!(clock.ticks_per_ns > 0.0)) return times;
  for (const Sample& sample : point.samples) {
    if (!sample.ticks || sample.accesses == 0 || *sample.ticks <= clock.overhead_ticks) continue;
    const auto ticks = static_cast<double>(*sample.ticks - clock.overhead_ticks);
    times.push_back(ticks / static_cast<double>(sample.accesses) / clock.ticks_per_ns);
  }
  return times;
}

/// Time of one launch in ns, and its number of accesses.
struct Launch {
  std::uint64_t accesses{0};
  double ns{0.0};
};

std::vector<Launch> launches(const Point& point, Timer timer) {
  std::vector<Launch> result;
  for (const Sample& sample : point.samples) {
    if (sample.accesses == 0) continue;
    if (timer == Timer::host || timer == Timer::wait) {
      result.push_back({sample.accesses, static_cast<double>(sample.host_ns)});
    } else if (sample.event_ns) {
      result.push_back({sample.accesses, static_cast<double>(*sample.event_ns)});
    }
  }
  return result;
}

std::vector<double> times_by_slope(std::span<const Launch> all) {
  std::vector<double> times;
  if (all.empty()) return times;
  // Fastest of the launches with the fewest accesses, whose time approximates the launch overhead.
  const Launch base = *std::ranges::min_element(all, [](const Launch& a, const Launch& b) {
    return a.accesses != b.accesses ? a.accesses < b.accesses : a.ns < b.ns;
  });
  const auto most = std::ranges::max_element(all, {}, &Launch::accesses);
  // A small difference in the number of accesses would amplify the noise of both launch times.
  const std::uint64_t enough =
      most->accesses / 2 >= base.accesses ? 2 * base.accesses : base.accesses + 1;
  for (const Launch& launch : all) {
    if (launch.accesses < enough || launch.ns <= base.ns) continue;
    times.push_back((launch.ns - base.ns) / static_cast<double>(launch.accesses - base.accesses));
  }
  return times;
}

std::vector<double> times_of_launches(std::span<const Launch> all) {
  std::vector<double> times;
  for (const Launch& launch : all) {
    if (launch.ns > 0.0) times.push_back(launch.ns / static_cast<double>(launch.accesses));
  }
  return times;
}

}  // namespace

std::optional<double> number_in(const Parameters& parameters, std::string_view name) {
  const Value* const value = parameters.find(name);
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(value)) return *real;
  return std::nullopt;
}

std::optional<double> number_of(const Point& point, std::string_view name) {
  return number_in(point.parameters, name);
}

Timer timer_of(const Point& point, const DeviceInfo& device) {
  return from_word<Timer>(point.parameters.text_or("timer", "")).value_or(device.timer);
}

bool is_of_launches(const Point& point) { return !point.parameters.text_or("timer", "").empty(); }

std::vector<double> access_times_ns(const Point& point, const DeviceInfo& device) {
  const Timer timer = timer_of(point, device);
  if (timer == Timer::clock) return times_by_clock(point, device.clock);
  if (timer == Timer::imported) {
    const std::optional<double> rate = number_in(point.facts, imported_bytes_per_second);
    if (rate && *rate > 0.0) return {ns_per_second / *rate};  // time of one byte
    const std::optional<double> time = number_in(point.facts, imported_ns);
    return time && *time > 0.0 ? std::vector{*time} : std::vector<double>{};
  }
  const std::vector<Launch> all = launches(point, timer);
  const bool is_whole = timer == Timer::event && is_of_launches(point);
  if (is_whole || timer == Timer::wait) return times_of_launches(all);
  return times_by_slope(all);
}

bool counts_core_cycles(const DeviceInfo& device) {
  return (device.timer == Timer::clock || device.timer == Timer::imported) &&
         device.clock.rate == ClockRate::core_cycles;
}

namespace {

/// Returns each visit of a point as a separate point, in order.
std::vector<Point> visits_of(const Point& point) {
  std::map<std::uint64_t, Point> visits;
  for (const Sample& sample : point.samples) {
    Point& visit = visits[sample.visit];
    if (visit.samples.empty()) {
      visit.parameters = point.parameters;
      visit.facts = point.facts;
    }
    visit.samples.push_back(sample);
  }
  std::vector<Point> in_order;
  in_order.reserve(visits.size());
  for (auto& [number, visit] : visits) in_order.push_back(std::move(visit));
  return in_order;
}

/// Returns the second smallest of at least two times, so that a single faulty clock read has no
/// effect.
double second_least(std::vector<double> times) {
  const auto second = times.begin() + 1;
  std::nth_element(times.begin(), second, times.end());
  return *second;
}

/// Returns half the width of the 95 % interval for the best visit of another run, as a logarithm;
/// nothing for a single visit. The half-width is derived from the distances of other visits from
/// this run's best visit. It is six times the distance of the second best visit, twice that of the
/// third, or that of the fourth, whichever is smallest. The second best visit alone is not enough,
/// since a host may be busy in all visits except a few.
std::optional<double> half_width_of_best(const Point& point, const DeviceInfo& device) {
  constexpr std::array factors{6.0, 2.0, 1.0};
  std::vector<double> best;
  for (const Point& visit : visits_of(point)) {
    const std::vector<double> times = access_times_ns(visit, device);
    if (!times.empty()) best.push_back(std::log(*std::ranges::min_element(times)));
  }
  if (best.size() < 2) return std::nullopt;
  std::ranges::sort(best);
  double half = HUGE_VAL;
  for (std::size_t i = 0; i < std::min(factors.size(), best.size() - 1); ++i) {
    half = std::min(half, factors.at(i) * (best[i + 1] - best[0]));
  }
  return half;
}

Estimate up_to_median(double ns, const std::vector<double>& times) {
  return {.ns = ns, .ns_interval = {ns, median(times)}};
}

// Maximum number of samples for which the estimate is the minimum, on any device.
constexpr std::size_t few_samples = 8;

/// Returns the estimate for times that noise only increases.
Estimate best_of_visits(const std::vector<double>& times, const Point& point,
                        const DeviceInfo& device) {
  if (times.size() <= few_samples) {
    return up_to_median(*std::ranges::min_element(times), times);
  }
  Estimate result = up_to_median(second_least(times), times);
  if (const std::optional<double> half = half_width_of_best(point, device)) {
    result.ns_interval = {result.ns * std::exp(-*half), result.ns * std::exp(*half)};
    result.holds_visits = true;
  }
  return result;
}

}  // namespace

std::optional<Estimate> estimate_of_best(const Point& point, const DeviceInfo& device) {
  const std::vector<double> times = access_times_ns(point, device);
  if (times.empty()) return std::nullopt;
  return best_of_visits(times, point, device);
}

std::optional<Estimate> estimate(const Point& point, const DeviceInfo& device) {
  const std::vector<double> times = access_times_ns(point, device);
  if (times.empty()) return std::nullopt;
  Estimate result{median(times), {quantile(times, 0.25), quantile(times, 0.75)}, {}};
  // Many compute units work on a launch, so that its time includes their effects on each other.
  if (is_of_launches(point)) return result;
  if (point.facts.find(by_median) == nullptr) {
    // On a GPU, visits differ even without noise: two of ten pointer chases through 34 MiB of an
    // H200 hit only the near half of its L2. The estimate is therefore not the minimum.
    const bool only_adds = times.size() <= few_samples || device.type == DeviceType::cpu;
    result = only_adds ? best_of_visits(times, point, device)
                       : up_to_median(quantile(times, 0.25), times);
  }
  if (counts_core_cycles(device)) {
    result.cycles = result.ns * device.clock.ticks_per_ns;
  }
  return result;
}

Visits access_times_by_visit_ns(const Point& point, const DeviceInfo& device) {
  Visits visits;
  for (const Point& visit : visits_of(point)) {
    std::vector<double> times = access_times_ns(visit, device);
    if (!times.empty()) visits.push_back(std::move(times));
  }
  return visits;
}

std::vector<double> visit_estimates_ns(const Point& point, const DeviceInfo& device) {
  std::vector<double> found;
  for (const Point& visit : visits_of(point)) {
    if (const std::optional<Estimate> own = estimate(visit, device)) found.push_back(own->ns);
  }
  return found;
}

std::vector<CurvePoint> latency_curve(std::span<const Point> points, std::string_view series,
                                      const DeviceInfo& device) {
  std::vector<CurvePoint> curve;
  for (const Point& point : points) {
    // Samples taken before a point failed stay in the document, but are not used.
    if (point.series != series || !point.failure.empty()) continue;
    const std::optional<double> working_set = number_of(point, "working_set_bytes");
    const std::optional<Estimate> time = estimate(point, device);
    if (working_set && time) curve.push_back({*working_set, time->ns});
  }
  std::ranges::sort(curve, [](const CurvePoint& a, const CurvePoint& b) {
    return a.working_set_bytes != b.working_set_bytes ? a.working_set_bytes < b.working_set_bytes
                                                      : a.latency < b.latency;
  });
  return curve;
}

namespace {

std::vector<double> faster_half(std::vector<double> times) {
  std::ranges::sort(times);
  times.resize((times.size() + 1) / 2);
  return times;
}

/// Draws as many elements as `all` has, with replacement.
template <typename T>
std::vector<T> draw(const std::vector<T>& all, std::mt19937_64& generator) {
  std::vector<T> drawn;
  drawn.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    drawn.push_back(all[static_cast<std::size_t>(generator() % all.size())]);
  }
  return drawn;
}

}  // namespace

double typical_ns(const Visits& visits) {
  std::vector<double> times;
  for (const std::vector<double>& visit : visits) {
    times.insert(times.end(), visit.begin(), visit.end());
  }
  return median(faster_half(std::move(times)));
}

double resampled_ns(const Visits& visits, double typical, std::mt19937_64& generator) {
  if (visits.size() == 1) return median(draw(faster_half(visits.front()), generator));
  const auto count = static_cast<double>(visits.size());
  const double off = typical_ns(draw(visits, generator)) - typical;
  return typical + off * std::sqrt(count / (count - 1.0));
}

}  // namespace clprobe
