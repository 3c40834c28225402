// SPDX-License-Identifier: Apache-2.0
// What the process ends with. The numbers are part of the interface; help, man page, README and
// docs/formats.md say what is in this table.
#pragma once

#include <array>
#include <string_view>

namespace clprobe::cli {

enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_no_device = 3,
  exit_changed = 4,
  exit_undecided = 5,
  exit_interrupted = 130,
};

struct ExitRow {
  ExitCode code{exit_ok};
  std::string_view summary{};  ///< for --help and README
  std::string_view details{};  ///< for the man page and docs/formats.md: sentences
};

inline constexpr std::array exit_rows{
    ExitRow{exit_ok, "all ran",
            "Everything that was asked for ran. What a device does not support is no failure."},
    ExitRow{exit_failed, "a probe or a profiled program failed, or a result could not be written",
            "A probe failed, a result could not be written to its end (a full disk, a closed "
            "stdout), the program of `profile` failed or used no OpenCL, or clprobe itself failed. "
            "What was measured is kept."},
    ExitRow{exit_usage, "usage, a file that is no run, or an output that cannot be opened",
            "The command line was wrong, a file is no run, or an output cannot be opened. Nothing "
            "was measured."},
    ExitRow{exit_no_device, "no such device",
            "There is no such device, or no OpenCL device at all."},
    ExitRow{exit_changed, "what --fail-on asked for",
            "`compare` met the condition of `--fail-on`."},
    ExitRow{exit_undecided, "--fail-on cannot say",
            "`compare --fail-on` cannot say: a device or a probe that the baseline measured "
            "failed, was interrupted or is missing, nothing could be compared, or one run a side "
            "leaves open what changed."},
    ExitRow{exit_interrupted, "interrupted",
            "Interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT). What was measured is kept, and says "
            "so."},
};

}  // namespace clprobe::cli
