// SPDX-License-Identifier: Apache-2.0
// Latency and rate of atomic operations: series, plan and checksums. Method: docs/atomics.md.
#include "probes/atomics/atomics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::atomics {
namespace {

constexpr auto declared_series = declare_series(all_series);

constexpr std::string_view per_second = "operations_per_second";
constexpr std::string_view per_cycle = "operations_per_cycle|operations_per_second";

// The places of pages in the slices of a cache differ between processes, and with them the rates of
// several addresses.
constexpr FindingSpec finding_specs[]{
    {.name = "latency", .unit = "seconds", .role = Role::headline},
    {.name = "latency_cycles", .unit = "cycles"},
    {.name = "near_latency", .unit = "seconds", .role = Role::headline},
    {.name = "near_latency_cycles", .unit = "cycles"},
    {.name = "far_latency", .unit = "seconds", .role = Role::headline},
    {.name = "far_latency_cycles", .unit = "cycles"},
    {.name = "one_address_rate", .unit = per_second, .role = Role::headline},
    {.name = "one_line_rate", .unit = per_second, .role = Role::passing},
    {.name = "spread_rate", .unit = per_second, .role = Role::passing},
    {.name = "half_rate_addresses",
     .unit = "count",
     .role = Role::passing,
     .better = Better::unknown},
    {.name = "combining", .better = Better::more, .is_ratio = true},
    {.name = "unit_one_address_rate", .unit = per_cycle},
    {.name = "unit_rate", .unit = per_cycle, .role = Role::headline},
};

constexpr DescribedNumber described[]{
    {"atomics.latency", "latency", "latency"},
    {"atomics.latency", "near_latency", "latency"},
    {"atomics.far_latency", "far_latency", "latency"},
    {"atomics.one_address_rate", "one_address_rate", "add"},
    {"atomics.spread_rate", "spread_rate", "add"},
};

// A pass over all points takes 0.4 s on a GPU.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::seconds(5), .max_visits = 3},
    .thorough = {.probe_time = std::chrono::seconds(30),
                 .relative_interval = 0.003,
                 .max_visits = 20,
                 .samples_per_visit = 5}};

// Work-items per compute unit when all compute units work.
constexpr std::uint64_t items_of_unit = 2048;
// Work-items per core of a CPU, which share the work evenly.
constexpr std::uint64_t items_of_core = 8;

// Size of the buffer with the blocks, which fits the last cache of large GPUs.
constexpr Bytes span_of_blocks = mebibytes(8);
// Maximum size of the buffer with the counters; an H200 needs 32 MiB.
constexpr Bytes max_counters = mebibytes(64);
constexpr Bytes min_blocks{blocks * block_bytes};
constexpr Bytes min_memory = kibibytes(512);

/// Returns the reason why a series cannot be measured. If the series can, returns an empty string.
std::string_view missing_in(const DeviceInfo& device, const Request& request,
                            const SeriesSpec& series) {
  if (is_simulated(device)) return "the simulator does not model rates of atomic operations";
  if (request.max_memory.count != 0 && request.max_memory < min_memory) {
    return "the probe's buffers need 512 KiB, more than --max-memory allows";
  }
  if (series.word_bytes == 8 && !has_extension(device, "cl_khr_int64_base_atomics")) {
    return "the device does not support cl_khr_int64_base_atomics";
  }
  return {};
}

/// Sizes of buffers and launches on a device, within the allowed memory.
struct Sizes {
  Bytes blocks{};               ///< size of the buffer with the blocks
  Bytes counters{};             ///< maximum size of the buffer with the counters
  std::uint64_t work_items{1};  ///< work-items of a launch on all compute units; a power of two
};

Sizes sizes_on(const DeviceInfo& device, const Request& request) {
  Bytes room = request.max_memory.count == 0 ? max_counters * 2 : request.max_memory;
  if (device.max_allocation.count != 0) room = std::min(room, device.max_allocation * 2);
  Sizes sizes;
  sizes.blocks = std::clamp({std::bit_floor(room.count / 8)}, min_blocks, span_of_blocks);
  const std::uint64_t items = runs_items_in_turn(device) ? items_of_core : items_of_unit;
  sizes.work_items = std::min(max_addresses, std::bit_floor(units_of(device) * items));
  const Bytes needed = std::max(kibibytes(4), Bytes{sizes.work_items * line_bytes});
  sizes.counters = std::min({Bytes{std::bit_floor(room.count / 2)}, needed, max_counters});
  return sizes;
}

