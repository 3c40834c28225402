// SPDX-License-Identifier: Apache-2.0
// Simulated compute units as a device: the probes' own plans and analyses, on their traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "measure/api/engine.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {

/// One prepared point on the simulator; the fields that `Work` has too mean the same.
struct SimulatedWork {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};
  std::uint64_t max_iterations{0};
  Parameters facts{};
  /// A launch of so many iterations. What lies between the first clock read 0 of any warp and the
  /// last clock read 1 is timed; without these, only the launch as a whole is.
  std::function<simulator::Trace(std::uint64_t iterations)> trace{};
  /// In place of `trace`: the hash of a trace that the backend was given. Empty: none.
  std::string given{};
  /// The device with some fields changed, to be simulated in its place. Nothing: the device.
  std::optional<simulator::Machine> machine{};
  /// Number of compute units that are simulated together.
  std::uint64_t units{1};
  /// May be empty: facts of the point about where the cycles of a launch of `iterations` go, by
  /// these priorities.
  std::function<Parameters(const simulator::GridAccount&)> account{};
  simulator::Priorities priorities{};
  /// May be empty. For traces whose instructions cannot be counted beforehand: what the trace that
  /// was made last has computed, asked when it has run; it must be `expected_witness`.
  std::function<std::uint64_t()> witness{};
  std::uint64_t expected_witness{0};
};

/// Warp instructions that the trace must issue, counted from its programs. Not for traces that
/// wait for locks or choose their programs while running.
std::uint64_t instructions_of(const simulator::Trace& trace);

/// Measures by simulating. A sample's ticks are cycles, its event time the cycles of the whole
/// launch by the machine's clock, its host time the same (no host takes part). Its witness is the
/// number of warp instructions that were issued, expected is instructions_of(), where the work has
/// none of its own. A launch is simulated once: it is the same each time. `prepare` throws
/// Unsupported for probes without a trace. Throws MachineError for a machine that cannot be.
/// `given`: traces of the person's own. Points are simulated in as many threads as there are
/// `cores`; the results do not depend on it.
/// `cancelled` ends a simulation with DeviceError.
std::unique_ptr<Backend> simulated_backend(simulator::Machine machine, std::uint64_t seed,
                                           std::vector<AskedTrace> given = {},
                                           std::size_t cores = 1,
                                           std::function<bool()> cancelled = {});

}  // namespace clprobe
