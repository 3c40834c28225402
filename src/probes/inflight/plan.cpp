// SPDX-License-Identifier: Apache-2.0
// Options of the probe `inflight`, its buffers, and the planned points of Thread-Latency curves and
// of single sub-groups. Pure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "probes/inflight/inflight.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::inflight {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Size of the buffer in the last cache, larger than L1: a launch finds none of the previous
// launch's lines in L1.
constexpr Bytes usual_cache = mebibytes(4);
constexpr Bytes min_cache = kibibytes(256);
// Size that fits the private caches of one CPU core.
constexpr Bytes usual_cache_of_cpu = kibibytes(256);
constexpr Bytes usual_memory = mebibytes(256);
constexpr Bytes max_memory = mebibytes(512);
// Buffers have at least one page, since drivers allocate whole pages.
constexpr Bytes page = kibibytes(4);

/// Returns the size of the buffer in the last cache: at most half of the last cache if its size is
/// known, but at least 256 KiB.
Bytes cache_buffer(const DeviceInfo& device, Bytes known_cache) {
  const Bytes reported = reported_cache(device);
  Bytes size = runs_items_in_turn(device) ? usual_cache_of_cpu : usual_cache;
  // A CPU's driver reports the last cache; a GPU's driver may report the first cache.
  const bool is_certain = !is_gpu(device) && reported.count != 0;
  if (is_certain || known_cache.count != 0) {
    size = std::min(size, std::max(known_cache, reported) / 2);
  }
  return std::max(size, min_cache);
}

Bytes memory_buffer(const DeviceInfo& device, Bytes known_cache) {
  const Bytes last_cache = std::max(known_cache, reported_cache(device));
  return std::clamp(last_cache * 4, usual_memory, max_memory);
}

/// Returns the maximum memory for results, starts of chains and progress of streams together.
Bytes small_buffers(const DeviceInfo& device) {
  const auto items = static_cast<std::uint64_t>(max_items(device));
  const auto groups = static_cast<std::uint64_t>(stream_groups(device));
  const Bytes starts{items * max_chains * sizeof(std::uint32_t)};
  const Bytes results{std::max(1 + 3 * items, words_of_chase + 2 * groups) * sizeof(std::uint64_t)};
  return std::max(starts, page) + std::max(results, page) + page;
}

/// Returns the distance between lines in bytes, a power of two from 64 up.
Bytes line_of(const DeviceInfo& device) {
  return std::max(Bytes{64}, Bytes{std::bit_ceil(device.cache_line.count)});
}

/// Sizes of the buffers, each a power of two. All buffers of a plan together fit the allowed
/// memory.
struct Buffers {
  Bytes cache;   ///< size of the buffer in the last cache
  Bytes memory;  ///< size larger than the last cache; also for buffers of host memory and of the
                 ///< streams

  [[nodiscard]] Bytes of(std::string_view target) const {
    return target == "cache" ? cache : memory;
  }
};

Buffers choose_buffers(const DeviceInfo& device, const Options& requested) {
  const Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  Bytes cache = std::min(cache_buffer(device, requested.last_cache), most);
  Bytes memory = std::min(memory_buffer(device, requested.last_cache), most);
  const auto floor = [&](Bytes size) {
    return Bytes{std::bit_floor(std::max(size, line_of(device)).count)};
  };
  if (requested.max_memory.count == 0) return {floor(cache), floor(memory)};
  const Bytes rest = requested.max_memory - std::min(requested.max_memory, small_buffers(device));
  const bool has_streams = wants_loaded(requested) && why_no_loaded(device).empty();
  const std::uint64_t caches = requested.has_target("cache") ? 1 : 0;
  const std::uint64_t memories = requested.targets.size() - caches + (has_streams ? 1 : 0);
  cache = floor(std::min(cache, rest / (caches + memories)));
  if (memories > 0) memory = std::min(memory, (rest - std::min(rest, cache * caches)) / memories);
  return {cache, floor(memory)};
}

constexpr std::array usual_loads{1, 2, 3, 4, 8};
// Mergers and loads of the curves that are added after a spike. These curves distinguish a pool of
// requests from a table of instructions.
constexpr std::array kind_mergers{2, 4, 8};
constexpr std::array kind_loads{1, 2};
// Mergers and loads of curves that fill merge lists. A merge list holds fewer than 16 sub-groups
// per line, so these curves have a spike at the length of the list.
constexpr int list_merger = 16;
constexpr std::array list_loads{2, 3, 4};

/// Returns the size of the largest planned work-group. Above `usual_group`, each power of two
/// needs a separate build, for which a quick run has no time.
std::int64_t largest_items(const DeviceInfo& device, const Options& requested) {
  const bool is_brief = requested.effort == Effort::quick && !is_simulated(device);
  if (!is_brief) return max_items(device);
  return std::min(max_items(device), static_cast<std::int64_t>(usual_group));
}

