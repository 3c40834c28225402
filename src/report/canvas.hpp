// SPDX-License-Identifier: Apache-2.0
// Cells of a chart: a line of braille dots or ASCII stars, marks, and notes where there is room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace clprobe::report {

/// The mark of the n-th series.
std::string mark_of(int series, bool is_unicode);

class Canvas {
 public:
  Canvas(int columns, int rows, Axis x, Axis y, bool is_unicode);

  /// The first series, as a line through its points, which are sorted by x.
  void draw_line(const std::vector<ChartPoint>& points);
  /// Another one, as marks in every second column at most: a line below remains visible.
  void draw_marks(const std::vector<ChartPoint>& points, int series);
  /// Beside the middle of its plateau, unless something is there.
  void write(const ChartNote& note, const std::string& text);
  /// A row, counted from the bottom.
  [[nodiscard]] std::vector<Span> row(int height) const;

 private:
  struct Cell {
    std::string text{};
    std::uint8_t dots{0};
    int series{-1};  // none

    [[nodiscard]] bool is_empty() const { return series < 0; }
  };

  Cell& cell(int column, int height);
  void dot(int x, int y);
  bool is_free(int first, int last, int height);

  int columns_;
  int height_;
  Axis x_;
  Axis y_;
  bool is_unicode_;
  std::vector<std::vector<Cell>> rows_;  // from the bottom
};

}  // namespace clprobe::report
