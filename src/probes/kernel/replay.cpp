// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "probes/kernel/build_program.hpp"
#include "probes/kernel/close_words.hpp"
#include "probes/kernel/ranges.hpp"
#include "probes/kernel/renaming.hpp"
#include "text/text.hpp"

namespace clprobe::kernel {
namespace {

std::uint64_t count_differing(std::string_view one, std::string_view other) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i) count += one[i] == other[i] ? 0U : 1U;
  return count;
}

void add_name(const std::string& name, std::string& names) {
  names += (names.empty() ? "" : ", ") + name;
}

/// What the object held in the program; empty where nobody knows.
std::string hash_in_app(const bundle::Launch& launch, std::size_t object) {
  const auto found =
      std::find_if(launch.epilogue.begin(), launch.epilogue.end(),
                   [object](const bundle::Epilogue& each) { return each.object == object; });
  return found == launch.epilogue.end() ? std::string() : found->sha256;
}

}  // namespace

Replay::Replay(Session& session, const bundle::Bundle& bundle, std::uint64_t flush_bytes)
    : session_(session), bundle_(bundle), flush_bytes_(flush_bytes) {
  // A queue on the device and pipes are in no bundle.
  const std::string unknown = judge_kernel(bundle_, session_.info()).unknown_work;
  if (!unknown.empty()) throw Unsupported("the launch cannot be replayed: " + unknown);
  build_own();
  const std::vector<std::string> before = fill_objects(bundle);
  make_parts();
  set_arguments(kernel_);
  launch();
  for (const ReplayedObject& each : objects_) behind_.push_back(read(each));
  keep_pristine(before);
  restore();
  launch();
  compare_with_first();
  compare_with_app();
}

/// What is included and missing may be so in a branch that nobody takes: whether it is, the
/// driver's compiler says.
void Replay::build_own() {
  try {
    kernel_ = cl::Kernel(build_program(session_, bundle_), bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    if (bundle_.missing.empty()) throw;
    throw DeviceError(
        fmt::format("{}; the program includes {}, which the bundle lacks; name its folder with "
                    "--headers FOLDER",
                    error.what(), printable(bundle_.missing.front())));
  }
  build_ = build_of(bundle_);
}

void Replay::compare_with_app() {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const std::string expected = hash_in_app(bundle_.launch, i);
    if (expected.empty()) continue;
    if (!outcome_.is_equal_to_app) outcome_.is_equal_to_app = true;
    if (bundle::sha256_of(behind_[i]) == expected) continue;
    outcome_.is_equal_to_app = false;
    add_name(objects_[i].name, outcome_.other_buffers);
    if (!are_by_chance_[i]) add_name(objects_[i].name, outcome_.wrong_buffers);
  }
}

std::uint64_t Replay::held_bytes() const {
  return std::accumulate(objects_.begin(), objects_.end(), flush_bytes_,
                         [](std::uint64_t sum, const ReplayedObject& each) {
                           return sum + each.bytes * (each.pristine ? 2 : 1);
                         });
}

void Replay::prepare_renamed(const prelude::Setting& setting) {
  const auto prepare = [this](Renamed& renamed, bool without_functions) {
    const bool is_tried = renamed.kernel || !renamed.problem.empty();
    if (!is_tried) renamed.problem = build_renamed(without_functions, renamed);
    if (!renamed.problem.empty()) throw Unsupported(renamed.problem);
  };
  prepare(renamed_, false);
  if (setting.without_functions) prepare(cheap_, true);
}

/// Returns what is wrong with it; empty where nothing is.
std::string Replay::build_renamed(bool without_functions, Renamed& renamed) {
  constexpr std::string_view where = "with clprobe's instrumentation";
  const DeviceInfo& device = session_.info();
  prelude::Switches switches =
      switches_of(judge_kernel(bundle_, device), range_for_prelude(bundle_.launch.range), device);
  switches.without_functions = without_functions;
  const std::string prelude = prelude::prelude_text(switches);
  renamed.build = {bundle::sha256_of(prelude + build_.sha256), build_.options};
  try {
    const cl::Program built = build_program(session_, without_redefinitions(bundle_), prelude);
    renamed.kernel = cl::Kernel(built, bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    return fmt::format("{}, {}", where, error.what());
  }
  set_arguments(*renamed.kernel);
  // Other numbers come out of it.
  if (without_functions) return {};
  restore();
  launch_renamed({});
  const std::string other = other_object();
  return other.empty() ? other
                       : fmt::format("{}, the kernel leaves different bytes in {}", where, other);
}

std::string Replay::other_object() const {
  const std::vector<bool> are_floats = objects_of_floats(bundle_);
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    // What is left to chance may differ without a reason: sums of floats by little.
    if (are_by_chance_[i] && !are_floats[i]) continue;
    const std::string held = read(objects_[i]);
    const bool is_same =
        held == behind_[i] || (are_by_chance_[i] && are_close_floats(behind_[i], held));
    if (!is_same) return objects_[i].name;
  }
  return {};
}

