// SPDX-License-Identifier: Apache-2.0
// Long form, one row a sample. A point that failed has no samples and no row: JSON tells why.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/report.hpp"
#include "report/curves.hpp"
#include "report/safe_text.hpp"

namespace clprobe {
namespace {

// The shortest digits that read back as the same number, whatever the locale.
std::string value_cell(const Value* value) {
  if (value == nullptr) return {};
  if (const auto* const whole = std::get_if<std::int64_t>(value)) return fmt::format("{}", *whole);
  if (const auto* const number = std::get_if<double>(value)) return fmt::format("{}", *number);
  return report::csv_cell(std::get<std::string>(*value));
}

std::string optional_cell(const std::optional<std::uint64_t>& value) {
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
  std::string before = lead + ',' + report::csv_cell(point.series);
  for (const std::string& name : names) before += ',' + value_cell(report::find_known(point, name));
  for (const Sample& sample : point.samples) {
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", before, sample.accesses,
                       optional_cell(sample.ticks), optional_cell(sample.event_ns), sample.host_ns,
                       sample.witness, sample.visit, time_cell(point, sample, device));
  }
}

}  // namespace

std::string render_csv(std::span<const Run> runs) {
  const std::vector<std::string> names = parameter_names(runs);
  std::string csv = "device_index,device,driver,probe,series";
  for (const std::string& name : names) csv += ',' + report::csv_cell(name);
  csv += ",accesses,ticks,event_ns,host_ns,witness,visit,ns_per_access\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      const std::string lead =
          fmt::format("{},{},{},{}", run.device.index, report::csv_cell(run.device.name),
                      report::csv_cell(run.device.driver), report::csv_cell(result.probe));
      for (const Point& point : result.points) add_point(csv, point, lead, names, run.device);
    }
  }
  return csv;
}

}  // namespace clprobe
