// SPDX-License-Identifier: Apache-2.0
// How many loads a compute unit can have outstanding. Method: docs/inflight.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/inflight/findings.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/asked_numbers.hpp"
#include "probes/shared/limits.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::inflight {

extern const Probe probe;

namespace {

constexpr std::array usual_loads{1, 2, 3, 4, 8};
constexpr std::array usual_targets{"cache", "memory"};
// Where a spike is seen, what tells a pool of requests from a table of instructions.
constexpr std::array telling_mergers{2, 4, 8};
constexpr std::array telling_loads{1, 2};
constexpr int list_merger = 16;
constexpr std::array list_loads{2, 3, 4};
// More than the nearest caches hold, so that a launch does not find what the one before left.
constexpr Bytes usual_cache = mebibytes(4);
constexpr Bytes least_cache = kibibytes(256);
// On a processor what stays near one core, wherever the launches before have run.
constexpr Bytes usual_cache_of_processor = kibibytes(512);
constexpr Bytes usual_memory = mebibytes(256);
constexpr Bytes most_memory = mebibytes(512);

bool is_cpu(const DeviceInfo& device) { return runs_items_in_turn(device); }

std::int64_t most_items(const DeviceInfo& device) {
  return std::max<std::int64_t>(1, device.max_work_group_size);
}

std::vector<std::string> targets_of(const Limits& limits) {
  if (!limits.in_flight.targets.empty()) return limits.in_flight.targets;
  return {usual_targets.begin(), usual_targets.end()};
}

std::vector<int> chosen(const std::vector<int>& asked, const std::vector<int>& usual) {
  return asked.empty() ? usual : asked;
}

Bytes line_of_inflight(const DeviceInfo& device) {
  return std::max(Bytes{64}, Bytes{std::bit_ceil(device.cache_line.count)});
}

/// What the loads of a target go to, a power of two: as much as surely stays in the last cache, or
/// more than it holds.
Bytes buffer_of(const DeviceInfo& device, const Limits& limits, std::string_view target) {
  const Bytes said{static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, device.reported.integer_or("cache_bytes", 0)))};
  const Bytes last_cache = std::max(limits.last_cache, said);
  Bytes size = is_cpu(device) ? usual_cache_of_processor : usual_cache;
  if (target == "cache") {
    // A GPU's driver may mean a nearer cache.
    const bool is_sure = !is_gpu(device) && said.count != 0;
    if (is_sure || limits.last_cache.count != 0) size = std::min(size, last_cache / 2);
    size = std::max(size, least_cache);
  } else {
    size = std::clamp(last_cache * 4, usual_memory, most_memory);
  }
  Bytes most = std::min(device.max_allocation, Bytes{device.global_memory.count / 4});
  if (limits.max_memory.count != 0) most = std::min(most, limits.max_memory);
  return {std::bit_floor(std::max(std::min(size, most), line_of_inflight(device)).count)};
}

/// Larger groups take another build (work_group.hpp), one for each power of two, and their steps
/// are coarse beside their scatter. More loads of a work-item ask for as much: they are measured
/// where the largest effort, or --work-items, asks for them. Simulated groups are all alike.
std::int64_t usual_items(const DeviceInfo& device, const Limits& limits) {
  const bool is_all = is_simulated(device) || limits.effort == Effort::thorough;
  if (is_all) return most_items(device);
  return std::min(most_items(device), static_cast<std::int64_t>(usual_group));
}

/// Every second number of work-items of the first two sub-groups, where caches and barriers have
/// their steps; then fewer, until a jump is seen.
std::vector<int> work_items_of(const DeviceInfo& device, const Limits& limits) {
  if (!limits.in_flight.work_items.empty()) return limits.in_flight.work_items;
  const auto most = static_cast<int>(usual_items(device, limits));
  const int fine = limits.effort == Effort::quick ? 4 : 2;
  const int coarse = limits.effort == Effort::thorough ? 2 : 4 * fine;
  const auto first = static_cast<int>(2 * sub_group_of(device));
  std::vector<int> items;
  for (int n = fine; n <= most; n += n < first ? fine : coarse) items.push_back(n);
  return items;
}

