// SPDX-License-Identifier: Apache-2.0
// Lists of sizes and latencies, as most pointer chases print them: CSV, aligned text or Markdown
// tables. A list may contain several curves, below each other, in separate columns, or
// distinguished by a key column. Each curve becomes a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "analysis/api/estimate.hpp"
#include "import/columns.hpp"
#include "import/formats.hpp"
#include "text/api/text.hpp"

namespace clprobe::import::size_latency {

namespace {

using Cells = std::vector<std::string_view>;

/// Notation of a list: its separator of cells and its decimal mark.
struct Notation {
  Separator separator;
  char decimal;
};

struct Curve {
  std::string name{};
  std::vector<Point> points{};
  int line{0};  ///< number of the line with the curve's first point
};

struct Row {
  double bytes{0.0};
  /// One element per value column; absent for a missing value.
  std::vector<std::optional<double>> ns{};
  std::string key{};  ///< words of the row, and numbers in key columns
  Lines at;
};

/// The rows that follow one header or title.
struct Block {
  std::string title{};
  Layout layout{};
  std::vector<Row> rows{};
  std::size_t columns{0};
};

bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

/// Returns true for a line that consists of ruling characters: "|:--|--:|" or "====".
bool is_rule(std::string_view line) {
  return line.find_first_not_of("|:-=+_* \t") == std::string_view::npos;
}

/// Returns true if the line may be a row: it begins with a number, or two of its words begin with a
/// number.
bool is_like_row(std::string_view line) {
  const std::size_t first = line.find_first_not_of("|\" \t");
  if (first == std::string_view::npos || line.front() == '#') return false;
  const auto begins_with_digit = [](std::string_view text) { return has_digit(text.substr(0, 1)); };
  const std::vector<std::string_view> words = split_words(line, "|;,\" \t");
  return begins_with_digit(line.substr(first)) ||
         std::ranges::count_if(words, begins_with_digit) >= 2;
}

/// Returns true for the text of a missing value, as in a column that is shorter than other columns.
bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 6> words{"", "-", "--", "n/a", "N/A", "NA"};
  return std::ranges::find(words, cell) != words.end();
}

/// Reader of a list in one notation.
class Reader {
 public:
  Reader(std::string_view text, const ImportHints& hints, Notation notation)
      : lines_(text), hints_(hints), notation_(notation) {}

  /// Returns the blocks of the list. Throws RunFormatError.
  std::vector<Block> read() {
    bool is_after_gap = false;
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      if (line.empty()) {
        is_after_gap = true;
        continue;
      }
      if (is_rule(line)) continue;
      if (!line.starts_with('#') && read_row(line, is_after_gap)) {
        words_.clear();
      } else {
        read_words(line, is_after_gap);
      }
      is_after_gap = is_after_gap && line.starts_with('#');
    }
    if (blocks_.empty()) {
      first_refused_.value_or(lines_).refuse_instead_of("a size and a latency above 0");
    }
    return std::move(blocks_);
  }

  /// Returns the number of latencies read; a row may have more than one.
  [[nodiscard]] int rows() const { return rows_; }
  /// Returns true if a header was found, even one without a column of sizes or of latencies.
  [[nodiscard]] bool has_header() const { return has_header_; }

 private:
  /// Stores a line that is not a row: a header or a title before the first row; a title or a remark
  /// after the first row. Throws RunFormatError for a later line that resembles a row.
  void read_words(std::string_view line, bool is_after_gap) {
    if (blocks_.empty() && is_like_row(line) && !first_refused_) first_refused_ = lines_;
    const bool is_words = line.starts_with('#') || is_prose(line) || !has_digit(line) ||
                          (is_after_gap && has_letter(line.substr(0, 1)));
    if (!blocks_.empty() && !is_words) lines_.refuse_instead_of("a size and a latency above 0");
    if (is_after_gap && !blocks_.empty()) is_title_ = true;
    words_.push_back(lines_);
  }

