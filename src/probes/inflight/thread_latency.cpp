// SPDX-License-Identifier: Apache-2.0
// The Thread-Latency plot, and the number of loads that a sub-group can have outstanding.
#include "probes/inflight/thread_latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace clprobe::inflight {
namespace {

/// Returns the usable runs by work-items.
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

/// Returns the quantile of the robust curve: the minimum of a few runs, else the lower quartile.
double robust_quantile(std::size_t runs) { return runs < 9 ? 0.0 : 0.25; }

/// Returns the probability that the robust time of a bootstrap sample of `runs` exceeds `end`:
/// fewer draws than its rank are at most `end`.
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

// Loads that are in flight together take one latency and a little to issue each; loads that wait
// take two. If issuing dominates, and 4 loads take 1.25 latencies, 8 loads take up to 1.6.
constexpr double max_together = 1.25;
constexpr double min_waiting = 1.7;

/// Curves of one target, by loads per work-item.
using CurvesByLoads = std::map<int, const CurveFinding*>;

/// Loads of a sub-group by the curves of one target.
struct TargetLoads {
  int at_least{0};
  std::optional<CountRange> range{};
  std::int64_t requests{0};  ///< requests of the smallest work-group whose loads wait
};

TargetLoads loads_of_target(const CurvesByLoads& curves) {
  TargetLoads found;
  if (!curves.contains(1)) return found;
  int last_together = 1;
  std::optional<int> first_waiting;
  bool is_one_step = true;
  for (const auto& [loads, curve] : curves) {
    const double latencies = curve->latency_cycles / curves.at(1)->latency_cycles;
    if (!first_waiting && latencies <= max_together) last_together = loads;
    if (first_waiting && latencies < min_waiting) is_one_step = false;
    if (!first_waiting && latencies >= min_waiting) first_waiting = loads;
  }
  if (!is_one_step) return found;
  found.at_least = last_together;
  if (!first_waiting) return found;
  found.range = CountRange{last_together, *first_waiting - 1};
  found.requests = std::int64_t{*first_waiting} * curves.at(*first_waiting)->min_work_items;
  return found;
}

/// Returns true if the compute unit had more in flight than the loads that waited, so that these
/// did not wait for its pool or table.
bool is_own_limit(std::span<const CurveFinding> curves, const TargetLoads& found) {
  return std::any_of(
             curves.begin(), curves.end(),
             [&](const CurveFinding& each) { return each.min_requests >= found.requests; }) &&
         std::any_of(curves.begin(), curves.end(), [&](const CurveFinding& each) {
           return each.min_instructions > found.range->high;
         });
}

std::map<std::string, CurvesByLoads> curves_by_target(std::span<const CurveFinding> curves) {
  std::map<std::string, CurvesByLoads> targets;
  for (const CurveFinding& each : curves) {
    if (each.pattern.merger != 1 || !(each.latency_cycles > 0.0)) continue;
    targets[each.pattern.target][each.pattern.loads] = &each;
  }
  return targets;
}

}  // namespace

double harmonic_mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("harmonic mean of nothing");
  double sum = 0.0;
  for (const double value : values) {
    if (!(value > 0.0)) {
      throw std::invalid_argument("harmonic mean of a value that is not positive");
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
  // Runs of one visit are not independent, so that its minimum counts.
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
    // Each sub-group is coalesced separately.
    const std::int64_t of_warp = (warp + m - 1) / m;
    return pattern.loads * (n / warp * of_warp + (n % warp + m - 1) / m);
  }
  const std::int64_t group = warp * m;
  return pattern.loads * (n / group * warp + std::min(n % group, warp));
}

std::int64_t load_instructions(int work_items, const LoadPattern& pattern, int sub_group) {
  return static_cast<std::int64_t>(pattern.loads) * ((work_items + sub_group - 1) / sub_group);
}

SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves) {
  SubGroupLoads all;
  std::optional<CountRange> range;
  for (const auto& [target, by_loads] : curves_by_target(curves)) {
    const TargetLoads found = loads_of_target(by_loads);
    all.at_least = std::max(all.at_least, found.at_least);
    if (!found.range) continue;
    all.open = found.range;
    if (!is_own_limit(curves, found)) {
      all.reason = fmt::format(
          "{} loads of a few work-items wait for each other, but the compute unit never had more "
          "loads in flight, so the limit may be the compute unit's",
          found.range->high + 1);
      continue;
    }
    if (!range) range = found.range;
    range->low = std::max(range->low, found.range->low);
    range->high = std::min(range->high, found.range->high);
  }
  if (range) range->low = std::max<std::int64_t>(range->low, all.at_least);
  if (range && range->low > range->high) {
    all.reason =
        "the memories disagree: loads that one memory serves at once wait for each other in "
        "another memory";
    all.at_least = 0;
  } else if (range) {
    all.loads = range;
  } else if (all.reason.empty() && all.at_least == 0) {
    all.reason = "additional loads do not take longer, or no curve has a single load";
  }
  return all;
}

}  // namespace clprobe::inflight
