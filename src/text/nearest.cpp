// SPDX-License-Identifier: Apache-2.0
#include "text/api/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace clprobe {
namespace {

// Longer words are no typing errors, and the distance takes quadratic time.
constexpr std::size_t max_letters = 64;

/// Lower case, without the dashes before a flag's name: they say what it is, not which one.
std::string letters_of(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string letters(word);
  std::transform(letters.begin(), letters.end(), letters.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return letters;
}

/// Insertions, deletions, replacements and swaps of neighbours that make `a` into `b` (optimal
/// string alignment: Damerau 1964).
std::size_t count_slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates) {
  const std::string typed = letters_of(word);
  if (typed.empty() || typed.size() > max_letters) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t min_slips = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    const std::string letters = letters_of(candidate);
    // Allows two wrong letters in five: a worse guess confuses.
    const std::size_t longer = std::max(typed.size(), letters.size());
    const std::size_t allowed = std::max<std::size_t>(1, longer * 2 / 5);
    const bool is_beginning = typed.size() >= 3 && letters.starts_with(typed);
    std::size_t slips = count_slips(typed, letters);
    if (is_beginning) slips = std::min<std::size_t>(slips, 1);
    // One slip in a word of one or two letters leaves nothing in common, and few mistype the first
    // letter and others ("cacheline" is no "baseline").
    const bool is_same_start = letters.starts_with(typed.front()) || slips < 2;
    const bool is_close = slips <= allowed && 2 * slips < longer && is_same_start;
    if (is_close && slips < min_slips) {
      best = candidate;
      min_slips = slips;
    }
  }
  return best;
}

}  // namespace clprobe
