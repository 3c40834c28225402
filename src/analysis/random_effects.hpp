// SPDX-License-Identifier: Apache-2.0
// The mean of what several runs found, each with an error of its own. Pure.
#pragma once

#include <cstddef>
#include <span>

namespace clprobe {

struct PooledMean {
  double mean{0.0};
  double half_width{0.0};  ///< of its 95 % interval
  double between{0.0};     ///< variance between the runs, beyond the runs' own errors
  std::size_t degrees{0};  ///< of Student's t behind the interval
};

/// Random effects: the variance between runs by DerSimonian and Laird (1986), the interval of the
/// mean by Hartung and Knapp (2001) with Student's t, no narrower than the runs' own errors allow
/// (Röver, Knapp and Friede 2015). `half_widths` are those of the runs' 95 % intervals. Needs two
/// values or more.
PooledMean pool_means(std::span<const double> values, std::span<const double> half_widths);

}  // namespace clprobe
