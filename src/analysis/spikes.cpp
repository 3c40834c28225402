// SPDX-License-Identifier: Apache-2.0
// From a Thread-Latency curve to the spike that may be a limit's.
#include "clprobe/outstanding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

/// Less than this share of a latency is what caches, banks and schedulers do.
constexpr double min_jump = 0.15;

/// Cycles; a counter of whole cycles is not better than this.
constexpr double clock_sigma = 0.5;

/// What may be regular about the difference of two neighbouring points.
enum class GapKind { fresh, merged, sub_group, group };

struct Sweep {
  const ThreadLatencyCurve* curve{nullptr};
  int sub_group{1};
  std::vector<int> n{};
  std::vector<double> y{};         ///< robust, less overhead and single outliers
  std::vector<double> requests{};  ///< unique
  std::vector<double> z{};         ///< y less what is regular: flat but for jumps
  double noise{0.0};               ///< standard deviation of y, as a share of it
  std::vector<double> noise_at{};  ///< the same around each point, and not less
  double latency{0.0};
  double first_slope{0.0};  ///< cycles per request within the first sub-group

  [[nodiscard]] const LoadPattern& pattern() const { return curve->pattern; }
  [[nodiscard]] double sigma(std::size_t i) const {
    return std::max(clock_sigma, noise_at[i] * y[i]);
  }
  [[nodiscard]] double threshold() const { return min_jump * latency; }
};

/// Of the difference between point `i` and the next.
GapKind kind_of(const Sweep& sweep, std::size_t i) {
  const int warp = sweep.sub_group;
  const auto part = [&](int items, int size) { return (items + size - 1) / size; };
  const LoadPattern& pattern = sweep.pattern();
  const int group = warp * pattern.merger;
  if (pattern.mode == MergerMode::across && pattern.merger > 1 &&
      part(sweep.n[i + 1], group) != part(sweep.n[i], group)) {
    return GapKind::group;
  }
  if (part(sweep.n[i + 1], warp) != part(sweep.n[i], warp)) return GapKind::sub_group;
  return sweep.requests[i + 1] > sweep.requests[i] ? GapKind::fresh : GapKind::merged;
}

struct Slope {
  double cycles{0.0};
  Interval interval{};
};

// Sub-group boundaries cost something regular; fewer of them do not tell what.
constexpr std::size_t min_members = 5;

double median_or(const std::vector<double>& values, double otherwise) {
  return values.empty() ? otherwise : median(values);
}

/// Distance of each point but the outer ones to the line through its neighbours, as a share of the
/// point and in standard deviations of one.
std::vector<double> residuals_of(std::span<const int> n, std::span<const double> y) {
  std::vector<double> residuals;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) {
    const double t = static_cast<double>(n[i] - n[i - 1]) / (n[i + 1] - n[i - 1]);
    const double line = y[i - 1] + t * (y[i + 1] - y[i - 1]);
    const double spread = std::sqrt(1.0 + t * t + (1.0 - t) * (1.0 - t));
    residuals.push_back(std::abs(y[i] - line) / (y[i] * spread));
  }
  return residuals;
}

/// Their standard deviation. The median survives jumps, which touch two points each.
double noise_of(std::span<const double> residuals) {
  return residuals.empty() ? 0.0 : 1.4826 * median(residuals);
}

/// The noise around each of `points` points, and not less than that of all: few loads of a memory
/// whose latency scatters do so more than many, of which the slowest decides.
std::vector<double> noise_around(std::span<const double> residuals, std::size_t points) {
  constexpr std::size_t window = 25;  // wide enough for a median
  const double all = noise_of(residuals);
  std::vector<double> noise(points, all);
  if (residuals.size() <= window) return noise;
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t begin =
        std::min(i > window / 2 ? i - window / 2 : 0, residuals.size() - window);
    noise[i] = std::max(all, noise_of(residuals.subspan(begin, window)));
  }
  return noise;
}

