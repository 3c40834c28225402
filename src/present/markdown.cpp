// SPDX-License-Identifier: Apache-2.0
// The format `markdown`: tables for an issue, with intervals and warnings.
#include <fmt/format.h>

#include <vector>

#include "present/api/report.hpp"
#include "present/blocks.hpp"
#include "present/card.hpp"
#include "present/comparison.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/fleet.hpp"
#include "present/side_by_side.hpp"

namespace clprobe {
namespace report {
namespace {

void add_notices(std::vector<Prose> notices, std::vector<Block>& blocks) {
  for (Prose& notice : notices) {
    if (notice.lead.empty()) notice.lead = "Warning:";
    blocks.emplace_back(std::move(notice));
  }
}

void add_result(const ProbeResult& result, std::vector<Block>& blocks) {
  blocks.emplace_back(Heading{result.probe});
  blocks.emplace_back(Prose{.text = result_text(result), .is_paragraph = true});
  for (Block& each : shares_blocks(result.findings)) blocks.push_back(std::move(each));
  for (Table& table : findings_tables(result.findings, "")) blocks.emplace_back(std::move(table));
  add_notices(notices_of(result), blocks);
}

void add_run(const Run& run, std::vector<Block>& blocks) {
  const DeviceCard card = card_of(run);
  blocks.emplace_back(Heading{name_of(run), 2});
  if (!card.facts.empty()) blocks.emplace_back(Prose{.text = card.facts, .is_paragraph = true});
  if (!card.levels.empty()) blocks.emplace_back(levels_table(card));
  for (CardLine& line : all_lines(card)) {
    blocks.emplace_back(Prose{.lead = std::move(line.topic), .text = std::move(line.text)});
  }
  blocks.emplace_back(Heading{});
  for (std::string& fact : device_facts(run.device)) {
    blocks.emplace_back(Prose{.text = std::move(fact)});
  }
  blocks.emplace_back(Prose{.text = "timed by " + timer_text(run.device)});
  blocks.emplace_back(Prose{.text = fmt::format("clprobe {} ({}), {}, seed {}", run.tool.version,
                                                run.tool.commit, run.started, run.seed)});
  if (run.interrupted) {
    blocks.emplace_back(
        Prose{.lead = "Interrupted:", .text = "only earlier measurements are shown."});
  }
  add_notices(notices_of(run.warnings), blocks);
  for (const ProbeResult& result : run.results) add_result(result, blocks);
}

}  // namespace
}  // namespace report

namespace {

std::string markdown_of_runs(std::span<const Run> runs, const TableStyle& /*style*/) {
  std::vector<report::Block> blocks;
  if (runs.size() > 1) {
    const report::SideBySide side_by_side(runs);
    for (const std::string& probe : report::probes_of(runs)) {
      report::Table table = side_by_side.table(probe, report::Form::whole);
      if (!table.rows.empty()) blocks.emplace_back(std::move(table));
    }
  }
  for (const Run& run : runs) report::add_run(run, blocks);
  return report::to_markdown(blocks);
}

std::string markdown_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                                   const TableStyle& /*style*/) {
  constexpr int any_width = 1000;
  return report::to_markdown(report::blocks_of(comparison, runs, report::Detail::all, any_width));
}

std::string markdown_of_survey(const SurveyedApp& app, const TableStyle& /*style*/) {
  return report::to_markdown(report::survey_blocks(app, true));
}

}  // namespace

constexpr Writer formats::markdown{.name = "markdown",
                                   .ending = ".md",
                                   .runs = markdown_of_runs,
                                   .comparison = markdown_of_comparison,
                                   .survey = markdown_of_survey,
                                   .fleet = report::fleet_markdown};

}  // namespace clprobe
