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

/// What the cards of all results of a run are together.
struct DeviceCard {
  std::string title{};
  std::string facts{};  ///< "132 compute units, 140 GiB, driver 580.159.04, 2026-11-22"
  std::vector<CardLevel> levels{};
  std::vector<CardLine> lines{};
  std::string failures{};  ///< which probes did not end: "stalls failed"; empty: all did
  std::string unseen{};    ///< what could not be seen
  std::string warnings{};  ///< which kinds there are, for who does not show them below
};

DeviceCard card_of(const Run& run);

/// The level's latency, interval, cycles, capacity and bracket as text.
struct LevelTexts {
  std::string latency{};
  std::string interval{};
  std::string cycles{};
  std::string capacity{};
  std::string bracket{};
};
LevelTexts texts_of(const CardLevel& level);

/// At most 18 lines on a page of 80 columns or more; on a narrower one texts get twice the room.
/// `has_warnings`: with a line for them.
void add_card(Page& page, const DeviceCard& card, bool has_warnings);

/// The lines, and those of what is not done and not seen where there are any. Warnings are not
/// among them: formats that are not short of lines say them in full.
std::vector<CardLine> all_lines(const DeviceCard& card);

/// The card as elements, without its title.
std::string card_html(const DeviceCard& card);

/// The table of a result where there is no room for one: a line per row of its card, else its
/// headlines.
std::vector<CardLine> short_rows(const ProbeResult& result);

}  // namespace clprobe::report
