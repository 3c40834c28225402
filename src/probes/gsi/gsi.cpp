// SPDX-License-Identifier: Apache-2.0
// Case studies of GSI on simulated machines. Each cycle of a bar is attributed to a stall type.
// Method: docs/gsi.md.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "probes/gsi/case_points.hpp"
#include "probes/gsi/cases.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::gsi {

extern const Probe probe;

namespace {

using simulator::Machine;
using simulator::PendingKind;
using simulator::stall_parts;
using simulator::Trace;

constexpr std::string_view flush_label = "end-of-kernel flush";
/// Parameter that all points have if --relative-to is given: name of the bar whose time becomes 1.
constexpr std::string_view baseline_parameter = "relative_to";

Finding exactly(Finding finding, double value) {
  finding.value = finding.low = finding.high = value;
  return finding;
}

void add_view(const CaseRun& run, const simulator::Breakdown& breakdown, std::string_view view,
              std::vector<Finding>& findings) {
  const auto add = [&](std::string label, double cycles) {
    if (cycles == 0.0) return;
    findings.push_back(exactly(finding_of(stack_part_name, run.name, "share", view),
                               cycles / static_cast<double>(run.account.result.cycles)));
    findings.back().label = std::move(label);
  };
  for (std::size_t i = 0; i < stall_parts.size(); ++i) {
    add(label_of(stall_parts[i]), breakdown.cycles[i]);
  }
  add(std::string(flush_label), static_cast<double>(run.account.result.flush_cycles));
}

/// Adds the minimum, the median and the maximum share of a part over the compute units.
void add_units(const CaseRun& run, std::size_t part, std::vector<Finding>& findings) {
  const auto all = static_cast<double>(run.account.result.cycles);
  std::vector<double> shares;
  shares.reserve(run.units.size());
  for (const simulator::Breakdown& unit : run.units) shares.push_back(unit.cycles.at(part) / all);
  std::sort(shares.begin(), shares.end());
  if (shares.empty() || shares.back() == 0.0) return;
  const auto add = [&](std::string_view name, double share) {
    findings.push_back(exactly(finding_of(name, run.name, "share", stack_view_gsi), share));
    findings.back().label = label_of(stall_parts.at(part));
  };
  add(stack_unit_least_name, shares.front());
  add(stack_unit_median_name, shares[(shares.size() - 1) / 2]);
  add(stack_unit_most_name, shares.back());
}

void add_stacks(const CaseRun& run, std::vector<Finding>& findings) {
  if (run.account.result.cycles == 0) return;
  findings.push_back(exactly(finding_of(stack_time_name, run.name, "cycles", "simulation"),
                             static_cast<double>(run.account.result.cycles)));
  findings.back().source = Source::measured;
  add_view(run, run.account.gsi, stack_view_gsi, findings);
  add_view(run, run.account.all_causes, stack_view_all_causes, findings);
  for (std::size_t part = 0; part < stall_parts.size(); ++part) add_units(run, part, findings);
}

void add_change(const CaseChange& change, std::vector<Finding>& findings) {
  Finding thesis = exactly(finding_of(stack_thesis_name, change.what, "", "Alsop 2016, chapter 6"),
                           change.thesis);
  thesis.source = Source::reported;
  findings.push_back(std::move(thesis));
  Finding here = finding_of(stack_ratio_name, change.what, "", "ratio of two bars");
  if (std::isfinite(change.here)) {
    here = exactly(std::move(here), change.here);
  } else {
    here.label = "no ratio";
    here.reason = "the denominator of the ratio is 0";
  }
  findings.push_back(std::move(here));
}

/// Adds a sentence beside the thesis's numbers: equal numbers prove little.
void add_fit(std::vector<Finding>& findings) {
  Finding fitted = finding_of("fitted", "here", "", "bench/calibrate.py");
  fitted.label =
      "19 parameters that the thesis omits were chosen so that these numbers come close to the "
      "thesis's.";
  findings.push_back(std::move(fitted));
}

/// Adds the time of each bar as a multiple of the chosen bar's time. Adds nothing if no bar was
/// chosen, or if the simulation of the chosen bar failed.
void add_relative_times(const std::vector<CaseRun>& runs, const std::string& baseline,
                        std::vector<Finding>& findings) {
  const auto cycles = [](const CaseRun& run) {
    return static_cast<double>(run.account.result.cycles);
  };
  const auto one = std::find_if(runs.begin(), runs.end(), [&](const CaseRun& each) {
    return each.name == baseline && cycles(each) > 0.0;
  });
  if (one == runs.end()) return;
  for (const CaseRun& run : runs) {
    if (cycles(run) == 0.0) continue;
    findings.push_back(exactly(finding_of(stack_relative_name, run.name, "", baseline),
                               cycles(run) / cycles(*one)));
  }
}

/// Returns the stacks of the accounts in the points' facts, and the relative times. If all bars of
/// the searches or of the arrays are present, also returns their changes that the thesis states.
Findings analyse(std::span<const Point> points) {
  Findings found;
  std::vector<CaseRun> runs;
  for (const Point& point : points) {
    if (point.samples.empty()) continue;
    if (const auto account = account_in(point.facts)) {
      runs.push_back({point.series, *account, units_in(point.facts)});
      add_stacks(runs.back(), found.findings);
    } else {
      found.findings.push_back(
          without_value(stack_part_name, point.series, "",
                        "the point's cycle accounting is missing or does not add up"));
    }
  }
  if (!points.empty()) {
    add_relative_times(runs, points.front().parameters.text_or(baseline_parameter, ""),
                       found.findings);
  }
  const std::vector<CaseChange> changes = compare_with_thesis(runs);
  for (const CaseChange& change : changes) add_change(change, found.findings);
  if (!changes.empty()) add_fit(found.findings);
  return found;
}

/// Returns the number of compute units that run a trace. For a whole launch, this is the number of
/// `--compute-units`, or by default all units, at most max_default_units.
std::uint64_t units_for(const simulator::TraceFile& file, const Machine& machine,
                        const CaseOptions& options) {
  const std::uint64_t all = max_units_of(file, machine);
  if (file.groups_of == simulator::GroupsOf::unit) return all;
  return options.units.value_or(std::min(all, max_default_units));
}

std::vector<Point> trace_points(const Machine& machine, const Request& request,
                                const CaseOptions& options) {
  std::vector<Point> points;
  for (const AskedTrace& each : request.traces) {
    Shape shape = shape_for(trace_case, options);
    shape.coherence = machine.sharing.coherence;
    shape.trace_sha256 = each.sha256;
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

/// Returns the reason why the machine cannot run a trace; empty if it can run all traces.
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

constexpr FindingSpec finding_specs[]{
    {.name = stack_time_name, .unit = "cycles"},
    {.name = stack_relative_name},
    {.name = stack_part_name, .unit = "share", .role = Role::headline},
    {.name = stack_unit_least_name, .unit = "share"},
    {.name = stack_unit_median_name, .unit = "share"},
    {.name = stack_unit_most_name, .unit = "share"},
    {.name = stack_thesis_name},
    {.name = stack_ratio_name},
    {.name = "fitted", .role = Role::advice},
};

// The limits of visits are low because each point runs a whole kernel: a search with one queue
// takes seconds to simulate.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
                          .normal = {.probe_time = std::chrono::seconds(60), .max_visits = 3},
                          .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};

/// Throws std::runtime_error if the device's description has no machine, or an invalid one.
Machine machine_of(const DeviceInfo& device) {
  return simulator::machine_from_json(device.reported.text_or("machine", ""));
}

/// Returns a node's addend to a checksum, which changes if a node is left out or visited twice.
std::uint64_t mixed_node(std::uint64_t node) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio
  const std::uint64_t value = (node + 1) * odd;
  return value ^ (value >> 29U);
}

/// Sets the trace, and the checksum of the nodes that the search visits.
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
  const auto shape = shape_of<Shape>(point);
  SimulatedWork work;
  work.max_iterations = 1;
  work.units = shape.units.value_or(1);
  work.account = facts_of;
  work.priorities = priorities_of(shape);
  if (shape.name == trace_case) {
    work.given = shape.trace_sha256;
    return work;
  }
  const Machine changed = machine_for(machine, shape);
  work.machine = changed;
  if (shape.queues()) {
    witness_search(work, changed, search_of(shape));
  } else if (shape.name == compute_case) {
    work.units = units_of(shape.work);
    work.trace = [changed, kind = shape.work](std::uint64_t) {
      return make_compute(changed, kind);
    };
  } else {
    work.trace = [changed, implicit = implicit_of(shape)](std::uint64_t) {
      return make_implicit(changed, implicit);
    };
  }
  return work;
}

