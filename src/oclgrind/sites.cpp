// SPDX-License-Identifier: Apache-2.0
#include "oclgrind/sites.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace clprobe::tracer {
namespace {

using llvm::Instruction;

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

/// Each instruction's place in the function: behind all from which the program comes to it, but by
/// going back in a loop, and all of a loop before what follows it. So who waits at the higher place
/// waits where the others come by.
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

/// What begins so takes the slower pipelines: roots, quotients, and functions of angles and powers.
constexpr std::array special_beginnings{
    std::string_view("sqrt"),      std::string_view("rsqrt"),    std::string_view("cbrt"),
    std::string_view("sin"),       std::string_view("cos"),      std::string_view("tan"),
    std::string_view("asin"),      std::string_view("acos"),     std::string_view("atan"),
    std::string_view("exp"),       std::string_view("log"),      std::string_view("pow"),
    std::string_view("root"),      std::string_view("hypot"),    std::string_view("erf"),
    std::string_view("tgamma"),    std::string_view("lgamma"),   std::string_view("fmod"),
    std::string_view("remainder"), std::string_view("remquo"),   std::string_view("divide"),
    std::string_view("recip"),     std::string_view("native_"),  std::string_view("half_"),
    std::string_view("length"),    std::string_view("distance"), std::string_view("normalize")};

/// What takes no instruction: where a work-item stands is in registers, and the order of memory is
/// not the simulator's.
constexpr std::array renaming_beginnings{std::string_view("get_"),
                                         std::string_view("mem_fence"),
                                         std::string_view("read_mem_fence"),
                                         std::string_view("write_mem_fence"),
                                         std::string_view("atomic_work_item_fence"),
                                         std::string_view("as_"),
                                         std::string_view("dbg."),
                                         std::string_view("lifetime."),
                                         std::string_view("assume"),
                                         std::string_view("printf"),
                                         std::string_view("prefetch")};

template <typename Beginnings>
bool begins_like(std::string_view name, const Beginnings& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view each) { return name.starts_with(each); });
}

/// The name in OpenCL C of a built-in function: "barrier" of "_Z7barrierj".
std::string_view builtin_name(std::string_view mangled) {
  constexpr std::string_view of_llvm = "llvm.";
  constexpr std::string_view itanium = "_Z";
  if (mangled.starts_with(of_llvm)) return mangled.substr(of_llvm.size());
  if (!mangled.starts_with(itanium)) return mangled;
  const std::string_view rest = mangled.substr(itanium.size());
  std::size_t length = 0;
  const char* const end = rest.data() + rest.size();
  const auto [name, error] = std::from_chars(rest.data(), end, length);
  if (error != std::errc{}) return mangled;
  return rest.substr(static_cast<std::size_t>(name - rest.data()), length);
}

/// What a call of a built-in function becomes, if it accesses no memory.
Kind kind_of_builtin(std::string_view name) {
  if (name == "barrier" || name == "work_group_barrier") return Kind::barrier;
  if (name.starts_with("async_work_group_")) return Kind::copy;
  if (name == "wait_group_events") return Kind::copy_wait;
  if (begins_like(name, renaming_beginnings)) return Kind::renaming;
  return begins_like(name, special_beginnings) ? Kind::special : Kind::operation;
}

/// Conversions of bits that a register keeps, parts of vectors, and jumps without a choice.
bool is_renaming(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::PHI:
    case Instruction::BitCast:
    case Instruction::AddrSpaceCast:
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ShuffleVector:
    case Instruction::ExtractValue:
    case Instruction::InsertValue:
    case Instruction::Freeze:
    case Instruction::Alloca:
    case Instruction::Ret:
    case Instruction::Unreachable:
      return true;
    case Instruction::GetElementPtr:
      return llvm::cast<llvm::GetElementPtrInst>(instruction).hasAllConstantIndices();
    default:
      return false;
  }
}

bool is_division(unsigned opcode) {
  return opcode == Instruction::SDiv || opcode == Instruction::UDiv ||
         opcode == Instruction::SRem || opcode == Instruction::URem ||
         opcode == Instruction::FDiv || opcode == Instruction::FRem;
}

Kind kind_of(const Instruction& instruction) {
  if (is_renaming(instruction)) return Kind::renaming;
  if (const auto* const jump = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
    return jump->isConditional() ? Kind::branch : Kind::renaming;
  }
  if (llvm::isa<llvm::SwitchInst>(instruction)) return Kind::branch;
  if (const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const llvm::Function* const called = call->getCalledFunction();
    if (called == nullptr || !called->isDeclaration()) return Kind::renaming;
    const llvm::StringRef name = called->getName();
    return kind_of_builtin(builtin_name({name.data(), name.size()}));
  }
  return is_division(instruction.getOpcode()) ? Kind::special : Kind::operation;
}

}  // namespace

Value Sites::value(const llvm::Value* value) {
  if (value == nullptr || !(llvm::isa<Instruction>(value) || llvm::isa<llvm::Argument>(value))) {
    return 0;
  }
  return values_.try_emplace(value, static_cast<Value>(values_.size() + 1)).first->second;
}

std::uint32_t Sites::add(Site site) {
  std::erase(site.operands, Value{0});
  sites_.push_back(std::move(site));
  return static_cast<std::uint32_t>(sites_.size() - 1);
}

Site Sites::make(const Instruction& instruction, bool has_accessed) {
  Site site{.kind = kind_of(instruction)};
  // Who waits for copies reads which.
  if (has_accessed && site.kind != Kind::copy_wait) site.kind = Kind::memory;
  if (!instruction.getType()->isVoidTy()) site.result = value(&instruction);
  for (const llvm::Use& operand : instruction.operands()) {
    site.operands.push_back(value(operand.get()));
  }
  if (const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType())) {
    site.operations = vector->getNumElements();
  }
  return site;
}

std::uint32_t Sites::find(const Instruction& instruction, bool has_accessed) {
  auto& known = has_accessed ? accessing_ : plain_;
  const auto found = known.find(&instruction);
  if (found != known.end()) return found->second;
  const std::uint32_t site = add(make(instruction, has_accessed));
  known.emplace(&instruction, site);
  return site;
}

std::uint32_t Sites::find_renaming(const Instruction& at, const llvm::Value& to,
                                   const llvm::Value* from) {
  const std::pair key(&at, &to);
  const auto found = renamings_.find(key);
  if (found != renamings_.end()) return found->second;
  const std::uint32_t site =
      add({.kind = Kind::renaming, .result = value(&to), .operands = {value(from)}});
  renamings_.emplace(key, site);
  return site;
}

std::uint32_t Sites::place(const Instruction& instruction) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): LLVM's analyses ask for it, to read
  auto& function = const_cast<llvm::Function&>(*instruction.getFunction());
  auto found = places_.find(&function);
  if (found == places_.end()) {
    found = places_.emplace(&function, place_instructions(function)).first;
  }
  return found->second.at(&instruction);
}

}  // namespace clprobe::tracer
