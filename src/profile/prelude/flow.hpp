// SPDX-License-Identifier: Apache-2.0
// Data-flow analysis by names: finds whether contents of memory can determine addresses, or how
// long a kernel runs.
//
// The analysis ignores types, order and scopes. A name stands for all objects with this name in all
// reached functions, except arithmetic functions. An assignment is valid everywhere in the text.
// The analysis therefore finds too many dependences rather than too few.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "profile/prelude/reach.hpp"

namespace clprobe::prelude {

/// Returns a description of the first tainted value that determines an address or a loop: "a wrong
/// value of count would determine an address". Tainted values are loaded from `memory`, returned by
/// `functions`, or computed from such values. Returns nothing if no tainted value determines an
/// address or a loop, but "it is unclear ..." if the analysis does not finish.
std::optional<std::string> find_control(const Reach& reach,
                                        const std::set<std::string_view>& memory,
                                        const std::set<std::string_view>& functions = {});

/// Returns the names of memory to which the text stores by a subscript, a pointer or write_image.
std::set<std::string_view> find_written(const Reach& reach);

/// Names of memory in declarations.
struct MemoryNames {
  std::set<std::string_view> local{};
  std::set<std::string_view> volatile_global{};
};

/// Returns the declared names of memory in all reached functions.
MemoryNames find_memory_names(const Reach& reach);

/// Returns a name of volatile global memory that is loaded or stored without an atomic function.
/// For an access through a cast to volatile global memory, returns a description of the cast.
/// Returns nothing if there is no such access.
std::optional<std::string_view> find_volatile_access(const Reach& reach, const MemoryNames& names);

}  // namespace clprobe::prelude
