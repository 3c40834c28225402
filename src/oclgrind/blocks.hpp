// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace clprobe::tracer {

/// Each instruction's place in the function: behind all from which the program comes to it, but by
/// going back in a loop, and all of a loop before what follows it. So who waits at the higher place
/// waits where the others come by.
std::unordered_map<const llvm::Instruction*, std::uint32_t> place_instructions(
    llvm::Function& function);

}  // namespace clprobe::tracer
