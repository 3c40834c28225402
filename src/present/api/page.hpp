// SPDX-License-Identifier: Apache-2.0
// Pages of a fixed width: coloured lines, and tables with aligned columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "present/api/report.hpp"

namespace clprobe::report {

/// Meaning of a text, which determines the text's colour.
enum class Ink { plain, heading, faint, good, caution, failure, first_series, heat };

/// Amount of detail of a result. `brief`: the report has many results; `usual`: it has one or two;
/// `whole`: everything is shown (-v).
enum class Form { brief, usual, whole };

/// Text of one colour.
struct Span {
  std::string text{};
  Ink ink{Ink::plain};
  /// Series number for Ink::first_series (six colours, repeated); heat level 0 to 5 for Ink::heat.
  int series{0};
};

struct Column {
  std::string title{};    ///< title; may contain line ends
  bool is_number{false};  ///< true: aligned to the right
  int gap{2};             ///< spaces before the column
};

struct Row {
  std::vector<std::string> cells{};
  std::string remark{};  ///< text after the last cell, wrapped in a column of its own
  Ink remark_ink{Ink::faint};
  int remark_gap{0};        ///< additional spaces before the remark
  std::vector<Ink> inks{};  ///< colours of the first cells; the remaining cells are plain
};

class Page {
 public:
  explicit Page(const TableStyle& style);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] bool is_unicode() const { return style_.unicode; }
  /// Returns the text in characters that this page can show. Callers must use this function before
  /// they compute the text's width.
  [[nodiscard]] std::string show(std::string_view text) const;

  /// Adds a line, cut at the page's width and without trailing spaces. The texts of `spans` must be
  /// results of show().
  void line(const std::vector<Span>& spans);
  void blank() { text_ += '\n'; }
  /// Adds whole lines from another page with the same style.
  void append(std::string_view lines) { text_ += lines; }
  /// Adds `lead` and the text, wrapped; further lines are aligned with the beginning of the text.
  void prose(std::string_view lead, std::string_view text, Ink ink);
  /// Adds items, as many per line as fit, separated by `gap` spaces.
  void flow(const std::vector<std::vector<Span>>& items, int margin, int gap = 3);
  /// Adds a line of titles, unless all titles are empty, and the rows. Empty columns are kept.
  void table(const std::vector<Column>& columns, const std::vector<Row>& rows, int indent,
             Ink titles = Ink::faint);
  /// Returns the width that table() needs for the cells; remarks are wrapped in the remaining
  /// columns.
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
