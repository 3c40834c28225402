// SPDX-License-Identifier: Apache-2.0
// The case studies of GSI on simulated machines: bars whose every cycle is known. Method:
// docs/gsi.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/simulated.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/trace_file.hpp"
#include "probes/gsi/account.hpp"
#include "probes/gsi/case_points.hpp"
#include "probes/gsi/cases.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::gsi {

extern const Probe probe;

namespace {

using simulator::Machine;
using simulator::PendingKind;
using simulator::Trace;

constexpr std::string_view flush_label = "end-of-kernel flush";

Finding exactly(Finding finding, double value) {
  finding.value = finding.low = finding.high = value;
  return finding;
}

/// A bar of `all.cycles`, in one view.
void add_view(const std::string& bar, const Detail& all, std::string_view view,
              std::vector<Finding>& findings) {
  const auto add = [&](std::string_view label, double cycles) {
    if (cycles == 0.0) return;
    findings.push_back(exactly(finding_of(stack_part_name, bar, "share", view),
                               cycles / static_cast<double>(all.cycles)));
    findings.back().label = label;
  };
  for (const StallPart& part : stall_parts()) add(part.label, cycles_of(all.breakdown, part));
  add(flush_label, static_cast<double>(all.flush_cycles));
}

void add_time(const std::string& bar, std::uint64_t cycles, std::vector<Finding>& findings) {
  findings.push_back(exactly(finding_of(stack_time_name, bar, "cycles", "simulation"),
                             static_cast<double>(cycles)));
  findings.back().source = Source::measured;
}

struct DetailView {
  std::string_view word;
  std::string_view view;
};
constexpr std::array detail_views{DetailView{units_word, stack_view_units},
                                  DetailView{sub_groups_word, stack_view_sub_groups},
                                  DetailView{timeline_word, stack_view_timeline}};

void add_details(const Point& point, const CaseRun& run, std::vector<Finding>& findings) {
  for (const DetailView& each : detail_views) {
    for (const Detail& detail : details_in(point, run, each.word)) {
      const std::string bar = fmt::format("{}, {}", run.name, detail.what);
      add_time(bar, detail.cycles, findings);
      add_view(bar, detail, each.view, findings);
    }
  }
}

/// What single units have of a part that any of them has.
void add_units(const CaseRun& run, const StallPart& part, std::vector<Finding>& findings) {
  const auto all = static_cast<double>(run.account.result.cycles);
  std::vector<double> shares;
  for (const simulator::Breakdown& unit : run.units) shares.push_back(cycles_of(unit, part) / all);
  std::sort(shares.begin(), shares.end());
  if (shares.empty() || shares.back() == 0.0) return;
  const auto add = [&](std::string_view name, double share) {
    findings.push_back(exactly(finding_of(name, run.name, "share", stack_view_gsi), share));
    findings.back().label = part.label;
  };
  add(stack_unit_least_name, shares.front());
  add(stack_unit_median_name, shares[(shares.size() - 1) / 2]);
  add(stack_unit_most_name, shares.back());
}

void add_stacks(const CaseRun& run, std::vector<Finding>& findings) {
  if (run.account.result.cycles == 0) return;
  add_time(run.name, run.account.result.cycles, findings);
  Detail all{.cycles = run.account.result.cycles,
             .flush_cycles = run.account.flush_cycles,
             .breakdown = run.account.gsi};
  add_view(run.name, all, stack_view_gsi, findings);
  all.breakdown = run.account.all_causes;
  add_view(run.name, all, stack_view_all_causes, findings);
  for (const StallPart& part : stall_parts()) add_units(run, part, findings);
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
    here.reason = "the reference bar has a value of 0";
  }
  findings.push_back(std::move(here));
}

/// Times as multiples of that of a bar that was chosen; none where that one has failed.
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

/// From the accounts among the points' facts: stacks, and the changes that the thesis gives in
/// numbers where all bars are there.
Findings analyse(std::span<const Point> points) {
  Findings found;
  std::vector<CaseRun> runs;
  for (const Point& point : points) {
    if (point.samples.empty()) continue;
    if (const auto account = account_in(point.facts)) {
      runs.push_back({point.series, *account, units_in(point.facts, units_told(point.facts))});
      add_stacks(runs.back(), found.findings);
      add_details(point, runs.back(), found.findings);
    } else {
      found.findings.push_back(
          without_value(stack_part_name, point.series, "",
                        "the point's cycle accounting is missing or does not add up"));
    }
  }
  add_relative_times(runs, baseline_in(points), found.findings);
  for (const CaseChange& change : compare_with_thesis(runs)) add_change(change, found.findings);
  return found;
}

