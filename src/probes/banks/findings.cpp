// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/units.hpp"
#include "probes/banks/access.hpp"

namespace clprobe::banks {
namespace {

constexpr std::string_view of_memory = "local memory";

/// The curve of one series and word, with what its points were.
struct SeriesCurve {
  const BankSeries* series{nullptr};
  BankCurve curve{};
  std::vector<Interval> intervals{};  ///< of its times, in the same unit
};

bool in_cycles(const DeviceInfo& device) {
  return device.timer == Timer::clock && device.clock.rate == ClockRate::core_cycles;
}

std::string_view time_unit(const DeviceInfo& device) {
  return in_cycles(device) ? "cycles" : "seconds";
}

/// A time in the unit of the findings: cycles where there are, else seconds.
double in_unit(double ns, const DeviceInfo& device) {
  return in_cycles(device) ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

/// Points that have a pattern and a time; a file need not say what this version would.
bool is_usable(const Point& point) {
  return point.failure.empty() && point.parameters.find("pattern") != nullptr &&
         pattern_kind(point.parameters.text_or("pattern", "")).has_value() &&
         point.parameters.integer_or("lanes", 0) > 0 &&
         point.parameters.integer_or("lanes", 0) <= 1024 &&
         point.parameters.integer_or("word_bytes", 0) > 0 &&
         point.parameters.integer_or("word_bytes", 0) <= 16;
}

std::vector<SeriesCurve> curves_of(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<SeriesCurve> curves;
  for (const BankSeries& series : all_bank_series()) {
    if (series.is_single) continue;
    for (const int word : {4, 8, 16}) {
      SeriesCurve added{&series, {.word_bytes = word}};
      for (const Point& point : points) {
        if (point.series != series.name || !is_usable(point) ||
            point.parameters.integer("word_bytes") != word) {
          continue;
        }
        const std::optional<Estimate> time = estimate(point, device);
        if (!time || !(time->ns > 0.0)) continue;
        added.curve.lanes = static_cast<int>(point.parameters.integer("lanes"));
        added.curve.patterns.push_back(pattern_of(point));
        added.curve.times.push_back(in_unit(time->ns, device));
        added.intervals.push_back(
            {in_unit(time->ns_interval.low, device), in_unit(time->ns_interval.high, device)});
      }
      if (!added.curve.times.empty()) curves.push_back(std::move(added));
    }
  }
  return curves;
}

/// The curves that speak about the banks. Words of 16 bytes are left out where there are others:
/// some devices serve their lanes in an order of its own.
std::vector<BankCurve> speaking_curves(const std::vector<SeriesCurve>& all) {
  const std::array<bool (*)(const SeriesCurve&), 3> choices{
      [](const SeriesCurve& each) { return !each.series->is_store && each.curve.word_bytes < 16; },
      [](const SeriesCurve& each) { return !each.series->is_store; },
      [](const SeriesCurve&) { return true; }};
  std::vector<BankCurve> chosen;
  for (const auto& choice : choices) {
    for (const SeriesCurve& each : all) {
      if (choice(each)) chosen.push_back(each.curve);
    }
    if (!chosen.empty()) break;
  }
  return chosen;
}

std::optional<BankVerdict> judge(const std::vector<SeriesCurve>& all) {
  const std::vector<BankCurve> curves = speaking_curves(all);
  if (curves.empty()) return std::nullopt;
  return judge_banks(curves, tabulate_candidates(curves));
}

Finding finding_of(std::string name, std::string_view series, std::string_view unit,
                   std::string method) {
  Finding finding;
  finding.name = std::move(name);
  finding.series = series;
  finding.unit = unit;
  finding.method = std::move(method);
  return finding;
}

std::string text_of(const BankModel& model) {
  return fmt::format("{} x {} B, {} lanes", model.banks, model.width_bytes, model.lanes_together);
}

/// A number of the best candidate, unless another that is as good has another.
Finding ranked_finding(std::string name, const BankVerdict& verdict, std::string_view unit,
                       int BankModel::*number) {
  Finding finding = finding_of(std::move(name), of_memory, unit, "BIC of candidates");
  std::set<int> values;
  for (const RankedModel& each : verdict.ranking) {
    if (each.bic - verdict.ranking.front().bic < undecided_bic) values.insert(each.model.*number);
  }
  if (values.size() == 1) {
    finding.value = *values.begin();
  } else {
    finding.reason = fmt::format("not decided: {} fit alike (BIC within {})",
                                 fmt::join(values, " and "), undecided_bic);
  }
  return finding;
}

void add_banks(Findings& found, const DeviceInfo& device, const BankVerdict& verdict) {
  if (!verdict.is_visible) {
    std::string reason = verdict.reason;
    constexpr std::int64_t global_type = 2;  // CL_GLOBAL
    if (device.reported.integer_or("local_memory_type", 0) == global_type) {
      reason += "; the driver says that it is ordinary memory";
    }
    found.findings.push_back(no_bank_finding("banks", of_memory, reason));
    found.findings.back().source = Source::derived;
    found.findings.back().method = "BIC of candidates";
    return;
  }
  found.findings.push_back(ranked_finding("banks", verdict, "count", &BankModel::banks));
  found.findings.push_back(ranked_finding("bank_width", verdict, "bytes", &BankModel::width_bytes));
  found.findings.push_back(
      ranked_finding("lanes_together", verdict, "count", &BankModel::lanes_together));
  if (verdict.ranking.size() < 2) return;
  Finding next = finding_of("runner_up", of_memory, "", "BIC of candidates");
  next.label = text_of(verdict.ranking[1].model);
  found.findings.push_back(std::move(next));
  Finding behind = finding_of("behind", of_memory, "", "BIC of candidates");
  behind.value = verdict.ranking[1].bic - verdict.ranking[0].bic;
  found.findings.push_back(std::move(behind));
}

/// Bytes that a compute unit moves when neighbouring lanes access neighbouring words.
void add_bandwidth(Findings& found, const DeviceInfo& device, const SeriesCurve& each,
                   const std::string& name) {
  for (std::size_t i = 0; i < each.curve.times.size(); ++i) {
    const BankPattern& pattern = each.curve.patterns[i];
    if (pattern.kind != PatternKind::stride || pattern.number != 1) continue;
    const double bytes = static_cast<double>(each.curve.lanes) * each.curve.word_bytes;
    const auto add = [&](const char* finding_name, std::string_view unit, double scale) {
      Finding rate = finding_of(finding_name, name, unit, "stride 1");
      rate.value = bytes / each.curve.times[i] * scale;
      rate.low = bytes / each.intervals[i].high * scale;
      rate.high = bytes / each.intervals[i].low * scale;
      found.findings.push_back(std::move(rate));
    };
    const double cycles_per_second = device.clock.ticks_per_ns * ns_per_second;
    add("bandwidth", "bytes_per_second", in_cycles(device) ? cycles_per_second : 1.0);
    if (in_cycles(device)) add("bytes_a_cycle", "bytes_per_cycle", 1.0);
    return;
  }
}

/// Lanes that share wide words may be served sooner than the model says (seen on an H200: a
/// broadcast of 8 bytes goes in one wavefront), so that only strides tell what a way of them costs.
bool tells_cost(const BankPattern& pattern, int word_bytes) {
  const bool is_stride = pattern.kind == PatternKind::stride && pattern.number > 0;
  return word_bytes <= 4 || is_stride;
}

/// Patterns with their wavefronts by a model; without one each counts as one.
struct Wavefronts {
  std::vector<double> fronts{};
  std::vector<double> times{};

  [[nodiscard]] std::vector<double> least_times() const {
    const double least = *std::min_element(fronts.begin(), fronts.end());
    std::vector<double> found;
    for (std::size_t i = 0; i < fronts.size(); ++i) {
      if (fronts[i] == least) found.push_back(times[i]);
    }
    return found;
  }
};

/// Of the patterns that tell what a way costs; of all, where none does.
Wavefronts wavefronts_that_tell(const SeriesCurve& each, const BankVerdict& verdict) {
  const std::vector<BankPattern>& patterns = each.curve.patterns;
  const int bytes = each.curve.word_bytes;
  const bool do_some = std::any_of(patterns.begin(), patterns.end(),
                                   [&](const BankPattern& one) { return tells_cost(one, bytes); });
  Wavefronts rows;
  for (std::size_t i = 0; i < each.curve.times.size(); ++i) {
    if (do_some && !tells_cost(patterns[i], bytes)) continue;
    double count = 1.0;
    if (verdict.is_visible) {
      const auto offsets = offsets_of(patterns[i], bytes, each.curve.lanes);
      count = wavefronts_of(offsets, bytes, verdict.ranking.front().model);
    }
    rows.fronts.push_back(count);
    rows.times.push_back(each.curve.times[i]);
  }
  return rows;
}

void add_costs(Findings& found, const DeviceInfo& device, const SeriesCurve& each,
               const BankVerdict& verdict) {
  if (each.curve.times.empty()) return;
  const std::string name = fmt::format("{} {} B", each.series->name, each.curve.word_bytes);
  const Wavefronts rows = wavefronts_that_tell(each, verdict);
  const std::vector<double> free_times = rows.least_times();
  Finding base = finding_of("conflict_free", name, time_unit(device), "median of patterns");
  base.value = median(free_times);
  base.low = quantile(free_times, 0.05);
  base.high = quantile(free_times, 0.95);
  found.findings.push_back(std::move(base));
  if (verdict.is_visible) {
    Finding cost = finding_of("cost_a_way", name, time_unit(device), "least squares");
    constexpr std::size_t fewest = 3;  // a line through two points leaves nothing to doubt it by
    const std::set<double> different(rows.fronts.begin(), rows.fronts.end());
    if (rows.times.size() < fewest || different.size() < 2) {
      cost.reason = fmt::format("not known: {} with {} of ways say nothing of it",
                                format_count(rows.times.size(), "pattern"),
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
  if (!each.series->is_chain) add_bandwidth(found, device, each, name);
}

std::vector<CongestionPoint> congestion_points(const DeviceInfo& device,
                                               std::span<const Point> points,
                                               std::string_view series, const BankModel& model) {
  std::vector<CongestionPoint> found;
  for (const Point& point : points) {
    if (point.series != series || !is_usable(point)) continue;
    const std::optional<Estimate> time = estimate(point, device);
    const auto w = static_cast<double>(
        point.facts.integer_or("sub_groups", point.parameters.integer_or("sub_groups", 0)));
    const auto l = static_cast<double>(point.parameters.integer_or("instructions", 0));
    if (!time || !(w > 0.0) || !(l > 0.0)) continue;
    const int word = static_cast<int>(point.parameters.integer("word_bytes"));
    const int lanes = static_cast<int>(point.parameters.integer("lanes"));
    const double wavefronts =
        wavefronts_of(offsets_of(pattern_of(point), word, lanes), word, model);
    // The sample's accesses are w * l for each launch, so that this is the time of one launch.
    found.push_back({w * l * wavefronts, in_unit(time->ns, device) * w * l});
  }
  return found;
}

void add_model(Findings& found, const DeviceInfo& device, std::span<const Point> points,
               const BankSeries& series, const BankVerdict& verdict) {
  const auto measured =
      congestion_points(device, points, series.name, verdict.ranking.front().model);
  std::set<double> products;
  for (const CongestionPoint& point : measured) products.insert(point.product);
  constexpr std::size_t fewest = 3;
  if (products.size() < fewest) return;
  const CongestionModel model = fit_congestion(measured);
  const auto add = [&](const char* name, std::string_view unit, double value,
                       const Interval& interval) {
    Finding finding = finding_of(name, series.name, unit, "least squares");
    finding.value = value;
    finding.low = interval.low;
    finding.high = interval.high;
    found.findings.push_back(std::move(finding));
  };
  const auto exactly = [](double value) { return Interval{value, value}; };
  add("c1", time_unit(device), model.c1, model.c1_interval);
  add("c2", time_unit(device), model.c2, model.c2_interval);
  add("model_r2", "", model.r_squared, exactly(model.r_squared));
  add("largest_deviation", time_unit(device), model.largest_deviation,
      exactly(model.largest_deviation));
  add("as_share", "share", model.largest_deviation_share, exactly(model.largest_deviation_share));
}

}  // namespace

Finding no_bank_finding(std::string name, std::string_view series, std::string reason) {
  Finding finding = finding_of(std::move(name), series, "", "plan");
  finding.source = Source::reported;
  finding.reason = std::move(reason);
  return finding;
}

std::optional<BankVerdict> verdict_of(const DeviceInfo& device, std::span<const Point> points) {
  return judge(curves_of(device, points));
}

Findings banks_findings(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const std::vector<SeriesCurve> curves = curves_of(device, points);
  const std::optional<BankVerdict> verdict = judge(curves);
  if (!verdict) return found;
  add_banks(found, device, *verdict);
  for (const SeriesCurve& each : curves) add_costs(found, device, each, *verdict);
  if (!verdict->is_visible) return found;
  for (const BankSeries& series : all_bank_series()) {
    if (series.is_single) add_model(found, device, points, series, *verdict);
  }
  return found;
}

}  // namespace clprobe::banks
