// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {
namespace {

using simulator::Instruction;
using simulator::Machine;
using simulator::Trace;

bool waits_for_locks(const Trace& trace) {
  return std::any_of(
      trace.programs.begin(), trace.programs.end(), [](const simulator::Program& program) {
        return std::any_of(program.begin(), program.end(), [](const Instruction& each) {
          return each.operation == simulator::Operation::acquire;
        });
      });
}

/// Sets the trace of the work, and as its checksum the sum of number + 1 over all ended warps. The
/// number of attempts to lock, and thus of instructions, is unknown beforehand.
void witness_ends(SimulatedWork& work, const std::shared_ptr<const Trace>& trace) {
  const auto ended = std::make_shared<std::uint64_t>(0);
  work.trace = [trace, ended](std::uint64_t) {
    *ended = 0;
    Trace counted = *trace;
    counted.next_program = [ended, none = static_cast<std::uint32_t>(trace->programs.size())](
                               std::uint32_t warp, std::uint64_t) {
      *ended += std::uint64_t{warp} + 1;
      return none;
    };
    return counted;
  };
  work.witness = [ended] { return *ended; };
  for (const simulator::Group& group : trace->groups) {
    for (const simulator::WarpWork& warp : group.warps) {
      work.expected_witness += std::uint64_t{warp.number} + 1;
    }
  }
}

/// Sets the trace that `work.given` identifies, reduced to the first `work.units` units, and a
/// checksum if the trace waits for locks. Throws DeviceError for an unknown trace.
void run_given(SimulatedWork& work, const std::vector<AskedTrace>& traces,
               const simulator::Machine& machine) {
  const auto found = std::find_if(traces.begin(), traces.end(), [&](const AskedTrace& each) {
    return each.sha256 == work.given;
  });
  if (found == traces.end()) throw DeviceError("the simulation failed: the trace is missing");
  const auto trace =
      std::make_shared<const Trace>(simulator::share_of_units(*found->file, machine, work.units));
  if (waits_for_locks(*trace)) {
    witness_ends(work, trace);
  } else {
    work.trace = [trace](std::uint64_t) { return *trace; };
  }
}

/// Returns the number of instructions that a program executes. Counts of nested loops multiply.
std::uint64_t instructions_of(const simulator::Program& program) {
  std::vector<std::uint64_t> times(program.size(), 1);
  for (std::size_t place = 0; place < program.size(); ++place) {
    if (program[place].operation != simulator::Operation::repeat) continue;
    for (std::size_t k = program[place].target; k < place; ++k) times[k] *= program[place].count;
  }
  std::uint64_t sum = 0;
  for (std::size_t place = 0; place < program.size(); ++place) {
    if (program[place].operation != simulator::Operation::repeat) sum += times[place];
  }
  return sum;
}

/// Returns the cycles from the first clock read 0 to the last clock read 1; nothing without both
/// reads.
std::optional<std::uint64_t> timed_cycles(const simulator::Result& result) {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;
  for (const simulator::ClockRead& read : result.clock_reads) {
    if (read.id == 0) first = std::min(first.value_or(read.cycle), read.cycle);
    if (read.id == 1) last = std::max(last.value_or(read.cycle), read.cycle);
  }
  if (!first || !last || *last < *first) return std::nullopt;
  return *last - *first;
}

class SimulatedBackend final : public Backend {
 public:
  SimulatedBackend(Machine machine, std::uint64_t seed, std::vector<AskedTrace> given,
                   std::size_t cores, std::function<bool()> cancelled)
      : machine_(std::move(machine)),
        device_(describe_device(machine_)),
        seed_(seed),
        given_(std::move(given)),
        cancelled_(std::move(cancelled)),
        cores_(static_cast<std::ptrdiff_t>(cores)) {}

  [[nodiscard]] const DeviceInfo& device() const override { return device_; }

  /// Announces the next points. Threads simulate them in advance, on one core each.
  void expect(const Probe& probe, const std::vector<const Point*>& points) override {
    expected_.clear();
    if (probe.trace == nullptr || points.size() < 2 || cores_ < 2) return;
    for (const Point* const point : points) {
      const std::string key = key_of(probe, *point);
      if (launches_.contains(key)) continue;
      try {
        expected_.emplace_back(key, work_of(probe, *point));
      } catch (const std::exception&) {
        continue;  // prepare() reports the error of this point
      }
    }
  }

  PreparedPoint prepare(const Probe& probe, const Point& point) override {
    if (probe.trace == nullptr) {
      throw Unsupported(fmt::format("the simulator has no trace for {}", probe.id));
    }
    SimulatedWork simulated = work_of(probe, point);
    Work work;
    work.accesses_per_iteration = simulated.accesses_per_iteration;
    work.iterations = simulated.iterations;
    work.max_iterations = simulated.max_iterations;
    work.facts = simulated.facts;
    const std::string key = key_of(probe, point);
    if (simulated.account) {
      for (const auto& [name, value] : launched(key, simulated, work.iterations).account) {
        work.facts.set(name, value);
      }
    }
    work.run = [this, key, simulated = std::move(simulated)](std::uint64_t iterations) {
      return launched(key, simulated, iterations).measurement;
    };
    return prepared(std::move(work), device_);
  }

