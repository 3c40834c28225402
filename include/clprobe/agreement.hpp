// SPDX-License-Identifier: Apache-2.0
// Comparison of findings that different probes of one run make about one memory. All functions are
// pure.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// Quantities of a memory that more than one probe can measure. `implied_bytes_in_flight` is the
/// product of a bandwidth and of the latency that another probe measured (Little's law).
/// `latency_end` is the end of a latency level inside a bandwidth level. `bandwidth_beyond` is the
/// bandwidth of the largest working set, if no level includes that working set. `peak` is the
/// maximum rate of floating-point operations, and `ridge` the peak of another probe divided by a
/// bandwidth.
enum class Quantity {
  capacity,
  latency,
  bandwidth,
  implied_bytes_in_flight,
  latency_end,
  bandwidth_beyond,
  peak,
  ridge
};

/// Declaration that a probe's findings of one name and series, at all levels, are a quantity of a
/// memory.
struct SharedQuantity {
  Quantity quantity{Quantity::capacity};
  /// Memory that the findings describe: "global", "local", "image". For peaks and ridge points, the
  /// type of number: "float", "double", "half".
  std::string_view memory{};
  std::string_view finding{};  ///< name of the findings
  std::string_view series{};
};

struct ProbeQuantities {
  std::string_view probe{};
  std::span<const SharedQuantity> quantities{};
};

/// Codes of the warnings that a bandwidth level ends where no latency level ends.
/// `lone_end_warning`: the end of no latency level is known.
inline constexpr std::string_view end_warning = "end_not_shared";
inline constexpr std::string_view lone_end_warning = "end_of_one_level";

/// Methods of findings that combine the findings of two probes.
inline constexpr std::string_view little_method = "Little's law";
inline constexpr std::string_view latency_end_method = "beside latency";
inline constexpr std::string_view roofline_method = "roofline";

/// Replaces the derived findings of each bandwidth level, and the warnings about level ends. A
/// disturbed run gets no such warnings and no `latency_end` findings, since disturbances alone make
/// curves differ. Requires `tell_disturbance` to be called first.
void tell_agreement(Run& run, std::span<const ProbeQuantities> all);

/// Replaces the ridge points: for each type of number and each bandwidth, the peak divided by the
/// bandwidth, in floating-point operations per byte. The interval includes the quotients of all
/// values in both intervals. `Finding::label` is the name of the level, such as "L2". A ridge point
/// without a value states which of the two is missing. A run without one of the two probes gets no
/// ridge points.
void tell_roofline(Run& run, std::span<const ProbeQuantities> all);

}  // namespace clprobe
