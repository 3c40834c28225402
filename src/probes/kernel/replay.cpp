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

/// Returns the sizes as a range, or a null range if all sizes are 0.
cl::NDRange any_sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  return sizes == bundle::Sizes{} ? cl::NullRange : sizes_of(sizes, dimensions);
}

std::uint64_t count_differing(std::string_view one, std::string_view other) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i) count += one[i] == other[i] ? 0U : 1U;
  return count;
}

/// Returns the hash of the object's data after the program's launch; empty if the bundle has none.
std::string hash_in_app(const bundle::Launch& launch, std::size_t object) {
  const auto found =
      std::find_if(launch.epilogue.begin(), launch.epilogue.end(),
                   [object](const bundle::Epilogue& each) { return each.object == object; });
  return found == launch.epilogue.end() ? std::string() : found->sha256;
}

// Minimum size in bytes of a local-memory argument, because drivers refuse size 0.
constexpr std::uint64_t min_padding = 16;
// Alignment in bytes of local arguments. The largest vectors, of 16 words, need 64 or 128 bytes.
constexpr std::uint64_t local_alignment = 256;

bundle::Bundle with_entry(const bundle::Bundle& bundle) {
  bundle::Bundle entered = without_redefinitions(bundle);
  for (std::string& each : entered.texts) each = prelude::with_entry(each, bundle.launch.kernel);
  return entered;
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + local_alignment - 1) / local_alignment * local_alignment;
}

/// Returns the bytes of local memory that a group can have in addition to the kernel's own.
std::uint64_t free_local_bytes(const cl::Kernel& kernel, const Session& session,
                               const bundle::Launch& launch) {
  std::uint64_t used = aligned(kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(session.device()));
  for (const bundle::Argument& each : launch.arguments) {
    if (each.kind == bundle::ArgumentKind::local) used += aligned(each.bytes);
  }
  const std::uint64_t all = session.info().local_memory.count;
  return all > used ? all - used : 0;
}

// Maximum number of attempts to start the kernel while loads run. Each attempt doubles the loads.
constexpr int max_attempts = 6;
// Minimum total time in ns of the launches of one copy, unless the number of launches reaches
// `max_launches`. Starting delays of some microseconds are then negligible.
constexpr double queue_ns = 500e3;
constexpr double max_launches = 64;
// Maximum ratio of the times of two equal launches. With a larger ratio, the launches do different
// work, because each launch finds the data that the previous launch left.
constexpr double max_change = 1.1;
constexpr int max_tries = 3;
// Minimum ratio of the time per copy to the time per empty launch. Below this ratio, the driver's
// launch rate limits the copies. The copies then show waits only if they take at most half of the
// time of a single copy.
constexpr double max_apart = 1.25;

double difference_us(std::uint64_t later, std::uint64_t earlier) {
  return (static_cast<double>(later) - static_cast<double>(earlier)) / 1e3;
}

}  // namespace

double least_ns(const std::function<LaunchTimes()>& launch) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const LaunchTimes times = launch();
    least = std::min(least, static_cast<double>(times.event_ns.value_or(times.host_ns)));
  }
  return least;
}

Replay::Replay(Session& session, const bundle::Bundle& bundle, std::uint64_t flush_bytes)
    : session_(session), bundle_(bundle), flush_bytes_(flush_bytes) {
  // Kernels that need device queues or pipes cannot be replayed, because bundles do not record
  // device queues and pipes.
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

/// Builds the kernel from the program's text. A header that the bundle lacks is an error only if
/// the driver's compiler includes that header.
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
  if (gives_ptx(session_.info())) ptx_ = ptx_of(kernel_);
}

