// SPDX-License-Identifier: Apache-2.0
// What the work-items of one work-group do, while Oclgrind runs them.
#pragma once

#include <oclgrind/Plugin.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "oclgrind/sites.hpp"
#include "oclgrind/steps.hpp"

namespace clprobe::tracer {

/// Where the buffers of a launch lie in a trace: one after another in the order of their first use,
/// each at a multiple of a page. Oclgrind's own addresses have a buffer's number in their upper
/// bits, so that all buffers would meet in the same sets of a cache.
class Placing {
 public:
  explicit Placing(std::uint64_t first) : next_(first) {}

  std::uint64_t place(const oclgrind::Memory& memory, std::uint64_t address);

 private:
  std::map<std::uint64_t, std::uint64_t> bases_{};  ///< by the number of a buffer
  std::uint64_t next_;
};

class GroupRecorder {
 public:
  /// `memory` is the global one.
  GroupRecorder(Sites& sites, Spots& spots, Placing& global, const oclgrind::Memory& memory)
      : sites_(sites), spots_(spots), global_(global), memory_(memory) {}

  /// Of the instruction that the work-item executes next.
  void add_access(const oclgrind::WorkItem& item, const oclgrind::Memory& memory, Access access,
                  std::uint64_t address, std::size_t bytes);
  void execute(const oclgrind::WorkItem& item, const llvm::Instruction& instruction,
               const oclgrind::TypedValue& result);

  /// By the work-items' local ids, the first dimension being the fastest.
  [[nodiscard]] std::vector<Steps> take_steps();

 private:
  struct Call {
    std::uint32_t spot{Spots::kernel};
    const llvm::Instruction* instruction{nullptr};
  };
  struct Item {
    Steps steps{};
    std::vector<MemoryAccess> accesses{};  ///< of its next step
    std::vector<Call> calls{};             ///< that it is in
    /// The numbers of the copies that it has begun, by their events.
    std::map<std::uint64_t, std::uint32_t> copies{};
  };

  Item& of(const oclgrind::WorkItem& item);
  void begin_copy(Item& item, const oclgrind::WorkItem& executed, const llvm::Instruction& call,
                  std::uint64_t event);
  void enter(Item& item, const llvm::Instruction& call, std::uint32_t spot);
  void leave(Item& item, const llvm::Instruction& returning, std::uint32_t spot);

  Sites& sites_;
  Spots& spots_;
  Placing& global_;
  const oclgrind::Memory& memory_;
  Placing local_{0};
  std::vector<Item> items_{};
};

}  // namespace clprobe::tracer
