// SPDX-License-Identifier: Apache-2.0
// The command line as a whole: which command it is, and whether its words and flags fit together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/flags.hpp"
#include "app/cli/options.hpp"

namespace clprobe::cli {

/// Flags with their values and the other words, in the order in which they were typed.
struct Typed {
  std::vector<std::pair<const Flag*, std::string>> flags{};
  std::vector<std::string> words{};
};

/// "unknown KIND 'WORD': did you mean 'NEAREST'? ADVICE"
UsageError unknown_word(std::string_view kind, std::string_view word,
                        const std::vector<std::string_view>& candidates, std::string_view advice);

/// Settles command, words and outputs once all flags have been stored. Throws UsageError for what
/// contradicts itself or would be ignored.
void resolve(Options& options, const Typed& typed, const std::vector<std::string_view>& probes);

}  // namespace clprobe::cli
