// SPDX-License-Identifier: Apache-2.0
// Replays of what is left of a kernel, with all causes gone, while another kernel keeps one unit
// busy: in a queue of its own, from before the replay to behind it. Sees OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/kernel/ranges.hpp"
#include "probes/kernel/renaming.hpp"
#include "probes/kernel/replay.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::kernel {
namespace {

// Where noise did not outlast the kernel, there is twice as much of it, so many times.
constexpr int max_attempts = 6;

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

NoiseAmount Replay::prepare_bare(const Shape& shape) {
  prepare_renamed(shape.setting);
  double kernel_ns = 0.0;
  for (int turn = 0; turn < 3; ++turn) {
    const LaunchTimes times =
        run({.caches = Caches::warm, .text = Text::renamed, .setting = shape.setting});
    const auto ns = static_cast<double>(times.event_ns.value_or(times.host_ns));
    kernel_ns = turn == 0 ? ns : std::min(kernel_ns, ns);
  }
  make_flushed();
  UnitNoise& noise = unit_noise_.emplace(session_, noise_options(), flushed_, flush_bytes_);
  const std::uint32_t amount = noise.amount_for(shape.beside, kernel_ns);
  return {.amount = amount,
          .alone_ns = noise.alone_ns(shape.beside, amount),
          .idle_share = noise.idle_share(shape.beside, amount)};
}

/// The kernel, launched behind noise that is begun.
BareSpans Replay::launch_bare(const Shape& shape, std::uint32_t amount) {
  const prelude::NdRange range =
      prelude::encode(range_for_prelude(bundle_.launch.range), shape.setting);
  const cl::Event noise = unit_noise_->start(shape.beside, amount);
  cl::Event inside;
  session_.queue().enqueueNDRangeKernel(
      *built(shape.setting).kernel, sizes_of(range.offset, range.dimensions),
      sizes_of(range.global, range.dimensions), any_sizes_of(range.local, range.dimensions),
      nullptr, &inside);
  session_.queue().finish();
  unit_noise_->finish();
  check_guards();
  return {span_of(noise), span_of(inside)};
}

LaunchTimes Replay::run_bare(const Shape& shape, NoiseAmount& noise) {
  for (int attempt = 1;; ++attempt) {
    restore();
    launch_renamed(shape.setting);
    noise.alone_ns = unit_noise_->alone_ns(shape.beside, noise.amount);
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