Point point_of(const DeviceInfo& device, const Limits& limits, const std::string& target) {
  Point point;
  point.parameters = {{"target", target},
                      {"line_bytes", static_cast<std::int64_t>(line_of_inflight(device).count)},
                      {"sub_group", sub_group_of(device)}};
  point.facts = {
      {"buffer_bytes", static_cast<std::int64_t>(buffer_of(device, limits, target).count)}};
  return point;
}

Point block_of(const DeviceInfo& device, const Limits& limits, const LoadPattern& pattern,
               int work_items) {
  Point point = point_of(device, limits, pattern.target);
  const std::string mode(pattern.mode == MergerMode::across ? "across" : "within");
  point.series = fmt::format("{}-x{}", pattern.target, pattern.loads);
  if (pattern.merger > 1) point.series += fmt::format("-{}-{}", mode, pattern.merger);
  if (pattern.loads == 0) point.series = overhead_series;
  point.parameters.set("loads", std::int64_t{pattern.loads});
  point.parameters.set("merger", std::int64_t{pattern.merger});
  point.parameters.set("merger_mode", mode);
  point.parameters.set("work_items", std::int64_t{work_items});
  return point;
}

/// All of it must fit twice: a round that is not timed comes before.
bool fits(const Point& point) {
  const InflightShape shape = InflightShape::of(point);
  return shape.lines_per_round() * 2 <= shape.lines;
}

void add_curve(const DeviceInfo& device, const Limits& limits, const LoadPattern& pattern,
               const std::vector<int>& work_items, std::vector<Point>& points) {
  for (const int items : work_items) {
    Point point = block_of(device, limits, pattern, items);
    if (fits(point)) points.push_back(std::move(point));
  }
}

std::vector<LoadPattern> patterns_of(const std::string& target, const std::vector<int>& all_loads,
                                     const std::vector<int>& mergers) {
  std::vector<LoadPattern> patterns;
  for (const int loads : all_loads) {
    for (const int merger : mergers) {
      patterns.push_back({loads, merger, MergerMode::within, target});
      if (merger > 1) patterns.push_back({loads, merger, MergerMode::across, target});
    }
  }
  return patterns;
}

void add_blocks(const DeviceInfo& device, const Limits& limits, Plan& plan) {
  const std::vector<int> items = work_items_of(device, limits);
  std::set<int> few{items.front(), items[items.size() / 2], items.back()};
  add_curve(device, limits, {0, 1, MergerMode::within, targets_of(limits).front()},
            {few.begin(), few.end()}, plan.points);
  const std::vector<int> loads =
      chosen(limits.in_flight.loads, {usual_loads.begin(), usual_loads.end()});
  for (const std::string& target : targets_of(limits)) {
    for (const LoadPattern& each :
         patterns_of(target, loads, chosen(limits.in_flight.mergers, {1}))) {
      add_curve(device, limits, each, items, plan.points);
    }
  }
}

/// Chases side by side: first of more work-items, then more of each. A processor runs work-items
/// one after another, so that there they are all of one.
void add_chains(const DeviceInfo& device, const Limits& limits, Plan& plan) {
  // A build each, of which a processor's driver makes two a second.
  constexpr std::array of_processor{1, 2, 4, 8, 12, 16, 24, 32};
  struct Shape {
    int items;
    int chains;
  };
  std::vector<Shape> shapes;
  if (is_cpu(device)) {
    for (const int chains : of_processor) shapes.push_back({1, chains});
  } else {
    const auto most = static_cast<int>(most_items(device));
    for (int items = 1; items <= most; items *= 2) shapes.push_back({items, 1});
    for (const int chains : {2, 4, 8}) shapes.push_back({most, chains});
  }
  for (const std::string& target : targets_of(limits)) {
    for (const Shape& shape : shapes) {
      Point point = point_of(device, limits, target);
      const std::int64_t asked = std::int64_t{shape.items} * shape.chains;
      // Each chain needs a few lines of its own.
      constexpr std::int64_t least_hops = 2;
      const std::int64_t lines =
          point.facts.integer("buffer_bytes") / point.parameters.integer("line_bytes");
      if (asked * least_hops > lines) continue;
      point.series = target + "-chains";
      point.parameters.set("group_items", std::int64_t{shape.items});
      point.parameters.set("chains", std::int64_t{shape.chains});
      point.parameters.set("asked", asked);
      plan.points.push_back(std::move(point));
    }
  }
}

