// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

constexpr std::uint64_t min_quanta = 100;
constexpr std::uint64_t longest_launch_ns = 100'000'000;

Sample checked(const Measurement& measurement) {
  if (measurement.sample.witness != measurement.expected_witness) {
    throw VoidedPoint(
        fmt::format("wrong result: the kernel ended at {} and not at {}; its time means nothing",
                    measurement.sample.witness, measurement.expected_witness));
  }
  return measurement.sample;
}

/// Whether the sample is long enough for its timer.
bool is_long_enough(const Sample& sample, const DeviceInfo& device, Timer timer) {
  switch (timer) {
    case Timer::clock:
      return sample.ticks.value_or(0) >=
             min_quanta * device.clock.quantum_ticks + device.clock.overhead_ticks;
    case Timer::event: {
      const auto resolution =
          static_cast<std::uint64_t>(device.reported.integer_or("timer_resolution_ns", 1));
      return sample.event_ns.value_or(0) >= min_quanta * std::max<std::uint64_t>(1, resolution);
    }
    case Timer::host:
    case Timer::imported:  // no sample of such a run was taken here
      break;
  }
  // A host sees a launch with some ten microseconds of noise.
  constexpr std::uint64_t host_quantum_ns = 10'000;
  return sample.host_ns >= min_quanta * host_quantum_ns;
}

bool agree(std::uint64_t a, std::uint64_t b, double share) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<double>(high - low) <= share * static_cast<double>(low);
}

std::uint64_t clamp_iterations(const Work& work, std::uint64_t iterations) {
  const std::uint64_t most = work.max_iterations == 0 ? iterations : work.max_iterations;
  return std::clamp<std::uint64_t>(iterations, 1, std::max<std::uint64_t>(1, most));
}

/// Iterations for which a sample is neither too short for the timer nor too long for a watchdog,
/// and the sample that showed it.
std::pair<std::uint64_t, Sample> calibrate(const Work& work, const DeviceInfo& device,
                                           Timer timer) {
  std::uint64_t iterations = clamp_iterations(work, work.iterations);
  for (int attempt = 0;; ++attempt) {
    const Sample sample = checked(work.run(iterations));
    std::uint64_t next = iterations;
    if (sample.host_ns > longest_launch_ns) {
      next = iterations * longest_launch_ns / sample.host_ns;
    } else if (!is_long_enough(sample, device, timer)) {
      next = iterations * 4;
    }
    next = clamp_iterations(work, next);
    constexpr int max_attempts = 12;
    if (next == iterations || attempt == max_attempts) return {iterations, sample};
    iterations = next;
  }
}

}  // namespace

void sample_visit(const Work& work, const DeviceInfo& device, const Budget& budget,
                  std::uint64_t visit, Point& point) {
  const Timer timer = timer_of(point, device);
  std::vector<Sample>& samples = point.samples;
  auto [iterations, first] = calibrate(work, device, timer);
  const auto keep = [&](Sample sample) {
    sample.visit = visit;
    samples.push_back(sample);
  };
  keep(first);
  if (timer == Timer::clock) {
    // Two samples that agree make a third one a waste; the next visit comes at another time.
    for (int i = 1; i < budget.samples_per_visit; ++i) {
      const std::uint64_t before = samples.back().ticks.value_or(0);
      keep(checked(work.run(iterations)));
      if (agree(before, samples.back().ticks.value_or(0), budget.relative_interval / 4)) return;
    }
    return;
  }
  for (int i = 1; i < budget.samples_per_visit; ++i) keep(checked(work.run(iterations)));
  if (timer == Timer::event && is_of_launches(point)) return;
  const std::uint64_t fewer = std::max<std::uint64_t>(1, iterations / 8);
  for (int i = 0; i < budget.samples_per_visit; ++i) keep(checked(work.run(fewer)));
}

std::optional<double> speed_ns(const Point& reference, const DeviceInfo& device) {
  if (timer_of(reference, device) != Timer::clock || device.clock.rate != ClockRate::core_cycles) {
    const auto found = estimate(reference, device);
    if (!found) return std::nullopt;
    return found->ns;
  }
  // Of shorter launches what starts them is too large a part.
  constexpr double shortest_ns = 1e5;
  std::optional<double> least;
  for (const Sample& sample : reference.samples) {
    const auto launch_ns = static_cast<double>(sample.event_ns.value_or(sample.host_ns));
    if (launch_ns < shortest_ns) continue;
    const double ns = launch_ns / static_cast<double>(sample.accesses);
    least = std::min(least.value_or(ns), ns);
  }
  return least;
}

std::optional<double> drift_of(std::span<const double> speeds_ns) {
  constexpr std::size_t fewest = 4;
  constexpr double worth_telling = 0.02;
  if (speeds_ns.size() < fewest) return std::nullopt;
  const std::size_t half = speeds_ns.size() / 2;
  const double early = median(speeds_ns.first(half));
  const double late = median(speeds_ns.last(half));
  const double drift = std::fabs(late - early) / early;
  if (drift < worth_telling) return std::nullopt;
  return drift;
}

}  // namespace clprobe
