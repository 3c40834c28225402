// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/gsi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/stall_cases.hpp"
#include "probes/gsi/account.hpp"

namespace clprobe::gsi {

extern const Probe probe;

namespace {

using simulator::CaseChange;
using simulator::CaseRun;
using simulator::Coherence;
using simulator::Implicit;
using simulator::LocalCopy;
using simulator::Machine;
using simulator::PendingKind;
using simulator::TaskQueues;
using simulator::Trace;
using simulator::TreeSearch;

constexpr std::array<std::string_view, 3> all_cases{"uts", "utsd", "implicit"};

// Few points, of which each is a kernel as a whole: a search with one queue takes seconds to
// simulate.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
                          .normal = {.probe_time = std::chrono::seconds(60), .max_visits = 3},
                          .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};
constexpr std::array coherences{Coherence::gpu, Coherence::ownership};
constexpr std::array copies{LocalCopy::scratchpad, LocalCopy::scratchpad_dma, LocalCopy::stash};
// Of the thesis.
constexpr std::array<std::uint64_t, 4> mshr_sweep{32, 64, 128, 256};
// Of the tree, of which a compute unit works on its share; so the program of the thesis's authors.
constexpr std::uint64_t all_nodes = 8192;
constexpr std::string_view flush_label = "end-of-kernel flush";

std::string bar_of(std::string_view queues, Coherence coherence) {
  return fmt::format("{}, {}", queues, coherence == Coherence::gpu ? "GPU coherence" : "ownership");
}

std::string bar_of(LocalCopy copy, std::uint64_t mshr_entries) {
  return fmt::format("implicit, {}, {} MSHRs", to_word(copy), mshr_entries);
}

std::vector<std::string> cases_of(const Limits& limits) {
  if (!limits.stalls.cases.empty()) return limits.stalls.cases;
  return {all_cases.begin(), all_cases.end()};
}

/// Throws std::runtime_error where the device's description has none, or a damaged one.
Machine machine_of(const DeviceInfo& device) {
  return simulator::machine_from_json(device.reported.text_or("machine", ""));
}

/// A launch is one access, and its time that of the whole launch.
Point point_of(std::string bar, std::string_view name, Coherence coherence) {
  Point point;
  point.series = std::move(bar);
  point.parameters = {{"case", std::string(name)},
                      {"coherence", std::string(simulator::to_word(coherence))},
                      {"timer", std::string(to_word(Timer::event))}};
  return point;
}

std::vector<Point> searches(const Machine& machine, std::string_view queues) {
  const std::uint64_t nodes = std::max<std::uint64_t>(1, all_nodes / machine.core.compute_units);
  std::vector<Point> points;
  for (const Coherence coherence : coherences) {
    points.push_back(point_of(bar_of(queues, coherence), queues, coherence));
    points.back().parameters.set("nodes", static_cast<std::int64_t>(nodes));
  }
  return points;
}

/// As in the thesis, and with what the machine has itself.
std::vector<std::uint64_t> mshr_sizes(const Machine& machine) {
  std::vector<std::uint64_t> sizes(mshr_sweep.begin(), mshr_sweep.end());
  const std::uint64_t own = machine.pending.entries;
  if (own != 0 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<Point> copies_of(const Machine& machine) {
  std::vector<Point> points;
  for (const LocalCopy copy : copies) {
    const bool has_mshrs = machine.pending.kind == PendingKind::mshr;
    for (const std::uint64_t entries :
         has_mshrs ? mshr_sizes(machine) : std::vector{machine.pending.entries}) {
      const std::string bar =
          has_mshrs ? bar_of(copy, entries) : fmt::format("implicit, {}", to_word(copy));
      Point point = point_of(bar, "implicit", Coherence::ownership);
      point.parameters.set("copy", std::string(to_word(copy)));
      if (has_mshrs) point.parameters.set("mshr_entries", static_cast<std::int64_t>(entries));
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::vector<Point> points_of(const Machine& machine, std::string_view name) {
  return name == "implicit" ? copies_of(machine) : searches(machine, name);
}

TreeSearch search_of(const Point& point) {
  TreeSearch search;
  search.queues =
      point.parameters.text_or("case", "") == "uts" ? TaskQueues::one : TaskQueues::per_unit;
  search.nodes = static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, point.parameters.integer_or("nodes", 1)));
  return search;
}

Implicit implicit_of(const Point& point) {
  const std::string word = point.parameters.text_or("copy", "");
  const auto* const copy = std::find_if(copies.begin(), copies.end(),
                                        [&](LocalCopy each) { return to_word(each) == word; });
  Implicit implicit;
  implicit.copy = copy == copies.end() ? LocalCopy::scratchpad : *copy;
  return implicit;
}

bool is_implicit(const Point& point) { return point.parameters.text_or("case", "") == "implicit"; }

Trace trace_of(const Machine& machine, const Point& point) {
  return is_implicit(point) ? make_implicit(machine, implicit_of(point))
                            : make_tree_search(machine, search_of(point));
}

/// Why the machine cannot run a case; empty when it can.
std::string misfit(const Machine& machine, std::string_view name) {
  if (std::find(all_cases.begin(), all_cases.end(), name) == all_cases.end()) {
    return fmt::format("simulated machines do not have it: choose among {}",
                       fmt::join(all_cases, ", "));
  }
  const Point point = points_of(machine, name).front();
  try {
    if (is_implicit(point)) {
      const Implicit implicit = implicit_of(point);
      constexpr std::uint64_t element_bytes = 4;
      const Bytes needed{implicit.groups * implicit.warps * machine.core.warp_width *
                         implicit.elements * element_bytes};
      if (needed.count > machine.local.bytes) {
        return fmt::format("it needs {} of local memory, of which {} has {}", format_bytes(needed),
                           machine.name, format_bytes({machine.local.bytes}));
      }
    }
    check(trace_of(machine, point), machine);
  } catch (const std::runtime_error& error) {  // TraceError, MachineError, Deadlock
    return fmt::format("{} cannot run it: {}", machine.name, error.what());
  }
  return {};
}

/// A sum over the nodes that is another one when a node is left out or comes twice.
std::uint64_t mixed(std::uint64_t node) {
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
      if (const auto node = node_of(search, program)) *visited += mixed(*node);
      return program;
    };
    return trace;
  };
  work.witness = [visited] { return *visited; };
  for (std::uint64_t node = 0; node < search.nodes; ++node) work.expected_witness += mixed(node);
}

Finding unknown(std::string_view name, std::string_view series, std::string reason) {
  Finding finding;
  finding.name = name;
  finding.series = series;
  finding.reason = std::move(reason);
  return finding;
}

/// What is known before anything runs.
Finding planned(std::string_view bar, std::string reason) {
  Finding finding = unknown(stack_part_name, bar, std::move(reason));
  finding.source = Source::reported;
  finding.method = "plan";
  return finding;
}

Finding exactly(std::string_view name, std::string_view series, double value,
                std::string_view unit) {
  Finding finding;
  finding.name = name;
  finding.series = series;
  finding.value = finding.low = finding.high = value;
  finding.unit = unit;
  return finding;
}

void add_view(const CaseRun& run, const simulator::Breakdown& breakdown, std::string_view view,
              std::vector<Finding>& findings) {
  const auto all = static_cast<double>(run.account.result.cycles);
  const auto add = [&](std::string_view label, double cycles) {
    if (cycles == 0.0) return;
    Finding part = exactly(stack_part_name, run.name, cycles / all, "share");
    part.label = label;
    part.method = view;
    findings.push_back(std::move(part));
  };
  for (const StallPart& part : stall_parts()) add(part.label, cycles_of(breakdown, part));
  add(flush_label, static_cast<double>(run.account.flush_cycles));
}

void add_stacks(const CaseRun& run, std::vector<Finding>& findings) {
  if (run.account.result.cycles == 0) return;
  Finding time =
      exactly(stack_time_name, run.name, static_cast<double>(run.account.result.cycles), "cycles");
  time.source = Source::measured;
  time.method = "simulation";
  findings.push_back(std::move(time));
  add_view(run, run.account.gsi, stack_view_gsi, findings);
  add_view(run, run.account.all_causes, stack_view_all_causes, findings);
}

void add_change(const CaseChange& change, std::vector<Finding>& findings) {
  Finding thesis = exactly("thesis", change.what, change.thesis, "");
  thesis.source = Source::reported;
  thesis.method = "Alsop 2016, chapter 6";
  findings.push_back(std::move(thesis));
  if (std::isfinite(change.here)) {
    findings.push_back(exactly("here", change.what, change.here, ""));
  } else {
    findings.push_back(unknown("here", change.what, "it was 0 before"));
    findings.back().label = "no ratio";
  }
  findings.back().method = "ratio of two bars";
}

/// The runs with these names, in this order; none when one is missing.
std::vector<CaseRun> runs_called(const std::vector<CaseRun>& runs,
                                 const std::vector<std::string>& names) {
  std::vector<CaseRun> found;
  for (const std::string& name : names) {
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [&](const CaseRun& each) { return each.name == name; });
    if (run == runs.end()) return {};
    found.push_back(*run);
  }
  return found;
}

std::vector<CaseChange> changes_in(const std::vector<CaseRun>& runs) {
  std::vector<CaseChange> changes;
  std::vector<std::string> names;
  for (const TaskQueues queues : {TaskQueues::one, TaskQueues::per_unit}) {
    for (const Coherence coherence : coherences) {
      names.push_back(bar_of(to_word(queues), coherence));
    }
  }
  if (const auto found = runs_called(runs, names); !found.empty()) {
    changes = compare_tree_searches(found);
  }
  names.clear();
  for (const LocalCopy copy : copies) {
    for (const std::uint64_t entries : mshr_sweep) names.push_back(bar_of(copy, entries));
  }
  if (const auto found = runs_called(runs, names); !found.empty()) {
    const auto more = compare_implicit(found);
    changes.insert(changes.end(), more.begin(), more.end());
  }
  return changes;
}

}  // namespace