void Replay::compare_with_first() {
  const std::vector<bool> are_floats = objects_of("float", bundle_);
  std::uint64_t differing = 0;
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const std::string second = read(objects_[i]);
    if (objects_[i].pristine) written += second.size();
    are_nondeterministic_.push_back(second != after_first_[i]);
    are_compared_.push_back(!are_nondeterministic_[i] ||
                            (are_floats[i] && are_close_floats(after_first_[i], second)));
    if (are_nondeterministic_[i]) differing += count_differing(after_first_[i], second);
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
    if (are_nondeterministic_[i]) continue;
    const bool may_round = bundle_.has_other_text &&
                           (objects_of("float", bundle_)[i] || objects_of("double", bundle_)[i]);
    std::string& names = may_round ? outcome_.other_floats : outcome_.wrong_buffers;
    names += (names.empty() ? "" : ", ") + objects_[i].name;
  }
}

/// Returns the name of the first object whose bytes differ from the first launch's; empty if there
/// is none. In nondeterministic objects, floats may differ by a small tolerance.
std::string Replay::other_object() const {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (!are_compared_[i]) continue;
    const std::string held = read(objects_[i]);
    const bool is_same = held == after_first_[i] ||
                         (are_nondeterministic_[i] && are_close_floats(after_first_[i], held));
    if (!is_same) return objects_[i].name;
  }
  return {};
}

std::uint64_t Replay::held_bytes() const {
  const std::uint64_t recorded =
      std::accumulate(decisions_.begin(), decisions_.end(), flush_bytes_,
                      [](std::uint64_t sum, const auto& each) { return sum + each.second.bytes; });
  return std::accumulate(objects_.begin(), objects_.end(), recorded,
                         [](std::uint64_t sum, const ReplayedObject& each) {
                           return sum + each.bytes * (each.pristine ? 2 : 1);
                         });
}

const KernelBuild& Replay::build(const Shape& shape) const {
  if (shape.variant == Variant::rewritten) return rewritten(shape).build;
  if (shape.variant == Variant::plain || shape.variant == Variant::warm) return build_;
  return has_entry(shape.variant) ? with_entry_.build : built(shape.setting).build;
}

/// Builds another version of the kernel. If `launch` is not empty, `launch` runs the new kernel,
/// and the results must equal those of the plain text.
void Replay::rebuild(Rebuilt& rebuilt, const std::function<cl::Program()>& build,
                     std::string_view where, const std::function<void()>& launch) {
  try {
    rebuilt.kernel = cl::Kernel(build(), bundle_.launch.kernel.c_str());
  } catch (const DeviceError& error) {
    rebuilt.problem = fmt::format("{}, {}", where, error.what());
    return;
  }
  // Local memory is queried before local arguments have sizes, because only some drivers count
  // local arguments.
  rebuilt.free_local_bytes = free_local_bytes(*rebuilt.kernel, session_, bundle_.launch);
  set_arguments(*rebuilt.kernel);
  if (!launch) return;
  restore();
  try {
    launch();
  } catch (...) {
    rebuilt.kernel.reset();  // its results were not compared
    throw;
  }
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
      // A kernel without special functions computes other results, so its results are not compared.
      std::function<void()> launch;
      if (!without_functions) launch = [this] { launch_instrumented({}); };
      const std::string preamble = prelude::prelude_text(switches);
      rebuilt.build = {bundle::sha256_of(preamble + build_.sha256), build_.options};
      rebuild(
          rebuilt,
          [&] { return build_program(session_, without_redefinitions(bundle_), preamble); },
          "with clprobe's instrumentation", launch);
    }
    if (!rebuilt.problem.empty()) throw Unsupported(rebuilt.problem);
  };
  prepare_build(instrumented_, false);
  if (setting.without_functions) prepare_build(without_functions_, true);
}

void Replay::prepare_entry() {
  if (!with_entry_.kernel && with_entry_.problem.empty()) {
    const std::string preamble = prelude::entry_text(range_for_prelude(bundle_.launch.range));
    with_entry_.build = {bundle::sha256_of(preamble + build_.sha256), build_.options};
    rebuild(
        with_entry_, [&] { return build_program(session_, with_entry(bundle_), preamble); },
        "with clprobe's instrumentation",
        [this] { launch_with_entry({.groups = all_groups(), .padding_bytes = min_padding}); });
  }
  if (!with_entry_.problem.empty()) throw Unsupported(with_entry_.problem);
}

