// SPDX-License-Identifier: Apache-2.0
#include "report/summary_inks.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "clprobe/compare.hpp"

namespace clprobe::report {
namespace {

std::optional<Ink> verdict_ink(std::string_view word) {
  if (word == to_word(Verdict::worse)) return Ink::failure;
  if (word == to_word(Verdict::better)) return Ink::good;
  if (word == to_word(Verdict::different)) return Ink::caution;
  return std::nullopt;
}

bool is_count_word(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<Span> SummaryInks::spans_of(std::string_view line) {
  std::vector<Span> spans;
  const auto add = [&](std::string_view text, Ink ink) {
    if (!spans.empty() && spans.back().ink == ink) {
      spans.back().text += text;
    } else {
      spans.push_back({std::string(text), ink});
    }
  };
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    const std::string_view bare = word.substr(0, word.find_last_not_of(",:;") + 1);
    const std::optional<Ink> verdict = verdict_ink(bare);
    const bool is_count = verdict && is_number_;
    if (verdict && !is_number_ && word.ends_with(':')) part_ = *verdict;
    add(word, is_count ? *verdict : part_);
    if (word.ends_with(';')) part_ = Ink::plain;
    is_number_ = is_count_word(word);
    const std::size_t next = std::min(end + 1, line.size());
    add(line.substr(end, next - end), part_);
    line.remove_prefix(next);
  }
  return spans;
}

}  // namespace clprobe::report
