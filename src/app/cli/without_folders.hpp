// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::cli {

/// Returns the arguments in the form that a run document stores: without the folders of files,
/// since folders may name people, customers and machines. A file may be a separate word, or follow
/// "-o", "--output=" or "sim:". Secrets after the word "--" are hidden unless --with-secrets
/// precedes that word.
std::vector<std::string> without_folders(const std::vector<std::string>& arguments);

/// Returns a program and its arguments without the folders of files. Secrets are hidden unless
/// `with_secrets`.
std::vector<std::string> app_without_folders(std::span<const std::string> words, bool with_secrets);

/// Returns an environment variable without secrets and folders: "LD_PRELOAD=x.so" for
/// "LD_PRELOAD=/home/me/x.so".
std::string variable_without_folders(std::string_view given);

}  // namespace clprobe::cli
