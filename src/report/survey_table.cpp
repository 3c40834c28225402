// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

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
constexpr std::size_t usual_lines = 20;

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

/// What the table shows in one line: a row of the survey, or all rows of one kernel.
struct Line {
  Row row{};
  std::size_t sizes{1};
  bool is_main{false};
};

std::vector<Line> lines_of_rows(const Survey& survey) {
  const std::vector<survey::KernelShare> shares = survey::kernel_shares(survey.rows);
  std::vector<Line> lines;
  for (std::size_t i = 0; i < survey.rows.size(); ++i) {
    lines.push_back({survey.rows[i], 1, shares[i].is_main});
  }
  return lines;
}

std::vector<Line> lines_of_kernels(const Survey& survey) {
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  const std::size_t main_kernels = survey::count_main_kernels(kernels);
  std::vector<Line> lines;
  for (const survey::Kernel& kernel : kernels) {
    Line line{survey.rows[kernel.rows.front()], kernel.rows.size(), lines.size() < main_kernels};
    line.row.sum = kernel.sum;
    for (const std::size_t i : kernel.rows) {
      const Row& other = survey.rows[i];
      line.row.uses_svm |= other.uses_svm;
      if (other.signature.local != line.row.signature.local) line.row.signature.local = {};
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> cells_of(const Page& page, const Line& line, const survey::Sum& total) {
  const Row& row = line.row;
  return {line.is_main ? "*" : "",
          share_text(row, total),
          page.show(total_time(row.sum)),
          fmt::format("{}", row.sum.launches),
          page.show(mean_time(row.sum)),
          line.sizes == 1 ? sizes_text(row.signature, row.signature.global, "-")
                          : fmt::format("{} sizes", line.sizes),
          sizes_text(row.signature, row.signature.local, "-")};
}

void add_lines(Page& page, const Survey& survey, std::span<const Line> lines) {
  constexpr int min_name_columns = 12;
  const survey::Sum total = survey.total();
  const bool has_devices = devices_of(survey).size() > 1;
  std::vector<Column> columns{
      {""},           {"share", true, 1}, {"time", true}, {"launches", true},
      {"each", true}, {"global"},         {"local"}};
  std::vector<report::Row> rows;
  for (const Line& line : lines) rows.push_back({cells_of(page, line, total)});
  constexpr int gaps = 4;  // before the name, and before the remark
  const int room = page.width() - Page::table_width(columns, rows, 0) - gaps;
  columns.push_back({"kernel"});
  columns.push_back({""});
  const std::set<std::string> shared = shared_names(survey);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Row& row = lines[i].row;
    rows[i].cells.push_back(
        short_name(page, row.signature.kernel, std::max(room, min_name_columns)));
    std::string remark = remark_of(row, shared);
    if (has_devices) remark += (remark.empty() ? "on " : ", on ") + row.signature.device;
    rows[i].remark = page.show(remark);
  }
  page.table(columns, rows, 0);
}

/// What is not in the table: kernels behind the last line, and the sizes of those that have
/// several.
void add_rest(Page& page, const Survey& survey, std::span<const Line> shown,
              std::span<const Line> hidden) {
  double rest = 0.0;
  for (const Line& line : hidden) rest += line.row.sum.share_of(survey.total());
  std::vector<std::string> parts;
  if (!hidden.empty()) {
    parts.push_back(fmt::format("{} more, {:.1f} % of the device time",
                                format_count(hidden.size(), "kernel"), 100.0 * rest));
  }
  if (std::any_of(shown.begin(), shown.end(), [](const Line& line) { return line.sizes > 1; })) {
    parts.emplace_back("a row for each size");
  }
  if (parts.empty()) return;
  page.prose("", fmt::format("-v shows {}", fmt::join(parts, ", and ")), Ink::plain);
}

void add_main_share(Page& page, const Survey& survey) {
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  const std::size_t count = survey::count_main_kernels(kernels);
  double main_share = 0.0;
  for (std::size_t i = 0; i < count; ++i) main_share += kernels[i].sum.share_of(survey.total());
  if (count > 0) {
    page.prose("", fmt::format("* in total {:.0f} % of the device time", 100.0 * main_share),
               Ink::plain);
  }
}

void add_notes(Page& page, const Survey& survey) {
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
                         end.empty() ? "" : fmt::format("; the program {}", end)),
             Ink::heading);
  const std::vector<std::string> devices = devices_of(app.survey);
  for (const std::string& device : devices) page.prose("on ", device, Ink::faint);
  if (app.survey.processes.size() > 1) {
    page.line({{fmt::format("{} processes", app.survey.processes.size()), Ink::faint}});
  }
  if (!app.survey.rows.empty()) {
    const std::vector<Line> lines =
        style.all_points ? lines_of_rows(app.survey) : lines_of_kernels(app.survey);
    const std::size_t shown = style.all_points ? lines.size() : std::min(usual_lines, lines.size());
    const std::span<const Line> all = lines;
    page.blank();
    add_lines(page, app.survey, all.first(shown));
    add_main_share(page, app.survey);
    add_rest(page, app.survey, all.first(shown), all.subspan(shown));
  }
  add_notes(page, app.survey);
  return page.text();
}

}  // namespace clprobe
