// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/unit_noise.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

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
constexpr std::uint64_t max_room_bytes = std::uint64_t{1} << 20U;
// The kernel takes longer beside it, and is launched a while behind it.
constexpr double times_of_kernel = 4.0;
constexpr double head_start_ns = 600e3;

/// As cl/kernel.cl has them.
cl_uint number_of(Beside kind) {
  switch (kind) {
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

std::uint64_t usual_items(Beside kind) {
  if (kind == Beside::scattered) return loading_work_items;
  return kind == Beside::arithmetic ? work_items_of_floats : work_items;
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

Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

UnitNoise::UnitNoise(Session& session, std::string options, cl::Buffer room,
                     std::uint64_t room_bytes)
    : session_(session),
      options_(std::move(options)),
      room_(std::move(room)),
      room_bytes_(std::min(room_bytes, max_room_bytes)),
      queue_(session.context(), session.device(), CL_QUEUE_PROFILING_ENABLE) {}

cl::Event UnitNoise::launch(Beside kind, std::uint32_t amount, std::uint64_t items) {
  const std::uint64_t words = room_bytes_ / sizeof(cl_uint);
  cl::Kernel kernel = session_.kernel("kernel.cl", "kernel_noise", options_);
  kernel.setArg(0, room_);
  kernel.setArg(1, number_of(kind));
  kernel.setArg(2, static_cast<cl_uint>(std::bit_width(words) - 1));
  kernel.setArg(3, cl_uint{amount});
  cl::Event event;
  queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(units_of(session_.info()) * items),
                              cl::NDRange(items), nullptr, &event);
  queue_.flush();
  return event;
}

cl::Event UnitNoise::start(Beside kind, std::uint32_t amount) {
  cl::Event event = launch(kind, amount, usual_items(kind));
  wait_for_start(event);
  return event;
}

void UnitNoise::finish() { queue_.finish(); }

double UnitNoise::alone_ns(Beside kind, std::uint32_t amount, std::uint64_t items) {
  const cl::Event event = launch(kind, amount, items);
  event.wait();
  return span_of(event).ns();
}

double UnitNoise::alone_ns(Beside kind, std::uint32_t amount) {
  return alone_ns(kind, amount, usual_items(kind));
}

double UnitNoise::idle_share(Beside kind, std::uint32_t amount) {
  if (kind == Beside::scattered) return 0.0;
  const std::uint64_t few = usual_items(kind);
  const auto max_items = static_cast<std::uint64_t>(session_.info().max_work_group_size);
  const std::uint64_t many = std::min(saturating_work_items, max_items);
  if (many <= few) return 0.0;
  alone_ns(kind, 1, many);
  const double few_ns = alone_ns(kind, amount, few);
  const double many_ns = alone_ns(kind, amount, many);
  const double filled_ns = many_ns * static_cast<double>(few) / static_cast<double>(many);
  return std::clamp(1.0 - filled_ns / few_ns, 0.0, 1.0);
}

std::uint32_t UnitNoise::amount_for(Beside kind, double kernel_ns) {
  const double wanted_ns = times_of_kernel * kernel_ns + head_start_ns;
  constexpr std::uint32_t max_amount = 1U << 28U;
  alone_ns(kind, 1);
  for (std::uint32_t amount = 256; amount < max_amount; amount *= 2) {
    const double ns = alone_ns(kind, amount);
    if (ns < wanted_ns / 4.0) continue;
    return static_cast<std::uint32_t>(std::ceil(amount * std::max(0.25, wanted_ns / ns)));
  }
  throw Unsupported("noise of any amount takes no time");
}

}  // namespace clprobe::kernel
