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
         .summary = "list the program's kernels with launches and device time (default)",
         .details = "List the kernels that the program launches, with launches, device time and "
                    "work sizes. It is what `profile` does by default.",
         .update = update_list},
};

}  // namespace

std::span<const Flag> profile_flags() { return profile_rows; }

}  // namespace clprobe::cli
