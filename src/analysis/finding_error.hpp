// SPDX-License-Identifier: Apache-2.0
// How uncertain a finding is, all told, and how far two of them are apart. Pure.
#pragma once

#include <cstddef>
#include <optional>

#include "clprobe/compare.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

/// Whether the finding is a part of a whole, of which differences are compared and not ratios.
bool is_share(const Finding& finding);

/// Whether differences of it are judged, as shares of its whole: it is a share, or a part of
/// another finding of its run.
bool is_part(const ComparedFinding& compared);

/// What is a part of another finding, as a share of `whole`, which is above 0.
ComparedFinding as_share(const ComparedFinding& compared, double whole);

/// Whether it is a time or a bandwidth, in whatever unit: what tells a level from another one.
bool is_speed(const Finding& finding);

/// Whether it is `time` in cycles of the core: the same quantity in another unit.
bool is_in_cycles_of(const Finding& cycles, const ComparedFinding& time);

/// Where a finding stands on the line on which two of them are compared: the natural logarithm of
/// its value; of a share the value itself.
struct Place {
  double value{0.0};
  double below{0.0};  ///< to the lower end of its 95 % interval, with all errors that are known
  double above{0.0};  ///< to the upper end; both may be infinite
  bool has_interval{false};  ///< whether the finding has an interval of its own
  std::size_t degrees{normal_degrees};
};

/// The one place where the error of a finding is put together. Needs a value, and of what is no
/// share one above 0.
Place locate(const ComparedFinding& compared);

/// From one finding to another, on their line.
struct Difference {
  double change{0.0};
  Interval interval{};  ///< 95 %
  std::size_t degrees{normal_degrees};

  /// The farther end: the largest change that the data leave possible.
  [[nodiscard]] double farthest() const;
  /// How far the end that is nearer to no change is beyond `bound`; negative where it is not.
  [[nodiscard]] double beyond(double bound) const;
  /// How likely a change is to look that large though it is none beyond `bound`.
  [[nodiscard]] double p_value(double bound) const;
};

Difference difference(const Place& from, const Place& to);

}  // namespace clprobe
