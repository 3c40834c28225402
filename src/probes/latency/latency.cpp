// SPDX-License-Identifier: Apache-2.0
// Latency of dependent loads by working set and memory. Method: docs/latency.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/latency/latency.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::latency {

namespace {

constexpr auto address_words = words_of_table(address_table);

constexpr std::array order_words{random_order, fixed_order};

constexpr Option options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "working sets: a size (64KiB), a range (1KiB-1GiB), a range with a ratio "
                "(1KiB-1GiB*2), or a comma-separated list",
     .details = "Working sets: one size (`64KiB`), a range (`1KiB-1GiB`), a range with the ratio "
                "of neighbouring sizes (`1KiB-1GiB*2`), or a comma-separated list of these. K, KiB "
                "and so on are powers of 1024; kB, MB, GB and TB are powers of 1000. By default "
                "the probe chooses sizes for the device.",
     .value = Sizes{}},
    {.name = "step",
     .value_name = "SIZE",
     .summary = "distance in memory between adjacent nodes of the chase, a multiple of 8 bytes",
     .details =
         "Distance in memory between adjacent nodes of the chase, a multiple of 8 bytes. Default: "
         "the larger of 64 bytes and the cache line that the driver reports. With a step smaller "
         "than the cache line, the chase visits each line more than once, which blurs the levels.",
     .value = Size{.multiple_of = 8}},
    {.name = "unroll",
     .value_name = "N",
     .summary = "loads per iteration of a chase, 1 to 64 (default 16)",
     .details = "Loads per iteration of a pointer chase, from 1 to 64. Default: 16. With few "
                "loads, the loop's own instructions add to the time; with many, the kernel may "
                "exceed the instruction cache.",
     .value = Number{1, 64}},
    {.name = "address",
     .value_name = "FORM",
     .summary = "how loads are addressed",
     .details =
         "How loads are addressed: by the pointer that the previous load returned, by an index, or "
         "by an offset in bytes. A pointer needs the fewest instructions, but not every driver "
         "keeps pointers valid in memory; `auto` uses pointers where they are valid.",
     .value = Choice{address_words}},
    {.name = "order",
     .value_name = "ORDER",
     .summary = "order in which the chase visits addresses",
     .details = "Order of the nodes in global memory. By default the order is random, and only a "
                "few sizes are also measured in address order. With `fixed`, clprobe measures as "
                "many sizes in address order as in random order, so it also finds the levels in "
                "address order (series `global-in-order`).",
     .value = Choice{order_words}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "latency", .unit = "seconds", .role = Role::headline},
    {.name = "cycles", .unit = "cycles", .role = Role::headline},
    {.name = "capacity", .unit = "bytes", .role = Role::headline, .better = Better::more},
    {.name = "step", .role = Role::headline},
    {.name = "added", .unit = "seconds", .role = Role::remark},
    {.name = "beyond", .unit = "seconds", .role = Role::remark},
    {.name = "beside_global", .role = Role::remark},
    {.name = "in_order", .unit = "share", .role = Role::remark},
    {.name = "in_order_from", .unit = "bytes", .role = Role::remark},
    {.name = "loop_overhead", .unit = "share", .role = Role::remark},
    {.name = "host_memory"},
    {.name = "link_latency", .unit = "seconds", .role = Role::fact},
};

constexpr SharedQuantity quantities[]{
    {Quantity::latency, "global", "latency", global_series},
    {Quantity::capacity, "global", "capacity", global_series},
    {Quantity::latency, "local", "latency", "local"},
    {Quantity::capacity, "local", "capacity", "local"},
    {Quantity::latency, "image", "latency", "image"},
    {Quantity::capacity, "image", "capacity", "image"},
};

// With this limit, a quick run on two busy CPU cores visits each point of global memory three
// times, and ends within 6 s. A GPU needs less than 2 s.
constexpr Budgets budgets = [] {
  Budgets all = usual_budgets;
  all.quick.probe_time = std::chrono::milliseconds(4200);
  return all;
}();

/// Returns the sizes of the working sets of a series. The sizes are distinct multiples of the
/// step; each has at least two nodes.
std::vector<Bytes> working_sets(const SeriesPlan& series, const Options& requested) {
  if (!series.missing.empty()) return {};
  const Bytes smallest = series.step * 2;
  std::vector<SizeRange> ranges = requested.sizes;
  if (ranges.empty()) ranges.push_back({std::max(series.first, smallest), series.last, 0.0});
  const bool is_requested = !requested.sizes.empty();
  std::vector<Bytes> sizes = expand_ranges(ranges, series.last, [&](double size) {
    const bool is_sparse = !is_requested && series.is_sparse_at(size);
    return is_sparse ? std::max(sparse_ratio, series.ratio) : series.ratio;
  });
  // Drivers may refuse the last bytes of a memory, so the plan also includes the size that is one
  // step smaller.
  if (!is_requested && may_refuse(series.spec->space) && series.last > series.step) {
    sizes.push_back(series.last - series.step);
  }
  for (Bytes& size : sizes) size = series.step * (size / series.step);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](Bytes size) { return size < smallest; });
  return sizes;
}

