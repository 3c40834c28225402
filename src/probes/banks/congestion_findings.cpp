// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/congestion_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "clprobe/units.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/times.hpp"
#include "probes/shared/card_parts.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::banks {
namespace {

/// What one series measured of the model.
struct Measured {
  std::vector<CongestionPoint> points{};
  std::vector<std::string> names{};  ///< "2 sub-groups, 8 accesses, 1 way"
  int word_bytes{0};
};

Measured read_points(const DeviceInfo& device, std::span<const Point> points,
                     std::string_view series, const Model& model) {
  Measured found;
  for (const Point& point : points) {
    if (point.series != series) continue;
    const std::optional<Shape> shape = find_usable(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time) continue;
    // As many sub-groups as there were, which may be fewer than were planned.
    const std::int64_t sub_groups = point.facts.integer_or("sub_groups", shape->sub_groups);
    const auto w = static_cast<double>(sub_groups);
    const auto l = static_cast<double>(shape->instructions);
    if (!(w > 0.0) || !(l > 0.0)) continue;
    const int wavefronts = wavefronts_of(
        offsets_of(shape->pattern, shape->word_bytes, shape->lanes), shape->word_bytes, model);
    // The sample's accesses are w * l for each launch, so that this is the time of one launch.
    found.points.push_back({w * l * wavefronts, in_unit(time->ns, device) * w * l});
    found.names.push_back(fmt::format(
        "{}, {}, {}", format_count(static_cast<std::size_t>(sub_groups), "sub-group"),
        shape->instructions == 1 ? "1 access" : fmt::format("{} accesses", shape->instructions),
        format_count(static_cast<std::size_t>(wavefronts), "way")));
    found.word_bytes = shape->word_bytes;
  }
  return found;
}

/// Measured times over the bound: the median, and both extremes. Only of loads: nothing measures
/// the latency of a store.
void add_bound(Findings& found, const Measured& measured, std::string_view series) {
  const auto value_of = [&](std::string_view name, std::string_view of) {
    return find_value(found.findings, name, fmt::format("{} {} B", of, measured.word_bytes));
  };
  const Finding* const latency = value_of("conflict_free", "load-latency");
  const Finding* const way = value_of("cost_per_way", "load-throughput");
  if (latency == nullptr || way == nullptr) return;
  std::vector<double> ratios;
  for (const CongestionPoint& point : measured.points) {
    const double bound = discrete_memory_machine_time(point.product, *latency->value, *way->value);
    if (bound > 0.0) ratios.push_back(point.time / bound);
  }
  if (ratios.empty()) return;
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  const double min = *low;
  const double max = *high;
  found.findings.push_back(
      finding_of("over_bound", series, "", "discrete memory machine", median(ratios), min, max));
}

void add_model(Findings& found, const DeviceInfo& device, const Measured& measured,
               std::string_view series) {
  const CongestionModel model = fit_congestion(measured.points);
  const auto add = [&](const char* name, std::string_view unit, double value,
                       const Interval& interval) {
    found.findings.push_back(
        finding_of(name, series, unit, "least squares", value, interval.low, interval.high));
  };
  const auto exactly = [](double value) { return Interval{value, value}; };
  add("c1", time_unit(device), model.c1, model.c1_interval);
  add("c2", time_unit(device), model.c2, model.c2_interval);
  add("model_r2", "", model.r_squared, exactly(model.r_squared));
  add("largest_deviation", time_unit(device), model.largest_deviation,
      exactly(model.largest_deviation));
  add("largest_deviation_share", "share", model.largest_deviation_share,
      exactly(model.largest_deviation_share));
  Finding where = finding_of("deviates_most", series, "", "least squares");
  where.label = measured.names[model.deviates_most];
  found.findings.push_back(std::move(where));
}

}  // namespace

double discrete_memory_machine_time(double wavefronts, double latency, double way_time) {
  return (wavefronts - 1.0) * way_time + latency;
}

void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model) {
  constexpr std::size_t min_products = 3;
  for (const AccessKind& kind : all_kinds()) {
    if (!kind.is_single) continue;
    const Measured measured = read_points(device, points, kind.name, model);
    std::set<double> products;
    for (const CongestionPoint& point : measured.points) products.insert(point.product);
    if (products.size() < min_products) continue;
    add_model(found, device, measured, kind.name);
    if (!kind.is_store) add_bound(found, measured, kind.name);
  }
}

}  // namespace clprobe::banks
