// SPDX-License-Identifier: Apache-2.0
// The pages of `clprobe explain` that are of no probe.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace clprobe::commands {

struct OtherPage {
  std::string_view word;  ///< docs/WORD.md, which src/embedded has (tools/cmake/Probes.cmake)
  std::string_view what;
};

inline constexpr std::array other_pages{
    OtherPage{"method", "How does clprobe measure, and how sure is what it says?"},
    OtherPage{"compare", "How are runs set beside each other, and what does a verdict rest on?"},
    OtherPage{"formats", "What are its documents and tables, and which others does it read?"},
    OtherPage{"profile", "Which kernels of a program take its time, and how is that known?"},
    OtherPage{"trace", "How is a kernel of one's own written down for the simulator?"},
    OtherPage{"seeds", "What do the works that it began with state, and what does it find?"},
};

constexpr const OtherPage* find_page(std::string_view word) {
  const auto* const found = std::find_if(other_pages.begin(), other_pages.end(),
                                         [&](const OtherPage& each) { return each.word == word; });
  return found == other_pages.end() ? nullptr : found;
}

/// What a word is that a report has of a series: of which probe, and what it measures; a word
/// before a number, as "arguments" of "arguments-4", is all of those. Empty where no series has the
/// name.
std::string series_text(std::string_view word, int width);

}  // namespace clprobe::commands
