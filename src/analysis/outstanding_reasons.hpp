// SPDX-License-Identifier: Apache-2.0
// Why a limit was inferred, in plain sentences.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/hypothesis.hpp"
#include "clprobe/outstanding.hpp"

namespace clprobe {

/// All of them, the deciding ones first; `curves` are those that were judged.
std::vector<std::string> reasons_of(const OutstandingLimit& limit,
                                    std::span<const CurveFinding> all,
                                    std::span<const CurveFinding> curves, int sub_group,
                                    const Hypothesis& pool, const Hypothesis& table,
                                    std::size_t spikes);

}  // namespace clprobe
