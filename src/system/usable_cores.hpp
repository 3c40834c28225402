// SPDX-License-Identifier: Apache-2.0
// How many threads of this process can run at the same time.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace clprobe::system {

/// The cores that the calling thread may run on, as `nproc` counts them, and no more than its
/// control groups have time for: a machine may have many more. At least 1.
std::size_t usable_cores();

/// What a control group's file `cpu.max` grants, in whole cores, the last one perhaps in part;
/// nothing where it sets no limit, or is none.
std::optional<std::size_t> cores_of_quota(std::string_view cpu_max);

}  // namespace clprobe::system
