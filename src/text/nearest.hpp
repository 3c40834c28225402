// SPDX-License-Identifier: Apache-2.0
// What a mistyped word was meant to be.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace clprobe {

/// The candidate that is most like `word` when one is close enough to be meant, else nothing.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates);

}  // namespace clprobe
