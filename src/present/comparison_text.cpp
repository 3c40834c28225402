// SPDX-License-Identifier: Apache-2.0
#include "present/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "compare/api/compare.hpp"
#include "compare/api/disturbance.hpp"
#include "present/api/report.hpp"
#include "present/findings.hpp"
#include "present/side_by_side.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

std::string key_text(std::string_view key) {
  std::string text;
  for (const auto& [name, value] : parts_of_key(key)) {
    const bool is_whole = !value.empty() && value.size() < 18 &&
                          value.find_first_not_of("0123456789") == std::string_view::npos;
    const std::string word(value);
    const Value shown = is_whole ? Value(std::int64_t{std::stoll(word)}) : Value(word);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", parameter_title(name),
                        parameter_text(name, shown));
  }
  return text;
}

/// Returns a percentage such as "0.4 %" or "12 %", at least "0.1 %".
std::string percent_text(double share) {
  const double percent = std::max(0.1, 100.0 * share);
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

/// Returns a run's description: `parts`, followed by the run's driver, date and file.
std::string described(const RunDigest& run, std::vector<std::string> parts) {
  if (!run.driver.empty()) parts.push_back("driver " + run.driver);
  if (!run.started.empty()) parts.push_back(run.started);
  if (run.runs > 1) parts.push_back(fmt::format("{} runs", run.runs));
  return fmt::format("{}{}({}){}", fmt::join(parts, ", "), parts.empty() ? "" : " ", run.file,
                     run.interrupted ? ", INTERRUPTED" : "");
}

/// Returns a series title with the level's name in it: "L2 read by all compute units". If `title`
/// is empty, returns series and level: "global L2".
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

/// Returns the level's name, or "level N" if the name is empty; empty without a level.
std::string level_in_words(const std::string& name, std::optional<int> level) {
  return name.empty() && level ? fmt::format("level {}", *level) : name;
}

/// Returns the separator between a title and the finding's name: a colon after a phrase ("one
/// compute unit: cycles"), nothing after a level ("L2 latency").
std::string_view separator_after(std::string_view title) {
  return title.empty() || title == "{}" ? "" : ":";
}

/// Returns the beginning of a line about an unmatched finding: the runs, probe, series and level.
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
  const bool is_named = each.reason == only_in_baseline || each.reason == not_in_baseline;
  return is_named ? "" : ": " + each.reason;
}

/// Returns the finding's name in words. For a share of a bar, returns its label and method: "memory
/// data: L2 (gsi)", "noise absorbed (memory)".
std::string finding_words(const Finding& finding) {
  if (!is_told_by_label(finding)) return words(finding.name);
  if (finding.name == stack_absorbed_name) {
    return fmt::format("{} ({})", words(finding.name), finding.label);
  }
  const std::string name = finding.name == stack_part_name ? "" : words(finding.name) + " ";
  return fmt::format("{}{} ({})", name, finding.label, finding.method);
}

/// Returns the series and level of a row, without the finding's name: "L2", "memory read by one
/// compute unit".
std::string place_title(const ComparedRow& row) {
  std::vector<std::string> names;
  for (const ComparedCell& cell : row.cells) {
    if (cell.finding == nullptr) continue;
    std::string name = level_in_words(cell.finding->level_name, cell.finding->finding.level);
    add_once(names, name);
  }
  // A level named "level 2" on one device and "L2" on another is shown as "L2".
  std::erase_if(names, [&](const std::string& name) {
    constexpr std::string_view unnamed = "level ";
    return name.starts_with(unnamed) &&
           std::ranges::find(names, "L" + name.substr(unnamed.size())) != names.end();
  });
  const ComparedFinding& baseline = *row.baseline;
  return title_in_words(baseline.finding.series, baseline.series_title,
                        fmt::format("{}", fmt::join(names, "/")));
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> parts_of_key(std::string_view key) {
  std::vector<std::pair<std::string_view, std::string_view>> parts;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find(", "), key.size());
    const std::string_view part = key.substr(0, end);
    const std::size_t blank = std::min(part.find(' '), part.size());
    parts.emplace_back(part.substr(0, blank), part.substr(std::min(blank + 1, part.size())));
    key.remove_prefix(std::min(end + 2, key.size()));
  }
  return parts;
}

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

std::string row_title(const ComparedRow& row) {
  const Finding& finding = row.baseline->finding;
  const std::string& title = row.baseline->series_title;
  // The titles of bandwidth series already say that the finding is a bandwidth.
  const bool is_named = finding.name == "bandwidth" && finding.unit == "bytes_per_second";
  if (is_named && !title.empty()) return place_title(row);
  const std::string place = place_title(row);
  return fmt::format("{}{}{}{}", place, separator_after(title), place.empty() ? "" : " ",
                     finding_words(finding));
}

