// SPDX-License-Identifier: Apache-2.0
#include "measure/engine/conclude.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "compare/api/disturbance.hpp"
#include "measure/engine/sampler.hpp"

namespace clprobe {

namespace {

/// Removes points that the run did not reach or the device refused. Warns if time ran out.
void drop_unvisited(const Ending& ended, ProbeResult& result) {
  const auto planned = static_cast<std::int64_t>(result.points.size() - ended.refusals.size());
  std::erase_if(result.points,
                [](const Point& point) { return point.samples.empty() && point.failure.empty(); });
  const auto measured = static_cast<std::int64_t>(result.points.size());
  if (measured < planned && ended.is_done) {
    result.warnings.push_back(
        {"time_budget_short", {{"measured", measured}, {"planned", planned}}});
  }
}

/// Adds a warning for a refused point. Refused points of the same series with the same reason share
/// one warning.
void add_warning(const Refusal& refusal, ProbeResult& result) {
  for (Warning& warning : result.warnings) {
    const bool is_same = warning.code == "point_refused" &&
                         warning.facts.text_or("series", "") == refusal.series &&
                         warning.facts.text_or("reason", "") == refusal.reason;
    if (!is_same) continue;
    warning.facts.set("points", warning.facts.integer_or("points", 1) + 1);
    return;
  }
  result.warnings.push_back(
      {"point_refused",
       {{"series", refusal.series}, {"reason", refusal.reason}, {"points", std::int64_t{1}}}});
}

/// Reports refused points as warnings if their series has other points, and otherwise as a finding,
/// unless their series already has a finding.
void report_refusals(const Probe& probe, const Ending& ended, ProbeResult& result) {
  for (const Refusal& refusal : ended.refusals) {
    const auto is_same = [&](const auto& each) { return each.series == refusal.series; };
    if (std::any_of(result.points.begin(), result.points.end(), is_same)) {
      add_warning(refusal, result);
    } else if (std::none_of(result.findings.begin(), result.findings.end(), is_same)) {
      Finding finding;
      finding.name = probe.id;
      finding.series = refusal.series;
      finding.source = Source::reported;
      finding.method = "plan";
      finding.reason = refusal.reason;
      result.findings.push_back(std::move(finding));
    }
  }
}

/// Returns the most frequent reason of the findings; "nothing to measure" if none has a reason.
std::string usual_reason(std::span<const Finding> findings) {
  const Finding* usual = nullptr;
  std::ptrdiff_t max_count = 0;
  for (const Finding& each : findings) {
    if (each.reason.empty()) continue;
    const auto same = std::count_if(findings.begin(), findings.end(), [&](const Finding& other) {
      return other.reason == each.reason;
    });
    if (same <= max_count) continue;
    max_count = same;
    usual = &each;
  }
  return usual == nullptr ? "nothing to measure" : usual->reason;
}

void report_status(const Ending& ended, ProbeResult& result) {
  const auto has_failed = [](const Point& point) { return !point.failure.empty(); };
  const auto failed = std::count_if(result.points.begin(), result.points.end(), has_failed);
  const auto is_lost_again = [](const Point& point) {
    return point.facts.find(later_failure) != nullptr;
  };
  const auto lost_again = std::count_if(result.points.begin(), result.points.end(), is_lost_again);
  if (!ended.is_done) {
    result.status = Status::interrupted;
    result.reason = "earlier results are kept";
  } else if (failed > 0) {
    const auto first = std::find_if(result.points.begin(), result.points.end(), has_failed);
    result.status = Status::failed;
    result.reason = fmt::format("{} of {} failed; first failure: {}", failed,
                                format_count(result.points.size(), "point"), first->failure);
  } else if (lost_again > 0) {
    const auto first = std::find_if(result.points.begin(), result.points.end(), is_lost_again);
    result.status = Status::failed;
    result.reason = fmt::format("{} failed when measured again; first failure: {}",
                                format_count(static_cast<std::uint64_t>(lost_again), "point"),
                                first->facts.text_or(later_failure, ""));
  } else if (result.points.empty()) {
    result.status = Status::unsupported;
    result.reason = usual_reason(result.findings);
  }
}

}  // namespace

/// The share is clamped: busy time and own time have different resolutions, so that their
/// difference may be negative.
double others_share(const CoreUse& use) {
  const double all_s = use.busy_s + use.idle_s;
  return all_s > 0.0 ? std::clamp((use.busy_s - use.own_s) / all_s, 0.0, 1.0) : 0.0;
}

void conclude(const Probe& probe, const DeviceInfo& device, const Ending& ended,
              ProbeResult& result) {
  drop_unvisited(ended, result);
  result.method = probe.method;
  if (probe.derive != nullptr) probe.derive(result.points);
  Findings found = probe.analyse(device, result.points);
  result.findings = std::move(found.findings);
  result.findings.insert(result.findings.end(), ended.known.begin(), ended.known.end());
  result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
  report_refusals(probe, ended, result);
  declare(probe, result);
  if (auto scatter = find_scatter(result.points, device)) {
    result.warnings.push_back(std::move(*scatter));
  }
  if (const auto drift = drift_of(ended.speeds_ns)) {
    result.warnings.push_back({"clock_drift", {{"drift_share", *drift}}});
  }
  report_status(ended, result);
}

namespace {

const FindingSpec* find_spec(const Probe& probe, const Finding& finding) {
  const auto found = std::find_if(probe.findings.begin(), probe.findings.end(),
                                  [&](const auto& each) { return each.name == finding.name; });
  return found == probe.findings.end() ? nullptr : &*found;
}

/// Removes values that a run document cannot contain. Wrong samples can make an analysis divide by
/// 0.
void drop_impossible_values(Finding& finding) {
  const auto is_bad = [](const std::optional<double>& each) { return each && !is_sane(*each); };
  if (!is_bad(finding.value) && !is_bad(finding.low) && !is_bad(finding.high)) return;
  finding.value.reset();
  finding.low.reset();
  finding.high.reset();
  finding.reason = "the samples yield a number that is impossible for a device";
}

/// Removes a share of a bar above 100 %, and limits the upper end of intervals to 100 %. Stored
/// runs may contain larger shares.
void drop_above_whole(Finding& finding) {
  if (!is_share_of_bar(finding) || !finding.value) return;
  if (*finding.value > 1.0) {
    finding.reason =
        fmt::format("not known: {} would have a share of {:.1f} %, which is above 100 %",
                    finding.label, 100.0 * *finding.value);
    finding.value.reset();
    finding.low.reset();
    finding.high.reset();
  } else if (finding.high && *finding.high > 1.0) {
    finding.high = 1.0;
  }
}

/// Removes an interval without width from an imported value. Other tools print no scatter, so a
/// value that they print for several sizes is not exact.
void drop_unknown_interval(Finding& finding, const DeviceInfo& device) {
  constexpr double rounding = 1.0 + 1e-9;  // ratio that rounding of logarithms may cause
  const bool is_known = !finding.low || !finding.high || *finding.high > rounding * *finding.low;
  if (device.timer != Timer::imported || is_known) return;
  finding.low.reset();
  finding.high.reset();
}

[[noreturn]] void refuse(std::size_t index, const PointProblem& problem) {
  throw RunFormatError(
      fmt::format("points[{}].{}.{}: {}", index, problem.group, problem.name, problem.what));
}

void expect_sane_points(const Probe& probe, const ProbeResult& result) {
  if (probe.find_problem == nullptr) return;
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (const auto problem = probe.find_problem(result.points[i])) refuse(i, *problem);
  }
}

Findings analyse_points(const Probe& probe, const DeviceInfo& device, ProbeResult& result) {
  expect_sane_points(probe, result);
  try {
    if (probe.derive != nullptr) probe.derive(result.points);
    return probe.analyse(device, result.points);
  } catch (const PointError& error) {
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      if (error.is_of(result.points[i])) refuse(i, error.problem());
    }
    throw RunFormatError(fmt::format("points: {}", error.what()));
  } catch (const std::exception& error) {
    throw RunFormatError(fmt::format("points: {}", error.what()));
  }
}

}  // namespace