  Cells name_cells(std::string_view line) const {
    line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
    return cells_of(line, notation_.separator);
  }

  /// Returns the columns that the lines before a row name. The header is the last line with names
  /// for a size and a latency, or the last two lines combined.
  std::optional<Layout> find_header(std::size_t columns) {
    std::optional<Layout> found;
    std::vector<std::string> above;
    for (const Lines& at : words_) {
      const std::string_view line = at.line();
      const Cells cells = name_cells(line);
      std::vector<std::string> names(cells.begin(), cells.end());
      if (names.size() != columns) {
        above.clear();
        continue;
      }
      std::optional<Layout> layout = layout_of(names);
      if (!above.empty()) {
        for (std::size_t i = 0; i < columns; ++i) above[i] += " " + names[i];
        const std::optional<Layout> both = layout_of(above);
        if (both && !is_whole(layout)) layout = both;
      }
      if (layout && (is_whole(layout) || !is_whole(found))) {
        found = layout;
        header_ = line;
      }
      above = std::move(names);
    }
    return found;
  }

  static bool is_whole(const std::optional<Layout>& layout) {
    return layout && layout->size_at < layout->names.size() && !layout->values.empty();
  }

  /// Returns a layout for a list without a header. The size is the first cell with a unit of size,
  /// or else the first cell. The latency is the only cell with a unit of time, or else the cell
  /// after the size. Throws RunFormatError if several cells have a unit of time.
  std::optional<Layout> guess_layout(const Cells& cells) const {
    Layout layout{.size_at = 0, .values = {{1, {}}}};
    std::vector<std::size_t> times;
    std::optional<std::size_t> size_at;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto size = size_in(cells[i], notation_.decimal);
      const auto time = latency_in(cells[i], notation_.decimal);
      if (size && size->unit.is_known() && !size_at) size_at = i;
      if (time && time->unit.factor > 0.0) times.push_back(i);
    }
    if (size_at) layout.size_at = *size_at;
    if (size_at && layout.size_at > 0) layout.values[0].at = layout.size_at + 1;
    if (times.size() == 1) layout.values[0].at = times[0];
    if (times.size() > 1) {
      lines_.refuse(
          "a row has more than one time value: name the columns in a header, such as "
          "'KiB,latency (ns),spread (ns)'");
    }
    for (const Lines& at : words_) {
      const std::string_view line = at.line();
      if (line.starts_with('#') && !names_columns(line)) continue;
      const std::size_t middle = std::min(line.find_first_of(",;\t"), line.size());
      if (!layout.size_unit.is_known()) layout.size_unit = size_unit_in(line.substr(0, middle));
      ListUnit& unit = layout.values[0].unit;
      if (!unit.is_known()) unit = time_unit_in(line.substr(middle));
      if (!unit.is_known()) unit = time_unit_in(line);
    }
    return layout;
  }

  /// Assigns columns with unknown names to sizes (if there are two columns, or the user gave the
  /// unit) and latencies (if no name fits). Takes missing units of time from the preceding lines.
  void complete(Layout& layout, const Cells& cells) {
    const std::size_t columns = layout.names.size();
    const auto is_free = [&](std::size_t i) {
      return !layout.is_read(i) && !is_other_measure(layout.names[i]);
    };
    for (std::size_t i = 0; i < columns && layout.size_at >= columns; ++i) {
      if (is_free(i) && (columns == 2 || hints_.bytes_per_size_unit > 0.0)) layout.size_at = i;
    }
    if (layout.values.empty()) {
      for (std::size_t i = 0; i < columns; ++i) {
        const bool is_key = std::ranges::find(layout.keys, i) != layout.keys.end();
        if (!is_free(i) || is_key || !latency_in(cells[i], notation_.decimal)) continue;
        layout.values.push_back({i, {}});
      }
    }
    for (const Lines& at : words_) {
      const bool is_remark = at.line().starts_with('#') && !names_columns(at.line());
      if (is_remark || at.line() == header_) continue;
      for (ValueColumn& each : layout.values) {
        if (!each.unit.is_known()) each.unit = time_unit_in(at.line());
      }
    }
  }

  void apply_hints(Layout& layout) const {
    if (hints_.bytes_per_size_unit > 0.0) layout.size_unit = {hints_.bytes_per_size_unit};
    for (ValueColumn& each : layout.values) {
      if (hints_.in_cycles || hints_.ns_per_time_unit > 0.0) {
        each.unit = {hints_.ns_per_time_unit, hints_.in_cycles};
      }
    }
  }

  /// Reads a row, which may be the first row after its header. Returns false if the line is not a
  /// row.
  bool read_row(std::string_view line, bool is_after_gap) {
    const Cells cells = cells_of(line, notation_.separator);
    if (cells.size() < 2) return false;
    const bool is_first = blocks_.empty();
    if (!is_first && words_.empty()) return add_row(blocks_.back(), cells);
    std::optional<Layout> header = find_header(cells.size());
    Block block;
    if (header) {
      complete(*header, cells);
      block.layout = std::move(*header);
    } else if (is_first) {
      block.layout = *guess_layout(cells);
    } else {
      block.layout = blocks_.back().layout;
    }
    apply_hints(block.layout);
    expect_roles(block.layout, cells);
    if (!add_row(block, cells)) return false;
    has_header_ = has_header_ || header.has_value();
    for (const Lines& each : words_) {
      // A row that cannot be read must not become a title.
      const Cells other = cells_of(each.line(), notation_.separator);
      const std::size_t size_at = block.layout.size_at;
      if (other.size() == cells.size() && size_in(other[size_at], notation_.decimal)) {
        each.refuse_instead_of("a size and a latency above 0");
      }
      if (!header || each.line() != header_) block.title = title_of(each.line());
    }
    // A remark between rows begins a new curve only if the sizes start again from a smaller size.
    const bool is_new = is_first || header || is_title_ || is_after_gap ||
                        block.rows[0].bytes < blocks_.back().rows.back().bytes;
    if (is_new) {
      blocks_.push_back(std::move(block));
    } else {
      blocks_.back().rows.push_back(std::move(block.rows[0]));
    }
    is_title_ = false;
    return true;
  }

  /// Throws RunFormatError and sets `has_header_` if the header names no sizes or no latencies.
  void expect_roles(const Layout& layout, const Cells& cells) {
    if (layout.names.empty()) return;
    const bool has_size = layout.size_at < layout.names.size();
    if (has_size && !layout.values.empty()) return;
    const bool has_number = std::ranges::any_of(cells, has_digit);
    if (!has_number) return;
    has_header_ = true;
    constexpr std::size_t max_named = 4;
    const std::size_t named = std::min(layout.names.size(), max_named);
    const std::vector<std::string> names(layout.names.begin(),
                                         layout.names.begin() + static_cast<std::ptrdiff_t>(named));
    lines_.refuse(fmt::format(
        "the header names no column for {}, only '{}': add the missing name, as in '{}'",
        has_size ? "latencies" : "sizes", excerpt(fmt::format("{}", fmt::join(names, "', '"))),
        has_size ? "latency (ns)" : "size (KiB)"));
  }

  static std::string title_of(std::string_view line) {
    constexpr std::string_view marks = "#*=-: \t";
    line.remove_prefix(std::min(line.find_first_not_of(marks), line.size()));
    return excerpt(line.substr(0, line.find_last_not_of(marks) + 1));
  }

  bool add_row(Block& block, const Cells& cells) {
    const Layout& layout = block.layout;
    if (cells.size() <= layout.size_at) return false;
    const std::optional<Quantity> size = size_in(cells[layout.size_at], notation_.decimal);
    if (!size) return false;
    Row row{.at = lines_};
    bool has_value = false;
    for (const ValueColumn& each : layout.values) {
      const std::string_view cell = each.at < cells.size() ? cells[each.at] : std::string_view();
      const std::optional<Quantity> value = latency_in(cell, notation_.decimal);
      if (!value && (layout.values.size() < 2 || !is_missing(cell))) return false;
      has_value = has_value || value.has_value();
      row.ns.push_back(value ? std::optional(value->value) : std::nullopt);
      if (!value) continue;
      const ListUnit unit = value->unit.is_known() ? value->unit : each.unit;
      ++rows_;
      expect_size_unit(*size, layout);
      *row.ns.back() *= ns_of(unit);
    }
    if (!has_value) return false;
    row.bytes = size->value * (size->unit.is_known() ? size->unit : layout.size_unit).factor;
    row.key = key_of(layout, cells);
    block.columns = std::max(block.columns, cells.size());
    block.rows.push_back(std::move(row));
    return true;
  }

  /// Returns the key of a row: its words, and the numbers in its key columns.
  [[nodiscard]] static std::string key_of(const Layout& layout, const Cells& cells) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool is_key = std::ranges::find(layout.keys, i) != layout.keys.end();
      const bool is_number = has_digit(cells[i].substr(0, 1));
      if (layout.is_read(i) || cells[i].empty() || (!is_key && is_number)) continue;
      parts.push_back(is_key && is_number
                          ? fmt::format("{} {}", excerpt(layout.names[i]), excerpt(cells[i]))
                          : excerpt(cells[i]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  void expect_size_unit(const Quantity& size, const Layout& layout) const {
    if (size.unit.is_known() || layout.size_unit.is_known()) return;
    lines_.refuse("no header gives the unit of sizes: add --size-unit B, KiB or MiB");
  }

  [[nodiscard]] double ns_of(const ListUnit& unit) const {
    if (!unit.is_known()) {
      lines_.refuse("no header gives the unit of latencies: add --time-unit ns, us or cycles");
    }
    if (!unit.is_cycles) return unit.factor;
    if (hints_.clock_hertz > 0.0) return ns_per_second / hints_.clock_hertz;
    lines_.refuse("latencies are in cycles: add --clock-rate, as in --clock-rate 1.98GHz");
  }

  Lines lines_;
  const ImportHints& hints_;
  Notation notation_;
  std::vector<Lines> words_{};  ///< lines after the last row that are not rows
  std::string_view header_{};
  std::vector<Block> blocks_{};
  std::optional<Lines> first_refused_{};
  bool is_title_{false};
  bool has_header_{false};
  int rows_{0};
};

/// Returns true if one size occurs with different keys, so that keys distinguish curves.
bool has_series(const Block& block) {
  std::map<double, std::string> keys;
  return std::ranges::any_of(block.rows, [&](const Row& row) {
    return keys.try_emplace(row.bytes, row.key).first->second != row.key;
  });
}

/// Adds the curves of a block: one curve for each value column, each key, and each pass over the
/// sizes.
void add_curves(const Block& block, const ImportHints& hints, std::vector<Curve>& curves) {
  const bool is_by_key = has_series(block);
  for (std::size_t column = 0; column < block.layout.values.size(); ++column) {
    std::map<std::string, std::size_t> current;  // index of the current curve of each key
    std::map<std::string, std::set<double>> passed;
    for (const Row& row : block.rows) {
      if (!row.ns[column]) continue;
      const std::string key = is_by_key ? row.key : std::string();
      Point point = latency_point(series_or(hints, "global"), row.bytes, *row.ns[column], row.at);
      const auto found = current.find(key);
      const bool is_repeat = found != current.end() &&
                             curves[found->second].points.back().parameters == point.parameters;
      const bool is_new_size = passed[key].insert(row.bytes).second;
      if (found == current.end() || (!is_new_size && !is_repeat)) {
        passed[key] = {row.bytes};
        current[key] = curves.size();
        std::string name = block.title;
        const std::string own = block.layout.values.size() < 2 || block.layout.names.empty()
                                    ? std::string()
                                    : excerpt(block.layout.names[block.layout.values[column].at]);
        for (const std::string& part : {key, own}) {
          if (!part.empty()) name += (name.empty() ? "" : ", ") + part;
        }
        curves.push_back({std::move(name), {}, row.at.number()});
      }
      curves[current[key]].points.push_back(std::move(point));
    }
  }
}

/// Returns a warning that names the columns that were not read; nothing if all were read.
std::optional<Warning> find_ignored(const Block& block) {
  const Layout& layout = block.layout;
  constexpr std::size_t max_named = 8;
  const auto name = [&](std::size_t i) {
    return i < layout.names.size() ? excerpt(layout.names[i]) : fmt::format("column {}", i + 1);
  };
  std::vector<std::string> ignored;
  std::vector<std::string> read;
  for (const ValueColumn& each : layout.values) read.push_back(name(each.at));
  for (std::size_t i = 0; i < block.columns; ++i) {
    if (!layout.is_read(i)) ignored.push_back(name(i));
  }
  if (ignored.empty()) return std::nullopt;
  if (ignored.size() > max_named) {
    ignored.resize(max_named);
    ignored.emplace_back("others");
  }
  return Warning{"columns_ignored",
                 {{"size", name(layout.size_at)},
                  {"latency", fmt::format("{}", fmt::join(read, ", "))},
                  {"ignored", fmt::format("{}", fmt::join(ignored, ", "))}}};
}

/// Result of reading a list in one notation, or the reason why reading failed.
struct Attempt {
  std::vector<Block> blocks{};
  std::string problem{};
  int rows{-1};
  bool is_final{false};
};

Attempt attempt(std::string_view text, const ImportHints& hints, Notation notation) {
  Reader reader(text, hints, notation);
  Attempt made;
  try {
    made.blocks = reader.read();
  } catch (const RunFormatError& error) {
    made.problem = error.what();
  }
  made.rows = reader.rows();
  made.is_final = made.problem.empty() || reader.has_header();
  return made;
}

/// Returns true if all sizes of the first block are whole numbers of bytes in ascending order, as
/// with the right decimal mark.
bool is_orderly(const Attempt& made) {
  const std::vector<Row>& rows = made.blocks.front().rows;
  return std::ranges::all_of(rows,
                             [](const Row& row) { return row.bytes == std::floor(row.bytes); }) &&
         std::ranges::is_sorted(rows, {}, &Row::bytes);
}

bool is_same(const Attempt& a, const Attempt& b) {
  const auto numbers_of = [](const Attempt& made) {
    std::vector<std::pair<double, std::vector<std::optional<double>>>> numbers;
    for (const Block& block : made.blocks) {
      for (const Row& row : block.rows) numbers.emplace_back(row.bytes, row.ns);
    }
    return numbers;
  };
  return numbers_of(a) == numbers_of(b);
}

/// Returns the result with the right decimal mark. Throws RunFormatError if the two decimal marks
/// give different results and neither is more plausible.
Attempt choose(Attempt with_point, Attempt with_comma) {
  if (!with_point.problem.empty() || !with_comma.problem.empty()) {
    return with_comma.problem.empty() ? std::move(with_comma) : std::move(with_point);
  }
  if (is_same(with_point, with_comma)) return with_point;
  if (is_orderly(with_point) != is_orderly(with_comma)) {
    return is_orderly(with_point) ? std::move(with_point) : std::move(with_comma);
  }
  with_point.blocks.front().rows.front().at.refuse(
      "the comma may be a decimal mark or a thousands separator: write decimals with a point, and "
      "omit thousands separators");
}

/// Returns the blocks in the first notation that has a header or no error, or else in the notation
/// with the most latencies. Separators that rarely occur inside of cells are tried first.
std::vector<Block> read_blocks(std::string_view text, const ImportHints& hints) {
  constexpr std::array separators{Separator::bar,   Separator::semicolon, Separator::tab,
                                  Separator::comma, Separator::wide,      Separator::blank};
  const bool has_comma = text.find(',') != std::string_view::npos;
  std::optional<Attempt> best;
  for (const Separator separator : separators) {
    const bool is_mark = separator != Separator::wide && separator != Separator::blank;
    if (is_mark && text.find(static_cast<char>(separator)) == std::string_view::npos) continue;
    Attempt made = attempt(text, hints, {separator, '.'});
    if (has_comma) made = choose(std::move(made), attempt(text, hints, {separator, ','}));
    if (!best || made.is_final || made.rows > best->rows) best = std::move(made);
    if (best->is_final) break;
  }
  if (!best->problem.empty()) throw RunFormatError(best->problem);
  return std::move(best->blocks);
}

/// Throws RunFormatError for times of copies or of whole loops instead of single loads. Such times
/// begin above 2 us, end above 20 us, or increase in proportion to the size. Loads of host memory
/// across PCIe take 1.5 us, which is accepted. `line` is the line of the first point.
void expect_loads(const std::vector<Point>& points, int line) {
  constexpr double max_first_ns = 2e3;
  constexpr double max_last_ns = 2e4;
  constexpr double proportional = 0.7;
  constexpr double min_span = 8.0;
  constexpr std::size_t min_slopes = 4;
  const auto bytes = [](const Point& point) {
    return static_cast<double>(point.parameters.integer("working_set_bytes"));
  };
  const auto ns = [](const Point& point) { return *number_in(point.facts, imported_ns); };
  std::vector<Point> sorted = points;
  std::ranges::stable_sort(sorted,
                           [&](const Point& a, const Point& b) { return bytes(a) < bytes(b); });
  std::size_t steep = 0;
  std::size_t slopes = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double step = std::log(bytes(sorted[i]) / bytes(sorted[i - 1]));
    if (step <= 0.0) continue;
    ++slopes;
    if (std::log(ns(sorted[i]) / ns(sorted[i - 1])) / step > proportional) ++steep;
  }
  const bool is_proportional = slopes >= min_slopes && 2 * steep > slopes &&
                               bytes(sorted.back()) >= min_span * bytes(sorted.front());
  const bool is_short = ns(sorted.front()) <= max_first_ns && ns(sorted.back()) <= max_last_ns;
  if (is_short && !is_proportional) return;
  throw RunFormatError(
      fmt::format("line {}: {:.4g} us at the smallest size and {:.4g} us at the largest look like "
                  "times of copies or whole loops: give the time of one load",
                  line, ns(sorted.front()) / 1e3, ns(sorted.back()) / 1e3));
}

