// SPDX-License-Identifier: Apache-2.0
// Replays of what is left of a kernel, with all causes gone, while another kernel keeps one unit
// busy: in a queue of its own, from before the replay to behind it. Sees OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "probes/kernel/ranges.hpp"
#include "probes/kernel/renaming.hpp"
#include "probes/kernel/replay.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

// One sub-group for each of a unit's four schedulers, or two: multiplications of floats are issued
// in each cycle, which one does not manage. More would take the kernel's turns.
constexpr std::uint64_t work_items = 128;
constexpr std::uint64_t work_items_of_floats = 256;
// So many leave no unit idle.
constexpr std::uint64_t saturating_work_items = 1024;
// Of loads no more than keep the way to the second cache busy: each load of the kernel stands
// behind some 200 lines, a hundred cycles or two. More would also be felt by a kernel that loads
// a word in a thousand cycles.
constexpr std::uint64_t loading_work_items = 64;
// What each last cache of a GPU holds, and no first one does.
constexpr std::uint64_t room_bytes = std::uint64_t{1} << 20U;
// The kernel takes longer beside it, and is launched a while behind it.
constexpr double times_of_kernel = 4.0;
constexpr double head_start_ns = 600e3;
// Where that was too little, twice as much, so many times.
constexpr int max_attempts = 6;

/// As cl/kernel.cl has them.
cl_uint kind_of(Beside beside) {
  switch (beside) {
    case Beside::integers:
      return 1;
    case Beside::logic:
      return 2;
    case Beside::scattered:
      return 3;
    default:
      return 0;
  }
}

Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

std::uint64_t usual_items(Beside beside) {
  if (beside == Beside::scattered) return loading_work_items;
  return beside == Beside::arithmetic ? work_items_of_floats : work_items;
}

/// Until it runs, as far as the driver tells that; but not for long.
void wait_for_start(const cl::Event& event) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::microseconds patience{200};
  while (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_RUNNING &&
         std::chrono::steady_clock::now() - begin < patience) {
  }
}

double difference_us(std::uint64_t later, std::uint64_t earlier) {
  return (static_cast<double>(later) - static_cast<double>(earlier)) / 1e3;
}

}  // namespace

/// So much local memory that groups of noise alone would fill what groups of the kernel do.
std::string Replay::noise_options() const {
  constexpr std::uint64_t noise_groups = 8;  // of 256 work-items, on a compute unit
  std::uint64_t bytes =
      renamed_.kernel->getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(session_.device());
  for (const bundle::Argument& each : bundle_.launch.arguments) {
    if (each.kind == bundle::ArgumentKind::local) bytes += each.bytes;
  }
  if (bytes == 0) return {};
  const auto known = entered_.resident_groups.begin();
  const std::uint64_t resident = known == entered_.resident_groups.end() ? 0 : known->second;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, resident / units_of(session_.info()));
  const std::uint64_t words = bytes * at_once / noise_groups / sizeof(cl_uint);
  const std::uint64_t most = session_.info().local_memory.count / sizeof(cl_uint);
  return fmt::format("-DNOISE_WORDS={}", std::clamp<std::uint64_t>(words, 32, most));
}

cl::Event Replay::launch_noise(Beside beside, std::uint32_t amount, std::uint64_t local) {
  make_flushed();
  if (noise_queue_() == nullptr) {
    noise_queue_ =
        cl::CommandQueue(session_.context(), session_.device(), CL_QUEUE_PROFILING_ENABLE);
  }
  const std::uint64_t words = std::min(flush_bytes_, room_bytes) / sizeof(cl_uint);
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_noise", noise_options());
  kernel.setArg(0, flushed_);
  kernel.setArg(1, kind_of(beside));
  kernel.setArg(2, static_cast<cl_uint>(std::bit_width(words) - 1));
  kernel.setArg(3, cl_uint{amount});
  cl::Event event;
  noise_queue_.enqueueNDRangeKernel(kernel, cl::NullRange,
                                    cl::NDRange(units_of(session_.info()) * local),
                                    cl::NDRange(local), nullptr, &event);
  noise_queue_.flush();
  return event;
}

double Replay::noise_alone_ns(Beside beside, std::uint32_t amount, std::uint64_t local) {
  const cl::Event event = launch_noise(beside, amount, local);
  event.wait();
  return span_of(event).ns();
}

