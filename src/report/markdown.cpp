// SPDX-License-Identifier: Apache-2.0
// Tables to paste into an issue: the findings with their intervals, and the warnings.
#include <fmt/format.h>

#include <vector>

#include "clprobe/report.hpp"
#include "report/blocks.hpp"
#include "report/card.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/safe_text.hpp"
#include "report/side_by_side.hpp"

namespace clprobe {
namespace report {
namespace {

/// Where what a view has beside its values is largest: of each of the points CSV and JSON say it.
std::string beside_table(const ProbeResult& result) {
  const std::vector<LargestBeside> largest = largest_beside(result);
  if (largest.empty()) return {};
  Table table{.head = {"series", "largest " + parameter_title(result.view.beside),
                       "at " + parameter_title(x_of(result))}};
  for (const LargestBeside& each : largest) {
    table.rows.push_back({{each.series}, {each.value}, {each.place}});
  }
  return to_markdown(table);
}

std::string advice_list(const std::vector<Finding>& findings) {
  std::string text;
  for (const Advice& advice : advice_in(findings)) {
    text +=
        fmt::format("- {}: {}\n", escape_markdown(advice.series), escape_markdown(advice.sentence));
  }
  return text.empty() ? text : text + '\n';
}

std::string warnings_list(const std::vector<Warning>& warnings) {
  std::string text;
  for (const std::string& sentence : warning_sentences(warnings)) {
    text += fmt::format("- **Warning:** {}\n", escape_markdown(sentence));
  }
  return text.empty() ? text : text + '\n';
}

std::string result_section(const ProbeResult& result) {
  std::string text = fmt::format("### {}\n\n{}\n\n", escape_markdown(result.probe),
                                 escape_markdown(result_text(result)));
  for (const Shares& shares : shares_tables(result.findings)) {
    text += escape_markdown(shares.table.title) + ":\n\n" + to_markdown(shares.table);
    for (const std::string& remark : shares.remarks) text += escape_markdown(remark) + "\n\n";
  }
  for (const Table& table : findings_tables(result.findings, "")) text += to_markdown(table);
  text += beside_table(result);
  text += advice_list(result.findings);
  const std::string failures = failures_text(result);
  if (!failures.empty()) text += fmt::format("- **Warning:** {}\n\n", escape_markdown(failures));
  return text + warnings_list(result.warnings);
}

std::string card_section(const DeviceCard& card) {
  std::string text;
  if (!card.facts.empty()) text += escape_markdown(card.facts) + "\n\n";
  if (!card.levels.empty()) text += to_markdown(levels_table(card));
  std::string lines;
  for (const CardLine& line : all_lines(card)) {
    lines += fmt::format("- **{}** {}\n", escape_markdown(line.topic), escape_markdown(line.text));
  }
  return lines.empty() ? text : text + lines + '\n';
}

std::string run_section(const Run& run) {
  std::string text = fmt::format("## {}\n\n", escape_markdown(name_of(run)));
  text += card_section(card_of(run));
  for (const std::string& fact : device_facts(run.device)) {
    text += fmt::format("- {}\n", escape_markdown(fact));
  }
  text += fmt::format("- timed by {}\n", escape_markdown(timer_text(run.device)));
  text += fmt::format("- clprobe {} ({}), {}, seed {}\n\n", escape_markdown(run.tool.version),
                      escape_markdown(run.tool.commit), escape_markdown(run.started), run.seed);
  if (run.interrupted) text += "**Interrupted:** only earlier measurements are shown.\n\n";
  text += warnings_list(run.warnings);
  for (const ProbeResult& result : run.results) text += result_section(result);
  return text;
}

}  // namespace
}  // namespace report

std::string render_markdown(std::span<const Run> runs) {
  std::string text;
  if (runs.size() > 1) {
    for (const report::SharedGrid& grid : report::compare_findings(runs)) {
      if (grid.rows.empty()) continue;
      text += report::to_markdown(report::shared_table(grid, report::run_titles(runs)));
    }
  }
  for (const Run& run : runs) text += report::run_section(run);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace clprobe
