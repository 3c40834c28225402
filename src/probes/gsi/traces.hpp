// SPDX-License-Identifier: Apache-2.0
// Kernels of the person's own, as traces (docs/trace.md): a bar each. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/simulated.hpp"
#include "probes/gsi/case_options.hpp"

namespace clprobe::gsi {

/// What a point's `case` says.
inline constexpr std::string_view trace_case = "trace";

std::vector<Point> trace_points(const simulator::Machine& machine, const Request& request,
                                const CaseOptions& options);

/// Why the machine cannot run one of them; empty when it can.
std::string check_traces(const simulator::Machine& machine, const Request& request);

/// Nothing where the point is of a case.
std::optional<SimulatedWork> trace_work(const Point& point);

/// The first number or word that no such point can have.
std::optional<PointProblem> find_trace_problem(const Point& point);

}  // namespace clprobe::gsi
