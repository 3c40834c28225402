// SPDX-License-Identifier: Apache-2.0
// A page of a fixed width: lines of coloured text, and tables whose columns line up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "present/api/report.hpp"

namespace clprobe::report {

/// The meaning of a piece of text, which decides its colour.
enum class Ink { plain, heading, faint, good, caution, failure, first_series, heat };

/// Amount of detail of a result: one among many, one that has the screen for itself, or all that is
/// known (-v).
enum class Form { brief, usual, whole };

/// Text of one ink.
struct Span {
  std::string text{};
  Ink ink{Ink::plain};
  /// Number of the series for Ink::first_series (six colours, repeated); warmth for Ink::heat, 0 to
  /// 5.
  int series{0};
};

struct Column {
  std::string title{};    ///< with line ends where it has several lines
  bool is_number{false};  ///< aligned to the right
  int gap{2};             ///< spaces before it; less for what belongs to the column before
};

struct Row {
  std::vector<std::string> cells{};
  std::string remark{};  ///< runs on from the first column without a cell, wrapped below itself
  Ink remark_ink{Ink::faint};
  int remark_gap{0};        ///< spaces before it, where the column has fewer
  std::vector<Ink> inks{};  ///< inks by cell; cells without one are plain
};

class Page {
 public:
  explicit Page(const TableStyle& style);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] bool is_unicode() const { return style_.unicode; }
  /// Any text as this page may show it. All text of a page goes through here before it is measured.
  [[nodiscard]] std::string show(std::string_view text) const;

  /// A line of spans that were passed through `show`; cut at the width, spaces at its end dropped.
  void line(const std::vector<Span>& spans);
  void blank() { text_ += '\n'; }
  /// Whole lines of another page of the same style.
  void append(std::string_view lines) { text_ += lines; }
  /// `lead` and then the text, wrapped so that all lines of it begin below each other.
  void prose(std::string_view lead, std::string_view text, Ink ink);
  /// Items next to each other, as many in a line as fit, with `gap` spaces between two.
  void flow(const std::vector<std::vector<Span>>& items, int margin, int gap = 3);
  /// Titles and rows. Empty columns are kept. Titles are left out when all are empty.
  void table(const std::vector<Column>& columns, const std::vector<Row>& rows, int indent,
             Ink titles = Ink::faint);
  /// Columns that `table` needs for the cells; remarks wrap into what is left.
  static int table_width(const std::vector<Column>& columns, const std::vector<Row>& rows,
                         int indent);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void remark(const std::string& lead, const Row& row);

  TableStyle style_;
  int width_;
  std::string text_{};
};

}  // namespace clprobe::report
