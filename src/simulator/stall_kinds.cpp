// SPDX-License-Identifier: Apache-2.0
// The types of stalls and their sub-classes: their words, and which one a set of causes belongs to.
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "clprobe/stalls.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::array<std::pair<Causes, Stall>, Priorities::count> causes_of_stalls{{
    {cause::idle, Stall::idle},
    {cause::control, Stall::control},
    {cause::synchronization, Stall::synchronization},
    {cause::memory_data, Stall::memory_data},
    {cause::memory_structural, Stall::memory_structural},
    {cause::compute_data, Stall::compute_data},
    {cause::compute_structural, Stall::compute_structural},
}};

/// A sub-class. Of memory data it is known when the load is served, and no cause tells.
struct Part {
  std::string_view word{};
  Causes cause{0};
};

// In the order of their enumerations, in which they are tested.
constexpr std::array<Part, control_stall_count> control_parts{
    {{"branch", cause::branch}, {"start of a sub-group", cause::warp_start}}};
constexpr std::array<Part, synchronization_stall_count> synchronization_parts{
    {{"barrier", cause::barrier},
     {"acquire", cause::acquire},
     {"release", cause::release},
     {"copy wait", cause::copy_wait}}};
constexpr std::array<Part, level_count> memory_data_parts{
    {{"L1", 0}, {"L1 coalescing", 0}, {"L2", 0}, {"remote L1", 0}, {"main memory", 0}}};
constexpr std::array<Part, structural_stall_count> memory_structural_parts{
    {{"full MSHR", cause::full_mshr},
     {"full store buffer", cause::full_store_buffer},
     {"bank conflict", cause::bank_conflict},
     {"serial requests", cause::serial_requests},
     {"pending release", cause::pending_release},
     {"pending DMA", cause::pending_copy}}};
constexpr std::array<Part, compute_data_stall_count> compute_data_parts{
    {{"arithmetic result", cause::arithmetic_result},
     {"special-function result", cause::special_result}}};
constexpr std::array<Part, compute_structural_stall_count> compute_structural_parts{
    {{"busy arithmetic units", cause::busy_arithmetic},
     {"busy special-function units", cause::busy_special}}};

std::span<const Part> parts_of(Stall stall) {
  static constexpr std::array<std::span<const Part>, stall_count> all{{{},
                                                                       control_parts,
                                                                       synchronization_parts,
                                                                       memory_data_parts,
                                                                       memory_structural_parts,
                                                                       compute_data_parts,
                                                                       compute_structural_parts,
                                                                       {}}};
  return all.at(static_cast<std::size_t>(stall));
}

/// The same of the cycles; `Of` is Breakdown or const Breakdown.
template <typename Number, typename Of>
std::span<Number> parts_in(Of& breakdown, Stall stall) {
  switch (stall) {
    case Stall::control:
      return breakdown.control;
    case Stall::synchronization:
      return breakdown.synchronization;
    case Stall::memory_data:
      return breakdown.memory_data;
    case Stall::memory_structural:
      return breakdown.memory_structural;
    case Stall::compute_data:
      return breakdown.compute_data;
    case Stall::compute_structural:
      return breakdown.compute_structural;
    default:
      return {};
  }
}

}  // namespace

std::string_view to_word(Stall stall) {
  constexpr std::array<std::string_view, stall_count> words{"idle",
                                                            "control",
                                                            "synchronization",
                                                            "memory data",
                                                            "memory structural",
                                                            "compute data",
                                                            "compute structural",
                                                            "no stall"};
  return words.at(static_cast<std::size_t>(stall));
}

std::string_view part_word(Stall stall, std::size_t place) { return parts_of(stall)[place].word; }

std::optional<std::size_t> part_of(Stall stall, Causes causes) {
  const std::span<const Part> parts = parts_of(stall);
  for (std::size_t place = 0; place < parts.size(); ++place) {
    if ((causes & parts[place].cause) != 0) return place;
  }
  return std::nullopt;
}

StallSet conditions_of(Causes causes) {
  StallSet conditions = 0;
  for (const auto& [bits, stall] : causes_of_stalls) {
    if ((causes & bits) != 0) conditions = static_cast<StallSet>(conditions | bit_of(stall));
  }
  return conditions;
}

Stall classify_instruction(StallSet conditions, const Priorities& priorities) {
  for (const Stall each : priorities.instruction) {
    if ((conditions & bit_of(each)) != 0) return each;
  }
  return Stall::none;
}

Stall classify_cycle(StallSet found, const Priorities& priorities) {
  if ((found & bit_of(Stall::none)) != 0) return Stall::none;
  for (const Stall each : priorities.cycle) {
    if ((found & bit_of(each)) != 0) return each;
  }
  return Stall::idle;
}

std::span<double> Breakdown::parts(Stall stall) { return parts_in<double>(*this, stall); }

std::span<const double> Breakdown::parts(Stall stall) const {
  return parts_in<const double>(*this, stall);
}

}  // namespace clprobe::simulator
