// SPDX-License-Identifier: Apache-2.0
// Blocks: what reports show, decided once. Each format writes the same blocks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/page.hpp"

namespace clprobe::report {

struct Cell {
  std::string text{};     ///< a value or a word
  std::string aside{};    ///< the value's interval or verdict
  std::string reason{};   ///< why there is no value, or what to know of it
  bool is_number{true};   ///< a reason explains a word, and follows a number
  bool is_remark{false};  ///< the reason always stands beside the row
  Ink ink{Ink::plain};    ///< ink of the aside, or of the text if there is none
};

struct Table {
  std::string title{};
  std::string_view kind{"findings"};  ///< classes in a page's style
  std::vector<std::string> head{};
  std::vector<std::vector<Cell>> rows{};
  std::size_t names{1};        ///< columns on the left that say what a row is
  bool is_of_devices{false};   ///< the other columns are devices, in their colours
  bool has_name_heads{false};  ///< heads are names, which terminals wrap
};

/// A heading inside a report; an empty one is only a gap.
struct Heading {
  std::string text{};
  std::size_t rank{3};
};

/// An item of a list, or a paragraph.
struct Prose {
  std::string lead{};  ///< subject of the item: "B"
  std::string text{};
  Ink ink{Ink::plain};
  bool is_nested{false};     ///< belongs to the item before
  bool is_paragraph{false};  ///< a paragraph, not an item
};

using Block = std::variant<Heading, Prose, Table>;

/// True if the block is an item of a list.
bool is_item(const Block& block);

/// The tables of one device's findings, without shares of stacks: a row per level, a column per
/// finding. Series that share no finding have tables of their own.
std::vector<Table> findings_tables(const std::vector<Finding>& findings, std::string_view title);

/// The shares of stacks: a table for each view, followed by remarks on it.
std::vector<Block> shares_blocks(std::span<const Finding> findings);

/// Warnings as items in the ink of caution; those that differ in numbers alone are one item.
std::vector<Prose> notices_of(std::span<const Warning> warnings);
/// The advice of a result, with series as leads, its failed points, and its warnings.
std::vector<Prose> notices_of(const ProbeResult& result);

/// The table with all its columns.
std::string to_markdown(const Table& table);
/// The blocks with an empty line between any two but items of one list.
std::string to_markdown(std::span<const Block> blocks);

/// The table in a box of its own, without columns that have no text; names that rows share stand
/// once. Rows with a column "verdict" carry it and their probe for the page's filters.
std::string to_html(const Table& table);

/// A table as columns and rows of a page, with all that it has.
struct Layout {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
};
Layout lay_out(const Page& page, const Table& table);
inline constexpr int table_indent = 1;

/// Adds the table to a page. On a narrow page first names get lines of their own, then asides are
/// left out from the right, then long names get lines of their own, and at last the columns that
/// do not fit follow below. Columns of devices, and the whole form, keep their asides; reasons
/// follow in the whole form.
void add_table(Page& page, const Table& table, Form form);
/// Adds blocks to a page; leads of one list have one width.
void add_blocks(Page& page, std::span<const Block> blocks, Form form);

}  // namespace clprobe::report