/// Sorts the points of a quick run by importance: global memory, then other memories, then series
/// that explain global memory. On a CPU the other memories are global memory as well, so they come
/// last. Other processes may slow down a whole visit of a CPU by half without scatter, so a CPU's
/// points of global memory get at least two visits.
void order_by_weight(const DeviceInfo& device, Plan& plan) {
  const bool is_cpu = device.type == DeviceType::cpu;
  const auto rank = [is_cpu](const Point& point) {
    if (point.series == global_series) return 0;
    return series_named(point.series).is_shown == is_cpu ? 2 : 1;
  };
  std::stable_sort(plan.points.begin(), plan.points.end(),
                   [rank](const Point& a, const Point& b) { return rank(a) < rank(b); });
  if (!is_cpu) return;
  plan.urgent = static_cast<std::size_t>(
      std::count_if(plan.points.begin(), plan.points.end(),
                    [](const Point& point) { return point.series == global_series; }));
  plan.min_urgent_visits = 2;
  plan.max_urgent_visits = 4;
}

std::string check(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  if (requested.is_in_order && !requested.wants(in_order_series)) {
    return fmt::format(
        "--order: {0} needs the series {1}, which --series leaves out; add {1} to --series",
        fixed_order, in_order_series);
  }
  const std::vector<SeriesPlan> all = plan_series(device, requested);
  const bool is_usable = std::any_of(all.begin(), all.end(), [&](const SeriesPlan& series) {
    return !working_sets(series, requested).empty();
  });
  if (!is_usable) return mistake_in(all, requested);
  // A size that is too large for the memory of one series may fit the memory of another series.
  Bytes largest;
  for (const SeriesPlan& series : all) {
    if (series.missing.empty()) largest = std::max(largest, series.last);
  }
  const bool is_asked = request.max_memory.count != 0 || !request.series.empty();
  return is_asked ? beyond_room(request, largest) : "";
}

Finding why_nothing(const SeriesPlan& series) {
  std::string reason = series.missing;
  if (reason.empty()) {
    reason = fmt::format("no working set fits: the minimum is two steps ({}), the maximum is {}",
                         format_bytes(series.step * 2), format_bytes(series.last));
  }
  return not_measured("latency", series.spec->name, std::move(reason));
}

constexpr Bytes in_second_level = kibibytes(181);

/// Returns a reference point with its own memory. The other rings of the plan share one store.
PlannedReference reference_at(ReferenceKind kind, std::span<const Point> points,
                              std::size_t index) {
  PointAlone alone{points[index]};
  auto shape = shape_of<RingShape>(alone.point);
  shape.buffer_bytes = shape.working_set_bytes;
  write_shape(shape, alone.point);
  alone.memory = memory_for({shape.buffer_bytes});
  return {kind, index, std::move(alone)};
}

/// Returns three references in global memory: the smallest working set, a working set that caches
/// hold, and the smallest beyond all caches (or the largest). Returns none for fewer than 8 sizes.
/// On CPUs the second working set exceeds L1 caches (up to 128 KiB) and fits L2 caches (from 256
/// KiB). At the end of a cache, times would depend on physical addresses.
std::vector<PlannedReference> choose_references(const DeviceInfo& device,
                                                std::span<const Point> points) {
  std::vector<std::pair<std::uint64_t, std::size_t>> sizes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].series != global_series) continue;
    sizes.emplace_back(shape_of<RingShape>(points[i]).working_set_bytes, i);
  }
  if (sizes.size() < min_followed_sizes) return {};
  std::sort(sizes.begin(), sizes.end());
  const Bytes far = beyond_caches(device);
  const auto memory = std::find_if(sizes.begin(), sizes.end() - 1,
                                   [&](const auto& each) { return each.first >= far.count; });
  // On a GPU the second reference is the geometric middle of the sizes that caches hold.
  const auto middle =
      device.type == DeviceType::cpu
          ? std::find_if(sizes.begin(), memory,
                         [](const auto& each) { return each.first >= in_second_level.count; })
          : sizes.begin() + (memory - sizes.begin()) / 2;
  return {reference_at(ReferenceKind::core, points, sizes.front().second),
          reference_at(ReferenceKind::cache, points, middle->second),
          reference_at(ReferenceKind::memory, points, memory->second)};
}

