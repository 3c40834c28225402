// SPDX-License-Identifier: Apache-2.0
// Loads that a compute unit can have outstanding: plan and card. Method: docs/inflight.md.
#include "probes/inflight/inflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/point_facts.hpp"
#include "clprobe/probe.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::inflight {
namespace {

/// Returns the finding of the capacity, in requests or, for a table, in load instructions. Returns
/// null if there is none.
const Finding* find_limit(const ProbeResult& result) {
  const Finding* const requests = find_value(result.findings, "requests", unit_series);
  return requests != nullptr ? requests : find_value(result.findings, "instructions", unit_series);
}

std::string limit_text(const ProbeResult& result) {
  if (const Finding* const capacity = find_limit(result)) {
    std::string text = fmt::format("{:.0f} {} per compute unit", *capacity->value,
                                   capacity->name == "requests" ? "requests" : "load instructions");
    const Finding* const limit = find_finding(result.findings, "limit", unit_series);
    if (limit != nullptr && !limit->label.empty()) text += fmt::format(" ({})", limit->label);
    return text;
  }
  // The largest of the lower bounds is the tightest.
  double most = 0.0;
  for (const std::string_view name : {"requests_at_least", "in_flight_at_least"}) {
    const Finding* const bound = find_value(result.findings, name, unit_series);
    if (bound != nullptr) most = std::max(most, *bound->value);
  }
  if (!(most > 0.0)) return {};
  return fmt::format("at least {:.0f} loads per compute unit", std::floor(most));
}

/// Describes the bytes in flight of all compute units under streams.
std::string device_text(const ProbeResult& result) {
  const Finding* const bytes = find_value(result.findings, "bytes_in_flight", device_series);
  if (bytes != nullptr) return fmt::format("{} (streams)", size_text(*bytes->value));
  const Finding* const bound =
      find_value(result.findings, "bytes_in_flight_at_least", device_series);
  if (bound == nullptr) return {};
  return fmt::format("at least {} (streams)", size_text(*bound->value));
}

std::string loaded_text(const ProbeResult& result) {
  const Finding* const idle = find_value(result.findings, "latency", loaded_series);
  const Finding* const most = find_value(result.findings, "max_loaded_latency", loaded_series);
  if (idle == nullptr || most == nullptr) return {};
  return fmt::format("{} idle, up to {} under load", format_seconds(*idle->value),
                     format_seconds(*most->value));
}

std::string chains_text(const ProbeResult& result) {
  std::string text;
  for (const std::string_view series : {"cache-chains", "memory-chains"}) {
    const Finding* const time = find_value(result.findings, "latency", series);
    if (time == nullptr) continue;
    std::string one = fmt::format("{}: {} per load", series.substr(0, series.find('-')),
                                  format_seconds(*time->value));
    if (const Finding* const many = find_value(result.findings, "in_flight", series)) {
      one += fmt::format(", {:.0f} in flight", *many->value);
    }
    append(text, "; ", one);
  }
  return text;
}

/// Returns the line size of the streams in bytes. Returns 0 if no point has streams.
double streamed_line(const ProbeResult& result) {
  for (const Point& point : result.points) {
    if (point.series != loaded_traffic_series) continue;
    return static_cast<double>(point.parameters.integer_or("line_bytes", 0));
  }
  return 0.0;
}

std::vector<CardPlot> plots_of(const ProbeResult& result) {
  std::vector<CardPlot> plots;
  if (const double line = streamed_line(result); line > 0.0) {
    plots.push_back({.title = "Latency under streaming load",
                     .series = {std::string(loaded_latency_series)},
                     .by = "delay",
                     .across_title = "bandwidth of the streams",
                     .across = std::string(loaded_traffic_series),
                     .across_bytes = line});
  }
  plots.push_back({.title = "Concurrent chains",
                   .series = {"cache-chains", "memory-chains"},
                   .by = "asked",
                   .across_title = "requested loads in flight"});
  return plots;
}

constexpr std::array<std::string_view, 3> target_words{"cache", "memory", "host"};
constexpr Option options[]{
    {.name = "work-items",
     .value_name = "LIST",
     .summary = "work-items per work-group, such as 2-64 or 32,64,128",
     .details =
         "Number of work-items in the single work-group of a launch: numbers and ranges, at "
         "most 256 numbers in all. Default: steps of 2 up to two sub-groups and near jumps of "
         "the curve, otherwise steps of 8 up to the largest work-group. Beyond 256 "
         "work-items, real devices use steps of four sub-groups.",
     .value = Numbers{1, 65536}},
    {.name = "loads",
     .value_name = "LIST",
     .summary = "independent loads per work-item, such as 1-4 or 1,2,8",
     .details = "Number of independent loads per work-item: numbers and ranges from 1 to 16. "
                "Default: 1, 2, 3, 4 and 8.",
     .value = Numbers{1, 16}},
    {.name = "mergers",
     .value_name = "LIST",
     .summary = "number of work-items, or sub-groups, that share a cache line, such as 1,2,4",
     .details =
         "Number of neighbouring work-items that share a cache line: numbers and ranges. In "
         "separate curves, the corresponding lanes of this number of neighbouring sub-groups share "
         "a line. Default: 1; also 2, 4 and 8 where jumps may indicate a limit.",
     .value = Numbers{1, 65536}},
    {.name = "target",
     .value_name = "LIST",
     .summary = "memories that serve the loads",
     .details = "Comma-separated list of the memories that serve the loads: the last-level "
                "`cache`, the device's `memory`, or `host` memory that the device reads without a "
                "copy. Default: cache and memory.",
     .value = Choices{target_words}},
};
constexpr Series series[]{
    {.name = "thread-latency", .summary = "independent loads by the work-items of one work-group"},
    {.name = "chains", .summary = "concurrent pointer chases"},
    {.name = "loaded", .summary = "pointer chase under load"},
    {.name = "sub-groups",
     .summary = "time of each sub-group, measured only with --series sub-groups"}};

constexpr FindingSpec finding_specs[]{
    {.name = "limit", .role = Role::headline},
    {.name = "requests", .unit = "count"},
    {.name = "requests_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "instructions", .unit = "count"},
    {.name = "mergers", .unit = "count"},
    {.name = "loads_per_sub_group", .unit = "count"},
    {.name = "loads_per_sub_group_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "spike", .unit = "count"},
    {.name = "cycles", .unit = "cycles", .role = Role::passing},  // depends on whether the lines
                                                                  // are in the near or far half of
                                                                  // the cache
    {.name = "cycles_per_request", .unit = "cycles"},
    {.name = "cycles_per_lane", .unit = "cycles", .role = Role::remark},
    {.name = "parallel_items", .unit = "count"},
    {.name = "barrier_of_smallest", .unit = "cycles", .role = Role::remark},
    {.name = "barrier_of_largest", .unit = "cycles", .role = Role::remark},
    {.name = "fastest_sub_group", .unit = "cycles", .role = Role::passing},
    {.name = "slowest_sub_group", .unit = "cycles", .role = Role::passing},
    {.name = "in_flight", .unit = "count", .is_ratio = true},
    {.name = "in_flight_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "bound_by"},
    {.name = "unit_share", .unit = "share", .role = Role::remark, .is_ratio = true},
    {.name = "latency", .unit = "seconds"},
    {.name = "max_loaded_latency", .unit = "seconds", .role = Role::passing},
    {.name = "knee_bandwidth", .unit = "bytes_per_second"},
    {.name = "memory_parallelism", .unit = "count", .role = Role::headline, .is_ratio = true},
    {.name = "memory_parallelism_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "bytes_in_flight", .unit = "bytes", .role = Role::remark, .is_ratio = true},
    {.name = "bytes_in_flight_at_least", .unit = "bytes", .role = Role::remark},
    {.name = "advice", .role = Role::advice},
};

constexpr DescribedNumber described[]{
    {"in_flight.unit_loads", "in_flight", unit_series},
    {"in_flight.unit_loads", "in_flight_at_least", unit_series, DescribedAs::lower_bound},
    {"in_flight.unit_bytes", "bytes_in_flight", unit_series},
    {"in_flight.unit_bytes", "bytes_in_flight_at_least", unit_series, DescribedAs::lower_bound},
    {"in_flight.device_bytes", "bytes_in_flight", device_series},
    {"in_flight.device_bytes", "bytes_in_flight_at_least", device_series, DescribedAs::lower_bound},
};

// The plan has thousands of short points. Two visits of a point suffice if they agree. In a cache
// of two halves one visit in three is slow, and further visits find the fast half. A GPU ends
// before the time limit; on a CPU the builds take longer than the limit.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::seconds(8), .max_visits = 4},
    .thorough = {
        .probe_time = std::chrono::seconds(60), .relative_interval = 0.003, .max_visits = 6}};

void append_points(std::vector<Point> more, std::vector<Point>& points) {
  points.insert(points.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

std::string why_no_curves(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) {
    return "a CPU runs the work-items of a work-group one after another; 'chains' measures a CPU's "
           "loads in flight";
  }
  if (device.timer != Timer::clock) {
    return "without an in-kernel clock, clprobe cannot time a single work-group";
  }
  return {};
}

void add_curves(const DeviceInfo& device, const Options& requested, Plan& plan) {
  std::string reason = why_no_curves(device);
  // Curves that were requested explicitly are measured even if the device cannot show a limit.
  if (reason.empty() || requested.is_narrowed()) {
    append_points(plan_curves(device, requested), plan.points);
  }
  if (reason.empty()) return;
  plan.findings.push_back(not_measured("limit", unit_series, reason));
}

/// Returns pairs of numbers: work-items, and chains per work-item. The number of work-items grows
/// first, then that of chains. A CPU runs work-items one after another, so it gets chains of a
/// single work-item.
std::vector<std::pair<std::int64_t, int>> items_and_chains(const DeviceInfo& device) {
  // Each number of chains needs a build, and a CPU's driver builds two kernels per second.
  constexpr std::array of_cpu{1, 2, 4, 8, 12, 16, 24, 32};
  std::vector<std::pair<std::int64_t, int>> all;
  if (runs_items_in_turn(device)) {
    for (const int chains : of_cpu) all.emplace_back(1, chains);
    return all;
  }
  const std::int64_t max = max_items(device);
  for (std::int64_t items = 1; items <= max; items *= 2) all.emplace_back(items, 1);
  for (const int chains : chains_of_item) all.emplace_back(max, chains);
  return all;
}

void add_chains(const DeviceInfo& device, const Options& requested, Plan& plan) {
  // A CPU's curve has only eight points, so the run has time for twice as many visits of each.
  constexpr std::int64_t visits_on_cpu = 2;
  for (const std::string& target : requested.targets) {
    Shape shape = shape_for(device, requested, target);
    shape.kind = Kind::chains;
    for (const auto& [items, chains] : items_and_chains(device)) {
      shape.work_items = static_cast<std::uint64_t>(items);
      shape.chains = static_cast<std::uint64_t>(chains);
      constexpr std::uint64_t min_hops = 2;  // minimum number of lines per chain
      if (shape.work_items * shape.chains * min_hops > shape.lines()) continue;
      Point point;
      point.series = target + "-chains";
      write_shape(shape, point);
      if (runs_items_in_turn(device) && requested.effort != Effort::quick) {
        point.facts.set(visited_often, visits_on_cpu);
      }
      plan.points.push_back(std::move(point));
    }
  }
}

void add_loaded(const DeviceInfo& device, const Options& requested, Plan& plan) {
  if (!wants_loaded(requested)) return;
  std::string reason = why_no_loaded(device);
  if (reason.empty()) {
    std::vector<Point> points = loaded_points(device, shape_for(device, requested, "memory"));
    if (points.empty()) reason = "too little memory is available for the streams";
    append_points(std::move(points), plan.points);
  }
  if (reason.empty()) return;
  plan.findings.push_back(not_measured("memory_parallelism", device_series, reason));
}

Plan plan(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  Plan result;
  if (requested.wants("thread-latency")) add_curves(device, requested, result);
  if (requested.wants("chains")) add_chains(device, requested, result);
  add_loaded(device, requested, result);
  if (requested.names("sub-groups")) {
    append_points(plan_own_times(device, requested), result.points);
  }
  result.memory = memory_for(device, result.points);
  return result;
}

std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  const Options requested(request);
  if (requested.effort == Effort::quick || !requested.work_items.empty()) return {};
  std::vector<Point> more = refine_loaded(device, points);
  append_points(refine_curves(device, requested, points), more);
  return more;
}

std::string check(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  const std::int64_t max = max_items(device);
  if (const auto n = find_beyond(requested.work_items, max)) {
    return fmt::format("--work-items: {} exceeds the device's largest work-group; choose 1 to {}",
                       *n, max);
  }
  if (const auto m = find_beyond(requested.mergers, max)) {
    return fmt::format("--mergers: {} exceeds the device's largest work-group; choose 1 to {}", *m,
                       max);
  }
  return {};
}

std::optional<PointProblem> find_problem_of(const Point& point) {
  if (is_loaded(point)) return find_problem<LoadedShape>(point);
  if (is_own_time(point)) return find_problem<OwnTime>(point);
  return is_chain(point) ? find_problem<Chains>(point) : find_problem<Shape>(point);
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  std::string text = limit_text(result);
  append(text, ", ", device_text(result));
  if (text.empty() && !result.findings.empty()) {
    const Finding* const why = find_finding(result.findings, "in_flight");
    const std::string reason = why == nullptr ? "" : why->reason;
    card.unseen.push_back("loads in flight" +
                          (reason.empty() ? reason : fmt::format(" ({})", reason)));
  }
  if (!text.empty()) card.lines.push_back({"in flight", std::move(text)});
  if (std::string chains = chains_text(result); !chains.empty()) {
    card.rows.push_back({"chains", std::move(chains)});
  }
  if (std::string loaded = loaded_text(result); !loaded.empty()) {
    card.rows.push_back({"loaded", std::move(loaded)});
  }
  card.plots = plots_of(result);
  for (const Finding& each : result.findings) {
    if (each.series == loaded_series) continue;
    card.titles.emplace(each.series, fmt::format("loads in flight, {}", each.series));
  }
  return card;
}

extern const Probe probe;

const Probe probe{
    .id = "inflight",
    .title = "Loads in flight",
    .question = "How many loads can a compute unit have outstanding?",
    .options = options,
    .series = series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve,
             .x = "work_items",
             .value_title = "time per pass",
             .beside = variance_fact},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .refine = refine,
    .open = open,
    .trace = CLPROBE_TRACE(trace),
    .builds = builds,
    .find_problem = find_problem_of,
    .derive = derive_facts,
    .analyse = analyse,
    .combine = combine,
    .card = card,
    .described = described,
};

}  // namespace clprobe::inflight