void declare(const Probe& probe, ProbeResult& result) {
  result.unit = probe.unit;
  result.view = {.kind = probe.view.kind,
                 .x = std::string(probe.view.x),
                 .y = std::string(probe.view.y),
                 .value_title = std::string(probe.view.value_title),
                 .scale = probe.view.scale,
                 .beside = std::string(probe.view.beside)};
  for (Finding& finding : result.findings) {
    drop_impossible_values(finding);
    drop_above_whole(finding);
    const FindingSpec* const spec = find_spec(probe, finding);
    finding.better = usual_direction(finding.unit);
    if (spec == nullptr) continue;
    finding.name = spec->name;
    // A probe may mark single findings as passing, and the specification must not override this.
    if (finding.role != Role::passing) finding.role = spec->role;
    finding.better = spec->better.value_or(finding.better);
    finding.part_of = spec->part_of;
    finding.is_ratio = spec->is_ratio;
  }
}

void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result) {
  if (!result.points.empty()) {
    Findings found = analyse_points(probe, device, result);
    std::copy_if(result.findings.begin(), result.findings.end(), std::back_inserter(found.findings),
                 [](const Finding& finding) { return finding.method == "plan"; });
    result.findings = std::move(found.findings);
    std::erase_if(result.warnings,
                  [](const Warning& warning) { return warning.source == WarningSource::analysis; });
    result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
  }
  declare(probe, result);
  for (Finding& each : result.findings) drop_unknown_interval(each, device);
}

void tell_agreement(std::span<const Probe* const> probes, Run& run) {
  std::vector<ProbeQuantities> all;
  for (const Probe* const probe : probes) {
    if (!probe->quantities.empty()) all.push_back({probe->id, probe->quantities});
  }
  tell_agreement(run, all);
  tell_roofline(run, all);
}

}  // namespace clprobe
