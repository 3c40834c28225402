// SPDX-License-Identifier: Apache-2.0
#include "commands/analyse_again.hpp"

#include <algorithm>
#include <iterator>

#include "clprobe/registry.hpp"

namespace clprobe::commands {

void analyse_again(Run& run) {
  for (ProbeResult& result : run.results) {
    const Probe* const probe = find_probe(result.probe);
    if (probe == nullptr || result.points.empty()) continue;
    Findings found = probe->analyse(run.device, result.points);
    std::copy_if(result.findings.begin(), result.findings.end(), std::back_inserter(found.findings),
                 [](const Finding& finding) { return finding.method == "plan"; });
    result.findings = std::move(found.findings);
  }
}

}  // namespace clprobe::commands
