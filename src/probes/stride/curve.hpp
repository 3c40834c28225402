// SPDX-License-Identifier: Apache-2.0
// What a curve of bandwidth by stride says about how memory is accessed: which stride is enough,
// what that points to, and where the curve falls again. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clprobe/words.hpp"

namespace clprobe::stride {

/// The unit in which lanes access memory side by side.
inline constexpr double lane_bytes = 4.0;

/// The bandwidth of one stride: the median of its launches between their quartiles.
struct CurvePoint {
  double stride_bytes{0.0};
  double bandwidth{0.0};  ///< bytes per second, above 0
  double low{0.0};
  double high{0.0};
};

/// gpu_coalescing: neighbouring work-items must access neighbouring elements. cpu_serial: each
/// work-item must access a run of its own. flat: it does not matter. unclear: none of these.
enum class CurveClass { gpu_coalescing, cpu_serial, flat, unclear };
inline constexpr Word<CurveClass> class_words[]{{CurveClass::gpu_coalescing, "gpu-coalescing"},
                                                {CurveClass::cpu_serial, "cpu-serial"},
                                                {CurveClass::flat, "flat"},
                                                {CurveClass::unclear, "unclear"}};

/// A stride that is slower than both of its neighbours (partition camping).
struct Dip {
  double stride_bytes{0.0};
  double share{0.0};  ///< of the slower neighbour, below 1
};

struct CurveVerdict {
  double best{0.0};        ///< the median of the bandwidths that come near the highest
  std::size_t best_at{0};  ///< where the highest is, in the points by stride
  CurveClass kind{CurveClass::unclear};
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
  std::vector<Dip> dips{};
};

/// Judges a curve over strides that double from the first, which must be that of one element; in
/// ascending order. `sub_group` is what the driver reports (1 where it does not). Fewer than four
/// points, or gaps, give `unclear` with a reason. Rules: measurement notes of clmempatterns' curve
/// of an R9 Nano, see docs/stride.md.
CurveVerdict judge_curve(std::span<const CurvePoint> points, double sub_group);

}  // namespace clprobe::stride