/// Returns the planned numbers of work-items. At normal effort the distance is 2 in the first two
/// sub-groups, where caches and barriers make steps, and then 8. On hardware, the distance above
/// `usual_group` is four sub-groups: scatter hides finer steps, and curves with more loads request
/// the same numbers of lines with fewer work-items.
std::vector<int> work_items_of(const DeviceInfo& device, const Options& requested) {
  if (!requested.work_items.empty()) return requested.work_items;
  const auto max = static_cast<int>(largest_items(device, requested));
  const int fine = requested.effort == Effort::quick ? 4 : 2;
  const int coarse = requested.effort == Effort::thorough ? 2 : 4 * fine;
  const auto sub_group = static_cast<int>(sub_group_of(device));
  const bool is_even = is_simulated(device) || requested.effort == Effort::thorough;
  const auto step_after = [&](int n) {
    if (n < 2 * sub_group) return fine;
    return is_even || n < static_cast<int>(usual_group) ? coarse : std::max(coarse, 4 * sub_group);
  };
  std::vector<int> items;
  for (int n = fine; n <= max; n += step_after(n)) items.push_back(n);
  return items;
}

Point block_of(Shape shape, const LoadPattern& pattern, int work_items) {
  shape.pattern = pattern;
  shape.work_items = static_cast<std::uint64_t>(work_items);
  Point point;
  point.series = fmt::format("{}-x{}", pattern.target, pattern.loads);
  if (pattern.merger > 1) {
    point.series += fmt::format("-{}-{}", word_in(merger_modes, pattern.mode), pattern.merger);
  }
  if (pattern.loads == 0) point.series = overhead_series;
  write_shape(shape, point);
  return point;
}

/// Returns true if the buffer holds the lines of two rounds, an untimed round and a timed one.
bool fits(const Shape& shape) { return shape.lines_per_round() * 2 <= shape.lines(); }

void add_curve(const DeviceInfo& device, const Options& requested, const LoadPattern& pattern,
               const std::vector<int>& work_items, std::vector<Point>& points) {
  const Shape shape = shape_for(device, requested, pattern.target);
  for (const int items : work_items) {
    Point point = block_of(shape, pattern, items);
    if (fits(Shape::of(point))) points.push_back(std::move(point));
  }
}

std::vector<LoadPattern> patterns_of(const std::string& target, std::span<const int> all_loads,
                                     std::span<const int> mergers) {
  std::vector<LoadPattern> patterns;
  for (const int loads : all_loads) {
    for (const int merger : mergers) {
      patterns.push_back({loads, merger, MergerMode::within, target});
      if (merger > 1) patterns.push_back({loads, merger, MergerMode::across, target});
    }
  }
  return patterns;
}

/// Adds curves of a single sub-group with more numbers of loads. The numbers lie between a number
/// that takes one latency and a number that takes two latencies.
void add_loads_between(const DeviceInfo& device, const Options& requested,
                       const std::string& target, std::span<const CurveFinding> curves,
                       std::vector<Point>& points) {
  const SubGroupLoads limit = find_sub_group_loads(curves);
  if (!limit.open) return;
  std::vector<int> items = work_items_of(device, requested);
  std::erase_if(items, [&](int each) { return each > sub_group_of(device); });
  for (std::int64_t loads = limit.open->low + 1; loads <= limit.open->high; ++loads) {
    add_curve(device, requested, {static_cast<int>(loads), 1, MergerMode::within, target}, items,
              points);
  }
}

/// Maximum default size of work-groups whose sub-groups are timed on a CPU. All work-items of a CPU
/// take equally long, so a few show the time.
constexpr std::uint64_t max_items_of_cpu = 8;

std::vector<std::uint64_t> groups_of(const DeviceInfo& device, const Options& requested) {
  if (!requested.work_items.empty()) {
    return {requested.work_items.begin(), requested.work_items.end()};
  }
  auto most = static_cast<std::uint64_t>(max_items(device));
  if (requested.effort == Effort::quick) most = std::min(most, usual_group);
  return {runs_items_in_turn(device) ? std::min(most, max_items_of_cpu) : most};
}

void add_group(const Shape& shape, std::vector<Point>& points) {
  if (!fits(shape)) return;
  for (std::uint64_t number = 0; number < shape.sub_groups(); ++number) {
    Shape one = shape;
    one.last_item = std::min((number + 1) * shape.sub_group, shape.work_items);
    Point point;
    point.series =
        fmt::format("{}-x{}-of-{}", shape.pattern.target, shape.pattern.loads, shape.work_items);
    write_shape(one, point);
    points.push_back(std::move(point));
  }
}

}  // namespace

Options::Options(const Request& request)
    : max_memory(request.max_memory),
      effort(request.effort),
      series(request.series),
      last_cache(request.known.last_cache),
      work_items(request.own.numbers("work-items")),
      loads(request.own.numbers("loads")),
      mergers(request.own.numbers("mergers")),
      targets(request.own.words("target")) {
  if (targets.empty()) targets = {"cache", "memory"};
}

bool Options::wants(std::string_view name) const { return is_wanted(series, name); }

bool Options::names(std::string_view name) const { return contains(series, name); }