/// Takes out what every gap of a kind costs: the slope of fresh requests, and the steps where a
/// sub-group begins. Of steps the lower quartile: those with a jump must not count as regular.
void flatten(Sweep& sweep) {
  const std::size_t gaps = sweep.y.size() - 1;
  std::vector<double> fresh;
  std::vector<double> merged;
  for (std::size_t i = 0; i < gaps; ++i) {
    const double d = sweep.y[i + 1] - sweep.y[i];
    const GapKind kind = kind_of(sweep, i);
    if (kind == GapKind::fresh) {
      fresh.push_back(d / (sweep.requests[i + 1] - sweep.requests[i]));
    }
    if (kind == GapKind::merged) merged.push_back(d / (sweep.n[i + 1] - sweep.n[i]));
  }
  const double per_request = std::max(0.0, median_or(fresh, 0.0));
  const double per_item = std::max(0.0, median_or(merged, 0.0));
  std::vector<double> regular(gaps);
  std::array<std::vector<double>, 2> steps;
  for (std::size_t i = 0; i < gaps; ++i) {
    const GapKind kind = kind_of(sweep, i);
    const double asked = sweep.requests[i + 1] - sweep.requests[i];
    regular[i] = asked > 0.0 ? per_request * asked : per_item * (sweep.n[i + 1] - sweep.n[i]);
    const double rest = sweep.y[i + 1] - sweep.y[i] - regular[i];
    if (kind == GapKind::sub_group) steps[0].push_back(rest);
    if (kind == GapKind::group) steps[1].push_back(rest);
  }
  std::array<double, 2> step{};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].size() >= min_members) step[k] = std::max(0.0, quantile(steps[k], 0.25));
  }
  sweep.z.assign(1, sweep.y.front());
  for (std::size_t i = 0; i < gaps; ++i) {
    const GapKind kind = kind_of(sweep, i);
    if (kind == GapKind::sub_group) regular[i] += step[0];
    if (kind == GapKind::group) regular[i] += step[1];
    sweep.z.push_back(sweep.z.back() + sweep.y[i + 1] - sweep.y[i] - regular[i]);
  }
}

/// A point that stands out of both neighbours, which agree, is a disturbance: a jump stays. Judged
/// without what is regular, by which each point stands below the next.
void drop_outliers(Sweep& sweep) {
  for (std::size_t i = 1; i + 1 < sweep.y.size(); ++i) {
    const double limit = 5.0 * sweep.sigma(i);
    const double left = sweep.z[i] - sweep.z[i - 1];
    const double right = sweep.z[i] - sweep.z[i + 1];
    // The last point before a jump stands below both where the slope is taken for too steep.
    if (std::abs(left - right) > std::min(std::abs(left), std::abs(right))) continue;
    if (std::min(left, right) > limit || std::max(left, right) < -limit) {
      sweep.y[i] = (sweep.y[i - 1] + sweep.y[i + 1]) / 2.0;
      sweep.z[i] = (sweep.z[i - 1] + sweep.z[i + 1]) / 2.0;
    }
  }
}

/// Cycles per request from point `first` to point `last`: nothing is faster than at once.
Slope slope_between(const Sweep& sweep, std::size_t first, std::size_t last) {
  if (last < first + 2) return {};
  const std::span<const double> x(sweep.requests);
  const std::span<const double> y(sweep.y);
  if (x[last] <= x[first]) return {};
  const std::size_t count = last - first + 1;
  const Line line = fit_least_squares(x.subspan(first, count), y.subspan(first, count));
  return {std::max(0.0, line.slope),
          {std::max(0.0, line.slope_interval.low), std::max(0.0, line.slope_interval.high)}};
}

/// The first of the numbers that is more than `items`.
std::size_t first_beyond(std::span<const int> n, int items) {
  return static_cast<std::size_t>(std::upper_bound(n.begin(), n.end(), items) - n.begin());
}

