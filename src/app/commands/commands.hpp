// SPDX-License-Identifier: Apache-2.0
// Commands, which turn options into output and an exit code. In src/app, only the files of this
// folder and of the folder terminal write output.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/exit_codes.hpp"
#include "app/cli/options.hpp"
#include "compare/api/compare.hpp"
#include "present/api/explain.hpp"

namespace clprobe::commands {

using enum cli::ExitCode;

/// Runs the command that `options` names and returns the exit code. `arguments`: the command line,
/// which run documents store without folders. Throws UsageError, NoDevice, DeviceError,
/// OutputError, RunFormatError, and std::runtime_error if `profile` lacks the loader layer.
int run(const cli::Options& options, const std::vector<std::string>& arguments);

int measure(const cli::Options& options, const std::vector<std::string>& arguments);
int list(const cli::Options& options);
int explain(const cli::Options& options);
int report(const cli::Options& options);
/// Returns true if the command is `doctor` and a run shows a problem.
bool is_ill(const cli::Options& options, std::span<const Run> runs);
/// Describes the devices of saved runs, or measures and describes.
int describe(cli::Options options, const std::vector<std::string>& arguments);
int compare(const cli::Options& options);
int compare_live(const cli::Options& options, const std::vector<std::string>& arguments);
int profile(const cli::Options& options, const std::vector<std::string>& arguments);
/// Measure the devices of a node, print a script that does so on all nodes, and report the results.
int fleet_report(const cli::Options& options);
int import(const cli::Options& options, const std::vector<std::string>& arguments);

/// Writes the evidence for --fail-on to stderr and returns the exit code. The code is 4 if a
/// significant change meets the condition, but 5 if all such changes are on another card than the
/// baseline. Without such a change, it is 5 if a run lacks results of the baseline, otherwise 4 if
/// a lost finding meets the condition, otherwise 5 if a change needs more runs, otherwise 0.
int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs);

struct OtherPage {
  std::string_view
      word;  ///< word of docs/WORD.md, which src/text/embedded embeds (tools/cmake/Probes.cmake)
  std::string_view what;
};

inline constexpr std::array other_pages{
    OtherPage{"method", "How does clprobe measure, and how reliable are its numbers?"},
    OtherPage{"describe", "Which numbers of a device can programs read, and what do they mean?"},
    OtherPage{"fleet", "Which devices of a cluster are slow, and why?"},
    OtherPage{"compare", "How are runs compared, and what is a verdict based on?"},
    OtherPage{"formats", "Which files does clprobe write, and which does it read?"},
    OtherPage{"profile", "Which kernels take a program's device time, and why?"},
    OtherPage{"trace", "How do I describe a kernel for the simulator?"},
    OtherPage{"seeds", "What do published papers state, and what does clprobe measure?"},
};

constexpr const OtherPage* find_page(std::string_view word) {
  const auto* const found = std::ranges::find(other_pages, word, &OtherPage::word);
  return found == other_pages.end() ? nullptr : found;
}

/// Returns the explanation of a word: its definition in the glossary, and the findings, series,
/// options and warnings with this name. "arguments" also matches the series "arguments-4". Empty
/// for an unknown word.
std::string word_text(std::string_view word, const PageStyle& style);

}  // namespace clprobe::commands
