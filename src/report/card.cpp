// SPDX-License-Identifier: Apache-2.0
#include "report/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "clprobe/stacks.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"

namespace clprobe::report {
namespace {

void append(std::string& text, std::string_view separator, std::string_view more) {
  if (!text.empty() && !more.empty()) text += separator;
  text += more;
}

/// `unit`: what its compute units are called.
std::string facts_of(const Run& run, std::string_view unit) {
  const DeviceInfo& device = run.device;
  std::string facts = run.label.empty() ? "" : device.name;
  append(facts, ", ", units_text(device.compute_units, unit));
  if (device.timer != Timer::imported) append(facts, ", ", format_bytes(device.global_memory));
  if (!is_simulated(device) && !device.driver.empty()) {
    append(facts, ", ", "driver " + device.driver);
  }
  if (run.imported) append(facts, ", ", "imported from " + run.imported->tool);
  constexpr std::size_t date_size = 10;  // of "2026-11-22T09:36:12Z"
  append(facts, ", ", run.started.substr(0, date_size));
  return facts;
}

std::string value_and_interval(const Finding& finding) {
  const std::string interval = interval_text(finding);
  return value_text(finding) + (interval.empty() ? "" : " " + interval);
}

/// The headlines of a result, a row per series: "latency 4.05 ns ±0.1%, throughput 2 Gop/s".
std::vector<CardLine> headlines_of(const ProbeResult& result) {
  std::vector<CardLine> rows;
  const bool is_any = std::any_of(result.findings.begin(), result.findings.end(),
                                  [](const Finding& each) { return each.role == Role::headline; });
  // Of another tool, whose findings have no roles, all of them.
  const bool are_all = !is_any && result.points.empty();
  for (const Finding& finding : result.findings) {
    const bool is_shown = (are_all || finding.role == Role::headline) &&
                          !is_told_by_label(finding) && !value_text(finding).empty();
    if (!is_shown) continue;
    const std::string topic =
        finding.level ? fmt::format("{} {}", finding.series, *finding.level) : finding.series;
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const CardLine& each) { return each.topic == topic; });
    if (row == rows.end()) row = rows.insert(row, {topic, {}});
    append(row->text, ", ", fmt::format("{} {}", words(finding.name), value_and_interval(finding)));
  }
  return rows;
}

/// Bars are of kernels, and say nothing of the device as a whole.
bool has_card(const ProbeResult& result) {
  const Card& card = result.card;
  return !stacks_in(result.findings).empty() || !card.levels.empty() || !card.columns.empty() ||
         !card.notes.empty() || !card.lines.empty() || !card.rows.empty() || !card.unseen.empty();
}

void add_status(DeviceCard& card, const ProbeResult& result) {
  const std::string name = words(result.probe);
  switch (result.status) {
    case Status::ok:
      return;
    case Status::unsupported:
    case Status::unobservable:
      card.unseen.push_back(result.reason.empty() ? name
                                                  : fmt::format("{}: {}", name, result.reason));
      return;
    case Status::failed:
    case Status::interrupted:
      append(card.failures, ", ", fmt::format("{} {}", name, to_word(result.status)));
      return;
  }
}

/// Of the first series that has levels: the time, the cycles, the size and the word of each.
std::vector<CardLevel> levels_of(const ProbeResult& result) {
  std::vector<CardLevel> levels;
  std::vector<int> numbers;
  const std::string* series = nullptr;
  for (const Finding& finding : result.findings) {
    if (!finding.level || (series != nullptr && finding.series != *series)) continue;
    series = &finding.series;
    const auto place = std::find(numbers.begin(), numbers.end(), *finding.level);
    const auto i = static_cast<std::size_t>(place - numbers.begin());
    if (place == numbers.end()) {
      numbers.push_back(*finding.level);
      levels.push_back({.name = fmt::format("{} {}", finding.series, *finding.level)});
    }
    if (finding.unit == "seconds") levels[i].latency = finding;
    if (finding.unit == "cycles") levels[i].cycles = finding;
    if (finding.unit == "bytes") levels[i].capacity = finding;
    if (finding.unit.empty() && !finding.label.empty()) levels[i].what = words(finding.label);
  }
  std::erase_if(levels, [](const CardLevel& each) { return value_text(each.latency).empty(); });
  return levels;
}

