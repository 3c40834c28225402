// SPDX-License-Identifier: Apache-2.0
// The account of a simulated launch as facts of a point, and back: of the launch as a whole, and of
// its compute units, its sub-groups and windows of its time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/stalls.hpp"
#include "probes/gsi/cases.hpp"

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

/// What facts_for() kept of an account. Nothing where there is none, or where a view does not add
/// up to its cycles: a damaged or edited document.
std::optional<simulator::StallAccount> account_in(const Parameters& facts);

/// Of how many compute units facts_for() kept a view of each; 0 where there was one.
std::size_t units_told(const Parameters& facts);

/// What facts_for() kept of several compute units: GSI's view of each. Nothing where there is one,
/// or where a unit's does not add up to the cycles.
std::vector<simulator::Breakdown> units_in(const Parameters& facts, std::size_t units);

/// The facts of a point's account, with those of the views that the point asks for.
std::function<Parameters(const simulator::GridAccount&)> facts_for(const Point& point);

/// A bar of a part of a kernel. What it is has no ", " in it: reports tell by the last one of a
/// bar's name of which kernel it is.
struct Detail {
  std::string what{};  ///< "unit 3", "sub-groups 0 to 3", "cycles 512 to 1023"
  std::uint64_t cycles{0};
  std::uint64_t flush_cycles{0};  ///< of these
  simulator::Breakdown breakdown{};
};
/// Of one view of a point, in order. None where it was not asked for, or does not add up.
std::vector<Detail> details_in(const Point& point, const CaseRun& run, std::string_view view);

}  // namespace clprobe::gsi
