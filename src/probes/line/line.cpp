// SPDX-License-Identifier: Apache-2.0
// Size of a cache's lines and of its fetches: series, plan and refinement. Method:
// docs/line.md.
#include "probes/line/line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/ring.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::line {
namespace {

constexpr Series declared_series[]{
    {spacing_series, "loads of single words, by the distance between words"},
    {pairs_series, "pairs of loads from nearby words that are not in L1"},
    {cold_series, "pairs of loads from nearby words that are in no cache"},
};

constexpr FindingSpec finding_specs[]{
    {.name = "line", .unit = "bytes", .role = Role::headline},
    {.name = "fetch", .unit = "bytes", .role = Role::headline},
    {.name = "filling"},
};

constexpr DescribedNumber described[]{
    {.name = "L1.line", .finding = "line", .series = spacing_series, .level = 1},
    {.name = "L2.line", .finding = "line", .series = spacing_series, .level = 2},
    {.name = "L1.fetch", .finding = "fetch", .series = pairs_series, .level = 1},
    {.name = "L2.fetch", .finding = "fetch", .series = cold_series, .level = 2},
};

// On a GPU, a pass over all points takes less than a second.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::milliseconds(6500), .max_visits = 2},
    .thorough = {.probe_time = std::chrono::seconds(30),
                 .relative_interval = 0.003,
                 .max_visits = 20,
                 .samples_per_visit = 5}};

// Nodes of a ring that misses all caches. A chase visits each node once.
constexpr std::uint64_t cold_nodes = 2048;

/// Returns the maximum number of nodes, each in a line of its own. On a CPU, the second level has
/// fewer lines. The host simulates a walk line by line.
std::uint64_t max_nodes(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return std::uint64_t{1} << 17U;
  return std::uint64_t{1} << (is_simulated(device) ? 20U : 21U);
}

// Buffers for results: a word per work-item of a launch over the whole device.
constexpr Bytes small_buffers = kibibytes(512);

/// Memory of the rings and of the flush that the plan may use.
struct Room {
  std::uint64_t rings{0};
  std::uint64_t flush{0};  ///< 0: too little memory for rings that miss all caches
};

Room room_of(const DeviceInfo& device, const Request& request) {
  Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  if (request.max_memory.count != 0) {
    most = std::min(most, request.max_memory - std::min(request.max_memory, small_buffers));
  }
  const std::uint64_t rings = std::min(most.count, max_nodes(device) * spacings.front());
  const std::uint64_t cold = cold_nodes * pair_step;
  // A simulated ring begins with empty caches.
  const std::uint64_t flush = is_simulated(device) ? 64 : beyond_caches(device).count;
  const bool is_possible = !runs_items_in_turn(device) && cold + flush <= most.count;
  return {rings, is_possible ? flush : 0};
}

Point point_of(std::string_view series, Shape shape, std::uint64_t buffer) {
  shape.buffer_bytes = buffer;
  Point point;
  point.series = series;
  write_shape(shape, point);
  return point;
}

std::vector<Shape> first_rings(const Room& room) {
  std::vector<Shape> rings;
  const std::uint64_t most = room.rings / spacings.front();
  const auto last = static_cast<double>(most);
  for (const std::uint64_t nodes : numbers_of_nodes(0.0, last)) {
    rings.push_back({.nodes = nodes, .step_bytes = spacings.front()});
  }
  constexpr std::uint64_t min_pairs = 64;
  constexpr std::uint64_t max_pairs = 8192;
  for (std::uint64_t nodes = min_pairs; nodes <= max_pairs; nodes *= 2) {
    if (nodes * pair_step > room.rings) break;
    rings.push_back({.nodes = nodes, .step_bytes = pair_step, .align_bytes = pair_align});
  }
  return rings;
}

/// Rings of pairs need rings of single words, which show the levels.
Plan plan(const DeviceInfo& device, const Request& request) {
  const Room room = room_of(device, request);
  const std::uint64_t cold = cold_nodes * pair_step;
  const std::uint64_t buffer = std::max(room.rings, room.flush == 0 ? 0 : cold + room.flush);
  Plan result;
  for (const Shape& each : first_rings(room)) {
    result.points.push_back(point_of(spacing_series, each, buffer));
  }
  if (wants(request, cold_series)) {
    if (room.flush == 0) {
      result.findings.push_back(
          not_measured("fetch", cold_series,
                       runs_items_in_turn(device)
                           ? "a CPU's prefetchers learn the distance between two words"
                           : "the available memory is too small to evict a ring from all caches"));
    } else {
      for (const std::uint64_t distance : distances) {
        result.points.push_back(point_of(cold_series,
                                         {.nodes = cold_nodes,
                                          .step_bytes = pair_step,
                                          .align_bytes = pair_align,
                                          .distance_bytes = distance,
                                          .flush_bytes = room.flush},
                                         buffer));
      }
    }
  }
  // Other programs slow some rings of a CPU down, and refine() needs the levels.
  if (runs_items_in_turn(device)) {
    result.is_ordered = true;
    result.urgent = result.points.size();
    result.min_urgent_visits = 2;
  }
  if (!result.points.empty()) result.memory = Bytes{buffer} + small_buffers;
  return result;
}

/// Adds rings of closer nodes around the end of a level, which holds `capacity` nodes in lines of
/// their own.
void add_spacings(double capacity, const Shape& model, std::vector<Point>& more) {
  for (const std::uint64_t step : spacings) {
    if (step == spacings.front()) continue;
    const std::uint64_t steps = model.buffer_bytes / step;
    const std::uint64_t closer = spacings.front() / step;
    const auto room = static_cast<double>(steps);
    const double most = 1.1 * capacity * static_cast<double>(closer);
    for (const std::uint64_t nodes :
         numbers_of_nodes(0.7 * capacity, std::min(most * 1.42, room))) {
      Point point =
          point_of(spacing_series, {.nodes = nodes, .step_bytes = step}, model.buffer_bytes);
      if (std::find(more.begin(), more.end(), point) == more.end()) {
        more.push_back(std::move(point));
      }
    }
  }
}

std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  std::vector<Point> more;
  const std::vector<MeasuredRing> rings = read_rings(device, points, spacing_series);
  if (rings.empty()) return more;
  const Shape& model = rings.front().shape;
  if (wants(request, pairs_series)) {
    if (const auto nodes = nodes_of_pairs(rings)) {
      for (const std::uint64_t distance : distances) {
        more.push_back(point_of(pairs_series,
                                {.nodes = *nodes,
                                 .step_bytes = pair_step,
                                 .align_bytes = pair_align,
                                 .distance_bytes = distance},
                                model.buffer_bytes));
      }
    }
  }
  if (!wants(request, spacing_series)) return more;
  const std::vector<Level> levels = levels_of(rings);
  for (std::size_t i = 0; i < max_levels; ++i) {
    if (const auto nodes = nodes_that_fit(rings, levels, i, runs_items_in_turn(device))) {
      add_spacings(*nodes, model, more);
    }
  }
  return more;
}

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return {{"", ""}};
}

Preparer open(Session& session) { return open_rings(session, "line.cl"); }

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "line",
    .title = "Cache lines",
    .question = "How many bytes do caches fetch at a time, and how large are cache lines?",
    .unit = Unit::seconds,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "distance_bytes", .value_title = "time of both loads"},
    .budgets = budgets,
    .plan = plan,
    .refine = refine,
    .open = open,
    .trace = CLPROBE_TRACE(trace),
    .builds = builds,
    .find_problem = find_problem<RingShape>,
    .analyse = analyse,
    .card = card,
    .described = described,
};

}  // namespace clprobe::line
