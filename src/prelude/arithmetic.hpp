// SPDX-License-Identifier: Apache-2.0
// Functions that compute, and nothing else.
#pragma once

#include <set>
#include <string_view>

#include "prelude/reach.hpp"

namespace clprobe::prelude {

/// The names of functions that neither load nor store nor loop: what they return is made of what
/// they are given at that call, and of nothing that another call gave them. Whatever is not
/// understood is none.
std::set<std::string_view> find_arithmetic(const Reach& reach);

}  // namespace clprobe::prelude
