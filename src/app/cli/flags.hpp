// SPDX-License-Identifier: Apache-2.0
// The table of commands and flags. Parsing, --help, the man page and completion are made from it,
// so that they cannot disagree.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/options.hpp"

namespace clprobe::cli {

/// Kind of a flag's value, which decides how it is checked and completed.
enum class ValueKind {
  none,
  text,
  variable,  ///< "NAME=VALUE"
  choice,    ///< one of `choices`
  choices,   ///< a comma list of them
  devices,   ///< a comma list of devices, as --device has
  series,    ///< a comma list of the series of all probes
  file,
};

/// The headings of --help and the man page, in their order. Hidden flags are for clprobe itself.
enum class Category {
  selection,
  effort,
  comparing,
  profiling,
  importing,
  results,
  about,
  of_probe,
  hidden
};

inline constexpr std::array visible_categories{
    Category::selection, Category::effort,  Category::comparing, Category::profiling,
    Category::importing, Category::results, Category::about};

struct Flag {
  std::string_view name{};        ///< without the dashes
  char short_name{'\0'};          ///< '\0': none
  std::string_view value_name{};  ///< "SEL"; empty for ValueKind::none
  ValueKind kind{ValueKind::none};
  Category category{Category::hidden};
  unsigned commands{0};        ///< set of `bit(Command)`: the commands that take it
  std::string_view summary{};  ///< for --help: no capital, no full stop
  std::string_view details{};  ///< for the man page: sentences, `code` in backquotes
  std::span<const std::string_view> choices{};
  bool is_repeatable{false};
  /// Stores the value, which is empty for ValueKind::none and one of `choices` where there are any.
  /// Throws UsageError without the flag's name. Null for a probe's option.
  void (*update)(Options&, std::string_view value){nullptr};
  const ValueSpec* spec{nullptr};  ///< of a probe's option: how its value is read
};

/// The options that a probe declares, and --series if the probe has series.
struct ProbeFlags {
  explicit ProbeFlags(const Probe& of);
  ProbeFlags(const ProbeFlags&) = delete;
  ProbeFlags& operator=(const ProbeFlags&) = delete;
  ProbeFlags(ProbeFlags&&) = default;
  ProbeFlags& operator=(ProbeFlags&&) = default;
  ~ProbeFlags() = default;

  const Probe* probe;
  std::vector<std::string_view> series_names{};
  std::vector<Option> options;
  std::vector<Flag> flags{};  ///< one per option, in the same order

  [[nodiscard]] const Flag* find(std::string_view name) const;
};

std::vector<ProbeFlags> flags_of(std::span<const Probe* const> probes);

struct CommandRow {
  std::string_view word{};  ///< empty for measuring, which needs none; "compare --live" has two
  std::string_view arguments{};
  Command command{Command::measure};
  std::string_view summary{};
  std::string_view details{};
};

constexpr unsigned bit(Command command) { return 1U << static_cast<unsigned>(command); }

std::span<const Flag> all_flags();
std::span<const CommandRow> all_commands();
/// The row of that word, or null; measuring has none.
const CommandRow* find_command(std::string_view word);
/// Returns whether the command is typed as one word.
bool is_one_word(const CommandRow& row);
std::string_view title_of(Category category);

/// The flag of that long name or letter, or null.
const Flag* find_flag(std::string_view name);
const Flag* find_flag(char letter);

/// All flags that are not hidden.
std::vector<Flag> visible_flags();

/// Words in a sentence: "a, b or c".
std::string join_choices(std::span<const std::string_view> choices);

/// Flags with their values and the other words, in the order in which they were typed.
struct Typed {
  std::vector<std::pair<const Flag*, std::string>> flags{};
  std::vector<std::string> words{};
};

/// "unknown KIND 'WORD': did you mean 'NEAREST'? ADVICE"
UsageError unknown_word(std::string_view kind, std::string_view word,
                        const std::vector<std::string_view>& candidates, std::string_view advice);

/// Settles command, words and outputs once all flags have been stored. Throws UsageError for what
/// contradicts itself or would be ignored.
void resolve(Options& options, const Typed& typed, const std::vector<std::string_view>& probes);

}  // namespace clprobe::cli