/// Nothing with fewer than 8 usable points. Refers to `curve`.
std::optional<Sweep> sweep_of(const ThreadLatencyCurve& curve, const ThreadLatencyPlot& plot,
                              int sub_group) {
  Sweep sweep;
  sweep.curve = &curve;
  sweep.sub_group = sub_group;
  for (std::size_t i = 0; i < plot.robust.size(); ++i) {
    const double cycles = plot.robust[i] - curve.overhead_cycles;
    if (cycles <= 0.0) continue;
    sweep.n.push_back(plot.work_items[i]);
    sweep.y.push_back(cycles);
    sweep.requests.push_back(
        static_cast<double>(unique_requests(plot.work_items[i], curve.pattern, sub_group)));
  }
  if (sweep.n.size() < 8) return std::nullopt;
  const std::vector<double> residuals = residuals_of(sweep.n, sweep.y);
  sweep.noise = noise_of(residuals);
  sweep.noise_at = noise_around(residuals, sweep.n.size());
  flatten(sweep);
  drop_outliers(sweep);
  flatten(sweep);
  sweep.latency = *std::min_element(sweep.y.begin(), sweep.y.end());
  const std::size_t warp_end = first_beyond(sweep.n, sub_group);
  if (warp_end >= 1) sweep.first_slope = slope_between(sweep, 0, warp_end - 1).cycles;
  return sweep;
}

/// A jump counts when it stands out of the noise by so many standard deviations: a sweep tries some
/// 10^5 places and scales.
constexpr double min_score = 6.0;

struct FoundSpike {
  Spike spike{};
  std::size_t gap{0};
};

// Of Gaussian scatter at 60 places the largest rise is 1.5 times the largest fall in 4 of 100
// curves; where scatter is not Gaussian, the falls tell of it, and the standard deviation does not.
constexpr double min_over_falls = 1.5;
// Where it stands out so far, larger windows only blur it with its neighbours.
constexpr double clear_score = 12.0;
// Noise averages out over windows of up to so many points on both sides of a jump.
constexpr std::array<std::size_t, 4> window_points{1, 2, 4, 8};
// Where the residual sum of squares is so much above the least, in variances, the jump is not: 1 in
// 1000 true places are excluded.
constexpr double location_slack = 11.0;

struct Step {
  std::size_t gap{0};  ///< between this point and the next
  std::size_t window{0};
  double height{0.0};
  double score{0.0};
};

/// The best of all window sizes at gap `i`, with points from `begin` on.
Step step_at(const Sweep& sweep, std::size_t begin, std::size_t i) {
  const std::span<const double> z(sweep.z);
  Step best{i, 0, 0.0, 0.0};
  for (const std::size_t w : window_points) {
    const std::size_t before = std::min(w, i + 1 - begin);
    const std::size_t after = std::min(w, z.size() - 1 - i);
    if (std::max(before, after) < w) break;
    const double height = mean(z.subspan(i + 1, after)) - mean(z.subspan(i + 1 - before, before));
    const double sigma = sweep.sigma(i) * std::sqrt(1.0 / static_cast<double>(before) +
                                                    1.0 / static_cast<double>(after));
    if (height / sigma > best.score && height >= sweep.threshold()) {
      best = {i, w, height, height / sigma};
    }
    if (best.score >= clear_score) break;
  }
  return best;
}

/// Windows see a part of a jump before they reach it: among clear ones the highest is the place.
bool is_clearer(const Step& a, const Step& b) {
  const double score_a = std::min(a.score, clear_score);
  const double score_b = std::min(b.score, clear_score);
  return score_a > score_b || (score_a == score_b && a.height > b.height);
}

