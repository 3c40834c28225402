// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::cli {

/// The words that were typed, as a run document keeps them: of every file its name alone, since
/// folders name people, customers and machines. Behind "-o", in "-oFILE", "--output=FILE",
/// "sim:FILE.json" and "recorded:FILE" as well as by itself. Values that are no files stay. Behind
/// "--", secrets are hidden unless --with-secrets stands before it.
std::vector<std::string> without_folders(const std::vector<std::string>& arguments);

/// The same of a program and its own arguments.
std::vector<std::string> app_without_folders(std::span<const std::string> words, bool with_secrets);

/// Without secrets; "LD_PRELOAD=x.so" of "LD_PRELOAD=/home/me/x.so".
std::string variable_without_folders(std::string_view given);

}  // namespace clprobe::cli
