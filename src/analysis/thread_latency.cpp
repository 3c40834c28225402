// SPDX-License-Identifier: Apache-2.0
// The jumps of all curves, and by Little's law what was outstanding at least.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "analysis/spikes.hpp"
#include "clprobe/outstanding.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

/// What a request takes to be issued, by the middle one of a target's curves.
double typical_interval(std::span<const CurveFinding> findings, const std::string& target) {
  std::vector<double> intervals;
  for (const CurveFinding& finding : findings) {
    if (finding.pattern.target == target) intervals.push_back(finding.cycles_per_request);
  }
  return intervals.empty() ? 0.0 : median(intervals);
}

/// The least run of a target's curves, less what its other requests take to issue: no request took
/// less, but for noise that makes the bound smaller still.
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
  std::optional<double> least;
  for (const ThreadLatencyCurve& curve : curves) {
    if (curve.pattern.target != target) continue;
    for (const ThreadLatencyPoint& point : curve.points) {
      const std::int64_t requests = requests_of(curve, point);
      for (const double cycles : point.runs_cycles) {
        const double latency = cycles - curve.overhead_cycles;
        if (!(latency > 0.0)) continue;
        // For more requests the interval is not known well enough, nor is it needed.
        const double others = requests <= few ? static_cast<double>(requests - 1) * interval : 0.0;
        const double alone = std::max(latency - others, latency / 2.0);
        if (!least || alone < *least) least = alone;
      }
    }
  }
  return least.value_or(0.0);
}

/// The slowest and the fastest run of each point, less overhead.
struct Extremes {
  std::map<int, double> slowest{};
  std::map<int, double> fastest{};
};

Extremes extremes_of(const ThreadLatencyCurve& curve) {
  Extremes extremes;
  for (const ThreadLatencyPoint& point : curve.points) {
    if (point.runs_cycles.empty()) continue;
    const auto [least, most] =
        std::minmax_element(point.runs_cycles.begin(), point.runs_cycles.end());
    const double overhead = curve.overhead_cycles;
    if (*most > overhead) extremes.slowest[point.work_items] = *most - overhead;
    if (*least > overhead) extremes.fastest[point.work_items] = *least - overhead;
  }
  return extremes;
}

/// Little's law with the slowest run of each point, and the median of 5 points: every error makes
/// the bound smaller. And with the fastest, for the other end of the bound's interval.
void bound(const ThreadLatencyCurve& curve, double latency, int sub_group, CurveFinding& found) {
  const bool is_shared = curve.pattern.mode == MergerMode::across && curve.pattern.merger > 1;
  const auto [slowest, fastest] = extremes_of(curve);
  std::vector<double> times;
  times.reserve(slowest.size());
  for (const auto& [items, cycles] : slowest) times.push_back(cycles);
  std::size_t i = 0;
  for (const auto& [items, cycles] : slowest) {
    const std::size_t first = i < 2 ? 0 : i - 2;
    const std::size_t last = std::min(times.size() - 1, i + 2);
    const double smooth = median(std::span(times).subspan(first, last - first + 1));
    const double share = latency / std::max(smooth, cycles);
    const auto in_flight = [&](std::int64_t count) {
      return saturated(std::floor(static_cast<double>(count) * share));
    };
    found.min_requests =
        std::max(found.min_requests, in_flight(unique_requests(items, curve.pattern, sub_group)));
    // Instructions whose lines others have fetched may not need an entry.
    if (!is_shared) {
      found.min_instructions = std::max(
          found.min_instructions, in_flight(load_instructions(items, curve.pattern, sub_group)));
    }
    ++i;
  }
  for (const auto& [items, cycles] : fastest) {
    const auto requests = static_cast<double>(unique_requests(items, curve.pattern, sub_group));
    const std::int64_t in_flight =
        saturated(std::floor(requests * std::min(1.0, latency / cycles)));
    found.fastest_requests = std::max(found.fastest_requests, in_flight);
  }
}

/// Whose fewest work-items take far longer than one load of the target: their own loads wait for
/// one another, for registers or for a scoreboard, and so may what looks like a full table.
void drop_waiting(std::map<std::string, double>& latency, std::vector<CurveFinding>& found) {
  constexpr double max_latencies = 1.5;
  for (CurveFinding& each : found) {
    const double least = latency[each.pattern.target];
    if (each.latency_cycles < max_latencies * least) continue;
    // Nor would it have shown a limit elsewhere.
    each.visible_requests = each.visible_instructions = CountRange{1, 0};
    if (!each.spike) continue;
    each.spike.reset();
    each.reason = "even the loads of a few work-items wait for each other";
  }
}

}  // namespace

std::vector<CurveFinding> find_spikes(std::span<const ThreadLatencyCurve> curves, int sub_group) {
  if (sub_group < 1) throw std::invalid_argument("a sub-group has at least one work-item");
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

}  // namespace clprobe
