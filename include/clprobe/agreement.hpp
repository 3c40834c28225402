// SPDX-License-Identifier: Apache-2.0
// What several probes of a run find of the same memory, each in its own way, held against each
// other. Pure.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// What more than one probe may find of a memory. Two are not found but made, of a bandwidth beside
/// the latency that another probe finds there: `implied_bytes_in_flight`, by Little's law, and
/// `latency_end`, where the latency ends a level and the bandwidth does not.
enum class Quantity { capacity, latency, bandwidth, implied_bytes_in_flight, latency_end };

/// Says of a probe's findings of one name and series that they are such a quantity, of all levels.
struct SharedQuantity {
  Quantity quantity{Quantity::capacity};
  std::string_view memory{};   ///< of the whole device: "global", "local", "image"
  std::string_view finding{};  ///< its name
  std::string_view series{};
};

struct ProbeQuantities {
  std::string_view probe{};
  std::span<const SharedQuantity> quantities{};
};

/// Warnings of a level of bandwidth that ends where no level of latency does.
inline constexpr std::string_view end_warning = "end_not_shared";
inline constexpr std::string_view lone_end_warning = "end_of_one_level";

/// The methods of findings that are made of those of two probes.
inline constexpr std::string_view little_method = "Little's law";
inline constexpr std::string_view latency_end_method = "beside latency";

/// Adds to each bandwidth what it implies and what it does not show, level by level, and writes or
/// takes back the warnings. A run that was disturbed (`tell_disturbance` comes first) has neither
/// warnings nor ends of latency: its curves differ by that already.
void tell_agreement(Run& run, std::span<const ProbeQuantities> all);

}  // namespace clprobe
