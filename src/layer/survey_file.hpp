// SPDX-License-Identifier: Apache-2.0
// The file of this process in the folder that CLPROBE_SURVEY names.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/survey.hpp"

namespace clprobe::layer {

/// The folder; empty: nobody asked for a survey.
std::string survey_folder();

/// Replaces the file as a whole; whether that went well.
bool write_file(const std::string& path, std::string_view bytes);

class SurveyFile {
 public:
  /// Replaces the file as a whole: whoever reads it finds what was known a moment ago, whole.
  /// What cannot be written is left out.
  void write(const survey::Survey& survey);

 private:
  std::string path_{};  // empty until the first time
};

}  // namespace clprobe::layer
