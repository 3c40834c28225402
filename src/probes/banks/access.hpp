// SPDX-License-Identifier: Apache-2.0
// Preparing accesses to local memory (cl/banks.cl) at the offsets of a pattern.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/bank_patterns.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::banks {

/// One series of the probe `banks`.
struct BankSeries {
  std::string_view name;
  bool is_store;
  bool is_chain;   ///< each access waits for the one before
  bool is_single;  ///< a few accesses between two clock reads, as the model E counts them
};

/// All of them, in the order in which they are shown.
std::span<const BankSeries> all_bank_series();

/// Throws std::out_of_range when there is no series of that name.
const BankSeries& bank_series(std::string_view name);

/// Accesses between two clock reads that do not wait for each other: the most that
/// --instructions takes, and a register each.
inline constexpr int most_instructions = 32;

/// Accesses of a chain in one turn of its loop, so that the loop's own instructions are few.
inline constexpr int chain_steps = 32;

/// Behind the footprint: a word from which a kernel that stores reads, to wait for its stores.
inline constexpr std::uint64_t behind_footprint_bytes = 16;
/// What a kernel has in local memory beside that array.
inline constexpr std::uint64_t beside_array_bytes = 48;

/// The pattern of a point. Throws std::out_of_range for a point that has none.
BankPattern pattern_of(const Point& point);

/// The build options of cl/banks.cl for a point.
std::string bank_options(const Point& point);

/// Every way to build cl/banks.cl for the default limits.
std::vector<KernelVariant> bank_variants();

/// Point parameters: word_bytes, pattern and its number, lanes, sub_groups, instructions,
/// local_bytes (what is reserved). Throws DeviceError and cl::Error.
Work prepare_bank_access(Session& session, const Point& point);

/// The same accesses for the simulator.
SimulatedWork trace_bank_access(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::banks
