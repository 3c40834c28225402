// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "measure/api/device.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/shared/launch_size.hpp"
#include "profile/api/bundle.hpp"
#include "text/api/text.hpp"

namespace clprobe::kernel {
namespace {

cl::NDRange sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  if (dimensions == 1) return cl::NDRange(sizes[0]);
  if (dimensions == 2) return {sizes[0], sizes[1]};
  return {sizes[0], sizes[1], sizes[2]};
}

/// The sizes, or none if all are 0.
cl::NDRange any_sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  return sizes == bundle::Sizes{} ? cl::NullRange : sizes_of(sizes, dimensions);
}

std::uint64_t count_differing(std::string_view one, std::string_view other) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i) count += one[i] == other[i] ? 0U : 1U;
  return count;
}

/// The hash of the object's data after the program's launch; empty if unknown.
std::string hash_in_app(const bundle::Launch& launch, std::size_t object) {
  const auto found =
      std::find_if(launch.epilogue.begin(), launch.epilogue.end(),
                   [object](const bundle::Epilogue& each) { return each.object == object; });
  return found == launch.epilogue.end() ? std::string() : found->sha256;
}

// Smallest size of an argument of local memory, which must have one.
constexpr std::uint64_t min_padding = 16;
// Local arguments are aligned for vectors of 16 words, on some devices for twice that.
constexpr std::uint64_t local_alignment = 256;

bundle::Bundle with_entry(const bundle::Bundle& bundle) {
  bundle::Bundle entered = without_redefinitions(bundle);
  for (std::string& each : entered.texts) each = prelude::with_entry(each, bundle.launch.kernel);
  return entered;
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + local_alignment - 1) / local_alignment * local_alignment;
}

/// The local memory that a group may have besides the kernel's own.
std::uint64_t free_local_bytes(const cl::Kernel& kernel, const Session& session,
                               const bundle::Launch& launch) {
  std::uint64_t used = aligned(kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(session.device()));
  for (const bundle::Argument& each : launch.arguments) {
    if (each.kind == bundle::ArgumentKind::local) used += aligned(each.bytes);
  }
  const std::uint64_t all = session.info().local_memory.count;
  return all > used ? all - used : 0;
}

// Attempts to launch the kernel while loads run; each has twice as many loads as the one before.
constexpr int max_attempts = 6;
// Copies run for so long that starts some microseconds apart do not matter, with at most so many
// launches.
constexpr double queue_ns = 500e3;
constexpr double max_launches = 64;
// Launches whose times differ by more do different work, because one finds what another left.
constexpr double max_change = 1.1;
constexpr int max_tries = 3;
// Copies that start no faster than launches without work wait for the driver. They show what they
// leave free, but nothing about the rest if that is less than half.
constexpr double max_apart = 1.25;

double difference_us(std::uint64_t later, std::uint64_t earlier) {
  return (static_cast<double>(later) - static_cast<double>(earlier)) / 1e3;
}

}  // namespace

Replay::Replay(Session& session, const bundle::Bundle& bundle, std::uint64_t flush_bytes)
    : session_(session), bundle_(bundle), flush_bytes_(flush_bytes) {
  // Bundles have neither device queues nor pipes.
  const std::string unknown = judge_kernel(bundle_, session_.info()).unknown_work;
  if (!unknown.empty()) throw Unsupported("the launch cannot be replayed: " + unknown);
  build_own();
  const std::vector<std::string> before = fill_objects(bundle);
  make_parts();
  set_arguments(kernel_);
  launch_plain();
  for (const ReplayedObject& each : objects_) after_first_.push_back(read(each));
  keep_pristine(before);
  restore();
  launch_plain();
  compare_with_first();
  compare_with_app();
}

/// A missing header matters only in a branch that the driver's compiler takes.
void Replay::build_own() {
  try {
    kernel_ = cl::Kernel(build_program(session_, bundle_), bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    if (bundle_.missing.empty()) throw;
    throw DeviceError(
        fmt::format("{}; the program includes {}, which the bundle lacks: name the header's folder "
                    "with --headers FOLDER",
                    error.what(), printable(bundle_.missing.front())));
  }
  build_ = build_of(bundle_);
}

void Replay::compare_with_first() {
  std::uint64_t differing = 0;
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const std::string second = read(objects_[i]);
    if (objects_[i].pristine) written += second.size();
    are_by_chance_.push_back(second != after_first_[i]);
    if (are_by_chance_[i]) differing += count_differing(after_first_[i], second);
  }
  outcome_.is_deterministic = differing == 0;
  if (written > 0) {
    outcome_.differing_share = static_cast<double>(differing) / static_cast<double>(written);
  }
}

