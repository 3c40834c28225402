// SPDX-License-Identifier: Apache-2.0
// The Thread-Latency plot, the first spike of a curve that may show a limit, and lower bounds of
// the loads in flight by Little's law.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "probes/inflight/thread_latency.hpp"

namespace clprobe::inflight {
namespace {

std::map<int, std::vector<double>> runs_of(const ThreadLatencyCurve& curve) {
  std::map<int, std::vector<double>> runs;
  for (const ThreadLatencyPoint& point : curve.points) {
    const bool usable =
        point.work_items > 0 && !point.runs_cycles.empty() &&
        std::all_of(point.runs_cycles.begin(), point.runs_cycles.end(),
                    [](double cycles) { return cycles > 0.0 && std::isfinite(cycles); });
    if (!usable) continue;
    std::vector<double>& all = runs[point.work_items];
    all.insert(all.end(), point.runs_cycles.begin(), point.runs_cycles.end());
  }
  return runs;
}

/// Returns the quantile of the robust curve: the minimum of up to 8 runs, or the lower quartile of
/// more runs.
double robust_quantile(std::size_t runs) { return runs < 9 ? 0.0 : 0.25; }

/// Returns the probability that the robust time of a bootstrap sample exceeds `end`. The robust
/// time is the value of a certain rank. The value exceeds `end` if fewer draws than this rank are
/// at most `end`.
double beyond_share(std::span<const double> runs, double end) {
  const auto count = static_cast<double>(runs.size());
  const auto within = static_cast<double>(
      std::count_if(runs.begin(), runs.end(), [&](double cycles) { return cycles <= end; }));
  const double share = within / count;
  if (share >= 1.0) return 0.0;
  const auto rank = static_cast<int>(robust_quantile(runs.size()) * (count - 1.0)) + 1;
  double sum = 0.0;
  double term = std::pow(1.0 - share, count);
  for (int drawn = 0; drawn < rank; ++drawn) {
    sum += term;
    term *= (count - drawn) / (drawn + 1.0) * share / (1.0 - share);
  }
  return sum;
}

}  // namespace

double harmonic_mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("a harmonic mean needs at least one value");
  double sum = 0.0;
  for (const double value : values) {
    if (!(value > 0.0)) {
      throw std::invalid_argument("a harmonic mean needs positive values");
    }
    sum += 1.0 / value;
  }
  return static_cast<double>(values.size()) / sum;
}

std::vector<double> three_point_variance(std::span<const double> values) {
  std::vector<double> variance(values.size(), 0.0);
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const double mu = (values[i - 1] + values[i] + values[i + 1]) / 3.0;
    for (std::size_t j = i - 1; j <= i + 1; ++j) {
      variance[i] += (values[j] - mu) * (values[j] - mu) / 2.0;
    }
  }
  return variance;
}

double high_end_of_least(ThreadLatencyCurve curve) {
  constexpr double confidence = 0.95;
  // Runs of one visit are not independent, so that only the minimum of each visit counts.
  for (ThreadLatencyPoint& point : curve.points) {
    if (!point.visits_cycles.empty()) point.runs_cycles = point.visits_cycles;
  }
  const auto runs = runs_of(curve);
  std::vector<double> all;
  for (const auto& [items, cycles] : runs) all.insert(all.end(), cycles.begin(), cycles.end());
  std::sort(all.begin(), all.end());
  const auto is_too_low = [&](double end) {
    double beyond = 1.0;
    for (const auto& [items, cycles] : runs) beyond *= beyond_share(cycles, end);
    return beyond > 1.0 - confidence;
  };
  const auto found = std::partition_point(all.begin(), all.end(), is_too_low);
  if (found != all.end()) return *found;
  return all.empty() ? 0.0 : all.back();
}

ThreadLatencyPlot plot_of(const ThreadLatencyCurve& curve) {
  ThreadLatencyPlot plot;
  for (const auto& [items, cycles] : runs_of(curve)) {
    plot.work_items.push_back(items);
    plot.harmonic_mean.push_back(harmonic_mean(cycles));
    plot.robust.push_back(quantile(cycles, robust_quantile(cycles.size())));
  }
  plot.variance = three_point_variance(plot.harmonic_mean);
  return plot;
}

bool is_across(const LoadPattern& pattern) {
  return pattern.mode == MergerMode::across && pattern.merger > 1;
}

