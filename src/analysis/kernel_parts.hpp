// SPDX-License-Identifier: Apache-2.0
// What the parts of the analysis of a kernel share.
#pragma once

#include <string>

#include "clprobe/kernel_causes.hpp"

namespace clprobe {

/// What is gained from one set of launches to the other. The same number of visits of both are
/// taken for rounds.
inline Cost find_gain(const Visits& before_ns, const Visits& after_ns,
                      AblationOptions options = {}) {
  options.are_rounds = before_ns.size() == after_ns.size();
  const std::vector<AblationBuild> builds{{.idealised = 0, .visits_ns = before_ns},
                                          {.idealised = 1, .visits_ns = after_ns}};
  return attribute_time(builds, 1, options).factors.front();
}

/// What was seen, and what it may be in the code: one sentence with a full stop. Where the causes
/// are not believed it says why; empty where nobody knows that.
std::string kernel_advice(const KernelCauses& causes);

}  // namespace clprobe
