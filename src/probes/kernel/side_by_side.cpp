// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/replay.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

enum class Timed { every_launch, first_and_last };

/// Launches in all queues alternately, so that no queue is more than one launch ahead. All queues
/// are flushed after the last launch, and only timed launches have events. On NVIDIA's driver, an
/// earlier flush or an event costs more time than the launch.
std::vector<Span> run(std::span<const cl::CommandQueue> queues, std::uint64_t launches, Timed timed,
                      const Copies::Launcher& launch) {
  std::vector<cl::Event> events;
  for (std::uint64_t i = 0; i < launches; ++i) {
    const bool is_timed = timed == Timed::every_launch || i == 0 || i + 1 == launches;
    for (const cl::CommandQueue& queue : queues) {
      launch(queue, is_timed ? &events.emplace_back() : nullptr);
    }
  }
  for (const cl::CommandQueue& queue : queues) queue.flush();
  for (const cl::CommandQueue& queue : queues) queue.finish();
  std::vector<Span> spans(events.size());
  std::transform(events.begin(), events.end(), spans.begin(), span_of);
  return spans;
}

// Number of work-items in the single group of loads per compute unit. With 64 work-items, each load
// of the kernel queues after about 200 lines, for 100 to 200 cycles. More work-items would also
// slow a kernel that loads only one word in 1000 cycles.
constexpr std::uint64_t work_items = 64;
// Maximum size in bytes of the loaded buffer. 1 MiB fits the last cache of any GPU and exceeds L1.
constexpr std::uint64_t max_data_bytes = std::uint64_t{1} << 20U;
// Ratio of the loads' time to the kernel's time, with a margin because the loads slow the kernel.
// `head_start_ns` is added for the delay between the starts of the two kernels.
constexpr double times_of_kernel = 4.0;
constexpr double head_start_ns = 600e3;

/// Waits until a launch runs, for at most 200 us. Drivers that do not report the start use the
/// whole 200 us.
void wait_for_start(const cl::Event& event) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::microseconds patience{200};
  while (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_RUNNING &&
         std::chrono::steady_clock::now() - begin < patience) {
  }
}

}  // namespace

Copies::Copies(Session& session, std::uint64_t count, Launcher launch)
    : launch_(std::move(launch)) {
  for (std::uint64_t i = 0; i < count; ++i) {
    queues_.emplace_back(session.context(), session.device(), CL_QUEUE_PROFILING_ENABLE);
  }
}

double Copies::alone_ns(std::uint64_t launches) {
  std::vector<Span> spans =
      run(std::span(queues_).first(1), launches, Timed::every_launch, launch_);
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end(),
                   [](const Span& a, const Span& b) { return a.ns() < b.ns(); });
  return middle->ns();
}

double Copies::each_ns(std::uint64_t launches) {
  const std::vector<Span> spans = run(queues_, launches, Timed::first_and_last, launch_);
  Span whole = spans.front();
  for (const Span& each : spans) {
    whole.begin = std::min(whole.begin, each.begin);
    whole.end = std::max(whole.end, each.end);
  }
  return whole.ns() / static_cast<double>(launches * queues_.size());
}

LoadNoise::LoadNoise(Session& session, std::string options, cl::Buffer data,
                     std::uint64_t data_bytes)
    : session_(session),
      options_(std::move(options)),
      data_(std::move(data)),
      data_bytes_(std::min(data_bytes, max_data_bytes)),
      queue_(session.context(), session.device(), CL_QUEUE_PROFILING_ENABLE) {}

cl::Event LoadNoise::launch(std::uint32_t amount) {
  const std::uint64_t words = data_bytes_ / sizeof(cl_uint);
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_loads", options_);
  kernel.setArg(0, data_);
  kernel.setArg(1, static_cast<cl_uint>(std::bit_width(words) - 1));
  kernel.setArg(2, cl_uint{amount});
  cl::Event event;
  queue_.enqueueNDRangeKernel(kernel, cl::NullRange,
                              cl::NDRange(units_of(session_.info()) * work_items),
                              cl::NDRange(work_items), nullptr, &event);
  queue_.flush();
  return event;
}

cl::Event LoadNoise::start(std::uint32_t amount) {
  cl::Event event = launch(amount);
  wait_for_start(event);
  return event;
}

void LoadNoise::finish() { queue_.finish(); }

double LoadNoise::alone_ns(std::uint32_t amount) {
  const cl::Event event = launch(amount);
  event.wait();
  return span_of(event).ns();
}

std::uint32_t LoadNoise::amount_for(double kernel_ns) {
  const double wanted_ns = times_of_kernel * kernel_ns + head_start_ns;
  constexpr std::uint32_t max_amount = 1U << 28U;
  alone_ns(1);
  for (std::uint32_t amount = 256; amount < max_amount; amount *= 2) {
    const double ns = alone_ns(amount);
    if (ns < wanted_ns / 4.0) continue;
    return static_cast<std::uint32_t>(std::ceil(amount * std::max(0.25, wanted_ns / ns)));
  }
  throw Unsupported("no amount of noise takes measurable time");
}

}  // namespace clprobe::kernel
