// SPDX-License-Identifier: Apache-2.0
#include "present/api/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/api/page.hpp"
#include "present/blocks.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace {

using report::Block;
using report::Cell;
using report::Ink;
using report::Page;
using report::Prose;
using report::Table;
using survey::Row;
using survey::Survey;

std::string_view made_from(survey::ProgramKind kind) {
  switch (kind) {
    case survey::ProgramKind::source:
      return "";
    case survey::ProgramKind::binary:
      return "from a binary";
    case survey::ProgramKind::intermediate:
      return "from IL";
    case survey::ProgramKind::built_in:
      return "built in";
    case survey::ProgramKind::unknown:
      return "from an unknown program";
  }
  return "";
}

/// Returns the sizes of launches, such as "1024x64". Returns "various" if the row combines launches
/// of different sizes, and `unchosen` if the row has no sizes, such as a local size that the driver
/// chose.
std::string sizes_text(const survey::Signature& of, const survey::Sizes& sizes,
                       std::string_view unchosen) {
  if (of.dimensions == 0) return "various";
  if (sizes == survey::Sizes{}) return std::string(unchosen);
  return fmt::format(
      "{}",
      fmt::join(sizes.begin(), sizes.begin() + std::min<std::uint32_t>(of.dimensions, 3), "x"));
}

/// Returns a share such as "12.3 %"; "-" if no launch was timed.
std::string share_text(const Row& row, const survey::Sum& total) {
  return row.sum.timed == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * row.sum.share_of(total));
}

std::string total_time(const survey::Sum& sum) {
  if (sum.timed == 0) return "-";
  return format_seconds(static_cast<double>(sum.total_ns) / ns_per_second);
}

/// Returns the totals of a survey: "210 ms of device time in 1000 launches of 2 kernels".
std::string survey_summary(const SurveyedApp& app) {
  const survey::Sum total = app.survey.total();
  std::set<std::pair<std::string, survey::Program>> kernels;
  for (const Row& row : app.survey.rows) {
    kernels.emplace(row.signature.kernel, row.signature.program);
  }
  if (total.launches == 0) return "no kernel launch";
  return fmt::format("{} of device time in {} of {}",
                     format_seconds(static_cast<double>(total.total_ns) / ns_per_second),
                     total.launches == 1 ? "1 launch" : fmt::format("{} launches", total.launches),
                     format_count(kernels.size(), "kernel"));
}

/// Returns the gaps of the survey as texts with number and reason, such as "3 launches in queues
/// without profiling". `of_launches`: true for launches that are counted in the rows, but not
/// timed; false for events that no row counts.
std::vector<std::string> gap_texts(const Survey& survey, bool of_launches) {
  std::vector<std::string> texts;
  for (const survey::GapRow& row : survey::all_gaps()) {
    const auto found = survey.gaps.find(row.gap);
    const bool is_there = found != survey.gaps.end() && found->second > 0;
    if (!is_there || survey::is_of_launches(row.gap) != of_launches) continue;
    const std::string count = found->second == 1 ? fmt::format("1 {}", row.noun)
                                                 : fmt::format("{} {}", found->second, row.plural);
    texts.push_back(fmt::format("{} {}", count, row.reason));
  }
  return texts;
}

/// Returns a sentence with the number of launches whose times are estimated; empty if none are.
std::string estimated_text(const Survey& survey) {
  const std::uint64_t count = survey.total().estimated;
  if (count == 0) return "";
  return fmt::format(
      "{} untimed, to keep the program fast; each untimed launch is assumed to take the mean time "
      "of its row",
      count == 1 ? "1 launch is" : fmt::format("{} launches are", count));
}

/// Returns the reason why the times are doubtful; empty if they are not.
std::string doubt_text(const Survey& survey) {
  if (!survey::has_doubtful_times(survey)) return "";
  const double factor = survey::event_clock_factor(survey.clock);
  if (factor != 1.0) {
    return fmt::format(
        "times are {:.2g}x too {}: while the host's clock advanced {}, the driver's event clock "
        "advanced {}; shares are unaffected",
        factor > 1.0 ? factor : 1.0 / factor, factor > 1.0 ? "short" : "long",
        format_seconds(static_cast<double>(survey.clock.host_min_ns) / ns_per_second),
        format_seconds(static_cast<double>(survey.clock.event_ns) / ns_per_second));
  }
  return fmt::format(
      "according to the driver's event times, no launch took longer than {}, so times and shares "
      "are meaningless",
      format_seconds(static_cast<double>(survey.total().max_ns) / ns_per_second));
}

