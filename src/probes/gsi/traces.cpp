// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/traces.hpp"

#include <fmt/format.h>

#include "clprobe/trace_file.hpp"
#include "probes/gsi/account.hpp"
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
  std::uint64_t simulated_groups{1};         ///< of these, that the one compute unit runs

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("case", name);
    fields.text("coherence", coherence);
    fields.text("timer", timer);
    fields.text("trace_sha256", sha256);
    fields.whole("groups", groups, count_from_1);
    fields.whole("simulated_groups", simulated_groups, count_from_1);
  }
};

bool is_of_trace(const Point& point) { return point.parameters.text_or("case", "") == trace_case; }

}  // namespace

std::vector<Point> trace_points(const Machine& machine, const Request& request) {
  std::vector<Point> points;
  for (const AskedTrace& each : request.traces) {
    TraceShape shape;
    shape.coherence = simulator::to_word(machine.sharing.coherence);
    shape.sha256 = each.sha256;
    shape.groups = each.file->trace.groups.size();
    shape.simulated_groups = share_of_unit(*each.file, machine).groups.size();
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
  work.given = shape_of<TraceShape>(point).sha256;
  work.account = facts_of;
  return work;
}

std::optional<PointProblem> find_trace_problem(const Point& point) {
  return is_of_trace(point) ? find_problem<TraceShape>(point) : std::nullopt;
}

}  // namespace clprobe::gsi
