// SPDX-License-Identifier: Apache-2.0
// Card of a device: the answers at the top of a report. Probes define the card's contents (`Card`
// in clprobe/run.hpp). For a probe without such contents, the card shows the headlines.
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"
#include "present/blocks.hpp"

namespace clprobe::report {

/// Memory level, with findings of all probes.
struct DeviceLevel {
  CardLevel own{};
  std::vector<std::string> columns{};  ///< a text per column of the card; may be empty
  std::string note{};                  ///< note such as "32 banks of 4 B"
};

/// Card of a device, combined from the cards of all results of a run.
struct DeviceCard {
  std::string title{};
  std::string
      facts{};  ///< facts such as "132 compute units, 140 GiB, driver 580.159.04, 2026-11-22"
  std::vector<std::string> columns{};  ///< titles of additional columns
  std::vector<DeviceLevel> levels{};
  std::vector<CardLine> lines{};
  std::string failures{};  ///< such as "the run was interrupted, stalls failed"; empty: none
  std::vector<std::string> unseen{};    ///< findings and probes that could not be measured
  std::vector<std::string> warnings{};  ///< kinds of warnings, for pages that do not list warnings
};

DeviceCard card_of(const Run& run);

/// Returns the plateau of the column that describes a level: the plateau covers at least a third of
/// the level's measured working sets (on a logarithmic scale), unless the plateau's end is nearer
/// to the end of the previous level. Among several such plateaus, the one whose end is nearest to
/// the level's end is chosen. A level without a measured end (memory) accepts only plateaus without
/// an end, since other plateaus are those of caches. Returns null if there is none, or if the
/// column is of another memory.
const CardPlateau* plateau_of(const DeviceCard& card, std::size_t level, const CardColumn& column);

/// Adds a column to the levels of the memory that `column` names, with the texts of plateau_of().
/// Returns false, and adds no column, if no level gets a text.
bool add_column(DeviceCard& card, const CardColumn& column);

/// Adds a note to the first level of the memory that `note` names. Returns false if the card has no
/// such level.
bool add_note(DeviceCard& card, const CardNote& note);

/// Length of the text about a level's type. `title`: a titled column, which includes notes; `whole`
/// and `brief`: an untitled column, in which a note replaces the type; `none`: no text.
enum class Words { title, whole, brief, none };

/// Parts of the table of levels that are shown; narrow pages show fewer parts.
struct LevelDetail {
  Words words{Words::title};
  bool has_intervals{true};  ///< true: intervals of latencies
  /// True: also intervals below 5 %, which are narrower than the variation between runs on a
  /// device.
  bool has_narrow{true};
  bool has_brackets{true};  ///< true: intervals of capacities
  bool has_cycles{true};
  bool has_columns{true};
};

/// Returns the table of the card's levels, a row per level.
Table levels_table(const DeviceCard& card, const LevelDetail& detail = {});

/// Adds the card to a page: the title, a line per level, and each answer in at most two lines, or
/// six for sentences (four on narrow pages). `has_warnings`: adds the kinds of warnings.
void add_card(Page& page, const DeviceCard& card, bool has_warnings);

/// Returns the card's lines, followed by lines about failures, findings that could not be measured,
/// and warnings.
std::vector<CardLine> all_lines(const DeviceCard& card);

/// Returns the card as HTML elements, without its title.
std::string card_html(const DeviceCard& card);

/// Returns the short form of a result's table: the rows of the result's card, or the headlines of a
/// result without a card.
std::vector<CardLine> short_rows(const ProbeResult& result);

}  // namespace clprobe::report