std::string check(const DeviceInfo& device, const Limits& limits) {
  if (!clprobe::is_simulated(device)) return {};
  const Machine machine = machine_of(device);
  for (const std::string& name : limits.stalls.cases) {
    const std::string problem = misfit(machine, name);
    if (!problem.empty()) return fmt::format("--case: {}: {}", name, problem);
  }
  return {};
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan plan;
  if (!clprobe::is_simulated(device)) {
    plan.findings.push_back(planned("gsi", "it simulates: choose a machine, --device sim:PRESET"));
    return plan;
  }
  const Machine machine = machine_of(device);
  for (const std::string& name : cases_of(limits)) {
    if (std::string problem = misfit(machine, name); !problem.empty()) {
      plan.findings.push_back(planned(name, std::move(problem)));
      continue;
    }
    for (Point& point : points_of(machine, name)) plan.points.push_back(std::move(point));
    if (name == "implicit" && machine.pending.kind != PendingKind::mshr) {
      plan.findings.push_back(
          planned(name, fmt::format("no sweep of MSHRs: {} has none, its loads wait in a {}",
                                    machine.name, simulator::to_word(machine.pending.kind))));
    }
  }
  return plan;
}

SimulatedWork trace(const Machine& machine, const Point& point) {
  Machine changed = machine;
  const std::string word = point.parameters.text_or("coherence", "");
  const auto* const coherence = std::find_if(coherences.begin(), coherences.end(),
                                             [&](Coherence each) { return to_word(each) == word; });
  if (coherence != coherences.end()) changed.sharing.coherence = *coherence;
  if (const auto entries = point.parameters.integer_or("mshr_entries", 0); entries > 0) {
    // The thesis scales the store buffer with the MSHRs.
    changed.pending.entries = static_cast<std::uint64_t>(entries);
    changed.store_buffer.entries = static_cast<std::uint64_t>(entries);
  }
  SimulatedWork work;
  work.max_iterations = 1;
  if (is_implicit(point)) {
    work.trace = [changed, implicit = implicit_of(point)](std::uint64_t) {
      return make_implicit(changed, implicit);
    };
  } else {
    witness_search(work, changed, search_of(point));
  }
  work.machine = std::move(changed);
  work.account = facts_of;
  return work;
}

