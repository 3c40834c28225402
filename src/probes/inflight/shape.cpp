// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/inflight/inflight.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::inflight {
namespace {

// Constants of next_line() in cl/inflight.cl.
constexpr std::uint32_t factor = 2891336453U;
constexpr std::uint32_t increment = 1013904223U;

std::uint64_t divide_up(std::uint64_t count, std::uint64_t size) {
  return (count + size - 1) / size;
}

}  // namespace

std::uint32_t LineCycle::after(std::uint32_t line) const {
  return (line * factor + increment) & mask;
}

std::uint32_t LineCycle::at(std::uint64_t position) const {
  // n steps map x to a x + b; 2 n steps map x to a^2 x + (a + 1) b.
  std::uint32_t line = 0;
  std::uint32_t a = factor;
  std::uint32_t b = increment;
  for (; position > 0; position /= 2) {
    if (position % 2 == 1) line = line * a + b;
    b = (a + 1) * b;
    a *= a;
  }
  return line & mask;
}

bool is_chain(const Point& point) { return point.parameters.find("chains") != nullptr; }

bool is_own_time(const Point& point) {
  return point.parameters.find("group_items") != nullptr && !is_chain(point);
}

Shape Shape::of(const Point& point) {
  if (is_own_time(point)) return shape_of<OwnTime>(point).shape;
  return is_chain(point) ? shape_of<Chains>(point).shape : shape_of<Shape>(point);
}

std::uint64_t Shape::lines_per_load() const {
  const auto merger = static_cast<std::uint64_t>(pattern.merger);
  if (pattern.mode == MergerMode::within) return divide_up(work_items, merger);
  return divide_up(sub_groups(), merger) * sub_group;
}

std::uint64_t Shape::lines_per_round() const {
  return lines_per_load() * static_cast<std::uint64_t>(pattern.loads);
}

std::uint64_t Shape::line_index_of(std::uint64_t item) const {
  const auto merger = static_cast<std::uint64_t>(pattern.merger);
  if (pattern.mode == MergerMode::within) return item / merger;
  return item / sub_group / merger * sub_group + item % sub_group;
}

std::uint64_t Shape::block_checksum(std::uint64_t first, std::uint64_t rounds) const {
  const LineCycle order = cycle();
  const auto loads = static_cast<std::uint64_t>(pattern.loads);
  std::uint64_t sum = 0;
  for (std::uint64_t item = 0; item < work_items; ++item) {
    const std::uint64_t begin = first + line_index_of(item);
    for (std::uint64_t load = 0; load < (rounds + 1) * loads; ++load) {
      const auto line = static_cast<std::uint32_t>(begin + load * lines_per_load());
      sum += order.after(line & order.mask);
    }
  }
  return sum;
}

std::uint64_t Shape::chain_distance(std::uint64_t hops) const {
  // An odd distance spreads the chains over cache sets and banks: lines whose positions differ by a
  // power of two have equal low address bits.
  return std::min(hops | 1U, lines() / (work_items * chains));
}

std::uint64_t Shape::chain_positions(std::uint64_t hops) const {
  const std::uint64_t distance = chain_distance(hops);
  return distance < hops ? hops : distance * work_items * chains;
}

std::vector<std::uint32_t> Shape::chain_lines(std::uint64_t position,
                                              std::uint64_t distance) const {
  std::vector<std::uint32_t> heads(work_items * chains);
  for (std::uint64_t c = 0; c < heads.size(); ++c) {
    heads[c] = cycle().at((c * distance + position) % lines());
  }
  return heads;
}

std::string Shape::options() const {
  return fmt::format(
      "-DLOADS={} -DCHAINS={} -DLINE_WORDS={}{}", pattern.loads * (is_block() ? 1 : 0), chains,
      line_bytes / sizeof(std::uint32_t), kind == Kind::sub_group ? " -DOWN_TIMES" : "");
}

std::uint64_t max_rounds(const Shape& shape) {
  const std::uint64_t round = std::max<std::uint64_t>(1, shape.lines_per_round());
  const std::uint64_t timed = std::max<std::uint64_t>(2, shape.lines() / round) - 1;
  return std::min(timed, max_iterations);
}

}  // namespace clprobe::inflight
