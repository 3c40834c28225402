// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cxxopts.hpp>
#include <iterator>
#include <set>
#include <variant>

#include "app/cli/flags.hpp"
#include "app/cli/values.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

using Probes = std::span<const ProbeFlags>;
using Words = std::vector<std::string>;

constexpr std::string_view help_advice = "`clprobe help` and `clprobe help PROBE` list the options";

// Name of the option under which cxxopts stores words that belong to no option.
constexpr const char* word_name = "probe-command-or-file";

struct Item {
  std::string name{};
  std::string value{};

  [[nodiscard]] bool is_word() const { return name == word_name; }
};

struct Line {
  std::vector<Item> items{};
  std::size_t first_side{0};  ///< number of words up to `--`, including `compare`; 0: no `--`
  Words app{};                ///< words after the `--` of `profile -- PROGRAM...`

  [[nodiscard]] Words words() const {
    Words words;
    for (const Item& each : items) {
      if (each.is_word()) words.push_back(each.value);
    }
    return words;
  }
};

const ProbeFlags* find_probe_flags(std::string_view word, Probes probes) {
  const auto found = std::ranges::find_if(
      probes, [word](const ProbeFlags& each) { return each.probe->id == word; });
  return found == probes.end() ? nullptr : &*found;
}

/// Flags by which other benchmarks set the number of repetitions.
constexpr std::array<std::string_view, 7> repetitions{
    "-n", "--iterations", "--iters", "--repeat", "--runs", "--repetitions", "--samples"};

