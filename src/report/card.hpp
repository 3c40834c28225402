// SPDX-License-Identifier: Apache-2.0
// The card of a device: what a person came for, before everything else. The probes say what stands
// on it (Card in clprobe/run.hpp); of a probe that says nothing, and of one that this version has
// never heard of, its headlines do.
#pragma once

#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "report/page.hpp"

namespace clprobe::report {

/// A level, and what other probes say of it.
struct DeviceLevel {
  CardLevel own{};
  std::vector<std::string> columns{};  ///< by the card's titles; empty texts where nothing is said
  std::string note{};                  ///< "32 banks of 4 B"
};

/// What the cards of all results of a run are together.
struct DeviceCard {
  std::string title{};
  std::string facts{};  ///< "132 compute units, 140 GiB, driver 580.159.04, 2026-11-22"
  std::string short_facts{};
  std::vector<std::string> columns{};  ///< titles; in each some level has a text
  std::vector<DeviceLevel> levels{};
  std::vector<CardLine> lines{};
  std::string failures{};             ///< which probes did not end: "stalls failed"; empty: all did
  std::vector<std::string> unseen{};  ///< what could not be seen
  std::vector<std::string> warnings{};  ///< which kinds there are, for who does not show them below
};

DeviceCard card_of(const Run& run);

/// Sets a column beside the levels of its memory. Whether any of them got a text: else there is no
/// such column. A level has the plateau that ends nearest to its end, of those that cover a third
/// or more of what was measured by the logarithm of working sets: of three plateaus in one level,
/// one does. A level whose end was not reached has a plateau of which the same is true, or none:
/// what a cache delivers is not what memory does.
bool add_column(DeviceCard& card, const CardColumn& column);

/// Sets a note beside the first level of its memory. Whether there is one.
bool add_note(DeviceCard& card, const CardNote& note);

/// What the level is, with its note: "local memory: 32 banks of 4 B".
std::string what_text(const DeviceLevel& level);

/// The level's latency, interval, cycles, capacity and bracket as text.
struct LevelTexts {
  std::string latency{};
  std::string interval{};
  std::string cycles{};
  std::string capacity{};
  std::string bracket{};
};
LevelTexts texts_of(const CardLevel& level);

/// At most 14 lines on a page of 80 columns or more; on a narrower one twice as many.
/// `has_warnings`: with what they are. How many of its levels have no room there.
std::size_t add_card(Page& page, const DeviceCard& card, bool has_warnings);

/// The lines, and those of what is not done, not seen and warned of where there are any.
std::vector<CardLine> all_lines(const DeviceCard& card);

/// The card as elements, without its title.
std::string card_html(const DeviceCard& card);

/// The table of a result where there is no room for one: a line per row of its card, else its
/// headlines.
std::vector<CardLine> short_rows(const ProbeResult& result);

}  // namespace clprobe::report
