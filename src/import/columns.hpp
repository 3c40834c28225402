// SPDX-License-Identifier: Apache-2.0
// Which columns of a list hold sizes and latencies, and in which units. Units are not guessed: a
// header or the person gives them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::import {

/// One of a unit, in bytes or in ns; 0 where none is known.
struct ListUnit {
  double factor{0.0};
  bool is_cycles{false};  ///< of a clock, whose rate the factor does not know

  [[nodiscard]] bool is_known() const { return factor > 0.0 || is_cycles; }
};

/// A number, and its unit where one stands with it.
struct Quantity {
  double value{0.0};
  ListUnit unit{};
};

/// The first word of the text that is a unit.
ListUnit size_unit_in(std::string_view text);
ListUnit time_unit_in(std::string_view text);

/// "4", "4K" or "4 KiB", "1.24ns"; nothing where it is something else.
std::optional<Quantity> size_in(std::string_view cell);
std::optional<Quantity> latency_in(std::string_view cell);

/// The cells of a line between bars, semicolons, commas, tabs or blanks, whichever it has first of
/// these. A unit belongs to the number before it: "4 KiB 1.2 ns" has two.
std::vector<std::string_view> cells_of(std::string_view line);

/// Where sizes and latencies are.
struct Layout {
  std::size_t size_at{0};
  std::size_t latency_at{1};
  ListUnit size_unit{};
  ListUnit time_unit{};
  std::vector<std::string_view> names{};  ///< of the columns; empty without a header
};

/// The layout that a header gives to rows of so many cells; nothing where it names no size and no
/// latency among as many.
std::optional<Layout> layout_of(std::string_view header, std::size_t cells);

/// Whether a comment names columns: "# size(KiB) latency_ns". Of others a unit may be one of
/// something else.
bool names_columns(std::string_view comment);

}  // namespace clprobe::import
