// SPDX-License-Identifier: Apache-2.0
#include "commands/read_runs.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "terminal/text.hpp"

namespace clprobe::commands {

std::vector<Run> read_runs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw RunFormatError(fmt::format("cannot read {}: {}; name a file that -o saved as .json",
                                     terminal::quote(path),
                                     errno == 0 ? "it is empty" : std::strerror(errno)));
  }
  try {
    return runs_from_json(text.str());
  } catch (const RunFormatError& error) {
    throw RunFormatError(fmt::format("{}: {}", terminal::quote(path), error.what()));
  }
}

}  // namespace clprobe::commands
