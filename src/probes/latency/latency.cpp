// SPDX-License-Identifier: Apache-2.0
// How long one dependent load takes, by working set and memory. Method: docs/latency.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/levels.hpp"
#include "clprobe/probe.hpp"
#include "probes/latency/chase.hpp"
#include "probes/latency/findings.hpp"
#include "probes/latency/series.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::latency {

extern const Probe probe;

namespace {

constexpr Bytes smallest = kibibytes(1);

/// The nearest level of constant memory can be as small as 2 KiB, and needs three points.
Bytes first_of(const SeriesPlan& series) {
  if (series.name == "constant-program") return series.step * 2;
  return std::max(smallest, series.step * 2);
}

/// Working sets of a series, whole numbers of steps, at least two nodes each, none twice.
std::vector<Bytes> working_sets(const SeriesPlan& series, const Limits& limits) {
  std::vector<SizeRange> ranges = limits.sizes;
  if (ranges.empty()) ranges.push_back({first_of(series), series.last, 0.0});
  std::vector<Bytes> sizes;
  for (const SizeRange& range : ranges) {
    const double ratio = range.ratio > 1.0 ? range.ratio : series.ratio;
    const Bytes last = std::min(range.last, series.last);
    auto size = static_cast<double>(range.first.count);
    while (size < static_cast<double>(last.count)) {
      sizes.push_back({static_cast<std::uint64_t>(size)});
      size *= ratio;
    }
    // The last bytes too; some drivers refuse those of constant memory, so that the line before
    // them is tried as well.
    if (range.first <= last) sizes.push_back(last);
    if (limits.sizes.empty() && series.name != "image" && !series.name.starts_with("global") &&
        last > series.step) {
      sizes.push_back(last - series.step);
    }
  }
  for (Bytes& size : sizes) size = series.step * (size / series.step);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](Bytes size) { return size < series.step * 2; });
  return sizes;
}

Point point_of(const SeriesPlan& series, Bytes working_set, Bytes buffer, Bytes line,
               const Limits& limits) {
  const auto integer = [](Bytes size) { return static_cast<std::int64_t>(size.count); };
  Point point;
  point.series = series.name;
  point.parameters = {{"working_set_bytes", integer(working_set)},
                      {"step_bytes", integer(series.step)},
                      {"line_bytes", integer(line)},
                      {"address", series.address},
                      {"unroll", std::int64_t{limits.unroll}}};
  point.facts = {{"buffer_bytes", integer(buffer)}};
  return point;
}

bool is_wanted(const SeriesPlan& series, const Limits& limits) {
  return limits.series.empty() ||
         std::find(limits.series.begin(), limits.series.end(), series.name) != limits.series.end();
}

/// Series of one step are cut from one buffer, so that they share its pages and its cycle. Local
/// memory and program tables are no buffers.
Bytes buffer_of(const SeriesPlan& series, const std::vector<SeriesPlan>& all,
                const std::vector<std::vector<Bytes>>& sizes) {
  const bool is_alone = series.name == "local" || series.name == "constant-program";
  Bytes largest_set{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool counts = is_alone ? all[i].name == series.name : all[i].step == series.step;
    if (counts && !sizes[i].empty()) {
      largest_set = std::max(largest_set, sizes[i].back());
    }
  }
  return largest_set;
}

std::vector<SeriesPlan> wanted_series(const DeviceInfo& device, const Limits& limits) {
  std::vector<SeriesPlan> all = series_plans(device, limits);
  std::erase_if(all, [&](const SeriesPlan& series) { return !is_wanted(series, limits); });
  return all;
}

std::string check(const DeviceInfo& device, const Limits& limits) {
  const std::vector<SeriesPlan> all = wanted_series(device, limits);
  const bool is_usable = std::any_of(all.begin(), all.end(), [&](const SeriesPlan& series) {
    return series.missing.empty() && !working_sets(series, limits).empty();
  });
  return is_usable ? "" : mistake_in(all, limits);
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan result;
  const std::vector<SeriesPlan> all = wanted_series(device, limits);
  std::vector<std::vector<Bytes>> sizes;
  sizes.reserve(all.size());
  for (const SeriesPlan& series : all) {
    sizes.push_back(series.missing.empty() ? working_sets(series, limits) : std::vector<Bytes>{});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SeriesPlan& series = all[i];
    if (!series.missing.empty()) {
      result.findings.push_back(not_measured(series.name, series.missing));
    } else if (sizes[i].empty()) {
      result.findings.push_back(not_measured(
          series.name, fmt::format("no working set between two steps ({}) and {}",
                                   format_bytes(series.step * 2), format_bytes(series.last))));
    }
    const Bytes buffer = buffer_of(series, all, sizes);
    for (const Bytes size : sizes[i]) {
      result.points.push_back(point_of(series, size, buffer, line_of(device, limits), limits));
    }
  }
  return result;
}

