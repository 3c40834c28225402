// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "clprobe/report.hpp"
#include "report/safe_text.hpp"

namespace clprobe {
namespace {

using report::csv_cell;

// The shortest digits that read back as the same number, whatever the locale.
std::string end_cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string row_of_finding(const std::string& lead, const Finding& finding) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", lead, csv_cell(finding.series),
                     finding.level ? fmt::format("{}", *finding.level) : "", csv_cell(finding.name),
                     end_cell(finding.value), end_cell(finding.low), end_cell(finding.high),
                     csv_cell(finding.unit), csv_cell(finding.label), to_word(finding.role),
                     to_word(finding.source), csv_cell(finding.method), csv_cell(finding.reason));
}

}  // namespace

std::string render_findings_csv(std::span<const Run> runs) {
  std::string csv =
      "device_index,device,driver,started,probe,series,level,finding,value,low,high,unit,label,"
      "role,source,method,reason\n";
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      const std::string lead =
          fmt::format("{},{},{},{},{}", run.device.index, csv_cell(run.device.name),
                      csv_cell(run.device.driver), csv_cell(run.started), csv_cell(result.probe));
      for (const Finding& finding : result.findings) csv += row_of_finding(lead, finding);
    }
  }
  return csv;
}

}  // namespace clprobe
