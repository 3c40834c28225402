// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/units.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::banks {
namespace {

/// Measurements of one series of the conflict model.
struct Measured {
  std::vector<CongestionPoint> points{};
  std::vector<Interval> intervals{};  ///< intervals of the times of `points`
  std::vector<std::string> names{};   ///< "2 sub-groups, 8 accesses, 1 way"
  int word_bytes{0};
};

/// Numbers of sub-groups, accesses and wavefronts of a point. The number of sub-groups is the
/// launched one, or the planned one for points without this fact.
struct AccessCounts {
  std::int64_t sub_groups{0};
  std::int64_t instructions{0};
  int wavefronts{0};

  [[nodiscard]] double count() const {
    return static_cast<double>(sub_groups) * static_cast<double>(instructions);
  }
  [[nodiscard]] double product() const { return count() * wavefronts; }
};

AccessCounts accesses_of(const Point& point, const Shape& shape, const Model& model) {
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
    const AccessCounts accesses = accesses_of(point, *shape, model);
    if (!(accesses.count() > 0.0)) continue;
    // The time per access times w * l accesses is the time of one launch.
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

/// Adds the ratio of the measured times of loads to the bound of a discrete memory machine. The
/// value is the median, and the interval spans the extremes.
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
  const auto [min, max] = std::ranges::minmax(ratios);
  found.findings.push_back(
      finding_of("over_bound", series, "", "discrete memory machine", median(ratios), min, max));
}

constexpr std::string_view by_squares = "least squares";

/// Adds the published c1 and c2 of a GTX 780 Ti on that GPU or its simulation. The values are in
/// cycles and for words of 8 bytes, so other measurements get none.
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

void add_rows(Findings& found, const DeviceInfo& device, const Measured& measured,
              std::string_view series) {
  for (std::size_t i = 0; i < measured.points.size(); ++i) {
    const Interval& interval = measured.intervals[i];
    found.findings.push_back(finding_of("time", fmt::format("{}, {}", series, measured.names[i]),
                                        time_unit(device), "mean of launches",
                                        measured.points[i].time, interval.low, interval.high));
  }
}

/// Returns the banks of the device: from plausible findings, otherwise as planned for the point.
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

/// Curve of one series and word size, with the intervals and visits of its points.
struct SeriesCurve {
  const AccessKind* kind{nullptr};
  Curve curve{};
  std::vector<Interval> intervals{};          ///< intervals of the times, in the unit of the times
  std::vector<std::vector<double>> visits{};  ///< estimates of each point's visits; may be empty
};

std::vector<SeriesCurve> read_curves(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<SeriesCurve> curves;
  for (const AccessKind& kind : all_kinds()) {
    if (kind.is_single) continue;
    for (const int word : {4, 8, 16}) {
      SeriesCurve added{&kind, {.word_bytes = word}};
      for (const Point& point : points) {
        if (point.series != kind.name) continue;
        const std::optional<Shape> shape = find_usable(point);
        if (!shape || shape->word_bytes != word) continue;
        const std::optional<Estimate> time = estimate(point, device);
        if (!time || !(time->ns > 0.0)) continue;
        added.curve.lanes = shape->lanes;
        added.curve.patterns.push_back(shape->pattern);
        added.curve.times.push_back(in_unit(time->ns, device));
        std::vector<double> visits = visits_beside(*time, point, device);
        for (double& each : visits) each = in_unit(each, device);
        added.intervals.push_back(with_visits(in_unit(time->ns_interval, device), visits));
        added.visits.push_back(std::move(visits));
      }
      if (!added.curve.times.empty()) curves.push_back(std::move(added));
    }
  }
  return curves;
}

/// Returns the curves that determine the banks: loads of 4 and 8 bytes if measured, otherwise all
/// loads, otherwise all accesses. Loads of 16 bytes are the second choice, since some devices
/// serve their lanes in another order.
std::vector<Curve> curves_for_inference(const std::vector<SeriesCurve>& all) {
  const std::array<bool (*)(const SeriesCurve&), 3> choices{
      [](const SeriesCurve& each) { return !each.kind->is_store && each.curve.word_bytes < 16; },
      [](const SeriesCurve& each) { return !each.kind->is_store; },
      [](const SeriesCurve&) { return true; }};
  std::vector<Curve> chosen;
  for (const auto& choice : choices) {
    for (const SeriesCurve& each : all) {
      if (choice(each)) chosen.push_back(each.curve);
    }
    if (!chosen.empty()) break;
  }
  return chosen;
}

std::optional<Verdict> judge(const std::vector<SeriesCurve>& all) {
  const std::vector<Curve> curves = curves_for_inference(all);
  if (curves.empty()) return std::nullopt;
  return judge(curves, tabulate_candidates(curves));
}

constexpr std::string_view by_bic = "BIC of candidates";

std::string text_of(const Model& model) {
  return fmt::format("{} x {} B, {} lanes", model.banks, model.width_bytes, model.lanes_together);
}

/// Makes a finding of a number of the best candidate. The finding has no value if an equally good
/// candidate has another number.
Finding ranked_finding(std::string_view name, const Verdict& verdict, std::string_view unit,
                       int Model::*number) {
  Finding finding = finding_of(name, of_memory, unit, by_bic);
  std::set<int> values;
  for (const RankedModel& each : verdict.ranking) {
    if (each.bic - verdict.ranking.front().bic < undecided_bic) values.insert(each.model.*number);
  }
  if (values.size() == 1) {
    finding.value = *values.begin();
  } else {
    finding.reason =
        fmt::format("not decided: {} fit equally well (their BICs differ by less than {})",
                    fmt::join(values, " and "), undecided_bic);
  }
  return finding;
}

void add_banks(Findings& found, const DeviceInfo& device, const Verdict& verdict) {
  if (!verdict.is_visible) {
    std::string reason = verdict.reason;
    constexpr std::int64_t global_type = 2;  // CL_GLOBAL
    if (device.reported.integer_or("local_memory_type", 0) == global_type) {
      reason += "; the driver reports local memory as ordinary memory";
    }
    found.findings.push_back(without_value("banks", of_memory, by_bic, reason));
    return;
  }
  found.findings.push_back(ranked_finding("banks", verdict, "count", &Model::banks));
  found.findings.push_back(ranked_finding("bank_width", verdict, "bytes", &Model::width_bytes));
  found.findings.push_back(
      ranked_finding("lanes_together", verdict, "count", &Model::lanes_together));
  if (verdict.ranking.size() < 2) return;
  Finding next = finding_of("second_best", of_memory, "", by_bic);
  next.label = text_of(verdict.ranking[1].model);
  found.findings.push_back(std::move(next));
  Finding margin = finding_of("bic_margin", of_memory, "", by_bic);
  margin.value = verdict.ranking[1].bic - verdict.ranking[0].bic;
  found.findings.push_back(std::move(margin));
}

/// Adds the bandwidth of a compute unit, also in bytes per cycle if known, for the pattern in which
/// neighbouring lanes access neighbouring words.
void add_bandwidth(Findings& found, const DeviceInfo& device, const SeriesCurve& each,
                   const std::string& name) {
  for (std::size_t i = 0; i < each.curve.times.size(); ++i) {
    const Pattern& pattern = each.curve.patterns[i];
    if (pattern.kind != PatternKind::stride || pattern.number != 1) continue;
    const double bytes = static_cast<double>(each.curve.lanes) * each.curve.word_bytes;
    const auto add = [&](const char* finding_name, std::string_view unit, double scale) {
      found.findings.push_back(finding_of(
          finding_name, name, unit, "stride 1", bytes / each.curve.times[i] * scale,
          bytes / each.intervals[i].high * scale, bytes / each.intervals[i].low * scale));
    };
    const double cycles_per_second = device.clock.ticks_per_ns * ns_per_second;
    add("bandwidth", "bytes_per_second", in_cycles(device) ? cycles_per_second : 1.0);
    if (in_cycles(device)) add("bytes_per_cycle", "bytes_per_cycle", 1.0);
    return;
  }
}

/// Returns true if a pattern shows the cost of a way. For words above 4 bytes only strides show
/// this cost: lanes that share a word may be served faster than in the model. On an H200 a
/// broadcast of 8 bytes takes one wavefront.
bool shows_cost(const Pattern& pattern, int word_bytes) {
  const bool is_stride = pattern.kind == PatternKind::stride && pattern.number > 0;
  return word_bytes <= 4 || is_stride;
}

/// Patterns of a curve with their times, and their numbers of wavefronts in the best model. Without
/// visible banks every number is 1.
struct Wavefronts {
  std::vector<double> fronts{};
  std::vector<double> times{};
  std::vector<std::size_t> indices{};  ///< indices of the patterns in the curve