/// Returns the reason why the machine cannot run a case; empty if it can.
std::string why_unsupported(const Machine& machine, std::string_view name,
                            const CaseOptions& options) {
  if (std::find(case_words.begin(), case_words.end(), name) == case_words.end()) {
    return fmt::format("gsi has no such case; choose from {}", fmt::join(case_words, ", "));
  }
  try {
    for (const Point& point : case_points(machine, name, options)) {
      const SimulatedWork work = trace(machine, point);
      check(work.trace(1), *work.machine);
    }
  } catch (const std::runtime_error& error) {  // TraceError, MachineError, Deadlock
    return fmt::format("{} cannot run this case: {}", machine.name, error.what());
  }
  return {};
}

Plan plan(const DeviceInfo& device, const Request& request);

std::string check_cases(const DeviceInfo& device, const Request& request) {
  if (!is_simulated(device)) {
    return "gsi runs only on simulated devices; use `clprobe --device sim:gsi gsi`";
  }
  const CaseOptions options = read_options(request);
  if (std::string problem = find_option_problem(options); !problem.empty()) return problem;
  const Machine machine = machine_of(device);
  if (!options.mshrs.empty() && machine.pending.kind != PendingKind::mshr) {
    return fmt::format("--mshrs: {} has no MSHRs; the machine's loads wait in a {}", machine.name,
                       simulator::to_word(machine.pending.kind));
  }
  if (std::string problem = check_traces(machine, request); !problem.empty()) return problem;
  for (const std::string& name : request.own.words("case")) {
    const std::string problem = why_unsupported(machine, name, options);
    if (!problem.empty()) return fmt::format("--case: {}: {}", name, problem);
  }
  if (!options.relative_to) return {};
  const std::size_t bars = plan(device, request).points.size();
  if (*options.relative_to <= bars) return {};
  return fmt::format("--relative-to: choose 1 to {}, the number of bars", bars);
}

