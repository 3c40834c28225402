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

}  // namespace

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