std::string change_title(const ComparedRow& row) {
  const bool is_named =
      !row.baseline->series_title.empty() || row.probe == row.baseline->finding.name;
  return is_named ? row_title(row) : fmt::format("{} {}", row.probe, row_title(row));
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
         std::ranges::all_of(row.cells, [](const ComparedCell& cell) {
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
    auto bar = std::ranges::find(bars, title, &Bar::title);
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
    text += "no point matches a point of the baseline";
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
  if (run == comparison.baseline || !are_of_one_device(baseline, runs[run])) return {};
  std::vector<std::string> notes = differing_origins(baseline, runs[run]);
  const auto row = std::ranges::find(comparison.rows, clock_section, &ComparedRow::probe);
  if (row == comparison.rows.end()) return notes;
  const std::optional<double>& ratio = row->cells[run].judgement.ratio;
  if (ratio && std::fabs(std::log(*ratio)) > std::log1p(comparison.threshold)) {
    notes.push_back(
        fmt::format("the core clock's rate differs by {:.2g} %: values measured in cycles are "
                    "judged in cycles, so this difference does not affect their ratios",
                    100.0 * std::fabs(*ratio - 1.0)));
  }
  return notes;
}

// Sorted changes, and the summary of each run.

namespace {

const std::string more_follow = ", ...";

bool is_change(Verdict verdict) {
  return verdict == Verdict::better || verdict == Verdict::worse || verdict == Verdict::different;
}

/// Returns the difference between the new and the baseline value if both are shares; nothing for
/// other units.
std::optional<double> difference_of(const Change& change) {
  const Finding& before = change.row->baseline->finding;
  const ComparedFinding* const after = change.row->cells[change.run].finding;
  if (before.unit != "share" || !before.value || after == nullptr || !after->finding.value) {
    return std::nullopt;
  }
  return *after->finding.value - *before.value;
}

/// Returns the ratio of the values, even if cycles were judged; nothing unless positive and finite.
std::optional<double> ratio_of(const Change& change) {
  const ComparedCell& cell = change.row->cells[change.run];
  std::optional<double> ratio = cell.judgement.ratio;
  if (cell.judgement.is_in_cycles) {
    ratio = *cell.finding->finding.value / *change.row->baseline->finding.value;
  }
  return ratio && *ratio > 0.0 && std::isfinite(*ratio) ? ratio : std::nullopt;
}

Verdict verdict_of(const Change& change) { return change.row->cells[change.run].judgement.verdict; }

double size_of(const Change& change) {
  if (const auto apart = difference_of(change)) return std::fabs(*apart);
  if (const auto ratio = ratio_of(change)) return std::fabs(std::log(*ratio));
  return -1.0;
}

/// Words for a larger and a smaller value in a unit: "slower" and "faster" for seconds.
struct Words {
  std::string_view unit;
  std::string_view more;
  std::string_view less;
};
constexpr std::array unit_words{
    Words{"seconds", "slower", "faster"},
    Words{"cycles", "slower", "faster"},
    Words{"bytes_per_second", "faster", "slower"},
    Words{"operations_per_second", "faster", "slower"},
    Words{"flops_per_second", "faster", "slower"},
    Words{"bytes_per_cycle", "faster", "slower"},
    Words{"hertz", "faster", "slower"},
    Words{"bytes", "larger", "smaller"},
    Words{"count", "more", "fewer"},
};

Words words_of(std::string_view unit) {
  const auto* const found = std::ranges::find(unit_words, unit, &Words::unit);
  return found == unit_words.end() ? Words{unit, "higher", "lower"} : *found;
}

/// Returns the size of a ratio in words: "1.51x slower" for a factor of at least 1.2, otherwise a
/// percentage of the baseline ("4.2 % faster").
std::string amount_of(double ratio, const Words& called) {
  constexpr double first_multiple = 1.2;
  const std::string_view word = ratio > 1.0 ? called.more : called.less;
  const double factor = std::max(ratio, 1.0 / ratio);
  if (factor >= first_multiple) return fmt::format("{}x {}", format_number(factor), word);
  const double percent = 100.0 * std::fabs(ratio - 1.0);
  return fmt::format("{:.{}f} % {}", percent, percent < 9.95 ? 1 : 0, word);
}

/// Returns the values before and after a change: "261 to 280 ns", "900 ns to 1.20 µs".
std::string both_values(const ComparedCell& before, const ComparedCell& after) {
  std::string first = cell_text(before, "no value");
  const std::string second = cell_text(after, "no value");
  const auto unit_in = [](const std::string& text) {
    return text.substr(std::min(text.find(' '), text.size()));
  };
  const std::string unit = unit_in(first);
  if (unit == unit_in(second)) first.resize(first.size() - unit.size());
  return fmt::format("{} to {}", first, second);
}

/// Returns a change in words. A change for the worse includes the old and the new value: "L2
/// latency 7.3 % slower (261 to 280 ns)".
std::string text_of(const Change& change, std::size_t baseline) {
  const ComparedRow& row = *change.row;
  std::string text = fmt::format("{} {}", change_title(row), change_words(change));
  if (verdict_of(change) != Verdict::worse) return text;
  return fmt::format("{} ({})", text, both_values(row.cells[baseline], row.cells[change.run]));
}

/// Group of similar changes, represented by the largest: changes of a probe's findings of the same
/// kind, in the same direction. Each change for the worse is a group of its own.
struct Group {
  Change largest{};
  std::size_t count{0};

  [[nodiscard]] bool holds(const Change& change) const {
    const Finding& one = largest.row->baseline->finding;
    const Finding& other = change.row->baseline->finding;
    const double sides = ratio_of(largest).value_or(1.0) - 1.0;
    return largest.row->probe == change.row->probe && verdict_of(largest) == verdict_of(change) &&
           verdict_of(change) != Verdict::worse && one.unit == other.unit &&
           (one.name == other.name || one.unit == "share") &&
           sides * (ratio_of(change).value_or(1.0) - 1.0) >= 0.0;
  }
};

/// Returns the probes that were not compared, because a run lacks them, they failed or their
/// methods differ: "; not compared: latency, banks".
std::string uncompared_text(const Comparison& comparison, std::size_t run) {
  std::vector<std::string_view> probes;
  for (const Unmatched& each : comparison.unmatched) {
    const bool is_whole = each.series.empty() && each.name.empty();
    if (each.run == run && is_whole) probes.push_back(each.probe);
  }
  return probes.empty() ? "" : fmt::format("; not compared: {}", fmt::join(probes, ", "));
}

}  // namespace

std::vector<std::size_t> runs_by_changes(const Comparison& comparison) {
  std::vector<std::size_t> order;
  for (std::size_t run = 0; run < comparison.counts.size(); ++run) {
    if (run != comparison.baseline) order.push_back(run);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t run) {
    const VerdictCounts& counts = comparison.counts[run];
    return std::pair(counts.worse + counts.different, counts.better);
  });
  return order;
}

std::vector<Change> changes_of(const Comparison& comparison) {
  std::vector<Change> changes;
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const Judgement& judged = row.cells[run].judgement;
      const bool is_judged = run != comparison.baseline && !judged.reason.empty();
      if (is_judged && is_change(judged.verdict) && !judged.is_repeated) {
        changes.push_back({&row, run});
      }
    }
  }
  std::ranges::stable_sort(changes, [](const Change& a, const Change& b) {
    const bool is_worse = verdict_of(a) == Verdict::worse;
    if (is_worse != (verdict_of(b) == Verdict::worse)) return is_worse;
    return size_of(a) > size_of(b);
  });
  return changes;
}

