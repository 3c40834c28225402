// SPDX-License-Identifier: Apache-2.0
// Options of a build that name files or macros, and names of files.
#include <algorithm>
#include <array>
#include <string_view>

#include "profile/api/prelude.hpp"
#include "profile/includes/scan.hpp"

namespace clprobe::includes {
namespace {

/// A word of the options: as given, and without quotes and escaping backslashes.
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

/// An option, whose value may be the next word.
struct Option {
  std::string flag{};   ///< "-I", "-D", or empty for others
  std::string value{};  ///< without the flag
  std::string last{};   ///< the last word
  std::string given{};
};

std::vector<Option> options_in(std::string_view options) {
  const std::vector<Word> words = words_in(options);
  std::vector<Option> found;
  found.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    Option option{.last = words[i].plain, .given = std::string(words[i].given)};
    if (option.last.starts_with("-I") || option.last.starts_with("-D")) {
      option.flag = option.last.substr(0, 2);
      option.value = option.last.substr(2);
      if (option.value.empty() && i + 1 < words.size()) {
        option.value = option.last = words[++i].plain;
        option.given += ' ' + std::string(words[i].given);
      }
    }
    found.push_back(std::move(option));
  }
  return found;
}

/// Returns the value of -D as it would follow #define.
std::string definition_of(std::string_view word) {
  const std::size_t equals = word.find('=');
  std::string text(word.substr(0, equals));
  text += ' ';
  text += equals == std::string_view::npos ? "1" : word.substr(equals + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// True if a compiler may read a file for the last word. Drivers split options differently, so the
/// parts of words in quotes count as well.
bool may_name_file(const Option& option) {
  constexpr std::array<std::string_view, 5> flags{"-I", "-i", "-X", "--", "@"};
  if (option.flag == "-I") return true;
  bool is_first = true;
  for (std::string_view rest = option.last; !rest.empty(); is_first = false) {
    const std::size_t size = std::min(rest.find_first_of(" \t\r\n\f\v"), rest.size());
    const std::string_view part = rest.substr(0, size);
    rest.remove_prefix(std::min(size + 1, rest.size()));
    for (const std::string_view flag : flags) {
      if (part.starts_with(flag)) return true;
    }
    const bool is_path = !part.starts_with('-') || part.find('/') != std::string_view::npos;
    if (is_first && option.flag != "-D" && is_path) return true;
  }
  return false;
}

}  // namespace

Options read_options(std::string_view options) {
  Options found;
  for (const Option& each : options_in(options)) {
    if (each.value.empty()) continue;
    if (each.flag == "-I") found.folders.push_back(each.value);
    if (each.flag == "-D") found.definitions.push_back(definition_of(each.value));
  }
  return found;
}

std::string without_folders(std::string_view options) {
  const std::vector<Option> all = options_in(options);
  if (std::none_of(all.begin(), all.end(), may_name_file)) return std::string(options);
  std::string kept;
  for (const Option& each : all) {
    if (!may_name_file(each)) kept += (kept.empty() ? "" : " ") + each.given;
  }
  return kept;
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
