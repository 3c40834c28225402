// SPDX-License-Identifier: Apache-2.0
// Replay of the kernel rewritten in PTX. Uses OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/kernel/replay.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"
#include "text/api/text.hpp"

namespace clprobe::kernel {
namespace {

std::uint64_t count_items(const bundle::NdRange& range) {
  std::uint64_t items = 1;
  for (std::uint32_t i = 0; i < range.dimensions; ++i) items *= range.global.at(i);
  return items;
}

}  // namespace

ptx::Rewritten Replay::rewrite(const std::string& text, const ptx::Parts& parts,
                               ptx::Branches branches) const {
  // A parameter that is no buffer has an object of its own.
  std::vector<std::size_t> numbers;
  for (const bundle::Argument& each : bundle_.launch.arguments) {
    const bool is_buffer = each.kind == bundle::ArgumentKind::buffer;
    numbers.push_back(is_buffer ? each.object : objects_.size() + numbers.size());
  }
  return ptx::rewrite(text, bundle_.launch.kernel, parts, branches, numbers);
}

/// Returns facts with the number of instructions that the rewritten kernel can lack, or why the
/// kernel cannot be rewritten. Launches the kernel. No facts on devices without PTX.
Parameters Replay::count_removable() {
  Parameters facts;
  if (!gives_ptx(session_.info())) return facts;
  const ptx::Parts all = ptx::Parts{}.set();
  const auto count_removed = [](const ptx::Rewritten& of) {
    return std::accumulate(
        of.counts.begin(), of.counts.end(), std::size_t{0},
        [](std::size_t sum, const ptx::Count& each) { return sum + each.removed; });
  };
  try {
    if (ptx_.empty()) throw ptx::PtxError("the driver provides no PTX");
    ptx::Rewritten without_all = rewrite(ptx_, all, ptx::Branches::own);
    if (without_all.parameters != bundle_.launch.arguments.size()) {
      throw ptx::PtxError("the parameters in the PTX text differ from the kernel's parameters");
    }
    prepare_rewritten({.variant = Variant::rewritten});
    if (can_replay_branches(without_all)) {
      ptx::Rewritten replayed = rewrite(ptx_, all, ptx::Branches::replayed);
      const bool removes_more = count_removed(replayed) > count_removed(without_all);
      if (removes_more && has_replayed_branches(without_all)) {
        facts.set(replayed_fact, static_cast<std::int64_t>(replayed.decisions));
        without_all = std::move(replayed);
      }
    }
    for (const PartRow& row : part_rows) {
      const ptx::Count& count = without_all.counts.at(ptx::index_of(row.part));
      facts.set(fmt::format(count_fact, row.name), static_cast<std::int64_t>(count.all));
      facts.set(fmt::format(removable_fact, row.name), static_cast<std::int64_t>(count.removed));
    }
    if (!without_all.barriers_reason.empty()) {
      facts.set(barriers_fact, without_all.barriers_reason);
    }
  } catch (const ptx::PtxError& error) {
    facts.set(rewriting_absence, std::string(error.what()));
  } catch (const Unsupported& error) {
    facts.set(rewriting_absence, std::string(error.what()));
  }
  return facts;
}

/// True if every launch takes the same branches, so that recorded decisions stay right, and if the
/// work-items of a launch can be numbered.
bool Replay::can_replay_branches(const ptx::Rewritten& kernel) const {
  if (kernel.decisions == 0 || !kernel.is_steady || !outcome_.is_deterministic) return false;
  const bundle::NdRange& range = bundle_.launch.range;
  for (std::uint32_t i = 0; i < range.dimensions; ++i) {
    if (range.local.at(i) != 0 && range.global.at(i) % range.local.at(i) != 0) return false;
  }
  return true;
}

/// True if the kernel that replays its branches leaves the right bytes, and is not much slower than
/// the plain launch. If `own`, the kernel with its own branches, lacks no load, a slow replay still
/// gives lower bounds.
bool Replay::has_replayed_branches(const ptx::Rewritten& own) {
  const Shape replaying{.variant = Variant::rewritten, .replays_branches = true};
  try {
    prepare_rewritten(replaying);
    if (own.counts.at(ptx::index_of(ptx::Part::loads)).removed == 0) return true;
    const double plain_ns = least_ns([&] { return run_alone({}, true); });
    return least_ns([&] { return run_alone(replaying, true); }) <= max_instrument_ratio * plain_ns;
  } catch (const Unsupported&) {
    return false;
  }
}

Rebuilt& Replay::rewritten(const Shape& shape) { return rewritten_[key_of(shape)]; }

const std::string& Replay::text_without_functions() {
  if (ptx_without_functions_.empty()) {
    const cl::Program cheap =
        build_program(session_, without_redefinitions(bundle_), prelude::without_functions_text());
    ptx_without_functions_ = ptx_of(cl::Kernel(cheap, bundle_.launch.kernel.c_str()));
  }
  return ptx_without_functions_;
}

/// Sets the arguments that a rewritten kernel has in addition to its own, and clears `sink_`.
void Replay::set_added_arguments(cl::Kernel& kernel, const Decisions& decisions) {
  constexpr std::array<cl_uint, 2> zeros{};
  if (sink_() == nullptr) {
    sink_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, sizeof(zeros));
  }
  session_.queue().enqueueWriteBuffer(sink_, CL_TRUE, 0, sizeof(zeros), zeros.data());
  auto index = static_cast<cl_uint>(bundle_.launch.arguments.size());
  kernel.setArg(index++, cl_uint{0});
  kernel.setArg(index++, sink_);
  kernel.setArg(index++, decisions.bits() == nullptr ? sink_ : decisions.bits);
  kernel.setArg(index++, cl_ulong{sizeof(cl_uint) * count_items(bundle_.launch.range)});
  kernel.setArg(index++, cl_uint{decisions.words});
}

