// SPDX-License-Identifier: Apache-2.0
// The card of a device: what a person came for, before everything else. The probes say what stands
// on it (Card in clprobe/run.hpp); of a probe that says nothing, and of one that this version has
// never heard of, its headlines do.
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"
#include "present/blocks.hpp"

namespace clprobe::report {

/// A level, and what other probes say of it.
struct DeviceLevel {
  CardLevel own{};
  std::vector<std::string> columns{};  ///< texts by the card's titles; may be empty
  std::string note{};                  ///< "32 banks of 4 B"
};

/// The cards of all results of a run together.
struct DeviceCard {
  std::string title{};
  std::string facts{};  ///< "132 compute units, 140 GiB, driver 580.159.04, 2026-11-22"
  std::vector<std::string> columns{};  ///< titles; in each some level has a text
  std::vector<DeviceLevel> levels{};
  std::vector<CardLine> lines{};
  std::string failures{};  ///< the probes that did not end, "stalls failed"; empty: all did
  std::vector<std::string> unseen{};    ///< findings that could not be made
  std::vector<std::string> warnings{};  ///< their kinds, for pages that do not list them
};

DeviceCard card_of(const Run& run);

/// Sets a column beside the levels of its memory; false, and no column, if no level got a text. A
/// level gets the plateau whose end is nearest to the level's end, among the plateaus that cover at
/// least a third of the level's measured working sets (by their logarithms). A level without a
/// measured end gets a plateau without one, or none: the bandwidth of a cache is not memory's.
bool add_column(DeviceCard& card, const CardColumn& column);

/// Sets a note beside the first level of its memory; false if there is no such level.
bool add_note(DeviceCard& card, const CardNote& note);

/// The length of the words for a level; `title`: in a column that has a title, with notes.
enum class Words { title, whole, brief, none };

/// The parts of the levels' table that are shown: the narrower the page, the fewer.
struct LevelDetail {
  Words words{Words::title};
  bool has_intervals{true};  ///< intervals of latencies
  /// Also intervals below 5 %: runs of one device differ by less, so that they are no news.
  bool has_narrow{true};
  bool has_brackets{true};  ///< brackets of capacities
  bool has_cycles{true};
  bool has_columns{true};
};

/// The card's levels, a row each.
Table levels_table(const DeviceCard& card, const LevelDetail& detail = {});

/// Adds the card: its title, a line for each level, and each answer in at most two lines, or four
/// on a page of less than 80 columns. `has_warnings`: with the kinds of warnings.
void add_card(Page& page, const DeviceCard& card, bool has_warnings);

/// The card's lines, followed by failures, unseen findings and warnings if there are any.
std::vector<CardLine> all_lines(const DeviceCard& card);

/// The card as elements, without its title.
std::string card_html(const DeviceCard& card);

/// The table of a result where there is no room for one: a line per row of its card, else its
/// headlines.
std::vector<CardLine> short_rows(const ProbeResult& result);

}  // namespace clprobe::report
