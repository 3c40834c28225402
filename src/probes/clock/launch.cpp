// SPDX-License-Identifier: Apache-2.0
#include "probes/clock/launch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "clprobe/device.hpp"
#include "clprobe/statistics.hpp"
#include "probes/clock/shape.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::clock {
namespace {

constexpr const char* file = "clock.cl";
constexpr cl_uint more = 0x2545f491;
constexpr cl_uint mask = 0x4f6cdd1d;
// Of a CPU: long enough for the two reads of the clock around it to be nothing.
constexpr std::uint32_t chain_turns = 512;
// A launch takes about so long: many of them fill a slot, and no watchdog ends one.
constexpr double launch_ns = 5e6;
// Rounds of a CPU's launch: as often its clock is looked at.
constexpr std::uint32_t cpu_rounds = 16;
constexpr std::uint32_t most_turns = static_cast<std::uint32_t>(max_iterations / cpu_rounds / 4);

std::string build_options(const DeviceInfo& device) {
  return runs_items_in_turn(device) ? "-DBY_CHAIN" : "";
}

/// What one launch says.
struct Told {
  std::uint64_t cycles{0};
  std::uint64_t ticks{0};  ///< of a CPU's clock, while it made these cycles
  std::uint64_t ns{0};     ///< of another device, while it made these cycles
  LaunchTimes times{};
  bool is_right{false};
};

/// What all points share while the probe runs.
class Burner {
 public:
  Burner(Session& session, Bytes size);

  /// Launches with the load for so long; after idling for so long one short one.
  Measurement run(const Shape& shape);

 private:
  Burn burn_for(Load load);
  void calibrate(Burn& burn);
  Told launch(const Burn& burn);
  void read_chains(Told& told, const std::vector<cl_ulong>& times);

  Session& session_;
  cl::Buffer data_;
  cl::Kernel kernel_;
  cl::Buffer ends_;
  cl::Buffer times_;
  Burn shape_of_all_{};                   // items, group and vectors
  std::array<std::uint32_t, 2> turns_{};  // of arithmetic and of streaming, once they are known
};

std::uint64_t units_of(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
}

Burn launch_shape(const DeviceInfo& device, Bytes size) {
  constexpr std::uint64_t groups_of_unit = 8;
  constexpr std::uint64_t largest_group = 256;
  Burn burn;
  if (!runs_items_in_turn(device)) {
    burn.group = std::min<std::uint64_t>(
        largest_group,
        static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.max_work_group_size)));
  }
  burn.items = units_of(device) * groups_of_unit * burn.group;
  burn.vectors = static_cast<std::uint32_t>(size.count / sizeof(cl_uint4));
  burn.rounds = runs_items_in_turn(device) ? cpu_rounds : 1;
  return burn;
}

Burner::Burner(Session& session, Bytes size)
    : session_(session),
      data_(session.context(), CL_MEM_READ_WRITE, size.count),
      kernel_(session.kernel(file, "clock_burn", build_options(session.info()))),
      shape_of_all_(launch_shape(session.info(), size)) {
  ends_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, shape_of_all_.items * sizeof(cl_uint));
  times_ =
      cl::Buffer(session.context(), CL_MEM_READ_WRITE, 2 * shape_of_all_.items * sizeof(cl_ulong));
  cl::Kernel fill = session.kernel(file, "clock_fill", build_options(session.info()));
  const std::uint64_t words = size.count / sizeof(cl_uint);
  const LaunchSize spread = spread_over(session.info(), words);
  fill.setArg(0, data_);
  fill.setArg(1, cl_ulong{words});
  session.launch(fill, cl::NDRange(spread.items), cl::NDRange(spread.group));
}

void Burner::read_chains(Told& told, const std::vector<cl_ulong>& times) {
  std::vector<double> ticks;
  for (std::size_t item = 0; item < times.size() / 2; ++item) {
    ticks.push_back(static_cast<double>(times[2 * item]));
  }
  const std::uint64_t links = std::uint64_t{chain_turns} * links_of_turn;
  told.cycles = links * cycles_of_link;
  told.ticks = static_cast<std::uint64_t>(median(ticks));
}

