// SPDX-License-Identifier: Apache-2.0
// The fact of its points that a view declares beside their values (View::beside): the variance of a
// Thread-Latency plot.
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "report/chart.hpp"

namespace clprobe::report {

/// The fact over what the result's curves are drawn over, for each series that has it; its zeros
/// are left out, since axes are logarithmic. Empty where nothing is declared.
Chart beside_chart(const ProbeResult& result);

/// "27000 square cycles": a value of it.
std::string beside_text(const ProbeResult& result, double value);

/// Where it is largest in a series.
struct LargestBeside {
  std::string series{};
  std::string place{};  ///< "130", of the parameter across
  std::string value{};  ///< "19361 square cycles"
};
std::vector<LargestBeside> largest_beside(const ProbeResult& result);

}  // namespace clprobe::report
