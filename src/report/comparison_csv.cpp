// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "clprobe/comparison_report.hpp"
#include "clprobe/stacks.hpp"
#include "report/comparison_text.hpp"
#include "report/safe_text.hpp"

namespace clprobe {
namespace {

// The shortest digits that read back as the same number, whatever the locale.
std::string number_cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string level_cell(const std::optional<int>& level) {
  return level ? fmt::format("{}", *level) : std::string();
}

/// A number, or the word that the finding concluded.
std::string finding_cells(const ComparedFinding* compared) {
  if (compared == nullptr) return ",,,";
  const Finding finding = report::shown_finding(*compared);
  return fmt::format("{},{},{},{}", number_cell(finding.value), number_cell(finding.low),
                     number_cell(finding.high), report::csv_cell(finding.label));
}

/// Which share of a bar it is, and in which view of it.
std::string share_cells(const Finding& finding) {
  if (!is_told_by_label(finding)) return ",";
  return fmt::format("{},{}", report::csv_cell(finding.label), report::csv_cell(finding.method));
}

/// The numbers behind a verdict. An open end of an interval is left empty.
std::string judged_cells(const Judgement& judged) {
  const auto finite = [](double end) {
    return std::isfinite(end) ? number_cell(end) : std::string();
  };
  return fmt::format("{},{},{},{}", judged.interval ? finite(judged.interval->low) : "",
                     judged.interval ? finite(judged.interval->high) : "",
                     judged.resolution ? finite(*judged.resolution) : "",
                     number_cell(judged.p_value));
}

}  // namespace

std::string render_comparison_csv(const Comparison& comparison, std::span<const RunDigest> runs) {
  std::string csv =
      "run,file,device,driver,started,probe,series,level,finding,unit,baseline_value,baseline_low,"
      "baseline_high,baseline_label,value,low,high,label,ratio,verdict,reason,part,view,"
      "interval_low,interval_high,resolution_share,p_value,run_level,run_unit\n";
  for (const ComparedRow& row : comparison.rows) {
    const Finding& finding = row.baseline->finding;
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const ComparedCell& cell = row.cells[run];
      if (run == comparison.baseline || !report::has_content(cell)) continue;
      csv += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", report::run_letter(run),
          report::csv_cell(runs[run].file), report::csv_cell(runs[run].device),
          report::csv_cell(runs[run].driver), report::csv_cell(runs[run].started),
          report::csv_cell(row.probe), report::csv_cell(finding.series), level_cell(finding.level),
          report::csv_cell(finding.name), report::csv_cell(finding.unit),
          finding_cells(row.baseline), finding_cells(cell.finding),
          number_cell(cell.judgement.ratio),
          cell.judgement.reason.empty() ? "" : to_word(cell.judgement.verdict),
          report::csv_cell(cell.judgement.reason), share_cells(finding),
          judged_cells(cell.judgement),
          cell.finding == nullptr ? "" : level_cell(cell.finding->finding.level),
          cell.finding == nullptr ? "" : report::csv_cell(cell.finding->finding.unit));
    }
  }
  return csv;
}

}  // namespace clprobe
