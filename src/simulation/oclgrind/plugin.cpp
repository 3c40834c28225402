// SPDX-License-Identifier: Apache-2.0
// A plugin of Oclgrind that writes a kernel launch as a trace (docs/trace.md). Environment
// variables configure the plugin: CLPROBE_TRACE=FILE, CLPROBE_TRACE_KERNEL=NAME[:N],
// CLPROBE_TRACE_WIDTH=LANES.
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/oclgrind/fold.hpp"
#include "simulation/oclgrind/sites.hpp"

namespace clprobe::tracer {
namespace {

/// The addresses of a launch's buffers in a trace. Each buffer starts at a page, and the buffers
/// are in the order of their first use. Oclgrind's addresses are unusable: they have the buffer's
/// number in the upper bits, so all buffers would share the same sets of a cache.
class BufferAddresses {
 public:
  explicit BufferAddresses(std::uint64_t first) : next_(first) {}

  std::uint64_t place(const oclgrind::Memory& memory, std::uint64_t address) {
    constexpr std::uint64_t page = 4096;
    const auto [found, is_new] = bases_.try_emplace(memory.extractBuffer(address), next_);
    if (is_new) next_ += (memory.getBuffer(address)->size + page - 1) / page * page;
    return found->second + memory.extractOffset(address);
  }

 private:
  /// Base address in the trace, by the number of a buffer.
  std::map<std::uint64_t, std::uint64_t> bases_{};
  std::uint64_t next_;
};

/// Returns the function that a call enters; null for calls of built-in functions and for other
/// instructions.
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
      return Space::global;  // including constant memory
  }
}

/// Replaces the accesses of a wait for copies. The wait reads the events of copies; each access
/// then names the copy of its event.
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

/// Returns the stride, in elements, of a strided copy: the argument before the event. Returns 1 for
/// a copy without a stride.
std::int64_t stride_of(const oclgrind::WorkItem& executed, const llvm::Instruction& call) {
  constexpr unsigned plain_arguments = 4;
  if (llvm::cast<llvm::CallInst>(call).arg_size() <= plain_arguments) return 1;
  constexpr unsigned place = 3;
  return static_cast<std::int64_t>(executed.getOperand(call.getOperand(place)).getUInt());
}

class GroupRecorder {
 public:
  /// `memory`: Oclgrind's global memory.
  GroupRecorder(Sites& sites, Spots& spots, BufferAddresses& global, const oclgrind::Memory& memory)
      : sites_(sites), spots_(spots), global_(global), memory_(memory) {}

  /// Adds an access to the work-item's next step.
  void add_access(const oclgrind::WorkItem& item, const oclgrind::Memory& memory, Access access,
                  std::uint64_t address, std::size_t bytes) {
    const Space space = space_of(memory);
    if (space == Space::global) address = global_.place(memory, address);
    if (space == Space::local) address = local_.place(memory, address);
    of(item).accesses.push_back({space, access, address, static_cast<std::uint32_t>(bytes)});
  }

  void execute(const oclgrind::WorkItem& item, const llvm::Instruction& instruction,
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
      // A phi that takes a constant becomes a renaming without an operand.
      if (step.chosen == 0) step.site = sites_.find_renaming(instruction, instruction, nullptr);
    }
    step.accesses = std::exchange(of_item.accesses, {});
    of_item.steps.push_back(std::move(step));
  }

  /// Returns the steps of all work-items, by local id. The first dimension varies fastest.
  [[nodiscard]] std::vector<Steps> take_steps() {
    std::vector<Steps> all;
    all.reserve(items_.size());
    for (Item& each : items_) all.push_back(std::move(each.steps));
    return all;
  }

 private:
  struct Call {
    std::uint32_t spot{Spots::kernel};
    const llvm::Instruction* instruction{nullptr};
  };
  struct Item {
    Steps steps{};
    std::vector<MemoryAccess> accesses{};  ///< accesses of the next step
    std::vector<Call> calls{};             ///< calls that have not returned
    /// Numbers of the started copies, by event.
    std::map<std::uint64_t, std::uint32_t> copies{};
  };

  Item& of(const oclgrind::WorkItem& item) {
    const oclgrind::Size3 size = item.getWorkGroup()->getGroupSize();
    if (items_.empty()) items_.resize(size.x * size.y * size.z);
    const oclgrind::Size3 id = item.getLocalID();
    return items_.at(id.x + size.x * (id.y + size.y * id.z));
  }

  void begin_copy(Item& item, const oclgrind::WorkItem& executed, const llvm::Instruction& call,
                  std::uint64_t event) {
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

  void enter(Item& item, const llvm::Instruction& call, std::uint32_t spot) {
    const llvm::Function& function = *entered_by(call);
    for (const llvm::Argument& each : function.args()) {
      const llvm::Value* const from = call.getOperand(each.getArgNo());
      item.steps.push_back({.spot = spot, .site = sites_.find_renaming(call, each, from)});
    }
    item.calls.push_back({spot, &call});
  }

  void leave(Item& item, const llvm::Instruction& returning, std::uint32_t spot) {
    if (item.calls.empty()) return;  // end of the kernel
    const llvm::Value* const value = llvm::cast<llvm::ReturnInst>(returning).getReturnValue();
    if (value != nullptr) {
      const std::uint32_t site =
          sites_.find_renaming(returning, *item.calls.back().instruction, value);
      item.steps.push_back({.spot = spot, .site = site});
    }
    item.calls.pop_back();
  }

  Sites& sites_;
  Spots& spots_;
  BufferAddresses& global_;
  const oclgrind::Memory& memory_;
  BufferAddresses local_{0};
  std::vector<Item> items_{};
};

