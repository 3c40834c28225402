// SPDX-License-Identifier: Apache-2.0
// Combination of several runs of one device into one digest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

using Matches = std::vector<const ComparedFinding*>;

/// Returns the label that more than half of the runs have; empty without a majority.
std::string majority_label(const Matches& matches, std::size_t runs) {
  for (const ComparedFinding* const each : matches) {
    const auto same = std::ranges::count_if(
        matches, [&](const auto* other) { return other->finding.label == each->finding.label; });
    if (2 * static_cast<std::size_t>(same) > runs) return each->finding.label;
  }
  return {};
}

/// Sets `pooled` to the median size, with a bracket of the median.
void pool_brackets(const Matches& matches, ComparedFinding& pooled) {
  std::vector<double> values;
  std::vector<double> lows;
  std::vector<double> highs;
  for (const ComparedFinding* const each : matches) {
    const Finding& finding = each->finding;
    values.push_back(*finding.value);
    lows.push_back(finding.low.value_or(*finding.value));
    highs.push_back(finding.high.value_or(*finding.value));
    pooled.step = std::max(pooled.step, each->step);
  }
  pooled.finding.value = median(values);
  pooled.finding.low = median_interval(lows).low;
  pooled.finding.high = median_interval(highs).high;
}

/// Sets `pooled` to the mean of several runs. Values measured in cycles are averaged in cycles,
/// since clock rates and their errors differ between runs.
void pool_values(const Matches& matches, const std::optional<CoreClock>& clock,
                 ComparedFinding& pooled) {
  const bool has_clocks = clock && std::ranges::all_of(matches, [](const auto* each) {
                            return each->clock.has_value();
                          });
  std::vector<double> values;
  std::vector<double> half_widths;
  for (const ComparedFinding* const each : matches) {
    const Position position = locate(has_clocks ? in_cycles(*each) : *each);
    values.push_back(position.value);
    half_widths.push_back(std::max(position.below, position.above));
  }
  const PooledMean mean = pool_means(values, half_widths);
  const bool is_part = is_share(pooled.finding);
  const auto from_line = [is_part](double value) { return is_part ? value : std::exp(value); };
  const std::string unit = pooled.finding.unit;
  ComparedFinding result = pooled;
  result.clock = has_clocks ? clock : std::nullopt;
  if (has_clocks) result.finding.unit = in_cycles(result).finding.unit;
  result.finding.value = from_line(mean.mean);
  result.finding.low = from_line(mean.mean - mean.half_width);
  result.finding.high = from_line(mean.mean + mean.half_width);
  // The variation between runs already includes the errors of the single runs.
  result.margin = 0.0;
  result.calibration = 0.0;
  result.disturbance = 0.0;
  result.degrees = mean.degrees;
  if (has_clocks && unit != result.finding.unit) result = in_seconds(result);
  pooled = std::move(result);
}

/// Sets `pooled` to the mean of parts of a whole, averaged as shares.
void pool_parts(const Matches& matches, ComparedFinding& pooled) {
  std::vector<double> shares;
  std::vector<double> half_widths;
  double logarithms = 0.0;
  for (const ComparedFinding* const each : matches) {
    const Position position = locate(as_share(*each, each->whole));
    shares.push_back(position.value);
    half_widths.push_back(std::max(position.below, position.above));
    logarithms += std::log(each->whole);
  }
  const PooledMean mean = pool_means(shares, half_widths);
  pooled.whole = std::exp(logarithms / static_cast<double>(matches.size()));
  pooled.finding.value = mean.mean * pooled.whole;
  pooled.finding.low = (mean.mean - mean.half_width) * pooled.whole;
  pooled.finding.high = (mean.mean + mean.half_width) * pooled.whole;
  pooled.disturbance = 0.0;  // included in the variation between runs
  pooled.degrees = mean.degrees;
}

/// Returns a finding combined from all runs that have it. `matches` begins with the finding of the
/// typical run.
ComparedFinding pool_finding(const Matches& matches, std::size_t runs,
                             const std::optional<CoreClock>& clock) {
  ComparedFinding pooled = *matches.front();
  Matches with_value;
  for (const ComparedFinding* const each : matches) {
    const Finding& finding = each->finding;
    const bool has_position = finding.value && (*finding.value > 0.0 || is_part(*each));
    if (has_position && finding.unit == pooled.finding.unit) with_value.push_back(each);
  }
  const bool are_parts =
      std::ranges::all_of(with_value, [](const auto* each) { return each->whole > 0.0; });
  if (!are_parts) {  // logarithms require positive values
    std::erase_if(with_value, [](const auto* each) {
      return !(*each->finding.value > 0.0) && !is_share(each->finding);
    });
  }
  const bool has_label = !pooled.finding.label.empty();
  pooled.finding.label = majority_label(matches, runs);
  if (has_label && pooled.finding.label.empty()) pooled.finding.reason = "the runs disagree";
  if (2 * with_value.size() <= runs) {
    if (pooled.finding.value) {
      pooled.finding.reason =
          fmt::format("only {} of {} runs have a value", with_value.size(), runs);
    }
    pooled.finding.value = pooled.finding.low = pooled.finding.high = std::nullopt;
    return pooled;
  }
  pooled.finding.reason.clear();
  // The variation between runs already includes the effects of other tenants.
  if (with_value.size() > 1) pooled.is_of_virtual_cpu = false;
  if (is_bracket(pooled.finding)) {
    pool_brackets(with_value, pooled);
  } else if (with_value.size() > 1 && are_parts) {
    pool_parts(with_value, pooled);
  } else if (with_value.size() > 1) {
    pool_values(with_value, clock, pooled);
  } else {
    pooled = *with_value.front();
  }
  return pooled;
}