/// Returns the option that begins with `typed`, among the options of the probes named in
/// `arguments`; nothing unless exactly one option does.
std::optional<std::string_view> completed(std::string_view typed, const Words& arguments,
                                          Probes probes) {
  std::set<std::string_view> found;
  for (const std::string& argument : arguments) {
    const ProbeFlags* const probe = find_probe_flags(argument, probes);
    if (probe == nullptr || !typed.starts_with("--")) continue;
    for (const Flag& each : probe->flags) {
      if (each.name.starts_with(typed.substr(2))) found.insert(each.name);
    }
  }
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

UsageError unknown_option(std::string_view argument, const Words& arguments, Probes probes) {
  const std::string_view typed = argument.substr(0, argument.find('='));
  if (contains(repetitions, typed)) {
    return UsageError(
        fmt::format("unknown option {}: clprobe repeats a measurement until its interval is narrow "
                    "enough; use --thorough or --time-budget TIME to measure longer",
                    quote(typed)));
  }
  if (typed == "-l") return UsageError("unknown option '-l': use `clprobe list`");
  if (typed.starts_with("--") && find_command(typed.substr(2)) != nullptr) {
    return UsageError(
        fmt::format("unknown option {}: use `clprobe {}`", quote(typed), typed.substr(2)));
  }
  std::optional<std::string_view> meant = completed(typed, arguments, probes);
  if (!meant) {
    std::vector<std::string_view> names;
    for (const Flag& each : visible_flags()) names.push_back(each.name);
    for (const ProbeFlags& probe : probes) {
      for (const Flag& each : probe.flags) names.push_back(each.name);
    }
    meant = nearest(typed, names);
  }
  const std::string guess = meant ? fmt::format("did you mean '--{}'? ", *meant) : std::string();
  return UsageError(fmt::format("unknown option {}: {}{}", quote(typed), guess, help_advice));
}

UsageError missing_value(const Flag& flag) {
  return UsageError(
      fmt::format("--{} needs a value: write --{} {}", flag.name, flag.name, flag.value_name));
}

/// Reader of the command line, based on cxxopts. Values of options stay texts. If several probes
/// have an option of the same name, the option is registered once.
class LineReader {
 public:
  explicit LineReader(Probes probes) : probes_(probes) {
    add(all_flags());
    for (const ProbeFlags& probe : probes) add(probe.flags);
    parser_.add_options()(word_name, "", cxxopts::value<Words>());
    parser_.parse_positional(word_name);
  }

  /// Returns the words and options in the order typed. Throws UsageError for an unknown option or a
  /// missing value.
  std::vector<Item> read(const Words& arguments) {
    check_lengths(arguments);
    std::vector<const char*> typed{"clprobe"};
    for (const std::string& each : arguments) typed.push_back(each.c_str());
    std::vector<Item> items;
    try {
      const auto result = parser_.parse(static_cast<int>(typed.size()), typed.data());
      for (const cxxopts::KeyValue& each : result.arguments()) {
        items.push_back({each.key(), each.value()});
      }
    } catch (const cxxopts::exceptions::exception&) {
      throw explain_refusal(arguments);
    }
    return items;
  }

 private:
  void add(std::span<const Flag> flags) {
    for (const Flag& flag : flags) {
      if (!names_.insert(flag.name).second) continue;
      auto value = cxxopts::value<std::string>();
      if (flag.kind == ValueKind::none) value->implicit_value("");
      std::string name(flag.name);
      if (flag.short_name != '\0') name = fmt::format("{},{}", flag.short_name, name);
      parser_.add_options()(name, "", value);
    }
  }

  /// Throws UsageError for a word of more than 4096 bytes: cxxopts matches each word with
  /// std::regex, which would overflow the stack.
  static void check_lengths(const Words& arguments) {
    constexpr std::size_t max_bytes = 4096;  // maximum length of a path
    for (const std::string& each : arguments) {
      if (each.size() <= max_bytes) continue;
      throw UsageError(
          fmt::format("{} has {} bytes: write at most {}", quote(each), each.size(), max_bytes));
    }
  }

  [[nodiscard]] bool accepts(const std::string& argument) {
    const std::array<const char*, 3> typed{"clprobe", argument.c_str(), "value"};
    try {
      parser_.parse(static_cast<int>(typed.size()), typed.data());
    } catch (const cxxopts::exceptions::exception&) {
      return false;
    }
    return true;
  }

  /// Returns the error for a line that cxxopts refuses. If cxxopts refuses an argument even with a
  /// value after it, that argument is unknown; otherwise the last argument lacks its value.
  UsageError explain_refusal(const Words& arguments) {
    for (const std::string& each : arguments) {
      if (each == "--") break;
      if (!accepts(each)) return unknown_option(each, arguments, probes_);
    }
    const std::string& last = arguments.back();
    const Flag* flag = last.starts_with("--") ? find_flag(last.substr(2)) : find_flag(last.back());
    for (const ProbeFlags& probe : probes_) {
      if (flag == nullptr && last.starts_with("--")) flag = probe.find(last.substr(2));
    }
    if (flag != nullptr) return missing_value(*flag);
    return UsageError(fmt::format("{} needs a value: {}", quote(last), help_advice));
  }

  Probes probes_;
  cxxopts::Options parser_{"clprobe"};
  std::set<std::string_view> names_{};
};

/// Reads the command line. After the first `--`, `profile` has a program with arguments, and
/// `compare` has the files of the new runs and possibly options. For other commands, everything
/// after `--` is plain words.
Line read_line(const Words& arguments, Probes probes) {
  LineReader reader(probes);
  Line line;
  const auto dashes = std::ranges::find(arguments, "--");
  line.items = reader.read({arguments.begin(), dashes});
  if (dashes == arguments.end()) return line;
  const Words before = line.words();
  const Words after(dashes + 1, arguments.end());
  if (!before.empty() && before.front() == "profile") {
    line.app = after;
  } else if (before.size() > 1 && before.front() == "compare") {
    line.first_side = before.size();
    std::vector<Item> items = reader.read(after);
    std::move(items.begin(), items.end(), std::back_inserter(line.items));
  } else {
    for (const std::string& word : after) line.items.push_back({word_name, word});
  }
  return line;
}

const ProbeFlags* only_probe(const Words& words, Probes probes) {
  const ProbeFlags* only = nullptr;
  for (const std::string& word : words) {
    const ProbeFlags* const probe = find_probe_flags(word, probes);
    if (probe == nullptr || probe == only) continue;
    if (only != nullptr) return nullptr;
    only = probe;
  }
  return only;
}

/// Returns the error for an option at a wrong position: "--grid belongs to stride: write it after
/// `stride`".
UsageError belongs_elsewhere(std::string_view name, std::span<const std::string_view> owners) {
  return UsageError(fmt::format("--{} belongs to {}: write it after {}`{}`", name,
                                join_choices(owners),
                                owners.size() == 1 ? "" : "one of them, as in ", owners.front()));
}

/// Returns the global flag `name`. `command` is empty if the command line measures. Throws
/// UsageError if only options of probes apply. If the command line measures, a flag of other
/// commands does not count when a probe has an option of the same name.
const Flag& find_own_flag(std::string_view name, std::string_view command, Probes probes) {
  std::vector<std::string_view> owners;
  for (const ProbeFlags& each : probes) {
    if (each.find(name) != nullptr) owners.push_back(each.probe->id);
  }
  const Flag* const flag = find_flag(name);
  const bool is_of_measuring = flag != nullptr && (flag->commands & bit(Command::measure)) != 0;
  const bool counts = !command.empty() || is_of_measuring || owners.empty();
  if (flag != nullptr && counts) return *flag;
  if (command.empty()) throw belongs_elsewhere(name, owners);
  throw UsageError(fmt::format("--{} does not apply to {}: leave it out", name, command));
}

/// Returns true for a global flag such as "--json", "--format=csv" or "-v".
bool is_flag(std::string_view word) {
  if (word.starts_with("--")) return find_flag(word.substr(2, word.find('=') - 2)) != nullptr;
  return word.size() == 2 && word[0] == '-' && find_flag(word[1]) != nullptr;
}

void check_value(const Flag& flag, const std::string& value) {
  if (flag.kind == ValueKind::none) {
    if (value.empty()) return;
    throw UsageError(
        fmt::format("--{} takes no value: leave out {}", flag.name, quote("=" + value)));
  }
  // In "--device --json", the flag --device lacks its value: a flag is never taken as a value.
  if (value.empty() || is_flag(value)) throw missing_value(flag);
  if (flag.kind != ValueKind::choice && flag.kind != ValueKind::choices) return;
  const bool is_list = flag.kind == ValueKind::choices;
  for (const std::string_view word :
       is_list ? split_list(value) : std::vector<std::string_view>{value}) {
    if (contains(flag.choices, word)) continue;
    const UsageError problem =
        unknown_word("value", word, {flag.choices.begin(), flag.choices.end()},
                     "choose " + join_choices(flag.choices));
    throw UsageError(fmt::format("--{}: {}", flag.name, problem.what()));
  }
}

void update_probe(ProbeOptions& options_of_probe, const Flag& flag, const std::string& value) {
  OptionValue read = read_value(*flag.spec, value);
  if (flag.name == series_option) {
    options_of_probe.series = std::get<Words>(std::move(read));
  } else {
    options_of_probe.own.set(flag.name, std::move(read));
  }
}

/// Stores the values of all flags and options, and returns the words and global flags. If several
/// probes are named, an option of a probe must follow the probe's name.
Typed apply(Options& options, const Line& line, Probes probes) {
  Typed typed{.words = line.words()};
  const bool is_live =
      std::ranges::any_of(line.items, [](const Item& each) { return each.name == "live"; });
  const Words& words = typed.words;
  const bool measures = words.empty() || find_command(words.front()) == nullptr ||
                        (words.front() == "compare" && is_live);
  const std::string command = measures ? std::string() : words.front();
  const ProbeFlags* probe = measures ? only_probe(words, probes) : nullptr;
  std::set<std::pair<const Flag*, const ProbeFlags*>> seen;
  for (const Item& item : line.items) {
    if (item.is_word()) {
      const ProbeFlags* const named = measures ? find_probe_flags(item.value, probes) : nullptr;
      if (named != nullptr) probe = named;
      continue;
    }
    const Flag* const own = probe == nullptr ? nullptr : probe->find(item.name);
    const Flag& flag = own != nullptr ? *own : find_own_flag(item.name, command, probes);
    const bool is_new = seen.emplace(&flag, own == nullptr ? nullptr : probe).second;
    // A flag without a value may be repeated, since the repetition has no effect.
    if (!is_new && !flag.is_repeatable && flag.kind != ValueKind::none) {
      throw UsageError(fmt::format("--{} is given twice: leave one out", flag.name));
    }
    check_value(flag, item.value);
    try {
      if (own != nullptr) {
        update_probe(options.of_probe[std::string(probe->probe->id)], flag, item.value);
      } else {
        flag.update(options, item.value);
        typed.flags.emplace_back(&flag, item.value);
      }
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--{}: {}", flag.name, error.what()));
    }
  }
  return typed;
}

}  // namespace

