// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

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

/// "1.51x" or "4.2 %": how much more the larger one is.
std::string amount_of(double factor) {
  constexpr double first_multiple = 1.2;
  if (factor >= first_multiple) return format_number(factor) + "x";
  const double percent = 100.0 * (factor - 1.0);
  return fmt::format("{:.{}f} %", percent, percent < 9.95 ? 1 : 0);
}

/// Changes of one finding of several series that go the same way.
struct Group {
  std::string title{};  // "stride bandwidth"
  Verdict verdict{Verdict::same};
  std::string_view word{};  // "faster"; empty without a ratio
  double least{std::numeric_limits<double>::infinity()};
  double most{0.0};
  std::size_t count{0};
};

Group group_of(const Change& change) {
  const Finding& finding = change.row->baseline->finding;
  const std::string name = finding.unit == "share" ? "shares" : words(finding.name);
  const std::string& probe = change.row->probe;
  Group group{.title = name == probe ? name : fmt::format("{} {}", probe, name),
              .verdict = change.row->cells[change.run].judgement.verdict};
  const auto ratio = ratio_of(change);
  if (!ratio || finding.unit == "share") return group;
  const Words called = words_of(finding.unit);
  group.word = *ratio > 1.0 ? called.more : called.less;
  group.least = group.most = *ratio > 1.0 ? *ratio : 1.0 / *ratio;
  return group;
}

std::vector<Group> groups_of(const Comparison& comparison, std::size_t run) {
  std::vector<Group> groups;
  for (const Change& change : changes_of(comparison)) {
    if (change.run != run) continue;
    const Group one = group_of(change);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& each) {
      return each.title == one.title && each.verdict == one.verdict && each.word == one.word;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), one);
    ++group->count;
    group->least = std::min(group->least, one.least);
    group->most = std::max(group->most, one.most);
  }
  return groups;
}

std::string text_of(const Group& group) {
  std::string text = group.title;
  if (!group.word.empty()) {
    const std::string from = amount_of(group.least);
    const std::string to = amount_of(group.most);
    text += fmt::format(" {}{} {}", from, from == to ? "" : " to " + to, group.word);
  }
  if (group.count > 1) text += fmt::format(" ({})", group.count);
  return text;
}

/// The unit of what a finding in cycles of the core says in time; empty of others.
std::string_view unit_in_time(std::string_view unit) {
  if (unit == "cycles") return "seconds";
  return unit == "bytes_per_cycle" ? "bytes_per_second" : "";
}

/// Whether this is in cycles, and stands beside what changed as well and says the same in time.
bool is_repeated(const Change& change, const std::vector<Change>& changes) {
  const Finding& cycles = change.row->baseline->finding;
  const std::string_view unit = unit_in_time(cycles.unit);
  return !unit.empty() && std::any_of(changes.begin(), changes.end(), [&](const Change& other) {
    const Finding& time = other.row->baseline->finding;
    return other.run == change.run && other.row->probe == change.row->probe && time.unit == unit &&
           time.series == cycles.series && time.level == cycles.level;
  });
}

}  // namespace

std::vector<Change> changes_of(const Comparison& comparison) {
  std::vector<Change> changes;
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const Judgement& judgement = row.cells[run].judgement;
      const bool is_judged = run != comparison.baseline && !judgement.reason.empty();
      if (is_judged && is_change(judgement.verdict)) changes.push_back({&row, run});
    }
  }
  const std::vector<Change> all = changes;
  std::erase_if(changes, [&](const Change& each) { return is_repeated(each, all); });
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return size_of(a) > size_of(b); });
  return changes;
}

std::string change_words(const Change& change) {
  if (const auto apart = difference_of(change)) {
    return fmt::format("{:+.1f} points", 100.0 * *apart);
  }
  const Judgement& judgement = change.row->cells[change.run].judgement;
  const auto ratio = ratio_of(change);
  if (!ratio) return std::string(to_word(judgement.verdict));
  const Words called = words_of(change.row->baseline->finding.unit);
  return *ratio > 1.0 ? fmt::format("{} {}", amount_of(*ratio), called.more)
                      : fmt::format("{} {}", amount_of(1.0 / *ratio), called.less);
}

std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run) {
  const std::vector<Group> groups = groups_of(comparison, run);
  std::vector<SummaryPart> parts;
  for (const Verdict verdict : {Verdict::worse, Verdict::better, Verdict::different}) {
    SummaryPart part{verdict, {}};
    for (const Group& group : groups) {
      if (group.verdict == verdict) part.texts.push_back(text_of(group));
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
  if (text.empty()) text = "no change";
  return rest.empty() ? text : fmt::format("{}; {}", text, rest);
}

std::string brief_summary_of(const Comparison& comparison, std::size_t run,
                             const std::function<bool(const std::string&)>& fits) {
  std::string whole = summary_of(comparison, run);
  if (fits(whole)) return whole;
  VerdictCounts changed = comparison.counts[run];
  changed.same = changed.unclear = 0;
  std::string text = counts_text(changed);
  std::string_view separator = ": ";
  for (const SummaryPart& part : summary_parts(comparison, run)) {
    for (const std::string& each : part.texts) {
      const std::string longer = fmt::format("{}{}{}", text, separator, each);
      if (!fits(longer + more_follow)) continue;
      text = longer;
      separator = ", ";
    }
  }
  if (separator == ", ") return text + more_follow;
  if (summary_parts(comparison, run).size() != 1) return text;
  // No room for by how much: at what, then.
  for (const Group& group : groups_of(comparison, run)) {
    const std::string longer = fmt::format("{}{}{}", text, separator, group.title);
    if (!fits(longer) || text.find(group.title) != std::string::npos) continue;
    text = longer;
    separator = ", ";
  }
  return text;
}

}  // namespace clprobe::report
