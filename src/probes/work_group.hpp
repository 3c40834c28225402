// SPDX-License-Identifier: Apache-2.0
// Build options that follow from the size of a work-group. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clprobe {

/// Compilers give each work-item the registers of a group of so many unless they are told of a
/// larger one.
inline constexpr std::uint64_t usual_group = 256;

/// The build option for a kernel that runs in groups of exactly so many work-items.
inline std::string large_group(std::uint64_t work_items) {
  return " -DGROUP=" + std::to_string(work_items);
}

/// For groups of several work-items on a CPU (cl/clock.clh says why).
inline constexpr std::string_view clock_without_asm = " -DCLOCK_WITHOUT_ASM";

}  // namespace clprobe