std::vector<Point> refine(const DeviceInfo& device, const Limits& limits,
                          std::span<const Point> points) {
  std::vector<Point> more;
  // Sizes that were asked for are the sizes that are measured.
  if (!limits.sizes.empty() || limits.effort == Effort::quick) return more;
  for (const SeriesPlan& series : series_plans(device, limits)) {
    if (series.ratio != fine_ratio) continue;
    const auto model = std::find_if(points.begin(), points.end(), [&](const Point& point) {
      return point.series == series.name;
    });
    if (model == points.end()) continue;
    const auto curve = latency_curve(points, series.name, device);
    for (const double size : sizes_around_knees(curve, knee_ratio)) {
      const Bytes whole = series.step * (Bytes{static_cast<std::uint64_t>(size)} / series.step);
      const auto same_size = [&](const Point& point) {
        return point.series == series.name && point.parameters.integer("working_set_bytes") ==
                                                  static_cast<std::int64_t>(whole.count);
      };
      if (whole < series.step * 2 || std::any_of(points.begin(), points.end(), same_size) ||
          std::any_of(more.begin(), more.end(), same_size)) {
        continue;
      }
      Point added = *model;
      added.samples.clear();
      added.failure.clear();
      added.parameters.set("working_set_bytes", static_cast<std::int64_t>(whole.count));
      more.push_back(std::move(added));
    }
  }
  return more;
}

}  // namespace

namespace {

constexpr std::array<std::string_view, 4> address_words{"auto", "pointer", "index", "offset"};
constexpr Option options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "working sets: 64KiB, 1KiB-1GiB, 1KiB-1GiB*2 or a comma list of those",
     .details = "Working sets: one size (`64KiB`), a range (`1KiB-1GiB`), a range in which each "
                "size is so many times the one before (`1KiB-1GiB*2`), or a comma list of "
                "those. K, KiB and so on are powers of 1024; kB, MB, GB and TB powers of 1000. "
                "Without it, what the probe chooses for the device.",
     .value = Sizes{}},
    {.name = "step",
     .value_name = "SIZE",
     .summary = "bytes from one access to its neighbour, a multiple of 8",
     .details = "Bytes between neighbouring places in the working set, a multiple of 8. Without "
                "it, the larger of 64 bytes and the cache line that the driver reports. A step "
                "below the line hits each line more than once and blurs the levels.",
     .value = Size{.multiple_of = 8}},
    {.name = "unroll",
     .value_name = "N",
     .summary = "loads in one iteration of a chase, 1 to 64 (16)",
     .details = "Loads in one iteration of a pointer chase, from 1 to 64; 16 by default. With "
                "few, the loop's own instructions show in the time; with many, the kernel may "
                "leave the instruction cache.",
     .value = Number{1, 64}},
    {.name = "address",
     .value_name = "FORM",
     .summary = "how a load is addressed",
     .details = "How a load is addressed: by a pointer that the load before it brought, by an "
                "index, or by an offset in bytes. A pointer needs the fewest instructions, but "
                "not every driver keeps pointers valid in memory; `auto` takes it where they "
                "are.",
     .value = Choice{address_words}},
};
constexpr Series all_series[]{
    {.name = "global"},           {.name = "global-pages"}, {.name = "constant-argument"},
    {.name = "constant-program"}, {.name = "local"},        {.name = "image"},
    {.name = "global-scalar"}};
constexpr FindingSpec findings[]{
    {.name = "latency", .unit = "seconds", .role = Role::headline},
    {.name = "cycles", .unit = "cycles"},
    {.name = "capacity", .unit = "bytes", .role = Role::headline, .better = Better::more},
    {.name = "step"},
};

}  // namespace

namespace {

/// The largest capacity that is not a translation's.
void learn(const ProbeResult& result, Known& known) {
  constexpr std::string_view series = "global";
  for (const Finding& each : result.findings) {
    if (each.name != "capacity" || each.series != series || !each.value) continue;
    const bool is_translation =
        std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& other) {
          return other.name == "step" && other.series == series && other.level == each.level &&
                 other.label == "translation";
        });
    if (is_translation) continue;
    known.last_cache = std::max(known.last_cache, Bytes{static_cast<std::uint64_t>(*each.value)});
  }
}

}  // namespace

const Probe probe{
    .id = "latency",
    .title = "Memory latency",
    .question = "How long does one dependent load take, by working set and memory?",
    .options = options,
    .series = all_series,
    .findings = findings,
    .view = {.kind = ViewKind::curve, .x = "working_set_bytes"},
    .check = [](const DeviceInfo& device,
                const Request& request) { return check(device, limits_of(request)); },
    .plan = [](const DeviceInfo& device,
               const Request& request) { return plan(device, limits_of(request)); },
    .refine =
        [](const DeviceInfo& device, const Request& request, std::span<const Point> points) {
          return refine(device, limits_of(request), points);
        },
    .open = [](Session& session) -> Preparer {
      return [&session](const Point& point) { return prepare_chase(session, point); };
    },
    .trace = trace_chase,
    .variants = chase_variants,
    .analyse = latency_findings,
    .learn = learn,
};

}  // namespace clprobe::latency
