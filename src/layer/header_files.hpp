// SPDX-License-Identifier: Apache-2.0
// The headers of the application's programs, where the driver finds them.
#pragma once

#include <string>

#include "clprobe/includes.hpp"

namespace clprobe::layer {

/// Those that the text reaches, read now: at another time the application may be in another folder.
/// None where they would make too long a text. Throws std::bad_alloc.
includes::Gathered find_headers(const std::string& text, const std::string& options);

}  // namespace clprobe::layer
