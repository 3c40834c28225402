// SPDX-License-Identifier: Apache-2.0
// The format `json`: run documents, and comparisons for programs.
#include <fmt/format.h>

#include <optional>

#include "clprobe/stacks.hpp"
#include "present/api/report.hpp"
#include "present/comparison.hpp"
#include "present/safe_text.hpp"
#include "run/api/json.hpp"

namespace clprobe {
namespace {

using json::Json;

void put_if_any(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put_if_any(Json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = *value;
}

Json counts_json(const VerdictCounts& counts) {
  return {{"same", counts.same},
          {"better", counts.better},
          {"worse", counts.worse},
          {"different", counts.different},
          {"unclear", counts.unclear}};
}

Json runs_json(const Comparison& comparison, std::span<const RunDigest> runs) {
  Json array = Json::array();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    array.push_back({{"file", runs[run].file},
                     {"device", runs[run].device},
                     {"driver", runs[run].driver},
                     {"started", runs[run].started},
                     {"tool", runs[run].tool},
                     {"notes", report::run_notes(comparison, runs, run)},
                     {"interrupted", runs[run].interrupted},
                     {"runs", runs[run].runs},
                     {"verdicts", counts_json(comparison.counts[run])}});
  }
  return array;
}

/// Returns the summary of each run by verdict, as in the table.
Json summary_json(const Comparison& comparison, std::size_t runs) {
  Json array = Json::array();
  for (std::size_t run = 0; run < runs; ++run) {
    if (run == comparison.baseline) continue;
    Json each{{"run", run}};
    for (const report::SummaryPart& part : report::summary_parts(comparison, run)) {
      each[std::string(to_word(part.verdict))] = part.texts;
    }
    array.push_back(std::move(each));
  }
  return array;
}

void put_value(Json& object, const Finding& finding) {
  put_if_any(object, "value", finding.value);
  put_if_any(object, "low", finding.low);
  put_if_any(object, "high", finding.high);
  put_if_any(object, "label", finding.label);
}

void put_judgement(Json& object, const Judgement& judged) {
  if (judged.reason.empty()) return;
  put_if_any(object, "ratio", judged.ratio);
  object["verdict"] = to_word(judged.verdict);
  if (judged.interval) {
    put_if_any(object, "interval_low", report::finite(judged.interval->low));
    put_if_any(object, "interval_high", report::finite(judged.interval->high));
  }
  if (judged.resolution) put_if_any(object, "resolution_share", report::finite(*judged.resolution));
  put_if_any(object, "p_value", judged.p_value);
  if (judged.is_coarse) object["no_interval"] = true;
  object["reason"] = judged.reason;
}

Json row_json(const ComparedRow& row, std::size_t baseline) {
  const Finding& finding = row.baseline->finding;
  Json object{{"probe", row.probe}, {"series", finding.series}, {"name", finding.name}};
  if (finding.level) object["level"] = *finding.level;
  if (is_told_by_label(finding)) {
    object["part"] = finding.label;
    object["view"] = finding.method;
  }
  put_if_any(object, "unit", finding.unit);
  Json base = Json::object();
  put_value(base, report::shown_finding(*row.baseline));
  object["baseline"] = std::move(base);
  Json cells = Json::array();
  for (std::size_t run = 0; run < row.cells.size(); ++run) {
    const ComparedCell& cell = row.cells[run];
    if (run == baseline || !report::has_content(cell)) continue;
    Json each{{"run", run}};
    if (cell.finding != nullptr) {
      put_value(each, report::shown_finding(*cell.finding));
      if (cell.finding->finding.level != finding.level && cell.finding->finding.level) {
        each["level"] = *cell.finding->finding.level;
      }
      const std::string& unit = cell.finding->finding.unit;
      if (unit != finding.unit) put_if_any(each, "unit", unit);
    }
    put_judgement(each, cell.judgement);
    cells.push_back(std::move(each));
  }
  object["runs"] = std::move(cells);
  return object;
}

Json curve_json(const CurveSummary& curve) {
  Json object{{"run", curve.run},
              {"probe", curve.probe},
              {"series", curve.series},
              {"unit", curve.unit},
              {"matched", curve.matched},
              {"only_baseline", curve.only_baseline},
              {"only_here", curve.only_here}};
  if (curve.matched > 0) {
    object["median_ratio"] = curve.median_ratio;
    object["low_ratio"] = curve.low_ratio;
    object["high_ratio"] = curve.high_ratio;
    object["furthest"] = curve.furthest;
    object["furthest_ratio"] = curve.furthest_ratio;
  }
  put_if_any(object, "note", curve.note);
  return object;
}

Json unmatched_json(const Unmatched& each) {
  Json object{{"run", each.run}, {"probe", each.probe}};
  put_if_any(object, "series", each.series);
  if (each.level) object["level"] = *each.level;
  put_if_any(object, "name", each.name);
  object["reason"] = each.reason;
  return object;
}

}  // namespace

std::string comparison_to_json(const Comparison& comparison, std::span<const RunDigest> runs) {
  Json document{
      {"schema", comparison_schema_name},    {"schema_version", comparison_schema_version},
      {"baseline", comparison.baseline},     {"threshold_share", comparison.threshold},
      {"runs", runs_json(comparison, runs)}, {"summary", summary_json(comparison, runs.size())}};
  Json findings = Json::array();
  for (const ComparedRow& row : comparison.rows) {
    findings.push_back(row_json(row, comparison.baseline));
  }
  document["findings"] = std::move(findings);
  Json curves = Json::array();
  for (const CurveSummary& curve : comparison.curves) curves.push_back(curve_json(curve));
  document["curves"] = std::move(curves);
  Json unmatched = Json::array();
  for (const Unmatched& each : comparison.unmatched) unmatched.push_back(unmatched_json(each));
  document["unmatched"] = std::move(unmatched);
  return json::many_lines(document);
}

constexpr Writer formats::json{
    .name = "json",
    .ending = ".json",
    // Readers of stdout do not know the number of devices, so they always get an array.
    .runs =
        [](std::span<const Run> runs, const TableStyle& style) {
          return style.is_stream ? to_json_array(runs) : to_json(runs);
        },
    .comparison = [](const Comparison& comparison, std::span<const RunDigest> runs,
                     const TableStyle&) { return comparison_to_json(comparison, runs); },
    .survey = [](const SurveyedApp& app, const TableStyle&) { return render_survey_json(app); }};

}  // namespace clprobe
