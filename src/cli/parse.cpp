// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cxxopts.hpp>

#include "cli/flags.hpp"
#include "cli/resolve.hpp"
#include "cli/values.hpp"
#include "text/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::string_view help_advice = "`clprobe --help` shows all flags";

/// cxxopts matches each word with std::regex, whose recursion overflows the stack on very long
/// ones.
void check_lengths(const std::vector<std::string>& arguments) {
  constexpr std::size_t most_bytes = 4096;  // as long as a path may be
  for (const std::string& argument : arguments) {
    if (argument.size() <= most_bytes) continue;
    throw UsageError(fmt::format("{} has {} bytes: write at most {}", quote(argument),
                                 argument.size(), most_bytes));
  }
}

cxxopts::Options make_parser() {
  cxxopts::Options parser("clprobe");
  auto add = parser.add_options();
  for (const Flag& flag : all_flags()) {
    // Text, whatever the flag: the table's functions know better than cxxopts what they read.
    auto value = cxxopts::value<std::string>();
    if (flag.kind == ValueKind::none) value->implicit_value("");
    const std::string name(flag.name);
    add(flag.short_name == '\0' ? name : fmt::format("{},{}", flag.short_name, name), "", value);
  }
  return parser;
}

/// The name that cxxopts quotes in a message; it offers it in no other way.
std::string quoted_part(std::string_view message) {
  const std::size_t begin = message.find(cxxopts::LQUOTE);
  const std::size_t end = message.rfind(cxxopts::RQUOTE);
  if (begin == std::string_view::npos || end == std::string_view::npos || end <= begin) return "";
  const std::size_t name = begin + cxxopts::LQUOTE.size();
  return std::string(message.substr(name, end - name));
}

/// `name` as cxxopts tells it: one letter of a group of short flags, a long name, or a whole word.
UsageError unknown_flag(const std::string& name, const std::vector<std::string>& arguments) {
  std::string typed = name.size() == 1 ? "-" + name : "--" + name;
  if (name.starts_with('-')) typed = name;
  if (name.size() == 1) {
    // "-json" is read as the flags j, s, o and n; what was meant is seen in the whole word.
    const auto group = std::find_if(arguments.begin(), arguments.end(), [&](const auto& each) {
      return each.size() > 2 && each[0] == '-' && each[1] != '-' &&
             each.find(name) != std::string::npos;
    });
    if (group != arguments.end()) typed = *group;
  }
  const std::size_t name_end = typed.find('=');
  const std::string flag = typed.substr(0, name_end);
  for (const CommandRow& row : all_commands()) {
    if (!row.word.empty() && flag == fmt::format("--{}", row.word)) {
      return UsageError(fmt::format("unknown flag {}: write `clprobe {}`", quote(flag), row.word));
    }
  }
  std::vector<std::string_view> names;
  for (const Flag& each : visible_flags()) names.push_back(each.name);
  const std::optional<std::string_view> meant = nearest(flag, names);
  const std::string guess = meant ? fmt::format("did you mean '--{}'? ", *meant) : std::string();
  return UsageError(fmt::format("unknown flag {}: {}{}", quote(flag), guess, help_advice));
}

/// The flag that `word` names: "--json", "--format=csv", "-v"; or null.
const Flag* flag_of_word(std::string_view word) {
  if (word.starts_with("--")) return find_flag(word.substr(2, word.find('=') - 2));
  const std::span<const Flag> flags = all_flags();
  const auto found = std::find_if(flags.begin(), flags.end(), [word](const Flag& each) {
    return word.size() == 2 && word[0] == '-' && word[1] == each.short_name;
  });
  return found == flags.end() ? nullptr : &*found;
}

UsageError missing_value(const Flag& flag) {
  return UsageError(
      fmt::format("--{} needs a value: write --{} {}", flag.name, flag.name, flag.value_name));
}

Typed read_words(const std::vector<std::string>& arguments) {
  std::vector<const char*> words{"clprobe"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  cxxopts::Options parser = make_parser();
  Typed typed;
  try {
    const cxxopts::ParseResult result = parser.parse(static_cast<int>(words.size()), words.data());
    for (const cxxopts::KeyValue& each : result.arguments()) {
      typed.flags.emplace_back(find_flag(each.key()), each.value());
    }
    typed.words = result.unmatched();
  } catch (const cxxopts::exceptions::no_such_option& error) {
    throw unknown_flag(quoted_part(error.what()), arguments);
  } catch (const cxxopts::exceptions::invalid_option_syntax& error) {
    throw unknown_flag(quoted_part(error.what()), arguments);
  } catch (const cxxopts::exceptions::missing_argument& error) {
    const std::string name = quoted_part(error.what());
    const Flag* const flag = flag_of_word(name.size() == 1 ? "-" + name : "--" + name);
    if (flag != nullptr) throw missing_value(*flag);
    throw UsageError(fmt::format("{}: {}", quote(error.what()), help_advice));
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(fmt::format("{}: {}", quote(error.what()), help_advice));
  }
  return typed;
}

void check_value(const Flag& flag, const std::string& value) {
  if (flag.kind == ValueKind::none) {
    if (value.empty()) return;
    throw UsageError(
        fmt::format("--{} takes no value: leave out {}", flag.name, quote("=" + value)));
  }
  // "--device --json" forgot a word; it asks for no device of that name.
  if (flag_of_word(value) != nullptr) throw missing_value(flag);
  if (flag.kind != ValueKind::choice && flag.kind != ValueKind::choices) return;
  const bool is_list = flag.kind == ValueKind::choices;
  for (const std::string_view word :
       is_list ? split_list(value) : std::vector<std::string_view>{value}) {
    if (std::find(flag.choices.begin(), flag.choices.end(), word) != flag.choices.end()) continue;
    throw unknown_word(fmt::format("word after --{}", flag.name), word,
                       {flag.choices.begin(), flag.choices.end()},
                       "choose " + join_choices(flag.choices));
  }
}

void apply(Options& options, const Typed& typed) {
  std::vector<const Flag*> seen;
  for (const auto& [flag, value] : typed.flags) {
    const bool is_repeated = std::find(seen.begin(), seen.end(), flag) != seen.end();
    seen.push_back(flag);
    // A flag without a value means the same however often it is typed.
    if (is_repeated && !flag->is_repeatable && flag->kind != ValueKind::none) {
      throw UsageError(fmt::format("--{} is given twice: leave one out", flag->name));
    }
    check_value(*flag, value);
    try {
      flag->update(options, value);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--{}: {}", flag->name, error.what()));
    }
  }
}

}  // namespace

Options parse(const std::vector<std::string>& arguments,
              const std::vector<std::string_view>& probes) {
  check_lengths(arguments);
  const Typed typed = read_words(arguments);
  Options options;
  apply(options, typed);
  check_contradictions(typed);
  resolve(options, typed, probes);
  return options;
}

}  // namespace clprobe::cli
