// SPDX-License-Identifier: Apache-2.0
// Bandwidth by working set, of one compute unit and of all. Method: docs/bandwidth.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/point_facts.hpp"
#include "clprobe/probe.hpp"
#include "probes/bandwidth/bandwidth.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::bandwidth {

namespace {

constexpr Option options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "working sets: a size (64KiB), a range (1KiB-1GiB), a range with a ratio "
                "(1KiB-1GiB*2), or a comma-separated list",
     .details = "Working sets: one size (`64KiB`), a range (`1KiB-1GiB`), a range with the ratio "
                "of neighbouring sizes (`1KiB-1GiB*2`), or a comma-separated list of these. "
                "clprobe rounds each size down to a size that can be divided among the compute "
                "units. By default the probe chooses sizes for the device.",
     .value = Sizes{}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    // `unit_bandwidth` follows from `bandwidth`: comparing both would count a change twice.
    {.name = "unit_bandwidth", .unit = "bytes_per_cycle|bytes_per_second", .role = Role::remark},
    {.name = "capacity", .unit = "bytes", .better = Better::more},
    {.name = "beyond", .unit = "bytes_per_second", .role = Role::remark},
    {.name = "scaling", .unit = "share", .better = Better::more, .is_ratio = true},
    {.name = "limit"},
    // `share_of_peak` follows from `bandwidth`: comparing both would count a change twice.
    {.name = "share_of_peak", .unit = "share", .role = Role::remark, .is_ratio = true},
    {.name = "bytes_in_flight", .unit = "bytes", .role = Role::remark},
    {.name = "latency_end", .unit = "bytes", .role = Role::remark},
    // Comparisons of the bandwidths and of the peaks include every change of a ridge point.
    {.name = "ridge", .unit = "flops_per_byte", .role = Role::remark},
    {.name = "double_ridge", .unit = "flops_per_byte", .role = Role::remark},
    {.name = "half_ridge", .unit = "flops_per_byte", .role = Role::remark},
};

constexpr SharedQuantity quantities[]{
    {Quantity::bandwidth, "global", "bandwidth", read_series},
    {Quantity::capacity, "global", "capacity", read_series},
    {Quantity::implied_bytes_in_flight, "global", "bytes_in_flight", read_series},
    {Quantity::latency_end, "global", "latency_end", read_series},
    {Quantity::bandwidth_beyond, "global", "beyond", read_series},
    {Quantity::ridge, "float", "ridge", read_series},
    {Quantity::ridge, "double", "double_ridge", read_series},
    {Quantity::ridge, "half", "half_ridge", read_series},
    {Quantity::bandwidth, "local", "bandwidth", local_series},
    {Quantity::implied_bytes_in_flight, "local", "bytes_in_flight", local_series},
    {Quantity::bandwidth, "image", "bandwidth", image_series},
    {Quantity::capacity, "image", "capacity", image_series},
    {Quantity::implied_bytes_in_flight, "image", "bytes_in_flight", image_series},
    {Quantity::latency_end, "image", "latency_end", image_series},
};

constexpr PlotSpec plots[]{
    {roofline_title,
     "bandwidths measured by `bandwidth`, and arithmetic peaks measured by `compute`"}};

constexpr DescribedNumber described[]{
    {"read_bandwidth", "bandwidth", read_series, DescribedAs::of_level},
    {"write_bandwidth", "bandwidth", "write", DescribedAs::of_level},
    {"copy_bandwidth", "bandwidth", "copy", DescribedAs::of_level},
    {"local.bandwidth", "bandwidth", local_series},
};

