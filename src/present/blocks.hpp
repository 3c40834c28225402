// SPDX-License-Identifier: Apache-2.0
// Blocks: the contents of reports, independent of the output format.
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
  std::string text{};     ///< value or word
  std::string aside{};    ///< interval or verdict of the value in `text`
  std::string reason{};   ///< reason for a missing value, or a remark
  bool is_number{true};   ///< true: `text` is a number, and `reason` a remark; false: `text` is a
                          ///< word that `reason` explains
  bool is_remark{false};  ///< true: the reason is always shown in the row
  Ink ink{Ink::plain};    ///< colour of `aside`, or of `text` if `aside` is empty
};

struct Table {
  std::string title{};
  std::string_view kind{"findings"};  ///< CSS classes in an HTML page
  std::vector<std::string> head{};
  std::vector<std::vector<Cell>> rows{};
  std::size_t names{1};        ///< number of columns on the left that name a row
  bool is_of_devices{false};   ///< true: the remaining columns are devices, in the devices' colours
  bool has_name_heads{false};  ///< true: column heads are names, which terminals wrap
};

/// Heading inside a report; an empty heading is an empty line.
struct Heading {
  std::string text{};
  std::size_t rank{3};
};

/// Item of a list, or a paragraph.
struct Prose {
  std::string lead{};  ///< subject of the item, such as "B"
  std::string text{};
  Ink ink{Ink::plain};
  bool is_nested{false};     ///< true: belongs to the previous item
  bool is_paragraph{false};  ///< true for a paragraph, false for an item
};

using Block = std::variant<Heading, Prose, Table>;

/// True if the block is an item of a list.
bool is_item(const Block& block);

/// Returns tables of the findings, except advice and shares of stacked bars: a row per level, a
/// column per finding name. Series that have no finding names in common have separate tables.
std::vector<Table> findings_tables(const std::vector<Finding>& findings, std::string_view title);

/// Returns the shares of stacked bars: a table per view, followed by remarks.
std::vector<Block> shares_blocks(std::span<const Finding> findings);

/// Returns warnings as list items in the colour of caution. More than three warnings that differ
/// only in numbers form a single item.
std::vector<Prose> notices_of(std::span<const Warning> warnings);
/// Returns a result's advice (with the series as lead), failed points and warnings as list items.
std::vector<Prose> notices_of(const ProbeResult& result);

/// Returns the report of a surveyed program: its devices, kernels and notes. `is_whole`: a row per
/// signature; otherwise the first twenty kernels.
std::vector<Block> survey_blocks(const SurveyedApp& app, bool is_whole);

/// Returns the report of a surveyed program as text. `style.all_points`: a row per signature.
std::string table_of_survey(const SurveyedApp& app, const TableStyle& style);

/// Returns the hash of a surveyed program as sixteen hexadecimal digits.
std::string program_text(const survey::Program& program);

/// Returns the table in Markdown, with all columns.
std::string to_markdown(const Table& table);
/// Returns blocks in Markdown. Empty lines separate the blocks, except the items of a list.
std::string to_markdown(std::span<const Block> blocks);

/// Returns the table as HTML in a box, without empty columns. A name that consecutive rows share
/// appears once. If the table has a column "verdict", each row has the verdict and the probe as
/// attributes, for the page's filters.
std::string to_html(const Table& table);

/// Columns and rows for Page::table() that show a whole table.
struct Layout {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
};
Layout lay_out(const Page& page, const Table& table);
inline constexpr int table_indent = 1;

/// Adds the table to a page. If the page is too narrow, the function moves the names in the first
/// column to separate lines, omits asides from the right, and moves long names to separate lines.
/// Columns that still do not fit follow below; some tables of up to three rows become sentences.
/// Tables of devices and the whole form keep their asides; the whole form also shows reasons.
void add_table(Page& page, const Table& table, Form form);
/// Adds blocks to a page. The leads of consecutive list items have equal widths.
void add_blocks(Page& page, std::span<const Block> blocks, Form form);

}  // namespace clprobe::report
