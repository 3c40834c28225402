// SPDX-License-Identifier: Apache-2.0
// Why a limit was inferred, in plain sentences.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/hypothesis.hpp"
#include "clprobe/outstanding.hpp"

namespace clprobe {

/// All of them, the deciding ones first; `all` are the curves before any was chosen or judged.
std::vector<std::string> reasons_of(const OutstandingLimit& limit,
                                    std::span<const CurveFinding> all,
                                    const WeighedLimits& judgement, int sub_group);

}  // namespace clprobe
