// SPDX-License-Identifier: Apache-2.0
// Launches of somebody else's program, captured in a second run of it.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"
#include "clprobe/survey.hpp"
#include "commands/survey_app.hpp"

namespace clprobe::commands {

/// Which launches of a surveyed program are worth capturing: one of each kernel that counts, or of
/// the one that was asked for. Throws UsageError where the program has no kernel of that name.
std::vector<survey::Wanted> choose_launches(const survey::Survey& survey,
                                            const cli::Options& options);

/// A launch that was captured into a folder of its own, or not.
struct Captured {
  survey::Wanted wanted{};
  std::string folder{};
  std::string refusal{};  ///< why not; empty where it was
};

/// Runs the program once more, and captures into `folder`.
struct CapturedRun {
  SurveyedRun run{};
  std::vector<Captured> launches{};  ///< in the order of the wanted ones
};
CapturedRun capture_launches(const std::vector<std::string>& words,
                             const std::vector<survey::Wanted>& wanted, const std::string& folder);

/// Programs keep binaries of kernels in caches, and then have no text: in a fresh folder for these
/// they make them anew.
std::vector<std::pair<std::string, std::string>> without_caches(const std::string& folder);

}  // namespace clprobe::commands
