// SPDX-License-Identifier: Apache-2.0
// A survey as JSON, CSV and Markdown.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "clprobe/survey_report.hpp"
#include "report/safe_text.hpp"
#include "report/survey_words.hpp"

namespace clprobe {
namespace {

using report::csv_cell;
using report::devices_of;
using report::doubt_text;
using report::end_text;
using report::escape_markdown;
using report::estimated_text;
using report::gap_texts;
using report::markdown_row;
using report::program_text;
using report::remark_of;
using report::share_text;
using report::shared_names;
using report::sizes_text;
using report::survey_summary;
using report::total_time;
using survey::Row;
using Json = nlohmann::ordered_json;

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
          {"program", program_text(of.program)},
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

std::string sizes_cells(const survey::Sizes& sizes) {
  return fmt::format("{},{},{}", sizes[0], sizes[1], sizes[2]);
}

/// Empty where nothing was timed.
std::string times_cells(const Row& row, const survey::Sum& total) {
  if (row.sum.timed == 0) return ",,,";
  return fmt::format("{},{},{},{}", row.sum.total_ns, row.sum.min_ns, row.sum.max_ns,
                     row.sum.share_of(total));
}

}  // namespace

std::string render_survey_json(const SurveyedApp& app) {
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

std::string render_survey_csv(const SurveyedApp& app) {
  std::string csv =
      "kernel,program,program_kind,device,dimensions,global_0,global_1,global_2,local_0,local_1,"
      "local_2,uses_svm,launches,timed,estimated,total_ns,min_ns,max_ns,share,is_main\n";
  const survey::Sum total = app.survey.total();
  const std::vector<survey::KernelShare> shares = survey::kernel_shares(app.survey.rows);
  for (std::size_t i = 0; i < app.survey.rows.size(); ++i) {
    const Row& row = app.survey.rows[i];
    const survey::Signature& of = row.signature;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(of.kernel),
                       program_text(of.program), to_word(of.program.kind), csv_cell(of.device),
                       of.dimensions, sizes_cells(of.global), sizes_cells(of.local),
                       row.uses_svm ? 1 : 0, row.sum.launches, row.sum.timed, row.sum.estimated,
                       times_cells(row, total), shares[i].is_main ? 1 : 0);
  }
  return csv;
}

std::string render_survey_markdown(const SurveyedApp& app) {
  const survey::Survey& survey = app.survey;
  const survey::Sum total = survey.total();
  const std::string name = app.words.empty() ? "" : app.words.front();
  const std::string end = end_text(app);
  std::string text =
      fmt::format("**{}**: {}, {}{}\n\n", escape_markdown(name), format_seconds(app.wall_s),
                  survey_summary(app), end.empty() ? "" : fmt::format("; the program {}", end));
  text += markdown_row({"kernel", "global", "local", "share", "device time", "launches", ""});
  text += "| :--- | :--- | :--- | ---: | ---: | ---: | :--- |\n";
  const std::set<std::string> shared = shared_names(survey);
  for (const Row& row : survey.rows) {
    text +=
        markdown_row({escape_markdown(row.signature.kernel),
                      sizes_text(row.signature, row.signature.global, "-"),
                      sizes_text(row.signature, row.signature.local, "-"), share_text(row, total),
                      total_time(row.sum), fmt::format("{}", row.sum.launches),
                      escape_markdown(remark_of(row, shared))});
  }
  for (const std::string& device : devices_of(survey)) {
    text += fmt::format("\non {}\n", escape_markdown(device));
  }
  const std::string doubt = doubt_text(survey);
  if (!doubt.empty()) text += fmt::format("\nwarning: {}\n", doubt);
  const std::string estimated = estimated_text(survey);
  if (!estimated.empty()) text += fmt::format("\nestimated: {}\n", estimated);
  for (const bool of_launches : {true, false}) {
    for (const std::string& gap : gap_texts(survey, of_launches)) {
      text += fmt::format("\n{}: {}\n", of_launches ? "not timed" : "not counted", gap);
    }
  }
  return text;
}

}  // namespace clprobe
