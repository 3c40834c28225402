// SPDX-License-Identifier: Apache-2.0
// Latency from each compute unit to parts of a cache: series, plan and checksums. Method:
// docs/map.md.
#include "probes/map/map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::map {
namespace {

constexpr auto declared_series = declare_series(all_series);

// A driver places the pages of a buffer anew in each run, and with them the near blocks.
constexpr FindingSpec finding_specs[]{
    {.name = "latency", .unit = "seconds", .role = Role::headline},
    {.name = "latency_cycles", .unit = "cycles"},
    {.name = "near_latency", .unit = "seconds", .role = Role::headline},
    {.name = "near_latency_cycles", .unit = "cycles"},
    {.name = "far_latency", .unit = "seconds", .role = Role::headline},
    {.name = "far_latency_cycles", .unit = "cycles"},
    {.name = "first_half_units", .unit = "count", .better = Better::unknown},
    {.name = "second_half_units", .unit = "count", .better = Better::unknown},
    {.name = "near_share", .role = Role::passing, .better = Better::unknown},
    {.name = "gain", .role = Role::headline, .better = Better::unknown, .is_ratio = true},
    {.name = "far_cost", .better = Better::unknown, .is_ratio = true},
    {.name = "hand_over_latency", .unit = "seconds", .role = Role::headline},
    {.name = "hand_over_latency_cycles", .unit = "cycles"},
    {.name = "advice", .role = Role::advice},
};

constexpr DescribedNumber described[]{
    {"hand_over.latency", "hand_over_latency", hand_over_series},
};

constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::seconds(4), .max_visits = 2},
    .thorough = {.probe_time = std::chrono::seconds(20), .max_visits = 10}};

// Size of the buffer. On an H200, `latency` finds the end of L2's near half at 27 MiB and the end
// of its far half at 50 MiB.
constexpr std::uint64_t usual_blocks = mebibytes(32).count / block_bytes;
// Each part must have several chunks.
constexpr std::uint64_t min_blocks = 128;

std::uint64_t blocks_on(const DeviceInfo& device, const Request& request) {
  Bytes room = request.max_memory.count == 0 ? mebibytes(64) : request.max_memory;
  if (device.max_allocation.count != 0) room = std::min(room, device.max_allocation * 2);
  return std::min(usual_blocks, std::bit_floor(room.count / block_bytes / 2));
}

/// Returns the reason why a series cannot be measured. If the series can, returns an empty string.
std::string_view missing_in(const DeviceInfo& device, const Request& request,
                            std::string_view series) {
  if (is_simulated(device)) return "the simulator does not model distances within a cache";
  if (units_of(device) < 2) return "the device has one compute unit";
  if (series == hand_over_series) return {};
  if (runs_items_in_turn(device)) return "the work-groups of a CPU have no fixed cores";
  if (device.clock.kind == ClockKind::none) return "the device has no in-kernel clock";
  if (blocks_on(device, request) < min_blocks) {
    return "the probe's buffers need 1 MiB, more than --max-memory allows";
  }
  return {};
}

/// Returns the name of the finding that a series without points lacks.
std::string_view lacked_by(std::string_view series) {
  if (series == gather_series) return "gain";
  return series == hand_over_series ? "hand_over_latency" : "latency";
}

template <typename Shape>
Point point_of(std::string_view series, const Shape& shape) {
  Point point;
  point.series = series;
  write_shape(shape, point);
  // `plan` does not know the facts.
  point.facts = {};
  return point;
}

std::vector<Point> points_of(const DeviceInfo& device, const Request& request,
                             std::string_view series) {
  constexpr std::uint64_t units_of_loads = 32;
  constexpr std::uint64_t max_partners = 8;
  const std::uint64_t units = std::min<std::uint64_t>(units_of(device), 1024);
  const std::uint64_t blocks = blocks_on(device, request);
  std::vector<Point> points;
  if (series == gather_series) {
    for (const auto& [order, word] : order_words) {
      points.push_back(point_of(series, GatherShape{order, blocks, device.launch_timer}));
    }
  } else if (series == hand_over_series) {
    const std::uint64_t partners =
        runs_items_in_turn(device) ? 1 : std::min(max_partners, units - 1);
    for (std::uint64_t i = 0; i < partners; ++i) {
      points.push_back(point_of(series, HandOverShape{0, 1 + i * (units - 1) / partners}));
    }
  } else {
    const std::uint64_t chosen = series == load_series ? std::min(units, units_of_loads) : units;
    for (std::uint64_t i = 0; i < chosen; ++i) {
      for (const std::uint64_t part : {0U, 1U}) {
        points.push_back(point_of(
            series, UnitShape{.unit = i * units / chosen, .part = part, .blocks = blocks}));
      }
    }
  }
  return points;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  for (const SeriesSpec& series : all_series) {
    if (!wants(request, series.name)) continue;
    const std::string_view missing = missing_in(device, request, series.name);
    if (!missing.empty()) {
      result.findings.push_back(not_measured(lacked_by(series.name), series.name, missing));
      continue;
    }
    const std::vector<Point> points = points_of(device, request, series.name);
    result.points.insert(result.points.end(), points.begin(), points.end());
  }
  const bool has_blocks =
      std::any_of(result.points.begin(), result.points.end(),
                  [](const Point& each) { return each.series != hand_over_series; });
  if (has_blocks) result.memory = Bytes{blocks_on(device, request) * block_bytes};
  // Lists of blocks, and results of work-groups.
  if (!result.points.empty()) result.memory = result.memory + kibibytes(128);
  return result;
}

