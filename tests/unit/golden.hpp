// SPDX-License-Identifier: Apache-2.0
// Golden files: what a renderer must write, to the byte. CLPROBE_UPDATE_GOLDEN=1 rewrites them, and
// the diff is what a reviewer reads.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace clprobe {

inline std::string golden_path(std::string_view name) {
  return std::string(CLPROBE_GOLDEN_DIR "/").append(name);
}

inline std::string read_golden(std::string_view name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void check_golden(std::string_view name, std::string_view text) {
  const char* const update = std::getenv("CLPROBE_UPDATE_GOLDEN");
  if (update != nullptr && *update != '\0') {
    std::ofstream(golden_path(name), std::ios::binary) << text;
  }
  const std::string expected = read_golden(name);
  INFO("tests/golden/", std::string(name), "; CLPROBE_UPDATE_GOLDEN=1 rewrites it");
  CHECK(std::string(text) == expected);
}

}  // namespace clprobe
