// SPDX-License-Identifier: Apache-2.0
// Finds the columns of a list that hold sizes and latencies, and their units. A header, a cell or
// the person gives a unit; none is guessed.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::import {

/// A unit of sizes or times.
struct ListUnit {
  double factor{0.0};     ///< bytes or ns in one unit; 0 if unknown
  bool is_cycles{false};  ///< cycles of a clock with an unknown rate

  [[nodiscard]] bool is_known() const { return factor > 0.0 || is_cycles; }
  friend bool operator==(const ListUnit&, const ListUnit&) = default;
};

/// A number, and its unit if the cell has one.
struct Quantity {
  double value{0.0};
  ListUnit unit{};
};

/// Return the unit that a header's cell or a remark names: "Size (KiB)", "latency_ns", "ns per
/// load". The unit of a rate ("MB/s") is neither a size nor a time.
ListUnit size_unit_in(std::string_view text);
ListUnit time_unit_in(std::string_view text);

/// Read "4", "4K", "1,024 KiB" or "1.24ns", with that decimal mark; nothing for anything else.
std::optional<Quantity> size_in(std::string_view cell, char decimal);
std::optional<Quantity> latency_in(std::string_view cell, char decimal);

/// Separator of the cells of a line; `wide` is a tab or at least two blanks.
enum class Separator : char { bar = '|', semicolon = ';', tab = '\t', comma = ',', wide, blank };

/// Returns the cells of a line without their quotes. With single blanks as separators, a unit
/// belongs to the number before it: "4 KiB 1.2 ns" has two cells.
std::vector<std::string_view> cells_of(std::string_view line, Separator separator);

/// A column of latencies.
struct ValueColumn {
  std::size_t at{0};
  ListUnit unit{};
};

struct Layout {
  std::size_t size_at{0};
  ListUnit size_unit{};
  std::vector<ValueColumn> values{};  ///< one for each curve
  std::vector<std::size_t> keys{};    ///< columns that distinguish curves, such as a stride
  std::vector<std::string> names{};   ///< names of all columns; empty without a header

  /// True for a column of sizes or latencies.
  [[nodiscard]] bool is_read(std::size_t column) const {
    return column == size_at ||
           std::ranges::any_of(values, [&](const ValueColumn& each) { return each.at == column; });
  }
};

/// Returns the layout that the names of columns describe. `values` is empty without a column of
/// latencies, and `size_at` beyond the columns without one of sizes. Nothing if no name has a
/// meaning.
std::optional<Layout> layout_of(const std::vector<std::string>& names);

/// True for a column that holds neither sizes nor latencies: a rate, or a spread.
bool is_other_measure(std::string_view name);

/// True for a comment that names columns: "# size(KiB) latency_ns". Other comments may have units
/// of something else.
bool names_columns(std::string_view comment);

}  // namespace clprobe::import