/// Plans one point per bar. A case that does not fit the machine becomes a finding with the reason.
Plan plan(const DeviceInfo& device, const Request& request) {
  Plan plan;
  if (!is_simulated(device)) {
    plan.findings.push_back(
        not_measured(stack_part_name, probe.id,
                     "gsi runs only on simulated devices; choose one with --device sim:PRESET"));
    return plan;
  }
  const Machine machine = machine_of(device);
  const CaseOptions options = read_options(request);
  plan.points = trace_points(machine, request, options);
  for (const std::string& name : options.cases) {
    if (std::string problem = why_unsupported(machine, name, options); !problem.empty()) {
      plan.findings.push_back(not_measured(stack_part_name, name, std::move(problem)));
      continue;
    }
    for (Point& point : case_points(machine, name, options)) {
      plan.points.push_back(std::move(point));
    }
    if (name == implicit_case && machine.pending.kind != PendingKind::mshr) {
      plan.findings.push_back(
          not_measured(stack_part_name, name,
                       fmt::format("{} has no MSHRs to sweep; the machine's loads wait in a {}",
                                   machine.name, simulator::to_word(machine.pending.kind))));
    }
  }
  const std::size_t baseline = options.relative_to.value_or(0);
  if (baseline > 0 && baseline <= plan.points.size()) {
    const std::string bar = plan.points[baseline - 1].series;
    for (Point& point : plan.points) point.parameters.set(baseline_parameter, bar);
  }
  return plan;
}

}  // namespace

const Probe probe{
    .id = "gsi",
    .title = "Simulated stalls",
    .question = "Where do the cycles of the GSI case studies go on a simulated machine?",
    .options = case_options,
    .findings = finding_specs,
    .view = {.kind = ViewKind::stacks},
    .budgets = budgets,
    .check = check_cases,
    .plan = plan,
    .trace = trace,
    .find_problem = find_problem<Shape>,
    .analyse = [](const DeviceInfo&, std::span<const Point> points) { return analyse(points); },
};

}  // namespace clprobe::gsi