void Replay::compare_with_app() {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const std::string expected = hash_in_app(bundle_.launch, i);
    if (expected.empty()) continue;
    if (!outcome_.is_equal_to_app) outcome_.is_equal_to_app = true;
    if (bundle::sha256_of(after_first_[i]) == expected) continue;
    outcome_.is_equal_to_app = false;
    if (are_by_chance_[i]) continue;
    outcome_.wrong_buffers += (outcome_.wrong_buffers.empty() ? "" : ", ") + objects_[i].name;
  }
}

/// The first object that differs from what the first launch left. Objects that are left to chance
/// may differ: floats a little, others in any way. Empty if there is none.
std::string Replay::other_object() const {
  const std::vector<bool> are_floats = objects_of_floats(bundle_);
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (are_by_chance_[i] && !are_floats[i]) continue;
    const std::string held = read(objects_[i]);
    const bool is_same =
        held == after_first_[i] || (are_by_chance_[i] && are_close_floats(after_first_[i], held));
    if (!is_same) return objects_[i].name;
  }
  return {};
}

std::uint64_t Replay::held_bytes() const {
  return std::accumulate(objects_.begin(), objects_.end(), flush_bytes_,
                         [](std::uint64_t sum, const ReplayedObject& each) {
                           return sum + each.bytes * (each.pristine ? 2 : 1);
                         });
}

const KernelBuild& Replay::build(const Shape& shape) const {
  if (shape.variant == Variant::plain || shape.variant == Variant::warm) return build_;
  return has_entry(shape.variant) ? entered_.build : built(shape.setting).build;
}

/// Builds a text after the preamble. `launch`, if any, must leave the bytes of the plain text.
void Replay::rebuild(Rebuilt& rebuilt, const bundle::Bundle& text, const std::string& preamble,
                     std::string_view where, const std::function<void()>& launch) {
  rebuilt.build = {bundle::sha256_of(preamble + build_.sha256), build_.options};
  try {
    const cl::Program program = build_program(session_, text, preamble);
    rebuilt.kernel = cl::Kernel(program, bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    rebuilt.problem = fmt::format("{}, {}", where, error.what());
    return;
  }
  // Before its arguments have sizes, which only some drivers count.
  rebuilt.free_local_bytes = free_local_bytes(*rebuilt.kernel, session_, bundle_.launch);
  set_arguments(*rebuilt.kernel);
  if (!launch) return;
  restore();
  launch();
  const std::string other = other_object();
  if (other.empty()) return;
  rebuilt.problem = fmt::format("{}, the kernel leaves different bytes in {}", where, other);
}

void Replay::prepare_instrumented(const prelude::Setting& setting) {
  const auto prepare_build = [this](Rebuilt& rebuilt, bool without_functions) {
    if (!rebuilt.kernel && rebuilt.problem.empty()) {
      const DeviceInfo& device = session_.info();
      prelude::Switches switches = switches_of(judge_kernel(bundle_, device),
                                               range_for_prelude(bundle_.launch.range), device);
      switches.without_functions = without_functions;
      // Without special functions, other numbers come out of the kernel.
      std::function<void()> launch;
      if (!without_functions) launch = [this] { launch_instrumented({}); };
      rebuild(rebuilt, without_redefinitions(bundle_), prelude::prelude_text(switches),
              "with clprobe's instrumentation", launch);
    }
    if (!rebuilt.problem.empty()) throw Unsupported(rebuilt.problem);
  };
  prepare_build(instrumented_, false);
  if (setting.without_functions) prepare_build(cheap_, true);
}

void Replay::prepare_entered() {
  if (!entered_.kernel && entered_.problem.empty()) {
    rebuild(entered_, with_entry(bundle_),
            prelude::entry_text(range_for_prelude(bundle_.launch.range)),
            "with clprobe's entry code",
            [this] { launch_with_entry({.groups = all_groups(), .padding_bytes = min_padding}); });
  }
  if (!entered_.problem.empty()) throw Unsupported(entered_.problem);
}

Parameters Replay::prepare(const Shape& shape) {
  Parameters facts;
  const auto set = [&](std::string_view name, auto number) {
    facts.set(name, static_cast<std::int64_t>(number));
  };
  if (has_entry(shape.variant)) {
    prepare_entered();
    const std::uint64_t padding = padding_bytes(shape.padding_eighths);
    set(padding_fact, padding);
    set(resident_fact, count_resident(padding));
    return facts;
  }
  if (shape.variant == Variant::plain || shape.variant == Variant::warm) return facts;
  prepare_instrumented(shape.setting);
  if (shape.variant == Variant::instrumented) {
    // All of these points have the ratios, so that a report shows them once for the series.
    const std::vector<double>& ratios = turns(shape.timer);
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      set(fact_at(turn_fact, i), std::llround(ratios[i] * static_cast<double>(million)));
    }
    return facts;
  }
  session_.use_all_cores();  // launches next to the kernel do not go through the session
  double kernel_ns = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const LaunchTimes times =
        run_alone({.variant = Variant::instrumented, .setting = shape.setting}, true);
    kernel_ns = std::min(kernel_ns, static_cast<double>(times.event_ns.value_or(times.host_ns)));
  }
  const double alone_ns = shape.variant == Variant::copies
                              ? prepare_copies(shape.setting, kernel_ns)
                              : prepare_loads(kernel_ns);
  set(noise_amount_fact, amount_);
  set(noise_ns_fact, std::llround(alone_ns));
  return facts;
}

