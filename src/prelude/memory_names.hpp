// SPDX-License-Identifier: Apache-2.0
// Which names of a text are of which memory, by their declarations.
#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "prelude/reach.hpp"

namespace clprobe::prelude {

struct MemoryNames {
  std::set<std::string_view> local{};
  std::set<std::string_view> volatile_global{};
};

/// In all functions that are reached, put together: one name is one thing.
MemoryNames find_memory_names(const Reach& reach);

/// A name of volatile global memory that is loaded or stored otherwise than by an atomic, or the
/// type that a pointer is cast to for that.
std::optional<std::string_view> find_volatile_access(const Reach& reach, const MemoryNames& names);

}  // namespace clprobe::prelude
