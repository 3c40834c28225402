// SPDX-License-Identifier: Apache-2.0
// Breakdown of a kernel's time on devices without counters. The kernels of cl/stalls.cl run with
// each possible set of causes of waiting removed. In-kernel clocks time parts that cannot be
// removed. Method: docs/stalls.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/point_facts.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "measure/api/device.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/cases/copy.hpp"
#include "probes/stalls/cases/search.hpp"
#include "probes/stalls/cases/wait_for_one.hpp"
#include "probes/stalls/launch.hpp"

namespace clprobe::stalls {

extern const Probe probe;

namespace {

constexpr Case cases[]{
    wait_for_one::case_of<wait_for_one::memory_bound>(
        "independent loads by several work-groups, scattered over main memory"),
    wait_for_one::case_of<wait_for_one::latency_bound>(
        "one sub-group per compute unit chases pointers"),
    wait_for_one::case_of<wait_for_one::bank_conflicts>(
        "the lanes of a sub-group access the same bank of local memory"),
    wait_for_one::case_of<wait_for_one::barrier>(
        "sub-groups work one at a time while the others wait at a barrier"),
    wait_for_one::case_of<wait_for_one::dependency_chain>(
        "four sub-groups per compute unit run chains of dependent operations"),
    wait_for_one::case_of<wait_for_one::divergence>(
        "divergent branches keep only one in eight lanes of a sub-group active at a time"),
    wait_for_one::case_of<wait_for_one::uncoalesced_loads>(
        "the lanes of a sub-group load from addresses one cache line apart"),
    wait_for_one::case_of<wait_for_one::uncoalesced_stores>(
        "the lanes of a sub-group store to addresses one cache line apart"),
    wait_for_one::case_of<wait_for_one::store_bound>("stores scattered over main memory"),
    wait_for_one::case_of<wait_for_one::release>("stores followed by a device-scope fence"),
    wait_for_one::case_of<wait_for_one::function_unit>("independent special functions"),
    {.name = "implicit",
     .what = "work on an array, either in local memory or in place",
     .points = copy::points,
     .memory = copy::memory_of,
     .options = copy::options_of,
     .prepare = copy::prepare,
     .analyse = copy::analyse},
    search::case_of<search::Queues::one>("a tree search with one queue"),
    search::case_of<search::Queues::per_group>("a tree search with one queue per work-group"),
};

constexpr auto case_words = [] {
  std::array<std::string_view, std::size(cases)> words;
  std::transform(std::begin(cases), std::end(cases), words.begin(),
                 [](const Case& each) { return each.name; });
  return words;
}();

/// Returns the help text of --case, with all kernels and the default.
std::string case_details() {
  std::string text = "Comma-separated list of kernels to run.";
  std::string on_request;
  for (const Case& each : cases) {
    text += fmt::format(" `{}`: {}.", each.name, each.what);
    if (!each.is_on_request) continue;
    on_request += fmt::format("{}`{}`", on_request.empty() ? "" : ", ", each.name);
  }
  return fmt::format("{} Default: all with --thorough, otherwise all except {}.", text, on_request);
}

const std::string details_of_case = case_details();

const Option options[]{
    {.name = "case",
     .value_name = "LIST",
     .summary = "kernels to run",
     .details = details_of_case,
     .value = Choices{case_words}},
};

constexpr FindingSpec finding_specs[]{
    {.name = stack_first_name, .unit = "share", .role = Role::headline},
    {.name = stack_time_name, .unit = "seconds"},
    {.name = stack_part_name, .unit = "share"},
    {.name = stack_interaction_name, .unit = "share", .role = Role::remark},
    {.name = stack_absorbed_name, .unit = "share"},
    {.name = noise_verdict_name},
    {.name = longest_tail_name, .unit = "share"},
    {.name = "advice", .role = Role::advice},
    {.name = search::lock_use_name, .unit = "share"},
    {.name = copy::engine_name},
    {.name = stack_ratio_name, .role = Role::remark},
    {.name = stack_thesis_name, .role = Role::remark},
};

// The limits of visits are low because the probe has few points, each of which runs a whole kernel.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
    .normal = {.probe_time = std::chrono::seconds(60), .relative_interval = 0.02, .max_visits = 3},
    .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};

/// Minimum size in bytes of the two arrays: one to load from, and one of half its size to copy to.
constexpr std::uint64_t min_arrays = min_far_bytes.count * 3 / 2;

Memory memory_of(const Case& each, const std::vector<Point>& points) {
  Memory memory;
  for (const Point& point : points) memory.include(each.memory(point));
  return memory;
}

/// Returns the requested cases that fit the memory limit if their arrays have the minimum size. If
/// there is a limit, sets `requested.max_data`, the maximum size of the array that kernels load
/// from. Adds a finding with the reason for each refused case.
std::vector<const Case*> choose_cases(const DeviceInfo& device, Options& requested,
                                      std::vector<Finding>& findings) {
  std::vector<const Case*> chosen;
  Memory all;
  for (const Case& each : cases) {
    if (!requested.wants(each.name, each.is_on_request)) continue;
    Memory with = all;
    with.include(memory_of(each, each.points(device, requested)));
    if (requested.max_memory.count != 0 &&
        with.without_arrays() + min_arrays > requested.max_memory.count) {
      findings.push_back(
          not_measured(stack_part_name, each.name,
                       fmt::format("--max-memory: {} is too little; the kernels need at least {}",
                                   format_bytes(requested.max_memory),
                                   format_bytes({with.without_arrays() + min_arrays}))));
      continue;
    }
    all = with;
    chosen.push_back(&each);
  }
  if (requested.max_memory.count == 0) return chosen;
  requested.max_data = requested.max_memory - Bytes{all.without_arrays()};
  if (all.copies != 0) requested.max_data = requested.max_data * 2 / 3;
  return chosen;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan plan;
  if (is_simulated(device)) {
    plan.findings.push_back(not_measured(
        stack_part_name, probe.id, "stalls does not run on simulated devices; use gsi instead"));
    return plan;
  }
  Options requested(request);
  Memory memory;
  for (const Case* const each : choose_cases(device, requested, plan.findings)) {
    std::vector<Point> points = each->points(device, requested);
    memory.include(memory_of(*each, points));
    plan.points.insert(plan.points.end(), std::make_move_iterator(points.begin()),
                       std::make_move_iterator(points.end()));
  }
  if (runs_items_in_turn(device) && request.effort != Effort::quick) {
    constexpr std::int64_t times = 3;
    for (Point& point : plan.points) {
      if (is_whole_kernel(point)) point.facts.set(visited_often, times);
    }
  }
  plan.memory = Bytes{memory.total()};
  return plan;
}

const Case& case_of(const Point& point) {
  const std::string& name = point.parameters.text("case");
  const Case* const found = find_case(name);
  if (found == nullptr) throw std::out_of_range(fmt::format("case {}", name));
  return *found;
}

Preparer open(Session& session) {
  return [shared = std::make_shared<Shared>(session)](const Point& point) {
    return case_of(point).prepare(*shared, point);
  };
}

std::string check(const DeviceInfo& device, const Request& /*request*/) {
  if (!is_simulated(device)) return {};
  return "stalls does not run on simulated devices; use `clprobe --device sim:gsi gsi`";
}

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& point) {
  std::vector<KernelVariant> all{{case_of(point).options(device, point), ""}};
  if (case_of(point).memory(point).data != 0) all.push_back({part_options(0, false, device), ""});
  return all;
}

