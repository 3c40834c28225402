// SPDX-License-Identifier: Apache-2.0
// Input files of commands: stored runs, and parts of them; traces.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Returns the bytes of a file. Throws RunFormatError, with the advice `hint`, if the file cannot
/// be read, is empty, or is larger than 128 MiB.
std::string read_file(const std::string& path, std::string_view hint);

/// Returns the runs of a file ("-": stdin), analysed again. Throws RunFormatError, whose text names
/// the file.
std::vector<Run> read_runs(const std::string& path);

struct RunFile {
  std::string path{};
  bool is_of_folder{false};  ///< true: found in a folder; false: named on the command line
};

/// Returns the file `word`, or the .json files below the folder `word`, sorted by name. Throws
/// RunFormatError if the folder cannot be read or has no .json files.
std::vector<RunFile> files_in(const std::string& word);

/// Reports on stderr the RunFormatError of a file that was found in a folder, so that the caller
/// can skip the file. Rethrows other errors, and the error of a file that the command line names.
void complain_or_throw(const RunFile& file, const std::exception_ptr& error);

/// Returns the runs of a file that contain memory levels. Throws UsageError if no run of the file
/// does, and the errors of read_runs().
std::vector<Run> read_levels(const std::string& path);

/// Returns what `Options::levels_runs` know about the memory levels of this device; empty if there
/// are no such runs. Throws UsageError if all these runs are of other devices.
Known known_levels(const cli::Options& options, const DeviceInfo& device);

/// Returns the names under which a comparison shows files. A relative path stays as typed. Of a
/// path from the root or through "..", only the last components that distinguish it are kept, since
/// comparisons may be published.
std::vector<std::string> run_names(const std::vector<std::string>& paths);

/// Moves the results of all probes except `probes` to Run::unshown, and removes the results of all
/// series except `series` (a comma list), with the warnings about them; an empty list keeps all.
/// Then removes runs without results. Throws UsageError if no run has a listed probe or series.
void keep_shown_part(std::vector<Run>& runs, const std::vector<std::string>& probes,
                     const std::string& series);

/// Throws cli::UsageError, whose text lists `there`, unless `there` contains all of `wanted`.
/// `kind`: "probe" or "series", for the text.
void refuse_missing(std::string_view kind, const std::vector<std::string>& wanted,
                    const std::vector<std::string>& there);

/// Returns the input files of a command that are known before measuring, which no output may
/// replace.
std::vector<std::string> input_files(const cli::Options& options);

/// Returns the paths of the trace files that options of probes name.
std::vector<std::string> trace_files(const cli::Options& options);

/// Returns the traces in the files that options of probes name. Throws UsageError, whose text names
/// the option, for a file that cannot be read or is not a trace.
std::vector<AskedTrace> read_traces(const cli::Options& options);

}  // namespace clprobe::commands
