// SPDX-License-Identifier: Apache-2.0
#include "commands/analyse_again.hpp"

#include "clprobe/registry.hpp"

namespace clprobe::commands {

void adopt_former_names(Run& run) {
  for (ProbeResult& result : run.results) {
    for (const Probe* const probe : all_probes()) {
      const bool is_former_id =
          is_simulated(run.device) && probe->former_id_simulated == result.probe;
      if (is_former_id) result.probe = probe->id;
      if (probe->id == result.probe) adopt_former_series(*probe, result);
    }
  }
}

void analyse_again(Run& run) {
  adopt_former_names(run);
  for (ProbeResult& result : run.results) {
    const Probe* const probe = find_probe(result.probe);
    if (probe != nullptr) clprobe::analyse_again(*probe, run.device, result);
  }
}

}  // namespace clprobe::commands
