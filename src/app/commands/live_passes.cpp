// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "app/commands/live.hpp"
#include "clprobe/registry.hpp"

namespace clprobe::commands {
namespace {

std::optional<std::size_t> index_of(const Run& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ProbeResult::probe);
  if (found == run.results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - run.results.begin());
}

const ComparedFinding* with_value(const ComparedFinding* finding) {
  return finding != nullptr && finding->finding.value ? finding : nullptr;
}

/// Half the width of the interval of a clock's calibration, as a logarithm; 0 where no clock times
/// accesses.
double calibration_of(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  if (device.timer != Timer::clock || !(clock.ticks_per_ns_low > 0.0)) return 0.0;
  return std::log(clock.ticks_per_ns_high / clock.ticks_per_ns_low) / 2.0;
}

}  // namespace

std::chrono::duration<double> alternating_time(
    const std::optional<std::chrono::duration<double>>& budget,
    std::chrono::duration<double> spent) {
  constexpr std::chrono::duration<double> min_time{20.0};
  // The last pass, and the end of both drivers, take some seconds more.
  constexpr std::chrono::duration<double> usual_end{56.0};
  return budget.value_or(std::max(min_time, usual_end - spent));
}

LivePasses::LivePasses(const Comparison& first, Sides& sides, double threshold,
                       const LiveObserver& observer)
    : first_(first), sides_(sides), threshold_(threshold), observer_(observer) {
  for (std::size_t i = 0; i < sides.size(); ++i) {
    measured_.at(i) = {sides.at(i).backend.get(), sides.at(i).run.device};
  }
  settle_clocks();
  for (std::size_t row = 0; row < first.rows.size(); ++row) add_headline(row);
  family_ = static_cast<std::size_t>(std::ranges::count_if(first.rows, [](const ComparedRow& row) {
    return row.baseline->finding.role == Role::headline;
  }));
}

/// The ticks of one device are compared as ticks: each calibration has an error, and it would be
/// the only difference.
void LivePasses::settle_clocks() {
  const DeviceInfo& a = measured_[0].device;
  DeviceInfo& b = measured_[1].device;
  const bool is_same = a.name == b.name && a.clock.kind == b.clock.kind &&
                       a.clock.rate == b.clock.rate && a.timer == Timer::clock &&
                       b.timer == Timer::clock;
  if (is_same) {
    b.clock = a.clock;
  } else {
    calibration_ = std::hypot(calibration_of(a), calibration_of(b));
  }
}

/// Adds a headline that at least one side has, if points show it.
void LivePasses::add_headline(std::size_t row) {
  constexpr std::size_t max_pairs = 3;
  const ComparedRow& compared = first_.rows[row];
  if (compared.baseline->finding.role != Role::headline) return;
  const ComparedFinding* const ours = with_value(compared.cells[0].finding);
  const ComparedFinding* const theirs = with_value(compared.cells[1].finding);
  const auto a = index_of(sides_[0].run, compared.probe);
  const auto b = index_of(sides_[1].run, compared.probe);
  const Probe* const probe = find_probe(compared.probe);
  if ((ours == nullptr && theirs == nullptr) || probe == nullptr || !a || !b) return;
  const auto finding_of = [](const ComparedFinding* each) {
    return each == nullptr ? nullptr : &each->finding;
  };
  const auto measured = [&](const Run& run, std::size_t result) {
    return Measured{probe, &run.device, run.results[result].points};
  };
  Headline headline{.row = row, .probe = probe, .results = {*a, *b}};
  headline.findings = {ours != nullptr ? *ours : *theirs, theirs != nullptr ? *theirs : *ours};
  headline.pairs = pair_carriers(finding_of(ours), measured(sides_[0].run, *a), finding_of(theirs),
                                 measured(sides_[1].run, *b), max_pairs);
  if (!headline.pairs.empty()) headlines_.push_back(std::move(headline));
}

void LivePasses::lose(Headline& headline, const SideError& error) {
  headline.is_lost = true;
  has_failed_ = true;
  Side& lost = sides_.at(error.side());
  ProbeResult& result = lost.run.results[headline.results.at(error.side())];
  result.status = Status::failed;
  result.reason = fmt::format("while alternating: {}", error.what());
  observer_.say(fmt::format("{}: {}: {}", lost.name, result.probe, result.reason));
}