/// Returns the size of the results of all work-groups of a launch.
Bytes memory_of_results(const DeviceInfo& device, const Sizes& sizes) {
  const Shape shape{.scope = Scope::device, .work_items = sizes.work_items};
  // The kernel that checks the counters has up to four work-groups per compute unit.
  const std::uint64_t groups =
      std::max(sizes.work_items / launch_size(device, shape).group, 4 * units_of(device));
  return std::max(kibibytes(4), Bytes{(1 + groups) * sizeof(std::uint64_t)});
}

Point point_of(const SeriesSpec& series, const Shape& shape) {
  Point point;
  point.series = series.name;
  write_shape(shape, point);
  return point;
}

/// Returns the numbers of addresses of a series of rates, most important first: one, as many as
/// possible, and a line. In a curve, the other powers of two follow; if the results are unused or
/// the run is quick, every second one.
std::vector<std::uint64_t> addresses_of(const DeviceInfo& device, const SeriesSpec& series,
                                        std::uint64_t max, Effort effort) {
  std::vector<std::uint64_t> all{1};
  const auto add_once = [&](std::uint64_t each) {
    if (each <= max && std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
  };
  add_once(max);
  if (series.scope == Scope::unit) return all;
  if (series.word_bytes == sizeof(std::uint32_t)) add_once(words_of_line(device));
  if (!series.is_curve) return all;
  const bool is_fine = series.uses_result && effort != Effort::quick;
  for (std::uint64_t each = 2; each < max; each *= 2) {
    if (is_fine || std::countr_zero(each) % 2 == 0) add_once(each);
  }
  return all;
}

std::vector<Point> points_of(const DeviceInfo& device, const Request& request,
                             const SeriesSpec& series) {
  const Sizes sizes = sizes_on(device, request);
  std::vector<Point> points;
  if (series.scope == Scope::chain) {
    // On a CPU, all blocks are in the caches of one core.
    constexpr std::uint64_t blocks_of_cpu = 4;
    const std::uint64_t of_global = runs_items_in_turn(device) ? blocks_of_cpu : blocks;
    const std::uint64_t count = series.is_local ? 1 : of_global;
    for (std::uint64_t block = 0; block < count; ++block) {
      Shape shape;
      if (!series.is_local) {
        shape.buffer_bytes = sizes.blocks.count;
        shape.offset_bytes = block_offset(block, shape.buffer_bytes);
      }
      points.push_back(point_of(series, shape));
    }
    return points;
  }
  Shape shape{.scope = series.scope,
              .spacing_bytes = series.spacing_bytes,
              .work_items = sizes.work_items,
              .timer = device.launch_timer};
  std::uint64_t max = std::min(sizes.work_items, sizes.counters.count / series.spacing_bytes);
  if (series.scope == Scope::unit) {
    const std::uint64_t group = std::bit_floor(std::min(usual_group, max_group_of(device)));
    shape.work_items = max = runs_items_in_turn(device) ? 1 : group;
  }
  for (const std::uint64_t each : addresses_of(device, series, max, request.effort)) {
    shape.addresses = each;
    points.push_back(point_of(series, shape));
  }
  return points;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  // Points that every series measures before any curve is measured.
  constexpr std::size_t main_rates = 3;
  Plan result;
  std::vector<Point> curves;
  for (const SeriesSpec& series : all_series) {
    if (!wants(request, series.name)) continue;
    const std::string_view missing = missing_in(device, request, series);
    if (!missing.empty()) {
      const bool is_chain = series.scope == Scope::chain;
      result.findings.push_back(
          not_measured(is_chain ? "latency" : "spread_rate", series.name, missing));
      continue;
    }
    const std::vector<Point> points = points_of(device, request, series);
    const std::size_t first = series.is_curve ? std::min(points.size(), main_rates) : points.size();
    const auto split = points.begin() + static_cast<std::ptrdiff_t>(first);
    result.points.insert(result.points.end(), points.begin(), split);
    curves.insert(curves.end(), split, points.end());
  }
  result.points.insert(result.points.end(), curves.begin(), curves.end());
  result.is_ordered = true;
  if (!result.points.empty()) {
    const Sizes sizes = sizes_on(device, request);
    result.memory = sizes.blocks + sizes.counters + memory_of_results(device, sizes);
  }
  return result;
}

}  // namespace

