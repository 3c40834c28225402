// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace clprobe::banks {
namespace {

constexpr std::array candidate_banks{8, 16, 32, 64, 128};
constexpr std::array candidate_widths{4, 8};
constexpr std::array candidate_lanes{8, 16, 32, 64};

// The 97.5 % quantile of the normal distribution; curves have enough points for it.
constexpr double z_95 = 1.959963985;

/// Buffers for counting rows, kept from group to group: a run has a hundred thousand.
struct RowCounts {
  std::vector<std::uint32_t> rows{};
  std::vector<int> wanted{};
};

/// Rows that a group of lanes wants, by the bank that has them: the most of one bank.
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
  counts.wanted.assign(banks, 0);
  int max_wanted = 0;
  for (const std::uint32_t row : rows) {
    max_wanted = std::max(max_wanted, ++counts.wanted[row % banks]);
  }
  return max_wanted;
}

std::vector<int> rows_by_group(std::span<const std::uint32_t> offsets, int word_bytes,
                               const Model& model) {
  const int delivered = model.banks * model.width_bytes / word_bytes;
  const auto together =
      static_cast<std::size_t>(std::clamp(delivered, 1, std::max(model.lanes_together, 1)));
  std::vector<int> groups;
  RowCounts counts;
  for (std::size_t first = 0; first < offsets.size(); first += together) {
    groups.push_back(
        rows_of_group(offsets.subspan(first, std::min(together, offsets.size() - first)),
                      static_cast<std::uint32_t>(word_bytes), model, counts));
  }
  return groups;
}

/// Sums of a weighted regression; the weights make all deviations relative.
struct Sums {
  double w{0.0};
  double x{0.0};
  double y{0.0};
  double xx{0.0};
  double xy{0.0};

  void add(double weight, double at, double value) {
    w += weight;
    x += weight * at;
    y += weight * value;
    xx += weight * at * at;
    xy += weight * at * value;
  }
};

double weight_of(double time) { return 1.0 / (time * time); }

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
  // A clock and a host's noise leave at least this residual: a smaller one proves nothing.
  constexpr double min_mean_square = 1e-6;
  const auto n = static_cast<double>(points);
  return n * std::log(std::max(relative_squares / n, min_mean_square)) +
         static_cast<double>(parameters) * std::log(n);
}

/// All curves fitted under one model.
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

/// Wavefronts of one pattern by every candidate.
struct PatternCounts {
  int word_bytes{4};
  int lanes{32};
  Pattern pattern{};
  std::vector<double> wavefronts{};  // by model
};

/// Counted once: chains and independent accesses, loads and stores mostly have the same patterns.
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
  return fmt::format("not visible: {} (at most {:.1f} % of an access's time)", why, 100.0 * share);
}

}  // namespace

int wavefronts_of(std::span<const std::uint32_t> offsets, int word_bytes, const Model& model) {
  int sum = 0;
  for (const int rows : rows_by_group(offsets, word_bytes, model)) sum += rows;
  return sum;
}

Candidates tabulate_candidates(std::span<const Curve> curves) {
  int max_lanes = 1;
  for (const Curve& curve : curves) max_lanes = std::max(max_lanes, curve.lanes);
  Candidates candidates;
  for (const int lanes : candidate_lanes) {
    // More lanes together than there are is the same as all of them.
    if (lanes > max_lanes && lanes != candidate_lanes.front()) continue;
    for (const int banks : candidate_banks) {
      for (const int width : candidate_widths) {
        // And more than the banks deliver, in words of 4 bytes, as many as they do.
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
  Sums sums;
  for (std::size_t i = 0; i < times.size(); ++i) {
    sums.add(weight_of(times[i]), wavefronts[i], times[i]);
  }
  ConflictLine line;
  const double spread = sums.xx - sums.x * sums.x / sums.w;
  constexpr double rounding = 1e-12;
  if (spread > rounding * sums.xx) line.cost = (sums.xy - sums.x * sums.y / sums.w) / spread;
  line.base = (sums.y - line.cost * sums.x) / sums.w;
  line.relative_squares = relative_squares(wavefronts, times, line.base, line.cost);
  const double flat = relative_squares(wavefronts, times, sums.y / sums.w, 0.0);
  line.r_squared = flat > 0.0 ? 1.0 - line.relative_squares / flat : 1.0;
  line.cost_interval = {line.cost, line.cost};
  if (times.size() > 2 && line.cost != 0.0) {
    const double variance = line.relative_squares / static_cast<double>(times.size() - 2);
    const double half = z_95 * std::sqrt(variance / spread);
    line.cost_interval = {line.cost - half, line.cost + half};
  }
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
    verdict.reason = "too few patterns were measured to compare candidates";
    return verdict;
  }
  verdict.bic_of_none = bic_of(flat_squares, points, curves.size());
  std::vector<Fit> fits;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.models.size(); ++i) {
    fits.push_back(fit_model(curves, candidates.wavefronts[i]));
    // Lanes together, banks and width are parameters, too, but all candidates have them.
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
  // The best of some tens of candidates fits noise a little, so that more is asked of it than of
  // one that was named before.
  constexpr double decisive_bic = 20.0;
  constexpr double min_r_squared = 0.9;
  const bool has_negative = std::any_of(best.lines.begin(), best.lines.end(),
                                        [](const ConflictLine& line) { return line.cost < 0.0; });
  const double explained = flat_squares > 0.0 ? 1.0 - best.relative_squares / flat_squares : 0.0;
  if (best.largest_share < min_share) {
    verdict.reason = no_banks("no pattern costs more than another", best.largest_share);
  } else if (verdict.bic_of_none - verdict.ranking.front().bic < decisive_bic) {
    verdict.reason =
        no_banks("the noise hides the time that conflicts would add", best.largest_share);
  } else if (explained < min_r_squared || has_negative) {
    verdict.reason = fmt::format(
        "not visible: times differ between patterns, but the best candidate explains only {:.0f} % "
        "of the variance",
        100.0 * std::max(explained, 0.0));
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
