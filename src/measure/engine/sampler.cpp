// SPDX-License-Identifier: Apache-2.0
#include "measure/engine/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"

namespace clprobe {
namespace {

constexpr std::uint64_t min_quanta = 100;
constexpr std::uint64_t longest_launch_ns = 100'000'000;
// Noise of a launch that is timed by the host, about 10 us.
constexpr std::uint64_t host_quantum_ns = 10'000;
constexpr std::uint64_t shortest_host_ns = min_quanta * host_quantum_ns;

Measurement checked(Measurement measurement) {
  if (measurement.sample.witness != measurement.expected_witness) {
    throw VoidedPoint(fmt::format(
        "wrong result: the kernel returned {} instead of {}, so the measured time is invalid",
        measurement.sample.witness, measurement.expected_witness));
  }
  return measurement;
}

/// Returns whether the sample is long enough for the resolution of its timer.
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
    case Timer::wait:
    case Timer::imported:  // this function never gets imported samples
      break;
  }
  return sample.host_ns >= shortest_host_ns;
}

/// Returns a larger number of iterations after a sample that was too short. If the host's clock
/// times the sample, the number grows only as much as needed. With samples of 4 ms instead of 1 ms,
/// the probe `transfer` took half a second longer.
std::uint64_t lengthened(std::uint64_t iterations, const Sample& sample, Timer timer) {
  constexpr std::uint64_t step = 4;
  constexpr double margin = 1.25;
  const bool is_by_host = timer == Timer::host || timer == Timer::wait;
  const double missing = margin * static_cast<double>(shortest_host_ns) /
                         static_cast<double>(std::max<std::uint64_t>(1, sample.host_ns));
  if (!is_by_host || missing >= static_cast<double>(step)) return iterations * step;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(iterations) * missing));
}

/// Returns whether the times of two samples differ by at most `share` of the time.
bool agree(const Sample& first, const Sample& second, Timer timer, double share) {
  const auto time_of = [&](const Sample& sample) {
    if (timer == Timer::wait) return sample.host_ns;
    return timer == Timer::clock ? sample.ticks.value_or(0) : sample.event_ns.value_or(0);
  };
  const auto a = static_cast<double>(time_of(first));
  const auto b = static_cast<double>(time_of(second));
  return std::fabs(a - b) <= share * std::min(a, b);
}

std::uint64_t clamp_iterations(const Work& work, std::uint64_t iterations) {
  const std::uint64_t max_iterations = work.max_iterations == 0 ? iterations : work.max_iterations;
  return std::clamp<std::uint64_t>(iterations, 1, std::max<std::uint64_t>(1, max_iterations));
}

/// Returns a number of iterations and the last sample. Within the maximum of `work`, a sample with
/// this number is long enough for the timer and too short for a watchdog of the driver.
std::pair<std::uint64_t, Measurement> calibrate(const Work& work, const DeviceInfo& device,
                                                Timer timer) {
  std::uint64_t iterations = clamp_iterations(work, work.iterations);
  for (int attempt = 0;; ++attempt) {
    Measurement measurement = checked(work.run(iterations));
    const Sample& sample = measurement.sample;
    std::uint64_t next = iterations;
    if (sample.host_ns > longest_launch_ns) {
      next = iterations * longest_launch_ns / sample.host_ns;
    } else if (!is_long_enough(sample, device, timer)) {
      next = lengthened(iterations, sample, timer);
    }
    next = clamp_iterations(work, next);
    constexpr int max_attempts = 12;
    if (next == iterations || attempt == max_attempts) return {iterations, std::move(measurement)};
    iterations = next;
  }
}

}  // namespace

Sampling sampling_of(const Point& point, const DeviceInfo& device, const Budget& budget) {
  Sampling sampling;
  sampling.timer = timer_of(point, device);
  sampling.count = budget.samples_per_visit;
  sampling.agree_share = budget.relative_interval / 4;
  const bool is_whole_launch =
      sampling.timer == Timer::wait || (sampling.timer == Timer::event && is_of_launches(point));
  sampling.has_partners = sampling.timer != Timer::clock && !is_whole_launch;
  return sampling;
}

void take_samples(const Work& work, const DeviceInfo& device, const Sampling& sampling,
                  const TakeSample& take) {
  const auto report = [&](const Measurement& taken) { take(taken.sample, taken.facts); };
  auto [iterations, last] = calibrate(work, device, sampling.timer);
  report(last);
  const int count =
      work.max_samples > 0 ? std::min(work.max_samples, sampling.count) : sampling.count;
  for (int i = 1; i < count; ++i) {
    const Measurement before = std::exchange(last, checked(work.run(iterations)));
    report(last);
    // If two samples agree, a third sample of the same visit adds little information. A later visit
    // adds more.
    if (sampling.has_partners) continue;
    if (agree(before.sample, last.sample, sampling.timer, sampling.agree_share)) break;
  }
  if (!sampling.has_partners) return;
  const std::uint64_t fewer = std::max<std::uint64_t>(1, iterations / 8);
  for (int i = 0; i < count; ++i) report(checked(work.run(fewer)));
}

PreparedPoint prepared(Work work, const DeviceInfo& device) {
  PreparedPoint point{.facts = std::move(work.facts), .build = std::move(work.build)};
  point.sample = [work = std::move(work), &device](const Sampling& sampling,
                                                   const TakeSample& take) {
    take_samples(work, device, sampling, take);
  };
  return point;
}

void sample_visit(const PreparedPoint& prepared, const DeviceInfo& device, const Budget& budget,
                  std::uint64_t visit, Point& point) {
  const Sampling sampling = sampling_of(point, device, budget);
  const auto keep = [&](Sample sample, const Parameters& facts) {
    sample.visit = visit;
    point.samples.push_back(sample);
    for (const auto& [name, value] : facts) point.facts.set(name, value);
  };
  prepared.sample(sampling, keep);
}

std::optional<double> speed_ns(const Point& reference, const DeviceInfo& device) {
  if (timer_of(reference, device) != Timer::clock || device.clock.rate != ClockRate::core_cycles) {
    const auto found = estimate(reference, device);
    if (!found) return std::nullopt;
    return found->ns;
  }
  // The launch overhead is too large a share of the time of a shorter launch.
  constexpr double shortest_ns = 1e5;
  std::optional<double> min_ns;
  for (const Sample& sample : reference.samples) {
    const auto launch_ns = static_cast<double>(sample.event_ns.value_or(sample.host_ns));
    if (launch_ns < shortest_ns) continue;
    const double ns = launch_ns / static_cast<double>(sample.accesses);
    min_ns = std::min(min_ns.value_or(ns), ns);
  }
  return min_ns;
}

std::optional<double> drift_of(std::span<const double> speeds_ns) {
  constexpr std::size_t min_values = 4;
  constexpr double min_drift = 0.02;
  if (speeds_ns.size() < min_values) return std::nullopt;
  const std::size_t half = speeds_ns.size() / 2;
  const double early = median(speeds_ns.first(half));
  const double late = median(speeds_ns.last(half));
  const double drift = std::fabs(late - early) / early;
  if (drift < min_drift) return std::nullopt;
  return drift;
}

}  // namespace clprobe
