// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::cli {

/// The arguments as a run document keeps them: files without their folders, which name people,
/// customers and machines. A file may be a word by itself, or follow "-o", "--output=" or "sim:".
/// Other values stay. After "--", secrets are hidden unless --with-secrets precedes it.
std::vector<std::string> without_folders(const std::vector<std::string>& arguments);

/// A program and its arguments without folders, and without secrets unless `with_secrets`.
std::vector<std::string> app_without_folders(std::span<const std::string> words, bool with_secrets);

/// A variable without secrets and folders: "LD_PRELOAD=x.so" of "LD_PRELOAD=/home/me/x.so".
std::string variable_without_folders(std::string_view given);

}  // namespace clprobe::cli
