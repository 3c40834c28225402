// SPDX-License-Identifier: Apache-2.0
#include "measure/engine/sampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fake_device.hpp"

namespace clprobe {
namespace {

using Kernel = std::function<Measurement(std::uint64_t iterations)>;

Work work_of(std::uint64_t iterations, std::uint64_t max_iterations, Kernel kernel) {
  Work work;
  work.iterations = iterations;
  work.max_iterations = max_iterations;
  work.run = std::move(kernel);
  return work;
}

/// Returns a kernel with `ns` per iteration and a launch overhead of `launch_ns`.
Kernel kernel_of(double ns, std::uint64_t launch_ns = 0) {
  return [ns, launch_ns](std::uint64_t iterations) {
    Measurement measurement = launch_of(iterations, ns);
    *measurement.sample.event_ns += launch_ns;
    measurement.sample.host_ns += launch_ns;
    return measurement;
  };
}

/// Returns a kernel whose launch times all differ.
Kernel uneven_kernel() {
  return [launch = 0](std::uint64_t iterations) mutable {
    return launch_of(iterations, 1.0 + 0.1 * launch++);
  };
}

void visit_work(Work work, const DeviceInfo& device, const Budget& budget, std::uint64_t visit,
                Point& point) {
  sample_visit(prepared(std::move(work), device), device, budget, visit, point);
}

std::vector<Sample> visit(const Work& work, const DeviceInfo& device, int samples = 3) {
  Budget budget;
  budget.samples_per_visit = samples;
  Point taken;
  visit_work(work, device, budget, 7, taken);
  return taken.samples;
}

std::set<std::uint64_t> access_counts(const std::vector<Sample>& samples) {
  std::set<std::uint64_t> counts;
  for (const Sample& sample : samples) counts.insert(sample.accesses);
  return counts;
}

DeviceInfo device_with(Timer timer) {
  DeviceInfo device = fake_info();
  device.timer = timer;
  if (timer != Timer::clock) device.clock = {};
  return device;
}

TEST_CASE("a visit takes the samples that the budget asks for and says which visit it was") {
  const auto samples = visit(work_of(1000, 1000, uneven_kernel()), fake_info(), 5);
  REQUIRE(samples.size() == 5);
  CHECK(std::all_of(samples.begin(), samples.end(),
                    [](const Sample& sample) { return sample.visit == 7; }));
  CHECK(access_counts(samples) == std::set<std::uint64_t>{1000});
}

TEST_CASE("work whose samples take long has fewer in a visit, and never more") {
  Work work = work_of(1000, 1000, uneven_kernel());
  work.max_samples = 2;
  CHECK(visit(work, fake_info(), 5).size() == 2);
  CHECK(visit(work, fake_info(), 1).size() == 1);
  work.max_samples = 1;
  CHECK(visit(work, fake_info(), 5).size() == 1);
  // Both samples have a partner, so the limit of one becomes two.
  CHECK(visit(work, device_with(Timer::host), 5).size() == 2);
}

TEST_CASE("two samples of a clock that agree are enough, but not one") {
  CHECK(visit(work_of(1000, 1000, kernel_of(1.0)), fake_info(), 5).size() == 2);
  CHECK(visit(work_of(1000, 1000, kernel_of(1.0)), fake_info(), 1).size() == 1);
  // Launches differ by 0.4 %, more than a quarter of the interval that a point must reach.
  const auto drifting = [launch = 0](std::uint64_t iterations) mutable {
    return launch_of(iterations, 1.0 + 0.004 * launch++);
  };
  CHECK(visit(work_of(1000, 1000, drifting), fake_info(), 4).size() == 4);
}

TEST_CASE("a whole launch that events time needs no partner, one that the host times does") {
  Point launches;
  launches.parameters.set("timer", std::string("event"));
  // The point's own timer takes precedence over the device's clock.
  visit_work(work_of(1000, 1000, kernel_of(1000.0)), fake_info(), Budget{}, 0, launches);
  CHECK(access_counts(launches.samples) == std::set<std::uint64_t>{1000});
  // Two samples that agree suffice for events, too.
  CHECK(launches.samples.size() == 2);
  launches.samples.clear();
  visit_work(work_of(1000, 1000, uneven_kernel()), fake_info(), Budget{}, 0, launches);
  CHECK(launches.samples.size() == 3);
  launches.samples.clear();
  launches.parameters.set("timer", std::string("host"));
  visit_work(work_of(1000, 1000, kernel_of(1000.0)), fake_info(), Budget{}, 0, launches);
  CHECK(access_counts(launches.samples) == std::set<std::uint64_t>{125, 1000});
}

TEST_CASE("a backend is told how to sample, and its samples get the visit's number") {
  PreparedPoint prepared;
  std::vector<Sampling> requested;
  prepared.sample = [&](const Sampling& sampling, const TakeSample& take) {
    requested.push_back(sampling);
    take(launch_of(10, 1.0).sample, {{"seen", std::int64_t{5}}});
  };
  Budget budget;
  budget.samples_per_visit = 4;
  budget.relative_interval = 0.02;
  Point point;
  sample_visit(prepared, fake_info(), budget, 7, point);
  REQUIRE(point.samples.size() == 1);
  CHECK(point.samples.front().visit == 7);
  CHECK(point.facts.integer("seen") == 5);
  point.parameters.set("timer", std::string("host"));
  sample_visit(prepared, fake_info(), budget, 8, point);
  CHECK(requested ==
        std::vector<Sampling>{{Timer::clock, 4, 0.005, false}, {Timer::host, 4, 0.005, true}});
}

TEST_CASE("samples are added to those that are there") {
  Point point;
  point.samples.resize(2);
  visit_work(work_of(1000, 1000, uneven_kernel()), fake_info(), Budget{}, 0, point);
  CHECK(point.samples.size() == 5);
  CHECK(point.samples.front() == Sample{});
}

TEST_CASE("a sample is lengthened until it is worth 100 ticks beyond the empty clock pair") {
  DeviceInfo device = fake_info();
  device.clock.quantum_ticks = 32;
  // Samples grow by factors of four: 2, 8, 32, 128, 512, 2048, 8192, 32768 ticks. 8192 is the first
  // above 3200, and equals 3200 + 4992. One more tick of overhead requires the next.
  for (const auto& [overhead, ticks] : {std::pair{0U, 8192U}, {4992U, 8192U}, {4993U, 32768U}}) {
    device.clock.overhead_ticks = overhead;
    const auto samples = visit(work_of(1, 0, kernel_of(2.0)), device);
    REQUIRE_FALSE(samples.empty());
    for (const Sample& sample : samples) CHECK(sample.ticks == ticks);
  }
}

TEST_CASE("a sample by event times is lengthened to 100 steps of the driver's timer") {
  DeviceInfo device = device_with(Timer::event);
  device.reported.set("timer_resolution_ns", std::int64_t{1000});
  const auto samples = visit(work_of(1, 0, kernel_of(5.0)), device);
  const auto max_accesses = *access_counts(samples).rbegin();
  CHECK(max_accesses * 5 >= 100'000);
  CHECK(max_accesses * 5 < 400'000);
}

TEST_CASE("a driver that reports a timer resolution of 0 is no reason to sample nothing") {
  DeviceInfo device = device_with(Timer::event);
  device.reported.set("timer_resolution_ns", std::int64_t{0});
  const auto samples = visit(work_of(1, 0, kernel_of(5.0)), device);
  CHECK(*access_counts(samples).rbegin() * 5 >= 100);
}

TEST_CASE("a sample by the host's clock lasts a millisecond, since a launch has 10 us of noise") {
  const auto samples = visit(work_of(16, 0, kernel_of(5.0)), device_with(Timer::host));
  CHECK(*access_counts(samples).rbegin() * 5 >= 1'000'000);
}

TEST_CASE("a sample by the host's clock that is nearly long enough becomes a little longer") {
  for (const Timer timer : {Timer::host, Timer::wait}) {
    const auto longest_of = [&](std::uint64_t iterations) {
      Point point;
      point.parameters.set("timer", std::string(timer == Timer::host ? "host" : "wait"));
      visit_work(work_of(iterations, 0, kernel_of(1000.0)), device_with(Timer::host), Budget{}, 0,
                 point);
      return *access_counts(point.samples).rbegin();
    };
    CHECK(longest_of(1000) == 1000);
    CHECK(longest_of(999) == 1250);
    CHECK(longest_of(320) == 1250);
    // Far too short samples grow by factors of four, as with other clocks.
    CHECK(longest_of(300) == 1200);
    CHECK(longest_of(20) == 1250);
  }
}

TEST_CASE("the work's bound on iterations is kept, however short the sample") {
  for (const Timer timer : {Timer::clock, Timer::event, Timer::host}) {
    DeviceInfo device = device_with(timer);
    device.clock.quantum_ticks = 1'000'000;
    std::uint64_t max_accesses = 0;
    const Work work = work_of(100, 640, [&](std::uint64_t iterations) {
      max_accesses = std::max(max_accesses, iterations);
      return launch_of(iterations, 0.5);
    });
    visit(work, device);
    CHECK(max_accesses <= 640);
  }
}

TEST_CASE("a wish above the bound is cut to it, and a wish for nothing is one iteration") {
  CHECK(access_counts(visit(work_of(5000, 200, kernel_of(1.0)), fake_info())) ==
        std::set<std::uint64_t>{200});
  CHECK(access_counts(visit(work_of(0, 1, kernel_of(1.0)), fake_info())) ==
        std::set<std::uint64_t>{1});
}

TEST_CASE("a launch above 100 ms is shortened, since a watchdog may kill it") {
  const auto samples = visit(work_of(1000, 0, kernel_of(1e6)), fake_info());
  CHECK(access_counts(samples) == std::set<std::uint64_t>{100});
  // A single iteration cannot be shortened.
  const auto longest = visit(work_of(1000, 0, kernel_of(3e8)), fake_info());
  CHECK(access_counts(longest) == std::set<std::uint64_t>{1});
}

TEST_CASE("a launch that is too short at one length and too long at the next ends the search") {
  DeviceInfo device = fake_info();
  device.clock.quantum_ticks = 2'000'000;  // 100 quanta are 200 ms, twice the maximum launch
  const auto samples = visit(work_of(1, 0, kernel_of(1e6)), device);
  CHECK(samples.size() == 2);
}

TEST_CASE("without a clock each sample has a shorter partner, so that a slope can be taken") {
  for (const Timer timer : {Timer::event, Timer::host}) {
    DeviceInfo device = device_with(timer);
    const auto samples = visit(work_of(1'000'000, 0, kernel_of(5.0, 30'000)), device, 4);
    CHECK(samples.size() == 8);
    CHECK(access_counts(samples) == std::set<std::uint64_t>{125'000, 1'000'000});
  }
}

TEST_CASE("with the fewest iterations there are two lengths still") {
  const auto samples = visit(work_of(2, 3, kernel_of(4e7)), device_with(Timer::event));
  CHECK(access_counts(samples).size() == 2);
}

TEST_CASE("a wrong witness fails at every launch, and the samples before it are right") {
  for (const int wrong_launch : {1, 2, 3}) {
    int launch = 0;
    const Work work = work_of(1000, 1000, [&](std::uint64_t iterations) {
      Measurement measurement = launch_of(iterations, 1.0 + 0.1 * launch);
      if (++launch == wrong_launch) measurement.sample.witness = 1;
      return measurement;
    });
    Point point;
    const std::vector<Sample>& samples = point.samples;
    std::string message;
    try {
      visit_work(work, fake_info(), Budget{}, 0, point);
    } catch (const DeviceError& error) {
      message = error.what();
    }
    CHECK(message.starts_with("wrong result"));
    CHECK(message.find("4711") != std::string::npos);
    CHECK(std::all_of(samples.begin(), samples.end(),
                      [](const Sample& sample) { return sample.witness == right_witness; }));
  }
}

TEST_CASE("drift is told from 2 % on and from four values on") {
  CHECK_FALSE(drift_of({}).has_value());
  CHECK_FALSE(drift_of(std::array{1.0, 1.0, 2.0}).has_value());
  CHECK_FALSE(drift_of(std::array{1.0, 1.0, 1.019, 1.019}).has_value());
  CHECK(drift_of(std::array{1.0, 1.0, 1.05, 1.05}).value_or(0.0) == doctest::Approx(0.05));
  CHECK(drift_of(std::array{1.0, 1.0, 7.0, 0.9, 0.9}).value_or(0.0) == doctest::Approx(0.1));
  // A single burst of noise does not count as drift.
  CHECK_FALSE(drift_of(std::array{1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0}).has_value());
}

}  // namespace
}  // namespace clprobe
