// SPDX-License-Identifier: Apache-2.0
// Somebody else's program: `profile`.
#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array profile_rows{
    Flag{.name = "list",
         .category = Category::profiling,
         .commands = profiling,
         .summary = "only list the program's kernels with launches and device time",
         .details = "Only list the kernels that the program launches, with launches, device time "
                    "and work sizes; measure nothing.",
         .update = update_list},
    Flag{.name = "kernel",
         .value_name = "NAME[:N]",
         .kind = ValueKind::text,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "capture only this kernel (its N-th launch)",
         .details = "Capture only this kernel: its N-th launch in a process, whatever the sizes; "
                    "without N, a typical launch, close to the mean time. Without `--kernel`, the "
                    "kernels that make up 80 % of the device time are captured, at most three.",
         .update = update_kernel},
    Flag{.name = "keep",
         .value_name = "FOLDER",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "keep the captured launches, to replay them later or elsewhere",
         .details =
             "Keep each captured launch in a folder below FOLDER: `clprobe profile FOLDER/KERNEL` "
             "replays it, on any device. It contains the program's kernels and data.",
         .update = update_keep},
    Flag{.name = "headers",
         .value_name = "FOLDER",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "let replayed kernels include files below this folder",
         .details =
             "Let replayed kernels also include the files below FOLDER. Without this option, they "
             "may include only the headers of their bundle, or those below the folder of "
             "`--kernel-file`: a kernel's text may come from someone else, and compilers quote "
             "included files in their messages.",
         .update = update_headers},
    Flag{.name = "kernel-file",
         .value_name = "FILE.cl",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "OpenCL C file of a kernel to launch without a program",
         .details = "OpenCL C file of a kernel to launch without a program, as `--launch` "
                    "describes. With the `launch.json` of a bundle, it replaces the captured text.",
         .update = update_kernel_file},
    Flag{.name = "launch",
         .value_name = "FILE.json",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "description of the launch of --kernel-file",
         .details = "Description of the launch of `--kernel-file`: the kernel's name, sizes, "
                    "arguments and buffer contents. `clprobe explain profile` shows an example.",
         .update = update_launch},
    Flag{.name = "levels",
         .value_name = "FILE.json",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "saved run of latency on this device, to name memory levels",
         .details = "A run of `latency` on the same device (`clprobe latency -o FILE.json`). The "
                    "report then names the level that holds a kernel's buffers and the number of "
                    "groups at which a faster level holds them. Its curve marks the levels.",
         .update = update_levels},
    Flag{.name = "with-secrets",
         .category = Category::profiling,
         .commands = profiling,
         .summary = "also store values that look like passwords, tokens and keys",
         .details = "Store the program's arguments, and the build options of kept launches, in "
                    "full. Without this option, *** replaces values that look like passwords, "
                    "tokens, keys and users of URLs.",
         .update = update_with_secrets},
};

}  // namespace

std::span<const Flag> profile_flags() { return profile_rows; }

}  // namespace clprobe::cli