bool recognises(const Document& document) {
  return !document.json && has_line(document, is_like_row);
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  const std::string text = plain_text(document.text);
  std::vector<Curve> curves;
  std::optional<Warning> ignored;
  for (const Block& block : read_blocks(text, hints)) {
    add_curves(block, hints, curves);
    if (!ignored) ignored = find_ignored(block);
  }
  std::vector<Run> runs;
  for (const Curve& curve : curves) {
    expect_loads(curve.points, curve.line);
    Run& run = runs.emplace_back(imported_run(hints, "a list of sizes and latencies", format));
    run.device.index = static_cast<int>(runs.size()) - 1;
    if (curves.size() > 1) {
      const bool is_unique = std::ranges::count_if(curves, [&](const Curve& each) {
                               return each.name == curve.name;
                             }) == 1;
      run.device.name += ", " + curve.name;
      if (!is_unique) {
        run.device.name += fmt::format("{}{}", curve.name.empty() ? "curve " : " ", runs.size());
      }
    } else if (!curve.name.empty()) {
      run.device.reported.set("title", curve.name);
    }
    ProbeResult& result = result_of(run, "latency");
    result.points = curve.points;
    if (ignored) result.warnings = {*ignored};
  }
  return runs;
}

}  // namespace

const Format format{.name = "size-latency",
                    .tool = "a pointer chase (lines with a size and a latency)",
                    .uses = Uses::all,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::size_latency
