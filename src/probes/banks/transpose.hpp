// SPDX-License-Identifier: Apache-2.0
// A square tile that is written by rows and read by columns, in layouts that make the columns meet
// in banks or not: how padding and its like pay where it matters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe {
class Session;
}

namespace clprobe::banks {

inline constexpr std::string_view transpose_series = "transpose";

/// Place of a word in its row. Source of the last: K. Nakano, S. Matsumae, Y. Ito, The random
/// address shift to reduce the memory access congestion on the discrete memory machine, 2013.
enum class Layout {
  rows,      ///< word c of row r behind word c - 1, rows behind each other
  padded,    ///< the same with a word that nobody uses behind each row
  diagonal,  ///< row r begins at its word r, and goes on around
  shifted,   ///< row r begins at a random word, and goes on around
};

inline constexpr Word<Layout> layout_words[]{{Layout::rows, "rows"},
                                             {Layout::padded, "padded"},
                                             {Layout::diagonal, "diagonal"},
                                             {Layout::shifted, "shifted"}};

/// A point of the series `transpose`.
struct Tile {
  Layout layout{Layout::rows};
  int word_bytes{4};
  int side{32};  ///< words of a row, and rows
  int sub_groups{8};

  [[nodiscard]] int rows_per_sub_group() const { return side / sub_groups; }
  [[nodiscard]] std::uint64_t accesses() const { return 2 * static_cast<std::uint64_t>(side); }

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("layout", layout, layout_words);
    f.whole("word_bytes", word_bytes, {.min = 1, .max = 16});
    f.whole("side", side, {.min = 2, .max = 1024});
    f.whole("sub_groups", sub_groups, {.min = 1, .max = 1024});
  }
};

/// Rows of a sub-group at most: each takes three registers and more.
inline constexpr int max_rows_per_sub_group = 16;

bool is_transposition(const Point& point);

/// Byte offset of the word in each row and column, row by row.
std::vector<std::uint32_t> places_of(const Tile& tile);
/// Bytes that hold them all.
std::uint64_t bytes_of(const Tile& tile);

/// Adds a point for each layout of a tile as wide as a sub-group; `room`: bytes of local memory for
/// it. Where it does not fit, why.
void add_transpositions(int lanes, std::int64_t max_work_group, int word_bytes, std::uint64_t room,
                        Plan& plan);

std::string transpose_options(const Tile& tile);

/// Transpositions before those that are timed: at least one, and so many that all are odd.
std::uint64_t lead_of_transpositions(std::uint64_t iterations);

std::uint64_t max_transpositions();

/// The time of an access by layout, and what to do about it. Method: docs/banks.md.
std::vector<Finding> transpose_findings(const DeviceInfo& device, std::span<const Point> points);

SimulatedWork trace_transposition(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::banks
