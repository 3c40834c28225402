// SPDX-License-Identifier: Apache-2.0
// The lines of a card below its levels, made to fit. Pure.
#pragma once

#include <string>
#include <vector>

#include "report/card.hpp"
#include "report/page.hpp"

namespace clprobe::report {

/// A topic, and its text in lines.
struct CardEntry {
  std::string topic{};
  std::string text{};
  std::vector<std::string> lines{};
  Ink ink{Ink::plain};
  std::string caution{};  ///< runs on behind the last line
  bool is_shared{false};  ///< two topics are in it
};

/// Columns of the topics: of the widest one, but at most a third of the page.
int topic_width_of(const Page& page, const DeviceCard& card);

/// Each in as many lines as it takes, but what is not done, not seen and to beware of in one each.
/// `is_short`: the latter two share a line.
std::vector<CardEntry> entries_of(const Page& page, const DeviceCard& card, bool has_warnings,
                                  bool is_short);

/// Shortens the longest texts by lines until all fit into so many, or have one each.
void fit(std::vector<CardEntry>& entries, std::size_t room, const Page& page, int topic_width);

/// Entries share lines, two in each and the shortest neighbours first, until so many lines are left
/// or all that can share do; each is cut as a list, and keeps its topic.
void share_lines(std::vector<CardEntry>& entries, std::size_t room, const Page& page,
                 int topic_width);

/// As much of a text as fits into so many lines: it ends after a part of the list that it is, with
/// its parentheses closed; after a word where its parts are long.
std::vector<std::string> shorten(const std::string& text, std::size_t max_lines, int width,
                                 std::string_view mark);

}  // namespace clprobe::report
