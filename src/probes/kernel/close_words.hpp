// SPDX-License-Identifier: Apache-2.0
// What of a kernel's results may differ by the order in which it adds. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "clprobe/launch.hpp"

namespace clprobe::kernel {

/// By object: whether all arguments that it is a buffer of are pointers to float, by the text.
std::vector<bool> objects_of_floats(const bundle::Bundle& bundle);

/// Whether the floats of both differ by at most a thousandth of the range of the first ones, those
/// that are no finite numbers not at all. False for other lengths, or parts of words.
bool are_close_floats(std::string_view first, std::string_view second);

}  // namespace clprobe::kernel
