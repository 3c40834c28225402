// SPDX-License-Identifier: Apache-2.0
// Reader of the preprocessor lines of a text, of build options that name files or macros, and of
// file names.
#include "profile/includes/scan.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "profile/api/prelude.hpp"

namespace clprobe::includes {

std::size_t Spliced::original(std::size_t position) const {
  const auto behind =
      std::upper_bound(gaps.begin(), gaps.end(), position,
                       [](std::size_t at, const auto& gap) { return at < gap.first; });
  return position + std::prev(behind)->second;
}

Spliced splice(std::string_view text) {
  Spliced spliced;
  spliced.text.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const std::size_t end = text.substr(i + 1, 2) == "\r\n" ? 2 : 1;
      if (end == 2 || text.substr(i + 1, 1) == "\n") {
        i += end;
        const std::size_t missing = spliced.gaps.back().second + end + 1;
        spliced.gaps.emplace_back(spliced.text.size(), missing);
        continue;
      }
    }
    spliced.text += text[i];
  }
  return spliced;
}

std::size_t comment_end(std::string_view text, std::size_t at) {
  const std::string_view begin = text.substr(at, 2);
  if (begin == "//") return std::min(text.find('\n', at), text.size());
  if (begin != "/*") return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() + 1 : end + 2;
}

std::size_t quoted_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '\n') {
    if (text[end] == text[at]) return end + 1;
    const bool is_escape = text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n';
    end += is_escape ? 2U : 1U;
  }
  return end;
}

namespace {

/// Returns the directive whose # is at `at`, and moves `at` to the end of the line. Positions are
/// in the text with joined lines.
Directive read_directive(std::string_view text, std::size_t& at) {
  Directive found{.begin = at};
  ++at;
  std::string line;
  while (at < text.size() && text[at] != '\n') {
    std::size_t end = comment_end(text, at);
    if (end > at) {
      line += ' ';
    } else {
      end = text[at] == '"' || text[at] == '\'' ? quoted_end(text, at) : at + 1;
      line += text.substr(at, end - at);
    }
    at = end;
  }
  found.end = std::min(at, text.size());
  const std::string_view all = trimmed(line);
  found.name = first_word(all);
  found.rest = trimmed(all.substr(found.name.size()));
  return found;
}

bool ends_open(std::string_view text) {
  return text.ends_with('\\') || text.ends_with("\\\n") || text.ends_with("\\\r\n") ||
         text.ends_with("\\\r");
}

/// Replaces the positions in `spliced` by positions and line numbers in the original text.
void restore_positions(std::string_view text, const Spliced& spliced, Scanned& scanned) {
  std::size_t position = 0;
  std::size_t line = 1;
  const auto go_to = [&](std::size_t next) {
    line += static_cast<std::size_t>(
        std::count(text.begin() + static_cast<std::ptrdiff_t>(position),
                   text.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
    position = next;
  };
  for (Directive& each : scanned.directives) {
    go_to(each.begin = spliced.original(each.begin));
    each.first_line = line;
    go_to(each.end = spliced.original(each.end));
    each.last_line = line;
  }
}

/// Word of the build options: as written, and without quotes and backslashes for escaping.
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

/// Build option with its value, which may be a separate word.
struct Option {
  std::string flag{};   ///< "-I" or "-D"; empty for other options
  std::string value{};  ///< value of the option, without the flag
  std::string last{};   ///< last word of the option
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

/// Returns the value of -D in the form of the text after #define.
std::string definition_of(std::string_view word) {
  const std::size_t equals = word.find('=');
  std::string text(word.substr(0, equals));
  text += ' ';
  text += equals == std::string_view::npos ? "1" : word.substr(equals + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// True if the option may make a compiler read a file. Each part of a quoted word counts as an
/// option, because drivers split options differently.
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

Scanned scan(std::string_view text) {
  const Spliced spliced = splice(text);
  const std::string_view all = spliced.text;
  Scanned scanned;
  bool is_line_start = true;
  std::size_t at = 0;
  while (at < all.size()) {
    const char c = all[at];
    const std::size_t end = comment_end(all, at);
    if (is_space(c)) {
      is_line_start = is_line_start || c == '\n';
      ++at;
    } else if (end > at) {
      at = end;
    } else if (c == '#' && is_line_start) {
      scanned.directives.push_back(read_directive(all, at));
      scanned.directives.back().follows_code = std::exchange(scanned.ends_with_code, false);
    } else {
      is_line_start = false;
      scanned.ends_with_code = true;
      at = c == '"' || c == '\'' ? quoted_end(all, at) : at + 1;
    }
  }
  scanned.is_open = at > all.size() || ends_open(text);
  restore_positions(text, spliced, scanned);
  return scanned;
}

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
