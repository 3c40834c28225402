// SPDX-License-Identifier: Apache-2.0
#include "analysis/jumps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

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

double mean(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

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

}  // namespace

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

}  // namespace clprobe
