// SPDX-License-Identifier: Apache-2.0
// What the parts of a comparison share besides its interface. Pure.
#pragma once

#include "clprobe/compare.hpp"

namespace clprobe {

/// Better, worse or different, by what the finding says is better.
Verdict direction_of(const Finding& finding, bool is_more);

/// Whether a change of one device may be of this run alone, and only several a side can tell.
bool passes_with_run(const ComparedFinding& baseline, const ComparedFinding& other);

/// Of one device, with one run a side: makes a change unclear that may be of this run, or of others
/// on the host of a virtual machine.
void leave_to_several_runs(const ComparedFinding& baseline, const ComparedFinding& other,
                           Judgement& judged);

/// Whether a finding has a value, or a word other than that nothing can be said.
bool says_something(const Finding& finding);

inline bool is_change(Verdict verdict) {
  return verdict != Verdict::same && verdict != Verdict::unclear;
}

}  // namespace clprobe