Finding not_measured(const char* name, const char* series, std::string reason) {
  Finding finding;
  finding.name = name;
  finding.series = series;
  finding.method = "plan";
  finding.reason = std::move(reason);
  return finding;
}

/// Whether --series asks for it, or for nothing.
bool is_wanted(const Limits& limits, std::string_view word) {
  const std::vector<std::string>& words = limits.series;
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

bool is_narrowed(const InflightLimits& asked) {
  return !asked.work_items.empty() || !asked.loads.empty() || !asked.mergers.empty();
}

void plan_blocks(const DeviceInfo& device, const Limits& limits, Plan& result) {
  // What was asked for is timed all the same: the kernel proves itself.
  const bool is_asked = is_narrowed(limits.in_flight);
  if (is_asked) add_blocks(device, limits, result);
  if (is_cpu(device)) {
    result.findings.push_back(not_measured(
        "limit", unit_series,
        "a processor runs the work-items of a group one after another; its loads in flight are "
        "those of chains side by side"));
  } else if (device.timer != Timer::clock) {
    result.findings.push_back(not_measured(
        "limit", unit_series, "the time of one work-group needs a clock in the kernel"));
  } else if (!is_asked) {
    add_blocks(device, limits, result);
  }
}

/// Two buffers of the size: what is chased through and what is streamed.
void plan_loaded(const DeviceInfo& device, const Limits& limits, Plan& result) {
  const auto targets = targets_of(limits);
  const bool is_here = std::find(targets.begin(), targets.end(), "memory") != targets.end();
  if (!is_here || is_narrowed(limits.in_flight)) return;
  std::string reason;
  if (is_simulated(device)) {
    reason = "a simulated machine is a single compute unit";
  } else if (device.timer != Timer::clock) {
    reason = "a chase beside other work-groups needs a clock in the kernel";
  } else {
    Limits half = limits;
    half.max_memory = limits.max_memory / 2;
    std::vector<Point> points = loaded_points(device, point_of(device, half, "memory"));
    if (points.empty()) reason = "there is too little memory to stream through";
    std::move(points.begin(), points.end(), std::back_inserter(result.points));
  }
  if (reason.empty()) return;
  result.findings.push_back(not_measured("memory_parallelism", device_series, std::move(reason)));
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan result;
  if (is_wanted(limits, "thread-latency")) plan_blocks(device, limits, result);
  if (is_wanted(limits, "chains")) add_chains(device, limits, result);
  if (is_wanted(limits, "loaded")) plan_loaded(device, limits, result);
  return result;
}

/// Around each jump every second number of work-items; and, where the jumps without mergers may be
/// those of a limit, what mergers say.
std::vector<Point> refine(const DeviceInfo& device, const Limits& limits,
                          std::span<const Point> points) {
  std::vector<Point> more;
  if (limits.effort == Effort::quick || !limits.in_flight.work_items.empty()) return more;
  more = refine_loaded(device, points);
  std::vector<std::string> series;
  const auto curves = thread_latency_curves(points, series);
  const auto found = find_spikes(curves, static_cast<int>(sub_group_of(device)));
  std::map<std::string, std::vector<CurveFinding>> of_target;
  for (std::size_t i = 0; i < found.size(); ++i) {
    of_target[found[i].pattern.target].push_back(found[i]);
    if (!found[i].spike) continue;
    constexpr int around = 16;
    std::set<int> known;
    for (const ThreadLatencyPoint& each : curves[i].points) known.insert(each.work_items);
    std::vector<int> items;
    for (const Gap& gap : found[i].spike->possible) {
      for (int n = std::max(2, gap.before - around); n <= gap.after + around; n += 2) {
        if (n <= usual_items(device, limits) && known.insert(n).second) items.push_back(n);
      }
    }
    add_curve(device, limits, found[i].pattern, items, more);
  }
  if (!limits.in_flight.mergers.empty() || !limits.in_flight.loads.empty()) return more;
  for (const auto& [target, each] : of_target) {
    // Jumps that are no limit's need no telling of its kind.
    const OutstandingLimit limit = infer_limit(each, static_cast<int>(sub_group_of(device)));
    if (limit.kind == OutstandingKind::unobservable) continue;
    // More sub-groups than any list of an entry takes: where lists are full, it jumps as well.
    for (const int loads : list_loads) {
      add_curve(device, limits, {loads, list_merger, MergerMode::across, target},
                work_items_of(device, limits), more);
    }
    const std::vector<int> loads_that_tell(telling_loads.begin(), telling_loads.end());
    const std::vector<int> mergers_that_tell(telling_mergers.begin(), telling_mergers.end());
    for (const LoadPattern& pattern : patterns_of(target, loads_that_tell, mergers_that_tell)) {
      add_curve(device, limits, pattern, work_items_of(device, limits), more);
    }
  }
  return more;
}

std::string check(const DeviceInfo& device, const Limits& limits) {
  const InflightLimits& asked = limits.in_flight;
  const std::int64_t most = most_items(device);
  if (const auto n = find_beyond(asked.work_items, most)) {
    return fmt::format("--work-items: {} are more than a work-group of it has: choose 1 to {}", *n,
                       most);
  }
  if (const auto m = find_beyond(asked.mergers, most)) {
    return fmt::format("--mergers: {} are more than the work-items of a group: choose 1 to {}", *m,
                       most);
  }
  return {};
}

// Thousands of short points: two visits of each are enough where they agree. A GPU needs less time
// than is given, a processor's builds do not.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::seconds(8), .max_visits = 2},
    .thorough = {
        .probe_time = std::chrono::seconds(60), .relative_interval = 0.003, .max_visits = 6}};

}  // namespace

