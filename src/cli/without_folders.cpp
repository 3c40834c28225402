// SPDX-License-Identifier: Apache-2.0
#include "cli/without_folders.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/flags.hpp"
#include "text/secrets.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array device_flags{std::string_view("device"), std::string_view("b-device")};
constexpr std::array variable_flags{std::string_view("a-env"), std::string_view("b-env")};

std::string file_name(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string_view::npos) return std::string(path.substr(0, 1));
  path = path.substr(0, end + 1);
  return std::string(path.substr(path.rfind('/') + 1));
}

/// "0,sim:/home/me/x.json": a list of words, of which some are files behind a prefix.
std::string device_words(std::string_view value) {
  // Everything behind it is one name, also a comma.
  constexpr std::string_view recorded = "recorded:";
  constexpr std::string_view simulated = "sim:";
  if (value.starts_with(recorded)) {
    return std::string(recorded) + file_name(value.substr(recorded.size()));
  }
  std::string shown;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view word = value.substr(begin, end - begin);
    if (begin > 0) shown += ',';
    shown += word.starts_with(simulated)
                 ? std::string(simulated) + file_name(word.substr(simulated.size()))
                 : std::string(word);
    begin = end + 1;
  }
  return shown;
}

/// The value of a flag; a null one is a probe's option, or none at all.
std::string value_without_folders(const Flag* flag, std::string_view value) {
  const auto is_one_of = [flag](const auto& names) {
    return flag != nullptr && std::find(names.begin(), names.end(), flag->name) != names.end();
  };
  if (is_one_of(device_flags)) return device_words(value);
  if (is_one_of(variable_flags)) return variable_without_folders(value);
  const bool may_be_file = flag == nullptr || flag->kind == ValueKind::file;
  return may_be_file ? file_name(value) : std::string(value);
}

const Flag* find_short_flag(char letter) {
  const std::span<const Flag> flags = all_flags();
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const Flag& each) { return each.short_name == letter; });
  return found == flags.end() ? nullptr : &*found;
}

/// What one word of the command line is: how much of it comes before a value, and whose value.
struct Parts {
  std::size_t value_at{0};
  const Flag* flag{nullptr};
  bool value_follows{false};  ///< in the next word
};

Parts parts_of_long(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::size_t end = std::min(equals, word.size());
  Parts parts{.value_at = word.size(), .flag = find_flag(word.substr(2, end - 2))};
  if (equals != std::string_view::npos) {
    parts.value_at = equals + 1;
  } else {
    parts.value_follows = parts.flag == nullptr || parts.flag->kind != ValueKind::none;
  }
  return parts;
}

/// "-v", "-oFILE", "-o=FILE", "-vqoFILE".
Parts parts_of_short(std::string_view word) {
  for (std::size_t i = 1; i < word.size(); ++i) {
    const Flag* const flag = find_short_flag(word[i]);
    if (flag == nullptr) break;
    if (flag->kind == ValueKind::none) continue;
    const bool has_equals = i + 1 < word.size() && word[i + 1] == '=';
    return {i + (has_equals ? 2 : 1), flag, i + 1 == word.size()};
  }
  return {.value_at = word.size()};
}

Parts parts_of(std::string_view word) {
  if (word.starts_with("--")) return parts_of_long(word);
  if (word.size() > 1 && word.front() == '-') return parts_of_short(word);
  return {};
}

}  // namespace

std::string variable_without_folders(std::string_view given) {
  const std::string variable = without_secrets({std::string(given)}).front();
  const std::size_t equals = variable.find('=');
  if (equals == std::string_view::npos) return file_name(variable);
  const std::string value = variable.substr(equals + 1);
  const bool is_path = value.find('/') != std::string::npos;
  return variable.substr(0, equals + 1) + (is_path ? file_name(value) : value);
}

std::vector<std::string> app_without_folders(std::span<const std::string> words,
                                             bool with_secrets) {
  std::vector<std::string> shown(words.begin(), words.end());
  if (!with_secrets) shown = without_secrets(shown);
  for (std::string& each : shown) {
    const std::size_t equals = each.find('=');
    const std::size_t start = equals < each.find('/') ? equals + 1 : 0;
    each = each.substr(0, start) + file_name(std::string_view(each).substr(start));
  }
  return shown;
}

std::vector<std::string> without_folders(const std::vector<std::string>& arguments) {
  std::vector<std::string> shown;
  bool with_secrets = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    with_secrets = with_secrets || word == "--with-secrets";
    if (word == "--") {
      shown.emplace_back(word);
      const std::vector<std::string> app =
          app_without_folders(std::span(arguments).subspan(i + 1), with_secrets);
      shown.insert(shown.end(), app.begin(), app.end());
      break;
    }
    const Parts parts = parts_of(word);
    shown.emplace_back(word.substr(0, parts.value_at));
    if (parts.value_at < word.size()) {
      shown.back() += value_without_folders(parts.flag, word.substr(parts.value_at));
    }
    if (parts.value_follows && i + 1 < arguments.size()) {
      shown.push_back(value_without_folders(parts.flag, arguments[++i]));
    }
  }
  return shown;
}

}  // namespace clprobe::cli
