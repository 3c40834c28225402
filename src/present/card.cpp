// SPDX-License-Identifier: Apache-2.0
#include "present/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"

namespace clprobe::report {
namespace {

void append(std::string& text, std::string_view separator, std::string_view more) {
  if (!text.empty() && !more.empty()) text += separator;
  text += more;
}

std::string facts_of(const Run& run) {
  const DeviceInfo& device = run.device;
  std::string facts = run.label.empty() ? "" : device.name;
  append(facts, ", ", units_text(device.compute_units, "compute unit"));
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
  // Findings of other tools have no roles: all of them are shown.
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

/// True if the probe fills the card. Bars count, too: they describe kernels, not the device.
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

/// The levels of the first series that has any, from findings alone.
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

/// Adds the headlines of a result but those of its levels.
void add_headlines(DeviceCard& card, const ProbeResult& result) {
  // More series than these are only counted.
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
  // Another tool did not try to measure what the card misses.
  if (is_imported) return;
  card.unseen.insert(card.unseen.end(), own.unseen.begin(), own.unseen.end());
}

void add_warnings(std::vector<std::string>& kinds, const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) {
    const std::string kind = brief_warning(warning.code);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
}

struct Sizes {
  double from{0.0};
  double to{0.0};  ///< infinite where its end was not reached
};

/// The sizes of a level; nothing if its end or the end of the level before is unknown.
std::optional<Sizes> sizes_of(const std::vector<DeviceLevel>& levels, std::size_t i) {
  const CardLevel& level = levels[i].own;
  Sizes sizes;
  if (i > 0 && levels[i - 1].own.memory == level.memory) {
    const std::optional<double> before = levels[i - 1].own.capacity.value;
    if (!before) return std::nullopt;
    sizes.from = *before;
  }
  if (level.capacity.value) {
    sizes.to = *level.capacity.value;
  } else if (is_open(level.capacity)) {
    sizes.to = HUGE_VAL;
  } else {
    return std::nullopt;
  }
  return sizes;
}

/// Number of doublings between two sizes; 0 if `to` is not the larger one.
double doublings(double from, double to) {
  const double low = std::max(from, 1.0);
  return to > low ? std::log2(to / low) : 0.0;
}

/// Distance in doublings between the ends of a plateau and of a level; infinite for an open
/// plateau.
double distance_of_ends(const Sizes& level, const CardPlateau& plateau) {
  return plateau.is_open ? HUGE_VAL : std::abs(std::log2(level.to / plateau.to));
}

/// The text of the plateau whose end is nearest to the level's end, among those that cover enough
/// of the level; empty if none does. Choosing by coverage alone would be wrong: sets slightly
/// larger than the cache before are still partly served by it. On an H200, L2 would have had 13.0
/// TB/s in one run of three, from sets up to 2.58 MiB of 28.6.
std::string text_at(const Sizes& level, const std::vector<CardPlateau>& plateaus) {
  constexpr double min_share = 1.0 / 3.0;
  const double smallest = plateaus.front().from;
  const bool is_open_level = std::isinf(level.to);
  std::string text;
  std::optional<double> nearest;
  for (const CardPlateau& each : plateaus) {
    if (is_open_level && !each.is_open) continue;
    // A plateau of memory begins where the cache ends: it says nothing of the cache.
    if (!is_open_level && each.is_open && each.from > std::max(level.from, smallest)) continue;
    const double covered = doublings(std::max(level.from, each.from), std::min(level.to, each.to));
    const double whole =
        doublings(std::max(level.from, smallest), is_open_level ? each.to : level.to);
    if (covered <= 0.0 || covered < min_share * whole) continue;
    const double distance = distance_of_ends(level, each);
    if (!nearest || distance < *nearest) {
      nearest = distance;
      text = each.text;
    }
  }
  return text;
}

}  // namespace

DeviceCard card_of(const Run& run) {
  DeviceCard card{.title = name_of(run), .facts = facts_of(run)};
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

bool add_column(DeviceCard& card, const CardColumn& column) {
  if (column.plateaus.empty()) return false;
  std::vector<std::string> texts(card.levels.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (card.levels[i].own.memory != column.memory) continue;
    if (const std::optional<Sizes> sizes = sizes_of(card.levels, i)) {
      texts[i] = text_at(*sizes, column.plateaus);
    }
  }
  const auto is_empty = [](const std::string& text) { return text.empty(); };
  if (std::all_of(texts.begin(), texts.end(), is_empty)) return false;
  card.columns.push_back(column.title);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    card.levels[i].columns.push_back(std::move(texts[i]));
  }
  return true;
}

bool add_note(DeviceCard& card, const CardNote& note) {
  const auto level =
      std::find_if(card.levels.begin(), card.levels.end(),
                   [&](const DeviceLevel& each) { return each.own.memory == note.memory; });
  if (level == card.levels.end()) return false;
  if (!level->note.empty()) level->note += ", ";
  level->note += note.text;
  return true;
}

}  // namespace clprobe::report
