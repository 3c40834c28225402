// SPDX-License-Identifier: Apache-2.0
#include "present/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "present/findings.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

constexpr int dots_across = 2;  // columns of dots in a braille character
constexpr int dots_down = 4;    // rows of dots in a braille character

// Bits of the dots in a braille character, by column and row. The code point of a character is
// U+2800 plus the bits of its dots.
constexpr std::array<std::array<std::uint8_t, dots_down>, dots_across> braille_bits{
    {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

std::string braille(std::uint8_t dots) {
  return {'\xE2', static_cast<char>(0xA0U | (dots >> 6U)),
          static_cast<char>(0x80U | (dots & 0x3FU))};
}

/// Returns the mark of a series.
std::string mark_of(int series, bool is_unicode) {
  // Marks repeat after 12 series.
  constexpr std::array unicode{"⠒", "○", "□", "△", "◇", "×", "+", "●", "■", "▲", "◆", "▽"};
  constexpr std::array ascii{"*", "o", "x", "+", "#", "%", "@", "O", "X", "=", "$", "&"};
  const auto i = static_cast<std::size_t>(series);
  return is_unicode ? unicode.at(i % unicode.size()) : ascii.at(i % ascii.size());
}

/// Grid of characters for a chart: a line of braille dots or ASCII stars, marks, and the notes that
/// fit.
class Canvas {
 public:
  Canvas(int columns, int rows, Axis x, Axis y, bool is_unicode);

  /// Draws the first series as a line. `points` are sorted by x.
  void draw_line(const std::vector<ChartPoint>& points);
  /// Draws a further series as marks, at most in every second column, so that lines stay visible.
  void draw_marks(const std::vector<ChartPoint>& points, int series);
  /// Writes a note above or below the middle of its plateau, if the note fits.
  void write(const ChartNote& note, const std::string& text);
  /// Returns a row of the grid; row 0 is the lowest.
  [[nodiscard]] std::vector<Span> row(int height) const;

 private:
  struct Cell {
    std::string text{};
    std::uint8_t dots{0};
    int series{-1};  // index of the series; -1: empty cell

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
  std::vector<std::vector<Cell>> rows_;  // rows of the grid, the lowest first
};

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

constexpr int widest_plot = 92;  // maximum width of a plot in columns

struct Tick {
  int place{0};
  std::string text{};
};

// Returns the ticks of the y axis. A chart of at least `chart_rows` rows leaves an empty row
// between labels.
std::vector<Tick> y_ticks(const Chart& chart, const Axis& axis, int rows) {
  std::vector<Tick> ticks;
  const double apart = rows < chart_rows ? 1.0 : 2.0;
  for (const double value : y_ticks_of(axis, apart / (rows - 1))) {
    ticks.push_back({axis.place(value, rows), tick_text(value, chart.y_unit)});
  }
  return ticks;
}

/// Returns the ticks of the x axis whose labels do not overlap.
std::vector<Tick> x_ticks(const Chart& chart, const Axis& axis, int columns) {
  constexpr double min_columns = 10.0;
  std::vector<Tick> ticks;
  int free_from = 0;
  for (const double value : x_values_of(chart, axis, min_columns / columns)) {
    const Tick tick{axis.place(value, columns), x_text_of(chart, value)};
    const int width = display_width(tick.text);
    const int first = std::max(tick.place - width / 2, 0);
    if (!ticks.empty() && first < free_from) continue;
    free_from = first + width + 1;
    ticks.push_back(tick);
  }
  return ticks;
}

void draw_x_axis(Page& page, const std::vector<Tick>& ticks, int margin, int columns) {
  const bool is_unicode = page.is_unicode();
  std::vector<std::string> axis(static_cast<std::size_t>(columns), is_unicode ? "─" : "-");
  std::string labels = pad_right("", margin + 1);
  for (const Tick& tick : ticks) {
    axis[static_cast<std::size_t>(tick.place)] = is_unicode ? "┬" : "+";
    const int width = display_width(tick.text);
    const int first = std::min(margin + 1 + tick.place - width / 2, page.width() - width);
    labels = pad_right(labels, first) + tick.text;
  }
  std::string line = pad_right("", margin) + (is_unicode ? "└" : "+");
  for (const std::string& each : axis) line += each;
  page.line({{line, Ink::faint}});
  page.line({{labels, Ink::faint}});
}

void draw_legend(Page& page, const Chart& chart, int margin) {
  std::vector<std::vector<Span>> items;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const int series = static_cast<int>(i);
    std::string mark = mark_of(series, page.is_unicode());
    if (i == 0) mark += mark;  // the first series is a line, so its mark appears twice
    items.push_back({{mark, Ink::first_series, series}, {" " + page.show(chart.series[i].name)}});
  }
  page.flow(items, margin + 1);
}

/// Draws an x axis whose labels are part of the line: "+-- 1 KiB ------ 32 KiB --".
void draw_low_x_axis(Page& page, const std::vector<Tick>& ticks, int margin, int columns) {
  const std::string_view dash = page.is_unicode() ? "─" : "-";
  std::string line = pad_right("", margin) + (page.is_unicode() ? "└" : "+");
  int used = 0;
  const auto draw_to = [&](int column) {
    for (; used < column; ++used) line += dash;
  };
  for (const Tick& tick : ticks) {
    const std::string text = " " + tick.text + " ";
    const int width = display_width(text);
    const int first = std::clamp(tick.place - width / 2, 0, std::max(0, columns - width));
    if (first < used) continue;
    draw_to(first);
    line += text;
    used += width;
  }
  draw_to(columns);
  page.line({{line, Ink::faint}});
}

Axis axis_of(const Chart& chart, double ChartPoint::*coordinate, Scale scale) {
  double low = 0.0;
  double high = 0.0;
  bool is_first = true;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      low = is_first ? point.*coordinate : std::min(low, point.*coordinate);
      high = is_first ? point.*coordinate : std::max(high, point.*coordinate);
      is_first = false;
    }
  }
  if (is_first) return {};
  const Axis on{.scale = scale};
  return {on.on(low), on.on(high), scale};
}

