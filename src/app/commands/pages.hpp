// SPDX-License-Identifier: Apache-2.0
// The pages of `clprobe explain` besides those of probes.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "present/api/explain.hpp"

namespace clprobe::commands {

struct OtherPage {
  std::string_view word;  ///< docs/WORD.md, which src/text/embedded has (tools/cmake/Probes.cmake)
  std::string_view what;
};

inline constexpr std::array other_pages{
    OtherPage{"method", "How does clprobe measure, and how reliable are its numbers?"},
    OtherPage{"compare", "How are runs compared, and what is a verdict based on?"},
    OtherPage{"formats", "Which files does clprobe write, and which does it read?"},
    OtherPage{"profile", "Which kernels take a program's time, and why?"},
    OtherPage{"trace", "How is a kernel described for the simulator?"},
    OtherPage{"seeds", "What do published papers state, and what does clprobe measure?"},
};

constexpr const OtherPage* find_page(std::string_view word) {
  const auto* const found = std::find_if(other_pages.begin(), other_pages.end(),
                                         [&](const OtherPage& each) { return each.word == word; });
  return found == other_pages.end() ? nullptr : found;
}

/// The meaning of a word: the glossary's entry, and the findings, series, options and warnings of
/// that name. "arguments" also means the series "arguments-4". Empty if the word is unknown.
std::string word_text(std::string_view word, const PageStyle& style);

}  // namespace clprobe::commands
