// SPDX-License-Identifier: Apache-2.0
#include "commands/analyse_again.hpp"

#include "clprobe/registry.hpp"

namespace clprobe::commands {

void adopt_former_ids(Run& run) {
  if (!is_simulated(run.device)) return;
  for (ProbeResult& result : run.results) {
    for (const Probe* const probe : all_probes()) {
      if (probe->former_id_simulated == result.probe) result.probe = probe->id;
    }
  }
}

void analyse_again(Run& run) {
  adopt_former_ids(run);
  for (ProbeResult& result : run.results) {
    const Probe* const probe = find_probe(result.probe);
    if (probe != nullptr) clprobe::analyse_again(*probe, run.device, result);
  }
}

}  // namespace clprobe::commands
