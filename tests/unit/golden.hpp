// SPDX-License-Identifier: Apache-2.0
// Golden files: what a renderer wrote when somebody last read it and found it right.
//
//     CHECK(golden_difference("help.txt", help_text()) == "");
//
// CLPROBE_UPDATE_GOLDEN=1 in the environment rewrites the files instead; the diff is for review.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace clprobe {

/// The file's bytes; nothing for a file that is absent.
inline std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Without line ends and indents, to look for words that these may break.
inline std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    const bool is_space = letter == '\n' || letter == ' ';
    if (!is_space || !line.ends_with(' ')) line += is_space ? ' ' : letter;
  }
  return line;
}

inline std::string_view next_line(std::string_view& text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return line;
}

/// The first line in which `text` differs from tests/golden/`name`; empty when they are the same.
inline std::string golden_difference(std::string_view name, std::string_view text) {
  const std::filesystem::path path = std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / name;
  const char* const update = std::getenv("CLPROBE_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  const std::string golden = read_text(path);
  if (golden == text) return "";
  std::string_view expected = golden;
  std::string_view actual = text;
  for (int line = 1; !expected.empty() || !actual.empty(); ++line) {
    const std::string_view golden_line = next_line(expected);
    const std::string_view text_line = next_line(actual);
    if (golden_line == text_line) continue;
    std::ostringstream message;
    message << name << ':' << line << ": golden '" << golden_line << "', now '" << text_line
            << "'; run with CLPROBE_UPDATE_GOLDEN=1 to accept";
    return message.str();
  }
  return std::string(name) + ": only the ends of the files differ";
}

inline std::string read_golden(std::string_view name) {
  return read_text(std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / name);
}

inline void check_golden(std::string_view name, std::string_view text) {
  CHECK(golden_difference(name, text) == "");
}

}  // namespace clprobe
