// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/congestion_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  std::vector<Interval> intervals{};  ///< of their times
  std::vector<std::string> names{};   ///< "2 sub-groups, 8 accesses, 1 way"
  int word_bytes{0};
};

/// w and l of a point, as many sub-groups as there were, which may be fewer than were planned, and
/// what its accesses want of the banks.
struct WantedAccesses {
  std::int64_t sub_groups{0};
  std::int64_t instructions{0};
  int wavefronts{0};

  [[nodiscard]] double count() const {
    return static_cast<double>(sub_groups) * static_cast<double>(instructions);
  }
  [[nodiscard]] double product() const { return count() * wavefronts; }
};

WantedAccesses accesses_of(const Point& point, const Shape& shape, const Model& model) {
  return {point.facts.integer_or("sub_groups", shape.sub_groups), shape.instructions,
          wavefronts_of(offsets_of(shape.pattern, shape.word_bytes, shape.lanes), shape.word_bytes,
                        model)};
}

Measured read_points(const DeviceInfo& device, std::span<const Point> points,
                     std::string_view series, const Model& model) {
  Measured found;
  for (const Point& point : points) {
    if (point.series != series) continue;
    const std::optional<Shape> shape = find_usable(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time) continue;
    const WantedAccesses accesses = accesses_of(point, *shape, model);
    if (!(accesses.count() > 0.0)) continue;
    // The sample's accesses are w * l for each launch, so that this is the time of one launch.
    const auto of_launch = [&](double ns) { return in_unit(ns, device) * accesses.count(); };
    found.points.push_back({accesses.product(), of_launch(time->ns)});
    found.intervals.push_back(
        {of_launch(time->ns_interval.low), of_launch(time->ns_interval.high)});
    found.names.push_back(fmt::format(
        "{}, {}, {}", format_count(static_cast<std::size_t>(accesses.sub_groups), "sub-group"),
        shape->instructions == 1 ? "1 access" : fmt::format("{} accesses", shape->instructions),
        format_count(static_cast<std::size_t>(accesses.wavefronts), "way")));
    found.word_bytes = shape->word_bytes;
  }
  return found;
}

/// What the theory of a discrete memory machine says of a series' points, in their order; nothing
/// where it says nothing. Only of loads: nothing measures the latency of a store.
std::vector<double> bounds_of(const Findings& found, const Measured& measured) {
  const auto value_of = [&](std::string_view name, std::string_view of) {
    return find_value(found.findings, name, fmt::format("{} {} B", of, measured.word_bytes));
  };
  const Finding* const latency = value_of("conflict_free", "load-latency");
  const Finding* const way = value_of("cost_per_way", "load-throughput");
  std::vector<double> bounds;
  if (latency == nullptr || way == nullptr) return bounds;
  for (const CongestionPoint& point : measured.points) {
    bounds.push_back(discrete_memory_machine_time(point.product, *latency->value, *way->value));
  }
  return bounds;
}

constexpr std::string_view of_theory = "discrete memory machine";

/// Measured times over the bound: the median, and both extremes.
void add_bound(Findings& found, const Measured& measured, const std::vector<double>& bounds,
               std::string_view series) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] > 0.0) ratios.push_back(measured.points[i].time / bounds[i]);
  }
  if (ratios.empty()) return;
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  const double min = *low;
  const double max = *high;
  found.findings.push_back(
      finding_of("over_bound", series, "", of_theory, median(ratios), min, max));
}

constexpr std::string_view by_squares = "least squares";

/// Where the model comes from: what was printed of a GTX 780 Ti, for words of 8 bytes and in
/// cycles, stands beside what is found of one, or of the machine that is simulated in its place.
void add_published(Findings& found, const DeviceInfo& device, const Measured& measured,
                   std::string_view series) {
  constexpr std::array devices{"GeForce GTX 780 Ti", "simulated gtx-780-ti"};
  const bool is_of_device = std::any_of(devices.begin(), devices.end(), [&](const char* name) {
    return device.name.ends_with(name);
  });
  const bool is_alike = measured.word_bytes == 8 && time_unit(device) == "cycles";
  if (!is_of_device || !is_alike) return;
  const auto add = [&](std::string_view name, double value) {
    found.findings.push_back(finding_of(name, series, "cycles", "Okamoto et al. 2014, section III",
                                        value, value, value));
  };
  add("published_c1", 1.047);
  add("published_c2", 337.7);
}

void add_model(Findings& found, const DeviceInfo& device, const Measured& measured,
               const CongestionModel& model, std::string_view series) {
  const auto add = [&](const char* name, std::string_view unit, double value,
                       const Interval& interval) {
    found.findings.push_back(
        finding_of(name, series, unit, by_squares, value, interval.low, interval.high));
  };
  const auto exactly = [](double value) { return Interval{value, value}; };
  add("c1", time_unit(device), model.c1, model.c1_interval);
  add("c2", time_unit(device), model.c2, model.c2_interval);
  add("model_r2", "", model.r_squared, exactly(model.r_squared));
  add("largest_deviation", time_unit(device), model.largest_deviation,
      exactly(model.largest_deviation));
  add("largest_deviation_share", "share", model.largest_deviation_share,
      exactly(model.largest_deviation_share));
  Finding where = finding_of("deviates_most", series, "", by_squares);
  where.label = measured.names[model.deviates_most];
  found.findings.push_back(std::move(where));
}

