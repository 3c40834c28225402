// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/traces.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "clprobe/trace_file.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Machine;

struct TraceShape {
  std::string name{trace_case};
  std::string coherence{};
  std::string timer{to_word(Timer::event)};  ///< a launch is one access
  std::string sha256{};                      ///< of the trace's text
  std::uint64_t groups{1};                   ///< of the trace
  std::uint64_t simulated_groups{1};         ///< of these, that the simulated units run
  std::optional<std::uint64_t> units{};      ///< that are simulated together; nothing: one

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("case", name);
    fields.text("coherence", coherence);
    fields.text("timer", timer);
    fields.text("trace_sha256", sha256);
    fields.whole("groups", groups, count_from_1);
    fields.whole("simulated_groups", simulated_groups, count_from_1);
    fields.whole("units", units, Bounds{.min = 2, .max = 64});
  }
};

/// All that run it, as of the cases at most 16 if nobody says how many.
std::uint64_t units_for(const simulator::TraceFile& file, const Machine& machine,
                        const CaseOptions& options) {
  const std::uint64_t all = max_units_of(file, machine);
  if (file.groups_of == simulator::GroupsOf::unit) return all;
  return options.units.value_or(std::min(all, max_default_units));
}

bool is_of_trace(const Point& point) { return point.parameters.text_or("case", "") == trace_case; }

}  // namespace

std::vector<Point> trace_points(const Machine& machine, const Request& request,
                                const CaseOptions& options) {
  std::vector<Point> points;
  for (const AskedTrace& each : request.traces) {
    TraceShape shape;
    shape.coherence = simulator::to_word(machine.sharing.coherence);
    shape.sha256 = each.sha256;
    shape.groups = each.file->trace.groups.size();
    const std::uint64_t units = units_for(*each.file, machine, options);
    if (units > 1) shape.units = units;
    shape.simulated_groups = share_of_units(*each.file, machine, units).groups.size();
    Point point;
    point.series = each.file->kernel;
    write_shape(shape, point);
    points.push_back(std::move(point));
  }
  return points;
}

std::string check_traces(const Machine& machine, const Request& request) {
  for (const AskedTrace& each : request.traces) {
    try {
      check(each.file->trace, machine);
    } catch (const simulator::TraceError& error) {
      return fmt::format("--trace: {} cannot run {}: {}", machine.name, each.file->kernel,
                         error.what());
    }
  }
  return {};
}

std::optional<SimulatedWork> trace_work(const Point& point) {
  if (!is_of_trace(point)) return std::nullopt;
  SimulatedWork work;
  work.max_iterations = 1;
  const auto shape = shape_of<TraceShape>(point);
  work.given = shape.sha256;
  work.units = shape.units.value_or(1);
  return work;
}

std::optional<PointProblem> find_trace_problem(const Point& point) {
  return is_of_trace(point) ? find_problem<TraceShape>(point) : std::nullopt;
}

}  // namespace clprobe::gsi
