// SPDX-License-Identifier: Apache-2.0
// Limits of work-groups and loops, and the build options that follow. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clprobe {

/// Compilers give each work-item the registers of a group of so many unless they are told of a
/// larger one.
inline constexpr std::uint64_t usual_group = 256;

/// Iterations of all loops of a launch. Below 65,535: llvmpipe ends them after so many, silently.
inline constexpr std::uint64_t max_iterations = 60000;

/// The build option for a kernel that runs in groups of exactly so many work-items.
inline std::string large_group(std::uint64_t work_items) {
  return " -DGROUP=" + std::to_string(work_items);
}

/// The build option for groups of several work-items on a CPU (see cl/clock.clh).
inline constexpr std::string_view clock_without_asm = " -DCLOCK_WITHOUT_ASM";

}  // namespace clprobe
