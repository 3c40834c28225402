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
    found.reason = "a jump to less than 2 latencies is not that of a full pool or table";
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
    found.reason = "a jump no higher than what the curve scatters by is none";
    return found;
  }
  first->spike.variance = variance_beside(plot, first->spike.gap);
  found.spike = first->spike;
  return found;
}

}  // namespace clprobe
