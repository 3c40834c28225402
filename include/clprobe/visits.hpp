// SPDX-License-Identifier: Apache-2.0
// What a kernel took, by the visits in which it was timed. What else a host does lasts longer than
// a visit and disturbs all of it, so that the samples of one visit are no independent ones.
#pragma once

#include <random>
#include <vector>

namespace clprobe {

/// Times in ns, those of one visit together.
using Visits = std::vector<std::vector<double>>;

/// The median of the faster half of all samples: disturbances only add. There must be one sample.
double typical_ns(const Visits& visits);

/// The same of as many visits, drawn with replacement: one turn of a bootstrap. It is moved away
/// from `typical`, which is `typical_ns(visits)`, by the root of n / (n - 1): of n visits, which
/// are two or three, a bootstrap shows too little by that. Of one visit the faster
/// half of its samples is drawn from.
double resampled_ns(const Visits& visits, double typical, std::mt19937_64& generator);

}  // namespace clprobe
