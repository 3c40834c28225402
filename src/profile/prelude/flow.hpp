// SPDX-License-Identifier: Apache-2.0
// Data flow by names: finds whether contents of memory can determine addresses, or how long a
// kernel runs.
//
// The analysis ignores types, order and scopes. A name denotes all objects of that name in all
// reached functions (except arithmetic functions), and an assignment holds permanently. Thus the
// analysis finds too much rather than too little.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "profile/prelude/reach.hpp"

namespace clprobe::prelude {

/// Describes the first use of a tainted value that decides on an address or a loop: "a wrong value
/// of count would determine an address". Tainted values are loaded from `memory` or returned by
/// `functions`. Returns nothing if there is no such use.
std::optional<std::string> find_control(const Reach& reach,
                                        const std::set<std::string_view>& memory,
                                        const std::set<std::string_view>& functions = {});

/// Returns the names of memory that a subscript or a pointer stores to.
std::set<std::string_view> find_written(const Reach& reach);

/// Names of memory from declarations.
struct MemoryNames {
  std::set<std::string_view> local{};
  std::set<std::string_view> volatile_global{};
};

/// Returns the names of all reached functions together.
MemoryNames find_memory_names(const Reach& reach);

/// Returns a name of volatile global memory that is loaded or stored without an atomic, or a
/// description of a cast to such memory.
std::optional<std::string_view> find_volatile_access(const Reach& reach, const MemoryNames& names);

}  // namespace clprobe::prelude