Parameters Replay::prepare(const Shape& shape) {
  Parameters facts;
  const auto set = [&](std::string_view name, auto number) {
    facts.set(name, static_cast<std::int64_t>(number));
  };
  if (has_entry(shape.variant)) {
    prepare_entry();
    const std::uint64_t padding = padding_bytes(shape.padding_eighths);
    set(padding_fact, padding);
    set(resident_fact, count_resident(padding));
    return facts;
  }
  if (shape.variant == Variant::plain) {
    // Each visit prepares its points again.
    if (!plain_facts_) {
      facts = count_removable();
      set(memory_rate_fact, memory_rate());
      plain_facts_ = facts;
    }
    return *plain_facts_;
  }
  if (shape.variant == Variant::warm) return facts;
  if (shape.variant == Variant::rewritten) {
    prepare_rewritten(shape);
    return shape.is_unchanged() ? ratios_of(shape) : facts;
  }
  prepare_instrumented(shape.setting);
  // All instrumented points get the ratios as facts, so a report shows the ratios once for the
  // series.
  if (shape.variant == Variant::instrumented) {
    return ratios_of({.variant = shape.variant, .timer = shape.timer});
  }
  session_.use_all_cores();  // concurrent launches do not use Session::launch
  const double kernel_ns = least_ns([&] {
    return run_alone({.variant = Variant::instrumented, .setting = shape.setting}, true);
  });
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
  cl::Kernel& kernel = *with_entry_.kernel;
  const auto first = static_cast<cl_uint>(bundle_.launch.arguments.size());
  kernel.setArg(first, static_cast<cl_uint>(entry.mode));
  kernel.setArg(first + 1, cl_uint{entry.patience});
  kernel.setArg(first + 2, entry.counters);
  kernel.setArg(first + 3, entry.padding_bytes, nullptr);
  return launch(kernel,
                prelude::range_of_groups(range_for_prelude(bundle_.launch.range), entry.groups));
}

LaunchTimes Replay::launch(const Shape& shape) {
  if (shape.variant == Variant::plain || shape.variant == Variant::warm) return launch_plain();
  if (shape.variant == Variant::rewritten) {
    return launch(*rewritten(shape).kernel, range_for_prelude(bundle_.launch.range));
  }
  if (!has_entry(shape.variant)) return launch_instrumented(shape.setting);
  const bool is_ending = shape.variant == Variant::ending;
  return launch_with_entry({.groups = shape.distinct_groups,
                            .mode = is_ending ? prelude::EntryMode::end : prelude::EntryMode::none,
                            .padding_bytes = padding_bytes(shape.padding_eighths)});
}

void Replay::make_flush_buffer() {
  if (flush_buffer_() != nullptr) return;
  flush_buffer_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, flush_bytes_);
  session_.queue().enqueueFillBuffer(flush_buffer_, cl_uint{1}, 0, flush_bytes_);
}

/// Replaces the contents of all caches: all compute units read and write more data than the caches
/// hold.
LaunchTimes Replay::flush() {
  constexpr std::uint64_t item_bytes = sizeof(cl_uint4);
  make_flush_buffer();
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_flush", "");
  kernel.setArg(0, flush_buffer_);
  return session_.launch(kernel, cl::NDRange(flush_bytes_ / item_bytes), cl::NullRange);
}

/// Returns the bytes per second that memory transfers when all compute units read and write more
/// data than the caches hold: the fastest of three launches.
std::uint64_t Replay::memory_rate() {
  const double bytes = 2.0 * static_cast<double>(flush_bytes_);
  const double ns = least_ns([&] { return flush(); });
  return ns > 0.0 ? static_cast<std::uint64_t>(bytes / ns * ns_per_second) : 0;
}