LaunchTimes Replay::launch() {
  const bundle::NdRange& range = bundle_.launch.range;
  const LaunchTimes times = session_.launch(kernel_, sizes_of(range.global, range.dimensions),
                                            any_sizes_of(range.local, range.dimensions),
                                            any_sizes_of(range.offset, range.dimensions));
  check_guards();
  return times;
}

LaunchTimes Replay::launch_renamed(const prelude::Setting& setting) {
  const prelude::NdRange range = prelude::encode(range_for_prelude(bundle_.launch.range), setting);
  const LaunchTimes times = session_.launch(
      *built(setting).kernel, sizes_of(range.global, range.dimensions),
      any_sizes_of(range.local, range.dimensions), sizes_of(range.offset, range.dimensions));
  check_guards();
  return times;
}

LaunchTimes Replay::launch(const Shape& shape) {
  if (shape.text == Text::own) return launch();
  if (shape.text == Text::renamed) return launch_renamed(shape.setting);
  if (shape.beside != Beside::nothing) return launch_beside(shape.beside, shape.noise_percent);
  return launch_entered(shape);
}

void Replay::compare_with_first() {
  std::uint64_t differing = 0;
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const std::string second = read(objects_[i]);
    if (objects_[i].pristine) written += second.size();
    are_by_chance_.push_back(second != behind_[i]);
    if (are_by_chance_[i]) differing += count_differing(behind_[i], second);
  }
  outcome_.is_deterministic = differing == 0;
  if (written > 0) {
    outcome_.differing_share = static_cast<double>(differing) / static_cast<double>(written);
  }
}

void Replay::make_flushed() {
  if (flushed_() != nullptr) return;
  flushed_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, flush_bytes_);
  session_.queue().enqueueFillBuffer(flushed_, cl_uint{1}, 0, flush_bytes_);
}

/// Reads and writes more than the caches hold, by all units.
void Replay::flush() {
  constexpr std::uint64_t item_bytes = sizeof(cl_uint4);
  make_flushed();
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_flush", "");
  kernel.setArg(0, flushed_);
  session_.launch(kernel, cl::NDRange(flush_bytes_ / item_bytes), cl::NullRange);
}

const std::vector<double>& Replay::turns(Timer timer) {
  if (turns_) return *turns_;
  constexpr std::size_t max_blocks = turn_facts.size();
  // A kernel of which a block takes longer is long enough for its samples to do.
  constexpr std::chrono::milliseconds max_time{1000};
  const auto ns_of = [&](Text text) {
    const LaunchTimes times = run({.caches = Caches::cold, .text = text});
    return static_cast<double>(timer == Timer::event ? times.event_ns.value_or(0) : times.host_ns);
  };
  turns_.emplace();
  const auto begin = std::chrono::steady_clock::now();
  while (turns_->size() < max_blocks && std::chrono::steady_clock::now() - begin < max_time) {
    const double before = ns_of(Text::own);
    const double renamed = ns_of(Text::renamed);
    const double again = ns_of(Text::renamed);
    const double after = ns_of(Text::own);
    const double ratio = std::sqrt(renamed * again / (before * after));
    if (std::isfinite(ratio) && ratio > 0.0) turns_->push_back(ratio);
    if (!(before > 0.0 && after > 0.0)) break;
  }
  return *turns_;
}

LaunchTimes Replay::run(const Shape& shape) {
  restore();
  if (shape.caches == Caches::cold) {
    flush();
  } else {
    launch(shape);
    // A copy would put something else into the caches; and few groups that do the work of all have
    // no result that could be right.
    if (!is_folded(shape.setting)) restore();
  }
  return launch(shape);
}

}  // namespace clprobe::kernel
