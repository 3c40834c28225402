// SPDX-License-Identifier: Apache-2.0
// Replays with groups beside the kernel's own that keep one resource busy. Sees OpenCL.
#include <algorithm>
#include <bit>
#include <cmath>

#include "probes/kernel/build_program.hpp"
#include "probes/kernel/renaming.hpp"
#include "probes/kernel/replay.hpp"

namespace clprobe::kernel {
namespace {

constexpr std::uint64_t bytes_per_word = sizeof(cl_uint);
// What each last cache of a GPU holds, and no first one does.
constexpr std::uint64_t cached_bytes = std::uint64_t{1} << 20U;

prelude::Noise noise_of(Beside beside) {
  switch (beside) {
    case Beside::local:
      return prelude::Noise::local;
    case Beside::cache:
      return prelude::Noise::cache;
    case Beside::memory:
      return prelude::Noise::memory;
    default:
      return prelude::Noise::arithmetic;
  }
}

double ns_of(const LaunchTimes& times) {
  return static_cast<double>(times.event_ns.value_or(times.host_ns));
}

}  // namespace

AmountBeside Replay::prepare_noise(Beside beside, std::uint64_t percent) {
  if (!noisy_.kernel && noisy_.problem.empty()) {
    noisy_.problem = build_with_entry(true, noisy_);
    const bool fits = noise_padding_bytes() <= noisy_.free_local_bytes;
    if (noisy_.problem.empty() && !fits) {
      noisy_.problem = "the kernel leaves too little local memory for noise";
    }
  }
  if (!noisy_.problem.empty()) throw Unsupported(noisy_.problem);
  if (!(unhindered_ns_ > 0.0)) {
    // The least of three, as everything that is compared with it.
    for (int turn = 0; turn < 3; ++turn) {
      restore();
      flush();
      const double ns = ns_of(launch_beside(Beside::idle, 0));
      unhindered_ns_ = turn == 0 ? ns : std::min(unhindered_ns_, ns);
    }
  }
  if (beside == Beside::idle) return {};
  if (noise_ns_.find(beside) == noise_ns_.end()) noise_ns_[beside] = measure_noise(beside);
  return amount_of(beside, percent);
}

/// A word for each work-item: where noise is loads of local memory it needs them, and all kinds are
/// compared with one and the same launch.
std::uint64_t Replay::noise_padding_bytes() const {
  const prelude::NdRange range = range_for_prelude(bundle_.launch.range);
  return bytes_per_word *
         std::max<std::uint64_t>(4, range.local[0] * range.local[1] * range.local[2]);
}

EntryLaunch Replay::noise_launch(Beside beside, std::uint32_t amount, bool is_alone) {
  make_flushed();
  const std::uint64_t bytes =
      beside == Beside::memory ? flush_bytes_ : std::min(flush_bytes_, cached_bytes);
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(bytes / bytes_per_word)) - 1U;
  return {.groups = is_alone ? all_groups() : 2 * all_groups(),
          .mode = prelude::noise_mode(noise_of(beside), exponent, is_alone),
          .amount = amount,
          .room = flushed_,
          .padding_bytes = noise_padding_bytes()};
}

double Replay::measure_noise(Beside beside) {
  // Long enough for a slope, and short of what ends a launch.
  const double enough_ns = std::clamp(unhindered_ns_ / 2.0, 50e3, 20e6);
  constexpr std::uint32_t max_amount = 1U << 24U;
  launch_with_entry(*noisy_.kernel, noise_launch(beside, 1, true));
  const double without_ns = ns_of(launch_with_entry(*noisy_.kernel, noise_launch(beside, 0, true)));
  double ns = 0.0;
  std::uint32_t amount = 8;
  for (; amount < max_amount; amount *= 2) {
    ns = ns_of(launch_with_entry(*noisy_.kernel, noise_launch(beside, amount, true)));
    if (ns - without_ns >= enough_ns) break;
  }
  if (!(ns > without_ns)) throw Unsupported("no amount of noise takes measurable time");
  return (ns - without_ns) / static_cast<double>(amount);
}

AmountBeside Replay::amount_of(Beside beside, std::uint64_t percent) const {
  const auto found = noise_ns_.find(beside);
  if (found == noise_ns_.end()) return {};
  const double wanted_ns = unhindered_ns_ * static_cast<double>(percent) / 100.0;
  const double amount = std::clamp(std::round(wanted_ns / found->second), 1.0, 0x1p30);
  return {static_cast<std::uint32_t>(amount), amount * found->second};
}

LaunchTimes Replay::launch_beside(Beside beside, std::uint64_t percent) {
  const std::uint32_t amount = beside == Beside::idle ? 0U : amount_of(beside, percent).amount;
  return launch_with_entry(*noisy_.kernel, noise_launch(beside, amount, false));
}

}  // namespace clprobe::kernel
