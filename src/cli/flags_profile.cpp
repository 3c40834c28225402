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
         .summary = "list the program's kernels with launches and device time, and no more",
         .details = "List the kernels that the program launches, with launches, device time and "
                    "work sizes, and measure nothing.",
         .update = update_list},
    Flag{.name = "kernel",
         .value_name = "NAME[:N]",
         .kind = ValueKind::text,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "capture this kernel alone, its N-th launch",
         .details = "Capture launches of this kernel alone: the N-th one in a process, whatever "
                    "its sizes. Without N a typical launch, nearest its mean time. Without "
                    "`--kernel`, those kernels that make 80 % of the device time, three at most.",
         .update = update_kernel},
    Flag{.name = "keep",
         .value_name = "FOLDER",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "keep what was captured, to replay it later or elsewhere",
         .details = "Keep the captured launches below this folder, a folder each: `clprobe profile "
                    "FOLDER/KERNEL` replays them, on any device. They hold the program's kernels "
                    "and data.",
         .update = update_keep},
    Flag{.name = "headers",
         .value_name = "FOLDER",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "let a replayed text include files below this folder",
         .details = "A replayed text includes the headers of its bundle, or those below the folder "
                    "of `--kernel-file`, and no other files: texts may be somebody else's, and "
                    "compilers quote what they include. This adds the files below FOLDER.",
         .update = update_headers},
    Flag{.name = "kernel-file",
         .value_name = "FILE.cl",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "the text of a kernel, without a program that launches it",
         .details = "The text of a kernel that no program has to launch: `--launch` says how. With "
                    "the `launch.json` of a bundle it takes the place of the captured text.",
         .update = update_kernel_file},
    Flag{.name = "launch",
         .value_name = "FILE.json",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "how the kernel of --kernel-file is launched",
         .details = "How the kernel of `--kernel-file` is launched: its name, sizes, arguments and "
                    "what its buffers hold; `clprobe explain profile` shows one.",
         .update = update_launch},
    Flag{.name = "levels",
         .value_name = "FILE.json",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "mark the levels of memory that this run of latency found",
         .details = "A document with a run of `latency` on the same device (`clprobe latency -o "
                    "FILE.json`): which level a kernel's buffers fall into, and from how many "
                    "groups down they are in which one, is found and marked in its curve.",
         .update = update_levels},
    Flag{.name = "with-secrets",
         .category = Category::profiling,
         .commands = profiling,
         .summary = "store values that look like passwords, tokens and keys",
         .details =
             "Store the program's arguments, and the build options of kept launches, with the "
             "values that look like passwords, tokens, keys and users of URLs, which are "
             "*** otherwise.",
         .update = update_with_secrets},
};

}  // namespace

std::span<const Flag> profile_flags() { return profile_rows; }

}  // namespace clprobe::cli