// A launch averages over many accesses, so few launches suffice if they agree.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(2),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2},
                          // With this limit a run on two CPU cores takes 6 s.
                          .normal = {.probe_time = std::chrono::milliseconds(3900),
                                     .relative_interval = 0.02,
                                     .max_visits = 4,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

/// Returns the number of buffers: one if a series reads or copies, and one more if a series writes.
std::uint64_t count_buffers(const Request& request) {
  bool reads = false;
  bool is_any_writing = false;
  for (const SeriesSpec& each : all_series) {
    if (!wants(request, each.name)) continue;
    reads |= !writes(each.operation) || each.operation == Operation::copy;
    is_any_writing |= writes(each.operation);
  }
  return (reads ? 1U : 0U) + (is_any_writing ? 1U : 0U);
}

/// Returns the size of the largest working set. Unless memory or time limits this size, the last
/// cache holds only a small part of the working set.
Bytes largest_set(const DeviceInfo& device, const Request& request) {
  constexpr std::uint64_t caches = 8;
  const bool is_cpu = runs_items_in_turn(device);
  const Bytes cache = std::max(request.known.last_cache, reported_cache(device));
  // On a GPU the minimum is large: the last cache keeps part of a working set in any order of the
  // walk.
  const bool is_large = device.global_memory >= gibibytes(16);
  const Bytes least = is_cpu ? mebibytes(64) : is_large ? gibibytes(1) : mebibytes(256);
  const bool is_requested = !request.own.sizes("sizes").empty();
  const Bytes size = std::max(least, cache * caches);
  Bytes most = device.global_memory.count == 0 ? size : device.global_memory / 4;
  if (request.max_memory.count != 0) {
    // 1/8 of the memory limit remains for results and the starts of walks.
    most = request.max_memory - request.max_memory / 8;
  }
  most = most / std::max<std::uint64_t>(1, count_buffers(request));
  if (device.max_allocation.count != 0) most = std::min(most, device.max_allocation);
  // Only the available memory limits requested sizes.
  if (is_requested) return most;
  // A quick run has no time to fill larger buffers.
  if (request.effort == Effort::quick) most = std::min(most, mebibytes(is_cpu ? 128 : 512));
  return std::min(size, most);
}

double ratio_of(const SeriesSpec& series, const DeviceInfo& device, Effort effort) {
  const bool is_main = series.name == read_series;
  // At each level, the writes of one unit are compared with those of all units. Few sizes suffice,
  // at least one per level.
  if (series.is_one_unit && writes(series.operation)) {
    if (effort == Effort::quick) return 32.0;
    return effort == Effort::thorough ? 2.0 : 8.0;
  }
  // Simulated times have no scatter, and the host takes long to simulate them: few sizes suffice.
  if (is_simulated(device)) return is_main ? std::sqrt(2.0) : 2.0;
  if (effort == Effort::thorough) return is_main ? std::pow(2.0, 0.125) : std::sqrt(std::sqrt(2.0));
  if (effort == Effort::quick) return is_main ? std::sqrt(2.0) : 4.0;
  if (is_main) return std::sqrt(std::sqrt(2.0));
  if (series.operation == Operation::read) return std::sqrt(2.0);
  return series.operation == Operation::image && runs_items_in_turn(device) ? 4.0 : 2.0;
}

/// Returns the size of the only working set in local memory: half of local memory, which every
/// work-group can have.
std::vector<Bytes> local_sets(const DeviceInfo& device) { return {device.local_memory / 2}; }

/// Returns the size of the largest image. On a CPU the image has at most 4 MiB. There the driver
/// computes the address of each texel, which takes longer than accesses to caches.
Bytes largest_image(const DeviceInfo& device) {
  const Bytes most = Bytes{texel_bytes} * static_cast<std::uint64_t>(device.image_buffer_pixels);
  return runs_items_in_turn(device) ? std::min(most, mebibytes(4)) : most;
}

Bytes largest_set_of(const SeriesSpec& series, const DeviceInfo& device, const Request& request) {
  Bytes largest = largest_set(device, request);
  // The buffer contains one region per compute unit.
  if (series.sharing == Sharing::unit) {
    largest = largest / units_of(device);
  }
  // One compute unit of a GPU is slow: on an H200 one compute unit takes 22 ms to update 1 GiB.
  if (series.is_one_unit && !runs_items_in_turn(device)) {
    largest = largest / (writes(series.operation) ? 4 : 2);
  }
  if (series.operation == Operation::image) largest = std::min(largest, largest_image(device));
  return largest;
}

/// Returns true if all units of a GPU write in the series, and the size is at least a quarter of
/// `largest`. This range of memory gets twice as many sizes. With three sizes, a factor of 2 apart,
/// three of ten runs of an H100 found no level of memory.
bool is_memory(const SeriesSpec& series, const DeviceInfo& device, double size, Bytes largest) {
  constexpr double part = 0.25;
  const bool is_of_all = series.sharing == Sharing::walk && !series.is_one_unit;
  return is_of_all && !runs_items_in_turn(device) &&
         size >= part * static_cast<double>(largest.count);
}

std::vector<Bytes> sets_of(const SeriesSpec& series, const DeviceInfo& device,
                           const Request& request) {
  if (!missing_in(series, device).empty()) return {};
  if (series.operation == Operation::local) return local_sets(device);
  const Bytes largest = largest_set_of(series, device, request);
  std::vector<SizeRange> ranges = request.own.sizes("sizes");
  if (ranges.empty()) ranges.push_back({smallest_set(series, device), largest, 0.0});
  const double ratio = ratio_of(series, device, request.effort);
  return expand_ranges(ranges, largest, [&](double size) {
    return is_memory(series, device, size, largest) ? std::sqrt(ratio) : ratio;
  });
}

/// Returns a reference point with its own buffer. In the plan all working sets share one buffer.
PointAlone alone(const Point& planned) {
  Point point = planned;
  auto shape = shape_of<Shape>(point);
  shape.buffer_bytes = shape.touched_bytes();
  write_shape(shape, point);
  return {std::move(point), Bytes{shape.buffer_bytes}};
}

/// Returns two points of `read` as references; none for fewer than 8 points. The smallest working
/// set shows disturbances of cores; the other working set is in memory. A CPU gets a third, in
/// private caches, since other processes disturb a CPU's memory most. A CPU's references stay
/// prepared until the end of the run. The CPU's working set in memory is therefore as small as
/// possible.
std::vector<PlannedReference> choose_references(const DeviceInfo& device,
                                                std::span<const Point> points) {
  constexpr Bytes in_own_cache = kibibytes(256);
  const bool is_cpu = device.type == DeviceType::cpu;
  const auto is_read = [](const Point& point) { return point.series == read_series; };
  const auto first = std::find_if(points.begin(), points.end(), is_read);
  const auto end = std::find_if_not(first, points.end(), is_read);
  if (end - first < std::ptrdiff_t{min_followed_sizes}) return {};
  const auto reference = [&](ReferenceKind kind, auto point) {
    PlannedReference planned{kind, static_cast<std::size_t>(point - points.begin())};
    if (is_cpu) planned.alone = alone(*point);
    return planned;
  };
  std::vector<PlannedReference> references{reference(ReferenceKind::core, first)};
  const auto from = [&](Bytes size) {
    return std::find_if(first + 1, end - 1, [&](const Point& each) {
      return shape_of<Shape>(each).working_set_bytes >= size.count;
    });
  };
  const auto own = from(in_own_cache);
  if (is_cpu && own < end - 1) references.push_back(reference(ReferenceKind::cache, own));
  references.push_back(
      reference(ReferenceKind::memory, is_cpu ? from(beyond_caches(device)) : end - 1));
  return references;
}

/// Returns true if the point runs on a core that is chosen for being quiet: on a CPU, for series
/// of one unit. A GPU itself chooses the compute unit.
bool is_on_quiet_core(const DeviceInfo& device, std::string_view series) {
  return runs_items_in_turn(device) && series_named(series)->is_one_unit;
}

/// Sorts the points of a quick run by importance: three sizes that all units read, the largest
/// copies and writes, other sizes that all units read, other copies and writes, the rest. The sizes
/// of a series halve the gaps between earlier sizes, so that the second size is the largest.
void order_by_weight(Plan& plan) {
  constexpr std::size_t first_sizes = 3;
  std::vector<std::pair<int, Point>> ranked;
  std::map<std::string, std::size_t> sizes;
  for (Point& point : plan.points) {
    const std::size_t size = sizes[point.series]++;
    int rank = 4;
    if (point.series == read_series) rank = size < first_sizes ? 0 : 2;
    if (point.series == "copy" || point.series == "write") rank = size == 1 ? 1 : 3;
    ranked.emplace_back(rank, std::move(point));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < ranked.size(); ++i) plan.points[i] = std::move(ranked[i].second);
  plan.is_ordered = true;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  // Requested sizes are equally important, so a quick run does not order them.
  const bool is_first_look = request.effort == Effort::quick &&
                             request.own.sizes("sizes").empty() && !is_simulated(device);
  std::uint64_t buffer = 0;
  std::vector<std::pair<std::string_view, Shape>> shapes;
  for (const SeriesSpec& series : all_series) {
    if (!wants(request, series.name)) continue;
    std::vector<std::uint64_t> known;
    const std::vector<Bytes> sets = sets_of(series, device, request);
    for (const Bytes set : is_first_look ? halving_gaps(sets) : sets) {
      const auto shape = shape_for(series, device, set);
      if (!shape) continue;
      if (std::find(known.begin(), known.end(), shape->working_set_bytes) != known.end()) continue;
      known.push_back(shape->working_set_bytes);
      buffer = std::max(buffer, shape->touched_bytes());
      shapes.emplace_back(series.name, *shape);
    }
    if (!known.empty()) continue;
    const std::string reason = missing_in(series, device);
    // A series that cannot be measured is reported if it was requested by name. Series of local
    // memory and images are always reported.
    const bool is_memory =
        series.operation == Operation::local || series.operation == Operation::image;
    if (!reason.empty() && request.series.empty() && !is_memory) continue;
    result.findings.push_back(not_measured(
        "bandwidth", series.name,
        reason.empty() ? "none of the working sets can be divided among the compute units"
                       : reason));
  }
  for (auto& [series, shape] : shapes) {
    shape.buffer_bytes = buffer;
    Point point;
    point.series = series;
    write_shape(shape, point);
    if (is_on_quiet_core(device, series)) point.facts.set(of_one_unit, std::int64_t{1});
    result.points.push_back(std::move(point));
  }
  if (!shapes.empty()) result.memory = Bytes{buffer} * count_buffers(request);
  if (is_first_look) order_by_weight(result);
  if (request.effort != Effort::quick) result.references = choose_references(device, result.points);
  return result;
}

/// Returns points of `read` at sizes around the ends of levels, for normal effort without --sizes.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  constexpr double knee_ratio = 1.1;
  std::vector<Point> more;
  if (!request.own.sizes("sizes").empty() || request.effort != Effort::normal) return more;
  const SeriesSpec* const series = series_named(read_series);
  std::uint64_t buffer = 0;
  std::vector<std::uint64_t> known;
  for (const Point& point : points) {
    const auto shape = shape_of<Shape>(point);
    buffer = std::max(buffer, shape.buffer_bytes);
    if (point.series == read_series) known.push_back(shape.working_set_bytes);
  }
  const std::vector<CurvePoint> curve = latency_curve(points, read_series, device);
  for (const double size : sizes_around_knees(curve, knee_ratio)) {
    auto shape = shape_for(*series, device, {static_cast<std::uint64_t>(size)});
    if (!shape || shape->touched_bytes() > buffer) continue;
    if (std::find(known.begin(), known.end(), shape->working_set_bytes) != known.end()) continue;
    known.push_back(shape->working_set_bytes);
    shape->buffer_bytes = buffer;
    Point point;
    point.series = read_series;
    write_shape(*shape, point);
    more.push_back(std::move(point));
  }
  return more;
}