  /// Returns the indices of the patterns with the fewest wavefronts.
  [[nodiscard]] std::vector<std::size_t> conflict_free() const {
    const double min = *std::min_element(fronts.begin(), fronts.end());
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < fronts.size(); ++i) {
      if (fronts[i] == min) found.push_back(indices[i]);
    }
    return found;
  }
};

/// Returns the wavefronts of the patterns that show the cost of a way. Without such patterns,
/// returns those of all patterns.
Wavefronts wavefronts_for_cost(const SeriesCurve& each, const Verdict& verdict) {
  const std::vector<Pattern>& patterns = each.curve.patterns;
  const int bytes = each.curve.word_bytes;
  const bool is_any = std::any_of(patterns.begin(), patterns.end(),
                                  [&](const Pattern& one) { return shows_cost(one, bytes); });
  Wavefronts rows;
  for (std::size_t i = 0; i < each.curve.times.size(); ++i) {
    if (is_any && !shows_cost(patterns[i], bytes)) continue;
    double count = 1.0;
    if (verdict.is_visible) {
      const auto offsets = offsets_of(patterns[i], bytes, each.curve.lanes);
      count = wavefronts_of(offsets, bytes, verdict.ranking.front().model);
    }
    rows.fronts.push_back(count);
    rows.times.push_back(each.curve.times[i]);
    rows.indices.push_back(i);
  }
  return rows;
}