LaunchTimes Replay::launch(const cl::Kernel& kernel, const prelude::NdRange& range) {
  const LaunchTimes times = session_.launch(kernel, sizes_of(range.global, range.dimensions),
                                            any_sizes_of(range.local, range.dimensions),
                                            any_sizes_of(range.offset, range.dimensions));
  check_guards();
  return times;
}

LaunchTimes Replay::launch_plain() {
  return launch(kernel_, range_for_prelude(bundle_.launch.range));
}

LaunchTimes Replay::launch_instrumented(const prelude::Setting& setting) {
  return launch(*built(setting).kernel,
                prelude::encode(range_for_prelude(bundle_.launch.range), setting));
}

LaunchTimes Replay::launch_with_entry(const EntryLaunch& entry) {
  cl::Kernel& kernel = *entered_.kernel;
  const auto first = static_cast<cl_uint>(bundle_.launch.arguments.size());
  kernel.setArg(first, static_cast<cl_uint>(entry.mode));
  kernel.setArg(first + 1, cl_uint{entry.patience});
  kernel.setArg(first + 2, entry.room);
  kernel.setArg(first + 3, entry.padding_bytes, nullptr);
  return launch(kernel,
                prelude::range_of_groups(range_for_prelude(bundle_.launch.range), entry.groups));
}

LaunchTimes Replay::launch(const Shape& shape) {
  if (shape.variant == Variant::plain || shape.variant == Variant::warm) return launch_plain();
  if (!has_entry(shape.variant)) return launch_instrumented(shape.setting);
  const bool is_ending = shape.variant == Variant::ending;
  return launch_with_entry({.groups = shape.distinct_groups,
                            .mode = is_ending ? prelude::EntryMode::end : prelude::EntryMode::none,
                            .padding_bytes = padding_bytes(shape.padding_eighths)});
}

void Replay::make_flushed() {
  if (flushed_() != nullptr) return;
  flushed_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, flush_bytes_);
  session_.queue().enqueueFillBuffer(flushed_, cl_uint{1}, 0, flush_bytes_);
}

/// Reads and writes more than the caches hold, on all units.
void Replay::flush() {
  constexpr std::uint64_t item_bytes = sizeof(cl_uint4);
  make_flushed();
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_flush", "");
  kernel.setArg(0, flushed_);
  session_.launch(kernel, cl::NDRange(flush_bytes_ / item_bytes), cl::NullRange);
}

