// SPDX-License-Identifier: Apache-2.0
// How the time of a transfer grows with its size: a start-up, and then bytes at a rate (R. W.
// Hockney, The science of computer benchmarking, 1996). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "clprobe/statistics.hpp"

namespace clprobe::transfer {

/// The largest transfers are those from this part of the largest one on.
inline constexpr std::uint64_t large_part = 4;

struct Timed {
  double bytes{0.0};  ///< that the transfer moves
  double ns{0.0};
  Interval ns_interval{};
};

struct Law {
  double bytes_per_ns{0.0};          ///< of the largest transfers, without the start-up
  Interval bytes_per_ns_interval{};  ///< with all of the largest ones'
  /// Nothing where no transfer is so small that the start-up is most of it.
  std::optional<double> start_ns{};
  Interval start_interval{};
};

/// By the size. The rate is that of the largest transfers, and the start-up that of the smallest
/// ones: in between caches and the driver's own buffers make other rates, which are none of both.
/// Nothing without any transfer.
std::optional<Law> fit_law(std::vector<Timed> transfers);

}  // namespace clprobe::transfer
