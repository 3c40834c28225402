// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "probes/latency/latency.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/first_level.hpp"

namespace clprobe::latency {

namespace {

/// Fact of a point: the percentage of huge pages in its memory.
struct Pages {
  std::int64_t huge_page_percent{0};

  template <typename Visitor>
  void visit(Visitor& fields) {
    fields.fact("huge_page_percent", huge_page_percent, {.max = 100});
  }
};

Finding step_finding(std::string_view series, int number, const Level& level, const Level& next,
                     std::span<const CurvePoint> pages, double largest_bytes) {
  Finding finding = of_level("step", series, number, "");
  finding.method = "one node per page";
  StepKind kind = pages.empty()
                      ? StepKind::unknown
                      : classify_step(level.capacity->bytes, level.latency, next.latency, pages);
  if (kind == StepKind::cache && may_be_halves(level, next, largest_bytes)) {
    kind = StepKind::cache_or_far;
    finding.reason = fmt::format(
        "the next level {} twice this size, so the latency curve cannot distinguish another cache "
        "from the far half of this cache",
        next.capacity ? "ends at about" : "was not measured up to");
  }
  finding.label = to_word(kind);
  if (pages.empty()) {
    finding.reason = "the one-node-per-page chase was not measured";
  } else if (kind == StepKind::unknown) {
    finding.reason = "the one-node-per-page chase is inconclusive";
  }
  return finding;
}

void add_levels(Findings& found, const SeriesSpec& spec, const DeviceInfo& device,
                std::span<const Point> points, std::span<const CurvePoint> curve,
                std::span<const CurvePoint> pages) {
  const std::string_view series = spec.name;
  const std::vector<Level> levels = find_levels(curve);
  if (levels.empty()) {
    found.findings.push_back(
        at_largest_size(finding_of("latency", series, "seconds", "segmentation"), points, device));
    return;
  }
  Finding first = of_level("latency", series, 1, "seconds");
  if (auto lost = lost_first_level(curve, levels, std::move(first))) {
    found.findings.push_back(std::move(*lost));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    const int number = static_cast<int>(i) + number_of_first(curve, levels);
    found.findings.push_back(with_value(
        of_level("latency", series, number, "seconds"), level.latency / ns_per_second,
        level.latency_interval.low / ns_per_second, level.latency_interval.high / ns_per_second));
    found.findings.back().holds_scatter = true;
    if (counts_core_cycles(device)) {
      const double ticks_per_ns = device.clock.ticks_per_ns;
      found.findings.push_back(with_value(
          of_level("cycles", series, number, "cycles"), level.latency * ticks_per_ns,
          level.latency_interval.low * ticks_per_ns, level.latency_interval.high * ticks_per_ns));
      found.findings.back().holds_scatter = true;
    }
    found.findings.push_back(with_end(of_level("capacity", series, number, "bytes"), level, curve));
    const bool has_steps = spec.space == Space::global && !spec.is_on_host && !spec.is_in_order;
    if (level.capacity && i + 1 < levels.size() && has_steps) {
      found.findings.push_back(step_finding(series, number, level, levels[i + 1], pages,
                                            curve.back().working_set_bytes));
    }
  }
  if (series != global_series) return;
  Finding beyond = finding_of("beyond", series, "seconds", "segmentation");
  if (auto rest = beyond_last(std::move(beyond), levels.back(), curve, points, device)) {
    found.findings.push_back(std::move(*rest));
  }
}

/// Returns the minimum time of a load in ns: one cycle of the device's clock, and at least 0.28 ns
/// (two cycles at 7 GHz). A CPU's driver may report the clock of an idle core, so a CPU's reported
/// clock gives at most 0.5 ns (three cycles at 6 GHz).
double min_load_ns(const DeviceInfo& device) {
  constexpr double any_device_ns = 0.28;
  if (counts_core_cycles(device) && device.clock.ticks_per_ns > 0.0) {
    return std::max(any_device_ns, 1.0 / device.clock.ticks_per_ns);
  }
  const std::int64_t max_mhz = device.reported.integer_or("max_clock_mhz", 0);
  if (max_mhz <= 0) return any_device_ns;
  const double cycle_ns = 1e3 / static_cast<double>(max_mhz);
  return std::max(any_device_ns, runs_items_in_turn(device) ? std::min(cycle_ns, 0.5) : cycle_ns);
}

/// Adds warnings about small pages, and about times shorter than `min_load_ns`.
void add_warnings(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  const auto small = std::find_if(points.begin(), points.end(), [](const Point& point) {
    constexpr std::int64_t mostly = 50;
    return point.facts.integer_or("huge_page_percent", 100) < mostly &&
           point.facts.integer_or("buffer_bytes", 0) >=
               static_cast<std::int64_t>(mebibytes(8).count);
  });
  if (small != points.end()) {
    found.warnings.push_back(
        {"small_pages", {{"page_bytes", std::int64_t{4096}}}, WarningSource::analysis});
  }
  for (const Finding& finding : found.findings) {
    if (finding.name != "latency" || !finding.value) continue;
    if (*finding.value * ns_per_second >= min_load_ns(device)) continue;
    found.warnings.push_back(
        {"too_fast",
         {{"series", finding.series}, {"latency_ns", *finding.value * ns_per_second}},
         WarningSource::analysis});
  }
}

/// Returns the latency of the curve's point with the nearest ln(size).
double nearest_latency(std::span<const CurvePoint> curve, double working_set_bytes) {
  const auto distance = [&](const CurvePoint& point) {
    return std::fabs(std::log(point.working_set_bytes / working_set_bytes));
  };
  return std::min_element(
             curve.begin(), curve.end(),
             [&](const CurvePoint& a, const CurvePoint& b) { return distance(a) < distance(b); })
      ->latency;
}

/// Returns the ratio of a point's latency to that of `curve` at the nearest working set. Returns
/// nothing if `curve` has no point within a factor of 1.5.
std::optional<double> ratio_to(std::span<const CurvePoint> curve, const CurvePoint& point) {
  constexpr double near = 1.5;
  const bool is_measured = std::any_of(curve.begin(), curve.end(), [&](const CurvePoint& each) {
    return std::fabs(std::log(each.working_set_bytes / point.working_set_bytes)) < std::log(near);
  });
  if (!is_measured) return std::nullopt;
  return point.latency / nearest_latency(curve, point.working_set_bytes);
}

/// Adds the latency of the last level of `host` as a finding without a level, for comparison with
/// other tools.
void add_link_latency(Findings& found) {
  const Finding* last = nullptr;
  for (const Finding& each : found.findings) {
    const bool is_level = each.name == "latency" && each.series == host_series && each.value;
    if (is_level && (last == nullptr || each.level > last->level)) last = &each;
  }
  if (last == nullptr) return;
  Finding link = *last;
  link.name = "link_latency";
  link.level.reset();
  found.findings.push_back(std::move(link));
}

/// Adds the location of the host buffer; if that is the host, also the link latency. If the driver
/// keeps the buffer on the device, its loads take as long as loads of equally large global memory.
void add_host_memory(Findings& found, std::span<const CurvePoint> host,
                     std::span<const CurvePoint> global) {
  constexpr double alike = 1.2;
  if (host.empty()) return;
  Finding finding = finding_of("host_memory", host_series, "", "compared with global memory");
  const std::optional<double> ratio = ratio_to(global, host.back());
  if (ratio) {
    finding.label = *ratio <= alike ? kept_on_device : kept_on_host;
  } else {
    finding.reason = "global memory was not measured at a matching size";
  }
  if (finding.label == kept_on_host) add_link_latency(found);
  found.findings.push_back(std::move(finding));
}

/// Adds the latency in address order at its largest working set as a share of that in random order.
/// A small share shows that the device prefetches.
void add_in_order(Findings& found, std::span<const CurvePoint> ordered,
                  std::span<const CurvePoint> global) {
  if (ordered.empty()) return;
  const CurvePoint& largest = ordered.back();
  Finding finding = finding_of("in_order", in_order_series, "share", "compared with random order");
  finding.value = ratio_to(global, largest);
  if (!finding.value) finding.reason = "random order was not measured at a matching size";
  found.findings.push_back(std::move(finding));
}

/// Returns true if neighbouring sizes are close enough to find levels. By default the series in
/// address order has too few sizes.
bool is_close(std::span<const CurvePoint> curve) {
  constexpr std::size_t least = 8;
  constexpr double farthest = 1.5;
  if (curve.size() < least) return false;
  const double range = curve.back().working_set_bytes / curve.front().working_set_bytes;
  return std::log(range) <= std::log(farthest) * static_cast<double>(curve.size() - 1);
}

/// Adds the smallest working set from which on address order takes at most 90 % of the time of
/// random order.
void add_in_order_from(Findings& found, std::span<const CurvePoint> ordered,
                       std::span<const CurvePoint> global) {
  constexpr double faster = 0.9;
  Finding finding =
      finding_of("in_order_from", in_order_series, "bytes", "compared with random order");
  finding.reason = "address order is not faster than random order at the largest working set";
  const auto is_faster = [&](const CurvePoint& each) {
    return ratio_to(global, each).value_or(HUGE_VAL) <= faster;
  };
  const auto last_slower = std::find_if_not(ordered.rbegin(), ordered.rend(), is_faster);
  if (last_slower != ordered.rbegin()) finding.value = (last_slower - 1)->working_set_bytes;
  if (finding.value) finding.reason.clear();
  found.findings.push_back(std::move(finding));
}

/// Adds the relative cost of a loop around each load: the median over the working sets that both
/// series measured.
void add_loop_overhead(Findings& found, std::span<const CurvePoint> looped,
                       std::span<const CurvePoint> global) {
  if (looped.empty()) return;
  std::vector<double> added;
  for (const CurvePoint& each : looped) {
    if (const auto ratio = ratio_to(global, each)) added.push_back(*ratio - 1.0);
  }
  Finding finding = finding_of("loop_overhead", looped_series, "share",
                               "compared with several loads per iteration");
  if (added.empty()) {
    finding.reason = "loops with several loads per iteration were not measured at a matching size";
  } else {
    const auto [low, high] = std::minmax_element(added.begin(), added.end());
    finding = with_value(std::move(finding), median(added), *low, *high);
  }
  found.findings.push_back(std::move(finding));
}

bool is_latency(const Finding& finding, std::string_view series) {
  return finding.name == "latency" && finding.series == series && finding.value;
}

using MaybeValue = std::optional<double>;

MaybeValue difference(const MaybeValue& a, const MaybeValue& b) {
  return a && b ? MaybeValue(*a - *b) : std::nullopt;
}

MaybeValue quotient(const MaybeValue& a, const MaybeValue& b) {
  return a && b ? MaybeValue(*a / *b) : std::nullopt;
}

/// Adds findings, still without values, for each level's latency minus the previous level's.
void add_steps_up(Findings& found, std::string_view series) {
  std::vector<std::optional<int>> levels;
  for (const Finding& each : found.findings) {
    if (is_latency(each, series)) levels.push_back(each.level);
  }
  for (std::size_t i = 1; i < levels.size(); ++i) {
    found.findings.push_back(
        finding_of("added", series, "seconds", "compared with the previous level"));
    found.findings.back().level = levels[i];
  }
}

void set_added(Finding& added, std::span<const Finding> findings) {
  const Finding* nearer = nullptr;
  for (const Finding& time : findings) {
    if (!is_latency(time, added.series)) continue;
    if (time.level == added.level && nearer != nullptr) {
      added.value = difference(time.value, nearer->value);
      added.low = difference(time.low, nearer->high);
      added.high = difference(time.high, nearer->low);
    }
    nearer = &time;
  }
}

void set_beside_global(Finding& ratio, std::span<const Finding> findings) {
  const auto first = [&](std::string_view series) {
    return std::find_if(findings.begin(), findings.end(),
                        [&](const Finding& each) { return is_latency(each, series); });
  };
  const auto own = first(ratio.series);
  const auto other = first(global_series);
  if (own == findings.end() || other == findings.end()) return;
  ratio.value = quotient(own->value, other->value);
  ratio.low = quotient(own->low, other->high);
  ratio.high = quotient(own->high, other->low);
}

/// Returns true if, at 90 % of at least 5 working sets, loads of another memory take as long as
/// loads of global memory within 10 %.
bool is_alike(std::span<const CurvePoint> curve, std::span<const CurvePoint> global) {
  constexpr double within = 1.1;
  constexpr std::ptrdiff_t min_sizes = 5;
  constexpr double nearly_all = 0.9;
  std::ptrdiff_t sizes = 0;
  std::ptrdiff_t alike = 0;
  for (const CurvePoint& each : curve) {
    const std::optional<double> ratio = ratio_to(global, each);
    if (!ratio) continue;
    ++sizes;
    if (*ratio <= within && *ratio >= 1.0 / within) ++alike;
  }
  return sizes >= min_sizes &&
         static_cast<double>(alike) >= nearly_all * static_cast<double>(sizes);
}

/// Adds the ratio of another memory's fastest level to global memory's, still without its value.
void add_beside_global(Findings& found, std::string_view series, std::span<const CurvePoint> curve,
                       std::span<const CurvePoint> global) {
  const Finding* const own = find_value(found.findings, "latency", series);
  const Finding* const other = find_value(found.findings, "latency", global_series);
  if (own == nullptr || other == nullptr || !own->level || !other->level) return;
  Finding ratio = finding_of("beside_global", series, {}, "nearest levels");
  if (is_alike(curve, global)) ratio.label = alike_global;
  found.findings.push_back(std::move(ratio));
}

/// Returns the first level's latency plus the cost of address translation: the latency of a chase
/// with one node per page, less that of as many adjacent nodes. The subtraction removes cache
/// misses: a chase with one node per page misses a cache if the nodes exceed the cache's lines.
std::vector<CurvePoint> translation_curve(std::span<const Point> points, const DeviceInfo& device,
                                          std::span<const CurvePoint> lines) {
  std::vector<CurvePoint> curve = latency_curve(points, pages_series, device);
  const auto model = std::find_if(points.begin(), points.end(),
                                  [](const Point& point) { return point.series == pages_series; });
  if (curve.empty() || lines.empty() || model == points.end()) return {};
  // A stored run of another version may lack `line_bytes` and `step_bytes`.
  const std::int64_t line_bytes = model->parameters.integer_or("line_bytes", 0);
  const std::int64_t step_bytes = model->parameters.integer_or("step_bytes", 0);
  if (line_bytes <= 0 || step_bytes <= 0) return curve;
  const double shrink = static_cast<double>(line_bytes) / static_cast<double>(step_bytes);
  const double nearest_level = lines.front().latency;
  // Working sets smaller than a page need a single translation, so their cost is that of the first
  // level.
  constexpr double ratio = 1.41421356;
  constexpr std::size_t parts = 13;  // the smallest is 1/64 of a page
  std::vector<CurvePoint> within_page;
  within_page.reserve(parts);
  auto size = static_cast<double>(step_bytes);
  for (std::size_t part = 0; part < parts; ++part) {
    within_page.push_back({size, nearest_level});
    size /= ratio;
  }
  for (CurvePoint& point : curve) {
    const double expected = nearest_latency(lines, point.working_set_bytes * shrink);
    point.latency = nearest_level + std::max(0.0, point.latency - expected);
  }
  curve.insert(curve.begin(), within_page.rbegin(), within_page.rend());
  return curve;
}

}  // namespace

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<RingShape, Pages>(point);
}