/// What its headlines are besides those of its levels.
void add_headlines(DeviceCard& card, const ProbeResult& result) {
  // Of many series the first few, and how many more there are.
  constexpr std::size_t max_series = 2;
  std::vector<CardLine> rows = headlines_of(result);
  for (const CardLevel& level : levels_of(result)) {
    std::erase_if(rows, [&](const CardLine& row) { return row.topic == level.name; });
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), max_series); ++i) {
    append(text, "; ", fmt::format("{}: {}", rows[i].topic, rows[i].text));
  }
  if (rows.size() > max_series) text += fmt::format("; and {} more", rows.size() - max_series);
  if (!text.empty()) card.lines.push_back({words(result.probe), std::move(text)});
}

void add_own(DeviceCard& card, const Card& own, bool is_imported) {
  card.lines.insert(card.lines.end(), own.lines.begin(), own.lines.end());
  for (const CardColumn& each : own.columns) {
    if (!add_column(card, each) && !each.alone.text.empty()) card.lines.push_back(each.alone);
  }
  for (const CardNote& each : own.notes) {
    if (!add_note(card, each)) card.lines.push_back(each.alone);
  }
  // What another tool has not measured is none of its gaps.
  if (is_imported) return;
  card.unseen.insert(card.unseen.end(), own.unseen.begin(), own.unseen.end());
}

void add_warnings(std::vector<std::string>& kinds, const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) {
    const std::string kind = brief_warning(warning.code);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
}

}  // namespace

DeviceCard card_of(const Run& run) {
  DeviceCard card{.title = name_of(run),
                  .facts = facts_of(run, "compute unit"),
                  .short_facts = facts_of(run, "unit")};
  if (run.interrupted) card.failures = "the run was interrupted";
  // All levels come first: what is said of them may stand in a result before theirs.
  for (const ProbeResult& result : run.results) {
    for (const CardLevel& level : has_card(result) ? result.card.levels : levels_of(result)) {
      card.levels.push_back({.own = level});
    }
  }
  add_warnings(card.warnings, run.warnings);
  for (const ProbeResult& result : run.results) {
    if (has_card(result)) {
      add_own(card, result.card, run.imported.has_value());
    } else {
      add_headlines(card, result);
    }
    add_status(card, result);
    add_warnings(card.warnings, result.warnings);
  }
  return card;
}

LevelTexts texts_of(const CardLevel& level) {
  LevelTexts texts{.latency = value_text(level.latency),
                   .interval = interval_text(level.latency),
                   .cycles = {},
                   .capacity = value_text(level.capacity),
                   .bracket = interval_text(level.capacity)};
  // Its column has the unit.
  if (level.cycles.value) texts.cycles = quantity_text(*level.cycles.value, level.cycles.unit);
  if (texts.latency.empty()) texts.latency = "no plateau";
  const bool has_reason = texts.capacity.empty() && !level.capacity.reason.empty();
  if (has_reason) texts.capacity = short_reason(level.capacity);
  return texts;
}

std::vector<CardLine> all_lines(const DeviceCard& card) {
  std::vector<CardLine> lines = card.lines;
  if (!card.failures.empty()) lines.push_back({"not done", card.failures});
  if (!card.unseen.empty()) {
    lines.push_back({"not seen", fmt::format("{}", fmt::join(card.unseen, ", "))});
  }
  if (!card.warnings.empty()) {
    lines.push_back({"warnings", fmt::format("{}", fmt::join(card.warnings, ", "))});
  }
  return lines;
}

std::vector<CardLine> short_rows(const ProbeResult& result) {
  return has_card(result) ? result.card.rows : headlines_of(result);
}

}  // namespace clprobe::report
