// SPDX-License-Identifier: Apache-2.0
// Whether what is in some memory decides on addresses or on how long a kernel runs.
//
// By names, without types, order or scopes: a name stands for all things of that name in all that
// is reached (but in functions that compute alone), and whatever is assigned once
// is so for ever. That errs on one side only, as long as
// the text says what it does: it finds more than there is.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "prelude/reach.hpp"

namespace clprobe::prelude {

/// The first place at which a load of `memory` decides: "a wrong value of count would determine an
/// address". Nothing where none does. The same of what `functions` return.
std::optional<std::string> find_control(const Reach& reach,
                                        const std::set<std::string_view>& memory,
                                        const std::set<std::string_view>& functions = {});

/// The names of memory that is stored to, by a subscript or a pointer.
std::set<std::string_view> find_written(const Reach& reach);

/// Which names of a text are of which memory, by their declarations.
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