/// Returns `finding` with the median time of the patterns in `indices`. A disturbed pass affects
/// all patterns, so the interval includes the scatter between passes. If the intervals of the
/// patterns' times already include this scatter, the interval includes the medians of their ends.
Finding median_of_patterns(const SeriesCurve& each, std::span<const std::size_t> indices,
                           Finding finding) {
  std::vector<double> times;
  std::vector<double> lows;
  std::vector<double> highs;
  std::vector<std::vector<double>> by_pass;
  for (const std::size_t i : indices) {
    times.push_back(each.curve.times[i]);
    lows.push_back(each.intervals[i].low);
    highs.push_back(each.intervals[i].high);
    const std::vector<double>& visits = each.visits[i];
    if (by_pass.size() < visits.size()) by_pass.resize(visits.size());
    for (std::size_t pass = 0; pass < visits.size(); ++pass) by_pass[pass].push_back(visits[pass]);
  }
  std::vector<double> medians;
  medians.reserve(by_pass.size());
  for (const std::vector<double>& pass : by_pass) medians.push_back(median(pass));
  Interval interval = with_visits(median_interval(times), medians);
  if (medians.empty()) {
    interval = {std::min(interval.low, median(lows)), std::max(interval.high, median(highs))};
  }
  finding.value = median(times);
  finding.low = interval.low;
  finding.high = interval.high;
  finding.holds_scatter = true;
  return finding;
}

