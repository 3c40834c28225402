// SPDX-License-Identifier: Apache-2.0
#include "analysis/unresolved.hpp"

#include <fmt/format.h>

namespace clprobe {

bool Unresolved::takes(const ComparedFinding& baseline, const ComparedFinding* other,
                       const Judgement& judged) {
  ++total_;
  if (judged.verdict != Verdict::unclear) return false;
  cells_.push_back({&baseline, other, judged});
  return true;
}

ComparedFinding Unresolved::counted(std::size_t count) const {
  ComparedFinding made;
  made.finding = {.name = std::string(kind_), .series = "all"};
  made.finding.label = fmt::format("{} {}", count, kind_);
  return made;
}

Judgement Unresolved::judgement() const {
  return {.verdict = Verdict::unclear,
          .reason = fmt::format("{} of {} {} are unclear: {}", cells_.size(), total_, kind_, why_),
          .p_value = 1.0};
}

Unresolved unresolved_shares() {
  return {"shares",
          fmt::format("a change of {:g} % of the whole is possible, or one run has no value",
                      100.0 * coarse_change)};
}

Unresolved unresolved_passing() {
  return {"passing values", "such values vary from run to run; compare several runs per side"};
}

}  // namespace clprobe