void combine(std::vector<Finding>& findings) {
  for (Finding& each : findings) {
    const bool is_combined = each.name == "added" || each.name == "beside_global";
    if (!is_combined) continue;
    each.disturbance = 0.0;  // the latencies' intervals include it
    if (each.name == "added") set_added(each, findings);
    if (each.name == "beside_global") set_beside_global(each, findings);
  }
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const std::vector<CurvePoint> global = latency_curve(points, global_series, device);
  const auto pages = translation_curve(points, device, global);
  for (const SeriesSpec& series : all_series) {
    if (!series.is_shown) continue;
    const auto curve = latency_curve(points, series.name, device);
    if (curve.empty()) continue;
    add_levels(found, series, device, points, curve, pages);
    add_steps_up(found, series.name);
    if (series.name != global_series) add_beside_global(found, series.name, curve, global);
  }
  const auto ordered = latency_curve(points, in_order_series, device);
  add_in_order(found, ordered, global);
  if (is_close(ordered)) {
    add_levels(found, series_named(in_order_series), device, points, ordered, {});
    add_steps_up(found, in_order_series);
    if (!global.empty()) add_in_order_from(found, ordered, global);
  }
  add_loop_overhead(found, latency_curve(points, looped_series, device), global);
  add_host_memory(found, latency_curve(points, host_series, device), global);
  add_warnings(found, device, points);
  combine(found.findings);
  return found;
}

}  // namespace clprobe::latency
