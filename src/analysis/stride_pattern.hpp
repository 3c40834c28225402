// SPDX-License-Identifier: Apache-2.0
// What a curve of bandwidth by stride says about how memory is accessed: which stride is enough,
// what that points to, and where the curve falls again. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

/// The bandwidth of one stride: the median of its launches between their quartiles.
struct StridePoint {
  double stride_bytes{0.0};
  double bandwidth{0.0};  ///< bytes per second, above 0
  double low{0.0};
  double high{0.0};
};

/// gpu_coalescing: neighbouring work-items must access neighbouring elements. cpu_serial: each
/// work-item must access a run of its own. flat: it does not matter. unclear: none of these.
enum class StrideClass { gpu_coalescing, cpu_serial, flat, unclear };

std::string_view to_word(StrideClass value);

/// A stride that is slower than both of its neighbours (partition camping).
struct StrideDip {
  double stride_bytes{0.0};
  double share{0.0};  ///< of the slower neighbour, below 1
};

struct StridePattern {
  double best{0.0};        ///< the median of the bandwidths that come near the most
  std::size_t best_at{0};  ///< where the most is, in the points by stride
  StrideClass kind{StrideClass::unclear};
  std::string unclear_reason{};
  std::optional<std::size_t> knee{};      ///< from here on, to the last but one, 0.9 of the best
  std::optional<std::size_t> sub_knee{};  ///< the first with 0.6 of the best
  /// Until here the bandwidth grows as the stride does: what is fetched for one element is that
  /// large (a sector).
  std::optional<std::size_t> sector{};
  std::string no_sector_reason{};
  /// The largest growth behind the sector: a whole sub-group lies side by side from here on.
  std::optional<std::size_t> sub_group{};
  std::string no_sub_group_reason{};
  double last_share{1.0};  ///< of the best, at the largest stride
  /// Below 0.93, and by four deviations of those that reach the best.
  bool has_end_droop{false};
  std::vector<StrideDip> dips{};
};

/// Judges a curve over strides that double from the first, which must be that of one element; in
/// ascending order. `sub_group` is what the driver reports (1 where it does not). Fewer than four
/// points, or gaps, give `unclear` with a reason. Rules: measurement notes of clmempatterns' curve
/// of an R9 Nano, see docs/stride.md.
StridePattern read_stride_pattern(std::span<const StridePoint> points, double sub_group);

}  // namespace clprobe
