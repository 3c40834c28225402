// SPDX-License-Identifier: Apache-2.0
// Removes passwords, tokens and keys from command lines that may be published. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

/// Returns the words with "***" in place of possible secrets: values of names such as --password,
/// -p, API_KEY= and "Authorization:", users in URLs, and the common forms of keys. Rather hides too
/// much than too little.
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

/// Returns the options of a build with "***" in place of the values of definitions with such names,
/// except numbers and types of OpenCL C.
std::string options_without_secrets(std::string_view options);

}  // namespace clprobe
