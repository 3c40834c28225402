// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cxxopts.hpp>
#include <iterator>
#include <variant>

#include "cli/flags.hpp"
#include "cli/resolve.hpp"
#include "cli/scan.hpp"
#include "cli/values.hpp"
#include "text/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::string_view help_advice = "`clprobe help` and `clprobe help PROBE` list them";

/// cxxopts matches each word with std::regex, whose recursion overflows the stack on very long
/// ones.
void check_lengths(const std::vector<std::string>& arguments) {
  constexpr std::size_t max_bytes = 4096;  // as long as a path may be
  bool profiles = false;
  for (const std::string& argument : arguments) {
    profiles = profiles || argument == "profile";
    // What follows is for the program, and goes to no parser of ours.
    if (profiles && argument == "--") return;
    if (argument.size() <= max_bytes) continue;
    throw UsageError(fmt::format("{} has {} bytes: write at most {}", quote(argument),
                                 argument.size(), max_bytes));
  }
}

/// Of clprobe's own flags and the segment's probe. All values are text: the tables know better than
/// cxxopts what they read.
cxxopts::Options make_parser(const ProbeFlags* probe) {
  cxxopts::Options parser("clprobe");
  auto add = parser.add_options();
  const auto add_all = [&](std::span<const Flag> flags) {
    for (const Flag& flag : flags) {
      auto value = cxxopts::value<std::string>();
      if (flag.kind == ValueKind::none) value->implicit_value("");
      const std::string name(flag.name);
      add(flag.short_name == '\0' ? name : fmt::format("{},{}", flag.short_name, name), "", value);
    }
  };
  if (probe != nullptr) add_all(probe->flags);
  // A probe's option hides the command's flag of the same name.
  std::vector<Flag> others;
  for (const Flag& flag : all_flags()) {
    if (probe == nullptr || probe->find(flag.name) == nullptr) others.push_back(flag);
  }
  add_all(others);
  return parser;
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

/// One segment's flags and values, in the order in which they were typed.
std::vector<std::pair<const Flag*, std::string>> read_segment(const Segment& segment) {
  std::vector<const char*> words{"clprobe"};
  for (const std::string& option : segment.options) words.push_back(option.c_str());
  const auto flag_called = [&](const std::string& name) -> const Flag* {
    if (segment.probe != nullptr) {
      for (const Flag& each : segment.probe->flags) {
        if (each.name == name) return &each;
      }
    }
    return find_flag(name);
  };
  cxxopts::Options parser = make_parser(segment.probe);
  try {
    std::vector<std::pair<const Flag*, std::string>> typed;
    const cxxopts::ParseResult result = parser.parse(static_cast<int>(words.size()), words.data());
    for (const cxxopts::KeyValue& each : result.arguments()) {
      typed.emplace_back(flag_called(each.key()), each.value());
    }
    return typed;
  } catch (const cxxopts::exceptions::missing_argument&) {
    // The last one: every other has something behind it.
    const std::string& last = segment.options.back();
    const Flag* flag = flag_of_word(last);
    if (last.starts_with("--")) flag = flag_called(last.substr(2));
    if (flag != nullptr) throw missing_value(*flag);
    throw UsageError(fmt::format("{} needs a value: {}", quote(last), help_advice));
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(fmt::format("{}: {}", quote(error.what()), help_advice));
  }
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
    const UsageError problem =
        unknown_word("value", word, {flag.choices.begin(), flag.choices.end()},
                     "choose " + join_choices(flag.choices));
    throw UsageError(fmt::format("--{}: {}", flag.name, problem.what()));
  }
}

void update_probe(ProbeOptions& asked, const Option& option, const std::string& value) {
  OptionValue read = read_value(option.value, value);
  if (option.name == series_option) {
    asked.series = std::get<std::vector<std::string>>(std::move(read));
  } else {
    asked.own.set(option.name, std::move(read));
  }
}

/// What is typed twice, within one segment's probe or among clprobe's own flags.
class Repeats {
 public:
  void check(const Flag& flag, const ProbeFlags* owner) {
    const std::pair key(&flag, owner);
    const bool is_repeated = std::find(seen_.begin(), seen_.end(), key) != seen_.end();
    seen_.push_back(key);
    // A flag without a value means the same however often it is typed.
    if (is_repeated && !flag.is_repeatable && flag.kind != ValueKind::none) {
      throw UsageError(fmt::format("--{} is given twice: leave one out", flag.name));
    }
  }

 private:
  std::vector<std::pair<const Flag*, const ProbeFlags*>> seen_{};
};

Typed apply(Options& options, const Scan& scanned) {
  Typed typed{.words = scanned.words};
  Repeats repeats;
  for (const Segment& segment : scanned.segments) {
    for (auto& [flag, value] : read_segment(segment)) {
      const Option* const own =
          segment.probe == nullptr ? nullptr : segment.probe->find(flag->name);
      repeats.check(*flag, own == nullptr ? nullptr : segment.probe);
      check_value(*flag, value);
      try {
        if (own != nullptr) {
          update_probe(options.of_probe[std::string(segment.probe->probe->id)], *own, value);
        } else {
          flag->update(options, value);
          typed.flags.emplace_back(flag, value);
        }
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("--{}: {}", flag->name, error.what()));
      }
    }
  }
  return typed;
}

}  // namespace

Options parse(const std::vector<std::string>& arguments, std::span<const Probe* const> probes) {
  check_lengths(arguments);
  const std::vector<ProbeFlags> flags = flags_of(probes);
  const Scan scanned = scan(arguments, flags);
  Options options;
  const Typed typed = apply(options, scanned);
  check_contradictions(typed);
  std::vector<std::string_view> ids;
  for (const Probe* const probe : probes) ids.push_back(probe->id);
  // Without the word `compare`.
  if (scanned.first_side > 0) options.first_side = scanned.first_side - 1;
  resolve(options, typed, ids);
  if (options.command == Command::profile) settle_profile(options, typed, scanned.app);
  if (options.command == Command::live && options.first_side > 0) {
    throw UsageError(
        "-- does not apply to compare --live: describe side B with --b-device and --b-env");
  }
  return options;
}

Request request_for(const Probe& probe, const Options& options) {
  Request request{.max_memory = options.max_memory, .effort = options.effort, .seed = options.seed};
  if (probe.replays_launches) request.launches = options.launches;
  for (const std::string_view id : {probe.id, probe.former_id_simulated}) {
    const auto asked = options.of_probe.find(id);
    if (asked == options.of_probe.end()) continue;
    request.series = asked->second.series;
    request.own = asked->second.own;
    break;
  }
  for (const Option& option : probe.options) {
    if (!std::holds_alternative<TracePath>(option.value)) continue;
    std::copy_if(options.traces.begin(), options.traces.end(), std::back_inserter(request.traces),
                 [path = request.own.word(option.name)](const AskedTrace& each) {
                   return each.path == path;
                 });
  }
  return request;
}

}  // namespace clprobe::cli
