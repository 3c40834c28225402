// SPDX-License-Identifier: Apache-2.0
// The options of a build, as far as they name files, and names of files.
#include <algorithm>
#include <array>
#include <string_view>

#include "clprobe/includes.hpp"
#include "includes/scan.hpp"

namespace clprobe::includes {
namespace {

/// A word of the options: as it was given, and without quotes and the backslashes that escape.
struct Word {
  std::string_view given{};
  std::string plain{};
};

std::vector<Word> words_in(std::string_view options) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < options.size();) {
    if (is_space(options[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    Word word;
    char quote = 0;
    for (; at < options.size() && (quote != 0 || !is_space(options[at])); ++at) {
      const char c = options[at];
      const bool is_quote = c == '"' || c == '\'';
      if (quote != 0 ? c == quote : is_quote) {
        quote = quote == 0 ? c : '\0';
      } else {
        if (c == '\\' && at + 1 < options.size()) ++at;
        word.plain += options[at];
      }
    }
    word.given = options.substr(begin, at - begin);
    words.push_back(std::move(word));
  }
  return words;
}

std::string definition_of(std::string_view word) {
  const std::size_t equals = word.find('=');
  std::string text(word.substr(0, equals));
  text += ' ';
  text += equals == std::string_view::npos ? "1" : word.substr(equals + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Calls `see` with each option that `flag` begins, and how many words it is: its value may be the
/// next word.
template <typename See>
void for_each_option(const std::vector<Word>& words, See see) {
  for (std::size_t i = 0; i < words.size();) {
    const std::string& word = words[i].plain;
    const std::string flag = word.substr(0, 2);
    const bool has_value = flag == "-I" || flag == "-D";
    const bool is_apart = has_value && word.size() == 2 && i + 1 < words.size();
    const std::size_t count = is_apart ? 2 : 1;
    see(has_value ? flag : std::string(),
        is_apart ? words[i + 1].plain : word.substr(std::min<std::size_t>(2, word.size())), i,
        count);
    i += count;
  }
}

/// Whether a compiler may read a file for the word. Drivers split options in their own ways, so
/// that words in quotes count as well.
bool may_name_file(const Word& word, bool is_definition) {
  constexpr std::array<std::string_view, 5> flags{"-I", "-i", "-X", "--", "@"};
  bool is_first = true;
  for (std::string_view rest = word.plain; !rest.empty(); is_first = false) {
    const std::size_t size = std::min(rest.find_first_of(" \t\r\n\f\v"), rest.size());
    const std::string_view part = rest.substr(0, size);
    rest.remove_prefix(std::min(size + 1, rest.size()));
    for (const std::string_view flag : flags) {
      if (part.starts_with(flag)) return true;
    }
    const bool is_path = !part.starts_with('-') || part.find('/') != std::string_view::npos;
    if (is_first && !is_definition && is_path) return true;
  }
  return false;
}

}  // namespace

Options read_options(std::string_view options) {
  Options found;
  for_each_option(words_in(options),
                  [&](const std::string& flag, const std::string& value, std::size_t, std::size_t) {
                    if (value.empty()) return;
                    if (flag == "-I") found.folders.push_back(value);
                    if (flag == "-D") found.definitions.push_back(definition_of(value));
                  });
  return found;
}

std::string without_folders(std::string_view options) {
  const std::vector<Word> words = words_in(options);
  std::string kept;
  bool is_any = false;
  for_each_option(words, [&](const std::string& flag, const std::string&, std::size_t first,
                             std::size_t count) {
    const bool is_left_out = may_name_file(words[first + count - 1], flag == "-D");
    is_any = is_any || is_left_out;
    for (std::size_t i = first; !is_left_out && i < first + count; ++i) {
      kept += (kept.empty() ? "" : " ") + std::string(words[i].given);
    }
  });
  return is_any ? kept : std::string(options);
}

std::string safe_name(std::string_view path) {
  constexpr std::size_t max_bytes = 100;
  const std::size_t slash = path.find_last_of('/');
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  name = name.substr(0, max_bytes);
  for (char& c : name) {
    const bool is_plain = continues_word(c) && c != '$' && static_cast<unsigned char>(c) < 0x80;
    if (!is_plain && c != '.' && c != '-') c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(0, "_");
  return name;
}

bool is_safe_name(std::string_view name) { return safe_name(name) == name; }

}  // namespace clprobe::includes
