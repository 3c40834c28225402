// SPDX-License-Identifier: Apache-2.0
// Simulated compute units as a device that probes measure. Plans and analyses come from the probes
// themselves.
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

/// One prepared point on the simulator. Fields with names of fields of `Work` have the same meaning
/// as in `Work`.
struct SimulatedWork {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};
  std::uint64_t max_iterations{0};
  Parameters facts{};
  /// Returns the trace of a launch with `iterations` iterations. The measured time is from the
  /// first clock read 0 of any warp to the last clock read 1. Without clock reads, the measured
  /// time is the time of the launch.
  std::function<simulator::Trace(std::uint64_t iterations)> trace{};
  /// Hash of a trace that the backend was given, which runs instead of `trace`; empty to run
  /// `trace`.
  std::string given{};
  /// Machine to simulate, if it differs from the backend's machine.
  std::optional<simulator::Machine> machine{};
  /// Number of compute units that are simulated together.
  std::uint64_t units{1};
  /// Returns facts about the stalls of a launch, classified by `priorities`. May be empty.
  std::function<Parameters(const simulator::GridAccount&)> account{};
  simulator::Priorities priorities{};
  /// Returns the checksum of the latest trace after its simulation, which must equal
  /// `expected_witness`. Needed if the number of executed instructions is unknown beforehand. May
  /// be empty.
  std::function<std::uint64_t()> witness{};
  std::uint64_t expected_witness{0};
};

/// Returns the number of warp instructions that the trace must issue, counted in its programs. The
/// trace must not wait for locks or choose programs while running.
std::uint64_t instructions_of(const simulator::Trace& trace);

/// Returns a backend that measures by simulating. The ticks of a sample are cycles. The event time
/// and the host time are the cycles of the launch at the machine's clock rate. The checksum is the
/// number of issued warp instructions, unless the work has its own checksum. Each launch is
/// simulated only once, because repetitions give equal results.
///
/// Throws MachineError for an invalid machine. `prepare` of the backend throws Unsupported for
/// probes without a trace. `given`: traces of the user. `cores`: maximum number of threads, without
/// effect on the results. `cancelled`: returns true to end a simulation with DeviceError.
std::unique_ptr<Backend> simulated_backend(simulator::Machine machine, std::uint64_t seed,
                                           std::vector<AskedTrace> given = {},
                                           std::size_t cores = 1,
                                           std::function<bool()> cancelled = {});

}  // namespace clprobe