void add_costs(Findings& found, const DeviceInfo& device, const SeriesCurve& each,
               const Verdict& verdict) {
  if (each.curve.times.empty()) return;
  const std::string name = fmt::format("{} {} B", each.kind->name, each.curve.word_bytes);
  const Wavefronts rows = wavefronts_for_cost(each, verdict);
  found.findings.push_back(median_of_patterns(
      each, rows.conflict_free(),
      finding_of("conflict_free", name, time_unit(device), "median of patterns")));
  if (verdict.is_visible) {
    Finding cost = finding_of("cost_per_way", name, time_unit(device), "least squares");
    constexpr std::size_t min_patterns = 3;  // a line fits any two points
    const std::set<double> different(rows.fronts.begin(), rows.fronts.end());
    if (rows.times.size() < min_patterns || different.size() < 2) {
      cost.reason = fmt::format(
          "not known: fitting a line needs at least {} patterns and 2 different numbers of ways, "
          "but only {} and {} of ways were measured",
          min_patterns, format_count(rows.times.size(), "pattern"),
          format_count(different.size(), "number"));
      found.findings.push_back(std::move(cost));
      return;
    }
    const ConflictLine line = fit_conflicts(rows.fronts, rows.times);
    cost.value = line.cost;
    cost.low = line.cost_interval.low;
    cost.high = line.cost_interval.high;
    found.findings.push_back(std::move(cost));
    Finding fit = finding_of("line_r2", name, "", "least squares");
    fit.value = line.r_squared;
    found.findings.push_back(std::move(fit));
  }
  if (!each.kind->is_chain) add_bandwidth(found, device, each, name);
}

}  // namespace

double discrete_memory_machine_time(double wavefronts, double latency, double way_time) {
  return (wavefronts - 1.0) * way_time + latency;
}

void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model) {
  constexpr std::size_t min_products = 3;  // a line fits any two points
  constexpr std::size_t max_rows = 8;
  for (const AccessKind& kind : all_kinds()) {
    if (!kind.is_single) continue;
    const Measured measured = read_points(device, points, kind.name, model);
    if (measured.points.empty()) continue;
    std::set<double> products;
    for (const CongestionPoint& point : measured.points) products.insert(point.product);
    if (products.size() >= min_products) {
      add_model(found, device, measured, fit_congestion(measured.points), kind.name);
      add_published(found, device, measured, kind.name);
      if (!kind.is_store) add_bound(found, measured, kind.name);
    } else {
      found.findings.push_back(
          without_value("c1", kind.name, by_squares,
                        fmt::format("not known: fitting a line needs {} different products of "
                                    "sub-groups, accesses and ways, but only {} measured",
                                    min_products, products.size() == 1 ? "1 was" : "2 were"),
                        time_unit(device)));
    }
    if (measured.points.size() <= max_rows) add_rows(found, device, measured, kind.name);
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
      const AccessCounts accesses = accesses_of(point, *shape, model_for(result, *shape));
      plot.points.push_back({i, accesses.product(), accesses.count()});
    }
    plot.trends.push_back({std::string(kind.name), *c1->value, *c2->value, "model: c1·w·l·k + c2"});
    plots.push_back(std::move(plot));
  }
  return plots;
}

std::optional<Verdict> find_verdict(const DeviceInfo& device, std::span<const Point> points) {
  return judge(read_curves(device, points));
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const std::vector<SeriesCurve> curves = read_curves(device, points);
  if (const std::optional<Verdict> verdict = judge(curves)) {
    add_banks(found, device, *verdict);
    for (const SeriesCurve& each : curves) add_costs(found, device, each, *verdict);
    if (verdict->is_visible) {
      add_congestion(found, device, points, verdict->ranking.front().model);
    }
  }
  const std::vector<Finding> tiles = transpose_findings(device, points);
  found.findings.insert(found.findings.end(), tiles.begin(), tiles.end());
  return found;
}

}  // namespace clprobe::banks
