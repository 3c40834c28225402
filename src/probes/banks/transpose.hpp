// SPDX-License-Identifier: Apache-2.0
// Transposition of a square tile: written by rows and read by columns, in layouts with and without
// bank conflicts.
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

namespace clprobe::banks {

inline constexpr std::string_view transpose_series = "transpose";

/// Layout of a tile in local memory. Source of `shifted`: K. Nakano, S. Matsumae, Y. Ito, The
/// random address shift to reduce the memory access congestion on the discrete memory machine,
/// 2013.
enum class Layout {
  rows,      ///< row by row
  padded,    ///< row by row, with an unused word after each row
  diagonal,  ///< row r is rotated by r words
  shifted,   ///< each row is rotated by a random number of words
};

inline constexpr Word<Layout> layout_words[]{{Layout::rows, "rows"},
                                             {Layout::padded, "padded"},
                                             {Layout::diagonal, "diagonal"},
                                             {Layout::shifted, "shifted"}};

/// Shape of a point of the series `transpose`.
struct Tile {
  Layout layout{Layout::rows};
  int word_bytes{4};
  int side{32};  ///< number of rows, and number of words per row
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

/// Maximum number of rows per sub-group. Each row needs at least three registers.
inline constexpr int max_rows_per_sub_group = 16;

bool is_transposition(const Point& point);

/// Returns the byte offsets of all words of the tile, row by row.
std::vector<std::uint32_t> offsets_of(const Tile& tile);
/// Returns the size of local memory that suffices for every layout of the tile, in bytes.
std::uint64_t bytes_of(const Tile& tile);

/// Adds a point for each layout of a tile. The tile is as wide as a sub-group. If the tile does
/// not fit the work-group or `local_bytes` of local memory, adds the reason instead.
void add_transpositions(int lanes, std::int64_t max_work_group, int word_bytes,
                        std::uint64_t local_bytes, Plan& plan);

std::string transpose_options(const Tile& tile);

/// Returns the number of untimed transpositions: 1 or 2, so that the total number is odd.
std::uint64_t lead_of_transpositions(std::uint64_t iterations);

std::uint64_t max_transpositions();

/// Returns each layout's time per access (cycles or seconds), and advice. Method: docs/banks.md.
std::vector<Finding> transpose_findings(const DeviceInfo& device, std::span<const Point> points);

SimulatedWork trace_transposition(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::banks
