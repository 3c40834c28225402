// SPDX-License-Identifier: Apache-2.0
#include "cli/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "text/text.hpp"

namespace clprobe::cli {
namespace {

using Probes = std::span<const ProbeFlags>;

bool is_option(std::string_view argument) { return argument.size() > 1 && argument[0] == '-'; }

std::string_view name_in(std::string_view argument) {
  return argument.substr(2, argument.find('=') - 2);
}

const Flag* find_short(char letter) {
  const std::span<const Flag> flags = all_flags();
  const auto found = std::find_if(flags.begin(), flags.end(), [letter](const Flag& each) {
    return letter != '\0' && each.short_name == letter;
  });
  return found == flags.end() ? nullptr : &*found;
}

std::vector<std::string_view> owners_of(std::string_view name, Probes probes) {
  std::vector<std::string_view> owners;
  for (const ProbeFlags& each : probes) {
    if (each.find(name) != nullptr) owners.push_back(each.probe->id);
  }
  return owners;
}

/// What other benchmarks call the number of repetitions.
constexpr std::array<std::string_view, 7> repetitions{
    "-n", "--iterations", "--iters", "--repeat", "--runs", "--repetitions", "--samples"};

/// The only one of the names that begins with what was typed, if there is one.
std::optional<std::string_view> completed(std::string_view typed, const ProbeFlags* of) {
  std::optional<std::string_view> found;
  if (of == nullptr || !typed.starts_with("--")) return found;
  for (const Flag& each : of->flags) {
    if (!each.name.starts_with(typed.substr(2))) continue;
    if (found) return std::nullopt;
    found = each.name;
  }
  return found;
}

UsageError unknown_option(std::string_view argument, Probes probes,
                          const ProbeFlags* of = nullptr) {
  const std::string_view typed = argument.substr(0, argument.find('='));
  if (std::find(repetitions.begin(), repetitions.end(), typed) != repetitions.end()) {
    return UsageError(
        fmt::format("unknown option {}: clprobe repeats until the interval is narrow enough; use "
                    "--thorough or --time-budget TIME to measure longer",
                    quote(typed)));
  }
  if (typed == "-l") return UsageError("unknown option '-l': write `clprobe list`");
  for (const CommandRow& row : all_commands()) {
    if (!row.word.empty() && typed == fmt::format("--{}", row.word)) {
      return UsageError(
          fmt::format("unknown option {}: write `clprobe {}`", quote(typed), row.word));
    }
  }
  std::vector<std::string_view> names;
  for (const Flag& each : visible_flags()) names.push_back(each.name);
  for (const ProbeFlags& probe : probes) {
    for (const Flag& each : probe.flags) names.push_back(each.name);
  }
  std::optional<std::string_view> meant = completed(typed, of);
  if (!meant) meant = nearest(typed, names);
  const std::string guess = meant ? fmt::format("did you mean '--{}'? ", *meant) : std::string();
  return UsageError(
      fmt::format("unknown option {}: {}`clprobe help` and `clprobe help PROBE` list them",
                  quote(typed), guess));
}

/// "--grid belongs to stride: write it after `stride`".
UsageError belongs_elsewhere(std::string_view name, std::span<const std::string_view> owners) {
  return UsageError(fmt::format("--{} belongs to {}: write it after {}`{}`", name,
                                join_choices(owners),
                                owners.size() == 1 ? "" : "one of them, as in ", owners.front()));
}

/// Whether the argument behind this option is its value.
bool takes_next(std::string_view argument, Probes probes) {
  if (!argument.starts_with("--")) {
    for (std::size_t i = 1; i < argument.size(); ++i) {
      const Flag* const flag = find_short(argument[i]);
      if (flag == nullptr) throw unknown_option(argument, probes);
      if (flag->kind != ValueKind::none) return i + 1 == argument.size();
    }
    return false;
  }
  if (argument.find('=') != std::string_view::npos) return false;
  const Flag* const flag = find_flag(name_in(argument));
  return flag == nullptr ? !owners_of(name_in(argument), probes).empty()
                         : flag->kind != ValueKind::none;
}

/// Words and options apart, and of each option how many probes' words stand before it.
struct Apart {
  struct Typed {
    std::size_t after{0};  ///< words
    std::string argument{};
    std::optional<std::string> value{};
  };
  std::vector<std::string> words{};
  std::vector<Typed> options{};
  std::size_t first_side{0};       ///< words before the `--` that parts the sides of `compare`
  std::vector<std::string> app{};  ///< behind the `--` of `profile`
};

bool profiles(const Apart& apart) {
  return !apart.words.empty() && apart.words.front() == "profile";
}

/// Between files of `compare` a `--` parts the two sides, and options may follow it as elsewhere.
bool parts_sides(const Apart& apart) {
  return apart.first_side == 0 && apart.words.size() > 1 && apart.words.front() == "compare";
}

Apart take_apart(const std::vector<std::string>& arguments, Probes probes) {
  Apart apart;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--" && parts_sides(apart)) {
      apart.first_side = apart.words.size();
      continue;
    }
    if (argument == "--" && profiles(apart)) {
      apart.app.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument == "--") {
      apart.words.insert(apart.words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         arguments.end());
      break;
    }
    if (!is_option(argument)) {
      apart.words.push_back(argument);
      continue;
    }
    Apart::Typed typed{apart.words.size(), argument, std::nullopt};
    if (takes_next(argument, probes) && i + 1 < arguments.size()) typed.value = arguments[++i];
    apart.options.push_back(std::move(typed));
  }
  return apart;
}

