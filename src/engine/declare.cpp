// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"

namespace clprobe {
namespace {

const FindingSpec* find_spec(const Probe& probe, const Finding& finding) {
  const auto found =
      std::find_if(probe.findings.begin(), probe.findings.end(), [&](const auto& each) {
        return each.name == finding.name ||
               (!each.formerly.empty() && each.formerly == finding.name);
      });
  return found == probe.findings.end() ? nullptr : &*found;
}

/// The present name of a series; empty where it has kept its name.
std::string_view present_name(const Probe& probe, std::string_view series) {
  const auto found = std::find_if(
      probe.former_series.begin(), probe.former_series.end(),
      [&](const FormerSeries& each) { return !series.empty() && each.name == series; });
  return found == probe.former_series.end() ? std::string_view() : found->now;
}

/// Where samples are far from what a device can do, an analysis divides by nothing; what it then
/// finds is no number, and no document could hold it.
void drop_insane(Finding& finding) {
  const auto is_bad = [](const std::optional<double>& each) { return each && !is_sane(*each); };
  if (!is_bad(finding.value) && !is_bad(finding.low) && !is_bad(finding.high)) return;
  finding.value.reset();
  finding.low.reset();
  finding.high.reset();
  finding.reason = "the samples give a number that no device can have";
}

/// An older version wrote shares of more than a bar's whole.
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

void adopt_former_series(const Probe& probe, ProbeResult& result) {
  const auto adopt = [&](std::string& series) {
    const std::string_view now = present_name(probe, series);
    if (!now.empty()) series = now;
  };
  for (Point& point : result.points) adopt(point.series);
  for (Finding& finding : result.findings) adopt(finding.series);
  for (Warning& warning : result.warnings) {
    std::string series = warning.facts.text_or("series", "");
    adopt(series);
    if (!series.empty()) warning.facts.set("series", series);
  }
}

void declare(const Probe& probe, ProbeResult& result) {
  result.unit = probe.unit;
  result.view = {.kind = probe.view.kind,
                 .x = std::string(probe.view.x),
                 .y = std::string(probe.view.y),
                 .value_title = std::string(probe.view.value_title),
                 .scale = probe.view.scale,
                 .beside = std::string(probe.view.beside)};
  for (Finding& finding : result.findings) {
    drop_insane(finding);
    drop_above_whole(finding);
    const FindingSpec* const spec = find_spec(probe, finding);
    finding.better = usual_direction(finding.unit);
    if (spec == nullptr) continue;
    finding.name = spec->name;
    // Of a kind that stays, a probe may say of one that it passes.
    if (finding.role != Role::passing) finding.role = spec->role;
    finding.better = spec->better.value_or(finding.better);
    finding.part_of = spec->part_of;
  }
}

void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result) {
  adopt_former_series(probe, result);
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
}

void tell_agreement(std::span<const Probe* const> probes, Run& run) {
  std::vector<ProbeQuantities> all;
  for (const Probe* const probe : probes) {
    if (!probe->quantities.empty()) all.push_back({probe->id, probe->quantities});
  }
  tell_agreement(run, all);
}

}  // namespace clprobe
