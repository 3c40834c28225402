// SPDX-License-Identifier: Apache-2.0
// A survey of a program's kernels as text. Pure.
#pragma once

#include <string>
#include <vector>

#include "clprobe/report.hpp"
#include "clprobe/run.hpp"
#include "clprobe/survey.hpp"

namespace clprobe {

/// A program that ran under a survey.
struct SurveyedApp {
  std::vector<std::string> words{};  ///< words as typed, files without their folders
  std::string started{};             ///< UTC
  ToolInfo tool{};
  int status{0};
  int signal{0};  ///< signal that ended the program; 0: none
  bool interrupted{false};
  double wall_s{0.0};       ///< from its start to its end
  survey::Survey survey{};  ///< sorted by device time
};

/// "ended with status 3", "was ended by signal 11 (Segmentation fault)"; empty after a success.
std::string end_text(const SurveyedApp& app);

/// The kernels by device time, the first twenty. `style.all_points`: all of them, and a row for
/// each size.
std::string render_survey_table(const SurveyedApp& app, const TableStyle& style);
std::string render_survey_json(const SurveyedApp& app);
/// One row per signature.
std::string render_survey_csv(const SurveyedApp& app);
std::string render_survey_markdown(const SurveyedApp& app);

}  // namespace clprobe