/// Returns the next larger (`is_up`) or smaller number of the form 1, 2 or 5 times a power of ten.
/// The result always differs from `value`, so that an axis has a length.
double round_outward(double value, bool is_up) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const std::array<double, 5> around{0.5 * power, power, 2.0 * power, 5.0 * power, 10.0 * power};
  constexpr double rounding = 1e-9;
  if (is_up) {
    return *std::find_if(around.begin(), around.end() - 1,
                         [&](double each) { return each > value * (1.0 + rounding); });
  }
  return *std::find_if(around.rbegin(), around.rend() - 1,
                       [&](double each) { return each < value * (1.0 - rounding); });
}

void draw_plot(Page& page, const Chart& chart, int rows) {
  const Axis x = x_axis_of(chart);
  Axis y = y_axis_of(chart);
  if (!(x.high > x.low)) return;
  // The y axis of a low chart ends at round values, since it has ticks only at its two ends.
  if (rows < chart_rows && y.scale == Scale::logarithmic) {
    y = axis_of(chart, &ChartPoint::y, chart.y_scale.value_or(chart.scale));
    y.low = std::log(round_outward(std::exp(y.low), false));
    y.high = std::log(round_outward(std::exp(y.high), true));
  }

  std::vector<Tick> ticks = y_ticks(chart, y, rows);
  int margin = 0;
  for (Tick& tick : ticks) {
    tick.text = page.show(tick.text);
    margin = std::max(margin, display_width(tick.text) + 2);
  }
  const int columns = std::min(page.width() - margin - 3, widest_plot);
  Canvas canvas(columns, rows, x, y, page.is_unicode());
  canvas.draw_line(sorted(chart.series.front()));
  for (std::size_t i = chart.series.size(); i-- > 1;) {
    canvas.draw_marks(sorted(chart.series[i]), static_cast<int>(i));
  }
  for (const ChartNote& note : chart.notes) canvas.write(note, page.show(note.text));

  for (int height = rows - 1; height >= 0; --height) {
    const auto tick = std::ranges::find(ticks, height, &Tick::place);
    const bool is_tick = tick != ticks.end();
    const std::string_view border = !page.is_unicode() ? (is_tick ? "+" : "|")
                                    : is_tick          ? "┤"
                                                       : "│";
    std::vector<Span> spans{
        {pad_left(is_tick ? tick->text : "", margin - 1) + " " + std::string(border), Ink::faint}};
    for (Span& span : canvas.row(height)) spans.push_back(std::move(span));
    page.line(spans);
  }
  const std::vector<Tick> below = x_ticks(chart, x, columns);
  if (rows < chart_rows) return draw_low_x_axis(page, below, margin, columns);
  draw_x_axis(page, below, margin, columns);
  draw_legend(page, chart, margin);
}

}  // namespace