constexpr std::uint64_t first_address = 1U << 20U;
// Maximum size of a file that `clprobe gsi` reads.
constexpr std::size_t max_bytes = std::size_t{1} << 27U;

void say(std::string_view message) { std::cerr << "clprobe_oclgrind: " << message << '\n'; }

std::string variable(const char* name, std::string_view usual) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string(usual) : std::string(value);
}

/// Returns the value of a whole number from 1 to `most`, both inclusive. Returns nothing for other
/// text.
std::optional<std::size_t> whole_number(std::string_view text, std::size_t most) {
  std::size_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || rest != last || number == 0 || number > most) return std::nullopt;
  return number;
}

struct Settings {
  std::string file{};
  std::string kernel{};  ///< name of the kernel; empty: the first kernel that is launched
  std::size_t launch{1};
  std::size_t width{32};
};

/// Returns the settings of the environment variables. For an invalid variable, prints a message and
/// returns nothing.
std::optional<Settings> settings_of_environment() {
  Settings settings{.file = variable("CLPROBE_TRACE", "clprobe.trace")};
  const std::string kernel = variable("CLPROBE_TRACE_KERNEL", "");
  const std::size_t colon = std::min(kernel.find(':'), kernel.size());
  settings.kernel = kernel.substr(0, colon);
  const auto launch =
      colon == kernel.size()
          ? std::size_t{1}
          : whole_number(std::string_view(kernel).substr(colon + 1), ~std::size_t{0});
  const auto width = whole_number(variable("CLPROBE_TRACE_WIDTH", "32"), 64);
  if (!launch) say("CLPROBE_TRACE_KERNEL expects NAME or NAME:N, with N from 1");
  if (!width) say("CLPROBE_TRACE_WIDTH expects the number of work-items per sub-group, 1 to 64");
  if (!launch || !width) return std::nullopt;
  settings.launch = *launch;
  settings.width = *width;
  return settings;
}

/// The trace of a launch that is being recorded.
class LaunchTrace {
 public:
  LaunchTrace(std::string_view kernel, std::size_t width)
      : width_(width), text_(simulator::header_text(kernel, simulator::GroupsOf::launch)) {}

  void begin_group(const ::oclgrind::Memory& memory) {
    group_.emplace(sites_, spots_, global_, memory);
  }
  GroupRecorder* group() { return group_ ? &*group_ : nullptr; }

  void end_group(std::uint64_t local_bytes) {
    if (!group_) return;
    const std::vector<Steps> items = group_->take_steps();
    group_.reset();
    simulator::Group group{.local_bytes = local_bytes};
    for (std::size_t first = 0; first < items.size(); first += width_) {
      const std::size_t lanes = std::min(width_, items.size() - first);
      group.warps.push_back({.program = add_program({items.data() + first, lanes}, first == 0),
                             .lanes = static_cast<std::uint32_t>(lanes),
                             .number = warps_++});
    }
    if (!group.warps.empty()) text_ += simulator::group_text(group);
    if (text_.size() > max_bytes) {
      refuse("the kernel's trace would be too large; launch fewer groups");
    }
  }

