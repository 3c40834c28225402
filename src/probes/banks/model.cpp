// SPDX-License-Identifier: Apache-2.0
// Fits of the bank candidates and of the conflict model.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "probes/banks/findings.hpp"
#include "probes/shared/relative_line.hpp"

namespace clprobe::banks {
namespace {

constexpr std::array candidate_banks{8, 16, 32, 64, 128};
constexpr std::array candidate_widths{4, 8};
constexpr std::array candidate_lanes{8, 16, 32, 64};

/// Buffers for counting rows. All groups of lanes of a pattern use the same buffers, since a run
/// counts the rows of a hundred thousand groups.
struct RowCounts {
  std::vector<std::uint32_t> rows{};
  std::vector<int> by_bank{};
};

/// Returns the maximum number of different rows in one bank that a group of lanes accesses.
int rows_of_group(std::span<const std::uint32_t> offsets, std::uint32_t word, const Model& model,
                  RowCounts& counts) {
  const auto width = static_cast<std::uint32_t>(model.width_bytes);
  const auto banks = static_cast<std::uint32_t>(model.banks);
  std::vector<std::uint32_t>& rows = counts.rows;
  rows.clear();
  for (const std::uint32_t offset : offsets) {
    for (std::uint32_t row = offset / width; row <= (offset + word - 1) / width; ++row) {
      rows.push_back(row);
    }
  }
  if (!std::is_sorted(rows.begin(), rows.end())) std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  counts.by_bank.assign(banks, 0);
  int most = 0;
  for (const std::uint32_t row : rows) most = std::max(most, ++counts.by_bank[row % banks]);
  return most;
}

/// Returns the constant that minimizes the sum of squares of relative errors.
double relative_mean(std::span<const double> times) {
  double weights = 0.0;
  double sum = 0.0;
  for (const double time : times) {
    weights += 1.0 / (time * time);
    sum += 1.0 / time;
  }
  return sum / weights;
}

double relative_squares(std::span<const double> wavefronts, std::span<const double> times,
                        double base, double cost) {
  double sum = 0.0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double deviation = (times[i] - base - cost * wavefronts[i]) / times[i];
    sum += deviation * deviation;
  }
  return sum;
}

double bic_of(double relative_squares, std::size_t points, std::size_t parameters) {
  // Minimum mean square of relative errors. The resolution of the clock and the noise of the host
  // prevent smaller errors.
  constexpr double min_mean_square = 1e-6;
  const auto n = static_cast<double>(points);
  return n * std::log(std::max(relative_squares / n, min_mean_square)) +
         static_cast<double>(parameters) * std::log(n);
}

struct Fit {
  std::vector<ConflictLine> lines{};
  double relative_squares{0.0};
  double largest_share{0.0};
};

Fit fit_model(std::span<const Curve> curves, std::span<const std::vector<double>> wavefronts) {
  Fit fit;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const ConflictLine line = fit_conflicts(wavefronts[i], curves[i].times);
    const auto [min, max] = std::minmax_element(wavefronts[i].begin(), wavefronts[i].end());
    const double conflict_free = line.base + line.cost * *min;
    if (conflict_free > 0.0) {
      fit.largest_share = std::max(fit.largest_share, line.cost * (*max - *min) / conflict_free);
    }
    fit.relative_squares += line.relative_squares;
    fit.lines.push_back(line);
  }
  return fit;
}

/// Numbers of wavefronts of one pattern, one for each candidate.
struct PatternCounts {
  int word_bytes{4};
  int lanes{32};
  Pattern pattern{};
  std::vector<double> wavefronts{};  ///< index: model
};

/// Returns the numbers of wavefronts of a pattern from `known`, or else counts them and adds them
/// to `known`. Curves of one word size share most patterns.
const PatternCounts& counts_of(const Pattern& pattern, const Curve& curve,
                               std::span<const Model> models, std::vector<PatternCounts>& known) {
  const auto same = std::find_if(known.begin(), known.end(), [&](const PatternCounts& each) {
    return each.word_bytes == curve.word_bytes && each.lanes == curve.lanes &&
           each.pattern == pattern;
  });
  if (same != known.end()) return *same;
  PatternCounts counts{curve.word_bytes, curve.lanes, pattern, {}};
  const auto offsets = offsets_of(pattern, curve.word_bytes, curve.lanes);
  for (const Model& model : models) {
    counts.wavefronts.push_back(wavefronts_of(offsets, curve.word_bytes, model));
  }
  return known.emplace_back(std::move(counts));
}

std::string no_banks(const char* why, double share) {
  return fmt::format("not visible: {} (conflicts add at most {:.1f} % to an access's time)", why,
                     100.0 * share);
}

}  // namespace

int wavefronts_of(std::span<const std::uint32_t> offsets, int word_bytes, const Model& model) {
  const int delivered = model.banks * model.width_bytes / word_bytes;
  const auto together =
      static_cast<std::size_t>(std::clamp(delivered, 1, std::max(model.lanes_together, 1)));
  int sum = 0;
  RowCounts counts;
  for (std::size_t first = 0; first < offsets.size(); first += together) {
    sum += rows_of_group(offsets.subspan(first, std::min(together, offsets.size() - first)),
                         static_cast<std::uint32_t>(word_bytes), model, counts);
  }
  return sum;
}

