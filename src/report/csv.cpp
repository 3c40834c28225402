// SPDX-License-Identifier: Apache-2.0
// Long forms: one row a sample, a finding, or a point. A point that failed has none: JSON tells
// why.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/report.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/safe_text.hpp"

namespace clprobe {
namespace {

using report::csv_cell;
using report::name_of;

// The shortest digits that read back as the same number, whatever the locale.
std::string value_cell(const Value* value) {
  if (value == nullptr) return {};
  if (const auto* const whole = std::get_if<std::int64_t>(value)) return fmt::format("{}", *whole);
  if (const auto* const number = std::get_if<double>(value)) return fmt::format("{}", *number);
  return csv_cell(std::get<std::string>(*value));
}

template <typename Number>
std::string optional_cell(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : std::string();
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

// A single sample has a time only where a clock timed it; else times are slopes between samples.
std::string time_cell(const Point& point, const Sample& sample, const DeviceInfo& device) {
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
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", before, sample.accesses,
                       optional_cell(sample.ticks), optional_cell(sample.event_ns), sample.host_ns,
                       sample.witness, sample.visit, time_cell(point, sample, device));
  }
}

std::string row_of_finding(const std::string& lead, const Finding& finding) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", lead, csv_cell(finding.series),
                     optional_cell(finding.level), csv_cell(finding.name),
                     optional_cell(finding.value), optional_cell(finding.low),
                     optional_cell(finding.high), csv_cell(finding.unit), csv_cell(finding.label),
                     to_word(finding.role), to_word(finding.source), csv_cell(finding.method),
                     csv_cell(finding.reason));
}

}  // namespace

std::string render_csv(std::span<const Run> runs) {
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

std::string render_findings_csv(std::span<const Run> runs) {
  std::string csv =
      "device_index,device,driver,started,probe,series,level,finding,value,low,high,unit,label,"
      "role,source,method,reason\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      const std::string lead =
          fmt::format("{},{},{},{},{}", run.device.index, csv_cell(name_of(run)),
                      csv_cell(run.device.driver), csv_cell(run.started), csv_cell(result.probe));
      for (const Finding& finding : result.findings) csv += row_of_finding(lead, finding);
    }
  }
  return csv;
}

std::string render_curves_csv(std::span<const Run> runs) {
  std::string csv = "device,probe,series,x_name,x,value,low,high,unit\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      const report::Chart chart = report::chart_of(result, run.device);
      for (const report::ChartSeries& series : chart.series) {
        const std::string lead =
            fmt::format("{},{},{},{}", csv_cell(name_of(run)), csv_cell(result.probe),
                        csv_cell(series.name), csv_cell(chart.x_name));
        std::vector<report::ChartPoint> points = series.points;  // as measured: refined at the end
        std::stable_sort(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.x < b.x; });
        for (const report::ChartPoint& point : points) {
          csv += fmt::format("{},{},{},{},{},{}\n", lead, point.x, point.y, point.low, point.high,
                             chart.y_unit);
        }
      }
    }
  }
  return csv;
}

}  // namespace clprobe