namespace {

constexpr std::array<std::string_view, 3> target_words{"cache", "memory", "host"};
constexpr Option options[]{
    {.name = "work-items",
     .value_name = "LIST",
     .summary = "work-items of the group: 2-64 or 32,64,128",
     .details = "How many work-items the one work-group has: numbers and ranges, at most 256 of "
                "them. Without it, every second up to two sub-groups, every eighth up to what "
                "a group takes, and every second around jumps.",
     .value = Numbers{1, 65536}},
    {.name = "loads",
     .value_name = "LIST",
     .summary = "independent loads of a work-item: 1-4 or 1,2,8",
     .details = "How many loads each work-item makes that do not wait for each other: numbers "
                "and ranges from 1 to 16. Without it, 1, 2, 3, 4 and 8.",
     .value = Numbers{1, 16}},
    {.name = "mergers",
     .value_name = "LIST",
     .summary = "work-items, and sub-groups, that share a line: 1,2,4",
     .details = "How many neighbouring work-items share a line, and, in curves of their own, "
                "the same lanes of how many neighbouring sub-groups: numbers and ranges. "
                "Without it, 1, and 2, 4 and 8 where that shows a limit.",
     .value = Numbers{1, 65536}},
    {.name = "target",
     .value_name = "LIST",
     .summary = "what answers the loads",
     .details = "What answers the loads, as a comma list: the last `cache`, `memory`, or, where "
                "a device reads it without a copy, memory of the `host`. The first two by "
                "default.",
     .value = Choices{target_words}},
};
constexpr FindingSpec all_findings[]{
    {.name = "limit"},
    {.name = "bound_by"},
    {.name = "requests_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "in_flight_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "bytes_in_flight_at_least", .unit = "bytes", .role = Role::lower_bound},
    {.name = "memory_parallelism_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "mergers_at_least", .unit = "count", .role = Role::lower_bound},
    {.name = "advice", .role = Role::advice},
};
constexpr Series all_series[]{{.name = "thread-latency"}, {.name = "chains"}, {.name = "loaded"}};

}  // namespace

const Probe probe{
    .id = "inflight",
    .title = "Loads in flight",
    .question = "How many loads can a compute unit have outstanding?",
    .options = options,
    .series = all_series,
    .findings = all_findings,
    .view = {.kind = ViewKind::curve, .x = "work_items", .value_title = "time of a round"},
    .budgets = budgets,
    .check = [](const DeviceInfo& device,
                const Request& request) { return check(device, limits_of(request)); },
    .plan = [](const DeviceInfo& device,
               const Request& request) { return plan(device, limits_of(request)); },
    .refine =
        [](const DeviceInfo& device, const Request& request, std::span<const Point> points) {
          return refine(device, limits_of(request), points);
        },
    .open = [](Session& session) -> Preparer {
      return [&session](const Point& point) { return prepare_inflight(session, point); };
    },
    .trace = trace_inflight,
    .variants = inflight_variants,
    .analyse = inflight_findings,
};

}  // namespace clprobe::inflight