 private:
  struct Launch {
    Measurement measurement{};
    Parameters account{};
  };

  [[nodiscard]] SimulatedWork work_of(const Probe& probe, const Point& point) const {
    SimulatedWork work = probe.trace(machine_, point);
    if (!work.given.empty()) run_given(work, given_, work.machine ? *work.machine : machine_);
    return work;
  }

  /// Returns the launch of `iterations` iterations. Equal launches are simulated only once.
  const Launch& launched(const std::string& key, const SimulatedWork& work,
                         std::uint64_t iterations) {
    auto& known = launches_[key];
    const auto found = known.find(iterations);
    if (found != known.end()) return found->second;
    begin_expected();
    auto begun =
        iterations == work.iterations ? begun_.extract(key) : decltype(begun_)::node_type();
    return known.emplace(iterations, begun ? begun.mapped().get() : run(work, iterations))
        .first->second;
  }

  /// Starts simulations of announced points, up to the number of cores.
  void begin_expected() {
    const auto is_running = [](const auto& each) {
      return each.second.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
    };
    // With a single core, a second simulation would only slow down the current simulation.
    if (cores_ <= 1) return;
    while (!expected_.empty() && std::count_if(begun_.begin(), begun_.end(), is_running) < cores_) {
      auto [key, work] = std::move(expected_.front());
      expected_.pop_front();
      // The point that is requested now has an entry in launches_ without a launch.
      if (begun_.contains(key) || (launches_.contains(key) && !launches_[key].empty())) continue;
      // If no thread can start, the point is simulated when it is requested.
      begun_.emplace(key, std::async([this, simulated = std::move(work)] {
                       return run(simulated, simulated.iterations);
                     }));
    }
  }

  static std::string key_of(const Probe& probe, const Point& point) {
    std::string key = fmt::format("{} {}", probe.id, point.series);
    for (const auto& [name, value] : point.parameters) {
      key += " " + name + "=";
      key += std::visit([](const auto& each) { return fmt::format("{}", each); }, value);
    }
    return key;
  }

  [[nodiscard]] Launch run(const SimulatedWork& work, std::uint64_t iterations) {
    const simulator::Options options{.seed = seed_, .cancelled = cancelled_};
    const Machine& machine = work.machine ? *work.machine : machine_;
    Launch launch;
    Measurement& measurement = launch.measurement;
    try {
      const Trace trace = work.trace(iterations);
      simulator::Result result;
      if (work.account) {
        const simulator::GridAccount account =
            account_units(machine, trace, work.units, options, work.priorities);
        launch.account = work.account(account);
        result = account.mean.result;
      } else {
        result = sum_of(simulate_units(machine, trace, work.units, options));
      }
      measurement.sample.accesses = iterations * work.accesses_per_iteration;
      measurement.sample.ticks = timed_cycles(result);
      const double ns = static_cast<double>(result.cycles) / machine.core.clock_ghz;
      measurement.sample.event_ns = static_cast<std::uint64_t>(std::llround(ns));
      measurement.sample.host_ns = *measurement.sample.event_ns;
      measurement.sample.witness = work.witness ? work.witness() : result.warp_instructions;
      measurement.expected_witness =
          work.witness ? work.expected_witness : clprobe::instructions_of(trace);
    } catch (const std::runtime_error& error) {  // MachineError, TraceError, Deadlock or Cancelled
      throw DeviceError(fmt::format("the simulation failed: {}", error.what()));
    }
    return launch;
  }

  Machine machine_;
  DeviceInfo device_;
  std::uint64_t seed_;
  std::vector<AskedTrace> given_;
  std::map<std::string, std::map<std::uint64_t, Launch>> launches_{};
  std::function<bool()> cancelled_;
  std::ptrdiff_t cores_;
  std::deque<std::pair<std::string, SimulatedWork>> expected_{};
  // The last member is destroyed first, so the threads end while the other members exist.
  std::map<std::string, std::future<Launch>> begun_{};
};

}  // namespace

std::uint64_t instructions_of(const Trace& trace) {
  std::vector<std::uint64_t> of_program;
  of_program.reserve(trace.programs.size());
  for (const simulator::Program& each : trace.programs) {
    of_program.push_back(instructions_of(each));
  }
  std::uint64_t sum = 0;
  for (const simulator::Group& group : trace.groups) {
    for (const simulator::WarpWork& warp : group.warps) sum += of_program.at(warp.program);
  }
  return sum;
}

std::unique_ptr<Backend> simulated_backend(Machine machine, std::uint64_t seed,
                                           std::vector<AskedTrace> given, std::size_t cores,
                                           std::function<bool()> cancelled) {
  return std::make_unique<SimulatedBackend>(std::move(machine), seed, std::move(given),
                                            std::max<std::size_t>(cores, 1), std::move(cancelled));
}

}  // namespace clprobe