/// The ratio at a pair of points, which is visited once in a pass.
std::optional<VisitRatio> LivePasses::visit(const Headline& headline, const PointPair& pair) {
  const std::array key{headline.results[0], headline.results[1], pair.baseline, pair.other};
  if (const auto known = visited_.find(key); known != visited_.end()) return known->second;
  const std::array points{&sides_[0].run.results[headline.results[0]].points[pair.baseline],
                          &sides_[1].run.results[headline.results[1]].points[pair.other]};
  PairVisit visit = visit_pair(*headline.probe, measured_, {points[0], points[1]}, pass_ % 2 == 1,
                               {}, observer_.cancelled);
  for (std::size_t side = 0; side < points.size(); ++side) {
    std::ranges::move(visit.samples.at(side), std::back_inserter(points.at(side)->samples));
  }
  std::optional<VisitRatio>& found = visited_[key];
  if (!visit.blocks.empty()) found = ratio_of_visit(visit.blocks, !is_of_launches(*points[0]));
  return found;
}

void LivePasses::visit(Headline& headline) {
  try {
    const auto found = visit(headline, headline.pairs[pass_ % headline.pairs.size()]);
    if (!found) return;
    const double sign = is_rate(headline.findings[0].finding.unit) ? -1.0 : 1.0;
    headline.log_ratios.push_back(sign * found->log_ratio);
    headline.baseline_ns.push_back(found->baseline);
    headline.is_settled =
        is_settled(state_of(headline.log_ratios, calibration_, threshold_), threshold_, family_);
  } catch (const SideError& error) {
    if (!observer_.cancelled()) lose(headline, error);
  }
}

void LivePasses::report_progress(std::chrono::duration<double> spent,
                                 std::chrono::duration<double> time) const {
  const auto decided = std::ranges::count_if(
      headlines_, [](const Headline& each) { return each.is_settled || each.is_lost; });
  observer_.progress(
      {.title = fmt::format("alternating, {} of {} decided", decided, headlines_.size()),
       .done_share = std::min(1.0, spent / time),
       .seconds_left = (time - spent).count()});
}

void LivePasses::run(std::chrono::duration<double> time) {
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  };
  // A busy host laid out both sides' gigabytes for 16 s beyond the end: a visit that took as long
  // as is left is not begun again.
  const auto may_visit = [&](const Headline& headline) {
    const bool is_open = !headline.is_settled && !headline.is_lost;
    return is_open && spent() + headline.took < time && !observer_.cancelled();
  };
  const auto make_pass = [&] {
    bool is_any = false;
    visited_.clear();
    for (Headline& headline : headlines_) {
      if (!may_visit(headline)) continue;
      const auto before = spent();
      visit(headline);
      headline.took = spent() - before;
      is_any = true;
      report_progress(spent(), time);
    }
    return is_any;
  };
  while (make_pass()) {
    // The places of buffers in memory also differ from run to run.
    for (const PairSide& side : measured_) side.backend->release();
    observer_.save();
    ++pass_;
  }
}

std::vector<Alternated> LivePasses::alternated() const {
  std::vector<Alternated> all;
  for (const Headline& headline : headlines_) {
    if (headline.log_ratios.empty()) continue;
    Alternated each{.row = headline.row,
                    .baseline = headline.findings[0],
                    .other = headline.findings[1],
                    .log_ratios = headline.log_ratios,
                    .calibration = calibration_};
    Finding& a = each.baseline.finding;
    a.value = value_in(a.unit, std::exp(mean(headline.baseline_ns)), measured_[0].device);
    each.other.finding.value = *a.value * std::exp(mean(headline.log_ratios));
    // The interval is that of the ratio: a change that both sides share is in neither value.
    for (Finding* const finding : {&each.baseline.finding, &each.other.finding}) {
      finding->low.reset();
      finding->high.reset();
      finding->method = "alternating";
    }
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace clprobe::commands
