// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/load_noise.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

// Of one group a unit, no more than keep the way to the second cache busy: each load of the kernel
// stands behind some 200 lines, a hundred cycles or two. More would also be felt by a kernel that
// loads a word in a thousand cycles.
constexpr std::uint64_t work_items = 64;
// What each last cache of a GPU holds, and no first one does.
constexpr std::uint64_t max_room_bytes = std::uint64_t{1} << 20U;
// The kernel takes longer beside it, and is launched a while behind it.
constexpr double times_of_kernel = 4.0;
constexpr double head_start_ns = 600e3;

/// Until it runs, as far as the driver tells that; but not for long.
void wait_for_start(const cl::Event& event) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::microseconds patience{200};
  while (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_RUNNING &&
         std::chrono::steady_clock::now() - begin < patience) {
  }
}

}  // namespace

LoadNoise::LoadNoise(Session& session, std::string options, cl::Buffer room,
                     std::uint64_t room_bytes)
    : session_(session),
      options_(std::move(options)),
      room_(std::move(room)),
      room_bytes_(std::min(room_bytes, max_room_bytes)),
      queue_(session.context(), session.device(), CL_QUEUE_PROFILING_ENABLE) {}

cl::Event LoadNoise::launch(std::uint32_t amount) {
  const std::uint64_t words = room_bytes_ / sizeof(cl_uint);
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_loads", options_);
  kernel.setArg(0, room_);
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
