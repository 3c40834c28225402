// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "clprobe/probe.hpp"

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
                 .value_title = std::string(probe.view.value_title)};
  for (Finding& finding : result.findings) {
    const FindingSpec* const spec = find_spec(probe, finding);
    finding.better = usual_direction(finding.unit);
    if (spec == nullptr) continue;
    finding.name = spec->name;
    finding.role = spec->role;
    finding.better = spec->better.value_or(finding.better);
  }
}

void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result) {
  adopt_former_series(probe, result);
  if (!result.points.empty()) {
    Findings found = probe.analyse(device, result.points);
    std::copy_if(result.findings.begin(), result.findings.end(), std::back_inserter(found.findings),
                 [](const Finding& finding) { return finding.method == "plan"; });
    result.findings = std::move(found.findings);
    std::erase_if(result.warnings,
                  [](const Warning& warning) { return warning.source == WarningSource::analysis; });
    result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
  }
  declare(probe, result);
}

}  // namespace clprobe
