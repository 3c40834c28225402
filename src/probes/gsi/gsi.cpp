// SPDX-License-Identifier: Apache-2.0
// The case studies of GSI on simulated machines: bars whose every cycle is known. Method:
// docs/gsi.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/simulated.hpp"
#include "clprobe/stacks.hpp"
#include "probes/gsi/account.hpp"
#include "probes/gsi/card.hpp"
#include "probes/gsi/cases.hpp"
#include "probes/gsi/findings.hpp"
#include "probes/gsi/traces.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::gsi {

extern const Probe probe;

namespace {

using simulator::Coherence;
using simulator::Machine;
using simulator::PendingKind;
using simulator::Trace;

constexpr std::string_view implicit_case = "implicit";
constexpr std::array<std::string_view, 3> case_words{"uts", "utsd", implicit_case};

constexpr Option options[]{
    {.name = "case",
     .value_name = "LIST",
     .summary = "kernels to simulate",
     .details =
         "Kernels to simulate, as a comma list: a tree search with one queue (`uts`), with a "
         "queue per compute unit (`utsd`), and a pass over an array by way of local memory "
         "(`implicit`). Default: all that fit the machine.",
     .value = Choices{case_words}},
    {.name = "trace",
     .value_name = "FILE",
     .summary = "trace of a kernel of your own to simulate",
     .details =
         "Trace of a kernel to simulate, in the place of the cases where `--case` names none: a "
         "text with a line per instruction of a sub-group, as docs/trace.md says.",
     .value = TracePath{}},
};

constexpr FindingSpec finding_specs[]{
    {.name = stack_time_name, .unit = "cycles"},
    {.name = stack_part_name, .unit = "share", .role = Role::headline},
    {.name = stack_thesis_name},
    {.name = stack_ratio_name},
};

// Few points, of which each is a kernel as a whole: a search with one queue takes seconds to
// simulate.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
                          .normal = {.probe_time = std::chrono::seconds(60), .max_visits = 3},
                          .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};

constexpr std::array coherences{Coherence::gpu, Coherence::ownership};
// Of the tree, of which a compute unit works on its share; so the program of the thesis's authors.
constexpr std::uint64_t all_nodes = 8192;

/// What every point says.
struct Shape {
  std::string name{};  ///< of the case
  Coherence coherence{Coherence::gpu};
  std::string timer{to_word(Timer::event)};  ///< a launch is one access

  template <class Visitor>
  void visit(Visitor& fields) {
    std::string word(simulator::to_word(coherence));
    fields.text("case", name);
    fields.text("coherence", word);
    fields.text("timer", timer);
    for (const Coherence each : coherences) {
      if (simulator::to_word(each) == word) coherence = each;
    }
  }
};

struct SearchShape : Shape {
  std::uint64_t nodes{1};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    fields.whole("nodes", nodes, count_from_1);
  }
};

struct ImplicitShape : Shape {
  LocalCopy copy{LocalCopy::scratchpad};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    fields.word("copy", copy, local_copy_words);
  }
};

std::vector<std::string> wanted_cases(const Request& request) {
  std::vector<std::string> asked = request.own.words("case");
  if (!asked.empty() || !request.traces.empty()) return asked;
  return {case_words.begin(), case_words.end()};
}

/// Throws std::runtime_error where the device's description has none, or a damaged one.
Machine machine_of(const DeviceInfo& device) {
  return simulator::machine_from_json(device.reported.text_or("machine", ""));
}

std::vector<Point> search_points(const Machine& machine, TaskQueues queues) {
  const std::uint64_t nodes = std::max<std::uint64_t>(1, all_nodes / machine.core.compute_units);
  std::vector<Point> points;
  for (const Coherence coherence : coherences) {
    Point point;
    point.series = bar_name(queues, coherence);
    SearchShape shape;
    shape.name = to_word(queues);
    shape.coherence = coherence;
    shape.nodes = nodes;
    write_shape(shape, point);
    points.push_back(std::move(point));
  }
  return points;
}

