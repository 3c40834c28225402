// SPDX-License-Identifier: Apache-2.0
// Tables of reports, decided once: Markdown and pages write them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "report/card.hpp"
#include "report/side_by_side.hpp"

namespace clprobe::report {

struct Cell {
  std::string text{};    ///< a value or a word
  std::string aside{};   ///< the value's interval
  std::string reason{};  ///< why there is no value, or what to know of it
  bool is_number{true};  ///< a reason explains a word, and follows a number
};

struct Table {
  std::string title{};
  std::string_view kind{"findings"};  ///< its classes in a page's style
  std::vector<std::string> head{};
  std::vector<std::vector<Cell>> rows{};
  std::size_t names{1};       ///< columns on the left that say what a row is
  bool is_of_devices{false};  ///< whether the other columns are devices, in their colours
};

/// One device's findings without shares of stacks: a row per level, a column per finding. Several
/// tables where series share no finding.
std::vector<Table> findings_tables(const std::vector<Finding>& findings, std::string_view title);

/// The shares of stacks, a table for each view, with remarks on them.
struct Shares {
  Table table{};
  std::vector<std::string> remarks{};
};
std::vector<Shares> shares_tables(std::span<const Finding> findings);

/// The findings of several devices: a row per level and finding, a column per device.
Table shared_table(const SharedGrid& grid, std::span<const std::string> titles);

/// The levels of a card; without rows where there are none.
Table levels_table(const DeviceCard& card);

/// The table with all its columns.
std::string to_markdown(const Table& table);

/// The table in a box of its own, without columns that have no text; names that rows share stand
/// once.
std::string to_html(const Table& table);

}  // namespace clprobe::report
