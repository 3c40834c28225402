// SPDX-License-Identifier: Apache-2.0
// Stored runs, reduced to a part; and other input files of commands.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Returns the bytes of a file. Throws RunFormatError if it cannot be read or is larger than run
/// documents.
std::string read_file(const std::string& path, std::string_view hint);

/// Returns the runs of a file, analysed again. Throws RunFormatError, which begins with the file's
/// name.
std::vector<Run> read_runs(const std::string& path);

struct RunFile {
  std::string path{};
  bool is_of_folder{false};  ///< true if found in a folder, not named on the command line
};

/// Returns the file `word`, or the .json files below the folder `word`, sorted by name. Throws
/// RunFormatError for a folder that cannot be read or has none.
std::vector<RunFile> files_in(const std::string& word);

/// Reports the error of a file in a folder, which is skipped. Rethrows the error of a named file.
void complain_or_throw(const RunFile& file, const std::exception_ptr& error);

/// Returns the runs of a file that found memory levels. Throws UsageError if none did,
/// RunFormatError as read_runs().
std::vector<Run> read_levels(const std::string& path);

/// Returns knowledge from the options' runs of this device; empty without such runs. Throws
/// UsageError if all runs are of other devices.
Known known_levels(const cli::Options& options, const DeviceInfo& device);

/// Returns the names of files for a comparison, which may be published: as typed, but paths from
/// the root or through ".." only with the last components that distinguish them.
std::vector<std::string> run_names(const std::vector<std::string>& paths);

/// Keeps results of these probes and of these series (a comma list); empty: all. Removes runs
/// without results. Throws cli::UsageError if no run has one of them.
void keep_shown_part(std::vector<Run>& runs, const std::vector<std::string>& probes,
                     const std::string& series);

/// Throws cli::UsageError, which lists `there`, unless it contains all wanted probes or series.
void refuse_missing(std::string_view kind, const std::vector<std::string>& wanted,
                    const std::vector<std::string>& there);

/// Returns all input files of a command that are known before measuring. No output may replace one.
std::vector<std::string> input_files(const cli::Options& options);

/// Returns the files that options of probes name as traces.
std::vector<std::string> trace_files(const cli::Options& options);

/// Reads the traces that options of probes name. Throws UsageError, with the option, for a file
/// that is no trace.
std::vector<AskedTrace> read_traces(const cli::Options& options);

}  // namespace clprobe::commands
