// SPDX-License-Identifier: Apache-2.0
// Tables to paste into an issue: the findings with their intervals, and the warnings.
#include <fmt/format.h>

#include <vector>

#include "clprobe/report.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/side_by_side.hpp"
#include "report/text.hpp"

namespace clprobe {
namespace report {
namespace {

// A driver's name must not open a column, a link, an emphasis or a tag.
std::string escaped(std::string_view text) {
  constexpr std::string_view special = "\\`*_[]<>|~#&";
  std::string shown;
  for (const char c : printable(text)) {
    if (special.find(c) != std::string_view::npos) shown += '\\';
    shown += c;
  }
  return shown;
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += ' ' + cell + " |";
  return row + '\n';
}

// The first columns are words, the others values.
std::string rule_of(std::size_t columns, std::size_t words_columns) {
  std::string rule = "|";
  for (std::size_t i = 0; i < columns; ++i) rule += i < words_columns ? " :--- |" : " ---: |";
  return rule + '\n';
}

std::string full_text(const Finding* finding) {
  if (finding == nullptr) return {};
  const std::string value = value_text(*finding);
  const std::string detail = finding->value ? interval_text(*finding) : reason_text(*finding);
  if (value.empty() || detail.empty()) return escaped(value + detail);
  return escaped(fmt::format("{}{}{}", value, finding->value ? " " : ": ", detail));
}

std::string findings_table(const std::vector<Finding>& findings) {
  if (findings.empty()) return {};
  const FindingGrid grid = arrange(findings);
  std::vector<std::string> titles{"series", "level"};
  for (const std::string& name : grid.names) titles.push_back(escaped(words(name)));
  std::string text = row_of(titles) + rule_of(titles.size(), 1);
  for (const LevelRow& row : grid.rows) {
    std::vector<std::string> cells{escaped(row.series), level_text(row.level)};
    for (const Finding* const finding : row.cells) cells.push_back(full_text(finding));
    text += row_of(cells);
  }
  text += '\n';
  const std::vector<Advice> all_advice = advice_in(findings);
  for (const Advice& advice : all_advice) {
    text += fmt::format("- {}: {}\n", escaped(advice.series), escaped(advice.sentence));
  }
  return all_advice.empty() ? text : text + '\n';
}

std::string warnings_list(const std::vector<Warning>& warnings) {
  std::string text;
  for (const Warning& warning : warnings) {
    text += fmt::format("- **Warning:** {}\n", escaped(describe_warning(warning)));
  }
  return text.empty() ? text : text + '\n';
}

std::string result_section(const ProbeResult& result) {
  std::string text =
      fmt::format("### {}\n\n{}\n\n", escaped(result.probe), escaped(result_text(result)));
  text += findings_table(result.findings);
  const std::string failures = failures_text(result);
  if (!failures.empty()) text += fmt::format("- **Warning:** {}\n\n", escaped(failures));
  return text + warnings_list(result.warnings);
}

std::string run_section(const Run& run) {
  std::string text = fmt::format("## {}\n\n", escaped(run.device.name));
  for (const std::string& fact : device_facts(run.device)) {
    text += fmt::format("- {}\n", escaped(fact));
  }
  text += fmt::format("- timed by {}\n", escaped(timer_text(run.device)));
  text += fmt::format("- clprobe {} ({}), {}, seed {}\n\n", escaped(run.tool.version),
                      escaped(run.tool.commit), escaped(run.started), run.seed);
  if (run.interrupted) text += "**Interrupted:** what was measured until then is shown.\n\n";
  text += warnings_list(run.warnings);
  for (const ProbeResult& result : run.results) text += result_section(result);
  return text;
}

std::string shared_table(const SharedGrid& grid, std::span<const Run> runs) {
  std::vector<std::string> titles{escaped(grid.probe), "level", "finding"};
  for (const Run& run : runs) titles.push_back(escaped(device_title(run.device)));
  std::string text = row_of(titles) + rule_of(titles.size(), 3);
  for (const SharedRow& row : grid.rows) {
    for (std::size_t name = 0; name < grid.names.size(); ++name) {
      bool has_any = false;
      std::vector<std::string> cells{escaped(row.series), level_text(row.level),
                                     escaped(words(grid.names[name]))};
      for (const auto& of_run : row.cells) {
        has_any = has_any || of_run[name] != nullptr;
        cells.push_back(escaped(shared_text(of_run[name], "")));
      }
      if (has_any) text += row_of(cells);
    }
  }
  return text + '\n';
}

}  // namespace
}  // namespace report

std::string render_markdown(std::span<const Run> runs) {
  std::string text;
  if (runs.size() > 1) {
    for (const report::SharedGrid& grid : report::compare_findings(runs)) {
      if (!grid.rows.empty()) text += report::shared_table(grid, runs);
    }
  }
  for (const Run& run : runs) text += report::run_section(run);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace clprobe
