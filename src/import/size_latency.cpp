// SPDX-License-Identifier: Apache-2.0
// "size,latency" a line, as most pointer chases print it, perhaps with more columns.
#include <fmt/format.h>

#include <algorithm>

#include "import/columns.hpp"
#include "import/curve.hpp"
#include "import/formats.hpp"

namespace clprobe::import::size_latency {

extern const Format format;

namespace {

/// A row of "|:--|--:|", which only draws.
bool is_rule(std::string_view line) {
  return line.starts_with('|') && line.find_first_not_of("|:- \t") == std::string_view::npos;
}

/// Whether the line may be a row: it begins with a number, or has two.
bool is_like_row(std::string_view line) {
  const std::size_t first = line.find_first_not_of("| \t");
  if (first == std::string_view::npos || line.front() == '#') return false;
  if (line[first] >= '0' && line[first] <= '9') return true;
  const std::vector<std::string_view> cells = cells_of(line);
  return std::count_if(cells.begin(), cells.end(), [](std::string_view cell) {
           return positive_number(cell).has_value();
         }) >= 2;
}

/// "64;1,25": a comma between digits where something else parts the columns.
bool has_decimal_comma(std::string_view line) {
  if (line.find_first_of("; \t|") == std::string_view::npos) return false;
  const auto is_digit = [&](std::size_t i) {
    return i < line.size() && line[i] >= '0' && line[i] <= '9';
  };
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == ',' && is_digit(i - 1) && is_digit(i + 1)) return true;
  }
  return false;
}

/// Lines before the first row are headers, and lines of words behind it are remarks.
class Reader {
 public:
  Reader(std::string_view text, const ImportHints& hints) : lines_(text), hints_(hints) {}

  ProbeResult read() {
    ProbeResult result;
    result.probe = "latency";
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      if (line.empty() || is_rule(line)) continue;
      if (line.starts_with('#')) {
        if (!layout_ && names_columns(line)) headers_.push_back(line);
        continue;
      }
      if (const std::optional<Point> point = read_row(line)) {
        result.points.push_back(*point);
      } else if (!layout_) {
        if (is_like_row(line) && !first_refused_) first_refused_ = lines_;
        headers_.push_back(line);
      } else if (!is_prose(line)) {
        refuse_row(lines_);
      }
    }
    if (result.points.empty()) refuse_row(first_refused_.value_or(lines_));
    if (const std::optional<Warning> left_out = find_ignored()) result.warnings = {*left_out};
    return result;
  }

 private:
  [[noreturn]] static void refuse_row(const Lines& at) {
    if (has_decimal_comma(at.line())) {
      at.refuse(fmt::format("write decimals with a point, found '{}'", excerpt(at.line())));
    }
    at.refuse_instead_of("a size and a latency above 0");
  }

  std::optional<Point> read_row(std::string_view line) {
    const std::vector<std::string_view> cells = cells_of(line);
    const Layout layout = layout_ ? *layout_ : find_layout(cells.size());
    if (cells.size() <= std::max(layout.size_at, layout.latency_at)) return std::nullopt;
    const std::optional<Quantity> size = size_in(cells[layout.size_at]);
    const std::optional<Quantity> latency = latency_in(cells[layout.latency_at]);
    if (!size || !latency) return std::nullopt;
    layout_ = layout;
    columns_ = std::max(columns_, cells.size());
    const ListUnit size_unit = size->unit.is_known() ? size->unit : layout.size_unit;
    const ListUnit time_unit = latency->unit.is_known() ? latency->unit : layout.time_unit;
    if (!size_unit.is_known()) {
      lines_.refuse("no header gives the sizes' unit: add --size-unit B, KiB or MiB");
    }
    return latency_point(series_or(hints_, "global"), size->value * size_unit.factor,
                         latency->value * ns_of(time_unit), lines_);
  }

  [[nodiscard]] double ns_of(const ListUnit& unit) const {
    if (!unit.is_known()) {
      lines_.refuse("no header gives the latencies' unit: add --time-unit ns, us or cycles");
    }
    if (!unit.is_cycles) return unit.factor;
    if (hints_.clock_hertz > 0.0) return ns_per_second / hints_.clock_hertz;
    lines_.refuse("latencies are in cycles: add --clock-rate, as in --clock-rate 1.98GHz");
  }

  /// What the last header says of rows with so many cells, and what the person says, who knows
  /// better.
  [[nodiscard]] Layout find_layout(std::size_t cells) const {
    Layout layout;
    for (const std::string_view header : headers_) {
      if (const std::optional<Layout> found = layout_of(header, cells)) layout = *found;
    }
    if (layout.names.empty()) {
      for (const std::string_view header : headers_) read_units(header, layout);
    }
    if (hints_.bytes_per_size_unit > 0.0) layout.size_unit = {hints_.bytes_per_size_unit};
    if (hints_.in_cycles || hints_.ns_per_time_unit > 0.0) {
      layout.time_unit = {hints_.ns_per_time_unit, hints_.in_cycles};
    }
    return layout;
  }

  /// Of a header whose cells are not those of the rows: "Working set in KiB, time in ns".
  static void read_units(std::string_view header, Layout& layout) {
    const std::size_t middle = std::min(header.find_first_of(",;\t"), header.size());
    if (!layout.size_unit.is_known()) layout.size_unit = size_unit_in(header.substr(0, middle));
    if (!layout.time_unit.is_known()) layout.time_unit = time_unit_in(header.substr(middle));
    if (!layout.time_unit.is_known()) layout.time_unit = time_unit_in(header);
  }

  [[nodiscard]] std::string column_name(std::size_t column) const {
    return column < layout_->names.size() ? excerpt(layout_->names[column])
                                          : fmt::format("column {}", column + 1);
  }

  /// The columns that were not read.
  [[nodiscard]] std::optional<Warning> find_ignored() const {
    constexpr std::size_t max_named = 8;
    std::vector<std::string> ignored;
    for (std::size_t i = 0; i < columns_; ++i) {
      if (i != layout_->size_at && i != layout_->latency_at) ignored.push_back(column_name(i));
    }
    if (ignored.empty()) return std::nullopt;
    if (ignored.size() > max_named) {
      ignored.resize(max_named);
      ignored.emplace_back("others");
    }
    return Warning{"columns_ignored",
                   {{"size", column_name(layout_->size_at)},
                    {"latency", column_name(layout_->latency_at)},
                    {"ignored", fmt::format("{}", fmt::join(ignored, ", "))}}};
  }

  Lines lines_;
  const ImportHints& hints_;
  std::vector<std::string_view> headers_{};
  std::optional<Layout> layout_{};  ///< since the first row
  std::optional<Lines> first_refused_{};
  std::size_t columns_{0};
};

bool recognises(const Document& document) {
  // What was to be JSON and is broken has lines with numbers, too.
  const std::size_t first = document.text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || document.text[first] == '{' ||
      document.text[first] == '[') {
    return false;
  }
  for (Lines lines(document.text); lines.next();) {
    if (is_like_row(lines.line())) return true;
  }
  return false;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, "a list of sizes and latencies", format);
  run.results.push_back(Reader(document.text, hints).read());
  if (hints.clock_hertz > 0.0) set_clock(run, hints.clock_hertz);
  return {std::move(run)};
}

}  // namespace

const Format format{.name = "size-latency",
                    .tool = "a pointer chase (lines with a size and a latency)",
                    .uses = Uses::all,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::size_latency
