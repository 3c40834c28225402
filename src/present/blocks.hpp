// SPDX-License-Identifier: Apache-2.0
// Blocks: contents of reports, decided once and written by each format.
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
  std::string aside{};    ///< interval or verdict of the value
  std::string reason{};   ///< reason for a missing value, or a remark
  bool is_number{true};   ///< true for a number: its reason is a remark; false for a word that the
                          ///< reason explains
  bool is_remark{false};  ///< true: the reason is always shown in the row
  Ink ink{Ink::plain};    ///< colour of the aside, or of the text if there is none
};

struct Table {
  std::string title{};
  std::string_view kind{"findings"};  ///< CSS classes in an HTML page
  std::vector<std::string> head{};
  std::vector<std::vector<Cell>> rows{};
  std::size_t names{1};        ///< number of columns on the left that name a row
  bool is_of_devices{false};   ///< true: other columns are devices, in their colours
  bool has_name_heads{false};  ///< true: heads are names, which terminals wrap
};

/// Heading inside a report; an empty heading is a gap.
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

/// Returns the tables of a device's findings, without shares of stacks: a row per level, a column
/// per finding. Series without common findings have separate tables.
std::vector<Table> findings_tables(const std::vector<Finding>& findings, std::string_view title);

/// Returns the shares of stacks: a table per view, followed by remarks.
std::vector<Block> shares_blocks(std::span<const Finding> findings);

/// Returns warnings as items in the colour of caution; warnings that differ only in numbers are one
/// item.
std::vector<Prose> notices_of(std::span<const Warning> warnings);
/// Returns a result's advice (with the series as lead), failed points and warnings.
std::vector<Prose> notices_of(const ProbeResult& result);

/// Returns the program, its devices, kernels and notes. A screen has the first twenty kernels;
/// `is_whole`: a row per signature.
std::vector<Block> survey_blocks(const SurveyedApp& app, bool is_whole);

/// Returns the blocks as text; `style.all_points`: a row per signature.
std::string table_of_survey(const SurveyedApp& app, const TableStyle& style);

/// Returns the hash of a surveyed program as sixteen hexadecimal digits.
std::string program_text(const survey::Program& program);

/// Returns the table in Markdown, with all columns.
std::string to_markdown(const Table& table);
/// Returns blocks in Markdown, separated by empty lines except items of a list.
std::string to_markdown(std::span<const Block> blocks);

/// Returns the table in a box, without columns that have no text; names that rows share appear
/// once. Rows with a column "verdict" carry verdict and probe as attributes for the page's filters.
std::string to_html(const Table& table);

/// Columns and rows of a page for a whole table.
struct Layout {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
};
Layout lay_out(const Page& page, const Table& table);
inline constexpr int table_indent = 1;

/// Adds the table to a page. A narrow page moves first names to lines of their own, omits asides
/// from the right, moves long names to lines of their own, and finally puts columns that do not fit
/// below. Columns of devices and the whole form keep their asides; the whole form adds reasons.
void add_table(Page& page, const Table& table, Form form);
/// Adds blocks to a page; leads of a list have equal widths.
void add_blocks(Page& page, std::span<const Block> blocks, Form form);

}  // namespace clprobe::report
