// SPDX-License-Identifier: Apache-2.0
// Bars of parts of a kernel: of its compute units, of its sub-groups, and of windows of its time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/stalls.hpp"
#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {

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
