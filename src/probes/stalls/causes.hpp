// SPDX-License-Identifier: Apache-2.0
// What a kernel of `stalls` may wait for on a real device: the causes that can be taken away, and
// their names. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "clprobe/run.hpp"

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
};

/// GSI's name: "memory data: main memory".
std::string_view label_of(Cause cause);
std::string_view to_word(Cause cause);
/// Throws std::out_of_range for a word that is none.
Cause cause_of(std::string_view word);
/// What the cause keeps busy.
Resource resource_of(Cause cause);

/// "main-memory,chain" of a point's parameter `factors`. Throws std::out_of_range.
std::vector<Cause> causes_in(std::string_view words);

/// The causes that a point has taken away. Throws std::out_of_range for one without `factors` or
/// `idealised`.
std::vector<Cause> taken_causes(const Point& point);

/// "main-memory,chain", as `causes_in` reads it.
std::string joined(std::span<const Cause> causes);

}  // namespace clprobe::stalls
