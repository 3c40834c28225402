// SPDX-License-Identifier: Apache-2.0
// Exit codes, which are part of the public interface. The help and the man page are generated from
// this table; README and docs/formats.md must agree with it.
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
  std::string_view summary{};  ///< text in --help and README
  std::string_view details{};  ///< sentences in the man page and docs/formats.md
};

inline constexpr std::array exit_rows{
    ExitRow{exit_ok, "success",
            "All requested work was done. Features that the device lacks do not count as "
            "failures."},
    ExitRow{exit_failed, "a probe or a profiled program failed, or a result could not be written",
            "A probe, a profiled program or clprobe itself failed. Other causes: a profiled "
            "program made no OpenCL calls, or a result could not be written completely (full disk, "
            "closed stdout). Earlier results are kept."},
    ExitRow{exit_usage, "wrong usage, an invalid run file, or an output that cannot be opened",
            "The command line was wrong, a file is not a valid run, or an output cannot be opened. "
            "Nothing was measured."},
    ExitRow{exit_no_device, "no matching device",
            "No device matches, or there is no OpenCL device."},
    ExitRow{exit_changed, "the condition of --fail-on is met",
            "The findings meet the condition of `--fail-on`."},
    ExitRow{exit_undecided, "the condition of --fail-on cannot be decided",
            "The condition of `--fail-on` cannot be decided: nothing could be compared, or needed "
            "results are missing or incomplete. Another cause: single runs cannot separate a "
            "change from disturbances of the host (measure several baseline and new runs)."},
    ExitRow{exit_interrupted, "interrupted",
            "Interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT). Earlier results are kept and marked "
            "as interrupted."},
};

}  // namespace clprobe::cli