std::int64_t unique_requests(int work_items, const LoadPattern& pattern, int sub_group) {
  const std::int64_t n = work_items;
  const std::int64_t warp = sub_group;
  const std::int64_t m = pattern.merger;
  if (!is_across(pattern)) {
    // Each sub-group coalesces its requests separately.
    const std::int64_t of_warp = (warp + m - 1) / m;
    return pattern.loads * (n / warp * of_warp + (n % warp + m - 1) / m);
  }
  const std::int64_t group = warp * m;
  return pattern.loads * (n / group * warp + std::min(n % group, warp));
}

std::int64_t load_instructions(int work_items, const LoadPattern& pattern, int sub_group) {
  return static_cast<std::int64_t>(pattern.loads) * ((work_items + sub_group - 1) / sub_group);
}

namespace {

/// Minimum height of a jump as a share of the latency. Caches, banks and schedulers make smaller
/// jumps.
constexpr double min_jump = 0.15;
/// Minimum standard deviation of a time in cycles, since the clock counts whole cycles.
constexpr double clock_sigma = 0.5;
// Minimum height of a jump in standard deviations of one point. A sweep has some hundred gaps, so
// scatter does not reach 6 standard deviations of a difference.
constexpr double min_score = 6.0 * 1.4142;
// Minimum ratio of a jump to the largest fall, since scatter that is not Gaussian makes large
// falls, too. Among 60 Gaussian gaps the largest rise is 1.5 times the largest fall in 4 of 100
// curves.
constexpr double min_over_falls = 1.5;
// Minimum ratio of a jump to the largest earlier rise. If the latencies of lines differ, each
// slower line makes the time of a few loads jump. The jump of a full pool is most of a latency,
// and clearly higher.
constexpr double min_over_rises = 2.0;
// Minimum distance of two jumps in points. Closer jumps look like a slope.
constexpr std::size_t min_spacing_points = 4;

/// Curve with the overhead subtracted.
struct Sweep {
  std::vector<int> n{};            ///< work-items
  std::vector<double> y{};         ///< robust times
  std::vector<double> requests{};  ///< numbers of different lines
  std::vector<double> rise{};      ///< rise from each point to the next, less the regular slope
  std::vector<double> noise{};     ///< relative standard deviation of y around each point
  double latency{0.0};

