// SPDX-License-Identifier: Apache-2.0
// Launches of cl/clock.cl. Uses OpenCL.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "measure/api/device.hpp"
#include "probes/clock/clock.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"
#include "system/api/host.hpp"

namespace clprobe::clock {
namespace {

using Steady = std::chrono::steady_clock;

constexpr cl_uint more = 0x2545f491;
constexpr cl_uint mask = 0x4f6cdd1d;
// The launch after idling is shorter than other launches by this factor: the clock, which takes
// milliseconds to rise, must not rise during the launch.
constexpr std::uint32_t idle_part = 10;
// Iterations of the longer of two chains, which takes about a millisecond at 4 to 6 cycles per
// link. The shorter chain has an eighth of the iterations.
constexpr std::uint32_t chain_turns = 4096;

KernelSpec spec_for(const DeviceInfo& device) {
  const Counting counting = counting_of(device);
  return {"clock.cl", counting == Counting::chain   ? "-DBY_CHAIN"
                      : counting == Counting::event ? "-DBY_EVENT"
                                                    : ""};
}

/// Sums over all launches of a moment.
struct Totals {
  std::uint64_t cycles{0};
  std::uint64_t time{0};  ///< time of `cycles` in ns; both are 0 on a CPU
  Observation observed{};
  std::vector<double> chain_ticks{};  ///< CPU: ticks of each work-item's fastest chain per launch
  std::uint32_t chain_end{0};         ///< CPU: last value of the last work-item's chain
};

std::uint64_t ns_of(const LaunchTimes& times) { return times.event_ns.value_or(times.host_ns); }

/// State that all points share while the probe runs.
class Burner {
 public:
  Burner(Session& session, Bytes size);

  /// Launches the load for the length of a moment. For the idle load, waits for this time and then
  /// launches once.
  Measurement run(const Shape& shape);

 private:
  Burn burn_for(Load load);
  std::uint32_t turns_for(Load load);
  void launch(const Burn& burn, Totals& totals);
  void read_times(const Burn& burn, Totals& totals);
  void count_by_events(Totals& totals);
  std::pair<std::uint64_t, std::uint64_t> chain_of(cl_uint links);
  void check_ends(const Burn& burn, const Totals& totals, Measurement& measurement);
  void begin_power(Load load);
  void add_power(Measurement& measurement);

