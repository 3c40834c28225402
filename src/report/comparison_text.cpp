// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "clprobe/comparison_report.hpp"
#include "clprobe/disturbance.hpp"
#include "clprobe/stacks.hpp"
#include "report/findings.hpp"
#include "report/side_by_side.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

/// "working_set_bytes 65536, step_bytes 64" in words: "working set 64 KiB, step 64 B".
std::string key_text(std::string_view key) {
  std::string text;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find(", "), key.size());
    const std::string_view part = key.substr(0, end);
    const std::size_t blank = part.find(' ');
    const std::string_view name = part.substr(0, blank);
    const std::string digits(blank == std::string_view::npos ? "" : part.substr(blank + 1));
    const bool is_number = !digits.empty() &&
                           digits.find_first_not_of("0123456789") == std::string::npos &&
                           digits.size() < 18;
    const Value value = is_number ? Value(std::int64_t{std::stoll(digits)}) : Value(digits);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", parameter_title(name),
                        is_number ? parameter_text(name, value) : digits);
    key.remove_prefix(std::min(end + 2, key.size()));
  }
  return text;
}

/// "0.4 %", "12 %". What is below a tenth of a percent is nobody's question.
std::string percent_text(double share) {
  const double percent = std::max(0.1, 100.0 * share);
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

/// `parts`, where the run comes from, and its file.
std::string described(const RunDigest& run, std::vector<std::string> parts) {
  if (!run.driver.empty()) parts.push_back("driver " + run.driver);
  if (!run.started.empty()) parts.push_back(run.started);
  if (run.runs > 1) parts.push_back(fmt::format("{} runs", run.runs));
  return fmt::format("{}{}({}){}", fmt::join(parts, ", "), parts.empty() ? "" : " ", run.file,
                     run.interrupted ? ", INTERRUPTED" : "");
}

/// "L2 read by all compute units" by its title and the name of its level; without a title, "global
/// L2".
std::string title_in_words(const std::string& series, const std::string& title,
                           const std::string& level) {
  std::string text = title.empty() ? series + " {}" : title;
  const std::size_t at = text.find("{}");
  if (at == std::string::npos) {
    const bool is_only = level.empty() || level == "level 1";
    return is_only ? text : fmt::format("{} ({})", text, level);
  }
  const bool is_first = level.empty() && text.starts_with("{} ");
  text.replace(at, is_first ? 3 : 2, level);
  if (text.ends_with(' ')) text.pop_back();
  return text.empty() ? series : text;
}

/// What it is, else its number; empty without a level.
std::string level_in_words(const std::string& name, std::optional<int> level) {
  return name.empty() && level ? fmt::format("level {}", *level) : name;
}

/// What stands between a place and a finding there: "L2 latency", "one compute unit: cycles".
std::string_view separator_after(std::string_view title) {
  return title.empty() || title == "{}" ? "" : ":";
}

/// Which run has it, of which probe, series and level. Both runs may have a level of that number.
std::string unmatched_start(const Unmatched& each, std::size_t baseline) {
  const std::string here = run_letter(each.run);
  const std::string there = run_letter(baseline);
  std::string text = here + ":";
  if (each.reason == only_in_baseline) text = fmt::format("in {}, not in {}:", there, here);
  if (each.reason == not_in_baseline) text = fmt::format("in {}, not in {}:", here, there);
  if (each.series_title.empty()) text += " " + each.probe;
  if (each.series.empty()) return text;
  return fmt::format(
      "{} {}{}", text,
      title_in_words(each.series, each.series_title, level_in_words(each.level_name, each.level)),
      separator_after(each.series_title));
}

std::string unmatched_end(const Unmatched& each) {
  const bool is_told = each.reason == only_in_baseline || each.reason == not_in_baseline;
  return is_told ? "" : ": " + each.reason;
}

/// The finding without its series: its name, or for shares of a bar "memory data: L2 (gsi)".
std::string finding_words(const Finding& finding) {
  if (!is_told_by_label(finding)) return words(finding.name);
  const std::string name = finding.name == stack_part_name ? "" : words(finding.name) + " ";
  return fmt::format("{}{} ({})", name, finding.label, finding.method);
}

}  // namespace

std::string run_letter(std::size_t run) {
  constexpr std::size_t letters = 26;
  std::string text;
  for (std::size_t rest = run + 1; rest > 0; rest = (rest - 1) / letters) {
    text.insert(text.begin(), static_cast<char>('A' + (rest - 1) % letters));
  }
  return text;
}

