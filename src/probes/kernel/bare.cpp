// SPDX-License-Identifier: Apache-2.0
// Replays of what is left of a kernel, with all causes gone, side by side with others of it, or
// while another kernel loads: each in a queue of its own. Sees OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "clprobe/kernel_chains.hpp"
#include "probes/kernel/ranges.hpp"
#include "probes/kernel/renaming.hpp"
#include "probes/kernel/replay.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

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

/// So much local memory that groups of loads alone would fill what groups of the kernel do.
std::string Replay::load_options() const {
  constexpr std::uint64_t load_groups = 8;  // of 256 work-items, on a compute unit
  std::uint64_t bytes =
      renamed_.kernel->getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(session_.device());
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

void Replay::enqueue_renamed(const cl::CommandQueue& queue, const prelude::Setting& setting,
                             cl::Event* event) {
  const prelude::NdRange range = prelude::encode(range_for_prelude(bundle_.launch.range), setting);
  queue.enqueueNDRangeKernel(*built(setting).kernel, sizes_of(range.offset, range.dimensions),
                             sizes_of(range.global, range.dimensions),
                             any_sizes_of(range.local, range.dimensions), nullptr, event);
}

AmountBeside Replay::prepare_bare(const Shape& shape) {
  session_.use_all_cores();  // what is beside the kernel is launched past the session
  prepare_renamed(shape.setting);
  double kernel_ns = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 3; ++turn) {
    const LaunchTimes times =
        run({.caches = Caches::warm, .text = Text::renamed, .setting = shape.setting});
    kernel_ns = std::min(kernel_ns, static_cast<double>(times.event_ns.value_or(times.host_ns)));
  }
  return shape.beside == Beside::copies ? prepare_copies(shape, kernel_ns)
                                        : prepare_loads(kernel_ns);
}

AmountBeside Replay::prepare_copies(const Shape& shape, double kernel_ns) {
  copies_.emplace(session_, bare_copies,
                  [this, setting = shape.setting](const cl::CommandQueue& queue, cl::Event* event) {
                    enqueue_renamed(queue, setting, event);
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
  enqueue_renamed(session_.queue(), shape.setting, &inside);
  session_.queue().finish();
  load_noise_->finish();
  check_guards();
  return {span_of(loads), span_of(inside)};
}

LaunchTimes Replay::run_beside_loads(const Shape& shape, AmountBeside& loads) {
  for (int attempt = 1;; ++attempt) {
    restore();
    launch_renamed(shape.setting);
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
  launch_renamed(shape.setting);
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
