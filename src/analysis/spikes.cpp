// SPDX-License-Identifier: Apache-2.0
// From the jumps of a Thread-Latency curve to the spike that may be a limit's.
#include "analysis/spikes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "analysis/jumps.hpp"
#include "analysis/sweep.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

// Jumps nearer to each other than this cannot be told from a slope.
constexpr std::size_t min_spacing_points = 4;
// Of the 2 latencies and of the one that a jump can be, noise and queues allow so much.
constexpr double min_latencies = 1.7;
constexpr double max_jump = 1.5;
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
  if (next && next->gap - first.gap < min_spacing_points) {
    return "its jumps are too near to each other to be told apart";
  }
  const double latencies = latencies_behind(sweep, first);
  if (spike.jump_cycles > max_jump * sweep.latency) return "more than one jump at once";
  const double multiple = std::max(1.0, std::round(latencies) - 1.0);
  if (multiple > max_multiple ||
      (multiple > 1.0 && std::abs(latencies - multiple - 1.0) > multiple_slack)) {
    return "earlier jumps are hidden among the first sub-group's points";
  }
  first.spike.multiple = static_cast<int>(multiple);
  return {};
}

/// Where a jump would be seen: the requests before it took time - latency to issue, and the first
/// answer comes after one latency, so that 2 latency - time remains.
void find_visible(const Sweep& sweep, CurveFinding& found) {
  const std::size_t first = first_beyond(sweep.n, sweep.sub_group + 1);
  std::size_t end = first;
  // A few points must follow a jump.
  while (end + 4 < sweep.n.size()) {
    const double least = std::max(sweep.threshold(), min_score * 1.4142 * sweep.sigma(end));
    if (2.0 * sweep.latency - sweep.y[end] < least) break;
    ++end;
  }
  if (end == first) return;
  const auto range = [&](auto count) {
    return CountRange{count(sweep.n[first], sweep.pattern(), sweep.sub_group),
                      count(sweep.n[end - 1], sweep.pattern(), sweep.sub_group)};
  };
  found.visible_requests = range(unique_requests);
  found.visible_instructions = range(load_instructions);
}

/// What windows of many points see of a jump counts only where it stands out between two points as
/// well: over many points real curves are not as straight as that takes.
bool stands_out(const Sweep& sweep, const FoundSpike& found) {
  return found.spike.jump_cycles >= min_score * 1.4142 * sweep.sigma(found.gap);
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
    return "requests take so long to issue that a full pool would not be seen";
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
  const double above = high_end_of_least(curve) - curve.overhead_cycles - sweep->latency;
  // Another run, whose lines lie elsewhere, meets a least as far below this one, and scatters by
  // what the first points of the curve do.
  const double either_way = std::max(above, 2.0 * sweep->sigma(0));
  found.latency_interval = {std::max(0.0, sweep->latency - either_way),
                            sweep->latency + either_way};
  found.noise = sweep->noise;
  find_visible(*sweep, found);
  const std::size_t from = first_beyond(sweep->n, sub_group + 1);
  auto first = next_spike(*sweep, 0, from);
  // What is too low for a limit does not hide the limit behind it.
  while (first && latencies_behind(*sweep, *first) < min_latencies) {
    found.reason = "a jump to less than 2 latencies is not that of a full pool or table";
    first = next_spike(*sweep, first->gap + 1, first->gap + 1);
  }
  const std::size_t last = first ? first->gap : sweep->n.size() - 1;
  const Slope slope = slope_between(*sweep, 0, last);
  found.cycles_per_request = slope.cycles;
  found.request_interval = slope.interval;
  if (!first) {
    if (found.reason.empty()) found.reason = why_silent(*sweep, found);
    return found;
  }
  found.reason = count_multiples(*sweep, *first);
  if (!found.reason.empty()) return found;
  if (!stands_out(*sweep, *first)) {
    found.reason = "a jump no higher than what the curve scatters by is none";
    return found;
  }
  first->spike.variance = variance_beside(plot, first->spike.gap);
  found.spike = first->spike;
  return found;
}

}  // namespace clprobe