std::string run_origin(const RunDigest& run) { return described(run, {}); }

std::string run_text(const RunDigest& run) {
  if (run.label.empty()) return described(run, {run.device});
  return described(run, {run.label, run.device});
}

std::string counts_text(const VerdictCounts& counts) {
  struct Part {
    std::size_t count;
    Verdict verdict;
  };
  const std::array parts{Part{counts.same, Verdict::same}, Part{counts.worse, Verdict::worse},
                         Part{counts.better, Verdict::better},
                         Part{counts.different, Verdict::different},
                         Part{counts.unclear, Verdict::unclear}};
  std::string text;
  for (const Part& part : parts) {
    if (part.count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.count, to_word(part.verdict));
  }
  return text.empty() ? "nothing to compare" : text;
}

std::string ratio_text(const std::optional<double>& ratio) {
  if (!ratio) return {};
  const bool is_near = *ratio > 0.9 && *ratio < 1.1;
  return is_near ? fmt::format("{:.3f}", *ratio) : fmt::format("{:.3g}", *ratio);
}

std::string place_title(const ComparedRow& row) {
  std::vector<std::string> names;
  for (const ComparedCell& cell : row.cells) {
    if (cell.finding == nullptr) continue;
    std::string name = level_in_words(cell.finding->level_name, cell.finding->finding.level);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  // The L2 of one device is level 2 of one whose caches have no known names.
  std::erase_if(names, [&](const std::string& name) {
    constexpr std::string_view unnamed = "level ";
    return name.starts_with(unnamed) &&
           std::find(names.begin(), names.end(), "L" + name.substr(unnamed.size())) != names.end();
  });
  const ComparedFinding& baseline = *row.baseline;
  return title_in_words(baseline.finding.series, baseline.series_title,
                        fmt::format("{}", fmt::join(names, "/")));
}

std::string row_title(const ComparedRow& row) {
  const Finding& finding = row.baseline->finding;
  const std::string& title = row.baseline->series_title;
  // What moves in a second is all that there is to say of it.
  const bool is_told = finding.name == "bandwidth" && finding.unit == "bytes_per_second";
  if (is_told && !title.empty()) return place_title(row);
  const std::string place = place_title(row);
  return fmt::format("{}{}{}{}", place, separator_after(title), place.empty() ? "" : " ",
                     finding_words(finding));
}

std::string change_title(const ComparedRow& row) {
  const bool is_told =
      !row.baseline->series_title.empty() || row.probe == row.baseline->finding.name;
  return is_told ? row_title(row) : fmt::format("{} {}", row.probe, row_title(row));
}

Finding shown_finding(const ComparedFinding& compared) {
  return with_disturbance(compared.finding, compared.disturbance);
}

std::string cell_text(const ComparedCell& cell, std::string_view nothing) {
  if (cell.finding == nullptr) return std::string(nothing);
  return shared_text(&cell.finding->finding, nothing);
}

bool is_unresolved(const ComparedRow& row) {
  return is_unresolved_share(row.baseline->finding) &&
         std::all_of(row.cells.begin(), row.cells.end(), [](const ComparedCell& cell) {
           return cell.finding == nullptr || !cell.finding->finding.value ||
                  is_unresolved_share(cell.finding->finding);
         });
}

std::vector<std::string> unresolved_lines(const Comparison& comparison, std::string_view probe) {
  struct Bar {
    std::string title{};
    std::vector<const Finding*> shares{};
  };
  std::vector<Bar> bars;
  for (const ComparedRow& row : comparison.rows) {
    if (row.probe != probe || !is_unresolved(row)) continue;
    const Finding& finding = row.baseline->finding;
    const std::string title = fmt::format("{}, {}", finding.series, finding.method);
    auto bar = std::find_if(bars.begin(), bars.end(),
                            [&](const Bar& each) { return each.title == title; });
    if (bar == bars.end()) bar = bars.insert(bars.end(), Bar{title, {}});
    for (const ComparedCell& cell : row.cells) {
      if (cell.finding != nullptr) bar->shares.push_back(&cell.finding->finding);
    }
  }
  std::vector<std::string> lines;
  lines.reserve(bars.size());
  for (const Bar& bar : bars) {
    lines.push_back(fmt::format("{}; in all runs {}", bar.title, describe_unresolved(bar.shares)));
  }
  return lines;
}

bool has_content(const ComparedCell& cell) {
  return cell.finding != nullptr || !cell.judgement.reason.empty();
}

std::string verdict_text(const ComparedCell& cell, std::string_view unit) {
  const Judgement& judged = cell.judgement;
  if (judged.reason.empty()) return {};
  const std::string word(to_word(judged.verdict));
  const std::string mark = judged.is_coarse ? " (no interval)" : "";
  if (judged.verdict == Verdict::same && judged.resolution) {
    return fmt::format("{} within {}{}", word, percent_text(*judged.resolution), mark);
  }
  if (judged.verdict == Verdict::unclear && judged.interval && judged.resolution) {
    const bool is_difference = unit == "share";
    const auto shown = [&](double end) {
      return is_difference ? fmt::format("{:.2f}", end) : ratio_text(end);
    };
    return fmt::format("{} ({} to {}){}", word, shown(judged.interval->low),
                       shown(judged.interval->high), mark);
  }
  return word + mark;
}

std::vector<UnmatchedLine> unmatched_lines(const Comparison& comparison) {
  std::vector<UnmatchedLine> lines;
  std::string before;
  for (const Unmatched& each : comparison.unmatched) {
    const std::string start = unmatched_start(each, comparison.baseline);
    const Finding finding{.name = each.name, .series = each.series, .level = each.level};
    if (start == before && !each.name.empty()) {
      lines.back().text += ", " + finding_words(finding);
      continue;
    }
    before = start;
    const std::string title = each.name.empty() ? "" : " " + finding_words(finding);
    lines.push_back({each.probe, start + title + unmatched_end(each)});
  }
  return lines;
}

std::string curve_text(const CurveSummary& curve) {
  std::string text = fmt::format("{}: ", curve.series);
  if (curve.matched == 0) {
    text += "no point matches one of the baseline";
  } else {
    text += fmt::format("{} point{}, ratio {} ({} to {})", curve.matched,
                        curve.matched == 1 ? "" : "s", ratio_text(curve.median_ratio),
                        ratio_text(curve.low_ratio), ratio_text(curve.high_ratio));
    constexpr double shown_digits = 5e-4;
    if (!curve.furthest.empty() && std::fabs(curve.furthest_ratio - 1.0) >= shown_digits) {
      text += fmt::format(", farthest from 1: {} at {}", ratio_text(curve.furthest_ratio),
                          key_text(curve.furthest));
    }
  }
  if (curve.only_baseline + curve.only_here > 0) {
    text += fmt::format("; points not matched: {} of the baseline, {} of this run",
                        curve.only_baseline, curve.only_here);
  }
  if (!curve.note.empty()) text += fmt::format("; {}", curve.note);
  return text;
}

std::vector<std::string> run_notes(const Comparison& comparison, std::span<const RunDigest> runs,
                                   std::size_t run) {
  const RunDigest& baseline = runs[comparison.baseline];
  if (run == comparison.baseline || runs[run].device != baseline.device) return {};
  std::vector<std::string> notes = differing_origins(baseline, runs[run]);
  const auto row =
      std::find_if(comparison.rows.begin(), comparison.rows.end(),
                   [](const ComparedRow& each) { return each.probe == clock_section; });
  if (row == comparison.rows.end()) return notes;
  const std::optional<double>& ratio = row->cells[run].judgement.ratio;
  if (ratio && std::fabs(std::log(*ratio)) > std::log1p(comparison.threshold)) {
    notes.push_back(fmt::format(
        "the core clock's rate differs by {:.2g} %: values measured in cycles are judged in "
        "cycles, and the ratios of their times include that difference",
        100.0 * std::fabs(*ratio - 1.0)));
  }
  return notes;
}

}  // namespace clprobe::report

namespace clprobe {

std::string change_text(const Comparison& comparison, std::span<const RunDigest> runs,
                        const ComparedPlace& place) {
  const ComparedRow& row = comparison.rows[place.row];
  const ComparedCell& cell = row.cells[place.run];
  const Judgement& judged = cell.judgement;
  return fmt::format("{}: {}: {} -> {} in {}", to_word(judged.left_open.value_or(judged.verdict)),
                     report::change_title(row),
                     report::cell_text(row.cells[comparison.baseline], "no value"),
                     report::cell_text(cell, "no value"), quote(runs[place.run].file));
}

}  // namespace clprobe
