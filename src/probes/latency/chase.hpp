// SPDX-License-Identifier: Apache-2.0
// Preparing a chase (cl/latency.cl): the ring of nodes in one of the memories, and its launches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::latency {

/// The memories that a chase can run through; the numbers are SPACE in cl/latency.cl.
enum class Space { global = 0, constant_argument = 1, constant_program = 2, local = 3, image = 4 };

/// One series of the probe `latency`.
struct ChaseSeries {
  std::string_view name;
  Space space;
  bool scalar;  ///< the start is uniform
};

/// Throws std::out_of_range when there is no series of that name.
const ChaseSeries& chase_series(std::string_view name);

/// The build options of cl/latency.cl for a point.
std::string chase_options(const Point& point);

/// A table for a chase through program constants that every compiler should take.
constexpr std::string_view smallest_table = "constant uint table[4] = {0};";

/// Every way to build cl/latency.cl for the default unrolling.
std::vector<KernelVariant> chase_variants();

/// Lays the ring out and builds the chase. Point parameters: working_set_bytes, step_bytes,
/// line_bytes, buffer_bytes (what the ring is cut from), address, unroll. Throws DeviceError and
/// cl::Error.
Work prepare_chase(Session& session, const Point& point);

/// The same chase for the simulator: the ring was walked once before, then `iterations` of `unroll`
/// hops. Throws Unsupported for memories that no machine has.
SimulatedWork trace_chase(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::latency
