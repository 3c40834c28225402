// SPDX-License-Identifier: Apache-2.0
// Latency and throughput of arithmetic: options, plan and card. Method: docs/compute.md.
#include "probes/compute/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::compute {
namespace {

constexpr Option options[]{
    {.name = "chains",
     .value_name = "LIST",
     .summary = "number of independent chains per work-item, such as 1-8",
     .details = "Number of independent chains of operations per work-item: numbers and ranges from "
                "1 to 8. The peak uses the largest number. Default: 1, 2, 4 and 8 for `fma`, "
                "otherwise 4 (on a CPU, 8).",
     .value = Numbers{1, max_chains}},
    {.name = "sub-groups",
     .value_name = "LIST",
     .summary = "number of sub-groups on one compute unit, such as 1,2,4",
     .details = "Number of sub-groups in the work-group that runs on one compute unit: numbers and "
                "ranges. Default: 1, 2, 4, 8 and 32 for `fma`, otherwise 8.",
     .value = Numbers{1, 1024}},
};

constexpr auto declared_series = declare_series(all_operations);

constexpr FindingSpec finding_specs[]{
    {.name = "latency", .unit = "seconds", .role = Role::headline},
    {.name = "latency_cycles", .unit = "cycles"},
    {.name = "group_latency", .unit = "seconds"},
    {.name = "group_latency_cycles", .unit = "cycles"},
    {.name = "unit_rate",
     .unit = "operations_per_cycle|operations_per_second",
     .role = Role::headline},
    {.name = "peak", .unit = "operations_per_second", .role = Role::headline},
    {.name = "peak_flops", .unit = "flops_per_second"},
    {.name = "unit_scaling", .better = Better::more, .is_ratio = true},
    {.name = "doubling", .role = Role::remark},
};

constexpr SharedQuantity quantities[]{
    {Quantity::peak, "float", "peak_flops", "fma"},
    {Quantity::peak, "double", "peak_flops", "double-fma"},
    {Quantity::peak, "half", "peak_flops", "half-fma"},
};

constexpr DescribedNumber described[]{
    {"peak.fp32", "peak_flops", "fma"},
    {"peak.fp64", "peak_flops", "double-fma"},
    {"peak.fp16", "peak_flops", "half-fma"},
    {"peak.int32_mad", "peak", "int-mad"},
    {"peak.fp16_matrix", "peak_flops", matrix_product},
    {"barrier.latency", "latency", group_barrier},
    {"barrier.group_latency", "group_latency", group_barrier},
};

// A pass over all points takes 0.3 s on a GPU. On a CPU, the first pass takes seconds, since the
// driver needs 0.1 to 0.3 s for each build.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(3), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::milliseconds(6500), .max_visits = 3},
    .thorough = {.probe_time = std::chrono::seconds(30),
                 .relative_interval = 0.003,
                 .max_visits = 20,
                 .samples_per_visit = 5}};

// Numbers of sub-groups and chains that suffice for the full rate of most GPUs.
constexpr int usual_sub_groups = 8;
constexpr int usual_chains = 4;

// Work-items per compute unit when all compute units work.
constexpr std::uint64_t items_of_unit = 2048;
// Work-groups per core of a CPU, which share the work evenly.
constexpr std::uint64_t groups_of_core = 8;

// Work-items of a work-group on a CPU whose driver runs several work-items at once, as vectors.
constexpr int items_of_vectors = 16;

/// Returns true for a CPU whose driver makes vectors of work-items. Its compiler reads SPIR, and
/// takes minutes for chains of vectors.
bool makes_vectors(const DeviceInfo& device) {
  return runs_items_in_turn(device) && may_cut_loops(device);
}

/// Returns the number of work-items per sub-group.
int lanes_of(const DeviceInfo& device, bool is_for_latency) {
  constexpr std::int64_t usual = 32;
  constexpr std::int64_t max = 128;
  const auto max_group = static_cast<std::int64_t>(max_group_of(device));
  if (runs_items_in_turn(device)) {
    const bool is_one = is_for_latency || !makes_vectors(device);
    return is_one ? 1 : static_cast<int>(std::min<std::int64_t>(items_of_vectors, max_group));
  }
  const std::int64_t reported = device.sub_group_size;
  const std::int64_t lanes = reported >= 2 && reported <= max ? reported : usual;
  return static_cast<int>(std::clamp<std::int64_t>(lanes, 1, max_group));
}

/// Returns the number of sub-groups in the largest work-group.
int sub_groups_in_group(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return 1;
  return std::max(1, static_cast<int>(max_group_of(device)) / lanes_of(device, false));
}

/// Returns the components of a chain's value. A CPU needs vectors for its full rate. Halves come in
/// pairs, since many GPUs run them at the full rate only as pairs.
int width_of(const DeviceInfo& device, const Operation& operation, bool is_for_latency) {
  constexpr int of_cpu = 16;
  constexpr int doubles_of_cpu = 8;
  constexpr int of_matrix = 4;  // each work-item's part of the sums
  if (operation.name == matrix_product) return of_matrix;
  const int min = operation.number == Number::float16 ? 2 : 1;
  const bool has_vectors = runs_items_in_turn(device) && !makes_vectors(device);
  if (is_for_latency || !has_vectors || operation.name == dot_product) return min;
  return operation.number == Number::float64 ? doubles_of_cpu : of_cpu;
}

