// SPDX-License-Identifier: Apache-2.0
// Values that no author of a document thought of.
#pragma once

#include <vector>

#include "run/api/json.hpp"

namespace clprobe::hostile {

/// What a number may be replaced by: nothing that it was divided by, made an integer of, or shown
/// as before.
std::vector<json::Json> extreme_numbers();

/// The same for texts.
std::vector<json::Json> extreme_texts();

}  // namespace clprobe::hostile