/// Of the time of noise that is alone, the share in which it leaves its unit idle: by how much
/// faster as much is done by as many as fill it.
double Replay::idle_share(Beside beside, std::uint32_t amount) {
  if (beside == Beside::scattered) return 0.0;
  const std::uint64_t few = usual_items(beside);
  const auto most = static_cast<std::uint64_t>(session_.info().max_work_group_size);
  const std::uint64_t many = std::min(saturating_work_items, most);
  if (many <= few) return 0.0;
  noise_alone_ns(beside, 1, many);
  const double few_ns = noise_alone_ns(beside, amount, few);
  const double many_ns = noise_alone_ns(beside, amount, many);
  const double filled_ns = many_ns * static_cast<double>(few) / static_cast<double>(many);
  return std::clamp(1.0 - filled_ns / few_ns, 0.0, 1.0);
}

/// So much that it outlasts the kernel, which takes `kernel_ns`.
std::uint32_t Replay::amount_of_noise(Beside beside, double kernel_ns) {
  const double wanted_ns = times_of_kernel * kernel_ns + head_start_ns;
  constexpr std::uint32_t max_amount = 1U << 28U;
  noise_alone_ns(beside, 1, usual_items(beside));
  std::uint32_t amount = 256;
  for (; amount < max_amount; amount *= 2) {
    const double ns = noise_alone_ns(beside, amount, usual_items(beside));
    if (ns < wanted_ns / 4.0) continue;
    return static_cast<std::uint32_t>(std::ceil(amount * std::max(0.25, wanted_ns / ns)));
  }
  throw Unsupported("noise of any amount takes no time");
}

NoiseAmount Replay::prepare_bare(const Shape& shape) {
  prepare_renamed(shape.setting);
  double kernel_ns = 0.0;
  for (int turn = 0; turn < 3; ++turn) {
    const LaunchTimes times =
        run({.caches = Caches::warm, .text = Text::renamed, .setting = shape.setting});
    const auto ns = static_cast<double>(times.event_ns.value_or(times.host_ns));
    kernel_ns = turn == 0 ? ns : std::min(kernel_ns, ns);
  }
  const std::uint32_t amount = amount_of_noise(shape.beside, kernel_ns);
  return {.amount = amount,
          .alone_ns = noise_alone_ns(shape.beside, amount, usual_items(shape.beside)),
          .idle_share = idle_share(shape.beside, amount)};
}

/// The kernel, launched behind noise that is begun.
BareSpans Replay::launch_bare(const Shape& shape, std::uint32_t amount) {
  const prelude::NdRange range =
      prelude::encode(range_for_prelude(bundle_.launch.range), shape.setting);
  const cl::Event noise = launch_noise(shape.beside, amount, usual_items(shape.beside));
  wait_for_start(noise);
  cl::Event inside;
  session_.queue().enqueueNDRangeKernel(
      *built(shape.setting).kernel, sizes_of(range.offset, range.dimensions),
      sizes_of(range.global, range.dimensions), any_sizes_of(range.local, range.dimensions),
      nullptr, &inside);
  session_.queue().finish();
  noise_queue_.finish();
  check_guards();
  return {span_of(noise), span_of(inside)};
}

LaunchTimes Replay::run_bare(const Shape& shape, NoiseAmount& noise) {
  for (int attempt = 1;; ++attempt) {
    restore();
    launch_renamed(shape.setting);
    noise.alone_ns = noise_alone_ns(shape.beside, noise.amount, usual_items(shape.beside));
    const BareSpans spans = launch_bare(shape, noise.amount);
    const Span& kernel = spans.kernel;
    const bool is_loads = shape.beside == Beside::scattered;
    // Of loads it is enough to have felt them.
    const std::uint64_t end = is_loads ? kernel.begin : kernel.end;
    if (spans.noise.begin <= kernel.begin && end <= spans.noise.end) {
      // What the kernel had of the unit it took from noise, or noise had left it.
      const double lost_ns = spans.noise.ns() - noise.alone_ns + noise.idle_share * kernel.ns();
      const double ns = is_loads ? kernel.ns() : std::max(1.0, lost_ns);
      return {static_cast<std::uint64_t>(std::llround(ns)), kernel.end - kernel.begin};
    }
    if (attempt == max_attempts) {
      throw Unsupported(fmt::format(
          "the device does not run noise and kernel at once: beside noise of {:.0f} us it begins "
          "{:.0f} us behind that, and ends {:.0f} us behind it",
          spans.noise.ns() / 1e3, difference_us(kernel.begin, spans.noise.begin),
          difference_us(kernel.end, spans.noise.end)));
    }
    noise.amount *= 2;
  }
}

}  // namespace clprobe::kernel
