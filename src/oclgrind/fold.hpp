// SPDX-License-Identifier: Apache-2.0
// From the work-items of a warp to the warp's instructions. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clprobe/trace.hpp"
#include "oclgrind/steps.hpp"

namespace clprobe::tracer {

/// A program, and the tables that its lists of addresses are in.
struct FoldedWarp {
  simulator::Program program{};
  std::vector<std::vector<std::uint64_t>> tables{};
};

/// Work-items that stand at the same spot execute together, those that are furthest behind first:
/// they diverge where their branches do, and meet again where the program lets them. An
/// asynchronous copy, which all work-items of a group begin, is begun and waited for by the group's
/// first warp.
FoldedWarp fold_warp(const std::vector<Site>& sites, const Spots& spots,
                     std::span<const Steps> lanes, bool is_first = true);

/// What a warp does, before it has registers: values are numbered from 1 in the order in which they
/// are made.
struct Draft {
  simulator::Instruction instruction{};
  std::vector<std::uint32_t> reads{};
  std::uint32_t result{0};  ///< 0: none
};

/// Gives each value a register from its making to its last use, the one that was written longest
/// ago. Where all are in use, the value that was made first has to be there by now, and is lost.
simulator::Program give_registers(const std::vector<Draft>& drafts);

}  // namespace clprobe::tracer
