// SPDX-License-Identifier: Apache-2.0
// Stored runs: read from files, named, and reduced to a part.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/run.hpp"

namespace clprobe::commands {

/// The bytes of a file. Throws RunFormatError if it cannot be read or is larger than run documents.
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

/// Reports the error of a file that was found in a folder, which is skipped; rethrows the error of
/// a file that was named.
void complain_or_throw(const RunFile& file, const std::exception_ptr& error);

/// The runs of a file that found memory levels. Throws UsageError if none did, RunFormatError as
/// read_runs().
std::vector<Run> read_levels(const std::string& path);

/// Knowledge from the options' runs of this device; empty if the options have no runs. Throws
/// UsageError if all runs are of other devices.
Known known_levels(const cli::Options& options, const DeviceInfo& device);

/// Names of the files of a comparison, which may be published: as they were typed; of a path from
/// the root or through ".." only the last parts that distinguish it from the others.
std::vector<std::string> run_names(const std::vector<std::string>& paths);

/// Keeps the results of these probes, and in them only these series (a comma list); empty: all.
/// Runs without any of it are removed. Throws cli::UsageError if no run has one of them.
void keep_shown_part(std::vector<Run>& runs, const std::vector<std::string>& probes,
                     const std::string& series);

/// Throws cli::UsageError, which lists what is `there`, unless all wanted probes or series are.
void refuse_missing(std::string_view kind, const std::vector<std::string>& wanted,
                    const std::vector<std::string>& there);

/// All input files of a command that are known before anything is measured. No output may replace
/// one.
std::vector<std::string> input_files(const cli::Options& options);

/// The files that the options of probes name as traces.
std::vector<std::string> trace_files(const cli::Options& options);

/// Reads these files. Throws UsageError with the option's name for a file that is not a trace.
std::vector<AskedTrace> read_traces(const cli::Options& options);

}  // namespace clprobe::commands
