// SPDX-License-Identifier: Apache-2.0
// Capacities in rounds of turns: where levels end, by how far on the way from one level to the next
// both sides are at the same sizes.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/statistics.hpp"
#include "commands/live_turns.hpp"

namespace clprobe::commands {
namespace {

// Between sizes that are farther apart nobody can tell how much a capacity has changed.
constexpr double max_step_ratio = 2.0;

bool is_speed(const Finding& finding, const DeviceInfo& device) {
  return value_in(finding.unit, 1.0, device).has_value();
}

bool has_bracket(const ComparedFinding* compared) {
  return compared != nullptr && compared->finding.value && compared->finding.level &&
         is_bracket(compared->finding);
}

}  // namespace

/// The time, or the bandwidth, of the level that ends at this capacity, or of one beyond.
const LiveTurns::Headline* LiveTurns::speed_of(const Headline& capacity, int farther) const {
  for (const Headline& each : headlines_) {
    const bool is_of_probe = each.results == capacity.results && !each.end;
    if (!is_of_probe || !is_speed(each.findings[0].finding, turn_sides_[0].device)) continue;
    bool is_level = true;
    for (std::size_t side = 0; side < each.findings.size(); ++side) {
      const Finding& end = capacity.findings.at(side).finding;
      const Finding& speed = each.findings.at(side).finding;
      is_level = is_level && speed.series == end.series && speed.level == *end.level + farther;
    }
    if (is_level) return &each;
  }
  return nullptr;
}

void LiveTurns::follow_end(std::size_t row) {
  const ComparedRow& compared = first_.rows[row];
  if (!has_bracket(compared.cells[0].finding) || !has_bracket(compared.cells[1].finding)) return;
  std::optional<Headline> headline = headline_of(row);
  // Simulated sides give the same each time.
  const bool is_repeatable = sides_[0].target.machine && sides_[1].target.machine;
  if (!headline || is_repeatable) return;
  const Headline* const level = speed_of(*headline, 0);
  const Headline* const next = speed_of(*headline, 1);
  if (level == nullptr || next == nullptr) {
    left_out_.push_back({row, "no points show its level and the next one on both sides"});
    return;
  }
  const double grid_step = bracket_step(headline->findings[0], headline->findings[1]);
  if (grid_step > std::log(max_step_ratio)) {
    left_out_.push_back({row, "the measured sizes around it are too far apart"});
    return;
  }
  std::string reason;
  auto found = find_end(headline->findings[0].finding, measured(0, headline->results[0]),
                        headline->findings[1].finding, measured(1, headline->results[1]),
                        level->pairs, next->pairs, reason);
  if (!found) {
    left_out_.push_back({row, std::move(reason)});
    return;
  }
  const double step =
      std::max(bracket_step(headline->findings[0], headline->findings[1]), found->end.resolution());
  headline->threshold = std::max(threshold_, std::expm1(step));
  headline->pairs = std::move(found->pairs);
  headline->end = End{.where = std::move(found->end), .level = level->pairs, .next = next->pairs};
  headlines_.push_back(std::move(*headline));
}

void LiveTurns::take_end(Headline& headline) {
  End& end = *headline.end;
  const auto level = compare(headline, end.level[round_ % end.level.size()]);
  const auto next = compare(headline, end.next[round_ % end.next.size()]);
  std::vector<double> ours;
  std::vector<double> theirs;
  for (const PointPair& pair : headline.pairs) {
    const auto found = compare(headline, pair);
    // Beside a burst a level may look slower than the next one.
    const bool is_known = found && level && next && next->baseline > level->baseline &&
                          next->baseline + next->log_ratio > level->baseline + level->log_ratio;
    if (!is_known) return;
    const auto share = [&](double baseline, double other) {
      const auto time = [&](const RoundRatio& of) {
        return std::exp(baseline * of.baseline + other * of.log_ratio);
      };
      return missed_share(time(*found), time(*level), time(*next));
    };
    ours.push_back(share(1.0, 0.0));
    theirs.push_back(share(1.0, 1.0));
  }
  end.level_log_ratios.push_back(level->log_ratio);
  end.next_log_ratios.push_back(next->log_ratio);
  const auto apart = end.where.compare(ours, theirs);
  if (!apart) return;
  headline.log_ratios.push_back(apart->log_ratio);
  if (apart->is_bound) ++end.bounds;
  const PairedState state = state_of(headline.log_ratios, 0.0, headline.threshold);
  const bool is_open = 4 * end.bounds > headline.log_ratios.size() && state.p_value >= 1.0;
  headline.is_settled = !is_open && is_settled(state, headline.threshold, family_);
}

/// The sizes are those of both first looks, as far apart as the rounds say.
void LiveTurns::conclude_end(const Headline& headline, Followed& followed) {
  const End& end = *headline.end;
  Finding& a = followed.baseline.finding;
  Finding& b = followed.other.finding;
  const double middle = std::sqrt(*a.value * *b.value);
  const double half = mean(headline.log_ratios) / 2.0;
  a.value = middle * std::exp(-half);
  b.value = middle * std::exp(half);
  followed.min_threshold = headline.threshold;
  followed.bounds = end.bounds;
  followed.may_keep_first_look = true;
  for (const auto* ratios : {&end.level_log_ratios, &end.next_log_ratios}) {
    const double apart = std::fabs(mean(*ratios));
    if (apart <= std::log1p(coarse_change)) continue;
    followed.doubt = fmt::format("{} is {:.3g} % apart, so that it may be another one",
                                 ratios == &end.level_log_ratios ? "its level" : "the next level",
                                 100.0 * std::expm1(apart));
  }
}

}  // namespace clprobe::commands
