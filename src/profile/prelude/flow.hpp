// SPDX-License-Identifier: Apache-2.0
// Data flow by names: can the contents of some memory determine addresses, or how long a kernel
// runs?
//
// The analysis ignores types, order and scopes. A name stands for all things of that name in all
// reached functions (except those that only compute), and an assignment holds for ever. So it finds
// too much rather than too little.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "profile/prelude/reach.hpp"

namespace clprobe::prelude {

/// Describes the first place at which a value loaded from `memory`, or returned by `functions`,
/// decides: "a wrong value of count would determine an address". Nothing if there is none.
std::optional<std::string> find_control(const Reach& reach,
                                        const std::set<std::string_view>& memory,
                                        const std::set<std::string_view>& functions = {});

/// Returns the names of memory that is stored to, by a subscript or a pointer.
std::set<std::string_view> find_written(const Reach& reach);

/// Names of memory, by their declarations.
struct MemoryNames {
  std::set<std::string_view> local{};
  std::set<std::string_view> volatile_global{};
};

/// Collects the names of all reached functions together.
MemoryNames find_memory_names(const Reach& reach);

/// Returns a name of volatile global memory that is loaded or stored without an atomic, or a
/// description of a cast to such memory.
std::optional<std::string_view> find_volatile_access(const Reach& reach, const MemoryNames& names);

}  // namespace clprobe::prelude