Options parse(const std::vector<std::string>& arguments, std::span<const Probe* const> probes) {
  Options options;
  if (!arguments.empty() && arguments.front() == completion_flag) {
    options.command = Command::complete;
    options.words.assign(arguments.begin() + 1, arguments.end());
    return options;
  }
  const std::vector<ProbeFlags> flags = flags_of(probes);
  const Line line = read_line(arguments, flags);
  const Typed typed = apply(options, line, flags);
  std::vector<std::string_view> ids;
  for (const Probe* const probe : probes) ids.push_back(probe->id);
  // `first_side` does not count the word `compare`, which resolve() removes from the words.
  if (line.first_side > 0) options.first_side = line.first_side - 1;
  options.app = line.app;
  resolve(options, typed, ids);
  return options;
}

Request request_for(const Probe& probe, const Options& options) {
  Request request{.max_memory = options.max_memory, .effort = options.effort, .seed = options.seed};
  if (probe.replays_launches) request.launches = options.launches;
  if (const auto own = options.of_probe.find(probe.id); own != options.of_probe.end()) {
    request.series = own->second.series;
    request.own = own->second.own;
  }
  for (const Option& option : probe.options) {
    if (!std::holds_alternative<TracePath>(option.value)) continue;
    std::ranges::copy_if(options.traces, std::back_inserter(request.traces),
                         [path = request.own.word(option.name)](const AskedTrace& each) {
                           return each.path == path;
                         });
  }
  return request;
}

}  // namespace clprobe::cli
