// SPDX-License-Identifier: Apache-2.0
// Two sides, measured in turns: `compare --live`.
#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array live_rows{
    Flag{.name = "live",
         .category = Category::comparing,
         .commands = comparing,
         .summary = "measure both sides now, alternately, instead of reading files",
         .details = "Measure both sides now, alternately, instead of reading files: `clprobe "
                    "compare --live --b-env OCL_ICD_VENDORS=/new/driver latency`.",
         .update = update_live},
    Flag{
        .name = "b-device",
        .value_name = "SEL",
        .kind = ValueKind::devices,
        .category = Category::comparing,
        .commands = live,
        .summary = "device of side B (default: the value of --device)",
        .details = "Device of side B, in the form of `--device`. Default: the value of `--device`.",
        .update = update_b_device},
    Flag{.name = "a-env",
         .value_name = "NAME=VALUE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = live,
         .summary = "environment variable for side A's drivers only",
         .details = "Environment variable that only side A's drivers get: `OCL_ICD_VENDORS`, "
                    "`LD_PRELOAD` or a driver's own setting.",
         .is_repeatable = true,
         .update = update_a_env},
    Flag{.name = "b-env",
         .value_name = "NAME=VALUE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = live,
         .summary = "environment variable for side B's drivers only",
         .details = "Environment variable that only side B's drivers get.",
         .is_repeatable = true,
         .update = update_b_env},
    Flag{.name = "runs",
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = live,
         .summary = "also write both sides' runs to FILE, as JSON",
         .details = "Also write the runs of both sides with every sample to FILE, as JSON, for "
                    "`report` and `compare`. FILE is replaced as a whole after each probe and each "
                    "pass, so an interrupted run leaves the results until then.",
         .update = update_runs},
};

}  // namespace

std::span<const Flag> live_flags() { return live_rows; }

}  // namespace clprobe::cli
