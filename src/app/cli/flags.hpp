// SPDX-License-Identifier: Apache-2.0
// Tables of commands and flags, from which parsing, --help, the man page and completion are
// generated.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/options.hpp"

namespace clprobe::cli {

/// Kind of a flag's value, which decides how the value is checked and completed.
enum class ValueKind {
  none,
  text,
  variable,  ///< an environment variable: "NAME=VALUE"
  choice,    ///< one of `choices`
  choices,   ///< a comma list of words in `choices`
  devices,   ///< a comma list of devices
  series,    ///< a comma list of series
  file,
};

/// Headings of flags in --help and the man page, in order. `of_probe`: options of probes; `hidden`:
/// flags that only clprobe itself uses.
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
  std::string_view name{};        ///< name without the dashes
  char short_name{'\0'};          ///< letter of the short form; '\0': none
  std::string_view value_name{};  ///< name of the value, such as "FILE"; empty for ValueKind::none
  ValueKind kind{ValueKind::none};
  Category category{Category::hidden};
  unsigned commands{0};        ///< commands that accept the flag, as a sum of bit(Command)
  std::string_view summary{};  ///< text in --help, without initial capital or full stop
  std::string_view details{};  ///< sentences in the man page, with `code` in backquotes
  std::span<const std::string_view> choices{};
  bool is_repeatable{false};
  /// Stores the value in the options; null for a probe's option. `value` is empty for
  /// ValueKind::none, and has been checked if the flag has `choices`. Throws a UsageError whose
  /// text lacks the flag's name, which the caller adds.
  void (*update)(Options&, std::string_view value){nullptr};
  const ValueSpec* spec{nullptr};  ///< format of the value of a probe's option; null: no option
};

/// Flags of a probe: the options that the probe declares, and --series if the probe has series.
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
  std::vector<Flag> flags{};  ///< a flag per option, in the order of `options`

  [[nodiscard]] const Flag* find(std::string_view name) const;
};

std::vector<ProbeFlags> flags_of(std::span<const Probe* const> probes);

struct CommandRow {
  std::string_view word{};  ///< such as "list", "compare --live"; empty: measuring
  std::string_view arguments{};
  Command command{Command::measure};
  std::string_view summary{};
  std::string_view details{};
};

constexpr unsigned bit(Command command) { return 1U << static_cast<unsigned>(command); }

std::span<const Flag> all_flags();
std::span<const CommandRow> all_commands();
/// Returns the row of the command with this word, or its first row with a verb if `word` is only
/// the first word ("fleet"); null for any other word. Measuring is a command without a word.
const CommandRow* find_command(std::string_view word);
/// Returns the first word of the command: "fleet" for "fleet report".
std::string_view first_word(const CommandRow& row);
/// Returns true if a verb follows the command's first word, as in "fleet report".
bool has_verb(const CommandRow& row);
/// Returns the row of the verb that follows the first word of `command`; null for any other word.
const CommandRow* find_verb(const CommandRow& command, std::string_view verb);
/// Returns the first words of all commands, once each.
std::vector<std::string_view> command_words();
std::string_view title_of(Category category);

/// Return the flag with this name or letter; null if no flag has it.
const Flag* find_flag(std::string_view name);
const Flag* find_flag(char letter);

/// Returns all flags that are not of the category `hidden`.
std::vector<Flag> visible_flags();

/// Returns the words as a list in a sentence: "a, b or c".
std::string join_choices(std::span<const std::string_view> choices);

/// Words of the command line, and its global flags with their values, each in the order typed.
struct Typed {
  std::vector<std::pair<const Flag*, std::string>> flags{};
  std::vector<std::string> words{};
};

/// Returns the error "unknown KIND 'WORD': [did you mean 'NEAREST'? ]ADVICE".
UsageError unknown_word(std::string_view kind, std::string_view word,
                        const std::vector<std::string_view>& candidates, std::string_view advice);

/// Determines command, words, outputs and the effort of `compare --live` from the stored values.
/// Throws UsageError for contradictions, words and flags without effect, and unsuitable formats.
void resolve(Options& options, const Typed& typed, const std::vector<std::string_view>& probes);

}  // namespace clprobe::cli
