// SPDX-License-Identifier: Apache-2.0
#include "commands/read_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "clprobe/units.hpp"
#include "commands/analyse_again.hpp"
#include "system/read_file.hpp"
#include "terminal/complain.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

// A thorough run of all probes has a few MB; what is larger is not looked at, since a document in
// memory takes about ten times its text.
constexpr Bytes max_bytes = mebibytes(128);

constexpr std::string_view run_hint = "name a JSON file saved by -o";

[[noreturn]] void refuse(const std::string& path, std::string_view problem, std::string_view hint) {
  throw RunFormatError(fmt::format("cannot read {}: {}; {}", quote(path), problem, hint));
}

}  // namespace

std::string read_file(const std::string& path, std::string_view hint) {
  std::string text;
  try {
    text = system::read_file(path, max_bytes.count);
  } catch (const std::system_error& error) {
    if (error.code().value() != EFBIG) refuse(path, error.code().message(), hint);
    refuse(path, fmt::format("it is larger than {}", format_bytes(max_bytes)), hint);
  }
  if (text.empty()) refuse(path, "it is empty", hint);
  return text;
}

std::vector<Run> read_runs(const std::string& path) {
  const std::string text = read_file(path == "-" ? "/dev/stdin" : path, run_hint);
  std::vector<Run> runs;
  try {
    runs = analysed_runs_from_json(text);
  } catch (const RunFormatError& error) {
    const std::string problem = error.what();
    const bool is_no_json = problem.starts_with("document: expected JSON");
    throw RunFormatError(
        fmt::format("{}: {}{}", quote(path), problem,
                    is_no_json ? "; `clprobe import` reads other tools' files" : ""));
  }
  if (runs.empty()) refuse(path, "it contains no run", run_hint);
  return runs;
}

std::vector<RunFile> files_in(const std::string& word) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(word, error)) return {{word}};
  std::vector<RunFile> files;
  fs::recursive_directory_iterator entries(word, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (entries->is_regular_file(error) && entries->path().extension() == ".json") {
      files.push_back({entries->path().string(), true});
    }
  }
  if (error) {
    throw RunFormatError(fmt::format("cannot read {}: {}; name a folder with JSON files",
                                     quote(word), error.message()));
  }
  if (files.empty()) {
    throw RunFormatError(fmt::format(
        "{} has no .json files: name a folder with JSON files saved by -o", quote(word)));
  }
  std::sort(files.begin(), files.end(),
            [](const RunFile& a, const RunFile& b) { return a.path < b.path; });
  return files;
}

void complain_or_throw(const RunFile& file, const std::exception_ptr& error) {
  if (!file.is_of_folder) std::rethrow_exception(error);
  try {
    std::rethrow_exception(error);
  } catch (const RunFormatError& problem) {
    terminal::complain(fmt::format("{}; the file is skipped", problem.what()));
  }
}

}  // namespace clprobe::commands
