// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "clprobe/survey_report.hpp"
#include "report/page.hpp"
#include "report/survey_words.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace {

using report::Column;
using report::devices_of;
using report::doubt_text;
using report::end_text;
using report::estimated_text;
using report::gap_texts;
using report::Ink;
using report::Page;
using report::remark_of;
using report::share_text;
using report::shared_names;
using report::sizes_text;
using report::survey_summary;
using report::total_time;
using survey::Row;
using survey::Survey;

// A screen; what comes behind them hardly counts.
constexpr std::size_t usual_rows = 20;

std::string mean_time(const survey::Sum& sum) {
  if (sum.timed == 0) return "-";
  return format_seconds(sum.mean_ns() / ns_per_second);
}

/// Names may be as long as a compiler makes them, and differ at their ends.
std::string short_name(const Page& page, const std::string& name, int columns) {
  std::string shown = page.show(name);
  if (display_width(shown) <= columns) return shown;
  const std::string_view mark = page.is_unicode() ? "…" : "...";
  const int tail_columns = (columns - display_width(mark)) / 2;
  std::string tail;
  std::vector<std::string> letters = characters(shown);
  while (display_width(letters.back() + tail) <= tail_columns) {
    tail.insert(0, letters.back());
    letters.pop_back();
  }
  return cut_to_width(shown, columns - display_width(tail), mark) + tail;
}

std::vector<std::string> cells_of(const Page& page, const Row& row, const survey::Sum& total,
                                  bool is_main) {
  return {is_main ? "*" : "",
          share_text(row, total),
          page.show(total_time(row.sum)),
          fmt::format("{}", row.sum.launches),
          page.show(mean_time(row.sum)),
          sizes_text(row.signature, row.signature.global, "-"),
          sizes_text(row.signature, row.signature.local, "-")};
}

void add_rows(Page& page, const Survey& survey, bool has_all) {
  constexpr int min_name_columns = 12;
  const survey::Sum total = survey.total();
  const bool has_devices = devices_of(survey).size() > 1;
  const std::vector<survey::KernelShare> shares = survey::kernel_shares(survey.rows);
  const std::size_t shown = has_all ? survey.rows.size() : std::min(usual_rows, survey.rows.size());
  std::vector<Column> columns{
      {""},           {"share", true, 1}, {"time", true}, {"launches", true},
      {"each", true}, {"global"},         {"local"}};
  std::vector<report::Row> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back({cells_of(page, survey.rows[i], total, shares[i].is_main)});
  }
  constexpr int gaps = 4;  // before the name, and before the remark
  const int room = page.width() - Page::table_width(columns, rows, 0) - gaps;
  columns.push_back({"kernel"});
  columns.push_back({""});
  const std::set<std::string> shared = shared_names(survey);
  for (std::size_t i = 0; i < shown; ++i) {
    const Row& row = survey.rows[i];
    rows[i].cells.push_back(
        short_name(page, row.signature.kernel, std::max(room, min_name_columns)));
    std::string remark = remark_of(row, shared);
    if (has_devices) remark += (remark.empty() ? "on " : ", on ") + row.signature.device;
    rows[i].remark = page.show(remark);
  }
  page.table(columns, rows, 0);
}

void add_notes(Page& page, const Survey& survey, bool has_all) {
  const survey::Sum total = survey.total();
  double main_share = 0.0;
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  const std::size_t count = survey::count_main_kernels(kernels);
  std::vector<std::string> sums;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = kernels[i].sum.share_of(total);
    main_share += share;
    if (kernels[i].rows.size() == 1) continue;
    sums.push_back(fmt::format("{} {:.1f} % in {} rows",
                               page.show(survey.rows[kernels[i].rows.front()].signature.kernel),
                               100.0 * share, kernels[i].rows.size()));
  }
  if (count > 0) {
    page.prose("",
               fmt::format("* together {:.0f} % of the device time{}{}", 100.0 * main_share,
                           sums.empty() ? "" : ": ", fmt::join(sums, ", ")),
               Ink::plain);
  }
  if (!has_all && survey.rows.size() > usual_rows) {
    double rest = 0.0;
    for (std::size_t i = usual_rows; i < survey.rows.size(); ++i) {
      rest += survey.rows[i].sum.share_of(total);
    }
    page.prose("",
               fmt::format("{} more, {:.1f} % of the device time (-v shows them)",
                           format_count(survey.rows.size() - usual_rows, "row"), 100.0 * rest),
               Ink::plain);
  }
  const std::string doubt = doubt_text(survey);
  if (!doubt.empty()) page.prose("warning: ", doubt, Ink::caution);
  const std::string estimated = estimated_text(survey);
  if (!estimated.empty()) page.prose("estimated: ", estimated, Ink::plain);
  const std::vector<std::string> untimed = gap_texts(survey, true);
  if (!untimed.empty()) {
    page.prose("not timed: ", fmt::format("{}", fmt::join(untimed, "; ")), Ink::caution);
  }
  const std::vector<std::string> unseen = gap_texts(survey, false);
  if (!unseen.empty()) {
    page.prose("not counted: ", fmt::format("{}", fmt::join(unseen, "; ")), Ink::caution);
  }
}

}  // namespace

std::string render_survey_table(const SurveyedApp& app, const TableStyle& style) {
  Page page(style);
  const std::string name = app.words.empty() ? "" : app.words.front();
  const std::string end = end_text(app);
  page.prose("",
             fmt::format("{}: {}, {}{}", name, format_seconds(app.wall_s), survey_summary(app),
                         end.empty() ? "" : fmt::format("; it {}", end)),
             Ink::heading);
  const std::vector<std::string> devices = devices_of(app.survey);
  for (const std::string& device : devices) page.prose("on ", device, Ink::faint);
  if (app.survey.processes.size() > 1) {
    page.line({{fmt::format("{} processes", app.survey.processes.size()), Ink::faint}});
  }
  if (!app.survey.rows.empty()) {
    page.blank();
    add_rows(page, app.survey, style.all_points);
  }
  add_notes(page, app.survey, style.all_points);
  return page.text();
}

}  // namespace clprobe