/// Returns the reason why the device cannot run an operation. If the device can, returns an empty
/// string.
std::string_view missing_in(const DeviceInfo& device, const Operation& operation) {
  if (is_simulated(device)) return "the simulator does not model rates of arithmetic";
  if (operation.number == Number::float64 &&
      device.reported.integer_or("double_fp_config", 0) == 0) {
    return "the device does not support doubles";
  }
  if (operation.number == Number::float16 && !has_extension(device, "cl_khr_fp16")) {
    return "the device does not support cl_khr_fp16";
  }
  if (operation.name == dot_product && !has_extension(device, "cl_khr_integer_dot_product")) {
    return "the device does not support cl_khr_integer_dot_product";
  }
  constexpr std::int64_t first_with_matrices = 8;  // compute capability with mma.m16n8k16
  if (operation.name == matrix_product &&
      device.reported.integer_or("nv_compute_capability_major", 0) < first_with_matrices) {
    return "only NVIDIA's matrix units, from compute capability 8.0, are measured";
  }
  if (operation.name == group_barrier && runs_items_in_turn(device)) {
    return "a CPU's driver runs work-items in turn, so a barrier only splits their loop";
  }
  return {};
}

/// Numbers of chains and sub-groups to measure.
struct Grid {
  std::vector<int> chains{};
  std::vector<int> sub_groups{};
  std::vector<int> chains_of_device{};  ///< chains of the launches on all compute units
};

/// Returns the number of chains for the full rate of most operations.
int full_chains(const DeviceInfo& device) {
  return runs_items_in_turn(device) && !makes_vectors(device) ? max_chains : usual_chains;
}

bool is_first(const Operation& operation) { return operation.name == all_operations.front().name; }

/// Returns the grid of an operation: the requested numbers, else many for `fma` and few for others.
Grid grid_of(const DeviceInfo& device, const Request& request, const Operation& operation) {
  const int most = sub_groups_in_group(device);
  if (operation.name == group_barrier) {
    Grid grid{{1}, request.own.numbers("sub-groups"), {}};
    if (grid.sub_groups.empty()) grid.sub_groups = {1, usual_sub_groups, max_sub_groups};
    for (int& each : grid.sub_groups) each = std::min(each, most);
    return grid;
  }
  const bool is_whole =
      is_first(operation) && request.effort != Effort::quick && !makes_vectors(device);
  Grid grid{request.own.numbers("chains"), request.own.numbers("sub-groups"), {}};
  if (grid.chains.empty()) {
    grid.chains = {full_chains(device)};
    if (is_whole) grid.chains = {1, 2, 4, max_chains};
    grid.chains_of_device = {full_chains(device)};
    // With fewer vector registers, a CPU is faster with fewer chains.
    if (is_whole && runs_items_in_turn(device)) grid.chains_of_device = {4, max_chains};
  } else {
    grid.chains_of_device = {*std::max_element(grid.chains.begin(), grid.chains.end())};
  }
  if (grid.sub_groups.empty()) {
    grid.sub_groups = {usual_sub_groups};
    // A work-group of more than 256 work-items needs builds of its own.
    if (is_whole) grid.sub_groups = {1, 2, 4, usual_sub_groups, max_sub_groups};
    if (is_whole && request.effort == Effort::thorough) grid.sub_groups.push_back(16);
  }
  for (int& each : grid.sub_groups) each = std::min(each, most);
  return grid;
}

Point point_of(const Operation& operation, const Shape& shape) {
  Point point;
  point.series = operation.name;
  write_shape(shape, point);
  return point;
}

/// Adds a point unless the list contains it.
void add_once(std::vector<Point>& points, const Operation& operation, const Shape& shape) {
  Point point = point_of(operation, shape);
  if (std::find(points.begin(), points.end(), point) == points.end()) {
    points.push_back(std::move(point));
  }
}

/// Adds the points of most findings: the latency, the rates of the device for once and twice the
/// work, and the rate of one compute unit.
void add_main_points(const DeviceInfo& device, const Operation& operation, const Grid& grid,
                     std::vector<Point>& points) {
  Shape unit{.width = width_of(device, operation, true), .lanes = lanes_of(device, true)};
  add_once(points, operation, unit);
  if (operation.name == group_barrier) return;
  unit.width = width_of(device, operation, false);
  unit.lanes = lanes_of(device, false);
  unit.chains = grid.chains_of_device.back();
  unit.sub_groups = std::min(*std::max_element(grid.sub_groups.begin(), grid.sub_groups.end()),
                             std::min(usual_sub_groups, sub_groups_in_group(device)));
  if (std::find(grid.sub_groups.begin(), grid.sub_groups.end(), unit.sub_groups) !=
      grid.sub_groups.end()) {
    add_once(points, operation, unit);
  }
  for (const int chains : grid.chains_of_device) {
    for (const int work : {1, 2}) {
      add_once(points, operation,
               {.scope = Scope::device,
                .chains = chains,
                .width = width_of(device, operation, false),
                .work = work,
                .timer = device.launch_timer});
    }
  }
}

