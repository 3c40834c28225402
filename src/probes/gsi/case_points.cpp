// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/case_points.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "probes/shared/fields.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Coherence;
using simulator::Machine;
using simulator::PendingKind;

constexpr std::array coherences{Coherence::gpu, Coherence::ownership};
constexpr Bounds some_units{.min = 1, .max = 64};

/// What every point says.
struct Shape {
  std::string name{};  ///< of the case
  Coherence coherence{Coherence::gpu};
  std::string timer{to_word(Timer::event)};  ///< a launch is one access
  std::optional<std::uint64_t> store_entries{};

  template <class Visitor>
  void visit(Visitor& fields) {
    std::string word(simulator::to_word(coherence));
    fields.text("case", name);
    fields.text("coherence", word);
    fields.text("timer", timer);
    fields.whole("store_entries", store_entries, count_from_1);
    for (const Coherence each : coherences) {
      if (simulator::to_word(each) == word) coherence = each;
    }
  }
};

struct SearchShape : Shape {
  std::uint64_t nodes{1};
  std::uint64_t units{1};
  std::uint64_t warps{1};
  std::uint64_t local_capacity{2};
  std::uint64_t backoff_cycles{0};
  Polls polls_by{Polls::warp};
  std::optional<std::uint64_t> owns_atomics{};  ///< 1, or nothing: as the machine has it
  std::optional<std::uint64_t> stores_pass_releases{};
  std::optional<std::uint64_t> steps{};  ///< nothing: as many as usual
  std::optional<std::uint64_t> step_operations{};
  std::optional<std::uint64_t> state_lines{};
  std::optional<std::uint64_t> written_lines{};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    fields.whole("nodes", nodes, count_from_1);
    fields.whole("units", units, some_units);
    fields.whole("warps", warps, Bounds{.min = 1, .max = 16});
    fields.whole("local_queue", local_capacity, Bounds{.min = 2, .max = 32});
    fields.whole("backoff_cycles", backoff_cycles, count_from_0);
    fields.word("poll", polls_by, polls_words);
    fields.whole("owns_atomics", owns_atomics, Bounds{.min = 1, .max = 1});
    fields.whole("stores_pass_releases", stores_pass_releases, Bounds{.min = 1, .max = 1});
    fields.whole("steps", steps, count_from_1);
    fields.whole("step_operations", step_operations, count_from_1);
    fields.whole("state_lines", state_lines, Bounds{.min = 1, .max = 16});
    fields.whole("written_lines", written_lines, Bounds{.min = 0, .max = 2});
  }
};

struct ImplicitShape : Shape {
  LocalCopy copy{LocalCopy::scratchpad};
  std::optional<std::uint64_t> operations{};  ///< nothing: as many as usual
  std::optional<std::uint64_t> groups{};
  std::optional<std::uint64_t> block_warps{};
  std::optional<std::uint64_t> elements{};
  std::optional<std::uint64_t> address_operations{};
  std::optional<std::uint64_t> object_bytes{};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    fields.word("copy", copy, local_copy_words);
    fields.whole("operations", operations, Bounds{.min = 0, .max = 1000});
    fields.whole("groups", groups, Bounds{.min = 1, .max = 256});
    fields.whole("block_warps", block_warps, Bounds{.min = 1, .max = 32});
    fields.whole("elements", elements, Bounds{.min = 1, .max = 64});
    fields.whole("address_operations", address_operations, Bounds{.min = 0, .max = 100});
    fields.whole("object_bytes", object_bytes, Bounds{.min = 4, .max = 64});
  }
};

struct ComputeShape : Shape {
  ComputeWork work{ComputeWork::chain};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    fields.word("work", work, compute_work_words);
  }
};

struct Entries {
  std::optional<std::uint64_t> mshr_entries{};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.whole("mshr_entries", mshr_entries, count_from_0);
  }
};

constexpr std::string_view cycle_priority = "cycle_priority";
constexpr std::string_view instruction_priority = "instruction_priority";

