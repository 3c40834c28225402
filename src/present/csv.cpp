// SPDX-License-Identifier: Apache-2.0
// The formats `csv` (a row per sample), `findings` (a row per finding) and `curves` (a row per
// point). Points without samples have no row; only the format `json` has the reasons of failures.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/stacks.hpp"
#include "present/api/report.hpp"
#include "present/blocks.hpp"
#include "present/comparison.hpp"
#include "present/curves.hpp"
#include "present/device_text.hpp"
#include "present/fleet.hpp"
#include "present/safe_text.hpp"

namespace clprobe {
namespace {

using report::csv_cell;
using report::csv_line;
using report::name_of;

std::string value_cell(const Value* value) {
  if (value == nullptr) return {};
  return std::visit([](const auto& each) { return report::csv_field(each); }, *value);
}

std::vector<std::string> parameter_names(std::span<const Run> runs) {
  report::Names names;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      for (const Point& point : result.points) {
        names.add(point);
      }
    }
  }
  return names.in_order();
}

/// Returns the time per access of a sample in ns; empty if a time is the slope between several
/// samples.
std::string time_of(const Point& point, const Sample& sample, const DeviceInfo& device) {
  Point alone;
  alone.parameters = point.parameters;
  alone.facts = point.facts;
  alone.samples.push_back(sample);
  const std::vector<double> times = access_times_ns(alone, device);
  return times.size() == 1 ? fmt::format("{:.6g}", times.front()) : std::string();
}

void add_point(std::string& csv, const Point& point, const std::string& lead,
               const std::vector<std::string>& names, const DeviceInfo& device) {
  std::string before = lead + ',' + csv_cell(point.series);
  for (const std::string& name : names) before += ',' + value_cell(report::find_known(point, name));
  for (const Sample& sample : point.samples) {
    csv += before + ',' +
           csv_line(sample.accesses, sample.ticks, sample.event_ns, sample.host_ns, sample.witness,
                    sample.visit, time_of(point, sample, device));
  }
}

/// Returns a row per sample. The parameters and facts of the points of all runs have columns, in
/// order of first appearance. The column `ns_per_access` is empty if a time is the slope between
/// several samples, as without an in-kernel clock.
std::string csv_of_samples(std::span<const Run> runs, const TableStyle& /*style*/) {
  const std::vector<std::string> names = parameter_names(runs);
  std::string csv = "device_index,device,driver,probe,series";
  for (const std::string& name : names) csv += ',' + csv_cell(name);
  csv += ",accesses,ticks,event_ns,host_ns,witness,visit,ns_per_access\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      const std::string lead = fmt::format("{},{},{},{}", run.device.index, csv_cell(name_of(run)),
                                           csv_cell(run.device.driver), csv_cell(result.probe));
      for (const Point& point : result.points) add_point(csv, point, lead, names, run.device);
    }
  }
  return csv;
}

std::string csv_of_findings(std::span<const Run> runs, const TableStyle& /*style*/) {
  std::string csv =
      "device_index,device,driver,started,probe,series,level,finding,value,low,high,unit,label,"
      "role,source,method,reason\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      for (const Finding& each : result.findings) {
        csv += csv_line(run.device.index, name_of(run), run.device.driver, run.started,
                        result.probe, each.series, each.level, each.name, each.value, each.low,
                        each.high, each.unit, each.label, to_word(each.role), to_word(each.source),
                        each.method, each.reason);
      }
    }
  }
  return csv;
}

void add_curves(std::string& csv, const Run& run, std::string_view probe,
                const report::Chart& chart) {
  for (const report::ChartSeries& series : chart.series) {
    std::vector<report::ChartPoint> points = series.points;  // in the order measured
    std::ranges::stable_sort(points, [](const auto& a, const auto& b) { return a.x < b.x; });
    for (const report::ChartPoint& point : points) {
      const auto end = [&point](double value) {
        return point.high > 0.0 ? std::optional(value) : std::nullopt;
      };
      csv += csv_line(name_of(run), probe, series.name, chart.x_name, point.x, point.y,
                      end(point.low), end(point.high), chart.y_unit);
    }
  }
}

