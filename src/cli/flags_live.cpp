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
         .summary = "measure both sides now, in turns, instead of reading files",
         .details = "Measure both sides now, in turns, instead of reading files: `clprobe compare "
                    "--live --b-env OCL_ICD_VENDORS=/new/driver latency`.",
         .update = update_live},
    Flag{.name = "b-device",
         .value_name = "SEL",
         .kind = ValueKind::devices,
         .category = Category::comparing,
         .commands = live,
         .summary = "device of side B (default: that of --device)",
         .details = "The device of side B, as `--device` names that of side A; by default the same "
                    "word.",
         .update = update_b_device},
    Flag{.name = "a-env",
         .value_name = "NAME=VALUE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = live,
         .summary = "variable of side A's drivers alone",
         .details = "A variable of the environment in which side A's drivers run, and nothing "
                    "else: `OCL_ICD_VENDORS`, `LD_PRELOAD`, a driver's own settings.",
         .is_repeatable = true,
         .update = update_a_env},
    Flag{.name = "b-env",
         .value_name = "NAME=VALUE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = live,
         .summary = "variable of side B's drivers alone",
         .details = "The same for side B.",
         .is_repeatable = true,
         .update = update_b_env},
    Flag{.name = "runs",
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = live,
         .summary = "also keep both sides' runs in FILE, as JSON",
         .details = "Also write the runs of both sides, with every sample of their turns, as JSON "
                    "to FILE, for `report` and `compare`. It is replaced as a whole after each "
                    "probe and each round, so that an interrupt leaves what there is.",
         .update = update_runs},
};

}  // namespace

std::span<const Flag> live_flags() { return live_rows; }

}  // namespace clprobe::cli