/// As in the thesis, and with what the machine has itself, or what was asked for. 0: it has none.
std::vector<std::uint64_t> mshr_sizes(const Machine& machine, const CaseOptions& options) {
  if (machine.pending.kind != PendingKind::mshr) return {0};
  if (!options.mshrs.empty()) return options.mshrs;
  std::vector<std::uint64_t> sizes(std::begin(thesis_mshrs), std::end(thesis_mshrs));
  const std::uint64_t own = machine.pending.entries;
  if (own != 0 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

Point finish(Point point, std::uint64_t mshr_entries, const CaseOptions& options) {
  if (mshr_entries != 0) {
    point.parameters.set("mshr_entries", static_cast<std::int64_t>(mshr_entries));
  }
  write_accounting(options, point);
  return point;
}

SearchShape search_shape(const Machine& machine, TaskQueues queues, const CaseOptions& options) {
  const TreeSearch usual;
  SearchShape shape;
  shape.name = to_word(queues);
  shape.store_entries = options.store_entries;
  shape.nodes = options.nodes.value_or(usual.nodes);
  shape.units = options.units.value_or(std::min(machine.core.compute_units, max_default_units));
  shape.warps = options.warps.value_or(usual.warps);
  shape.local_capacity = options.local_capacity.value_or(usual.local_capacity);
  shape.backoff_cycles = options.backoff_cycles.value_or(usual.backoff_cycles);
  if (options.owns_atomics) shape.owns_atomics = 1;
  if (options.stores_pass_releases) shape.stores_pass_releases = 1;
  shape.steps = options.steps;
  shape.step_operations = options.step_operations;
  shape.state_lines = options.state_lines;
  shape.written_lines = options.written_lines;
  shape.polls_by = value_in(polls_words, options.polls_by.value_or("")).value_or(usual.polls_by);
  return shape;
}

std::vector<Point> search_points(const Machine& machine, TaskQueues queues,
                                 const CaseOptions& options) {
  const std::vector<std::uint64_t> own{0};
  std::vector<Point> points;
  for (const std::uint64_t entries : options.mshrs.empty() ? own : options.mshrs) {
    for (const Coherence coherence : coherences) {
      Point point;
      point.series = bar_name(queues, coherence, entries);
      SearchShape shape = search_shape(machine, queues, options);
      shape.coherence = coherence;
      write_shape(shape, point);
      points.push_back(finish(std::move(point), entries, options));
    }
  }
  return points;
}

std::vector<Point> implicit_points(const Machine& machine, const CaseOptions& options) {
  std::vector<Point> points;
  for (const auto& copy : local_copy_words) {
    for (const std::uint64_t entries : mshr_sizes(machine, options)) {
      Point point;
      point.series = bar_name(copy.value, entries);
      ImplicitShape shape;
      shape.name = implicit_case;
      shape.store_entries = options.store_entries;
      shape.coherence = Coherence::ownership;
      shape.copy = copy.value;
      shape.operations = options.operations;
      shape.groups = options.groups;
      shape.block_warps = options.block_warps;
      shape.elements = options.elements;
      shape.address_operations = options.address_operations;
      shape.object_bytes = options.object_bytes;
      write_shape(shape, point);
      points.push_back(finish(std::move(point), entries, options));
    }
  }
  return points;
}

std::vector<Point> compute_points(const CaseOptions& options) {
  std::vector<Point> points;
  for (const auto& work : compute_work_words) {
    Point point;
    point.series = bar_name(work.value);
    ComputeShape shape;
    shape.name = compute_case;
    shape.work = work.value;
    write_shape(shape, point);
    points.push_back(finish(std::move(point), 0, options));
  }
  return points;
}

}  // namespace

std::vector<Point> case_points(const Machine& machine, std::string_view name,
                               const CaseOptions& options) {
  if (name == compute_case) return compute_points(options);
  const auto queues = value_in(task_queues_words, name);
  return queues ? search_points(machine, *queues, options) : implicit_points(machine, options);
}

std::optional<TreeSearch> search_of(const Point& point) {
  const auto queues = value_in(task_queues_words, point.parameters.text_or("case", ""));
  if (!queues) return std::nullopt;
  const auto shape = shape_of<SearchShape>(point);
  TreeSearch search;
  search.queues = *queues;
  search.nodes = shape.nodes;
  search.units = shape.units;
  search.warps = shape.warps;
  search.local_capacity = shape.local_capacity;
  search.backoff_cycles = shape.backoff_cycles;
  search.polls_by = shape.polls_by;
  if (shape.steps) search.steps = *shape.steps;
  if (shape.step_operations) search.operations = *shape.step_operations;
  if (shape.state_lines) search.state_lines = *shape.state_lines;
  if (shape.written_lines) search.written_lines = *shape.written_lines;
  return search;
}

std::optional<ComputeWork> compute_of(const Point& point) {
  if (point.parameters.text_or("case", "") != compute_case) return std::nullopt;
  return shape_of<ComputeShape>(point).work;
}

Implicit implicit_of(const Point& point) {
  const auto shape = shape_of<ImplicitShape>(point);
  Implicit implicit{.copy = shape.copy};
  if (shape.operations) implicit.operations = *shape.operations;
  if (shape.groups) implicit.groups = *shape.groups;
  if (shape.block_warps) implicit.warps = *shape.block_warps;
  if (shape.elements) implicit.elements = *shape.elements;
  if (shape.address_operations) implicit.address_operations = *shape.address_operations;
  if (shape.object_bytes) implicit.object_bytes = *shape.object_bytes;
  return implicit;
}

Machine machine_for(const Machine& machine, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  Machine changed =
      adapt(machine, shape.coherence,
            static_cast<std::uint64_t>(point.parameters.integer_or("mshr_entries", 0)));
  if (shape.store_entries) changed.store_buffer.entries = *shape.store_entries;
  if (value_in(task_queues_words, shape.name)) {
    const auto search = shape_of<SearchShape>(point);
    if (search.owns_atomics) changed.synchronization.owns_atomics = true;
    if (search.stores_pass_releases) changed.synchronization.stores_pass_releases = true;
  }
  return changed;
}

simulator::Accounting accounting_of(const Point& point) {
  // As many columns as fit a narrow terminal.
  constexpr std::size_t max_windows = 48;
  return {.priorities = priorities_of(point.parameters.text_or(cycle_priority, ""),
                                      point.parameters.text_or(instruction_priority, "")),
          .max_windows = shows(point, timeline_word) ? max_windows : 0};
}

bool shows(const Point& point, std::string_view view) {
  return point.parameters.text_or("views", "").find(view) != std::string::npos;
}

void write_accounting(const CaseOptions& options, Point& point) {
  if (options.views) point.parameters.set("views", *options.views);
  if (options.cycle_priority) {
    point.parameters.set(std::string(cycle_priority), *options.cycle_priority);
  }
  if (options.instruction_priority) {
    point.parameters.set(std::string(instruction_priority), *options.instruction_priority);
  }
}

void write_baseline(const std::string& bar, std::vector<Point>& points) {
  for (Point& point : points) point.parameters.set("relative_to", bar);
}

std::string baseline_in(std::span<const Point> points) {
  return points.empty() ? std::string() : points.front().parameters.text_or("relative_to", "");
}

std::optional<PointProblem> find_case_problem(const Point& point) {
  return find_problem<SearchShape, ImplicitShape, ComputeShape, Entries>(point);
}

}  // namespace clprobe::gsi
