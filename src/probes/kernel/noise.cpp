// SPDX-License-Identifier: Apache-2.0
// Replays of what is left of a kernel, with all causes gone, while another kernel keeps one unit
// busy: in a queue of its own, from before the replay to behind it. Sees OpenCL.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "probes/kernel/ranges.hpp"
#include "probes/kernel/renaming.hpp"
#include "probes/kernel/replay.hpp"

namespace clprobe::kernel {
namespace {

// Two sub-groups for each of a unit's four schedulers: one alone leaves a unit idle now and then,
// and more of them would take its turns from the kernel.
constexpr std::uint64_t work_items = 256;
// What each last cache of a GPU holds, and no first one does.
constexpr std::uint64_t room_bytes = std::uint64_t{1} << 20U;
// The kernel takes longer beside it, and is launched a while behind it.
constexpr double times_of_kernel = 2.5;
constexpr double head_start_ns = 300e3;

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

/// When a launch was on the device.
struct Span {
  std::uint64_t begin{0};
  std::uint64_t end{0};
  [[nodiscard]] double ns() const { return static_cast<double>(end - begin); }
};

Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

/// Until it runs, as far as the driver tells that; but not for long.
void wait_for_start(const cl::Event& event) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::microseconds patience{200};
  while (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_RUNNING &&
         std::chrono::steady_clock::now() - begin < patience) {
  }
}

}  // namespace

cl::Event Replay::launch_noise(Beside beside, std::uint32_t amount) {
  make_flushed();
  if (noise_queue_() == nullptr) {
    noise_queue_ =
        cl::CommandQueue(session_.context(), session_.device(), CL_QUEUE_PROFILING_ENABLE);
  }
  const std::uint64_t words = std::min(flush_bytes_, room_bytes) / sizeof(cl_uint);
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_noise", "");
  kernel.setArg(0, flushed_);
  kernel.setArg(1, kind_of(beside));
  kernel.setArg(2, static_cast<cl_uint>(std::bit_width(words) - 1));
  kernel.setArg(3, cl_uint{amount});
  const auto units =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, session_.info().compute_units));
  const std::uint64_t local = std::min<std::uint64_t>(
      work_items, kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device()));
  cl::Event event;
  noise_queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(units * local),
                                    cl::NDRange(local), nullptr, &event);
  noise_queue_.flush();
  return event;
}

double Replay::noise_alone_ns(Beside beside, std::uint32_t amount) {
  const cl::Event event = launch_noise(beside, amount);
  event.wait();
  return span_of(event).ns();
}

/// So much that it outlasts the kernel, which takes `kernel_ns`.
std::uint32_t Replay::amount_of_noise(Beside beside, double kernel_ns) {
  const double wanted_ns = times_of_kernel * kernel_ns + head_start_ns;
  constexpr std::uint32_t max_amount = 1U << 28U;
  noise_alone_ns(beside, 1);
  std::uint32_t amount = 256;
  for (; amount < max_amount; amount *= 2) {
    const double ns = noise_alone_ns(beside, amount);
    if (ns < wanted_ns / 4.0) continue;
    return static_cast<std::uint32_t>(std::ceil(amount * std::max(0.25, wanted_ns / ns)));
  }
  throw Unsupported("noise of any amount takes no time");
}

BareNoiseAmount Replay::prepare_bare(const Shape& shape) {
  prepare_renamed(shape.setting);
  double kernel_ns = 0.0;
  for (int turn = 0; turn < 3; ++turn) {
    const LaunchTimes times =
        run({.caches = Caches::warm, .text = Text::renamed, .setting = shape.setting});
    const auto ns = static_cast<double>(times.event_ns.value_or(times.host_ns));
    kernel_ns = turn == 0 ? ns : std::min(kernel_ns, ns);
  }
  const std::uint32_t amount = amount_of_noise(shape.beside, kernel_ns);
  return {amount, noise_alone_ns(shape.beside, amount)};
}

LaunchTimes Replay::run_bare(const Shape& shape, const BareNoiseAmount& noise) {
  restore();
  launch_renamed(shape.setting);
  const double alone_ns = noise_alone_ns(shape.beside, noise.amount);
  const prelude::NdRange range =
      prelude::encode(range_for_prelude(bundle_.launch.range), shape.setting);
  const cl::Kernel& kernel = shape.setting.without_functions ? *cheap_.kernel : *renamed_.kernel;
  const cl::Event around = launch_noise(shape.beside, noise.amount);
  wait_for_start(around);
  cl::Event inside;
  session_.queue().enqueueNDRangeKernel(
      kernel, sizes_of(range.offset, range.dimensions), sizes_of(range.global, range.dimensions),
      any_sizes_of(range.local, range.dimensions), nullptr, &inside);
  session_.queue().finish();
  noise_queue_.finish();
  check_guards();
  const Span noise_span = span_of(around);
  const Span kernel_span = span_of(inside);
  const bool is_begun = noise_span.begin <= kernel_span.begin;
  const bool is_felt = shape.beside == Beside::scattered && kernel_span.begin < noise_span.end;
  if (!is_begun || !(is_felt || kernel_span.end <= noise_span.end)) {
    throw Unsupported("the device does not run noise and kernel at once");
  }
  const double lost_ns = noise_span.ns() - alone_ns;
  const double ns = shape.beside == Beside::scattered ? kernel_span.ns() : std::max(1.0, lost_ns);
  return {static_cast<std::uint64_t>(std::llround(ns)),
          static_cast<std::uint64_t>(kernel_span.ns())};
}

}  // namespace clprobe::kernel
