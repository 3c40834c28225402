// SPDX-License-Identifier: Apache-2.0
// The work-item functions that other texts have in front of a program rename.
#pragma once

#include <array>
#include <string_view>

namespace clprobe::prelude {

/// By cl/prelude.clh.
inline constexpr std::array<std::string_view, 5> renamed{
    "get_group_id", "get_global_id", "get_global_offset", "get_global_linear_id", "get_work_dim"};
/// By an entry (cl/entry.clh) besides.
inline constexpr std::array<std::string_view, 2> renamed_by_entry{"get_num_groups",
                                                                  "get_global_size"};

}  // namespace clprobe::prelude
