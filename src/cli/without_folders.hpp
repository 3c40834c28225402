// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe::cli {

/// The words that were typed, as a run document keeps them: of every file its name alone, since
/// folders name people, customers and machines. Behind "-o", in "-oFILE", "--output=FILE",
/// "sim:FILE.json" and "recorded:FILE" as well as by itself. Values that are no files stay.
std::vector<std::string> without_folders(const std::vector<std::string>& arguments);

/// "LD_PRELOAD=x.so" of "LD_PRELOAD=/home/me/x.so".
std::string variable_without_folders(std::string_view variable);

}  // namespace clprobe::cli