/// Returns a curve of the points that more than half of the runs have. The value of a point is the
/// median.
ComparedCurve pool_curve(const ComparedCurve& first, const std::vector<const ComparedResult*>& all,
                         std::size_t runs) {
  std::map<std::string, std::pair<ComparedPoint, std::vector<double>>> points;
  for (const ComparedResult* const result : all) {
    for (const ComparedCurve& curve : result->curves) {
      if (curve.series != first.series || curve.varying != first.varying) continue;
      for (const ComparedPoint& point : curve.points) {
        auto& [kept, values] = points[point.key];
        if (values.empty()) kept = point;
        values.push_back(point.value);
      }
    }
  }
  ComparedCurve pooled = first;
  pooled.points.clear();
  for (auto& [key, point] : points) {
    if (2 * point.second.size() <= runs) continue;
    point.first.value = median(point.second);
    pooled.points.push_back(point.first);
  }
  return pooled;
}

/// Returns why a run's result of a probe is less complete than that of the typical run, or the
/// reverse; empty if neither is.
std::string lack_of(const ComparedResult& typical, const ComparedResult* result) {
  if (result == nullptr) return "not measured";
  if (result->status != Status::ok) return result->reason;
  std::vector<Cut> cuts = find_cuts(typical, *result, true);
  // The typical run may be less complete than this run.
  if (cuts.empty()) cuts = find_cuts(*result, typical, true);
  return cuts.empty() ? "" : fmt::format("{}: {}", cuts.front().series, cuts.front().reason);
}

ComparedResult pool_results(const ComparedResult& first, std::span<const RunDigest> runs,
                            const std::optional<CoreClock>& clock) {
  ComparedResult pooled{.probe = first.probe,
                        .method = first.method,
                        .kernels = first.kernels,
                        .view = first.view,
                        .status = first.status,
                        .reason = first.reason};
  std::vector<const ComparedResult*> all{&first};
  std::map<Key, Matches> found;
  const auto add = [&](const std::map<Key, const ComparedFinding*>& findings) {
    for (const auto& [key, finding] : findings) found[key].push_back(finding);
  };
  add(keyed(first, {}));
  for (const RunDigest& run : runs) {
    const ComparedResult* const result = result_of(run, first.probe);
    if (result == &first) continue;
    // A check must not pass on incomplete data, so that a gap of one run counts as a gap of the
    // combined result.
    const std::string lack = lack_of(first, result);
    if (!lack.empty() && pooled.status == Status::ok && first.probe != clock_section) {
      const bool has_failed = result != nullptr && result->status != Status::ok;
      pooled.status = has_failed ? result->status : Status::failed;
      pooled.reason = fmt::format("{} in {}", lack, run.file);
    }
    if (result == nullptr) continue;
    all.push_back(result);
    add(keyed(*result, level_maps(first, *result)));
  }
  std::map<const ComparedFinding*, Key> keys;
  for (const auto& [key, finding] : keyed(first, {})) keys.emplace(finding, key);
  pooled.findings.reserve(first.findings.size());
  for (const ComparedFinding& each : first.findings) {
    pooled.findings.push_back(pool_finding(found.at(keys.at(&each)), runs.size(), clock));
  }
  for (const ComparedCurve& curve : first.curves) {
    pooled.curves.push_back(pool_curve(curve, all, runs.size()));
  }
  return pooled;
}

/// Returns the typical run: among the runs with the largest number of probes, the run with the
/// median number of values. Most runs find the same levels, so that this run has the usual levels.
const RunDigest& typical_run(std::span<const RunDigest> runs) {
  std::size_t most = 0;
  for (const RunDigest& run : runs) most = std::max(most, run.results.size());
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].results.size() < most) continue;
    std::size_t values = 0;
    for (const ComparedResult& result : runs[run].results) {
      for (const ComparedFinding& each : result.findings) {
        if (each.finding.value) ++values;
      }
    }
    order.emplace_back(values, run);
  }
  std::ranges::sort(order);
  return runs[order[(order.size() - 1) / 2].second];
}

}  // namespace

RunDigest pool(std::span<const RunDigest> runs) {
  if (runs.empty()) {
    throw std::invalid_argument("a comparison needs at least one baseline run and one new run");
  }
  if (runs.size() == 1) return runs.front();
  const RunDigest& typical = typical_run(runs);
  RunDigest side = typical;
  side.file = fmt::format("{} and {} more", runs.front().file, runs.size() - 1);
  side.runs = runs.size();
  side.started = runs.front().started;
  for (const RunDigest& run : runs) {
    side.interrupted |= run.interrupted;
    if (side.failure.empty()) side.failure = run.failure;
  }
  std::optional<CoreClock> clock;
  for (ComparedResult& result : side.results) {
    result = pool_results(*result_of(typical, result.probe), runs, clock);
    if (result.probe != clock_section || result.findings.empty()) continue;
    const Finding& rate = result.findings.front().finding;
    if (rate.value && rate.low && rate.high) clock = CoreClock{*rate.value, *rate.low, *rate.high};
  }
  return side;
}

}  // namespace clprobe