/// Returns the names of the series that have samples, in the order of the points.
std::vector<std::string> bars_in(std::span<const Point> points) {
  std::vector<std::string> bars;
  for (const Point& point : points) {
    if (point.parameters.find("case") == nullptr || point.samples.empty()) continue;
    if (std::find(bars.begin(), bars.end(), point.series) == bars.end()) {
      bars.push_back(point.series);
    }
  }
  return bars;
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const std::string& bar : bars_in(points)) {
    Points own;
    for (const Point& point : points) {
      if (point.series == bar && point.parameters.find("case") != nullptr) own.push_back(&point);
    }
    try {
      case_of(*own.front()).analyse(bar, own, device, found.findings);
    } catch (const std::out_of_range& error) {
      found.findings.push_back(without_value(
          stack_part_name, bar, "",
          fmt::format("the points come from another version of clprobe: {}", error.what())));
    }
  }
  search::add_speed_up(found.findings);
  combine(found.findings);
  return found;
}

/// Parameters of points that are in no shape of a case.
struct Others {
  std::optional<std::string> phase{};
  std::optional<std::string> noise{};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("phase", phase);
    fields.text("noise", noise);
  }
};

/// Returns the problem of a point. Parameters that occur in several cases have equal bounds.
std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<wait_for_one::Shape, copy::Shape, search::Shape, NoiseShape, Others>(point);
}

/// Returns a card without values, because the stacks of test kernels are no properties of the
/// device.
Card card(const ProbeResult& result) {
  Card card;
  for (const Finding& each : result.findings) {
    card.titles.emplace(each.series, fmt::format("test kernel {}", each.series));
  }
  return card;
}

}  // namespace

std::span<const Case> all_cases() { return cases; }

const Case* find_case(std::string_view name) {
  const auto* const found = std::find_if(std::begin(cases), std::end(cases),
                                         [&](const Case& each) { return each.name == name; });
  return found == std::end(cases) ? nullptr : found;
}

const Probe probe{
    .id = "stalls",
    .title = "Stalls",
    .question = "Where do a kernel's cycles go?",
    .options = options,
    .findings = finding_specs,
    .view = {.kind = ViewKind::stacks},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .open = open,
    .builds = builds,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .combine = combine,
    .card = card,
};

}  // namespace clprobe::stalls
