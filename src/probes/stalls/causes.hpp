// SPDX-License-Identifier: Apache-2.0
// What a kernel of `stalls` may wait for on a device: the causes that can be taken away, and their
// names. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "clprobe/run.hpp"
#include "probes/shared/bounds.hpp"

namespace clprobe::stalls {

/// A cause that an argument of the kernel takes away.
enum class Cause {
  main_memory,    ///< loads from main memory hit what the caches hold
  second_cache,   ///< loads that the caches hold hit the first-level cache
  beyond_first,   ///< both of these, where the device's memory is too small to tell them apart
  bank_conflict,  ///< lanes that meet in one bank
  barrier,        ///< waiting at a barrier
  chain,          ///< operations that wait for each other
  divergence,     ///< lanes that take turns
  // A unit takes nothing more:
  serial_requests,  ///< lanes of one instruction that are lines apart
  store_buffer,     ///< stores
  release,          ///< a fence behind stores
  function_unit,    ///< special functions
};

/// GSI's name: "memory data: main memory".
std::string_view label_of(Cause cause);
std::string_view to_word(Cause cause);
/// What the cause keeps busy.
Resource resource_of(Cause cause);

/// "main-memory,chain" of a point's parameter `factors`. Throws std::out_of_range for a word that
/// is no cause.
std::vector<Cause> causes_in(std::string_view words);
/// "main-memory,chain", as `causes_in` reads it.
std::string joined(std::span<const Cause> causes);

/// What must be gone before each of them can be, as AblationOptions has it: the loads that no
/// longer come from main memory come from the second-level cache; stores still cost something when
/// their lanes are side by side, or nothing waits for them, and nothing at all when they are gone.
std::vector<std::uint32_t> needs_of(std::span<const Cause> causes);

/// Which causes of a kernel a point has taken away.
struct Ablated {
  std::string factors{};       ///< as `joined` writes them
  std::uint32_t idealised{0};  ///< bit i: the i-th of them has been taken away

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("factors", factors);
    fields.whole("idealised", idealised, {.max = (1 << max_factors) - 1});
  }

  /// Throws std::out_of_range where `factors` names no causes.
  [[nodiscard]] bool has_taken(Cause cause) const;
};

/// The same point with each set of its causes taken away that can be. Throws std::out_of_range for
/// a point without them.
std::vector<Point> with_all_sets(const Point& usual);

}  // namespace clprobe::stalls
