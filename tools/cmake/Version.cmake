# SPDX-License-Identifier: Apache-2.0
# Run as a script: writes OUTPUT with the version and the commit that ROOT is at.
execute_process(
  COMMAND git -C ${ROOT} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
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