std::string csv_of_curves(std::span<const Run> runs, const TableStyle& /*style*/) {
  std::string csv = "device,probe,series,x_name,x,value,low,high,unit\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      add_curves(csv, run, result.probe, report::chart_of(result, run.device));
      for (const CardPlot& plot : result.card.plots) {
        if (plot.curves.empty()) continue;  // other plots show the same points by something else
        add_curves(csv, run, result.probe, report::chart_of_plot(plot, result, run.device));
      }
    }
  }
  return csv;
}

std::string csv_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                              const TableStyle& /*style*/) {
  std::string csv =
      "run,file,device,driver,started,probe,series,level,finding,unit,baseline_value,baseline_low,"
      "baseline_high,baseline_label,value,low,high,label,ratio,verdict,reason,part,view,"
      "interval_low,interval_high,resolution_share,p_value,run_level,run_unit\n";
  for (const ComparedRow& row : comparison.rows) {
    const Finding base = report::shown_finding(*row.baseline);
    const bool is_share = is_told_by_label(base);
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const ComparedCell& cell = row.cells[run];
      if (run == comparison.baseline || !report::has_content(cell)) continue;
      const Finding own =
          cell.finding == nullptr ? Finding{} : report::shown_finding(*cell.finding);
      const Judgement& judged = cell.judgement;
      const std::optional<Interval> interval = judged.interval;
      csv += csv_line(report::run_letter(run), runs[run].file, runs[run].device, runs[run].driver,
                      runs[run].started, row.probe, base.series, base.level, base.name, base.unit,
                      base.value, base.low, base.high, base.label, own.value, own.low, own.high,
                      own.label, judged.ratio, judged.reason.empty() ? "" : to_word(judged.verdict),
                      judged.reason, is_share ? base.label : "", is_share ? base.method : "",
                      interval ? report::finite(interval->low) : std::nullopt,
                      interval ? report::finite(interval->high) : std::nullopt,
                      judged.resolution ? report::finite(*judged.resolution) : std::nullopt,
                      judged.p_value, own.level, own.unit);
    }
  }
  return csv;
}

std::string csv_of_survey(const SurveyedApp& app, const TableStyle& /*style*/) {
  std::string csv =
      "kernel,program,program_kind,device,dimensions,global_0,global_1,global_2,local_0,local_1,"
      "local_2,uses_svm,launches,timed,estimated,total_ns,min_ns,max_ns,share,is_main\n";
  const survey::Sum total = app.survey.total();
  const std::vector<survey::KernelShare> shares = survey::kernel_shares(app.survey.rows);
  for (std::size_t i = 0; i < app.survey.rows.size(); ++i) {
    const survey::Row& row = app.survey.rows[i];
    const survey::Signature& of = row.signature;
    const bool is_timed = row.sum.timed > 0;
    const auto timed = [&](auto value) { return is_timed ? std::optional(value) : std::nullopt; };
    csv +=
        csv_line(of.kernel, report::program_text(of.program), to_word(of.program.kind), of.device,
                 of.dimensions, of.global[0], of.global[1], of.global[2], of.local[0], of.local[1],
                 of.local[2], row.uses_svm ? 1 : 0, row.sum.launches, row.sum.timed,
                 row.sum.estimated, timed(row.sum.total_ns), timed(row.sum.min_ns),
                 timed(row.sum.max_ns), timed(row.sum.share_of(total)), shares[i].is_main ? 1 : 0);
  }
  return csv;
}

}  // namespace

constexpr Writer formats::csv{
    .name = "csv",
    .ending = ".csv",
    .details =
        "A `.csv` file has one row per sample. A file name that ends in `findings.csv` selects one "
        "row per finding; `curves.csv` selects one row per point. ",
    .runs = csv_of_samples,
    .comparison = csv_of_comparison,
    .survey = csv_of_survey,
    .fleet = report::fleet_csv};

constexpr Writer formats::findings{.name = "findings",
                                   .ending = "findings.csv",
                                   .runs = csv_of_findings,
                                   .comparison = csv_of_comparison};

constexpr Writer formats::curves{.name = "curves", .ending = "curves.csv", .runs = csv_of_curves};

}  // namespace clprobe
