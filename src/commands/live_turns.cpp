// SPDX-License-Identifier: Apache-2.0
#include "commands/live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe::commands {
namespace {

std::optional<std::size_t> place_of(const Run& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ProbeResult::probe);
  if (found == run.results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - run.results.begin());
}

const ComparedFinding* with_value(const ComparedFinding* finding) {
  return finding != nullptr && finding->finding.value ? finding : nullptr;
}

/// Half the width of the interval of the calibration, as a logarithm, where accesses are timed by
/// the clock.
double calibration_of(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  if (device.timer != Timer::clock || !(clock.ticks_per_ns_low > 0.0)) return 0.0;
  return std::log(clock.ticks_per_ns_high / clock.ticks_per_ns_low) / 2.0;
}

}  // namespace

std::chrono::duration<double> time_for_turns(
    const std::optional<std::chrono::duration<double>>& asked,
    std::chrono::duration<double> spent) {
  constexpr std::chrono::duration<double> min_time{20.0};
  // The last round, and the end of both drivers, take some seconds more.
  constexpr std::chrono::duration<double> usual_end{56.0};
  return asked.value_or(std::max(min_time, usual_end - spent));
}

LiveTurns::LiveTurns(const Comparison& first, Sides& sides, double threshold,
                     const LiveObserver& observer)
    : first_(first), sides_(sides), threshold_(threshold), observer_(observer) {
  for (std::size_t i = 0; i < sides.size(); ++i) {
    turn_sides_.at(i) = {sides.at(i).backend.get(), sides.at(i).run.device};
  }
  settle_clocks();
  for (std::size_t row = 0; row < first.rows.size(); ++row) follow(row);
  family_ = static_cast<std::size_t>(std::ranges::count_if(first.rows, [](const ComparedRow& row) {
    return row.baseline->finding.role == Role::headline;
  }));
}

/// The ticks of one device are compared as ticks: each calibration has an error, and here they
/// would differ by nothing else.
void LiveTurns::settle_clocks() {
  const DeviceInfo& a = turn_sides_[0].device;
  DeviceInfo& b = turn_sides_[1].device;
  const bool is_same = a.name == b.name && a.clock.kind == b.clock.kind &&
                       a.clock.rate == b.clock.rate && a.timer == Timer::clock &&
                       b.timer == Timer::clock;
  if (is_same) {
    b.clock = a.clock;
  } else {
    calibration_ = std::hypot(calibration_of(a), calibration_of(b));
  }
}

Measured LiveTurns::measured(std::size_t side, std::size_t result) const {
  const Run& run = sides_.at(side).run;
  return {find_probe(run.results[result].probe), &run.device, run.results[result].points};
}

/// Of a headline that one of the sides has at least; the value is the turns' in any case.
std::optional<LiveTurns::Headline> LiveTurns::headline_of(std::size_t row) const {
  const ComparedRow& compared = first_.rows[row];
  const ComparedFinding* const ours = with_value(compared.cells[0].finding);
  const ComparedFinding* const theirs = with_value(compared.cells[1].finding);
  const bool is_there = ours != nullptr || theirs != nullptr;
  if (compared.baseline->finding.role != Role::headline || !is_there) return std::nullopt;
  const auto a = place_of(sides_[0].run, compared.probe);
  const auto b = place_of(sides_[1].run, compared.probe);
  if (find_probe(compared.probe) == nullptr || !a || !b) return std::nullopt;
  Headline headline{.row = row, .results = {*a, *b}};
  headline.findings = {ours != nullptr ? *ours : *theirs, theirs != nullptr ? *theirs : *ours};
  return headline;
}

void LiveTurns::follow(std::size_t row) {
  std::optional<Headline> headline = headline_of(row);
  if (!headline) return;
  constexpr std::size_t max_pairs = 3;
  const auto finding_in = [&](std::size_t side) {
    const ComparedFinding* const compared = with_value(first_.rows[row].cells[side].finding);
    return compared == nullptr ? nullptr : &compared->finding;
  };
  headline->pairs = pair_carriers(finding_in(0), measured(0, headline->results[0]), finding_in(1),
                                  measured(1, headline->results[1]), max_pairs);
  if (!headline->pairs.empty()) headlines_.push_back(std::move(*headline));
}

