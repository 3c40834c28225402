// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "clprobe/device.hpp"
#include "clprobe/kernel_causes.hpp"
#include "clprobe/launch.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/shared/launch_size.hpp"
#include "text/text.hpp"

namespace clprobe::kernel {
namespace {

cl::NDRange sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  if (dimensions == 1) return cl::NDRange(sizes[0]);
  if (dimensions == 2) return {sizes[0], sizes[1]};
  return {sizes[0], sizes[1], sizes[2]};
}

/// Where all are 0 there are none.
cl::NDRange any_sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  return sizes == bundle::Sizes{} ? cl::NullRange : sizes_of(sizes, dimensions);
}

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

// Where loads are over before the kernel begins, there are twice as many of them, so many times.
constexpr int max_attempts = 6;
// Of copies: so long that queues which start some microseconds apart do not show, and no more
// events than that.
constexpr double queue_ns = 500e3;
constexpr double max_launches = 64;
// A launch that finds what the one before has left takes as long as that one, or does other work.
constexpr double max_change = 1.1;
constexpr int max_turns = 3;
// Copies that come no faster than launches that do nothing wait for the driver. What they leave
// free is free all the same, but where that is less than half nothing is known of the rest.
constexpr double max_apart = 1.25;

double difference_us(std::uint64_t later, std::uint64_t earlier) {
  return (static_cast<double>(later) - static_cast<double>(earlier)) / 1e3;
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

void Replay::prepare_instrumented(const prelude::Setting& setting) {
  const auto prepare = [this](Instrumented& instrumented, bool without_functions) {
    const bool is_tried = instrumented.kernel || !instrumented.problem.empty();
    if (!is_tried) instrumented.problem = build_instrumented(without_functions, instrumented);
    if (!instrumented.problem.empty()) throw Unsupported(instrumented.problem);
  };
  prepare(instrumented_, false);
  if (setting.without_functions) prepare(cheap_, true);
}

/// Returns what is wrong with it; empty where nothing is.
std::string Replay::build_instrumented(bool without_functions, Instrumented& instrumented) {
  constexpr std::string_view where = "with clprobe's instrumentation";
  const DeviceInfo& device = session_.info();
  prelude::Switches switches =
      switches_of(judge_kernel(bundle_, device), range_for_prelude(bundle_.launch.range), device);
  switches.without_functions = without_functions;
  const std::string prelude = prelude::prelude_text(switches);
  instrumented.build = {bundle::sha256_of(prelude + build_.sha256), build_.options};
  try {
    const cl::Program built = build_program(session_, without_redefinitions(bundle_), prelude);
    instrumented.kernel = cl::Kernel(built, bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    return fmt::format("{}, {}", where, error.what());
  }
  set_arguments(*instrumented.kernel);
  // Other numbers come out of it.
  if (without_functions) return {};
  restore();
  launch_instrumented({});
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

LaunchTimes Replay::launch_instrumented(const prelude::Setting& setting) {
  const prelude::NdRange range = prelude::encode(range_for_prelude(bundle_.launch.range), setting);
  const LaunchTimes times = session_.launch(
      *built(setting).kernel, sizes_of(range.global, range.dimensions),
      any_sizes_of(range.local, range.dimensions), sizes_of(range.offset, range.dimensions));
  check_guards();
  return times;
}

LaunchTimes Replay::launch(const Shape& shape) {
  if (shape.text == Text::own) return launch();
  if (shape.text == Text::instrumented) return launch_instrumented(shape.setting);
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
    const double instrumented = ns_of(Text::instrumented);
    const double again = ns_of(Text::instrumented);
    const double after = ns_of(Text::own);
    const double ratio = std::sqrt(instrumented * again / (before * after));
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

Residency Replay::prepare_entered(std::uint64_t padding_eighths) {
  if (!entered_.kernel && entered_.problem.empty()) {
    entered_.problem = build_with_entry(entered_);
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
std::string Replay::build_with_entry(Entered& entered) {
  constexpr std::string_view where = "with clprobe's entry code";
  const std::string preamble = prelude::entry_text(range_for_prelude(bundle_.launch.range));
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

/// So much local memory that groups of loads alone would fill what groups of the kernel do.
std::string Replay::load_options() const {
  constexpr std::uint64_t load_groups = 8;  // of 256 work-items, on a compute unit
  std::uint64_t bytes =
      instrumented_.kernel->getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(session_.device());
  for (const bundle::Argument& each : bundle_.launch.arguments) {
    if (each.kind == bundle::ArgumentKind::local) bytes += each.bytes;
  }
  if (bytes == 0) return {};
  const auto known = entered_.resident_groups.begin();
  const std::uint64_t resident = known == entered_.resident_groups.end() ? 0 : known->second;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, resident / units_of(session_.info()));
  const std::uint64_t words = bytes * at_once / load_groups / sizeof(cl_uint);
  const std::uint64_t most = session_.info().local_memory.count / sizeof(cl_uint);
  return fmt::format("-DNOISE_WORDS={}", std::clamp<std::uint64_t>(words, 32, most));
}

void Replay::enqueue_instrumented(const cl::CommandQueue& queue, const prelude::Setting& setting,
                                  cl::Event* event) {
  const prelude::NdRange range = prelude::encode(range_for_prelude(bundle_.launch.range), setting);
  queue.enqueueNDRangeKernel(*built(setting).kernel, sizes_of(range.offset, range.dimensions),
                             sizes_of(range.global, range.dimensions),
                             any_sizes_of(range.local, range.dimensions), nullptr, event);
}

AmountBeside Replay::prepare_bare(const Shape& shape) {
  session_.use_all_cores();  // what is beside the kernel is launched past the session
  prepare_instrumented(shape.setting);
  double kernel_ns = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 3; ++turn) {
    const LaunchTimes times =
        run({.caches = Caches::warm, .text = Text::instrumented, .setting = shape.setting});
    kernel_ns = std::min(kernel_ns, static_cast<double>(times.event_ns.value_or(times.host_ns)));
  }
  return shape.beside == Beside::copies ? prepare_copies(shape, kernel_ns)
                                        : prepare_loads(kernel_ns);
}

AmountBeside Replay::prepare_copies(const Shape& shape, double kernel_ns) {
  copies_.emplace(session_, bare_copies,
                  [this, setting = shape.setting](const cl::CommandQueue& queue, cl::Event* event) {
                    enqueue_instrumented(queue, setting, event);
                  });
  make_flushed();
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_flush", "");
  kernel.setArg(0, flushed_);
  Copies nothing(session_, bare_copies, [kernel](const cl::CommandQueue& queue, cl::Event* event) {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NullRange, nullptr,
                               event);
  });
  constexpr std::uint64_t enough = 16;
  start_ns_ = nothing.alone_ns(enough);
  apart_ns_ = nothing.each_ns(enough);
  const double launches = std::clamp(std::ceil(queue_ns / kernel_ns), 1.0, max_launches);
  const auto amount = static_cast<std::uint32_t>(launches);
  return {.amount = amount, .alone_ns = copies_->alone_ns(amount)};
}

AmountBeside Replay::prepare_loads(double kernel_ns) {
  make_flushed();
  LoadNoise& noise = load_noise_.emplace(session_, load_options(), flushed_, flush_bytes_);
  const std::uint32_t amount = noise.amount_for(kernel_ns);
  return {.amount = amount, .alone_ns = noise.alone_ns(amount)};
}

/// The kernel, launched behind loads that are begun.
BareSpans Replay::launch_beside_loads(const Shape& shape, std::uint32_t amount) {
  const cl::Event loads = load_noise_->start(amount);
  cl::Event inside;
  enqueue_instrumented(session_.queue(), shape.setting, &inside);
  session_.queue().finish();
  load_noise_->finish();
  check_guards();
  return {span_of(loads), span_of(inside)};
}

LaunchTimes Replay::run_beside_loads(const Shape& shape, AmountBeside& loads) {
  for (int attempt = 1;; ++attempt) {
    restore();
    launch_instrumented(shape.setting);
    const BareSpans spans = launch_beside_loads(shape, loads.amount);
    const Span& kernel = spans.kernel;
    // It is enough to have felt them.
    if (spans.loads.begin <= kernel.begin && kernel.begin <= spans.loads.end) {
      return {kernel.end - kernel.begin, kernel.end - kernel.begin};
    }
    if (attempt == max_attempts) {
      throw Unsupported(fmt::format(
          "the device does not run two kernels at once: next to loads of {:.0f} us, the kernel "
          "began {:.0f} us after they began and ended {:.0f} us after they ended",
          spans.loads.ns() / 1e3, difference_us(kernel.begin, spans.loads.begin),
          difference_us(kernel.end, spans.loads.end)));
    }
    loads.amount *= 2;
  }
}

/// What restoring leaves in the caches may be gone behind the first turn.
LaunchTimes Replay::run_copies(const Shape& shape, std::uint64_t launches) {
  restore();
  launch_instrumented(shape.setting);
  double before = copies_->alone_ns(launches);
  for (int turn = 1;; ++turn) {
    const double each = copies_->each_ns(launches);
    const double after = copies_->alone_ns(launches);
    check_guards();
    const double change = after / before;
    if (change <= max_change && change >= 1.0 / max_change) return judge_copies(before, each);
    if (turn == max_turns) {
      throw Unsupported(fmt::format(
          "the state that a launch leaves makes later launches take {:.2f} times as long", change));
    }
    before = after;
  }
}

/// Starting and ending overlap where launches do, and are no waiting for results.
LaunchTimes Replay::judge_copies(double alone, double each) const {
  const double busy = std::max(1.0, each + start_ns_);
  if (each < max_apart * apart_ns_ && busy > alone / 2.0) {
    throw Unsupported(
        fmt::format("the kernel takes {:.0f} us, and the driver needs {:.0f} us to start a copy, "
                    "so too few copies run at once",
                    alone / 1e3, each / 1e3));
  }
  return {static_cast<std::uint64_t>(std::llround(busy)),
          static_cast<std::uint64_t>(std::llround(alone))};
}

LaunchTimes Replay::run_bare(const Shape& shape, AmountBeside& beside) {
  return shape.beside == Beside::copies ? run_copies(shape, beside.amount)
                                        : run_beside_loads(shape, beside);
}

}  // namespace clprobe::kernel