  Session& session_;
  Counting counting_;
  Burn shape_of_all_;  ///< launch with `numbers` and `loads` still 0
  cl::Buffer data_;
  cl::Kernel kernel_;
  cl::Kernel chain_{};
  cl::Buffer ends_;
  cl::Buffer times_;
  std::array<std::uint32_t, 2> turns_{};  ///< arithmetic, streaming; 0: unknown
  std::uint64_t streamed_{0};             ///< vectors by which work-items have advanced
  system::PowerMeter meter_;
  system::PowerSpans power_{meter_.read};
  std::optional<Load> powered_{};  ///< load whose power is read
  bool is_reason_stored_{false};
};

Burner::Burner(Session& session, Bytes size)
    : session_(session),
      counting_(counting_of(session.info())),
      shape_of_all_(launch_shape(session.info(), size)),
      data_(session.context(), CL_MEM_READ_WRITE, size.count),
      kernel_(spec_for(session.info()).kernel(session, "clock_burn")),
      ends_(session.context(), CL_MEM_READ_WRITE, shape_of_all_.items * sizeof(cl_uint)),
      times_(session.context(), CL_MEM_READ_WRITE, 2 * shape_of_all_.items * sizeof(cl_ulong)),
      meter_(system::find_power_meter({.is_cpu = runs_items_in_turn(session.info()),
                                       .uuid = session.info().uuid,
                                       .pci = session.info().pci})) {
  const KernelSpec spec = spec_for(session.info());
  if (counting_ == Counting::event) chain_ = spec.kernel(session, "clock_chain");
  cl::Kernel fill = spec.kernel(session, "clock_fill");
  const std::uint64_t words = size.count / sizeof(cl_uint);
  set_arguments(fill, 0, data_, cl_ulong{words});
  launch_over(session, fill, spread_over(session.info(), words));
}

void Burner::launch(const Burn& burn, Totals& totals) {
  set_arguments(kernel_, 0, data_, burn.vectors, burn.first, burn.apart, burn.step, burn.rounds,
                burn.numbers, burn.loads, burn.links, more, mask, never, ends_, times_);
  const LaunchTimes times = launch_over(session_, kernel_, {burn.items, burn.group});
  totals.observed.operations += operations_of(burn);
  totals.observed.moved_bytes += moved_bytes_of(burn);
  totals.observed.launched_ns += ns_of(times);
  read_times(burn, totals);
}

void Burner::read_times(const Burn& burn, Totals& totals) {
  if (counting_ == Counting::event) return;
  const auto times =
      read_values<cl_ulong>(session_, times_, counting_ == Counting::chain ? 2 * burn.items : 2);
  if (counting_ == Counting::steady) {
    totals.cycles += times[0];
    totals.time += times[1];
    return;
  }
  if (burn.links == 0) return;
  const std::uint64_t overhead = session_.info().clock.overhead_ticks;
  for (std::size_t item = 0; item < burn.items; ++item) {
    const std::uint64_t ticks = times[2 * item];
    if (ticks > overhead) totals.chain_ticks.push_back(static_cast<double>(ticks - overhead));
  }
  totals.chain_end = static_cast<std::uint32_t>(times.back());
}

/// Returns the cycles and the time in ns of a chain that one work-item runs. Throws VoidedPoint.
std::pair<std::uint64_t, std::uint64_t> Burner::chain_of(cl_uint links) {
  const cl_uint first = 1;
  set_arguments(chain_, 0, first, links, more, mask, never, times_);
  const LaunchTimes times = launch_over(session_, chain_, {1, 1});
  const auto read = read_values<cl_ulong>(session_, times_, 2);
  if (read[1] != expected_chain(first, std::uint64_t{links} * links_of_turn, more, mask)) {
    throw VoidedPoint(
        "wrong result: a chain of operations ended with a wrong value, so the cycle count is "
        "invalid");
  }
  return {read[0], ns_of(times)};
}

/// Counts cycles by the difference of two chains. The difference excludes the start and the end of
/// the launch.
void Burner::count_by_events(Totals& totals) {
  const auto [few_cycles, few_ns] = chain_of(chain_turns / 8);
  const auto [cycles, ns] = chain_of(chain_turns);
  if (cycles <= few_cycles || ns <= few_ns) return;
  totals.cycles += cycles - few_cycles;
  totals.time += ns - few_ns;
}

std::uint32_t Burner::turns_for(Load load) {
  // Launches are short enough for many launches per moment and for any watchdog of a driver.
  constexpr double launch_ns = 5e6;
  const auto ns_of = [&](std::uint64_t turns) {
    Burn tried = shape_of_all_;
    tried.links = 0;
    (load == Load::stream ? tried.loads : tried.numbers) = static_cast<std::uint32_t>(turns);
    Totals totals;
    launch(tried, totals);
    return static_cast<double>(totals.observed.launched_ns);
  };
  return static_cast<std::uint32_t>(iterations_for(launch_ns, max_turns(session_.info()), ns_of));
}

Burn Burner::burn_for(Load load) {
  if (turns_[0] == 0) turns_ = {turns_for(Load::arithmetic), turns_for(Load::stream)};
  Burn burn = shape_of_all_;
  if (load != Load::stream) burn.numbers = turns_[0];
  if (load == Load::stream || load == Load::both) burn.loads = turns_[1];
  if (load == Load::idle) burn.numbers = std::max(1U, turns_[0] / idle_part);
  return burn;
}

/// Sets the checksum: the final numbers of two work-items in the last launch, and the end of a
/// CPU's last chain. The work-items are the first of all, and the last of the second work-group,
/// which streams if the load is `both`.
void Burner::check_ends(const Burn& burn, const Totals& totals, Measurement& measurement) {
  const auto last = static_cast<std::uint32_t>(std::min(burn.items, 2 * burn.group) - 1);
  std::array<cl_uint, 2> ends{};
  for (const std::size_t i : {0U, 1U}) {
    session_.queue().enqueueReadBuffer(ends_, CL_TRUE, (i == 0 ? 0 : last) * sizeof(cl_uint),
                                       sizeof(cl_uint), &ends.at(i));
  }
  const auto witness = [](std::uint32_t first, std::uint32_t second, std::uint32_t chain) {
    return (std::uint64_t{second} << 32U | first) + chain;
  };
  const std::uint64_t links = std::uint64_t{burn.rounds} * burn.links * links_of_turn;
  const std::uint32_t chain_end =
      burn.links == 0
          ? 0
          : expected_chain(static_cast<std::uint32_t>(burn.items) - 1, links, more, mask);
  measurement.sample.witness = witness(ends[0], ends[1], totals.chain_end);
  measurement.expected_witness =
      witness(expected_end(burn, 0), expected_end(burn, last), chain_end);
}

/// Begins a power reading at the first moment of a load. The moments of a load follow each other
/// without interruption.
void Burner::begin_power(Load load) {
  if (!meter_.read || powered_ == load) return;
  powered_ = load;
  power_.begin();
}

/// Adds the mean power since the previous reading if the meter reports a power. Without a meter,
/// adds the reason once.
void Burner::add_power(Measurement& measurement) {
  if (!meter_.read) {
    if (!is_reason_stored_) measurement.facts.set(no_power_fact, meter_.reason);
    is_reason_stored_ = true;
    return;
  }
  constexpr double milli = 1e3;
  const auto watts = power_.end();
  if (watts) measurement.facts.set("power_mw", std::int64_t{std::llround(*watts * milli)});
}

Measurement Burner::run(const Shape& shape) {
  Burn burn = burn_for(shape.load);
  const auto slot = std::chrono::milliseconds(shape.slot_ms);
  const bool is_idle = shape.load == Load::idle;
  begin_power(shape.load);
  const auto begin = Steady::now();
  Measurement measurement;
  if (is_idle) {
    std::this_thread::sleep_for(slot);
    add_power(measurement);
  }
  Totals totals;
  do {
    // Each launch continues in the buffer after the previous launch, so that no cache holds its
    // data.
    burn.first = static_cast<std::uint32_t>(streamed_ % burn.vectors);
    launch(burn, totals);
    streamed_ += std::uint64_t{burn.rounds} * burn.loads * unroll * burn.step;
  } while (!is_idle && Steady::now() - begin < slot);
  if (counting_ == Counting::event) count_by_events(totals);
  Sample& sample = measurement.sample;
  sample.host_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - begin).count());
  if (!is_idle) add_power(measurement);
  if (counting_ == Counting::chain && !totals.chain_ticks.empty()) {
    // The median excludes chains that were interrupted: a core that other processes use is not
    // slower, but its chains take longer.
    sample.accesses = std::uint64_t{burn.links} * links_of_turn * cycles_of_link;
    sample.ticks = static_cast<std::uint64_t>(std::llround(median(totals.chain_ticks))) +
                   session_.info().clock.overhead_ticks;
  } else if (totals.time != 0) {
    sample.accesses = totals.cycles;
    sample.event_ns = totals.time;
  }
  check_ends(burn, totals, measurement);
  const std::array<std::pair<const char*, std::uint64_t>, 3> facts{
      {{"operations", totals.observed.operations},
       {"moved_bytes", totals.observed.moved_bytes},
       {"launched_ns", totals.observed.launched_ns}}};
  for (const auto& [name, value] : facts) {
    if (value != 0) measurement.facts.set(name, static_cast<std::int64_t>(value));
  }
  return measurement;
}

}  // namespace

Preparer open(Session& session) {
  return [&session, burner = std::shared_ptr<Burner>()](const Point& point) mutable {
    const auto shape = shape_of<Shape>(point);
    if (burner == nullptr) {
      burner = std::make_shared<Burner>(session, Bytes{shape.buffer_bytes});
    }
    session.use_all_cores();
    Work work;
    work.max_iterations = 1;
    work.build = spec_for(session.info()).build(session);
    work.run = [burner, shape](std::uint64_t) { return burner->run(shape); };
    return work;
  };
}

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return {{spec_for(device).options, ""}};
}

}  // namespace clprobe::clock