/// Adds the points of one compute unit with all numbers of chains and sub-groups.
void add_grid(const DeviceInfo& device, const Operation& operation, const Grid& grid,
              std::vector<Point>& points) {
  Shape shape{.width = width_of(device, operation, false), .lanes = lanes_of(device, false)};
  for (const int chains : grid.chains) {
    for (const int sub_groups : grid.sub_groups) {
      shape.chains = chains;
      shape.sub_groups = sub_groups;
      add_once(points, operation, shape);
    }
  }
}

/// Returns the size of the results of a launch, of which a buffer takes at least a page.
Bytes memory_of(const DeviceInfo& device) {
  const std::uint64_t groups = units_of(device) * items_of_unit;
  return std::max(kibibytes(4), Bytes{(1 + groups) * sizeof(std::uint64_t)});
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  std::vector<const Operation*> measured;
  for (const Operation& operation : all_operations) {
    if (!wants(request, operation.name)) continue;
    const std::string_view missing = missing_in(device, operation);
    if (missing.empty()) {
      measured.push_back(&operation);
    } else {
      const std::string_view name = operation.name == group_barrier ? "latency" : "peak";
      result.findings.push_back(not_measured(name, operation.name, missing));
    }
  }
  for (const Operation* const each : measured) {
    const Grid grid = grid_of(device, request, *each);
    add_main_points(device, *each, grid, result.points);
    if (each->name == group_barrier) add_grid(device, *each, grid, result.points);
  }
  // A time limit drops the points of the grids first.
  for (const Operation* const each : measured) {
    add_grid(device, *each, grid_of(device, request, *each), result.points);
  }
  result.is_ordered = true;
  if (!result.points.empty()) result.memory = memory_of(device);
  return result;
}

std::string check(const DeviceInfo& device, const Request& request) {
  const int most = sub_groups_in_group(device);
  if (const auto beyond = find_beyond(request.own.numbers("sub-groups"), most)) {
    return fmt::format(
        "--sub-groups: {} sub-groups of {} exceed the maximum of {} per work-group; choose 1 to {}",
        *beyond, format_count(static_cast<std::uint64_t>(lanes_of(device, false)), "work-item"),
        format_count(max_group_of(device), "work-item"), most);
  }
  return {};
}

}  // namespace

LaunchSize launch_size(const DeviceInfo& device, const Shape& shape) {
  if (shape.scope == Scope::unit) {
    const auto items =
        static_cast<std::uint64_t>(shape.sub_groups) * static_cast<std::uint64_t>(shape.lanes);
    return {items, items};
  }
  if (runs_items_in_turn(device)) {
    const auto group = static_cast<std::uint64_t>(lanes_of(device, false));
    return {units_of(device) * groups_of_core * group, group};
  }
  const std::uint64_t group = std::min(usual_group, max_group_of(device));
  return {units_of(device) * std::max<std::uint64_t>(1, items_of_unit / group) * group, group};
}

std::uint32_t steps_of(const DeviceInfo& device, const Operation& operation, int chains) {
  // The compiler of a CPU takes long for many steps, and its cores run loops at no cost.
  constexpr std::uint32_t light_of_cpu = 16;
  constexpr std::uint32_t other_of_cpu = 2;
  if (runs_items_in_turn(device)) {
    const bool is_long = operation.weight == Weight::light && !makes_vectors(device);
    return is_long ? light_of_cpu : other_of_cpu;
  }
  // The three or four instructions of a GPU's loop take less than 1 % of the time.
  const std::uint32_t all = operation.weight == Weight::light     ? 1024
                            : operation.weight == Weight::special ? 256
                                                                  : 128;
  return std::bit_floor(all / static_cast<std::uint32_t>(chains));
}

std::string build_options(const DeviceInfo& device, const Operation& operation,
                          const Shape& shape) {
  const LaunchSize size = launch_size(device, shape);
  const bool is_large = size.group > usual_group && !runs_items_in_turn(device);
  return fmt::format("-DOPERATION={} -DCHAINS={} -DWIDTH={} -DSTEPS={}{}", operation.macro,
                     shape.chains, shape.width, steps_of(device, operation, shape.chains),
                     is_large ? large_group(size.group) : "");
}

std::uint64_t max_iterations_of(std::uint32_t steps) {
  constexpr std::uint64_t max_steps = std::uint64_t{1} << 23U;
  return std::min(max_iterations, max_steps / steps);
}

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "compute",
    .title = "Arithmetic",
    .question = "What are the latency, rate and peak of each arithmetic operation?",
    .unit = Unit::operations_per_second,
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "parallel_chains", .value_title = "rate of a unit"},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .open = open,
    .builds = builds,
    .find_problem = find_problem<Shape>,
    .analyse = analyse,
    .card = card,
    .quantities = quantities,
    .described = described,
};

}  // namespace clprobe::compute
