// SPDX-License-Identifier: Apache-2.0
// The account of a simulated launch as facts of a point, and back.
#pragma once

#include <optional>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/stalls.hpp"

namespace clprobe::gsi {

/// The facts of a launch, for what is not 0: of the mean compute unit "cycles", "flush_cycles",
/// "gsi_memory_data_l2_cycles" and "all_causes_memory_data_l2_cycles"; where there are several
/// units, GSI's view of each, "unit_0_gsi_memory_data_l2_cycles".
Parameters facts_of(const simulator::GridAccount& account);

/// The mean compute unit. Nothing where there are no such facts, or where a view does not add up to
/// its cycles: a damaged or edited document.
std::optional<simulator::StallAccount> account_in(const Parameters& facts);

/// GSI's view of each of several compute units, up to the first that does not add up to the cycles.
/// Empty where fewer than two are left.
std::vector<simulator::Breakdown> units_in(const Parameters& facts);

}  // namespace clprobe::gsi
