// SPDX-License-Identifier: Apache-2.0
// Columns of a list: which hold sizes and latencies, and in which units. A header, a cell or the
// person gives a unit; none is guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::import {

/// One of a unit, in bytes or in ns; 0 if unknown.
struct ListUnit {
  double factor{0.0};
  bool is_cycles{false};  ///< of a clock, whose rate the factor does not know

  [[nodiscard]] bool is_known() const { return factor > 0.0 || is_cycles; }
  friend bool operator==(const ListUnit&, const ListUnit&) = default;
};

/// A number, and its unit if the cell has one.
struct Quantity {
  double value{0.0};
  ListUnit unit{};
};

/// The unit that a header's cell or a remark names: "Size (KiB)", "latency_ns", "ns per load". A
/// unit of a rate ("MB/s") is neither a size nor a time.
ListUnit size_unit_in(std::string_view text);
ListUnit time_unit_in(std::string_view text);

/// "4", "4K", "1,024 KiB" or "1.24ns", with that decimal mark; nothing for anything else.
std::optional<Quantity> size_in(std::string_view cell, char decimal);
std::optional<Quantity> latency_in(std::string_view cell, char decimal);

/// What separates the cells of a line; `wide` is a tab or at least two blanks.
enum class Separator : char { bar = '|', semicolon = ';', tab = '\t', comma = ',', wide, blank };

/// The cells of a line, without their quotes. Between single blanks a unit belongs to the number
/// before it: "4 KiB 1.2 ns" has two cells.
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
  std::vector<std::size_t> keys{};    ///< columns whose numbers tell curves apart, as a stride does
  std::vector<std::string> names{};   ///< of all columns; empty without a header
};

/// What the names of columns say. A layout without values has no column of latencies, and one whose
/// `size_at` is no column has none of sizes. Nothing where no name has a meaning.
std::optional<Layout> layout_of(const std::vector<std::string>& names);

/// Whether a column of that name can hold neither sizes nor latencies: a rate, or a spread.
bool is_other_measure(std::string_view name);

/// Whether a comment names columns: "# size(KiB) latency_ns". The units of other comments may be
/// those of something else.
bool names_columns(std::string_view comment);

}  // namespace clprobe::import
