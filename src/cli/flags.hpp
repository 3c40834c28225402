// SPDX-License-Identifier: Apache-2.0
// The one table of commands and flags. Parsing, --help, the man page and the shells' completions
// are made from it, so that they cannot disagree.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace clprobe::cli {

/// What follows a flag; decides how it is checked and completed.
enum class ValueKind {
  none,
  text,
  choice,   ///< one of `choices`
  choices,  ///< a comma list of them
  devices,  ///< a comma list of what --device takes
  series,   ///< a comma list of the series of all probes
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
  unsigned commands{0};        ///< set of `bit(Command)` where it means something
  std::string_view summary{};  ///< for --help: no capital, no full stop
  std::string_view details{};  ///< for the man page: sentences, `code` in backquotes
  std::span<const std::string_view> choices{};
  bool is_repeatable{false};
  /// Stores the value, which is empty for ValueKind::none and one of `choices` where there are any.
  /// Throws UsageError without the flag's name.
  void (*update)(Options&, std::string_view value){nullptr};
};

/// A probe's options: the table that the probe declares, and --series where it has any. Values are
/// read by the option's ValueSpec, not by `Flag::update`.
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

  [[nodiscard]] const Option* find(std::string_view name) const;
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
/// Whether it is typed as one word.
bool is_one_word(const CommandRow& row);
std::string_view title_of(Category category);

/// The flag of that long name, or null.
const Flag* find_flag(std::string_view name);

/// All that are not hidden.
std::vector<Flag> visible_flags();

/// Words in a sentence: "a, b or c".
std::string join_choices(std::span<const std::string_view> choices);

}  // namespace clprobe::cli
