// SPDX-License-Identifier: Apache-2.0
// Columns of sizes and latencies in a list, and their units. Units are given by a header, a cell or
// the user, and are never guessed.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::import {

/// Unit of sizes or times.
struct ListUnit {
  double factor{0.0};     ///< number of bytes or ns in one unit; 0 if unknown
  bool is_cycles{false};  ///< true for cycles of a clock whose rate is unknown

  [[nodiscard]] bool is_known() const { return factor > 0.0 || is_cycles; }
  friend bool operator==(const ListUnit&, const ListUnit&) = default;
};

/// A number, and its unit if the cell contains one.
struct Quantity {
  double value{0.0};
  ListUnit unit{};
};

/// Returns the unit in a header's cell or in a comment: "Size (KiB)", "latency_ns", "ns per load".
/// A rate ("MB/s") is neither a size nor a time, and gives no unit.
ListUnit size_unit_in(std::string_view text);
ListUnit time_unit_in(std::string_view text);

/// Returns the quantity in a cell such as "4", "4K", "1,024 KiB" or "1.24ns", with `decimal` as the
/// decimal mark. Returns nothing for other text.
std::optional<Quantity> size_in(std::string_view cell, char decimal);
std::optional<Quantity> latency_in(std::string_view cell, char decimal);

/// Separator between the cells of a line. `wide` is a tab or at least two blanks.
enum class Separator : char { bar = '|', semicolon = ';', tab = '\t', comma = ',', wide, blank };

/// Returns the cells of a line without their quotes. If single blanks are the separator, a unit
/// belongs to the number before it: "4 KiB 1.2 ns" has two cells.
std::vector<std::string_view> cells_of(std::string_view line, Separator separator);

/// Column of latencies.
struct ValueColumn {
  std::size_t at{0};
  ListUnit unit{};
};

struct Layout {
  std::size_t size_at{0};
  ListUnit size_unit{};
  std::vector<ValueColumn> values{};  ///< one column per curve
  std::vector<std::size_t> keys{};    ///< columns that distinguish curves, such as a stride
  std::vector<std::string> names{};   ///< names of all columns; empty without a header

  /// Returns true if `column` contains sizes or latencies.
  [[nodiscard]] bool is_read(std::size_t column) const {
    return column == size_at ||
           std::ranges::any_of(values, [&](const ValueColumn& each) { return each.at == column; });
  }
};

/// Returns the layout that column names describe; nothing if no name is known. Without a column of
/// latencies, `values` is empty. Without a column of sizes, `size_at` is the number of columns.
std::optional<Layout> layout_of(const std::vector<std::string>& names);

/// Returns true for the name of a column that contains neither sizes nor latencies, such as a rate
/// or a spread.
bool is_other_measure(std::string_view name);

/// Returns true for a comment that names columns: "# size(KiB) latency_ns". Units in other comments
/// are ignored, since they may refer to something else.
bool names_columns(std::string_view comment);

}  // namespace clprobe::import
