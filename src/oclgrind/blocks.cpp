// SPDX-License-Identifier: Apache-2.0
#include "oclgrind/blocks.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <algorithm>
#include <set>
#include <vector>

namespace clprobe::tracer {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

/// Blocks within a loop, or within none: each inner loop is one node, its header.
class Ordering {
 public:
  Ordering(const llvm::LoopInfo& loops, std::vector<const BasicBlock*>& order)
      : loops_(loops), order_(order) {}

  void place(const Loop* within, const BasicBlock* first) {
    std::vector<const BasicBlock*> nodes;
    std::set<const BasicBlock*> seen;
    visit(within, first, seen, nodes);
    std::reverse(nodes.begin(), nodes.end());
    for (const BasicBlock* const node : nodes) {
      const Loop* const inner = inner_loop(within, node);
      if (inner == nullptr) {
        order_.push_back(node);
      } else {
        place(inner, node);
      }
    }
  }

 private:
  /// The outermost loop within `within` that has the block; null where it is in none.
  [[nodiscard]] const Loop* inner_loop(const Loop* within, const BasicBlock* block) const {
    const Loop* loop = loops_.getLoopFor(block);
    if (loop == within) return nullptr;
    while (loop != nullptr && loop->getParentLoop() != within) loop = loop->getParentLoop();
    return loop;
  }

  /// Depth first: a node is added behind all that can follow it.
  void visit(const Loop* within, const BasicBlock* node, std::set<const BasicBlock*>& seen,
             std::vector<const BasicBlock*>& nodes) {
    if (!seen.insert(node).second) return;
    const Loop* const inner = inner_loop(within, node);
    std::vector<const BasicBlock*> members{node};
    if (inner != nullptr) members.assign(inner->block_begin(), inner->block_end());
    for (const BasicBlock* const member : members) {
      for (const BasicBlock* const next : llvm::successors(member)) {
        const bool stays = within == nullptr || within->contains(next);
        const bool goes_back = within != nullptr && next == within->getHeader();
        if (!stays || goes_back || (inner != nullptr && inner->contains(next))) continue;
        const Loop* const other = inner_loop(within, next);
        visit(within, other == nullptr ? next : other->getHeader(), seen, nodes);
      }
    }
    nodes.push_back(node);
  }

  const llvm::LoopInfo& loops_;
  std::vector<const BasicBlock*>& order_;
};

}  // namespace

std::unordered_map<const llvm::Instruction*, std::uint32_t> place_instructions(
    llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<const BasicBlock*> order;
  const BasicBlock& entry = function.getEntryBlock();
  Ordering(loops, order).place(nullptr, &entry);
  std::unordered_map<const llvm::Instruction*, std::uint32_t> places;
  for (const BasicBlock* const block : order) {
    for (const llvm::Instruction& each : *block) {
      places.emplace(&each, static_cast<std::uint32_t>(places.size()));
    }
  }
  return places;
}

}  // namespace clprobe::tracer
