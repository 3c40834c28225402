// SPDX-License-Identifier: Apache-2.0
#include "report/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "text/text.hpp"

namespace clprobe::report {
namespace {

constexpr int dots_across = 2;  // of a braille character
constexpr int dots_down = 4;

// The dots of a braille character, by column and row: Unicode 28xx numbers them in this order.
constexpr std::array<std::array<std::uint8_t, dots_down>, dots_across> braille_bits{
    {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

std::string braille(std::uint8_t dots) {
  return {'\xE2', static_cast<char>(0xA0U | (dots >> 6U)),
          static_cast<char>(0x80U | (dots & 0x3FU))};
}

}  // namespace

std::string mark_of(int series, bool is_unicode) {
  // No probe draws more curves into one chart.
  constexpr std::array unicode{"⠒", "○", "□", "△", "◇", "×", "+", "●", "■", "▲", "◆", "▽"};
  constexpr std::array ascii{"*", "o", "x", "+", "#", "%", "@", "O", "X", "=", "$", "&"};
  const auto i = static_cast<std::size_t>(series);
  return is_unicode ? unicode.at(i % unicode.size()) : ascii.at(i % ascii.size());
}

Canvas::Canvas(int columns, int rows, Axis x, Axis y, bool is_unicode)
    : columns_(columns), height_(rows), x_(x), y_(y), is_unicode_(is_unicode) {
  rows_.assign(static_cast<std::size_t>(rows),
               std::vector<Cell>(static_cast<std::size_t>(columns)));
}

void Canvas::draw_line(const std::vector<ChartPoint>& points) {
  const int across = columns_ * (is_unicode_ ? dots_across : 1);
  const int down = height_ * (is_unicode_ ? dots_down : 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ChartPoint& from = points[i == 0 ? 0 : i - 1];
    const int x0 = x_.place(from.x, across);
    const int y0 = y_.place(from.y, down);
    const int dx = x_.place(points[i].x, across) - x0;
    const int dy = y_.place(points[i].y, down) - y0;
    const int steps = std::max({std::abs(dx), std::abs(dy), 1});
    for (int step = 0; step <= steps; ++step) {
      const double share = static_cast<double>(step) / steps;
      dot(x0 + static_cast<int>(std::lround(share * dx)),
          y0 + static_cast<int>(std::lround(share * dy)));
    }
  }
}

void Canvas::draw_marks(const std::vector<ChartPoint>& points, int series) {
  int last = -2;
  for (const ChartPoint& point : points) {
    const int column = x_.place(point.x, columns_);
    if (column < last + 2) continue;
    last = column;
    cell(column, y_.place(point.y, height_)) = {mark_of(series, is_unicode_), 0, series};
  }
}

void Canvas::write(const ChartNote& note, const std::string& text) {
  const std::vector<std::string> letters = characters(text);
  const int width = static_cast<int>(letters.size());
  if (width > columns_) return;
  const int middle = (x_.place(note.x_low, columns_) + x_.place(note.x_high, columns_)) / 2;
  const int first = std::clamp(middle - width / 2, 0, std::max(columns_ - width, 0));
  const int height = y_.place(note.y, height_);
  for (const int row : {height + 1, height - 1, height + 2}) {
    if (row < 0 || row >= height_ || !is_free(first - 1, first + width + 1, row)) continue;
    for (int i = 0; i < width; ++i) {
      cell(first + i, row) = {letters[static_cast<std::size_t>(i)], 0, note.series};
    }
    return;
  }
}

std::vector<Span> Canvas::row(int height) const {
  std::vector<Span> spans;
  for (const Cell& each : rows_[static_cast<std::size_t>(height)]) {
    const std::string text = each.dots != 0    ? braille(each.dots)
                             : each.is_empty() ? " "
                                               : each.text;
    const Ink ink = each.is_empty() ? Ink::plain : Ink::first_series;
    const int series = std::max(each.series, 0);
    if (!spans.empty() && spans.back().ink == ink && spans.back().series == series) {
      spans.back().text += text;
    } else {
      spans.push_back({text, ink, series});
    }
  }
  return spans;
}

Canvas::Cell& Canvas::cell(int column, int height) {
  return rows_[static_cast<std::size_t>(height)][static_cast<std::size_t>(column)];
}

void Canvas::dot(int x, int y) {
  if (!is_unicode_) {
    cell(x, y) = {mark_of(0, false), 0, 0};
    return;
  }
  Cell& target = cell(x / dots_across, y / dots_down);
  target.series = 0;
  const auto down = static_cast<std::size_t>(dots_down - 1 - y % dots_down);
  target.dots |= braille_bits.at(static_cast<std::size_t>(x % dots_across)).at(down);
}

bool Canvas::is_free(int first, int last, int height) {
  for (int column = std::max(first, 0); column < std::min(last, columns_); ++column) {
    if (!cell(column, height).is_empty()) return false;
  }
  return true;
}

}  // namespace clprobe::report