/// Returns the kernel names that occur in more than one OpenCL program.
std::set<std::string> shared_names(const Survey& survey) {
  std::map<std::string, survey::Program> programs;
  std::set<std::string> shared;
  for (const Row& row : survey.rows) {
    const auto [found, is_new] = programs.emplace(row.signature.kernel, row.signature.program);
    if (!is_new && found->second != row.signature.program) shared.insert(found->first);
  }
  return shared;
}

/// Returns the remarks on a row of the survey: the program's hash if another program has a kernel
/// of this name; the origin of a program that was not built from source; "SVM" for shared virtual
/// memory; the number of estimated launches.
std::string remark_of(const Row& row, const std::set<std::string>& shared) {
  std::vector<std::string> parts;
  if (shared.contains(row.signature.kernel)) {
    constexpr std::size_t enough_digits = 8;  // enough to tell programs apart
    parts.push_back("program " +
                    report::program_text(row.signature.program).substr(0, enough_digits));
  }
  const std::string_view from = made_from(row.signature.program.kind);
  if (!from.empty()) parts.emplace_back(from);
  if (row.uses_svm) parts.emplace_back("SVM");
  if (row.sum.estimated > 0) parts.push_back(fmt::format("{} estimated", row.sum.estimated));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> devices_of(const Survey& survey) {
  std::vector<std::string> devices;
  for (const Row& row : survey.rows) {
    const std::string& device = row.signature.device;
    add_once(devices, device);
  }
  return devices;
}

// Number of kernels on a screen; the remaining kernels take little of the time.
constexpr std::size_t usual_lines = 20;

std::string mean_time(const survey::Sum& sum) {
  if (sum.timed == 0) return "-";
  return format_seconds(sum.mean_ns() / ns_per_second);
}

/// Returns a name, shortened in the middle to at most `columns` columns: long names from compilers
/// often differ only at the beginning or the end.
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

/// Line of the table: a row of the survey, or all rows of a kernel together.
struct KernelLine {
  Row row{};
  std::size_t sizes{1};
  bool is_main{false};
};

std::vector<KernelLine> lines_of_rows(const Survey& survey) {
  const std::vector<survey::KernelShare> shares = survey::kernel_shares(survey.rows);
  std::vector<KernelLine> lines;
  for (std::size_t i = 0; i < survey.rows.size(); ++i) {
    lines.push_back({survey.rows[i], 1, shares[i].is_main});
  }
  return lines;
}

std::vector<KernelLine> lines_of_kernels(const Survey& survey) {
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  const std::size_t main_kernels = survey::count_main_kernels(kernels);
  std::vector<KernelLine> lines;
  for (const survey::Kernel& kernel : kernels) {
    KernelLine line{survey.rows[kernel.rows.front()], kernel.rows.size(),
                    lines.size() < main_kernels};
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

constexpr std::size_t kernel_column = 7;

Table table_of(const Survey& survey, std::span<const KernelLine> lines) {
  Table table{.head = {"", "share", "time", "launches", "each", "global", "local", "kernel", ""}};
  const survey::Sum total = survey.total();
  const bool has_devices = devices_of(survey).size() > 1;
  const std::set<std::string> shared = shared_names(survey);
  const auto word = [](std::string text) {
    return Cell{.text = std::move(text), .is_number = false};
  };
  for (const KernelLine& line : lines) {
    const Row& row = line.row;
    std::string remark = remark_of(row, shared);
    if (has_devices) remark += (remark.empty() ? "on " : ", on ") + row.signature.device;
    table.rows.push_back(
        {{line.is_main ? "*" : ""},
         {share_text(row, total)},
         {total_time(row.sum)},
         {fmt::format("{}", row.sum.launches)},
         {mean_time(row.sum)},
         word(line.sizes == 1 ? sizes_text(row.signature, row.signature.global, "-")
                              : fmt::format("{} sizes", line.sizes)),
         word(sizes_text(row.signature, row.signature.local, "-")),
         word(row.signature.kernel),
         {.reason = std::move(remark), .is_remark = true}});
  }
  return table;
}

/// Shortens the kernels' names to the width that the other columns leave.
void shorten_names(const Page& page, Table& table) {
  constexpr int min_columns = 12;
  constexpr int gap = 2;  // spaces before the remark
  Table others = table;
  for (std::vector<Cell>& row : others.rows) row[kernel_column].text = "-";
  const auto [columns, rows] = report::lay_out(page, others);
  const int title = display_width(table.head[kernel_column]);
  const int used = Page::table_width(columns, rows, report::table_indent) - title;
  for (std::vector<Cell>& row : table.rows) {
    std::string& name = row[kernel_column].text;
    name = short_name(page, name, std::max(page.width() - used - gap, min_columns));
  }
}

/// Returns a hint at what -v adds: the kernels in `hidden`, and a row for each size if a kernel in
/// `shown` has more than one size.
std::string rest_text(const Survey& survey, std::span<const KernelLine> shown,
                      std::span<const KernelLine> hidden) {
  double rest = 0.0;
  for (const KernelLine& line : hidden) rest += line.row.sum.share_of(survey.total());
  std::vector<std::string> parts;
  if (!hidden.empty()) {
    parts.push_back(fmt::format("{} with {:.1f} % of the device time",
                                format_count(hidden.size(), "kernel"), 100.0 * rest));
  }
  if (std::ranges::any_of(shown, [](const KernelLine& line) { return line.sizes > 1; })) {
    parts.emplace_back("a row for each size");
  }
  return parts.empty() ? "" : fmt::format("-v also shows {}", fmt::join(parts, ", and "));
}

std::string main_share_text(const Survey& survey) {
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  const std::size_t count = survey::count_main_kernels(kernels);
  double main_share = 0.0;
  for (std::size_t i = 0; i < count; ++i) main_share += kernels[i].sum.share_of(survey.total());
  if (count == 0) return {};
  return fmt::format("*: together {:.0f} % of the device time", 100.0 * main_share);
}

struct SurveyNote {
  std::string_view about;
  std::string text{};
  Ink ink{Ink::plain};
};

std::vector<SurveyNote> survey_notes(const Survey& survey) {
  const auto joined = [](const std::vector<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, "; "));
  };
  std::vector<SurveyNote> notes{{"warning", doubt_text(survey), Ink::caution},
                                {"estimated", estimated_text(survey)},
                                {"not timed", joined(gap_texts(survey, true)), Ink::caution},
                                {"not counted", joined(gap_texts(survey, false)), Ink::caution}};
  std::erase_if(notes, [](const SurveyNote& each) { return each.text.empty(); });
  return notes;
}

/// Returns a line about the program: run time, device time, number of launches, and its end if it
/// failed.
std::string headline_of(const SurveyedApp& app) {
  const std::string end = end_text(app);
  return fmt::format("{}, {}{}", format_seconds(app.wall_s), survey_summary(app),
                     end.empty() ? "" : fmt::format("; the program {}", end));
}

}  // namespace