std::string title_of(const Chart& chart) {
  const std::string& series = chart.series.front().name;
  const bool is_memory = chart.y_unit == "seconds" && chart.x_name == "working_set_bytes" &&
                         (series == "global" || series == "local");
  std::string title = fmt::format("{} by {}, {}{}", chart.y_title, x_title_of(chart), series,
                                  is_memory ? " memory" : "");
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

std::string x_title_of(const Chart& chart) {
  return chart.x_title.empty() ? parameter_title(chart.x_name) : chart.x_title;
}

std::string coordinate_text(std::string_view parameter, double value) {
  const bool is_whole = value == std::floor(value) && std::fabs(value) < 9e15;
  return parameter_text(parameter,
                        is_whole ? Value{static_cast<std::int64_t>(value)} : Value{value});
}

std::string x_text_of(const Chart& chart, double value) {
  return chart.x_unit.empty() ? coordinate_text(chart.x_name, value)
                              : tick_text(value, chart.x_unit);
}

double Axis::on(double value) const { return scale == Scale::linear ? value : std::log(value); }

double Axis::value(double on_axis) const {
  return scale == Scale::linear ? on_axis : std::exp(on_axis);
}

bool Axis::has(double value) const {
  constexpr double rounding = 1e-9;
  const double room = scale == Scale::linear ? rounding * (high - low) : rounding;
  return on(value) >= low - room && on(value) <= high + room;
}

double Axis::share(double value) const { return (on(value) - low) / (high - low); }

int Axis::place(double value, int places) const {
  return std::clamp(static_cast<int>(std::lround(share(value) * (places - 1))), 0, places - 1);
}

Axis x_axis_of(const Chart& chart) { return axis_of(chart, &ChartPoint::x, chart.scale); }

Axis y_axis_of(const Chart& chart) {
  Axis axis = axis_of(chart, &ChartPoint::y, chart.y_scale.value_or(chart.scale));
  if (axis.scale == Scale::linear) {
    // Leaves a fifth of the span above and below the curve for notes.
    const double span = std::max(axis.high - axis.low, axis.high / 10.0);
    const double missing = span - (axis.high - axis.low);
    return {axis.low - missing / 2 - span / 5.0, axis.high + missing / 2 + span / 5.0, axis.scale};
  }
  const double min_span = std::log(10.0);
  axis.low -= std::log(1.35);
  axis.high += std::log(1.7);
  const double missing = std::max(min_span - (axis.high - axis.low), 0.0);
  return {axis.low - missing / 2, axis.high + missing / 2};
}

std::vector<double> even_ticks(double low, double high, double min_apart) {
  std::vector<double> ticks;
  if (!(high > low) || !(min_apart > 0.0)) return ticks;
  const double power = std::pow(10.0, std::floor(std::log10(min_apart)));
  double step = 10.0 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * power >= min_apart) step = digit * power;
  }
  const double first = std::ceil(low / step);
  const int count = 1 + static_cast<int>(std::floor(high / step) - first);
  for (int i = 0; i < count; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::vector<double> x_values_of(const Chart& chart, const Axis& axis, double min_share) {
  std::vector<double> values;
  const double span = axis.high - axis.low;
  if (axis.scale == Scale::linear) {
    values = even_ticks(axis.low, axis.high, min_share * span);
  } else if (parameter_unit(chart.x_name) == "bytes") {
    int step = 1;
    for (const int octaves : {1, 2, 5, 10, 20}) {
      step = octaves;
      if (octaves * std::log(2.0) >= min_share * span) break;
    }
    for (int power = 0; power < 63; power += step) values.push_back(std::ldexp(1.0, power));
  } else {
    std::set<double> own;
    for (const ChartSeries& series : chart.series) {
      for (const ChartPoint& point : series.points) own.insert(point.x);
    }
    values.assign(own.begin(), own.end());
    constexpr std::size_t max_own = 12;  // more values would give too many ticks
    if (own.size() > max_own) {
      values.clear();
      for (int power = static_cast<int>(std::floor(axis.low / std::log(10.0)));
           power * std::log(10.0) <= axis.high; ++power) {
        for (const double digit : {1.0, 2.0, 5.0}) values.push_back(digit * std::pow(10.0, power));
      }
    }
  }
  std::erase_if(values, [&](double value) { return !axis.has(value); });
  return values;
}

std::vector<double> y_ticks_of(const Axis& axis, double min_share) {
  if (axis.scale == Scale::linear) {
    return even_ticks(axis.low, axis.high, min_share * (axis.high - axis.low));
  }
  const int lowest = static_cast<int>(std::floor(axis.low / std::log(10.0)));
  const int highest = static_cast<int>(std::ceil(axis.high / std::log(10.0)));
  std::vector<double> ends;
  for (const std::vector<double>& steps : {std::vector{1.0, 2.0, 5.0}, {1.0, 3.0}, {1.0}}) {
    std::vector<double> ticks;
    bool is_crowded = false;
    for (int exponent = lowest; exponent <= highest; ++exponent) {
      for (const double step : steps) {
        const double value = step * std::pow(10.0, exponent);
        if (!axis.has(value)) continue;
        const bool is_close =
            !ticks.empty() && axis.share(value) < axis.share(ticks.back()) + min_share;
        is_crowded = is_crowded || is_close;
        ticks.push_back(value);
      }
    }
    if (!is_crowded && ticks.size() >= 2) return ticks;
    if (ends.empty() && ticks.size() >= 2) ends = {ticks.front(), ticks.back()};
  }
  return ends;
}

std::string tick_text(double value, std::string_view unit) {
  const std::string text = quantity_text(value, unit);
  const std::size_t space = text.find(' ');
  std::string number = text.substr(0, space);
  if (number.find('.') != std::string::npos) {  // "10.0 ns" becomes "10 ns"
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
  }
  return space == std::string::npos ? number : number + text.substr(space);
}

std::vector<ChartPoint> sorted(const ChartSeries& series) {
  std::vector<ChartPoint> points = series.points;
  std::ranges::sort(points, [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  return points;
}

void draw_chart(Page& page, const Chart& chart) { draw_plot(page, chart, chart_rows); }

void draw_low_chart(Page& page, const Chart& chart) {
  Chart low = chart;
  low.series.resize(1);
  std::erase_if(low.notes, [](const ChartNote& note) { return note.series != 0; });
  draw_plot(page, low, low_chart_rows);
}

}  // namespace clprobe::report
