// SPDX-License-Identifier: Apache-2.0
#include "oclgrind/group_recorder.hpp"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <oclgrind/Memory.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <cstring>
#include <utility>

namespace clprobe::tracer {
namespace {

/// The function that a call enters; null for built-in ones and for all else.
const llvm::Function* entered_by(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* const called = call == nullptr ? nullptr : call->getCalledFunction();
  return called == nullptr || called->isDeclaration() ? nullptr : called;
}

Space space_of(const oclgrind::Memory& memory) {
  switch (memory.getAddressSpace()) {
    case oclgrind::AddrSpacePrivate:
      return Space::own;
    case oclgrind::AddrSpaceLocal:
      return Space::local;
    default:
      return Space::global;  // and constant memory, which comes from there
  }
}

/// A wait for copies reads their events, each of which it then names.
void name_copies(const oclgrind::WorkItem& item,
                 const std::map<std::uint64_t, std::uint32_t>& copies,
                 std::vector<MemoryAccess>& accesses) {
  for (MemoryAccess& each : accesses) {
    std::size_t event = 0;
    std::memcpy(&event, item.getPrivateMemory()->getPointer(each.address), sizeof(event));
    const auto found = copies.find(event);
    if (found != copies.end()) each.copy = found->second;
  }
  std::erase_if(accesses, [](const MemoryAccess& each) { return each.copy == 0; });
}

/// A strided copy has a stride, in elements, before its event. One of 1 is a plain copy.
std::int64_t stride_of(const oclgrind::WorkItem& executed, const llvm::Instruction& call) {
  constexpr unsigned plain_arguments = 4;
  if (llvm::cast<llvm::CallInst>(call).arg_size() <= plain_arguments) return 1;
  constexpr unsigned place = 3;
  return static_cast<std::int64_t>(executed.getOperand(call.getOperand(place)).getUInt());
}

}  // namespace

std::uint64_t Placing::place(const oclgrind::Memory& memory, std::uint64_t address) {
  constexpr std::uint64_t page = 4096;
  const auto [found, is_new] = bases_.try_emplace(memory.extractBuffer(address), next_);
  if (is_new) next_ += (memory.getBuffer(address)->size + page - 1) / page * page;
  return found->second + memory.extractOffset(address);
}

GroupRecorder::Item& GroupRecorder::of(const oclgrind::WorkItem& item) {
  const oclgrind::Size3 size = item.getWorkGroup()->getGroupSize();
  if (items_.empty()) items_.resize(size.x * size.y * size.z);
  const oclgrind::Size3 id = item.getLocalID();
  return items_.at(id.x + size.x * (id.y + size.y * id.z));
}

void GroupRecorder::add_access(const oclgrind::WorkItem& item, const oclgrind::Memory& memory,
                               Access access, std::uint64_t address, std::size_t bytes) {
  const Space space = space_of(memory);
  if (space == Space::global) address = global_.place(memory, address);
  if (space == Space::local) address = local_.place(memory, address);
  of(item).accesses.push_back({space, access, address, static_cast<std::uint32_t>(bytes)});
}

void GroupRecorder::begin_copy(Item& item, const oclgrind::WorkItem& executed,
                               const llvm::Instruction& call, std::uint64_t event) {
  const llvm::Value* const to = call.getOperand(0);
  const llvm::Value* const from = call.getOperand(1);
  const auto& pointer = *llvm::cast<llvm::PointerType>(to->getType());
  const bool goes_in = pointer.getAddressSpace() == oclgrind::AddrSpaceLocal;
  const std::uint64_t element =
      call.getModule()->getDataLayout().getTypeAllocSize(pointer.getPointerElementType());
  const std::uint64_t elements = executed.getOperand(call.getOperand(2)).getUInt();
  if (elements == 0) return;
  const std::int64_t stride = stride_of(executed, call);
  const bool is_plain = stride == 1;
  const std::uint64_t address = executed.getOperand(goes_in ? from : to).getPointer();
  const auto number = static_cast<std::uint32_t>(item.copies.size() + 1);
  item.accesses.push_back(
      {.space = Space::global,
       .access = goes_in ? Access::copy_in : Access::copy_out,
       .address = global_.place(memory_, address),
       .bytes = static_cast<std::uint32_t>(is_plain ? elements * element : element),
       .copy = item.copies.try_emplace(event, number).first->second,
       .pieces = is_plain ? 1 : static_cast<std::uint32_t>(elements),
       .distance = stride * static_cast<std::int64_t>(element)});
}

void GroupRecorder::execute(const oclgrind::WorkItem& item, const llvm::Instruction& instruction,
                            const oclgrind::TypedValue& result) {
  Item& of_item = of(item);
  const std::uint32_t caller = of_item.calls.empty() ? Spots::kernel : of_item.calls.back().spot;
  const std::uint32_t spot = spots_.find(caller, sites_.place(instruction));
  if (entered_by(instruction) != nullptr) return enter(of_item, instruction, spot);
  if (llvm::isa<llvm::ReturnInst>(instruction)) return leave(of_item, instruction, spot);
  Step step{.spot = spot, .site = sites_.find(instruction, !of_item.accesses.empty())};
  const Kind kind = sites_.all()[step.site].kind;
  if (kind == Kind::copy) begin_copy(of_item, item, instruction, result.getUInt());
  if (kind == Kind::copy_wait) name_copies(item, of_item.copies, of_item.accesses);
  if (const auto* const phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    const llvm::Value* const incoming = phi->getIncomingValueForBlock(item.getPreviousBlock());
    const auto* const other = llvm::dyn_cast<llvm::PHINode>(incoming);
    step.takes_older =
        other != nullptr && other->getParent() == phi->getParent() && other->comesBefore(phi);
    step.chosen = sites_.value(incoming);
    // A constant, which comes from nowhere.
    if (step.chosen == 0) step.site = sites_.find_renaming(instruction, instruction, nullptr);
  }
  step.accesses = std::exchange(of_item.accesses, {});
  of_item.steps.push_back(std::move(step));
}

void GroupRecorder::enter(Item& item, const llvm::Instruction& call, std::uint32_t spot) {
  const llvm::Function& function = *entered_by(call);
  for (const llvm::Argument& each : function.args()) {
    const llvm::Value* const from = call.getOperand(each.getArgNo());
    item.steps.push_back({.spot = spot, .site = sites_.find_renaming(call, each, from)});
  }
  item.calls.push_back({spot, &call});
}

void GroupRecorder::leave(Item& item, const llvm::Instruction& returning, std::uint32_t spot) {
  if (item.calls.empty()) return;  // the kernel's end
  const llvm::Value* const value = llvm::cast<llvm::ReturnInst>(returning).getReturnValue();
  if (value != nullptr) {
    const std::uint32_t site =
        sites_.find_renaming(returning, *item.calls.back().instruction, value);
    item.steps.push_back({.spot = spot, .site = site});
  }
  item.calls.pop_back();
}

std::vector<Steps> GroupRecorder::take_steps() {
  std::vector<Steps> all;
  all.reserve(items_.size());
  for (Item& each : items_) all.push_back(std::move(each.steps));
  return all;
}

}  // namespace clprobe::tracer
