// SPDX-License-Identifier: Apache-2.0
// The format `json`: run documents, and comparisons for programs.
#include <fmt/format.h>

#include <optional>

#include "clprobe/stacks.hpp"
#include "present/api/report.hpp"
#include "present/comparison.hpp"
#include "present/fleet.hpp"
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

/// Returns the changes of each run, grouped by verdict as in the format `table`.
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

using survey::Row;

Json sizes_json(const survey::Signature& of, const survey::Sizes& sizes) {
  if (of.dimensions == 0 || sizes == survey::Sizes{}) return nullptr;
  Json list = Json::array();
  for (std::uint32_t i = 0; i < of.dimensions; ++i) list.push_back(sizes.at(i));
  return list;
}

Json row_json(const Row& row, const survey::Sum& total, const survey::KernelShare& kernel) {
  const survey::Signature& of = row.signature;
  const bool is_timed = row.sum.timed > 0;
  return {{"kernel", of.kernel},
          {"program", report::program_text(of.program)},
          {"program_kind", to_word(of.program.kind)},
          {"device", of.device},
          {"global", sizes_json(of, of.global)},
          {"local", sizes_json(of, of.local)},
          {"uses_svm", row.uses_svm},
          {"launches", row.sum.launches},
          {"timed", row.sum.timed},
          {"estimated", row.sum.estimated},
          {"total_ns", is_timed ? Json(row.sum.total_ns) : Json()},
          {"min_ns", is_timed ? Json(row.sum.min_ns) : Json()},
          {"max_ns", is_timed ? Json(row.sum.max_ns) : Json()},
          {"share", is_timed ? Json(row.sum.share_of(total)) : Json()},
          {"kernel_share", is_timed ? Json(kernel.of_time) : Json()},
          {"is_main", kernel.is_main}};
}

Json gaps_json(const survey::Survey& survey, bool of_launches) {
  Json list = Json::array();
  for (const survey::GapRow& row : survey::all_gaps()) {
    const auto found = survey.gaps.find(row.gap);
    if (found == survey.gaps.end() || survey::is_of_launches(row.gap) != of_launches) continue;
    list.push_back({{"reason", row.word}, {"count", found->second}});
  }
  return list;
}

std::string json_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                               const TableStyle& /*style*/) {
  Json document{
      {"schema", "clprobe-comparison"},      {"schema_version", 1},
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

std::string json_of_survey(const SurveyedApp& app, const TableStyle& /*style*/) {
  const survey::Survey& survey = app.survey;
  const survey::Sum total = survey.total();
  Json document{{"schema", "clprobe-survey"},
                {"schema_version", 1},
                {"tool",
                 {{"version", app.tool.version},
                  {"commit", app.tool.commit},
                  {"compiler", app.tool.compiler}}},
                {"started", app.started},
                {"app", app.words},
                {"status", app.signal == 0 ? Json(app.status) : Json()},
                {"signal", app.signal == 0 ? Json() : Json(app.signal)},
                {"interrupted", app.interrupted},
                {"wall_s", app.wall_s},
                {"device_ns", total.total_ns},
                {"launches", total.launches},
                {"timed", total.timed},
                {"estimated", total.estimated},
                {"has_doubtful_times", survey::has_doubtful_times(survey)},
                {"processes", Json::array()},
                {"kernels", Json::array()},
                {"not_timed", gaps_json(survey, true)},
                {"not_counted", gaps_json(survey, false)}};
  for (const survey::Process& process : survey.processes) {
    document["processes"].push_back({{"id", process.id}, {"name", process.name}});
  }
  const std::vector<survey::KernelShare> shares = survey::kernel_shares(survey.rows);
  for (std::size_t i = 0; i < survey.rows.size(); ++i) {
    document["kernels"].push_back(row_json(survey.rows[i], total, shares[i]));
  }
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// Returns the runs as JSON: for a file with a single run, its document; otherwise an array. Stdout
/// always gets an array, since its readers do not know the number of devices.
std::string json_of_runs(std::span<const Run> runs, const TableStyle& style) {
  return style.is_stream ? to_json_array(runs) : to_json(runs);
}

}  // namespace

constexpr Writer formats::json{.name = "json",
                               .ending = ".json",
                               .runs = json_of_runs,
                               .comparison = json_of_comparison,
                               .survey = json_of_survey,
                               .fleet = report::fleet_json};

}  // namespace clprobe
