// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "clprobe/compare.hpp"
#include "report/comparison_text.hpp"
#include "report/findings.hpp"

namespace clprobe::report {
namespace {

const std::string more_follow = ", ...";

bool is_change(Verdict verdict) {
  return verdict == Verdict::better || verdict == Verdict::worse || verdict == Verdict::different;
}

/// Of shares, what the run has more of the whole.
std::optional<double> difference_of(const Change& change) {
  const Finding& before = change.row->baseline->finding;
  const ComparedFinding* const after = change.row->cells[change.run].finding;
  if (before.unit != "share" || !before.value || after == nullptr || !after->finding.value) {
    return std::nullopt;
  }
  return *after->finding.value - *before.value;
}

std::optional<double> ratio_of(const Change& change) {
  const std::optional<double>& ratio = change.row->cells[change.run].judgement.ratio;
  return ratio && *ratio > 0.0 && std::isfinite(*ratio) ? ratio : std::nullopt;
}

Verdict verdict_of(const Change& change) { return change.row->cells[change.run].judgement.verdict; }

double size_of(const Change& change) {
  if (const auto apart = difference_of(change)) return std::fabs(*apart);
  if (const auto ratio = ratio_of(change)) return std::fabs(std::log(*ratio));
  return -1.0;
}

/// What more and less of a unit are called.
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
    Words{"bytes_per_cycle", "faster", "slower"},
    Words{"hertz", "faster", "slower"},
    Words{"bytes", "larger", "smaller"},
    Words{"count", "more", "fewer"},
};

Words words_of(std::string_view unit) {
  const auto* const found = std::find_if(unit_words.begin(), unit_words.end(),
                                         [&](const Words& each) { return each.unit == unit; });
  return found == unit_words.end() ? Words{unit, "higher", "lower"} : *found;
}

/// "1.51x slower" or "4.2 % faster": by which factor the larger one is more, or by which share of
/// the first value the second one differs.
std::string amount_of(double ratio, const Words& called) {
  constexpr double first_multiple = 1.2;
  const std::string_view word = ratio > 1.0 ? called.more : called.less;
  const double factor = std::max(ratio, 1.0 / ratio);
  if (factor >= first_multiple) return fmt::format("{}x {}", format_number(factor), word);
  const double percent = 100.0 * std::fabs(ratio - 1.0);
  return fmt::format("{:.{}f} % {}", percent, percent < 9.95 ? 1 : 0, word);
}

/// "261 to 280 ns", "900 ns to 1.20 µs".
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

/// "L2 latency 7.3 % slower (261 to 280 ns)": with both values where it is worse.
std::string text_of(const Change& change, std::size_t baseline) {
  const ComparedRow& row = *change.row;
  std::string text = fmt::format("{} {}", change_title(row), change_words(change));
  if (verdict_of(change) != Verdict::worse) return text;
  return fmt::format("{} ({})", text, both_values(row.cells[baseline], row.cells[change.run]));
}

/// Changes of one kind of finding of a probe that go the same way, the largest first.
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

/// "; not compared: latency, banks": probes that only one of the two runs has, or that measured by
/// another method.
std::string uncompared_text(const Comparison& comparison, std::size_t run) {
  std::vector<std::string_view> probes;
  for (const Unmatched& each : comparison.unmatched) {
    const bool is_whole = each.series.empty() && each.name.empty();
    if (each.run == run && is_whole) probes.push_back(each.probe);
  }
  return probes.empty() ? "" : fmt::format("; not compared: {}", fmt::join(probes, ", "));
}

std::optional<Ink> verdict_ink(std::string_view word) {
  if (word == to_word(Verdict::worse)) return Ink::failure;
  if (word == to_word(Verdict::better)) return Ink::good;
  if (word == to_word(Verdict::different)) return Ink::caution;
  return std::nullopt;
}

bool is_count_word(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

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
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    const bool is_worse = verdict_of(a) == Verdict::worse;
    if (is_worse != (verdict_of(b) == Verdict::worse)) return is_worse;
    return size_of(a) > size_of(b);
  });
  return changes;
}

std::string change_words(const Change& change) {
  if (const auto apart = difference_of(change)) {
    return fmt::format("{:+.1f} points", 100.0 * *apart);
  }
  const auto ratio = ratio_of(change);
  if (!ratio) return std::string(to_word(verdict_of(change)));
  return amount_of(*ratio, words_of(change.row->baseline->finding.unit));
}

std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run) {
  std::vector<Group> groups;
  for (const Change& change : changes_of(comparison)) {
    if (change.run != run) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& each) { return each.holds(change); });
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
      // What is better must not stand where there is no room for what is worse.
      if (!fits(longer + end)) return text + (separator == ", " ? end : rest);
      text = longer;
      separator = ", ";
    }
  }
  return text + rest;
}

std::vector<Span> SummaryInks::spans_of(std::string_view line) {
  std::vector<Span> spans;
  const auto add = [&](std::string_view text, Ink ink) {
    if (!spans.empty() && spans.back().ink == ink) {
      spans.back().text += text;
    } else {
      spans.push_back({std::string(text), ink});
    }
  };
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    const std::string_view bare = word.substr(0, word.find_last_not_of(",:;") + 1);
    const std::optional<Ink> verdict = verdict_ink(bare);
    const bool is_count = verdict && is_number_;
    if (verdict && !is_number_ && word.ends_with(':')) part_ = *verdict;
    add(word, is_count ? *verdict : part_);
    if (word.ends_with(';')) part_ = Ink::plain;
    is_number_ = is_count_word(word);
    const std::size_t next = std::min(end + 1, line.size());
    add(line.substr(end, next - end), part_);
    line.remove_prefix(next);
  }
  return spans;
}

}  // namespace clprobe::report
