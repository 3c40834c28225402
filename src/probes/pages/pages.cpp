// SPDX-License-Identifier: Apache-2.0
// Reach of address translation and size of pages: series, plan and refinement. Method:
// docs/pages.md.
#include "probes/pages/pages.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::pages {
namespace {

constexpr Series declared_series[]{
    {packed_series, "loads of adjacent lines"},
    {paged_series, "loads of one line per page, by assumed page size"},
};

constexpr FindingSpec finding_specs[]{
    {.name = "reach", .unit = "bytes", .role = Role::headline, .better = Better::more},
    {.name = "page", .unit = "bytes", .role = Role::headline},
    {.name = "miss_cost", .unit = "seconds", .better = Better::less},
};

constexpr DescribedNumber described[]{
    {.name = "L1_TLB.reach", .finding = "reach", .series = paged_series, .level = 1},
    {.name = "L2_TLB.reach", .finding = "reach", .series = paged_series, .level = 2},
    {.name = "TLB.page", .finding = "page", .series = paged_series, .level = 1},
};

// On a GPU, a pass over all points takes less than a second.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::milliseconds(5500), .max_visits = 2},
    .thorough = {.probe_time = std::chrono::seconds(30),
                 .relative_interval = 0.003,
                 .max_visits = 20,
                 .samples_per_visit = 5}};

// Ratio of the numbers of nodes that refine() adds around the end of a level.
constexpr double fine_ratio = 1.09;

// Buffers for results: a word per work-item of a launch over the whole device.
constexpr Bytes small_buffers = kibibytes(512);

/// Returns the size of the largest ring. The host simulates a walk line by line.
Bytes largest_ring(const DeviceInfo& device, const Request& request) {
  Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  if (request.max_memory.count != 0) {
    most = std::min(most, request.max_memory - std::min(request.max_memory, small_buffers));
  }
  return std::min(most, runs_items_in_turn(device) ? mebibytes(256) : gibibytes(1));
}

/// Returns the maximum number of nodes, so that the lines of a ring fit a cache.
double max_nodes(const DeviceInfo& device) { return is_simulated(device) ? 8192.0 : 65536.0; }

Point point_of(std::string_view series, std::uint64_t nodes, std::uint64_t step,
               std::uint64_t buffer) {
  Point point;
  point.series = series;
  // Nodes begin their steps: at multiples of the step, there is one place.
  write_shape(
      RingShape{.nodes = nodes, .step_bytes = step, .align_bytes = step, .buffer_bytes = buffer},
      point);
  return point;
}

/// Adds a packed ring and, for each page size with enough room, a paged ring of `nodes` nodes.
void add_rings(std::vector<Point>& points, const DeviceInfo& device, std::uint64_t nodes,
               std::span<const std::uint64_t> sizes, std::uint64_t buffer) {
  const auto add = [&](std::string_view series, std::uint64_t step) {
    if (nodes * step > buffer) return;
    Point point = point_of(series, nodes, step, buffer);
    if (std::find(points.begin(), points.end(), point) == points.end()) {
      points.push_back(std::move(point));
    }
  };
  add(packed_series, line_bytes(device));
  for (const std::uint64_t size : sizes) add(paged_series, step_of(device, size));
}

Plan plan(const DeviceInfo& device, const Request& request) {
  const std::uint64_t buffer = largest_ring(device, request).count;
  Plan result;
  const std::span<const std::uint64_t> sizes = page_sizes(device);
  const double room = static_cast<double>(buffer) / static_cast<double>(step_of(device, sizes[0]));
  for (const std::uint64_t nodes : numbers_of_nodes(0.0, std::min(room, max_nodes(device)))) {
    add_rings(result.points, device, nodes, sizes, buffer);
  }
  if (result.points.empty()) {
    result.findings.push_back(
        not_measured("reach", paged_series, "the memory is too small for a ring of pages"));
    return result;
  }
  // Other programs slow some rings of a CPU down, and refine() needs the levels.
  if (runs_items_in_turn(device)) {
    result.is_ordered = true;
    result.urgent = result.points.size();
    result.min_urgent_visits = 2;
  }
  result.memory = Bytes{buffer} + small_buffers;
  return result;
}

/// Returns the two neighbours on the curve between which it crosses `latency`.
std::optional<std::pair<double, double>> crossing(const std::vector<CurvePoint>& curve,
                                                  double latency) {
  const auto fit = fit_of(curve, latency);
  if (!fit || fit->is_more) return std::nullopt;
  return std::pair{fit->nodes_below, fit->nodes_above};
}

std::vector<Point> refine(const DeviceInfo& device, const Request& /*request*/,
                          std::span<const Point> points) {
  std::vector<Point> more;
  const Translation translation = translation_of(device, points);
  const std::span<const std::uint64_t> sizes = page_sizes(device);
  for (const TranslationLevel& level : levels_of(translation)) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto ends = crossing(translation.paged[i], level.end_ns);
      if (!ends) continue;
      const std::uint64_t buffer = shape_of<RingShape>(points.front()).buffer_bytes;
      const double between = std::log(ends->second / ends->first) / std::log(fine_ratio);
      for (int k = 1; k < between - 0.1; ++k) {
        const double nodes = std::round(ends->first * std::pow(fine_ratio, k));
        add_rings(more, device, static_cast<std::uint64_t>(nodes), sizes.subspan(i, 1), buffer);
      }
    }
  }
  return more;
}

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return {{"", ""}};
}

Preparer open(Session& session) { return open_rings(session, "pages.cl"); }

}  // namespace

std::span<const std::uint64_t> page_sizes(const DeviceInfo& device) {
  static constexpr std::array<std::uint64_t, 4> of_cpu{4U << 10U, 16U << 10U, 64U << 10U,
                                                       2U << 20U};
  static constexpr std::array<std::uint64_t, 4> of_gpu{16U << 10U, 64U << 10U, 256U << 10U,
                                                       2U << 20U};
  return runs_items_in_turn(device) ? std::span(of_cpu) : std::span(of_gpu);
}

std::uint64_t line_bytes(const DeviceInfo& device) { return runs_items_in_turn(device) ? 64 : 128; }

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "pages",
    .title = "Address translation",
    .question = "How much memory do translation buffers (TLBs) reach, and in pages of what size?",
    .unit = Unit::seconds,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "nodes", .value_title = "time of a load"},
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

}  // namespace clprobe::pages
