# SPDX-License-Identifier: Apache-2.0
# Script that writes OUTPUT with the version and the commit of ROOT. A git archive has the commit in
# commit.txt. If the archive lies within another repository, that repository is ignored.
execute_process(
  COMMAND git -C ${ROOT} rev-parse --show-cdup
  OUTPUT_VARIABLE up
  RESULT_VARIABLE result
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(result EQUAL 0 AND up STREQUAL "")
  execute_process(
    COMMAND git -C ${ROOT} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
else()
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/commit.txt commit REGEX "^[0-9a-f]+$")
  string(SUBSTRING "${commit}" 0 12 commit)
endif()
if(NOT commit)
  set(commit "unknown commit")
endif()
file(
  WRITE ${OUTPUT}.new
  "// Made by tools/cmake/Version.cmake.
#pragma once

#include <string_view>

namespace clprobe {

inline constexpr std::string_view version = \"${VERSION}\";
inline constexpr std::string_view commit = \"${commit}\";

}  // namespace clprobe
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