/// Slopes differ a little along a curve (banks, pages, drift): what the neighbourhood does as well
/// is no jump. The lesser of what windows of the same size and what single gaps rise by: the former
/// are exact, the latter survive jumps that come again soon.
double drift_at(const Sweep& sweep, const Step& step) {
  const std::span<const double> z(sweep.z);
  const std::size_t w = step.window;
  std::vector<double> heights;
  std::vector<double> rises;
  const std::size_t first = step.gap > 8 * w ? step.gap - 8 * w : 0;
  for (std::size_t i = first; i <= step.gap + 8 * w && i + 1 < z.size(); ++i) {
    const std::size_t distance = i > step.gap ? i - step.gap : step.gap - i;
    rises.push_back(z[i + 1] - z[i]);
    if (distance < 2 * w || i + 1 < w || i + w >= z.size()) continue;
    heights.push_back(mean(z.subspan(i + 1, w)) - mean(z.subspan(i + 1 - w, w)));
  }
  if (heights.size() < 4) return 0.0;
  return std::max(0.0, std::min(median(heights), static_cast<double>(w) * median(rises)));
}

/// The largest step down that windows of the same size see, as if it were at the step's place:
/// scatter falls as often as it rises, and as many places are tried for either.
double largest_fall(const Sweep& sweep, const Step& step) {
  const std::span<const double> z(sweep.z);
  const std::size_t w = step.window;
  double most = 0.0;
  for (std::size_t i = w; i + w < z.size(); ++i) {
    const double fall = mean(z.subspan(i - w, w)) - mean(z.subspan(i, w));
    most = std::max(most, fall * sweep.y[step.gap] / sweep.y[i]);
  }
  return most;
}

/// What a group of sub-groups may cost where it begins, if merged requests take their turn as well:
/// m sub-groups' requests at once. Not a capacity.
bool is_group_step(const Sweep& sweep, const Step& step) {
  if (kind_of(sweep, step.gap) != GapKind::group) return false;
  const LoadPattern& pattern = sweep.pattern();
  return step.height <= 1.5 * pattern.merger * sweep.sub_group * pattern.loads * sweep.first_slope;
}

/// The gaps that the points around the step allow: two levels, least squares.
FoundSpike locate(const Sweep& sweep, std::size_t begin, const Step& step) {
  const std::size_t half = std::max<std::size_t>(2, step.window);
  const std::size_t first = step.gap + 1 >= begin + half ? step.gap + 1 - half : begin;
  const std::size_t last = std::min(sweep.z.size() - 1, step.gap + half);
  const auto residual = [&](std::size_t gap) {
    double sum = 0.0;
    const std::span<const double> z(sweep.z);
    const double low = mean(z.subspan(first, gap + 1 - first));
    const double high = mean(z.subspan(gap + 1, last - gap));
    for (std::size_t i = first; i <= last; ++i) {
      const double d = z[i] - (i <= gap ? low : high);
      sum += d * d;
    }
    return sum;
  };
  FoundSpike found{{}, step.gap};
  for (std::size_t gap = first; gap < last; ++gap) {
    if (residual(gap) < residual(found.gap)) found.gap = gap;
  }
  const double sigma = sweep.sigma(found.gap);
  const double limit = residual(found.gap) + location_slack * sigma * sigma;
  std::size_t low = found.gap;
  std::size_t high = found.gap;
  while (low > first && residual(low - 1) <= limit) --low;
  while (high + 1 < last && residual(high + 1) <= limit) ++high;
  for (std::size_t gap = low; gap <= high; ++gap) {
    found.spike.possible.push_back({sweep.n[gap], sweep.n[gap + 1]});
  }
  found.spike.gap = {sweep.n[found.gap], sweep.n[found.gap + 1]};
  found.spike.jump_cycles = step.height;
  return found;
}

/// The next jump at or behind gap `from`, with nothing before point `begin` in view.
std::optional<FoundSpike> next_spike(const Sweep& sweep, std::size_t begin, std::size_t from) {
  const std::size_t gaps = sweep.z.size() - 1;
  for (std::size_t i = from; i < gaps; ++i) {
    Step best = step_at(sweep, begin, i);
    if (best.score < min_score) continue;
    // Windows see a jump before they reach it.
    const std::size_t end = std::min(gaps, i + window_points.back());
    for (std::size_t j = i + 1; j < end; ++j) {
      const Step step = step_at(sweep, begin, j);
      if (is_clearer(step, best)) best = step;
    }
    const double height = best.height - drift_at(sweep, best);
    const double score = best.score * height / best.height;
    if (score < min_score || height < sweep.threshold()) continue;
    if (height < min_over_falls * largest_fall(sweep, best)) continue;
    if (is_group_step(sweep, best)) {
      begin = best.gap + 1;
      i = best.gap;
      continue;
    }
    best.height = height;
    return locate(sweep, begin, best);
  }
  return std::nullopt;
}