/// Ratios of the instrumented kernel's time to the plain one's, measured once: each block launches
/// plain, instrumented, instrumented, plain. Kernels whose block takes longer than a second are
/// long enough for their samples to do.
const std::vector<double>& Replay::turns(Timer timer) {
  if (turns_) return *turns_;
  constexpr std::chrono::milliseconds max_time{1000};
  const auto ns_of = [&](Variant variant) {
    const LaunchTimes times = run({.variant = variant});
    return static_cast<double>(timer == Timer::event ? times.event_ns.value_or(0) : times.host_ns);
  };
  turns_.emplace();
  const auto begin = std::chrono::steady_clock::now();
  while (turns_->size() < max_turns && std::chrono::steady_clock::now() - begin < max_time) {
    const double before = ns_of(Variant::plain);
    const double instrumented = ns_of(Variant::instrumented);
    const double again = ns_of(Variant::instrumented);
    const double after = ns_of(Variant::plain);
    const double ratio = std::sqrt(instrumented * again / (before * after));
    if (std::isfinite(ratio) && ratio > 0.0) turns_->push_back(ratio);
    if (!(before > 0.0 && after > 0.0)) break;
  }
  return *turns_;
}

LaunchTimes Replay::run(const Shape& shape) {
  if (shape.variant == Variant::copies) return run_copies(shape.setting);
  if (shape.variant == Variant::beside_loads) return run_beside_loads(shape.setting);
  return run_alone(shape, shape.is_warm());
}

LaunchTimes Replay::run_alone(const Shape& shape, bool is_warm) {
  restore();
  if (!is_warm) {
    flush();
  } else {
    launch(shape);
    // A copy would put other data into the caches, and few groups that do the work of all have no
    // result that could be right.
    if (!is_folded(shape.setting)) restore();
  }
  return launch(shape);
}

std::uint64_t Replay::all_groups() const {
  return prelude::count_all_groups(range_for_prelude(bundle_.launch.range));
}

std::uint64_t Replay::padding_bytes(std::uint64_t eighths) const {
  const std::uint64_t bytes = entered_.free_local_bytes / 8 * eighths;
  return std::max(min_padding, bytes / min_padding * min_padding);
}

/// The maximum of three counts, once for each padding: no count has too many groups, but one may
/// miss some.
std::uint64_t Replay::count_resident(std::uint64_t padding_bytes) {
  const auto known = resident_groups_.find(padding_bytes);
  if (known != resident_groups_.end()) return known->second;
  // Looks of one group until all others must have arrived: a microsecond each on a GPU whose groups
  // all look at one word; on a CPU, where threads have to wake up, a hundredth of that.
  const cl_uint patience = runs_items_in_turn(session_.info()) ? 300'000 : 1'000;
  // More than any compute unit holds. A CPU's thread takes several groups at a time.
  constexpr std::uint64_t groups_per_unit = 64;
  std::array<cl_uint, prelude::entry_room_words> words{};
  const cl::Buffer room(session_.context(), CL_MEM_READ_WRITE, sizeof(words));
  const EntryLaunch launch{.groups = units_of(session_.info()) * groups_per_unit,
                           .mode = prelude::EntryMode::count,
                           .patience = patience,
                           .room = room,
                           .padding_bytes = padding_bytes};
  std::uint64_t most = 0;
  for (int i = 0; i < 3; ++i) {
    words = {};
    session_.queue().enqueueWriteBuffer(room, CL_TRUE, 0, sizeof(words), words.data());
    launch_with_entry(launch);
    session_.queue().enqueueReadBuffer(room, CL_TRUE, 0, sizeof(words), words.data());
    most = std::max<std::uint64_t>(most, words.at(prelude::entry_at_once_word));
  }
  resident_groups_.emplace(padding_bytes, most);
  return most;
}

/// The build option for groups of loads that fill as much local memory as the kernel's groups.
std::string Replay::load_options() const {
  constexpr std::uint64_t load_groups = 8;  // of 256 work-items, on a compute unit
  const std::uint64_t all = session_.info().local_memory.count;
  const std::uint64_t bytes = all - std::min(all, instrumented_.free_local_bytes);
  if (bytes == 0) return {};
  const std::uint64_t resident = resident_groups_.empty() ? 0 : resident_groups_.begin()->second;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, resident / units_of(session_.info()));
  const std::uint64_t words = bytes * at_once / load_groups / sizeof(cl_uint);
  return fmt::format("-DNOISE_WORDS={}",
                     std::clamp<std::uint64_t>(words, 32, all / sizeof(cl_uint)));
}