/// As in the thesis, and with what the machine has itself. 0: it has none.
std::vector<std::uint64_t> mshr_sizes(const Machine& machine) {
  if (machine.pending.kind != PendingKind::mshr) return {0};
  std::vector<std::uint64_t> sizes(std::begin(thesis_mshrs), std::end(thesis_mshrs));
  const std::uint64_t own = machine.pending.entries;
  if (own != 0 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<Point> implicit_points(const Machine& machine) {
  std::vector<Point> points;
  for (const auto& copy : local_copy_words) {
    for (const std::uint64_t entries : mshr_sizes(machine)) {
      Point point;
      point.series = bar_name(copy.value, entries);
      ImplicitShape shape;
      shape.name = implicit_case;
      shape.coherence = Coherence::ownership;
      shape.copy = copy.value;
      write_shape(shape, point);
      if (entries != 0) {
        point.parameters.set("mshr_entries", static_cast<std::int64_t>(entries));
      }
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::vector<Point> points_of(const Machine& machine, std::string_view name) {
  const auto queues = value_in(task_queues_words, name);
  return queues ? search_points(machine, *queues) : implicit_points(machine);
}

/// Nothing where the point is of another case.
std::optional<TreeSearch> search_of(const Point& point) {
  const auto queues = value_in(task_queues_words, point.parameters.text_or("case", ""));
  if (!queues) return std::nullopt;
  return TreeSearch{.queues = *queues, .nodes = shape_of<SearchShape>(point).nodes};
}

Implicit implicit_of(const Point& point) { return {.copy = shape_of<ImplicitShape>(point).copy}; }

/// Why the machine cannot run a case; empty when it can.
std::string why_unsupported(const Machine& machine, std::string_view name) {
  if (std::find(case_words.begin(), case_words.end(), name) == case_words.end()) {
    return fmt::format("simulated machines do not have it: choose among {}",
                       fmt::join(case_words, ", "));
  }
  const Point point = points_of(machine, name).front();
  try {
    if (const auto search = search_of(point)) {
      check(make_tree_search(machine, *search), machine);
      return {};
    }
    const Implicit implicit = implicit_of(point);
    constexpr std::uint64_t element_bytes = 4;
    const Bytes needed{implicit.groups * implicit.warps * machine.core.warp_width *
                       implicit.elements * element_bytes};
    if (needed.count > machine.local.bytes) {
      return fmt::format("it needs {} of local memory, of which {} has {}", format_bytes(needed),
                         machine.name, format_bytes({machine.local.bytes}));
    }
    check(make_implicit(machine, implicit), machine);
  } catch (const std::runtime_error& error) {  // TraceError, MachineError, Deadlock
    return fmt::format("{} cannot run it: {}", machine.name, error.what());
  }
  return {};
}

std::string check_cases(const DeviceInfo& device, const Request& request) {
  const std::vector<std::string> asked = request.own.words("case");
  if (!is_simulated(device)) {
    if (request.traces.empty()) return {};
    return "--trace: it is simulated: choose a machine, --device sim:PRESET";
  }
  if (asked.empty() && request.traces.empty()) return {};
  const Machine machine = machine_of(device);
  if (std::string problem = check_traces(machine, request); !problem.empty()) return problem;
  for (const std::string& name : asked) {
    const std::string problem = why_unsupported(machine, name);
    if (!problem.empty()) return fmt::format("--case: {}: {}", name, problem);
  }
  return {};
}

/// A point per bar. A case that does not fit the machine is a finding with the reason.
Plan plan(const DeviceInfo& device, const Request& request) {
  Plan plan;
  if (!is_simulated(device)) {
    plan.findings.push_back(not_measured(stack_part_name, probe.id,
                                         "it simulates: choose a machine, --device sim:PRESET"));
    return plan;
  }
  const Machine machine = machine_of(device);
  plan.points = trace_points(machine, request);
  for (const std::string& name : wanted_cases(request)) {
    if (std::string problem = why_unsupported(machine, name); !problem.empty()) {
      plan.findings.push_back(not_measured(stack_part_name, name, std::move(problem)));
      continue;
    }
    for (Point& point : points_of(machine, name)) plan.points.push_back(std::move(point));
    if (name == implicit_case && machine.pending.kind != PendingKind::mshr) {
      plan.findings.push_back(
          not_measured(stack_part_name, name,
                       fmt::format("no sweep of MSHRs: {} has none, its loads wait in a {}",
                                   machine.name, simulator::to_word(machine.pending.kind))));
    }
  }
  return plan;
}

/// A sum over the nodes that is another one when a node is left out or comes twice.
std::uint64_t mixed_node(std::uint64_t node) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;  // 2^64 by the golden ratio
  const std::uint64_t value = (node + 1) * odd;
  return value ^ (value >> 29U);
}

/// The nodes that a search works on, counted by what its warps are given to run.
void witness_search(SimulatedWork& work, const Machine& machine, const TreeSearch& search) {
  const auto visited = std::make_shared<std::uint64_t>(0);
  work.trace = [machine, search, visited](std::uint64_t) {
    *visited = 0;
    Trace trace = make_tree_search(machine, search);
    trace.next_program = [search, visited, next = std::move(trace.next_program)](
                             std::uint32_t warp, std::uint64_t cycle) {
      const std::uint32_t program = next(warp, cycle);
      if (const auto node = node_of(search, program)) *visited += mixed_node(*node);
      return program;
    };
    return trace;
  };
  work.witness = [visited] { return *visited; };
  for (std::uint64_t node = 0; node < search.nodes; ++node) {
    work.expected_witness += mixed_node(node);
  }
}

SimulatedWork trace(const Machine& machine, const Point& point) {
  if (auto own = trace_work(point)) return *std::move(own);
  const Machine changed =
      adapt(machine, shape_of<Shape>(point).coherence,
            static_cast<std::uint64_t>(point.parameters.integer_or("mshr_entries", 0)));
  SimulatedWork work;
  work.max_iterations = 1;
  if (const auto search = search_of(point)) {
    witness_search(work, changed, *search);
  } else {
    work.trace = [changed, implicit = implicit_of(point)](std::uint64_t) {
      return make_implicit(changed, implicit);
    };
  }
  work.machine = changed;
  work.account = facts_of;
  return work;
}

struct Entries {
  std::optional<std::uint64_t> mshr_entries{};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.whole("mshr_entries", mshr_entries, count_from_0);
  }
};

std::optional<PointProblem> find_problem_of(const Point& point) {
  if (auto problem = find_trace_problem(point)) return problem;
  return find_problem<SearchShape, ImplicitShape, Entries>(point);
}

}  // namespace

const Probe probe{
    .id = "gsi",
    .title = "Simulated stalls",
    .question = "Where do the cycles of the GSI case studies go on a simulated machine?",
    .former_id_simulated = "stalls",
    .options = options,
    .findings = finding_specs,
    .view = {.kind = ViewKind::stacks},
    .budgets = budgets,
    .check = check_cases,
    .plan = plan,
    .trace = trace,
    .find_problem = find_problem_of,
    .analyse = [](const DeviceInfo&, std::span<const Point> points) { return analyse(points); },
    .card = card,
};

}  // namespace clprobe::gsi
