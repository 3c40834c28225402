// SPDX-License-Identifier: Apache-2.0
#include "app/cli/without_folders.hpp"

#include <algorithm>
#include <string_view>

#include "app/cli/flags.hpp"
#include "app/cli/values.hpp"
#include "text/api/secrets.hpp"

namespace clprobe::cli {
namespace {

std::string file_name(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string_view::npos) return std::string(path.substr(0, 1));
  path = path.substr(0, end + 1);
  return std::string(path.substr(path.rfind('/') + 1));
}

/// Returns the value of --device without the folders of machine files: "0,sim:x.json" for
/// "0,sim:/home/me/x.json".
std::string device_words(std::string_view value) {
  constexpr std::string_view simulated = "sim:";
  std::string shown;
  for (const std::string_view word : split_list(value)) {
    if (word.data() != value.data()) shown += ',';
    shown += word.starts_with(simulated)
                 ? std::string(simulated) + file_name(word.substr(simulated.size()))
                 : std::string(word);
  }
  return shown;
}

/// Returns the value of a flag without folders. `flag` is null for the value of a probe's option
/// and for a plain word.
std::string value_without_folders(const Flag* flag, std::string_view value) {
  switch (flag == nullptr ? ValueKind::file : flag->kind) {
    case ValueKind::devices:
      return device_words(value);
    case ValueKind::variable:
      return variable_without_folders(value);
    case ValueKind::file:
      return file_name(value);
    default:
      return std::string(value);
  }
}

/// Position of the value in a command-line word, and the flag that has the value.
struct Parts {
  std::size_t value_at{0};
  const Flag* flag{nullptr};
  bool value_follows{false};  ///< true: the value is the next word
};

Parts parts_of(std::string_view word) {
  if (word.starts_with("--")) {
    const std::size_t end = std::min(word.find('='), word.size());
    const Flag* const flag = find_flag(word.substr(2, end - 2));
    if (end < word.size()) return {end + 1, flag, false};
    return {end, flag, flag == nullptr || flag->kind != ValueKind::none};
  }
  if (word.size() < 2 || word.front() != '-') return {};
  // Searches the word's letters for the first flag with a value: "-v" has none, "-oFILE", "-o=FILE"
  // and "-vqoFILE" have -o.
  for (std::size_t i = 1; i < word.size(); ++i) {
    const Flag* const flag = find_flag(word[i]);
    if (flag == nullptr) break;
    if (flag->kind == ValueKind::none) continue;
    return {i + (word.substr(i + 1).starts_with('=') ? 2 : 1), flag, i + 1 == word.size()};
  }
  return {.value_at = word.size()};
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