Findings analyse(std::span<const Point> points) {
  Findings found;
  std::vector<CaseRun> runs;
  for (const Point& point : points) {
    if (point.samples.empty()) continue;
    const auto account = account_in(point.facts);
    if (account) {
      runs.push_back({point.series, *account});
      add_stacks(runs.back(), found.findings);
    } else {
      found.findings.push_back(
          unknown(stack_part_name, point.series,
                  "the point has no account of its cycles, or one that does not add up"));
    }
  }
  for (const CaseChange& change : changes_in(runs)) add_change(change, found.findings);
  return found;
}

namespace {

constexpr std::array<std::string_view, 3> case_words{"uts", "utsd", "implicit"};
constexpr Option options[]{
    {.name = "case",
     .value_name = "LIST",
     .summary = "kernels whose stalls are shown",
     .details = "Kernels whose stalls are shown, as a comma list: a tree search with one queue "
                "(`uts`), with a queue for each compute unit (`utsd`), a pass over an array by "
                "way of local memory (`implicit`), and on devices kernels that are built to "
                "wait for one thing (`memory`, `latency`, `banks`, `barrier`, `chain`, "
                "`divergence`). Without it, all that the device can run.",
     .value = Choices{case_words}},
};

}  // namespace

const Probe probe{
    .id = "gsi",
    .title = "Simulated stalls",
    .question = "Where do the cycles of the GSI case studies go on a simulated machine?",
    .former_id_simulated = "stalls",
    .options = options,
    .view = {.kind = ViewKind::stacks},
    .budgets = budgets,
    .check = [](const DeviceInfo& device,
                const Request& request) { return check(device, limits_of(request)); },
    .plan = [](const DeviceInfo& device,
               const Request& request) { return plan(device, limits_of(request)); },
    .trace = trace,
    .analyse = [](const DeviceInfo&, std::span<const Point> points) { return analyse(points); },
};

}  // namespace clprobe::gsi