/// Returns the size of the largest working set of the requested series.
Bytes largest_requested(const DeviceInfo& device, const Request& request) {
  Bytes largest;
  for (const SeriesSpec& series : all_series) {
    // The working set in local memory does not depend on the request.
    const bool is_sized =
        series.operation != Operation::local && missing_in(series, device).empty();
    if (!is_sized || !wants(request, series.name)) continue;
    largest = std::max(largest, largest_set_of(series, device, request));
  }
  return largest;
}

std::string check(const DeviceInfo& device, const Request& request) {
  const bool is_any = std::any_of(all_series.begin(), all_series.end(), [&](const auto& series) {
    if (!wants(request, series.name)) return false;
    const std::vector<Bytes> sets = sets_of(series, device, request);
    return std::any_of(sets.begin(), sets.end(),
                       [&](Bytes set) { return shape_for(series, device, set).has_value(); });
  });
  if (request.own.sizes("sizes").empty()) return {};
  if (is_any) return beyond_room(request, largest_requested(device, request));
  return fmt::format(
      "--sizes: none of these sizes can be divided among the compute units; choose sizes between "
      "{} and {}",
      format_bytes(smallest_set(*series_named(read_series), device)),
      format_bytes(largest_set(device, request)));
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "bandwidth",
    .title = "Bandwidth by working set",
    .question = "How much bandwidth does each level deliver to one compute unit and to all?",
    .unit = Unit::bytes_per_second,
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "working_set_bytes", .value_title = "bandwidth"},
    .plots = plots,
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .refine = refine,
    .open = open,
    .trace = CLPROBE_TRACE(trace),
    .builds = builds,
    .find_problem = find_problem<Shape>,
    .analyse = analyse,
    .combine = combine,
    .card = card,
    .quantities = quantities,
    .described = described,
};

}  // namespace clprobe::bandwidth