std::string report::program_text(const survey::Program& program) {
  return fmt::format("{:016x}", program.hash);
}

std::string end_text(const SurveyedApp& app) {
  if (app.signal != 0) {
    return fmt::format("was killed by signal {} ({})", app.signal, ::strsignal(app.signal));
  }
  return app.status == 0 ? "" : fmt::format("ended with status {}", app.status);
}

std::vector<report::Block> report::survey_blocks(const SurveyedApp& app, bool is_whole) {
  std::vector<Block> blocks;
  const auto add = [&](std::string text, Ink ink) {
    if (!text.empty()) {
      blocks.emplace_back(Prose{.text = std::move(text), .ink = ink, .is_paragraph = true});
    }
  };
  const std::string name = app.words.empty() ? "" : app.words.front();
  add(fmt::format("{}: {}", name, headline_of(app)), Ink::heading);
  for (const std::string& device : devices_of(app.survey)) add("on " + device, Ink::faint);
  if (const std::size_t processes = app.survey.processes.size(); processes > 1) {
    add(fmt::format("{} processes", processes), Ink::faint);
  }
  if (!app.survey.rows.empty()) {
    const std::vector<KernelLine> lines =
        is_whole ? lines_of_rows(app.survey) : lines_of_kernels(app.survey);
    const std::size_t shown = is_whole ? lines.size() : std::min(usual_lines, lines.size());
    const std::span<const KernelLine> all = lines;
    blocks.emplace_back(report::Heading{});
    blocks.emplace_back(table_of(app.survey, all.first(shown)));
    add(main_share_text(app.survey), Ink::plain);
    add(rest_text(app.survey, all.first(shown), all.subspan(shown)), Ink::plain);
  }
  for (SurveyNote& note : survey_notes(app.survey)) {
    add(fmt::format("{}: {}", note.about, note.text), note.ink);
  }
  return blocks;
}

std::string report::table_of_survey(const SurveyedApp& app, const TableStyle& style) {
  Page page(style);
  std::vector<Block> blocks = survey_blocks(app, style.all_points);
  for (Block& block : blocks) {
    if (auto* const table = std::get_if<Table>(&block)) shorten_names(page, *table);
  }
  report::add_blocks(page, blocks, report::Form::usual);
  return page.text();
}

}  // namespace clprobe
