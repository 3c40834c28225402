// SPDX-License-Identifier: Apache-2.0
// The account of a simulated launch as facts of a point, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/stalls.hpp"

namespace clprobe::gsi {

/// A category's sub-class, or what of the category is in none: all of it where it has no
/// sub-classes, and where an older version that told none apart wrote the document.
struct StallPart {
  std::string label{};                 ///< "memory data: L2"
  std::string fact{};                  ///< "memory_data_l2", within a fact's name
  simulator::Stall stall{};            ///< the category
  std::optional<std::size_t> place{};  ///< among its sub-classes; nothing: in none
};

/// All of them, in Algorithm 1's order.
const std::vector<StallPart>& stall_parts();

/// The cycles of a part.
double cycles_of(const simulator::Breakdown& breakdown, const StallPart& part);

/// Of the mean of the compute units: "cycles", "flush_cycles", and for what is not 0
/// "gsi_memory_data_l2_cycles" and "all_causes_memory_data_l2_cycles". Where there are several
/// units, of each GSI's view: "unit_0_gsi_memory_data_l2_cycles".
Parameters facts_of(const simulator::GridAccount& account);

/// Facts of one view: for what is not 0 "warp_3_memory_data_l2_cycles", where `view` is "warp_3".
void add_facts(std::string_view view, const simulator::Breakdown& breakdown, Parameters& facts);

/// What add_facts() kept. Nothing where it does not add up to so many cycles.
std::optional<simulator::Breakdown> breakdown_in(const Parameters& facts, std::string_view view,
                                                 std::uint64_t cycles);

/// A whole number from 0 on; nothing where there is none.
std::optional<std::uint64_t> count_in(const Parameters& facts, std::string_view name);

/// What facts_of() kept of an account. Nothing where there is none, or where a view does not add
/// up to its cycles: a damaged or edited document.
std::optional<simulator::StallAccount> account_in(const Parameters& facts);

/// Of how many compute units facts_of() kept a view of each; 0 where there was one.
std::size_t units_told(const Parameters& facts);

/// What facts_of() kept of several compute units: GSI's view of each. Nothing where there is one,
/// or where a unit's does not add up to the cycles.
std::vector<simulator::Breakdown> units_in(const Parameters& facts, std::size_t units);

}  // namespace clprobe::gsi
