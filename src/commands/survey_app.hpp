// SPDX-License-Identifier: Apache-2.0
// Somebody else's program, run with our layer under its OpenCL.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clprobe/survey_report.hpp"

namespace clprobe::commands {

/// What `profile` saw of a run of the program.
struct SurveyedRun {
  SurveyedApp app{};
  bool used_opencl{false};
  std::string problem{};  ///< one line; empty where all was as it should be
  std::string note{};     ///< one line on how it was started; mostly empty
};

/// Runs the program, whose words are `words`, with these variables besides. Throws UsageError where
/// it cannot be started, std::runtime_error where there is no layer to put under it.
SurveyedRun survey_app(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& variables = {});

}  // namespace clprobe::commands