Candidates tabulate_candidates(std::span<const Curve> curves) {
  int max_lanes = 1;
  for (const Curve& curve : curves) max_lanes = std::max(max_lanes, curve.lanes);
  Candidates candidates;
  for (const int lanes : candidate_lanes) {
    // Candidates with larger groups than the largest sub-group would equal another candidate.
    if (lanes > max_lanes && lanes != candidate_lanes.front()) continue;
    for (const int banks : candidate_banks) {
      for (const int width : candidate_widths) {
        // In every candidate the banks can deliver a word of 4 bytes to each lane of a group.
        if (lanes * 4 <= banks * width) candidates.models.push_back({banks, width, lanes});
      }
    }
  }
  candidates.wavefronts.resize(candidates.models.size());
  std::vector<PatternCounts> known;
  for (const Curve& curve : curves) {
    for (auto& of_model : candidates.wavefronts) of_model.emplace_back();
    for (const Pattern& pattern : curve.patterns) {
      const PatternCounts& counts = counts_of(pattern, curve, candidates.models, known);
      for (std::size_t model = 0; model < candidates.models.size(); ++model) {
        candidates.wavefronts[model].back().push_back(counts.wavefronts[model]);
      }
    }
  }
  return candidates;
}

ConflictLine fit_conflicts(std::span<const double> wavefronts, std::span<const double> times) {
  ConflictLine line;
  line.base = relative_mean(times);
  const double flat = relative_squares(wavefronts, times, line.base, 0.0);
  const auto [min, max] = std::ranges::minmax(wavefronts);
  if (min < max) {
    const Line fitted = fit_relative_line(wavefronts, times);
    // The interval uses the normal distribution instead of Student's t, since curves usually have
    // enough points.
    const double to_normal =
        times.size() > 2 ? student_t(normal_degrees) / student_t(times.size() - 2) : 1.0;
    const double half = to_normal * (fitted.slope_interval.high - fitted.slope);
    line.base = fitted.intercept;
    line.cost = fitted.slope;
    line.cost_interval = {line.cost - half, line.cost + half};
  }
  line.relative_squares = relative_squares(wavefronts, times, line.base, line.cost);
  line.r_squared = flat > 0.0 ? 1.0 - line.relative_squares / flat : 1.0;
  return line;
}

Verdict judge(std::span<const Curve> curves, const Candidates& candidates) {
  Verdict verdict;
  std::size_t points = 0;
  double flat_squares = 0.0;
  for (const Curve& curve : curves) {
    points += curve.times.size();
    const std::vector<double> none(curve.times.size(), 1.0);
    if (!curve.times.empty()) flat_squares += fit_conflicts(none, curve.times).relative_squares;
  }
  if (points < 2 * curves.size() + 2) {
    verdict.reason = "too few access patterns were measured to compare candidate models";
    return verdict;
  }
  verdict.bic_of_none = bic_of(flat_squares, points, curves.size());
  std::vector<Fit> fits;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.models.size(); ++i) {
    fits.push_back(fit_model(curves, candidates.wavefronts[i]));
    // Each curve has two parameters (base and cost). The candidate has three: banks, width and
    // lanes together.
    const double bic = bic_of(fits[i].relative_squares, points, 2 * curves.size() + 3);
    verdict.ranking.push_back({candidates.models[i], bic});
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return verdict.ranking[a].bic < verdict.ranking[b].bic;
  });
  std::stable_sort(verdict.ranking.begin(), verdict.ranking.end(),
                   [](const RankedModel& a, const RankedModel& b) { return a.bic < b.bic; });
  const Fit& best = fits[order.front()];
  verdict.lines = best.lines;
  verdict.largest_share = best.largest_share;
  constexpr double min_share = 0.02;
  // The best of dozens of candidates fits noise to some extent. The threshold is therefore higher
  // than for a single hypothesis.
  constexpr double decisive_bic = 20.0;
  constexpr double min_r_squared = 0.9;
  const bool has_negative = std::any_of(best.lines.begin(), best.lines.end(),
                                        [](const ConflictLine& line) { return line.cost < 0.0; });
  const double explained = flat_squares > 0.0 ? 1.0 - best.relative_squares / flat_squares : 0.0;
  if (best.largest_share < min_share) {
    verdict.reason = no_banks("all access patterns take nearly the same time", best.largest_share);
  } else if (verdict.bic_of_none - verdict.ranking.front().bic < decisive_bic) {
    verdict.reason = no_banks("the scatter of the samples hides the time that conflicts would add",
                              best.largest_share);
  } else if (explained < min_r_squared) {
    verdict.reason = fmt::format(
        "not visible: times differ between patterns, but the best candidate model explains only "
        "{:.0f} % of the variance",
        100.0 * std::max(explained, 0.0));
  } else if (has_negative) {
    verdict.reason = "not visible: in the best candidate model, conflicts would save time";
  } else {
    verdict.is_visible = true;
  }
  return verdict;
}

CongestionModel fit_congestion(std::span<const CongestionPoint> points) {
  std::vector<double> x;
  std::vector<double> y;
  for (const CongestionPoint& point : points) {
    x.push_back(point.product);
    y.push_back(point.time);
  }
  const Line line = fit_least_squares(x, y);
  CongestionModel model;
  model.c1 = line.slope;
  model.c2 = line.intercept;
  model.c1_interval = line.slope_interval;
  model.c2_interval = line.intercept_interval;
  model.r_squared = line.r_squared;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double deviation = std::fabs(model.time_of(points[i].product) - points[i].time);
    if (deviation > model.largest_deviation) {
      model.largest_deviation = deviation;
      model.deviates_most = i;
    }
    if (points[i].time > 0.0) {
      model.largest_deviation_share =
          std::max(model.largest_deviation_share, deviation / points[i].time);
    }
  }
  return model;
}

}  // namespace clprobe::banks