bool Options::has_target(std::string_view target) const { return contains(targets, target); }

bool Options::is_narrowed() const {
  return !work_items.empty() || !loads.empty() || !mergers.empty();
}

std::int64_t max_items(const DeviceInfo& device) {
  return std::max<std::int64_t>(1, device.max_work_group_size);
}

std::string why_no_loaded(const DeviceInfo& device) {
  if (is_simulated(device)) return "the simulator runs a single compute unit";
  if (device.timer == Timer::clock) return {};
  return "without an in-kernel clock, clprobe cannot time a chase next to other work-groups";
}

bool wants_loaded(const Options& requested) {
  return requested.wants("loaded") && requested.has_target("memory") && !requested.is_narrowed();
}

Bytes memory_for(const DeviceInfo& device, std::span<const Point> points) {
  std::map<std::string, Bytes> of_target;
  Bytes streamed{};
  for (const Point& point : points) {
    const Shape shape = is_loaded(point) ? LoadedShape::of(point).chase : Shape::of(point);
    const Bytes buffer{shape.buffer_bytes};
    Bytes& largest = of_target[shape.pattern.target];
    largest = std::max(largest, buffer);
    if (is_loaded(point)) streamed = std::max(streamed, buffer);
  }
  Bytes all = streamed;
  for (const auto& [target, buffer] : of_target) all = all + buffer;
  return points.empty() ? Bytes{} : all + small_buffers(device);
}

Shape shape_for(const DeviceInfo& device, const Options& requested, std::string_view target) {
  Shape shape;
  shape.pattern.target = target;
  shape.line_bytes = line_of(device).count;
  shape.sub_group = static_cast<std::uint64_t>(sub_group_of(device));
  shape.buffer_bytes = choose_buffers(device, requested).of(target).count;
  return shape;
}

std::vector<Point> plan_curves(const DeviceInfo& device, const Options& requested) {
  std::vector<Point> points;
  const std::vector<int> items = work_items_of(device, requested);
  const std::set<int> few{items.front(), items[items.size() / 2], items.back()};
  add_curve(device, requested, {0, 1, MergerMode::within, requested.targets.front()},
            {few.begin(), few.end()}, points);
  constexpr std::array no_mergers{1};
  const std::span<const int> loads =
      requested.loads.empty() ? std::span<const int>(usual_loads) : requested.loads;
  const std::span<const int> mergers =
      requested.mergers.empty() ? std::span<const int>(no_mergers) : requested.mergers;
  for (const std::string& target : requested.targets) {
    for (const LoadPattern& each : patterns_of(target, loads, mergers)) {
      add_curve(device, requested, each, items, points);
    }
  }
  return points;
}

std::vector<Point> refine_curves(const DeviceInfo& device, const Options& requested,
                                 std::span<const Point> points) {
  std::vector<Point> more;
  std::vector<std::string> series;
  const auto curves = thread_latency_curves(points, series);
  const auto found = find_curves(device, points, curves);
  std::map<std::string, std::vector<CurveFinding>> of_target;
  for (std::size_t i = 0; i < found.size(); ++i) {
    of_target[found[i].pattern.target].push_back(found[i]);
    if (!found[i].spike) continue;
    constexpr int around = 16;
    std::set<int> known;
    for (const ThreadLatencyPoint& each : curves[i].points) known.insert(each.work_items);
    std::vector<int> items;
    const Gap& gap = *found[i].spike;
    for (int n = std::max(2, gap.before - around); n <= gap.after + around; n += 2) {
      if (n <= largest_items(device, requested) && known.insert(n).second) items.push_back(n);
    }
    add_curve(device, requested, found[i].pattern, items, more);
  }
  if (!requested.mergers.empty() || !requested.loads.empty()) return more;
  for (const auto& [target, each] : of_target) {
    add_loads_between(device, requested, target, each, more);
    const OutstandingLimit limit = infer_limit(each, static_cast<int>(sub_group_of(device)));
    if (limit.kind == OutstandingKind::unobservable) continue;
    for (const int loads : list_loads) {
      add_curve(device, requested, {loads, list_merger, MergerMode::across, target},
                work_items_of(device, requested), more);
    }
    for (const LoadPattern& pattern : patterns_of(target, kind_loads, kind_mergers)) {
      add_curve(device, requested, pattern, work_items_of(device, requested), more);
    }
  }
  return more;
}

std::vector<Point> plan_own_times(const DeviceInfo& device, const Options& requested) {
  std::vector<Point> points;
  for (const std::string& target : requested.targets) {
    Shape shape = shape_for(device, requested, target);
    shape.kind = Kind::sub_group;
    if (runs_items_in_turn(device)) shape.sub_group = 1;
    for (const int loads : requested.loads.empty() ? std::vector<int>{1, 2, 4} : requested.loads) {
      shape.pattern.loads = loads;
      for (const std::uint64_t items : groups_of(device, requested)) {
        shape.work_items = items;
        add_group(shape, points);
      }
    }
  }
  return points;
}

}  // namespace clprobe::inflight
