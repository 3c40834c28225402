// SPDX-License-Identifier: Apache-2.0
// How often property tests try.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace clprobe {

/// The usual number of rounds, or the part of it that the environment's CLPROBE_ROUNDS says, at
/// least one: "25%" under sanitizers, which slow simulations down ten times. Fuzzers' corpora
/// are always replayed whole. Throws std::invalid_argument where it says no percentage.
inline int rounds(int usual) {
  const char* const asked = std::getenv("CLPROBE_ROUNDS");
  if (asked == nullptr) return usual;
  char* end = nullptr;
  const long percent = std::strtol(asked, &end, 10);
  if (end == asked || std::string_view(end) != "%" || percent < 1 || percent > 10000) {
    throw std::invalid_argument("CLPROBE_ROUNDS: expected a percentage, as in 25%");
  }
  return std::max(1, static_cast<int>(usual * percent / 100));
}

}  // namespace clprobe
