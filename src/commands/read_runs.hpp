// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
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

struct RunFile {
  std::string path{};
  bool is_of_folder{false};  ///< found in a folder, not named on the command line
};

/// The file `word`, or the .json files in the folder `word` and below it, sorted by name. Throws
/// RunFormatError for a folder that cannot be read or has none.
std::vector<RunFile> files_in(const std::string& word);

/// Reports the error of a file that was found in a folder, which is left out; rethrows that of a
/// file that was named.
void complain_or_throw(const RunFile& file, const std::exception_ptr& error);

}  // namespace clprobe::commands
