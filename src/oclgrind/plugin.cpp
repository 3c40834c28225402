// SPDX-License-Identifier: Apache-2.0
// A plugin of Oclgrind that writes a launch of a kernel as a trace (docs/trace.md). It is told by
// the environment: CLPROBE_TRACE=FILE, CLPROBE_TRACE_KERNEL=NAME[:N], CLPROBE_TRACE_WIDTH=LANES.
#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clprobe/trace_file.hpp"
#include "oclgrind/fold.hpp"
#include "oclgrind/group_recorder.hpp"

namespace clprobe::tracer {
namespace {

constexpr std::uint64_t first_address = 1U << 20U;
constexpr std::size_t max_bytes = std::size_t{1} << 27U;  // what `clprobe gsi` reads of a file

void say(std::string_view message) { std::cerr << "clprobe_oclgrind: " << message << '\n'; }

std::string variable(const char* name, std::string_view usual) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string(usual) : std::string(value);
}

/// Nothing where the text is no whole number from 1 to `most`.
std::optional<std::size_t> whole_number(std::string_view text, std::size_t most) {
  std::size_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || rest != last || number == 0 || number > most) return std::nullopt;
  return number;
}

struct Settings {
  std::string file{};
  std::string kernel{};  ///< empty: whichever comes first
  std::size_t launch{1};
  std::size_t width{32};
};

/// Nothing where one of them cannot be, which is told.
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
  if (!width) say("CLPROBE_TRACE_WIDTH expects the work-items per sub-group, 1 to 64");
  if (!launch || !width) return std::nullopt;
  settings.launch = *launch;
  settings.width = *width;
  return settings;
}

/// The trace of one launch in the making.
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
    if (text_.size() > max_bytes) refuse("its trace would be too large: launch fewer groups");
  }

  void refuse(std::string_view problem) {
    if (problem_.empty()) problem_ = problem;
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::uint32_t warps() const { return warps_; }

 private:
  /// Its number; warps that do the same share one.
  std::uint32_t add_program(std::span<const Steps> lanes, bool is_first) {
    const FoldedWarp folded = fold_warp(sites_.all(), spots_, lanes, is_first);
    simulator::Program program = folded.program;
    // A kernel can do nothing; a trace's programs do something.
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
  Placing global_{first_address};
  std::optional<GroupRecorder> group_{};
  std::unordered_map<std::string, std::size_t> programs_{};  ///< numbers, by their texts
  std::uint32_t warps_{0};
};

class TracePlugin final : public ::oclgrind::Plugin {
 public:
  TracePlugin(const ::oclgrind::Context* context, Settings settings)
      : Plugin(context), settings_(std::move(settings)) {}

  /// Oclgrind then runs one work-group after another, in their order.
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
  /// Its store follows, and belongs to the same access.
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
    // Oclgrind itself stores arguments before any work-item runs.
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

// Oclgrind looks for these two.
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