  [[nodiscard]] double sigma(std::size_t i) const { return std::max(clock_sigma, noise[i] * y[i]); }
  [[nodiscard]] double threshold() const { return min_jump * latency; }
};

/// Returns the relative distance of each inner point from the line through its neighbours. The
/// distance is scaled to the standard deviation of one point.
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

/// Returns the standard deviation of residuals, estimated by their median. A jump affects only two
/// points and does not move the median.
double noise_of(std::span<const double> residuals) {
  return residuals.empty() ? 0.0 : 1.4826 * median(residuals);
}

/// Returns the noise around each of `points` points; at least the noise of the whole curve. If
/// latencies scatter, the time of a few loads scatters most: that of many loads is the latency of
/// the slowest load.
std::vector<double> noise_around(std::span<const double> residuals, std::size_t points) {
  constexpr std::size_t window = 25;  // number of points; wide enough for a median
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

double median_or_zero(const std::vector<double>& values) {
  return values.empty() ? 0.0 : std::max(0.0, median(values));
}

/// Sets the rise of each gap: the time after the gap minus the time before, less the regular rise.
/// In gaps that add requests, the regular rise is their number times the median rise per request.
/// In other gaps, it is the number of added work-items times the median rise per work-item.
void find_rises(Sweep& sweep) {
  std::vector<double> by_request;
  std::vector<double> by_item;
  const auto added = [&](std::size_t i) { return sweep.requests[i + 1] - sweep.requests[i]; };
  const auto items = [&](std::size_t i) { return sweep.n[i + 1] - sweep.n[i]; };
  for (std::size_t i = 0; i + 1 < sweep.y.size(); ++i) {
    const double rise = sweep.y[i + 1] - sweep.y[i];
    if (added(i) > 0.0) {
      by_request.push_back(rise / added(i));
    } else {
      by_item.push_back(rise / items(i));
    }
  }
  const double of_request = median_or_zero(by_request);
  const double of_item = median_or_zero(by_item);
  sweep.rise.clear();
  for (std::size_t i = 0; i + 1 < sweep.y.size(); ++i) {
    const double regular = added(i) > 0.0 ? of_request * added(i) : of_item * items(i);
    sweep.rise.push_back(sweep.y[i + 1] - sweep.y[i] - regular);
  }
}

/// Replaces each disturbed point by the mean of its neighbours. A point is disturbed if it differs
/// from both neighbours while they agree.
void replace_outliers(Sweep& sweep) {
  for (std::size_t i = 1; i + 1 < sweep.y.size(); ++i) {
    const double limit = 5.0 * sweep.sigma(i);
    const double left = sweep.rise[i - 1];
    const double right = -sweep.rise[i];
    // The last point before a jump can lie below both neighbours if the regular slope is too
    // steep. This point is kept, since its neighbours do not agree.
    if (std::abs(left - right) > std::min(std::abs(left), std::abs(right))) continue;
    if (std::min(left, right) > limit || std::max(left, right) < -limit) {
      sweep.y[i] = (sweep.y[i - 1] + sweep.y[i + 1]) / 2.0;
      sweep.rise[i - 1] = sweep.rise[i] = (sweep.rise[i - 1] + sweep.rise[i]) / 2.0;
    }
  }
}

/// Prepares a curve for the search for jumps. Returns nothing with fewer than 8 usable points.
std::optional<Sweep> sweep_of(const ThreadLatencyCurve& curve, int sub_group) {
  const ThreadLatencyPlot plot = plot_of(curve);
  Sweep sweep;
  for (std::size_t i = 0; i < plot.robust.size(); ++i) {
    const double cycles = plot.robust[i] - curve.overhead_cycles;
    if (cycles <= 0.0) continue;
    sweep.n.push_back(plot.work_items[i]);
    sweep.y.push_back(cycles);
    sweep.requests.push_back(
        static_cast<double>(unique_requests(plot.work_items[i], curve.pattern, sub_group)));
  }
  if (sweep.n.size() < 8) return std::nullopt;
  sweep.noise = noise_around(residuals_of(sweep.n, sweep.y), sweep.n.size());
  find_rises(sweep);
  replace_outliers(sweep);
  find_rises(sweep);
  sweep.latency = *std::min_element(sweep.y.begin(), sweep.y.end());
  return sweep;
}

struct Slope {
  double cycles{0.0};
  Interval interval{};
};

/// Fits the cycles per request up to the point `last`. The result is at least 0.
Slope slope_to(const Sweep& sweep, std::size_t last) {
  if (last < 2 || sweep.requests[last] <= sweep.requests[0]) return {};
  const Line line = fit_least_squares(std::span(sweep.requests).first(last + 1),
                                      std::span(sweep.y).first(last + 1));
  return {std::max(0.0, line.slope),
          {std::max(0.0, line.slope_interval.low), std::max(0.0, line.slope_interval.high)}};
}

/// Jump over the gaps `first` to `last`, inclusive, by `height` cycles.
struct Jump {
  std::size_t first{0};
  std::size_t last{0};
  double height{0.0};
};

/// Returns the largest fall of the curve. Each fall is scaled to the time at point `i`, since
/// scatter grows with time.
double largest_fall(const Sweep& sweep, std::size_t i) {
  double most = 0.0;
  for (std::size_t j = 0; j < sweep.rise.size(); ++j) {
    most = std::max(most, -sweep.rise[j] * sweep.y[i] / sweep.y[j + 1]);
  }
  return most;
}

/// Finds the first jump, from gap `from` on, that exceeds the scatter. A jump may extend over more
/// than one gap.
std::optional<Jump> next_jump(const Sweep& sweep, std::size_t from) {
  constexpr double min_share = 0.25;
  for (std::size_t i = from; i < sweep.rise.size(); ++i) {
    const double least = std::max(
        {sweep.threshold(), min_score * sweep.sigma(i), min_over_falls * largest_fall(sweep, i)});
    if (sweep.rise[i] < least) continue;
    Jump jump{i, i, sweep.rise[i]};
    if (i > from && sweep.rise[i - 1] > min_share * sweep.rise[i]) {
      jump.height += sweep.rise[--jump.first];
    }
    while (jump.last + 1 < sweep.rise.size() &&
           sweep.rise[jump.last + 1] > min_share * jump.height) {
      jump.height += sweep.rise[++jump.last];
    }
    return jump;
  }
  return std::nullopt;
}

/// Returns the time after a jump as a multiple of the latency.
double latencies_after(const Sweep& sweep, const Jump& jump) {
  const std::size_t points = std::min<std::size_t>(3, sweep.rise.size() - jump.last);
  return median(std::span(sweep.y).subspan(jump.last + 1, points)) / sweep.latency;
}

/// Returns the reason why a jump cannot be the first jump of a limit. Returns an empty string if
/// it can be. The first request beyond the limit waits for the first answer and then takes a
/// latency itself. The time after the first jump is therefore 2 latencies.
std::string why_no_limit(const LoadPattern& pattern, const Sweep& sweep, const Jump& jump) {
  constexpr double max_jump = 1.5;       // in latencies: a jump of one, plus noise and queues
  constexpr double max_latencies = 2.5;  // in latencies; closer to 2 than to 3
  constexpr double min_alike = 0.5;      // later jumps are lower, since answers arrive one by one
  const auto next = next_jump(sweep, jump.last + 1);
  if (next && next->height >= min_alike * jump.height &&
      next->first - jump.last < min_spacing_points) {
    return "the jumps are too close together to be distinguished";
  }
  if (jump.height > max_jump * sweep.latency) return "several jumps coincide";
  // This reason does not apply to curves whose sub-groups share lines, since their loads wait one
  // after another when merge lists are full.
  if (!is_across(pattern) && latencies_after(sweep, jump) > max_latencies) {
    return "earlier jumps are hidden among the first sub-group's points";
  }
  const auto before = std::span(sweep.rise).first(jump.first);
  if (!before.empty() && jump.height < min_over_rises * std::ranges::max(before)) {
    return "the jump is within the scatter of the curve";
  }
  return {};
}

/// Finds the first jump of one curve. Does not set the lower bounds, since these need all curves
/// of a target.
CurveFinding find_spike(const ThreadLatencyCurve& curve, int sub_group) {
  CurveFinding found;
  found.pattern = curve.pattern;
  const auto sweep = sweep_of(curve, sub_group);
  if (!sweep) {
    found.reason = "fewer than 8 usable points";
    return found;
  }
  found.latency_cycles = sweep->latency;
  found.min_work_items = sweep->n.front();
  found.max_work_items = sweep->n.back();
  const double above = high_end_of_least(curve) - curve.overhead_cycles - sweep->latency;
  // Another run uses other lines, so its minimum may also be lower, by as much as `above`. The
  // minima of two runs differ at least by the noise of the curve's first points.
  const double half_width = std::max(above, 2.0 * sweep->sigma(0));
  found.latency_interval = {std::max(0.0, sweep->latency - half_width),
                            sweep->latency + half_width};
  constexpr double min_latencies = 1.7;  // 2 latencies, minus noise and queues
  auto jump = next_jump(*sweep, 0);
  while (jump && latencies_after(*sweep, *jump) < min_latencies) {
    found.reason =
        "after the jump, the time is less than twice the latency, so no pool or table is full";
    jump = next_jump(*sweep, jump->last + 1);
  }
  const Slope slope = slope_to(*sweep, jump ? jump->first : sweep->n.size() - 1);
  found.cycles_per_request = slope.cycles;
  found.request_interval = slope.interval;
  const Slope whole = slope_to(*sweep, sweep->n.size() - 1);
  found.whole_cycles_per_request = whole.cycles;
  found.whole_request_interval = whole.interval;
  if (jump) {
    found.reason = why_no_limit(curve.pattern, *sweep, *jump);
    if (found.reason.empty()) found.spike = Gap{sweep->n[jump->first], sweep->n[jump->last + 1]};
  } else if (found.reason.empty()) {
    found.reason = fmt::format("no jump of {} cycles or more", std::lround(sweep->threshold()));
  }
  return found;
}

/// Returns the median time of an additional request over all curves of a target.
double typical_interval(std::span<const CurveFinding> findings, const std::string& target) {
  std::vector<double> intervals;
  for (const CurveFinding& finding : findings) {
    if (finding.pattern.target == target) intervals.push_back(finding.cycles_per_request);
  }
  return intervals.empty() ? 0.0 : median(intervals);
}

/// Returns the minimum latency of a target: the minimum time of its curves, less the time to issue
/// all requests after the first one. Noise only lowers this latency, and thereby the bounds.
double min_latency(std::span<const ThreadLatencyCurve> curves, double interval,
                   const std::string& target, int sub_group) {
  const auto requests_of = [&](const ThreadLatencyCurve& curve, const ThreadLatencyPoint& point) {
    return unique_requests(point.work_items, curve.pattern, sub_group);
  };
  std::int64_t few = std::numeric_limits<std::int64_t>::max();
  for (const ThreadLatencyCurve& curve : curves) {
    if (curve.pattern.target != target) continue;
    for (const auto& point : curve.points) few = std::min(few, requests_of(curve, point));
  }
  few = std::max<std::int64_t>(few, 4);
  double least = HUGE_VAL;
  for (const ThreadLatencyCurve& curve : curves) {
    if (curve.pattern.target != target) continue;
    for (const ThreadLatencyPoint& point : curve.points) {
      const std::int64_t requests = requests_of(curve, point);
      if (requests > few) continue;  // the time to issue more requests is too uncertain
      for (const double cycles : point.runs_cycles) {
        const double latency = cycles - curve.overhead_cycles;
        if (!(latency > 0.0)) continue;
        const double others = static_cast<double>(requests - 1) * interval;
        least = std::min(least, std::max(latency - others, latency / 2.0));
      }
    }
  }
  return std::isfinite(least) ? least : 0.0;
}

/// Sets the lower bounds by Little's law. The slowest run of each point gives the bound, so that
/// errors only lower the bound. The fastest run gives the upper end of the bound's interval.
void bound(const ThreadLatencyCurve& curve, double latency, int sub_group, CurveFinding& found) {
  const auto in_flight = [latency](std::int64_t count, double cycles) {
    return saturated(std::floor(static_cast<double>(count) * std::min(1.0, latency / cycles)));
  };
  for (const ThreadLatencyPoint& point : curve.points) {
    if (point.runs_cycles.empty()) continue;
    const auto [least, most] = std::ranges::minmax(point.runs_cycles);
    if (!(least > curve.overhead_cycles)) continue;
    const double fastest = least - curve.overhead_cycles;
    const double slowest = most - curve.overhead_cycles;
    const std::int64_t requests = unique_requests(point.work_items, curve.pattern, sub_group);
    found.fastest_requests = std::max(found.fastest_requests, in_flight(requests, fastest));
    found.min_requests = std::max(found.min_requests, in_flight(requests, slowest));
    // An instruction may need no entry if other sub-groups have already fetched its lines. Curves
    // whose sub-groups share lines therefore give no bound of instructions.
    if (is_across(curve.pattern)) continue;
    const std::int64_t instructions = load_instructions(point.work_items, curve.pattern, sub_group);
    found.min_instructions = std::max(found.min_instructions, in_flight(instructions, slowest));
  }
}

/// Sets `waits` for curves whose minimum time is at least 1.5 latencies of the target, and removes
/// their spikes. In such a curve the loads wait for each other, for registers or for a scoreboard,
/// and this wait may also cause the spike.
void drop_waiting(std::map<std::string, double>& latency, std::vector<CurveFinding>& found) {
  constexpr double max_latencies = 1.5;
  for (CurveFinding& each : found) {
    each.waits = each.latency_cycles >= max_latencies * latency[each.pattern.target];
    if (!each.waits || !each.spike) continue;
    each.spike.reset();
    each.reason =
        "even the loads of a few work-items wait for each other, so the jump may have another "
        "cause";
  }
}

}  // namespace

std::vector<CurveFinding> find_spikes(std::span<const ThreadLatencyCurve> curves, int sub_group) {
  if (sub_group < 1) throw std::invalid_argument("the sub-group size must be at least 1");
  std::vector<CurveFinding> found;
  found.reserve(curves.size());
  for (const ThreadLatencyCurve& curve : curves) found.push_back(find_spike(curve, sub_group));
  std::map<std::string, double> latency;
  for (const ThreadLatencyCurve& curve : curves) {
    const std::string& target = curve.pattern.target;
    if (!latency.contains(target)) {
      latency[target] = min_latency(curves, typical_interval(found, target), target, sub_group);
    }
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    bound(curves[c], latency[curves[c].pattern.target], sub_group, found[c]);
  }
  drop_waiting(latency, found);
  return found;
}

}  // namespace clprobe::inflight
