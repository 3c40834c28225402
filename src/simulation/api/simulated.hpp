// SPDX-License-Identifier: Apache-2.0
// Simulated compute units as a device that probes measure, with the probes' own plans and analyses.
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

/// One prepared point on the simulator. Fields that `Work` has as well mean the same.
struct SimulatedWork {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};
  std::uint64_t max_iterations{0};
  Parameters facts{};
  /// Returns a launch of so many iterations. The time lies between the first clock read 0 and the
  /// last clock read 1 of all warps. Without clock reads, only the launch as a whole is timed.
  std::function<simulator::Trace(std::uint64_t iterations)> trace{};
  /// Hash of a trace that the backend was given, as a replacement for `trace`; empty: none.
  std::string given{};
  /// A modified device to simulate; absent: the backend's device.
  std::optional<simulator::Machine> machine{};
  /// Number of compute units that are simulated together.
  std::uint64_t units{1};
  /// Returns facts about the stalls of a launch, classified by these priorities. May be empty.
  std::function<Parameters(const simulator::GridAccount&)> account{};
  simulator::Priorities priorities{};
  /// Returns the checksum of the trace that was made last, after its simulation. The result must
  /// equal `expected_witness`. For traces whose instructions cannot be counted beforehand; may be
  /// empty.
  std::function<std::uint64_t()> witness{};
  std::uint64_t expected_witness{0};
};

/// Returns the number of warp instructions that the trace must issue, counted from its programs.
/// Not for traces that wait for locks or choose programs while running.
std::uint64_t instructions_of(const simulator::Trace& trace);

/// Returns a backend that measures by simulating. A sample's ticks are cycles. Its event time and
/// its host time are the launch's cycles at the machine's clock rate. Its checksum is the number of
/// issued warp instructions, unless the work has its own. Each launch is simulated once, since
/// repetitions are equal.
///
/// `prepare` throws Unsupported for probes without a trace. Throws MachineError for an invalid
/// machine. `given` are the user's traces. Up to `cores` threads simulate points, without effect on
/// the results. `cancelled` ends a simulation with DeviceError.
std::unique_ptr<Backend> simulated_backend(simulator::Machine machine, std::uint64_t seed,
                                           std::vector<AskedTrace> given = {},
                                           std::size_t cores = 1,
                                           std::function<bool()> cancelled = {});

}  // namespace clprobe