Told Burner::launch(const Burn& burn) {
  const bool is_by_chain = runs_items_in_turn(session_.info());
  kernel_.setArg(0, data_);
  kernel_.setArg(1, burn.vectors);
  kernel_.setArg(2, burn.rounds);
  kernel_.setArg(3, burn.numbers);
  kernel_.setArg(4, burn.loads);
  kernel_.setArg(5, cl_uint{is_by_chain ? chain_turns : 0});
  kernel_.setArg(6, more);
  kernel_.setArg(7, mask);
  kernel_.setArg(8, never);
  kernel_.setArg(9, ends_);
  kernel_.setArg(10, times_);
  Told told;
  told.times = session_.launch(kernel_, cl::NDRange(burn.items), cl::NDRange(burn.group));
  std::vector<cl_ulong> times(is_by_chain ? 2 * burn.items : 2);
  session_.queue().enqueueReadBuffer(times_, CL_TRUE, 0, times.size() * sizeof(cl_ulong),
                                     times.data());
  if (is_by_chain) {
    read_chains(told, times);
  } else {
    told.cycles = times[0];
    told.ns = times[1];
  }
  return told;
}

void Burner::calibrate(Burn& burn) {
  std::uint32_t& turns = burn.numbers != 0 ? burn.numbers : burn.loads;
  constexpr double long_enough_ns = 1e6;
  for (;;) {
    const Told told = launch(burn);
    const auto ns = static_cast<double>(told.times.event_ns.value_or(told.times.host_ns));
    const double wanted = turns * launch_ns / std::max(1.0, ns);
    const bool is_known = ns >= long_enough_ns || turns >= most_turns;
    turns = static_cast<std::uint32_t>(
        std::clamp(is_known ? wanted : 4.0 * turns, 1.0, static_cast<double>(most_turns)));
    if (is_known) return;
  }
}

Burn Burner::burn_for(Load load) {
  Burn burn = shape_of_all_;
  if (load == Load::idle) {
    burn.numbers = 16;
    return burn;
  }
  for (const std::size_t kind : {0U, 1U}) {
    if (turns_.at(kind) != 0) continue;
    Burn tried = shape_of_all_;
    (kind == 0 ? tried.numbers : tried.loads) = 1;
    calibrate(tried);
    turns_.at(kind) = kind == 0 ? tried.numbers : tried.loads;
  }
  if (load != Load::stream) burn.numbers = turns_[0];
  if (load != Load::arithmetic) burn.loads = turns_[1];
  return burn;
}

Measurement Burner::run(const Shape& shape) {
  using Clock = std::chrono::steady_clock;
  const Burn burn = burn_for(shape.load);
  const auto slot = std::chrono::milliseconds(shape.slot_ms);
  if (shape.load == Load::idle) std::this_thread::sleep_for(slot);
  const auto begin = Clock::now();
  Measurement measurement;
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
  do {
    const Told told = launch(burn);
    measurement.sample.accesses += told.cycles;
    ticks += told.ticks;
    ns += told.ns;
  } while (shape.load != Load::idle && Clock::now() - begin < slot);
  measurement.sample.host_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
  if (ticks != 0) measurement.sample.ticks = ticks;
  if (ns != 0) measurement.sample.event_ns = ns;
  // The last work-item of the second group, which streams where there are both, and the first.
  const std::uint64_t last = std::min(burn.items, 2 * burn.group) - 1;
  std::array<cl_uint, 2> ends{};
  const auto read = [&](std::uint64_t item, cl_uint& end) {
    session_.queue().enqueueReadBuffer(ends_, CL_TRUE, item * sizeof end, sizeof end, &end);
  };
  read(0, ends[0]);
  read(last, ends[1]);
  measurement.sample.witness = std::uint64_t{ends[1]} << 32U | ends[0];
  measurement.expected_witness = std::uint64_t{expected_end(burn, static_cast<std::uint32_t>(last))}
                                     << 32U |
                                 expected_end(burn, 0);
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
    work.build = session.build_of(file, build_options(session.info()));
    work.run = [burner, shape](std::uint64_t) { return burner->run(shape); };
    return work;
  };
}

std::vector<KernelVariant> variants() { return {{"", ""}, {"-DBY_CHAIN", ""}}; }

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return {{build_options(device), ""}};
}

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const std::uint64_t words = shape.buffer_bytes / sizeof(cl_uint);
  const std::uint64_t rounds = runs_items_in_turn(device) ? cpu_rounds : 1;
  const std::uint64_t chain = runs_items_in_turn(device) ? chain_turns : 0;
  return {{"clock_burn", rounds * (1 + 2 * std::uint64_t{most_turns} + chain)},
          {"clock_fill", turns_over(spread_over(device, words), words)}};
}

}  // namespace clprobe::clock
