// SPDX-License-Identifier: Apache-2.0
#include "simulation/oclgrind/sites.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clprobe::tracer {
namespace {

using llvm::Instruction;

using llvm::BasicBlock;
using llvm::Loop;

/// Returns the positions of a function's instructions. An instruction follows all instructions from
/// which control can reach it, except through the back edge of a loop. The instructions of a loop
/// precede the instructions after the loop. Work-items at lower positions can therefore reach a
/// waiting work-item.
std::unordered_map<const llvm::Instruction*, std::uint32_t> place_instructions(
    llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  std::unordered_map<const BasicBlock*, std::size_t> numbers;
  for (const BasicBlock* const block : order) numbers.emplace(block, numbers.size());
  // The blocks are sorted by the headers of their loops, outermost loop first, and then by their
  // own number. The blocks of a loop are then contiguous.
  std::map<std::vector<std::size_t>, const BasicBlock*> sorted;
  for (const BasicBlock* const block : order) {
    std::vector<std::size_t> path{numbers.at(block)};
    for (const Loop* loop = loops.getLoopFor(block); loop != nullptr;
         loop = loop->getParentLoop()) {
      path.push_back(numbers.at(loop->getHeader()));
    }
    std::reverse(path.begin(), path.end());
    sorted.emplace(std::move(path), block);
  }
  std::unordered_map<const llvm::Instruction*, std::uint32_t> places;
  for (const auto& [path, block] : sorted) {
    for (const llvm::Instruction& each : *block) {
      places.emplace(&each, static_cast<std::uint32_t>(places.size()));
    }
  }
  return places;
}

/// Prefixes of the names of functions that use the slower pipelines: roots, quotients, powers and
/// trigonometric functions.
constexpr std::string_view special_beginnings[]{
    "sqrt",  "rsqrt",   "cbrt",   "sin",    "cos",       "tan",      "asin",
    "acos",  "atan",    "exp",    "log",    "pow",       "root",     "hypot",
    "erf",   "tgamma",  "lgamma", "fmod",   "remainder", "remquo",   "divide",
    "recip", "native_", "half_",  "length", "distance",  "normalize"};

/// Prefixes of the names of functions that need no instruction. Work-item ids are in registers, and
/// the simulator does not model memory order.
constexpr std::string_view renaming_beginnings[]{
    "get_",    "mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence",
    "as_",     "dbg.",      "lifetime.",      "assume",          "printf",
    "prefetch"};

template <typename Beginnings>
bool begins_like(std::string_view name, const Beginnings& beginnings) {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [name](std::string_view each) { return name.starts_with(each); });
}

/// Returns the name of a built-in function in OpenCL C, such as "barrier" for "_Z7barrierj".
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

/// Returns the kind of a call of a built-in function that accesses no memory.
Kind kind_of_builtin(std::string_view name) {
  if (name == "barrier" || name == "work_group_barrier") return Kind::barrier;
  if (name.starts_with("async_work_group_")) return Kind::copy;
  if (name == "wait_group_events") return Kind::copy_wait;
  if (begins_like(name, renaming_beginnings)) return Kind::renaming;
  return begins_like(name, special_beginnings) ? Kind::special : Kind::operation;
}

/// Returns true for instructions that compute nothing: phis, conversions of bits within a register,
/// parts of vectors, constant offsets, and returns.
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
  // A wait for copies also accesses memory: it reads the events of the copies.
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