/// Returns the record of which way each work-item takes at the branches of `text` that data decide.
/// The first launch counts the words that the decisions need. Throws DeviceError.
Decisions Replay::record_decisions(const std::string& text) {
  const std::string recording = rewrite(text, {}, ptx::Branches::recorded).text;
  cl::Kernel kernel(build_ptx(session_, recording, build_.options), bundle_.launch.kernel.c_str());
  set_arguments(kernel);
  const std::uint64_t most =
      std::min(session_.info().global_memory.count / 8, session_.info().max_allocation.count);
  Decisions decisions;
  std::uint64_t needed = 1;
  while (needed > decisions.words) {
    decisions.bytes = needed * sizeof(cl_uint) * count_items(bundle_.launch.range);
    if (decisions.bytes > most) {
      throw DeviceError(fmt::format(
          "a record of the kernel's branch decisions needs {}, but clprobe allows at most {}",
          format_bytes({decisions.bytes}), format_bytes({most})));
    }
    decisions.words = static_cast<std::uint32_t>(needed);
    decisions.bits = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, decisions.bytes);
    restore();
    set_added_arguments(kernel, decisions);
    launch(kernel, range_for_prelude(bundle_.launch.range));
    cl_uint words = 0;
    session_.queue().enqueueReadBuffer(sink_, CL_TRUE, sizeof(cl_uint), sizeof(words), &words);
    needed = words;
  }
  return decisions;
}

const Decisions& Replay::recorded_decisions(const std::string& text, bool without_functions) {
  const auto known = decisions_.find(without_functions);
  if (known != decisions_.end()) return known->second;
  return decisions_.emplace(without_functions, record_decisions(text)).first->second;
}

void Replay::prepare_rewritten(const Shape& shape) {
  Rebuilt& own = rewritten(shape);
  if (!own.kernel && own.problem.empty()) {
    own.build = build_;
    const bool without_functions = shape.setting.without_functions;
    Decisions decisions;
    const auto build = [&] {
      const std::string text = without_functions ? text_without_functions() : ptx_;
      if (shape.replays_branches) decisions = recorded_decisions(text, without_functions);
      const auto branches = shape.replays_branches ? ptx::Branches::replayed : ptx::Branches::own;
      const std::string changed = rewrite(text, shape.removed, branches).text;
      own.build.sha256 = bundle::sha256_of(changed);
      return build_ptx(session_, changed, build_.options);
    };
    const auto launch_unchanged = [&] {
      set_added_arguments(*own.kernel, decisions);
      launch(*own.kernel, range_for_prelude(bundle_.launch.range));
    };
    // Results of a kernel without some of its parts are not compared. Such a kernel may write
    // objects that the original kernel leaves unchanged, so copies of all objects are kept.
    std::function<void()> compared;
    if (shape.is_unchanged()) {
      compared = launch_unchanged;
    } else {
      keep_all_pristine();
    }
    try {
      rebuild(own, build, "rewritten", compared);
      if (own.kernel) set_added_arguments(*own.kernel, decisions);
    } catch (const ptx::PtxError& error) {
      own.problem = error.what();
    }
  }
  if (!own.problem.empty()) throw Unsupported(own.problem);
}

}  // namespace clprobe::kernel