/// `compare --live` has probes and their options, as measuring has.
bool compares_live(const Apart& apart) {
  return !apart.words.empty() && apart.words.front() == "compare" &&
         std::any_of(apart.options.begin(), apart.options.end(),
                     [](const Apart::Typed& each) { return each.argument == "--live"; });
}

const ProbeFlags* find_probe_flags(std::string_view word, Probes probes) {
  const auto found = std::find_if(probes.begin(), probes.end(), [word](const ProbeFlags& each) {
    return each.probe->id == word;
  });
  return found == probes.end() ? nullptr : &*found;
}

bool is_command(std::string_view word) {
  const std::span<const CommandRow> rows = all_commands();
  return std::any_of(rows.begin(), rows.end(), [word](const CommandRow& each) {
    return !each.word.empty() && each.word == word;
  });
}

/// The only probe among the words; null where there are none or several.
const ProbeFlags* only_probe(const std::vector<std::string>& words, Probes probes) {
  const ProbeFlags* only = nullptr;
  for (const std::string& word : words) {
    const ProbeFlags* const probe = find_probe_flags(word, probes);
    if (probe == nullptr || probe == only) continue;
    if (only != nullptr) return nullptr;
    only = probe;
  }
  return only;
}

/// Throws where neither the segment's probe nor clprobe itself has the option. A command's flag of
/// the same name is no reason to let it pass where probes are measured.
void check_place(std::string_view argument, const Segment& segment, std::string_view command,
                 Probes probes) {
  if (!argument.starts_with("--")) return;
  const std::string_view name = name_in(argument);
  if (segment.probe != nullptr && segment.probe->find(name) != nullptr) return;
  const std::vector<std::string_view> owners = owners_of(name, probes);
  const Flag* const global = find_flag(name);
  if (global != nullptr) {
    const bool is_of_measuring = (global->commands & bit(Command::measure)) != 0;
    if (!command.empty() || is_of_measuring || owners.empty()) return;
  }
  if (owners.empty()) throw unknown_option(argument, probes, segment.probe);
  if (!command.empty()) {
    throw UsageError(fmt::format("--{} does not apply to {}: leave it out", name, command));
  }
  throw belongs_elsewhere(name, owners);
}

}  // namespace

Scan scan(const std::vector<std::string>& arguments, std::span<const ProbeFlags> probes) {
  Apart apart = take_apart(arguments, probes);
  const bool measures =
      apart.words.empty() || !is_command(apart.words.front()) || compares_live(apart);
  const std::string command = measures ? std::string() : apart.words.front();
  const ProbeFlags* const only = measures ? only_probe(apart.words, probes) : nullptr;
  Scan result;
  result.segments.push_back({only, {}});
  std::size_t next = 0;
  const auto take_options = [&](std::size_t words) {
    for (; next < apart.options.size() && apart.options[next].after <= words; ++next) {
      Apart::Typed& typed = apart.options[next];
      Segment& segment = result.segments.back();
      check_place(typed.argument, segment, command, probes);
      segment.options.push_back(std::move(typed.argument));
      if (typed.value) segment.options.push_back(std::move(*typed.value));
    }
  };
  take_options(0);
  for (std::size_t i = 0; i < apart.words.size(); ++i) {
    const ProbeFlags* const probe = measures ? find_probe_flags(apart.words[i], probes) : nullptr;
    if (probe != nullptr) result.segments.push_back({probe, {}});
    take_options(i + 1);
  }
  result.first_side = apart.first_side;
  result.app = std::move(apart.app);
  result.words = std::move(apart.words);
  return result;
}

}  // namespace clprobe::cli
