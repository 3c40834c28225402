// SPDX-License-Identifier: Apache-2.0
// Comparison of the findings that several probes of a run make about the same memory. Pure.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// Quantities that more than one probe may find of a memory. Two are derived from a bandwidth and
/// from the latency that another probe measured: `implied_bytes_in_flight` by Little's law, and
/// `latency_end`, the end of a latency level inside a bandwidth level.
enum class Quantity { capacity, latency, bandwidth, implied_bytes_in_flight, latency_end };

/// Declares a probe's findings of one name and series, at all levels, as a quantity of a memory.
struct SharedQuantity {
  Quantity quantity{Quantity::capacity};
  std::string_view memory{};   ///< memory of the whole device: "global", "local", "image"
  std::string_view finding{};  ///< name of the findings
  std::string_view series{};
};

struct ProbeQuantities {
  std::string_view probe{};
  std::span<const SharedQuantity> quantities{};
};

/// Codes of the warnings that a bandwidth level ends where no latency level ends.
inline constexpr std::string_view end_warning = "end_not_shared";
inline constexpr std::string_view lone_end_warning = "end_of_one_level";

/// Methods of the findings that are derived from findings of two probes.
inline constexpr std::string_view little_method = "Little's law";
inline constexpr std::string_view latency_end_method = "beside latency";

/// Adds the derived findings to each level of bandwidth, and replaces the warnings. A disturbed run
/// gets neither warnings nor ends of latency, since disturbances make curves differ anyway. Call
/// `tell_disturbance` first.
void tell_agreement(Run& run, std::span<const ProbeQuantities> all);

}  // namespace clprobe