/// Returns facts with the ratios of the time of `changed`, which removes nothing, to the plain
/// time. The first call for a variant measures the ratios in blocks of launches: plain, changed,
/// changed, plain. No new block starts after 1 s.
Parameters Replay::ratios_of(const Shape& changed) {
  constexpr std::chrono::milliseconds max_time{1000};
  const auto ns_of = [&](const Shape& shape) {
    const LaunchTimes times = run(shape);
    return static_cast<double>(changed.timer == Timer::event ? times.event_ns.value_or(0)
                                                             : times.host_ns);
  };
  const auto [known, is_first] = ratios_.try_emplace(changed.variant);
  std::vector<double>& ratios = known->second;
  const auto begin = std::chrono::steady_clock::now();
  while (is_first && ratios.size() < max_ratios &&
         std::chrono::steady_clock::now() - begin < max_time) {
    const double before = ns_of({.variant = Variant::plain});
    const double first = ns_of(changed);
    const double again = ns_of(changed);
    const double after = ns_of({.variant = Variant::plain});
    const double ratio = std::sqrt(first * again / (before * after));
    if (std::isfinite(ratio) && ratio > 0.0) ratios.push_back(ratio);
    if (!(before > 0.0 && after > 0.0)) break;
  }
  Parameters facts;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    facts.set(fact_at(ratio_fact, i),
              std::int64_t{std::llround(ratios[i] * static_cast<double>(million))});
  }
  return facts;
}

LaunchTimes Replay::run(const Shape& shape) {
  if (shape.variant == Variant::copies) return run_copies(shape.setting);
  if (shape.variant == Variant::next_to_loads) return run_next_to_loads(shape.setting);
  return run_alone(shape, shape.is_warm());
}

LaunchTimes Replay::run_alone(const Shape& shape, bool is_warm) {
  restore();
  if (!is_warm) {
    flush();
  } else {
    launch(shape);
    // A launch with the working-set reduction runs on the data that the previous launch left.
    // Restoring the data would put other lines into the caches, and the results of a reduced launch
    // are not checked.
    if (!is_folded(shape.setting)) restore();
  }
  return launch(shape);
}

std::uint64_t Replay::all_groups() const {
  return prelude::count_all_groups(range_for_prelude(bundle_.launch.range));
}

std::uint64_t Replay::padding_bytes(std::uint64_t eighths) const {
  const std::uint64_t bytes = with_entry_.free_local_bytes / 8 * eighths;
  return std::max(min_padding, bytes / min_padding * min_padding);
}

/// Returns the number of resident groups with this padding, counted at the first call. The result
/// is the maximum of three counts, because a count may miss groups but never counts too many.
std::uint64_t Replay::count_resident(std::uint64_t padding_bytes) {
  const auto known = resident_groups_.find(padding_bytes);
  if (known != resident_groups_.end()) return known->second;
  // Number of polls after which a group stops waiting for other groups. On a GPU whose groups all
  // poll one word, a poll takes about 1 us. On a CPU, a poll takes about 10 ns, and the CPU's
  // threads need time to wake up.
  const cl_uint patience = runs_items_in_turn(session_.info()) ? 300'000 : 1'000;
  // Number of launched groups per compute unit, which exceeds the resident groups of any unit. A
  // CPU's thread takes several groups at a time.
  constexpr std::uint64_t groups_per_unit = 64;
  std::array<cl_uint, prelude::entry_counter_words> words{};
  const cl::Buffer counters(session_.context(), CL_MEM_READ_WRITE, sizeof(words));
  const EntryLaunch launch{.groups = units_of(session_.info()) * groups_per_unit,
                           .mode = prelude::EntryMode::count,
                           .patience = patience,
                           .counters = counters,
                           .padding_bytes = padding_bytes};
  std::uint64_t most = 0;
  for (int i = 0; i < 3; ++i) {
    words = {};
    session_.queue().enqueueWriteBuffer(counters, CL_TRUE, 0, sizeof(words), words.data());
    launch_with_entry(launch);
    session_.queue().enqueueReadBuffer(counters, CL_TRUE, 0, sizeof(words), words.data());
    most = std::max<std::uint64_t>(most, words.at(prelude::entry_resident_counter));
  }
  resident_groups_.emplace(padding_bytes, most);
  return most;
}