void LiveTurns::lose(Headline& headline, int side, const std::string& reason) {
  headline.is_lost = true;
  has_failed_ = true;
  Side& lost = sides_.at(side == 1 ? 1 : 0);
  ProbeResult& result = lost.run.results[headline.results.at(side == 1 ? 1 : 0)];
  result.status = Status::failed;
  result.reason = fmt::format("while alternating: {}", reason);
  observer_.say(fmt::format("{}: {}: {}", lost.name, result.probe, result.reason));
}

/// What a round says of a pair of points, which is measured once in it.
std::optional<RoundRatio> LiveTurns::compare(const Headline& headline, const PointPair& pair) {
  const std::array key{headline.results[0], headline.results[1], pair.baseline, pair.other};
  if (const auto known = compared_.find(key); known != compared_.end()) return known->second;
  ProbeResult& ours = sides_[0].run.results[headline.results[0]];
  ProbeResult& theirs = sides_[1].run.results[headline.results[1]];
  Point& a = ours.points[pair.baseline];
  Point& b = theirs.points[pair.other];
  Round round = take_round(*find_probe(ours.probe), turn_sides_[0], a, turn_sides_[1], b,
                           round_ % 2 == 1, {}, observer_.cancelled, failed_);
  std::move(round.baseline_samples.begin(), round.baseline_samples.end(),
            std::back_inserter(a.samples));
  std::move(round.other_samples.begin(), round.other_samples.end(), std::back_inserter(b.samples));
  std::optional<RoundRatio>& found = compared_[key];
  if (!round.blocks.empty()) found = ratio_of_round(round.blocks, !is_of_launches(a));
  return found;
}

void LiveTurns::take_one(Headline& headline) {
  try {
    const auto found = compare(headline, headline.pairs[round_ % headline.pairs.size()]);
    if (!found) return;
    const double sign = is_rate(headline.findings[0].finding.unit) ? -1.0 : 1.0;
    headline.log_ratios.push_back(sign * found->log_ratio);
    headline.baseline_ns.push_back(found->baseline);
    headline.is_settled =
        is_settled(state_of(headline.log_ratios, calibration_, threshold_), threshold_, family_);
  } catch (const DeviceError& error) {
    if (!observer_.cancelled()) lose(headline, failed_, error.what());
  }
}

void LiveTurns::report_progress(std::chrono::duration<double> spent,
                                std::chrono::duration<double> time) {
  const std::size_t left = unsettled();
  observer_.progress({.title = fmt::format("alternating, {} of {} decided",
                                           headlines_.size() - left, headlines_.size()),
                      .done_share = std::min(1.0, spent / time),
                      .seconds_left = (time - spent).count()});
}

std::size_t LiveTurns::unsettled() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      headlines_, [](const Headline& each) { return !each.is_settled && !each.is_lost; }));
}

void LiveTurns::take(std::chrono::duration<double> time) {
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  };
  // A busy host laid out both sides' gigabytes for 16 s beyond the end: a round that took as long
  // as is left is not begun again.
  const auto may_take = [&](const Headline& headline) {
    const bool is_open = !headline.is_settled && !headline.is_lost;
    return is_open && spent() + headline.took < time && !observer_.cancelled();
  };
  const auto take_round = [&] {
    bool is_any = false;
    compared_.clear();
    for (Headline& headline : headlines_) {
      if (!may_take(headline)) continue;
      const auto before = spent();
      take_one(headline);
      headline.took = spent() - before;
      is_any = true;
      report_progress(spent(), time);
    }
    return is_any;
  };
  while (take_round()) {
    // The places that buffers have in memory are a part of what differs from run to run.
    for (const TurnSide& side : turn_sides_) side.backend->release();
    observer_.save();
    ++round_;
  }
}

std::vector<Followed> LiveTurns::followed() const {
  std::vector<Followed> all;
  for (const Headline& headline : headlines_) {
    if (headline.log_ratios.empty()) continue;
    Followed each{.row = headline.row,
                  .baseline = headline.findings[0],
                  .other = headline.findings[1],
                  .log_ratios = headline.log_ratios,
                  .calibration = calibration_};
    Finding& a = each.baseline.finding;
    a.value = value_in(a.unit, std::exp(mean(headline.baseline_ns)), turn_sides_[0].device);
    each.other.finding.value = *a.value * std::exp(mean(headline.log_ratios));
    // The interval is that of the ratio: what both share is in neither.
    for (Finding* const finding : {&each.baseline.finding, &each.other.finding}) {
      finding->low.reset();
      finding->high.reset();
      finding->method = "turns";
    }
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace clprobe::commands