Plan plan(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  const std::vector<SeriesPlan> all = plan_series(device, requested);
  std::vector<std::vector<Bytes>> sizes;
  Bytes store{};  // store on the device; all series share its pages
  Bytes host{};   // store in host memory
  for (const SeriesPlan& series : all) {
    sizes.push_back(working_sets(series, requested));
    if (sizes.back().empty()) continue;
    if (is_cut_from_store(*series.spec)) store = std::max(store, sizes.back().back());
    if (series.spec->is_on_host) host = sizes.back().back();
  }
  Plan result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SeriesPlan& series = all[i];
    if (sizes[i].empty()) result.findings.push_back(why_nothing(series));
    const bool is_quick = requested.effort == Effort::quick;
    for (const Bytes size : is_quick ? halving_gaps(sizes[i]) : sizes[i]) {
      const Bytes buffer = is_cut_from_store(*series.spec) ? store : sizes[i].back();
      Point point;
      point.series = series.spec->name;
      write_shape(RingShape{.working_set_bytes = size.count,
                            .step_bytes = series.step.count,
                            .line_bytes = line_of(device, requested).count,
                            .address = series.address,
                            .unroll = series.spec->is_looped ? 1 : requested.unroll,
                            .buffer_bytes = buffer.count},
                  point);
      result.points.push_back(std::move(point));
    }
  }
  if (!result.points.empty()) result.memory = memory_for(store + host);
  // Requested sizes are equally important, so a quick run does not order them.
  result.is_ordered = requested.effort == Effort::quick && requested.sizes.empty();
  if (result.is_ordered) order_by_weight(device, result);
  // A quick run has no time for references.
  if (requested.effort != Effort::quick) {
    result.references = choose_references(device, result.points);
  }
  return result;
}

/// Adds sizes around the knees of a series as points like `model`. Sizes in the sparse range are
/// left out.
void add_sizes(const SeriesPlan& series, std::span<const Point> points, const Point& model,
               std::span<const CurvePoint> curve, std::vector<Point>& more) {
  auto shape = shape_of<RingShape>(model);
  for (const double size : sizes_around_knees(curve, knee_ratio)) {
    if (series.is_sparse_at(size)) continue;
    shape.working_set_bytes =
        static_cast<std::uint64_t>(size) / shape.step_bytes * shape.step_bytes;
    const auto same = [&](const Point& point) {
      return point.series == model.series &&
             shape_of<RingShape>(point).working_set_bytes == shape.working_set_bytes;
    };
    if (shape.nodes() < 2 || std::any_of(points.begin(), points.end(), same) ||
        std::any_of(more.begin(), more.end(), same)) {
      continue;
    }
    Point added;
    added.series = model.series;
    write_shape(shape, added);
    more.push_back(std::move(added));
  }
}

std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  std::vector<Point> more;
  const Options requested(request);
  // Explicitly requested sizes get no additional sizes. A thorough plan already has the sizes
  // around knees, and a quick run has no time for them.
  if (!requested.sizes.empty() || requested.effort != Effort::normal) return more;
  for (const SeriesPlan& series : plan_series(device, requested)) {
    const auto model = std::find_if(points.begin(), points.end(), [&](const Point& point) {
      return point.series == series.spec->name;
    });
    if (!series.is_refined || model == points.end()) continue;
    add_sizes(series, points, *model, latency_curve(points, series.spec->name, device), more);
  }
  return more;
}

/// Stores capacities, except those that are the reach of a TLB. If the curve ends in a rise, a
/// capacity without a step label does not become `last_cache`. On a virtual machine's CPU a TLB
/// reach of 425 MiB was mistaken for a cache. The buffers of the probe `stride` became so large
/// that two thirds of its points were not measured.
void learn(const ProbeResult& result, Known& known) {
  known.levels.clear();
  const bool ends_rising = find_finding(result.findings, "beyond", global_series) != nullptr;
  for (const Finding& each : result.findings) {
    if (each.name != "capacity" || each.series != global_series || !each.value) continue;
    const auto step =
        std::find_if(result.findings.begin(), result.findings.end(), [&](const Finding& other) {
          return other.name == "step" && other.series == global_series &&
                 other.level == each.level && !other.label.empty();
        });
    const bool is_known = step != result.findings.end();
    if (is_known && step->label == "translation") continue;
    const Bytes capacity{static_cast<std::uint64_t>(*each.value)};
    if (is_known || !ends_rising) known.last_cache = std::max(known.last_cache, capacity);
    if (each.level) known.levels.push_back({*each.level, capacity});
  }
  std::sort(known.levels.begin(), known.levels.end(),
            [](const KnownLevel& a, const KnownLevel& b) { return a.level < b.level; });
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "latency",
    .title = "Memory latency",
    .question = "How long does one dependent load take, by working set and memory?",
    .lends_references = true,
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "working_set_bytes"},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .refine = refine,
    .open = open,
    .trace = CLPROBE_TRACE(trace),
    .builds = builds,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .combine = combine,
    .card = card,
    .learn = learn,
    .quantities = quantities,
    .is_in_checkup = true,
};

}  // namespace clprobe::latency