/// Points that are few enough to be read one by one: what each takes, what the line through all of
/// them says of it, and the bound of theory.
void add_rows(Findings& found, const DeviceInfo& device, const Measured& measured,
              const std::optional<CongestionModel>& model, const std::vector<double>& bounds,
              std::string_view series) {
  const std::string_view unit = time_unit(device);
  for (std::size_t i = 0; i < measured.points.size(); ++i) {
    const std::string name = fmt::format("{}, {}", series, measured.names[i]);
    const auto add = [&](std::string_view what, std::string_view method, double value,
                         const Interval& interval) {
      found.findings.push_back(
          finding_of(what, name, unit, method, value, interval.low, interval.high));
    };
    add("time", "mean of launches", measured.points[i].time, measured.intervals[i]);
    if (model) {
      const double modelled = model->time_of(measured.points[i].product);
      add("modelled", by_squares, modelled, {modelled, modelled});
    }
    if (i < bounds.size()) add("bound", of_theory, bounds[i], {bounds[i], bounds[i]});
  }
}

/// The model of a point: that with which it was planned, where the findings decide on none. A
/// document may claim any number.
Model model_for(const ProbeResult& result, const Shape& shape) {
  const auto number = [&](std::string_view name, int otherwise) {
    constexpr double max_number = 1024.0;
    const Finding* const found = find_value(result.findings, name);
    const bool is_usable = found != nullptr && *found->value >= 1.0 && *found->value <= max_number;
    return is_usable ? static_cast<int>(*found->value) : otherwise;
  };
  const int banks = std::max(shape.pattern.banks, 1);
  const int width = std::max(static_cast<int>(shape.pattern.span_bytes) / banks, 1);
  return {number("banks", banks), number("bank_width", width),
          number("lanes_together", shape.lanes)};
}

}  // namespace

double discrete_memory_machine_time(double wavefronts, double latency, double way_time) {
  return (wavefronts - 1.0) * way_time + latency;
}

void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model) {
  constexpr std::size_t min_products = 3;  // a line through two leaves nothing to doubt it by
  constexpr std::size_t max_rows = 8;
  for (const AccessKind& kind : all_kinds()) {
    if (!kind.is_single) continue;
    const Measured measured = read_points(device, points, kind.name, model);
    if (measured.points.empty()) continue;
    std::set<double> products;
    for (const CongestionPoint& point : measured.points) products.insert(point.product);
    std::optional<CongestionModel> line;
    if (products.size() >= min_products) {
      line = fit_congestion(measured.points);
      add_model(found, device, measured, *line, kind.name);
      add_published(found, device, measured, kind.name);
    } else {
      found.findings.push_back(
          without_value("c1", kind.name, by_squares,
                        fmt::format("not known: a line needs {} different products of sub-groups, "
                                    "accesses and ways, but only {} measured",
                                    min_products, products.size() == 1 ? "1 was" : "2 were"),
                        time_unit(device)));
    }
    const std::vector<double> bounds =
        kind.is_store ? std::vector<double>() : bounds_of(found, measured);
    if (line) add_bound(found, measured, bounds, kind.name);
    if (measured.points.size() <= max_rows) {
      add_rows(found, device, measured, line, bounds, kind.name);
    }
  }
}

std::vector<CardPlot> model_plots(const ProbeResult& result) {
  std::vector<CardPlot> plots;
  for (const AccessKind& kind : all_kinds()) {
    if (!kind.is_single) continue;
    const Finding* const c1 = find_value(result.findings, "c1", kind.name);
    const Finding* const c2 = find_value(result.findings, "c2", kind.name);
    if (c1 == nullptr || c2 == nullptr) continue;
    CardPlot plot{
        .title = fmt::format("Bank-conflict model, {}", kind.is_store ? "stores" : "loads"),
        .series = {std::string(kind.name)},
        .by = "product",
        .across_title = "sub-groups x accesses x ways",
        .value_title = c1->unit == "cycles" ? "cycles for all accesses" : "time for all accesses",
        .unit = c1->unit};
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      const Point& point = result.points[i];
      const std::optional<Shape> shape =
          point.series == kind.name ? find_usable(point) : std::nullopt;
      if (!shape) continue;
      const WantedAccesses accesses = accesses_of(point, *shape, model_for(result, *shape));
      plot.points.push_back({i, accesses.product(), accesses.count()});
    }
    plot.trends.push_back({std::string(kind.name), *c1->value, *c2->value, "model: c1·w·l·k + c2"});
    plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace clprobe::banks
