// SPDX-License-Identifier: Apache-2.0
// Passwords, tokens and keys, taken out of command lines that may be published. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

/// The words with "***" in place of what may be secret: values of names such as --password, -p,
/// API_KEY= and "Authorization:", users of URLs, and the common forms of keys. Rather too much than
/// too little.
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

/// The options of a build with "***" in place of what definitions with such names say, but for
/// numbers and types of OpenCL C.
std::string options_without_secrets(std::string_view options);

}  // namespace clprobe
