// SPDX-License-Identifier: Apache-2.0
// What other probes say of the levels on a card: by the working sets of the levels, or by the
// memory that they are of.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/card.hpp"
#include "report/findings.hpp"

namespace clprobe::report {
namespace {

struct Sizes {
  double from{0.0};
  double to{0.0};  ///< infinite where its end was not reached
};

/// Nothing where a level's end, or that of the one before, is not known.
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

/// How often the size doubles in between; 0 where there is nothing in between.
double doublings(double from, double to) {
  const double low = std::max(from, 1.0);
  return to > low ? std::log2(to / low) : 0.0;
}

/// By how many doublings a plateau ends elsewhere than the level; infinite where it has no end.
double distance_of_ends(const Sizes& level, const CardPlateau& plateau) {
  return plateau.is_open ? HUGE_VAL : std::abs(std::log2(level.to / plateau.to));
}

/// The text of the plateau that ends nearest to a level's end, of those that cover enough of it;
/// empty where none does. What is faster lies before it: sets that are a little larger than the
/// cache before have a part of it there, and units may be answered together. By doublings covered
/// an H200's L2 had 13.0 TB/s in one run of three, of sets to 2.58 MiB of 28.6.
std::string text_at(const Sizes& level, const std::vector<CardPlateau>& plateaus) {
  constexpr double min_share = 1.0 / 3.0;
  const double smallest = plateaus.front().from;
  const bool is_open_level = std::isinf(level.to);
  std::string text;
  std::optional<double> nearest;
  for (const CardPlateau& each : plateaus) {
    if (is_open_level && !each.is_open) continue;
    // What is memory to all units begins where a cache is lost on them: it is no part of a cache.
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

std::string what_text(const DeviceLevel& level) {
  if (level.note.empty()) return level.own.what;
  return level.own.what.empty() ? level.note : level.own.what + ": " + level.note;
}

}  // namespace clprobe::report