/// The `case` of a point that simulates a trace.
constexpr std::string_view trace_case = "trace";

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

/// Why the machine cannot run one of them; empty when it can.
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

/// Nothing where the point is of a case.
std::optional<SimulatedWork> trace_work(const Point& point) {
  if (!is_of_trace(point)) return std::nullopt;
  SimulatedWork work;
  work.max_iterations = 1;
  const auto shape = shape_of<TraceShape>(point);
  work.given = shape.sha256;
  work.units = shape.units.value_or(1);
  return work;
}

/// The first number or word that no such point can have.
std::optional<PointProblem> find_trace_problem(const Point& point) {
  return is_of_trace(point) ? find_problem<TraceShape>(point) : std::nullopt;
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
};

// Few points, of which each is a kernel as a whole: a search with one queue takes seconds to
// simulate.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
                          .normal = {.probe_time = std::chrono::seconds(60), .max_visits = 3},
                          .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};

/// Throws std::runtime_error where the device's description has none, or a damaged one.
Machine machine_of(const DeviceInfo& device) {
  return simulator::machine_from_json(device.reported.text_or("machine", ""));
}

/// Why the machine cannot run a case; empty when it can.
std::string why_unsupported(const Machine& machine, std::string_view name,
                            const CaseOptions& options) {
  if (std::find(case_words.begin(), case_words.end(), name) == case_words.end()) {
    return fmt::format("gsi has no such case; choose from {}", fmt::join(case_words, ", "));
  }
  const Point point = case_points(machine, name, options).front();
  try {
    if (const auto search = search_of(point)) {
      check(make_tree_search(machine, *search), machine);
      return {};
    }
    if (compute_of(point)) {
      for (const auto& work : compute_work_words) check(make_compute(machine, work.value), machine);
      return {};
    }
    const Implicit implicit = implicit_of(point);
    const Bytes needed{local_bytes_of(machine, implicit)};
    if (needed.count > machine.local.bytes) {
      return fmt::format("the case needs {} of local memory, but {} has only {}",
                         format_bytes(needed), machine.name, format_bytes({machine.local.bytes}));
    }
    check(make_implicit(machine, implicit), machine);
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
    return fmt::format("--mshrs: {} has no MSHRs; its loads wait in a {}", machine.name,
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

/// A point per bar. A case that does not fit the machine is a finding with the reason.
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
  for (Point& point : plan.points) write_accounting(options, point);
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
                       fmt::format("{} has no MSHRs to sweep; its loads wait in a {}", machine.name,
                                   simulator::to_word(machine.pending.kind))));
    }
  }
  const std::size_t baseline = options.relative_to.value_or(0);
  if (baseline > 0 && baseline <= plan.points.size()) {
    write_baseline(plan.points[baseline - 1].series, plan.points);
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
  if (auto own = trace_work(point)) {
    own->account = facts_for(point);
    own->accounting = accounting_of(point);
    return *std::move(own);
  }
  const Machine changed = machine_for(machine, point);
  SimulatedWork work;
  work.max_iterations = 1;
  if (const auto search = search_of(point)) {
    work.units = search->units;
    witness_search(work, changed, *search);
  } else if (const auto compute = compute_of(point)) {
    work.units = units_of(*compute);
    work.trace = [changed, compute](std::uint64_t) { return make_compute(changed, *compute); };
  } else {
    work.trace = [changed, implicit = implicit_of(point)](std::uint64_t) {
      return make_implicit(changed, implicit);
    };
  }
  work.machine = changed;
  work.account = facts_for(point);
  work.accounting = accounting_of(point);
  return work;
}

std::optional<PointProblem> find_problem_of(const Point& point) {
  if (auto problem = find_trace_problem(point)) return problem;
  return find_case_problem(point);
}

}  // namespace

const Probe probe{
    .id = "gsi",
    .title = "Simulated stalls",
    .question = "Where do the cycles of the GSI case studies go on a simulated machine?",
    .former_id_simulated = "stalls",
    .options = case_options,
    .findings = finding_specs,
    .view = {.kind = ViewKind::stacks},
    .budgets = budgets,
    .check = check_cases,
    .plan = plan,
    .trace = trace,
    .find_problem = find_problem_of,
    .analyse = [](const DeviceInfo&, std::span<const Point> points) { return analyse(points); },
};

}  // namespace clprobe::gsi
