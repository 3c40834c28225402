// SPDX-License-Identifier: Apache-2.0
// What the shells' completions share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"

namespace clprobe::cli::complete {

using Words = std::vector<std::string_view>;

/// What can be completed.
struct Offered {
  std::span<const Probe* const> probes{};
  Words machines{};  ///< simulated ones: "sim:gsi"
  Words terms{};     ///< what explain knows besides probes: "cache or far"
};

std::string join(const Words& words, std::string_view separator);
/// `text` with a backslash before each of `special`.
std::string escape(std::string_view text, std::string_view special);
Words ids_of(std::span<const Probe* const> probes);
Words command_words();
/// The flags that the command of a row takes, and `--generate` where there is none.
std::vector<Flag> flags_of_command(const CommandRow& row);
/// The words that a value may be, or its comma list may have. Devices are the machines and `all`;
/// those of this computer the shell asks for.
Words choices_of(const Flag& flag, const Offered& offered);
bool is_list(const Flag& flag);

std::string bash(const Offered& offered);
std::string zsh(const Offered& offered);
std::string fish(const Offered& offered);

}  // namespace clprobe::cli::complete
