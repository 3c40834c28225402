// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// The bytes of a file. Throws RunFormatError when it cannot be read, or has more bytes than any
/// run document should.
std::string read_file(const std::string& path, std::string_view hint);

/// The runs of a file, analysed again. Throws RunFormatError with the file's name in front, also
/// when it cannot be read.
std::vector<Run> read_runs(const std::string& path);

}  // namespace clprobe::commands
