// SPDX-License-Identifier: Apache-2.0
// Replays of the text with an entry: launches of some of the groups, and with local memory that
// nothing uses; and how many groups run at once. Sees OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/kernel/build_program.hpp"
#include "probes/kernel/ranges.hpp"
#include "probes/kernel/renaming.hpp"
#include "probes/kernel/replay.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

// An argument of local memory needs a size, and nobody has less of it than this.
constexpr std::uint64_t min_padding = 16;
// A local argument begins where vectors of 16 words may lie, on some devices at twice that.
constexpr std::uint64_t local_alignment = 256;

bundle::Bundle with_entry(const bundle::Bundle& bundle) {
  bundle::Bundle entered = without_redefinitions(bundle);
  for (std::string& each : entered.texts) each = prelude::with_entry(each, bundle.launch.kernel);
  return entered;
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + local_alignment - 1) / local_alignment * local_alignment;
}

/// Of the local memory that a group may have, what the kernel leaves of it.
std::uint64_t free_local_bytes(const cl::Kernel& kernel, const Session& session,
                               const bundle::Launch& launch) {
  std::uint64_t used = aligned(kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(session.device()));
  for (const bundle::Argument& each : launch.arguments) {
    if (each.kind == bundle::ArgumentKind::local) used += aligned(each.bytes);
  }
  const std::uint64_t all = session.info().local_memory.count;
  return all > used ? all - used : 0;
}

}  // namespace

Places Replay::prepare_entered(std::uint64_t padding_eighths) {
  if (!entered_.kernel && entered_.problem.empty()) {
    entered_.problem = build_with_entry(false, entered_);
  }
  if (!entered_.problem.empty()) throw Unsupported(entered_.problem);
  const std::uint64_t padding = padding_bytes(padding_eighths);
  const auto known = entered_.resident_groups.find(padding);
  if (known != entered_.resident_groups.end()) return {padding, known->second};
  const std::uint64_t groups = count_resident(padding);
  entered_.resident_groups.emplace(padding, groups);
  return {padding, groups};
}

/// Returns what is wrong with it; empty where nothing is.
std::string Replay::build_with_entry(bool with_noise, Entered& entered) {
  constexpr std::string_view where = "with clprobe's entry code";
  const std::string preamble =
      prelude::entry_text(range_for_prelude(bundle_.launch.range), with_noise);
  entered.build = {bundle::sha256_of(preamble + build_.sha256), build_.options};
  cl::Kernel kernel;
  try {
    const cl::Program program = build_program(session_, with_entry(bundle_), preamble);
    kernel = cl::Kernel(program, bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    return fmt::format("{}, {}", where, error.what());
  }
  // Before its arguments have sizes, which some drivers count and some do not.
  entered.free_local_bytes = free_local_bytes(kernel, session_, bundle_.launch);
  set_arguments(kernel);
  entered.kernel = kernel;
  restore();
  launch_with_entry(kernel, {.groups = all_groups(), .padding_bytes = min_padding});
  const std::string other = other_object();
  return other.empty() ? other
                       : fmt::format("{}, the kernel leaves different bytes in {}", where, other);
}

std::uint64_t Replay::all_groups() const {
  return prelude::count_all_groups(range_for_prelude(bundle_.launch.range));
}

std::uint64_t Replay::padding_bytes(std::uint64_t eighths) const {
  const std::uint64_t bytes = entered_.free_local_bytes / 8 * eighths;
  return std::max(min_padding, bytes / min_padding * min_padding);
}

LaunchTimes Replay::launch_with_entry(cl::Kernel& kernel, const EntryLaunch& launch) {
  const auto first = static_cast<cl_uint>(bundle_.launch.arguments.size());
  kernel.setArg(first, cl_uint{launch.mode});
  kernel.setArg(first + 1, cl_uint{launch.amount});
  kernel.setArg(first + 2, launch.room);
  kernel.setArg(first + 3, launch.padding_bytes, nullptr);
  const prelude::NdRange range =
      prelude::range_of_groups(range_for_prelude(bundle_.launch.range), launch.groups);
  const LaunchTimes times = session_.launch(kernel, sizes_of(range.global, range.dimensions),
                                            sizes_of(range.local, range.dimensions),
                                            sizes_of(range.offset, range.dimensions));
  check_guards();
  return times;
}

LaunchTimes Replay::launch_entered(const Shape& shape) {
  const prelude::EntryMode mode =
      shape.ends_at_once ? prelude::EntryMode::end : prelude::EntryMode::none;
  return launch_with_entry(*entered_.kernel,
                           {.groups = shape.distinct_groups,
                            .mode = static_cast<std::uint32_t>(mode),
                            .padding_bytes = padding_bytes(shape.padding_eighths)});
}

/// The most of three counts: none counts a group that is not there, and one may miss some.
std::uint64_t Replay::count_resident(std::uint64_t padding_bytes) {
  // Looks of one group until all others must have arrived: a microsecond each on a GPU whose groups
  // all look at one word; on a CPU, where threads have to wake up, a hundredth of that.
  const cl_uint patience = runs_items_in_turn(session_.info()) ? 300'000 : 1'000;
  // More than any compute unit holds. A CPU's thread takes several groups at a time.
  constexpr std::uint64_t groups_per_unit = 64;
  constexpr std::size_t at_once = prelude::entry_at_once_word;
  const std::uint64_t units = units_of(session_.info());
  std::array<cl_uint, prelude::entry_room_words> words{};
  const cl::Buffer room(session_.context(), CL_MEM_READ_WRITE, sizeof(words));
  const EntryLaunch launch{.groups = units * groups_per_unit,
                           .mode = static_cast<std::uint32_t>(prelude::EntryMode::count),
                           .amount = patience,
                           .room = room,
                           .padding_bytes = padding_bytes};
  cl_uint most = 0;
  for (int turn = 0; turn < 3; ++turn) {
    words = {};
    session_.queue().enqueueWriteBuffer(room, CL_TRUE, 0, sizeof(words), words.data());
    launch_with_entry(*entered_.kernel, launch);
    session_.queue().enqueueReadBuffer(room, CL_TRUE, 0, sizeof(words), words.data());
    most = std::max(most, words.at(at_once));
  }
  return most;
}

}  // namespace clprobe::kernel