const SeriesSpec& series_named(std::string_view name) {
  const auto* const found = std::find_if(all_series.begin(), all_series.end(),
                                         [&](const SeriesSpec& each) { return each.name == name; });
  if (found == all_series.end()) throw std::out_of_range("no series " + std::string(name));
  return *found;
}

std::uint64_t block_offset(std::uint64_t block, std::uint64_t span) {
  const std::uint64_t part = span / blocks;
  const auto random = mixed(static_cast<std::uint32_t>(block + 1));
  return block * part + random % std::max<std::uint64_t>(1, part / block_bytes) * block_bytes;
}

std::uint64_t words_of_line(const DeviceInfo& device) {
  const std::uint64_t reported = device.cache_line.count;
  const bool is_plausible = std::has_single_bit(reported) && reported >= 16;
  return (is_plausible ? std::min(reported, line_bytes) : line_bytes) / sizeof(std::uint32_t);
}

LaunchSize launch_size(const DeviceInfo& device, const Shape& shape) {
  if (shape.scope == Scope::chain) return {1, 1};
  if (shape.scope == Scope::unit) return {shape.work_items, shape.work_items};
  if (runs_items_in_turn(device)) return {shape.work_items, 1};
  const std::uint64_t group = std::bit_floor(std::min(usual_group, max_group_of(device)));
  return {shape.work_items, std::min(group, shape.work_items)};
}

std::string build_options(const SeriesSpec& series, const Shape& shape) {
  const std::string cells = series.is_local ? fmt::format(" -DCELLS={}", shape.work_items) : "";
  return fmt::format("-DOPERATION={} -DRESULT={} -DWIDE={} -DLOCAL={}{}", series.macro,
                     series.uses_result ? 1 : 0, series.word_bytes == 8 ? 1 : 0,
                     series.is_local ? 1 : 0, cells);
}

std::uint64_t warm_hops(std::uint64_t iterations) {
  return chain_nodes + (iterations * hops_per_iteration % chain_nodes == 0 ? 1 : 0);
}

std::uint64_t end_of_chain(std::uint64_t iterations) {
  return (warm_hops(iterations) + iterations * hops_per_iteration) % chain_nodes;
}

std::uint64_t last_value(const SeriesSpec& series, const Shape& shape, std::uint64_t iterations) {
  const std::uint64_t operations = iterations * steps_per_iteration;
  const bool adds = series.macro == all_series.front().macro;
  const std::uint64_t last = adds ? operations * (shape.work_items / shape.addresses) : operations;
  return series.word_bytes == 8 ? last : static_cast<std::uint32_t>(last);
}

std::uint64_t expected_witness(const SeriesSpec& series, const Shape& shape,
                               std::uint64_t iterations) {
  const std::uint64_t operations = iterations * steps_per_iteration;
  std::uint64_t of_address = 0;
  if (series.uses_result && series.macro == all_series.front().macro) {
    // The additions to a word return 0, 1, 2, ... in some order.
    const std::uint64_t all = operations * (shape.work_items / shape.addresses);
    of_address = all % 2 == 0 ? all / 2 * (all - 1) : (all - 1) / 2 * all;
  } else if (series.uses_result) {
    of_address = operations;  // one operation of each number changes the word
  }
  return (shape.addresses << 32U) + static_cast<std::uint32_t>(shape.addresses * of_address);
}

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "atomics",
    .title = "Atomic operations",
    .question = "What are the latency of atomic operations and their rate under contention?",
    .unit = Unit::operations_per_second,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "addresses", .value_title = "rate of the device"},
    .budgets = budgets,
    .plan = plan,
    .open = open,
    .builds = builds,
    .find_problem = find_problem<Shape>,
    .analyse = analyse,
    .card = card,
    .described = described,
};

}  // namespace clprobe::atomics