// Jumps nearer to each other than this cannot be told from a slope.
constexpr std::size_t min_spacing_points = 4;
// Of the 2 latencies and of the one that a jump can be, noise and queues allow so much.
constexpr double min_latencies = 1.7;
constexpr double max_jump = 1.5;
// Where the latencies of lines differ, the time of a few loads rises by jumps as well, each where a
// line comes later than all before. Such a rise may be somewhat higher than the last one; a full
// pool's jump is most of a latency, and towers above them.
constexpr double min_over_rises = 2.0;
// The jumps of a full pool or table are about as high as each other; behind the first, answers that
// come one by one make lower ones.
constexpr double min_alike = 0.5;
// Errors of the latency add up: later jumps than this are not counted.
constexpr double max_multiple = 5.0;
constexpr double multiple_slack = 0.3;

double latencies_behind(const Sweep& sweep, const FoundSpike& found) {
  const std::size_t points = std::min<std::size_t>(3, sweep.y.size() - 1 - found.gap);
  return median(std::span(sweep.y).subspan(found.gap + 1, points)) / sweep.latency;
}

/// The first request that found no room waits for the first answer, and then takes a latency
/// itself: behind the first jump the time is 2 latencies, behind the k-th k + 1. Less is no limit
/// of capacity. More tells that earlier jumps hide among the first sub-group's points, which are
/// not looked at. Returns why the spike cannot be used.
std::string count_multiples(const Sweep& sweep, FoundSpike& first) {
  const Spike& spike = first.spike;
  const auto next = next_spike(sweep, first.gap + 1, first.gap + 1);
  const bool is_like = next && next->spike.jump_cycles >= min_alike * spike.jump_cycles;
  if (is_like && next->gap - first.gap < min_spacing_points) {
    return "the jumps are too close together to be distinguished";
  }
  const double latencies = latencies_behind(sweep, first);
  if (spike.jump_cycles > max_jump * sweep.latency) return "several jumps coincide";
  const double multiple = std::max(1.0, std::round(latencies) - 1.0);
  if (multiple > max_multiple ||
      (multiple > 1.0 && std::abs(latencies - multiple - 1.0) > multiple_slack)) {
    return "earlier jumps are hidden among the first sub-group's points";
  }
  first.spike.multiple = static_cast<int>(multiple);
  return {};
}

/// What the gap rises by, beside what is regular. Where a group of sub-groups begins, that it costs
/// something is regular, too.
double rise_at(const Sweep& sweep, std::size_t gap) {
  return kind_of(sweep, gap) == GapKind::group ? 0.0 : sweep.z[gap + 1] - sweep.z[gap];
}

/// Where a jump would be seen: the requests before it took time - latency to issue, and the first
/// answer comes after one latency, so that 2 latency - time remains.
void find_visible(const Sweep& sweep, CurveFinding& found) {
  std::size_t end = 0;
  double largest_rise = 0.0;
  // A few points must follow a jump.
  while (end + 4 < sweep.n.size()) {
    if (end > 0) largest_rise = std::max(largest_rise, rise_at(sweep, end - 1));
    const double least = std::max(
        {sweep.threshold(), min_score * 1.4142 * sweep.sigma(end), min_over_rises * largest_rise});
    if (2.0 * sweep.latency - sweep.y[end] < least) break;
    ++end;
  }
  if (end == 0) return;
  const auto range = [&](auto count) {
    return CountRange{count(sweep.n.front(), sweep.pattern(), sweep.sub_group),
                      count(sweep.n[end - 1], sweep.pattern(), sweep.sub_group)};
  };
  found.visible_requests = range(unique_requests);
  found.visible_instructions = range(load_instructions);
}