std::optional<PointProblem> find_wrong(const Point& point) {
  if (point.series == gather_series) return find_problem<GatherShape>(point);
  if (point.series == hand_over_series) return find_problem<HandOverShape>(point);
  return find_problem<UnitShape>(point);
}

/// Returns the first `count` blocks in random order.
std::vector<std::uint32_t> shuffled(const std::vector<std::uint32_t>& blocks, std::size_t count) {
  std::vector<std::uint32_t> order(count);
  if (count == 0) return order;
  const Permutation permutation(static_cast<std::uint32_t>(count), permutation_key(count));
  for (std::uint32_t i = 0; i < count; ++i) order[i] = blocks[permutation(i)];
  return order;
}

}  // namespace

std::uint64_t node_word(std::span<const std::uint32_t> blocks, std::uint64_t i) {
  const std::uint64_t distance = block_words / block_nodes;
  return blocks[i % blocks.size()] * block_words + i / blocks.size() * distance + distance / 2;
}

std::uint64_t warm_hops(bool is_load, std::uint64_t nodes, std::uint64_t hops) {
  constexpr std::uint64_t of_atomics = 64;
  const std::uint64_t warm = is_load ? nodes : of_atomics;
  return (warm + hops) % nodes == 0 ? warm + 1 : warm;
}

std::vector<std::uint32_t> sums_of_blocks(std::uint64_t blocks) {
  constexpr std::uint64_t distance = block_words / block_nodes;
  std::vector<std::uint32_t> sums(blocks, 0);
  for (std::uint64_t word = 0; word < blocks * block_words; ++word) {
    std::uint32_t& sum = sums[word / block_words];
    const auto index = static_cast<std::uint32_t>(word);
    if (word % distance == 0) {
      sum += index;  // each node is the index of another one of the block
    } else if (word % (distance / 2) != 0) {
      sum += mixed(index);
    }
  }
  return sums;
}

std::uint32_t sum_of_ring(std::span<const std::uint32_t> blocks) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < blocks.size() * block_nodes; ++i) sum += node_word(blocks, i);
  return static_cast<std::uint32_t>(sum);
}

std::optional<Split> find_split(std::vector<double> latencies) {
  constexpr std::size_t min_side = 2;
  constexpr double min_ratio = 1.25;
  constexpr double max_between = 0.1;
  if (latencies.size() < 2 * min_side) return std::nullopt;
  std::sort(latencies.begin(), latencies.end());
  const double low = latencies[latencies.size() / 10];
  const double high = latencies[latencies.size() - 1 - latencies.size() / 10];
  Split split;
  split.limit = (low + high) / 2.0;
  const auto middle = std::upper_bound(latencies.begin(), latencies.end(), split.limit);
  split.near.assign(latencies.begin(), middle);
  split.far.assign(middle, latencies.end());
  if (split.near.size() < min_side || split.far.size() < min_side) return std::nullopt;
  const double near = median(split.near);
  const double far = median(split.far);
  const double third = (far - near) / 3.0;
  const auto between = std::count_if(latencies.begin(), latencies.end(), [&](double each) {
    return each > near + third && each < far - third;
  });
  const bool is_clear =
      static_cast<double>(between) <= max_between * static_cast<double>(latencies.size());
  return far >= min_ratio * near && is_clear ? std::optional(std::move(split)) : std::nullopt;
}

Lists order_blocks(Order order, const std::array<std::vector<std::uint32_t>, 2>& parts,
                   std::span<const std::uint32_t> half_of_unit) {
  Lists lists;
  lists.list_of_unit.assign(half_of_unit.begin(), half_of_unit.end());
  lists.first_chunks = parts[0].size() / chunk_blocks;
  lists.second_chunks = parts[1].size() / chunk_blocks;
  // All orders are random: runs of neighbouring blocks would gain from address translation.
  std::vector<std::uint32_t> first = shuffled(parts[0], lists.first_chunks * chunk_blocks);
  const std::vector<std::uint32_t> second = shuffled(parts[1], lists.second_chunks * chunk_blocks);
  first.insert(first.end(), second.begin(), second.end());
  if (order == Order::far) {
    for (std::uint32_t& list : lists.list_of_unit) list = 1 - list;
  } else if (order == Order::any) {
    first = shuffled(first, first.size());
    lists.first_chunks += std::exchange(lists.second_chunks, 0);
    std::fill(lists.list_of_unit.begin(), lists.list_of_unit.end(), 0U);
  }
  lists.blocks = std::move(first);
  return lists;
}

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "map",
    .title = "Map of compute units",
    .question = "Which addresses are near which compute units, and does their order matter?",
    .unit = Unit::seconds,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::heat_map, .x = "unit", .y = "part", .value_title = "latency"},
    .budgets = budgets,
    .plan = plan,
    .open = open,
    .builds = builds,
    .find_problem = find_wrong,
    .analyse = analyse,
    .card = card,
    .described = described,
};

}  // namespace clprobe::map