/// Returns the build option with which `load_groups` groups of loads use as much local memory as
/// the kernel's groups on a compute unit.
std::string Replay::load_options() const {
  constexpr std::uint64_t load_groups = 8;
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

/// Prepares concurrent copies, and returns the time in ns of one launch by itself.
double Replay::prepare_copies(const prelude::Setting& setting, double kernel_ns) {
  copies_.emplace(session_, copy_count,
                  [this, setting](const cl::CommandQueue& queue, cl::Event* event) {
                    enqueue_instrumented(queue, setting, event);
                  });
  make_flush_buffer();
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_flush", "");
  kernel.setArg(0, flush_buffer_);
  Copies nothing(session_, copy_count, [kernel](const cl::CommandQueue& queue, cl::Event* event) {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NullRange, nullptr,
                               event);
  });
  constexpr std::uint64_t enough = 16;
  start_ns_ = nothing.alone_ns(enough);
  interval_ns_ = nothing.each_ns(enough);
  amount_ =
      static_cast<std::uint32_t>(std::clamp(std::ceil(queue_ns / kernel_ns), 1.0, max_launches));
  return copies_->alone_ns(amount_);
}

/// Prepares loads to run next to the kernel, and returns the time in ns of the loads by themselves.
double Replay::prepare_loads(double kernel_ns) {
  make_flush_buffer();
  LoadNoise& noise = load_noise_.emplace(session_, load_options(), flush_buffer_, flush_bytes_);
  amount_ = noise.amount_for(kernel_ns);
  return noise.alone_ns(amount_);
}

/// Returns the kernel's time while another kernel loads. Doubles the loads until the kernel starts
/// while the loads run. Throws Unsupported if the kernel starts too late in all attempts.
LaunchTimes Replay::run_next_to_loads(const prelude::Setting& setting) {
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
          "the device does not run two kernels at once: the loads took {:.0f} us; the kernel began "
          "{:.0f} us after the loads began and ended {:.0f} us after the loads ended",
          loads.ns() / 1e3, difference_us(kernel.begin, loads.begin),
          difference_us(kernel.end, loads.end)));
    }
    amount_ *= 2;
  }
}

/// Returns the times of judge_copies(). A single copy is timed before and after the concurrent
/// copies. If these two times differ by more than 10 %, the attempt is repeated, because restored
/// data in the caches may speed up the first single copy.
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
          "each launch changes its data, so later launches take {:.2f} times as long", change));
    }
    before = after;
  }
}

/// Returns the time per copy plus the launch overhead as the event's time, and the time of a single
/// launch as the host's time. Concurrent copies overlap their launch overhead, but a single launch
/// includes it. Without the correction, the overhead would count as waiting time. Throws
/// Unsupported if too few copies run at once.
LaunchTimes Replay::judge_copies(double alone_ns, double each_ns) const {
  const double busy = std::max(1.0, each_ns + start_ns_);
  if (each_ns < max_apart * interval_ns_ && busy > alone_ns / 2.0) {
    throw Unsupported(
        fmt::format("the kernel takes {:.0f} us, but the driver needs {:.0f} us to start a copy, "
                    "so too few copies run at once",
                    alone_ns / 1e3, each_ns / 1e3));
  }
  return {static_cast<std::uint64_t>(std::llround(busy)),
          static_cast<std::uint64_t>(std::llround(alone_ns))};
}

}  // namespace clprobe::kernel
