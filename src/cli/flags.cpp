// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.hpp"

#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array own_rows{
    Flag{.name = "generate",
         .value_name = "WHAT",
         .kind = ValueKind::choice,
         .category = Category::about,
         .commands = bit(Command::generate),
         .summary = "print the man page, a shell's completion or the run schema",
         .details = "Print the man page, the completion for a shell (`source <(clprobe --generate "
                    "bash)`), or the JSON Schema of runs.",
         .choices = generate_words,
         .update = update_generate},
    Flag{.name = "full",
         .category = Category::about,
         .commands = bit(Command::explain),
         .summary = "with explain: print the whole page instead of the short form",
         .details = "With `explain`, print the whole page of a probe: method, findings, what can "
                    "fool it, what it cannot see, sources.",
         .update = update_full},
    Flag{.name = "version",
         .short_name = 'V',
         .category = Category::about,
         .commands = everywhere,
         .summary = "print version, commit and compiler",
         .details = "Print the version, the commit and the compiler.",
         .update = update_version},
    Flag{.name = "help",
         .short_name = 'h',
         .category = Category::about,
         .commands = everywhere,
         .summary = "print this summary",
         .details = "Print a summary of this page.",
         .update = update_help},
    // For the tests, which compile every kernel with other vendors' compilers.
    Flag{.name = "builds",
         .category = Category::hidden,
         .commands = bit(Command::builds),
         .summary = "every kernel file with every set of options",
         .details = "Print each kernel file, its preamble and every set of build options.",
         .update = update_builds},
    // The measuring child process: how clprobe starts itself, and nobody else should.
    Flag{.name = "worker",
         .category = Category::hidden,
         .commands = bit(Command::worker),
         .summary = "measure for another clprobe",
         .details = "Measure for another clprobe, over file descriptor 3.",
         .update = update_worker},
};

}  // namespace

std::span<const Flag> all_flags() {
  static const std::vector<Flag> flags = [] {
    std::vector<Flag> all;
    for (const std::span<const Flag> group :
         {selection_flags(), effort_flags(), live_flags(), profile_flags(), result_flags(),
          std::span<const Flag>(own_rows)}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return flags;
}

}  // namespace clprobe::cli
