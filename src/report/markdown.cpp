// SPDX-License-Identifier: Apache-2.0
// Tables to paste into an issue: the findings with their intervals, and the warnings.
#include <fmt/format.h>

#include <vector>

#include "clprobe/report.hpp"
#include "report/beside.hpp"
#include "report/card.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/safe_text.hpp"
#include "report/side_by_side.hpp"
#include "report/stacks.hpp"

namespace clprobe {
namespace report {
namespace {

std::string full_text(const Finding* finding) {
  if (finding == nullptr) return {};
  const std::string value = value_text(*finding);
  const std::string reason = reason_text(*finding);
  if (finding->value && !reason.empty()) {
    return escape_markdown(fmt::format("{} {} {}", value, interval_text(*finding), reason));
  }
  const std::string detail = finding->value ? interval_text(*finding) : reason;
  if (value.empty() || detail.empty()) return escape_markdown(value + detail);
  return escape_markdown(fmt::format("{}{}{}", value, finding->value ? " " : ": ", detail));
}

std::string findings_table(const std::vector<Finding>& findings) {
  const FindingGrid grid = arrange(findings);
  if (grid.rows.empty()) return {};  // advice stands below the table
  std::vector<std::string> titles{"series", "level"};
  for (const std::string& name : grid.names) titles.push_back(escape_markdown(words(name)));
  std::string text = markdown_row(titles) + markdown_rule(titles.size(), 1);
  for (const LevelRow& row : grid.rows) {
    std::vector<std::string> cells{escape_markdown(row.series), level_text(row.level)};
    for (const Finding* const finding : row.cells) cells.push_back(full_text(finding));
    text += markdown_row(cells);
  }
  return text + '\n';
}

std::string shares_table(const ShareTable& table) {
  const auto row_of = [](const std::vector<std::string>& texts) {
    std::vector<std::string> cells;
    cells.reserve(texts.size());
    for (const std::string& text : texts) cells.push_back(escape_markdown(text));
    return markdown_row(cells);
  };
  std::string text = escape_markdown(table.title) + ":\n\n";
  text += row_of(table.head) + markdown_rule(table.head.size(), 1);
  for (const std::vector<std::string>& row : table.rows) text += row_of(row);
  text += '\n';
  for (const std::string& remark : table.remarks) text += escape_markdown(remark) + "\n\n";
  return text;
}

/// Where what a view has beside its values is largest: of each of the points CSV and JSON say it.
std::string beside_table(const ProbeResult& result) {
  const std::vector<LargestBeside> largest = largest_beside(result);
  if (largest.empty()) return {};
  const std::string what = escape_markdown(parameter_title(result.view.beside));
  std::string text =
      markdown_row({"series", fmt::format("largest {}", what),
                    fmt::format("at {}", escape_markdown(parameter_title(x_of(result))))});
  text += markdown_rule(3, 1);
  for (const LargestBeside& each : largest) {
    text += markdown_row(
        {escape_markdown(each.series), escape_markdown(each.value), escape_markdown(each.place)});
  }
  return text + '\n';
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
  for (const ShareTable& table : share_tables(result.findings)) text += shares_table(table);
  for (const std::vector<Finding>& block : blocks_of(without_stacks(result.findings))) {
    text += findings_table(block);
  }
  text += beside_table(result);
  text += advice_list(result.findings);
  const std::string failures = failures_text(result);
  if (!failures.empty()) text += fmt::format("- **Warning:** {}\n\n", escape_markdown(failures));
  return text + warnings_list(result.warnings);
}

std::string levels_table(const DeviceCard& card) {
  if (card.levels.empty()) return {};
  std::vector<std::string> titles{"level", "latency", "cycles", "capacity"};
  for (const std::string& title : card.columns) titles.push_back(escape_markdown(title));
  titles.emplace_back("type");
  std::string text = markdown_row(titles) + markdown_rule(titles.size(), 1);
  const auto with = [](const std::string& value, const std::string& interval) {
    return escape_markdown(value + (interval.empty() ? "" : " " + interval));
  };
  for (const DeviceLevel& level : card.levels) {
    const LevelTexts texts = texts_of(level.own);
    std::vector<std::string> cells{
        escape_markdown(level.own.name), with(texts.latency, texts.interval),
        escape_markdown(texts.cycles), with(texts.capacity, texts.bracket)};
    for (const std::string& each : level.columns) cells.push_back(escape_markdown(each));
    cells.push_back(escape_markdown(what_text(level)));
    text += markdown_row(cells);
  }
  return text + '\n';
}

std::string card_section(const DeviceCard& card) {
  std::string text;
  if (!card.facts.empty()) text += escape_markdown(card.facts) + "\n\n";
  text += levels_table(card);
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

std::string shared_table(const SharedGrid& grid, std::span<const Run> runs) {
  std::vector<std::string> titles{escape_markdown(grid.probe), "level", "finding"};
  for (const std::string& title : run_titles(runs)) titles.push_back(escape_markdown(title));
  std::string text = markdown_row(titles) + markdown_rule(titles.size(), 3);
  for (const SharedRow& row : grid.rows) {
    for (std::size_t name = 0; name < grid.names.size(); ++name) {
      bool has_any = false;
      std::vector<std::string> cells{escape_markdown(row.series), level_text(row.level),
                                     escape_markdown(words(grid.names[name]))};
      for (const auto& of_run : row.cells) {
        has_any = has_any || of_run[name] != nullptr;
        cells.push_back(escape_markdown(shared_text(of_run[name], "")));
      }
      if (has_any) text += markdown_row(cells);
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