  void refuse(std::string_view problem) {
    if (problem_.empty()) problem_ = problem;
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::uint32_t warps() const { return warps_; }

 private:
  /// Returns the number of a warp's program. Warps with equal programs share one program.
  std::uint32_t add_program(std::span<const Steps> lanes, bool is_first) {
    const FoldedWarp folded = fold_warp(sites_.all(), spots_, lanes, is_first);
    simulator::Program program = folded.program;
    // A program of a trace must not be empty, but a kernel may do nothing.
    if (program.empty()) program.push_back({.operation = simulator::Operation::branch});
    const std::string text = simulator::program_text(program, programs_.size(), folded.tables);
    const auto [found, is_new] =
        programs_.try_emplace(text.substr(text.find('\n')), programs_.size());
    if (is_new) text_ += text;
    return static_cast<std::uint32_t>(found->second);
  }

  std::size_t width_;
  std::string text_;
  std::string problem_{};
  Sites sites_{};
  Spots spots_{};
  BufferAddresses global_{first_address};
  std::optional<GroupRecorder> group_{};
  /// Number of each program, by its text.
  std::unordered_map<std::string, std::size_t> programs_{};
  std::uint32_t warps_{0};
};

class TracePlugin final : public ::oclgrind::Plugin {
 public:
  TracePlugin(const ::oclgrind::Context* context, Settings settings)
      : Plugin(context), settings_(std::move(settings)) {}

  /// Reports that the plugin is not thread-safe. Oclgrind then runs the work-groups one after
  /// another.
  [[nodiscard]] bool isThreadSafe() const override { return false; }

  void kernelBegin(const ::oclgrind::KernelInvocation* launch) override {
    const std::string& name = launch->getKernel()->getName();
    const bool is_meant = settings_.kernel.empty() || settings_.kernel == name;
    if (!is_meant || ++launches_ != settings_.launch) return;
    trace_.emplace(name.substr(0, max_name), settings_.width);
  }

  void kernelEnd(const ::oclgrind::KernelInvocation* launch) override {
    if (!trace_) return;
    const std::string name = launch->getKernel()->getName();
    if (trace_->problem().empty()) {
      write(name);
    } else {
      say(name + " is not traced: " + trace_->problem());
    }
    trace_.reset();
  }

  void workGroupBegin(const ::oclgrind::WorkGroup* /*group*/) override {
    if (trace_) trace_->begin_group(*m_context->getGlobalMemory());
  }
  void workGroupComplete(const ::oclgrind::WorkGroup* group) override {
    if (trace_) trace_->end_group(group->getLocalMemory()->getTotalAllocated());
  }

  void instructionExecuted(const ::oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                           const ::oclgrind::TypedValue& result) override {
    if (GroupRecorder* const group = recorder()) group->execute(*item, *instruction, result);
  }

  void memoryLoad(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item,
                  std::size_t address, std::size_t size) override {
    add(memory, item, Access::load, address, size);
  }
  void memoryStore(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item,
                   std::size_t address, std::size_t size, const uint8_t* /*bytes*/) override {
    add(memory, item, Access::store, address, size);
  }
  /// Records an atomic by its load. The store that follows belongs to the same access.
  void memoryAtomicLoad(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item,
                        ::oclgrind::AtomicOp /*operation*/, std::size_t address,
                        std::size_t size) override {
    add(memory, item, Access::atomic, address, size);
  }

 private:
  static constexpr std::size_t max_name = 64;

  GroupRecorder* recorder() { return trace_ ? trace_->group() : nullptr; }

  void add(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item, Access access,
           std::size_t address, std::size_t size) {
    // Oclgrind stores the kernel's arguments before any work-item runs. Stores without a work-item
    // are not recorded.
    GroupRecorder* const group = item == nullptr ? nullptr : recorder();
    if (group != nullptr) group->add_access(*item, *memory, access, address, size);
  }

  void write(const std::string& name) {
    std::ofstream file(settings_.file, std::ios::binary);
    file << trace_->text();
    file.close();
    say(file ? "wrote " + settings_.file + ": " + std::to_string(trace_->warps()) +
                   " sub-groups of " + name
             : "cannot write " + settings_.file);
  }

  Settings settings_;
  std::size_t launches_{0};
  std::optional<LaunchTrace> trace_{};
};

std::unique_ptr<TracePlugin>& loaded_plugin() {
  static std::unique_ptr<TracePlugin> plugin;
  return plugin;
}

}  // namespace
}  // namespace clprobe::tracer

// The functions that Oclgrind calls.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
__attribute__((visibility("default"))) void initializePlugins(oclgrind::Context* context) {
  auto settings = clprobe::tracer::settings_of_environment();
  if (!settings) return;
  auto& plugin = clprobe::tracer::loaded_plugin();
  plugin = std::make_unique<clprobe::tracer::TracePlugin>(context, *std::move(settings));
  context->registerPlugin(plugin.get());
}

__attribute__((visibility("default"))) void releasePlugins(oclgrind::Context* context) {
  auto& plugin = clprobe::tracer::loaded_plugin();
  if (plugin == nullptr) return;
  context->unregisterPlugin(plugin.get());
  plugin.reset();
}
}
// NOLINTEND(readability-identifier-naming)
