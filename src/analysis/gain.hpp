// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clprobe/ablation.hpp"

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

}  // namespace clprobe
