// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/transpose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/api/estimate.hpp"
#include "clprobe/units.hpp"
#include "probes/banks/findings.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::banks {
namespace {

std::uint32_t position_in_row(const Tile& tile, std::uint32_t row, std::uint32_t column) {
  const auto side = static_cast<std::uint32_t>(tile.side);
  switch (tile.layout) {
    case Layout::rows:
    case Layout::padded:
      return column;
    case Layout::diagonal:
      return (column + row) % side;
    case Layout::shifted:
      // The shifts are the same in all runs: the hash gives one sample of random shifts.
      return (column + mixed(row + 1)) % side;
  }
  return column;
}

/// Returns a number of sub-groups that divides the number of rows of a tile. With four rows per
/// sub-group, loads overlap and the work-group has a usual size.
int sub_groups_for(int side, std::int64_t max_sub_groups) {
  constexpr std::int64_t usual_rows = 4;
  const auto max = std::max<std::int64_t>(max_sub_groups, 1);
  auto count = static_cast<int>(std::clamp<std::int64_t>(side / usual_rows, 1, max));
  while (side % count != 0) --count;
  return count;
}

struct TileTime {
  Tile tile{};
  double time{0.0};
  Interval interval{};
};

std::vector<TileTime> read_times(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<TileTime> times;
  for (const Point& point : points) {
    if (!is_transposition(point) || !point.failure.empty()) continue;
    const std::optional<Tile> tile = find_shape<Tile>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!tile || !time || !(time->ns > 0.0)) continue;
    const std::vector<double> visits = visits_beside(*time, point, device);
    times.push_back({*tile, in_unit(time->ns, device),
                     in_unit(with_visits(time->ns_interval, visits), device)});
  }
  return times;
}

const TileTime* find_layout(std::span<const TileTime> times, Layout layout) {
  const auto found = std::find_if(times.begin(), times.end(),
                                  [&](const TileTime& each) { return each.tile.layout == layout; });
  return found == times.end() ? nullptr : &*found;
}

std::string amount(const DeviceInfo& device, double time) {
  return in_cycles(device) ? format_number(time) + " cycles" : format_seconds(time);
}

/// Minimum speed-up over plain rows for which a layout is recommended. Noise causes smaller ratios.
constexpr double min_gain = 1.1;

std::optional<Finding> advise(const DeviceInfo& device, std::span<const TileTime> times) {
  const TileTime* const rows = find_layout(times, Layout::rows);
  const TileTime* const padded = find_layout(times, Layout::padded);
  const TileTime* const diagonal = find_layout(times, Layout::diagonal);
  const TileTime* const shifted = find_layout(times, Layout::shifted);
  if (rows == nullptr || padded == nullptr || diagonal == nullptr || shifted == nullptr) return {};
  const double best = std::min(padded->time, diagonal->time);
  if (rows->time < min_gain * best) return {};
  Finding advice = finding_of("advice", transpose_series, "", "times by layout");
  advice.label = fmt::format(
      "If a kernel writes a tile of {0} x {0} words by rows and reads it by columns, pad each row "
      "by one word ({1} per access). Alternatively, rotate row r by r words (diagonal, {2}). The "
      "faster of the two is {4:.1f} times as fast as plain rows ({3}). Randomly shifted rows take "
      "{5}.",
      rows->tile.side, amount(device, padded->time), amount(device, diagonal->time),
      amount(device, rows->time), rows->time / best, amount(device, shifted->time));
  return advice;
}

}  // namespace

bool is_transposition(const Point& point) { return point.series == transpose_series; }

std::vector<std::uint32_t> offsets_of(const Tile& tile) {
  const auto side = static_cast<std::uint32_t>(tile.side);
  const std::uint32_t row_words = side + (tile.layout == Layout::padded ? 1 : 0);
  std::vector<std::uint32_t> offsets;
  offsets.reserve(std::size_t{side} * side);
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      const std::uint32_t word = row * row_words + position_in_row(tile, row, column);
      offsets.push_back(word * static_cast<std::uint32_t>(tile.word_bytes));
    }
  }
  return offsets;
}

std::uint64_t bytes_of(const Tile& tile) {
  const auto side = static_cast<std::uint64_t>(tile.side);
  return side * (side + 1) * static_cast<std::uint64_t>(tile.word_bytes);
}

void add_transpositions(int lanes, std::int64_t max_work_group, int word_bytes,
                        std::uint64_t local_bytes, Plan& plan) {
  Tile tile;
  tile.word_bytes = word_bytes;
  tile.side = lanes;
  tile.sub_groups = sub_groups_for(lanes, max_work_group / lanes);
  std::string obstacle;
  if (bytes_of(tile) > local_bytes) {
    obstacle =
        fmt::format("a tile of {0} x {0} words needs {1} of local memory, more than is available",
                    lanes, format_bytes({bytes_of(tile)}));
  } else if (tile.rows_per_sub_group() > max_rows_per_sub_group) {
    obstacle = fmt::format("a work-group of {} work-items is too small for a tile of {} rows",
                           max_work_group, lanes);
  }
  if (!obstacle.empty()) {
    plan.findings.push_back(not_measured("transposition", transpose_series, obstacle));
    return;
  }
  for (const auto& each : layout_words) {
    tile.layout = each.value;
    Point point;
    point.series = transpose_series;
    write_shape(tile, point);
    plan.points.push_back(std::move(point));
  }
}

std::string transpose_options(const Tile& tile) {
  return fmt::format("-DTRANSPOSE=1 -DWORD={} -DROWS={} -DLOCAL_BYTES={}", tile.word_bytes,
                     tile.rows_per_sub_group(), bytes_of(tile));
}

std::uint64_t lead_of_transpositions(std::uint64_t iterations) {
  return iterations % 2 == 0 ? 1 : 2;
}

// Each launch also has up to two untimed transpositions, in a loop of two rounds, which count
// towards max_iterations.
std::uint64_t max_transpositions() { return max_iterations - 4; }

std::vector<Finding> transpose_findings(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<Finding> findings;
  const std::vector<TileTime> times = read_times(device, points);
  for (const TileTime& each : times) {
    const std::string name =
        fmt::format("{} {}", transpose_series, word_in(layout_words, each.tile.layout));
    findings.push_back(finding_of("transposition", name, time_unit(device), "time per access",
                                  each.time, each.interval.low, each.interval.high));
  }
  if (const std::optional<Finding> advice = advise(device, times)) findings.push_back(*advice);
  return findings;
}

}  // namespace clprobe::banks