void Replay::enqueue_instrumented(const cl::CommandQueue& queue, const prelude::Setting& setting,
                                  cl::Event* event) {
  const prelude::NdRange range = prelude::encode(range_for_prelude(bundle_.launch.range), setting);
  queue.enqueueNDRangeKernel(*built(setting).kernel, sizes_of(range.offset, range.dimensions),
                             sizes_of(range.global, range.dimensions),
                             any_sizes_of(range.local, range.dimensions), nullptr, event);
}

/// Returns the time of one copy alone.
double Replay::prepare_copies(const prelude::Setting& setting, double kernel_ns) {
  copies_.emplace(session_, bare_copies,
                  [this, setting](const cl::CommandQueue& queue, cl::Event* event) {
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
  amount_ =
      static_cast<std::uint32_t>(std::clamp(std::ceil(queue_ns / kernel_ns), 1.0, max_launches));
  return copies_->alone_ns(amount_);
}

/// Returns the time of the loads alone.
double Replay::prepare_loads(double kernel_ns) {
  make_flushed();
  LoadNoise& noise = load_noise_.emplace(session_, load_options(), flushed_, flush_bytes_);
  amount_ = noise.amount_for(kernel_ns);
  return noise.alone_ns(amount_);
}

/// Launches the kernel after loads have begun. It is enough that it runs next to some of them.
LaunchTimes Replay::run_beside_loads(const prelude::Setting& setting) {
  for (int attempt = 1;; ++attempt) {
    restore();
    launch_instrumented(setting);
    const cl::Event loading = load_noise_->start(amount_);
    cl::Event inside;
    enqueue_instrumented(session_.queue(), setting, &inside);
    session_.queue().finish();
    load_noise_->finish();
    check_guards();
    const Span loads = span_of(loading);
    const Span kernel = span_of(inside);
    if (loads.begin <= kernel.begin && kernel.begin <= loads.end) {
      return {kernel.end - kernel.begin, kernel.end - kernel.begin};
    }
    if (attempt == max_attempts) {
      throw Unsupported(fmt::format(
          "the device does not run two kernels at once: next to loads of {:.0f} us, the kernel "
          "began {:.0f} us after the loads began and ended {:.0f} us after the loads ended",
          loads.ns() / 1e3, difference_us(kernel.begin, loads.begin),
          difference_us(kernel.end, loads.end)));
    }
    amount_ *= 2;
  }
}

/// The time of all copies for each of them, and the time of one alone before them. The first try
/// may find in the caches what restoring left there.
LaunchTimes Replay::run_copies(const prelude::Setting& setting) {
  restore();
  launch_instrumented(setting);
  double before = copies_->alone_ns(amount_);
  for (int i = 1;; ++i) {
    const double each = copies_->each_ns(amount_);
    const double after = copies_->alone_ns(amount_);
    check_guards();
    const double change = after / before;
    if (change <= max_change && change >= 1.0 / max_change) return judge_copies(before, each);
    if (i == max_tries) {
      throw Unsupported(fmt::format(
          "a launch changes data so that later launches take {:.2f} times as long", change));
    }
    before = after;
  }
}

/// Copies overlap their starts and ends, which are no waits for results.
LaunchTimes Replay::judge_copies(double alone_ns, double each_ns) const {
  const double busy = std::max(1.0, each_ns + start_ns_);
  if (each_ns < max_apart * apart_ns_ && busy > alone_ns / 2.0) {
    throw Unsupported(
        fmt::format("the kernel takes {:.0f} us, but the driver needs {:.0f} us to start a copy, "
                    "so too few copies run at once",
                    alone_ns / 1e3, each_ns / 1e3));
  }
  return {static_cast<std::uint64_t>(std::llround(busy)),
          static_cast<std::uint64_t>(std::llround(alone_ns))};
}

}  // namespace clprobe::kernel