std::string change_words(const Change& change) {
  if (const auto apart = difference_of(change)) {
    return fmt::format("{:+.1f} percentage points", 100.0 * *apart);
  }
  const auto ratio = ratio_of(change);
  if (!ratio) return std::string(to_word(verdict_of(change)));
  return amount_of(*ratio, words_of(change.row->baseline->finding.unit));
}

std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run) {
  std::vector<Group> groups;
  for (const Change& change : changes_of(comparison)) {
    if (change.run != run) continue;
    auto group =
        std::ranges::find_if(groups, [&](const Group& each) { return each.holds(change); });
    if (group == groups.end()) group = groups.insert(groups.end(), {change, 0});
    ++group->count;
  }
  std::vector<SummaryPart> parts;
  for (const Verdict verdict : {Verdict::worse, Verdict::better, Verdict::different}) {
    SummaryPart part{verdict, {}};
    for (const Group& group : groups) {
      if (verdict_of(group.largest) != verdict) continue;
      part.texts.push_back(text_of(group.largest, comparison.baseline));
      if (group.count > 1) part.texts.back() += fmt::format(" (and {} more)", group.count - 1);
    }
    if (!part.texts.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

std::string settled_text(const VerdictCounts& counts) {
  VerdictCounts rest;
  rest.same = counts.same;
  rest.unclear = counts.unclear;
  return rest.total() == 0 ? std::string() : counts_text(rest);
}

std::string summary_of(const Comparison& comparison, std::size_t run) {
  std::string text;
  for (const SummaryPart& part : summary_parts(comparison, run)) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", to_word(part.verdict),
                        fmt::join(part.texts, ", "));
  }
  const std::string rest = settled_text(comparison.counts[run]);
  if (text.empty()) text = rest.empty() ? "nothing to compare" : "no change";
  if (!rest.empty()) text += "; " + rest;
  return text + uncompared_text(comparison, run);
}

std::string brief_summary_of(const Comparison& comparison, std::size_t run,
                             const std::function<bool(const std::string&)>& fits) {
  std::string whole = summary_of(comparison, run);
  const std::vector<SummaryPart> parts = summary_parts(comparison, run);
  if (parts.empty() || fits(whole)) return whole;
  VerdictCounts changed = comparison.counts[run];
  changed.same = changed.unclear = 0;
  const std::string rest = uncompared_text(comparison, run);
  std::string text = counts_text(changed);
  std::string_view separator = ": ";
  for (const SummaryPart& part : parts) {
    for (const std::string& each : part.texts) {
      std::string longer = fmt::format("{}{}{}", text, separator, each);
      const std::string end = more_follow + rest;
      if (!fits(longer + end)) longer.resize(std::min(longer.size(), longer.rfind(" (")));
      // Stops at the first finding that does not fit, since a shorter, less important finding must
      // not replace it.
      if (!fits(longer + end)) return text + (separator == ", " ? end : rest);
      text = longer;
      separator = ", ";
    }
  }
  return text + rest;
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
