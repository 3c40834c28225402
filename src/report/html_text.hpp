// SPDX-License-Identifier: Apache-2.0
// Text of others in a page: shown, never run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::report {

/// Text as the contents of an element, or of an attribute in quotes: `printable`, with the
/// characters that mean something to HTML and XML written as references.
std::string html_text(std::string_view text);

/// `{{name}}` replaced by the value of that name; what a value contains is not looked at again.
/// Throws std::invalid_argument for a name that has no value.
std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace clprobe::report