/// What windows of many points see of a jump counts only where it stands out between two points as
/// well: over many points real curves are not as straight as that takes.
/// `begin`: the first gap behind steps that are too low for a limit, which are no scatter.
bool stands_out(const Sweep& sweep, const FoundSpike& found, std::size_t begin) {
  const int first = found.spike.possible.front().before;
  double largest_rise = 0.0;
  // Earlier jumps, which are hidden, are more than scatter.
  for (std::size_t gap = begin; sweep.n[gap] < first && found.spike.multiple == 1; ++gap) {
    largest_rise = std::max(largest_rise, rise_at(sweep, gap));
  }
  return found.spike.jump_cycles >=
         std::max(min_score * 1.4142 * sweep.sigma(found.gap), min_over_rises * largest_rise);
}

double variance_beside(const ThreadLatencyPlot& plot, const Gap& gap) {
  double most = 0.0;
  for (std::size_t i = 0; i < plot.work_items.size(); ++i) {
    if (plot.work_items[i] == gap.before || plot.work_items[i] == gap.after) {
      most = std::max(most, plot.variance[i]);
    }
  }
  return most;
}

std::string why_silent(const Sweep& sweep, const CurveFinding& found) {
  if (found.visible_requests.high < found.visible_requests.low) {
    return "requests take so long to issue that a full pool would not be visible";
  }
  return "no jump of " + std::to_string(std::lround(sweep.threshold())) + " cycles or more";
}

}  // namespace

CurveFinding find_spike(const ThreadLatencyCurve& curve, int sub_group) {
  CurveFinding found;
  found.pattern = curve.pattern;
  const ThreadLatencyPlot plot = plot_of(curve);
  const auto sweep = sweep_of(curve, plot, sub_group);
  if (!sweep) {
    found.reason = "fewer than 8 usable points";
    return found;
  }
  found.latency_cycles = sweep->latency;
  found.latency_work_items = sweep->n[static_cast<std::size_t>(
      std::min_element(sweep->y.begin(), sweep->y.end()) - sweep->y.begin())];
  const double above = high_end_of_least(curve) - curve.overhead_cycles - sweep->latency;
  // Another run, whose lines lie elsewhere, meets a least as far below this one, and scatters by
  // what the first points of the curve do.
  const double either_way = std::max(above, 2.0 * sweep->sigma(0));
  found.latency_interval = {std::max(0.0, sweep->latency - either_way),
                            sweep->latency + either_way};
  found.noise = sweep->noise;
  find_visible(*sweep, found);
  auto first = next_spike(*sweep, 0, 0);
  std::size_t begin = 0;
  // What is too low for a limit does not hide the limit behind it.
  while (first && latencies_behind(*sweep, *first) < min_latencies) {
    found.reason = "the jump ends below 2 latencies, too low for a full pool or table";
    begin = first->gap + 1;
    first = next_spike(*sweep, begin, begin);
  }
  const std::size_t last = first ? first->gap : sweep->n.size() - 1;
  const Slope slope = slope_between(*sweep, 0, last);
  found.cycles_per_request = slope.cycles;
  found.request_interval = slope.interval;
  const Slope whole = slope_between(*sweep, 0, sweep->n.size() - 1);
  found.whole_cycles_per_request = whole.cycles;
  found.whole_request_interval = whole.interval;
  if (!first) {
    if (found.reason.empty()) found.reason = why_silent(*sweep, found);
    return found;
  }
  found.reason = count_multiples(*sweep, *first);
  if (!found.reason.empty()) return found;
  if (!stands_out(*sweep, *first, begin)) {
    found.reason = "the jump is within the scatter of the curve";
    return found;
  }
  first->spike.variance = variance_beside(plot, first->spike.gap);
  found.spike = first->spike;
  return found;
}

}  // namespace clprobe
