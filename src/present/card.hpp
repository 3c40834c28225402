// SPDX-License-Identifier: Apache-2.0
// Card of a device: the answers at the top of a report. Probes define its contents (Card in
// clprobe/run.hpp); a probe without a card shows its headlines.
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"
#include "present/blocks.hpp"

namespace clprobe::report {

/// A level with findings of other probes.
struct DeviceLevel {
  CardLevel own{};
  std::vector<std::string> columns{};  ///< texts by the card's column titles; may be empty
  std::string note{};                  ///< note such as "32 banks of 4 B"
};

/// Combined cards of all results of a run.
struct DeviceCard {
  std::string title{};
  std::string
      facts{};  ///< facts such as "132 compute units, 140 GiB, driver 580.159.04, 2026-11-22"
  std::vector<std::string> columns{};  ///< titles of columns with at least one text
  std::vector<DeviceLevel> levels{};
  std::vector<CardLine> lines{};
  std::string failures{};  ///< probes that failed or were interrupted: "stalls failed"; empty: none
  std::vector<std::string> unseen{};    ///< findings that could not be measured
  std::vector<std::string> warnings{};  ///< kinds of warnings, for pages that do not list warnings
};

DeviceCard card_of(const Run& run);

/// Adds a column to the levels of its memory; returns false, without adding it, if no level got a
/// text. A level gets the text of the plateau whose end is nearest to the level's end, among
/// plateaus that cover at least a third of the level's measured working sets (logarithmically). A
/// level without a measured end accepts only open plateaus, since the bandwidth of a cache is not
/// that of memory.
bool add_column(DeviceCard& card, const CardColumn& column);

/// Adds a note to the first level of its memory; false if there is no such level.
bool add_note(DeviceCard& card, const CardNote& note);

/// Length of the text about a level's type; `title`: in a column with a title, including notes.
enum class Words { title, whole, brief, none };

/// Parts of the table of levels to show; narrow pages show fewer.
struct LevelDetail {
  Words words{Words::title};
  bool has_intervals{true};  ///< true: intervals of latencies
  /// True: also intervals below 5 %, which are smaller than differences between runs of a device.
  bool has_narrow{true};
  bool has_brackets{true};  ///< true: intervals of capacities
  bool has_cycles{true};
  bool has_columns{true};
};

/// Returns the card's levels, one row each.
Table levels_table(const DeviceCard& card, const LevelDetail& detail = {});

/// Adds the card: title, a line per level, and each answer in at most two lines (four below 80
/// columns). `has_warnings`: adds the kinds of warnings.
void add_card(Page& page, const DeviceCard& card, bool has_warnings);

/// Returns the card's lines, followed by failures, unseen findings and warnings.
std::vector<CardLine> all_lines(const DeviceCard& card);

/// Returns the card as HTML elements, without its title.
std::string card_html(const DeviceCard& card);

/// Returns the short form of a result's table: the rows of its card, else its headlines.
std::vector<CardLine> short_rows(const ProbeResult& result);

}  // namespace clprobe::report
