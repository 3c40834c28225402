// SPDX-License-Identifier: Apache-2.0
// Expected sums of launches, the walks that fill and check buffers, and the lengths of all loops of
// cl/stride.cl.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe::stride {

namespace {

/// Sums of i and of i * i for 0 <= i < count, modulo 2^64.
struct Sums {
  std::uint64_t first;
  std::uint64_t second;
};

Sums sums_below(std::uint64_t count) {
  if (count == 0) return {0, 0};
  // The factors are divided before they are multiplied, since the products may wrap.
  std::array<std::uint64_t, 3> factors{count, count - 1, 2 * count - 1};
  factors.at(count % 2 == 0 ? 0 : 1) /= 2;
  const std::uint64_t first = factors[0] * factors[1];
  const std::size_t of_three = factors[0] % 3 == 0 ? 0 : factors[1] % 3 == 0 ? 1 : 2;
  factors.at(of_three) /= 3;
  return {first, factors[0] * factors[1] * factors[2]};
}

}  // namespace

std::uint64_t word_bytes_of(ElementType type) { return type == ElementType::float64 ? 8 : 4; }

bool reads_source(Operation operation) {
  return operation == Operation::read || operation == Operation::copy;
}

bool writes_target(Operation operation) { return operation != Operation::read; }

bool uses_two_buffers(Operation operation) {
  return reads_source(operation) && writes_target(operation);
}

std::uint64_t directions_of(Operation operation) {
  return operation == Operation::copy || operation == Operation::update ? 2 : 1;
}

std::string Shape::name() const {
  const std::string width = vector == 1 ? "" : fmt::to_string(vector);
  const std::string_view where = buffer == BufferKind::device ? ""
                                 : buffer == BufferKind::host ? " in host memory"
                                                              : " in svm";
  return fmt::format("{} {}{}{}", word_in(operation_words, operation), word_in(type_words, type),
                     width, where);
}

std::string_view Shape::pattern() const {
  if (stride == 1) return "serial";
  if (stride == grid) return "grid stride";
  return stride == work_group ? "work-group stride" : "between";
}

std::uint64_t Shape::unroll() const {
  constexpr std::uint64_t batch_bytes = 64;
  constexpr std::uint64_t min_loads = 2;
  return std::min(run(), std::max(min_loads, batch_bytes / element_bytes()));
}

std::uint64_t Shape::first_of(std::uint64_t item) const {
  const std::uint64_t low = stride - 1;
  return ((item & ~low) << log2_of(run())) | (item & low);
}

std::uint32_t log2_of(std::uint64_t power) {
  return static_cast<std::uint32_t>(std::countr_zero(power));
}

WordRule sum_rule(const Shape& shape, std::uint64_t first, std::uint64_t count) {
  const Sums until = sums_below(first + count);
  const Sums before = sums_below(first);
  const Sums steps{until.first - before.first, until.second - before.second};
  const Sums lanes = sums_below(shape.vector);
  const std::uint64_t words = count * shape.vector;
  // `distances` is the sum of the distances i * step + lane of all words from the first word of
  // element 0.
  const std::uint64_t step = shape.stride * shape.vector;
  const std::uint64_t distances = step * shape.vector * steps.first + count * lanes.first;
  const std::uint64_t squares = step * step * shape.vector * steps.second +
                                2 * step * steps.first * lanes.first + count * lanes.second;
  const WordRule& data = data_rule;
  return {data.square * shape.vector * shape.vector * words,
          (2 * data.square * distances + data.line * words) * shape.vector,
          data.square * squares + data.line * distances + data.constant * words};
}

std::uint64_t max_walkers(std::uint64_t words, bool is_cpu) {
  std::uint64_t items = is_cpu ? 1024 : 65536;
  // More work-items keep the loops of each work-item below the limit at which some drivers end
  // loops.
  while (words / items > max_iterations / 2) items *= 2;
  return items;
}

std::string build_options(const Shape& shape, bool is_wide) {
  return fmt::format("-DTYPE={} -DVECTOR={} -DUNROLL={} -DWIDE={}", static_cast<int>(shape.type),
                     shape.vector, shape.unroll(), is_wide ? 1 : 0);
}

bool needs_wide(const Shape& shape) {
  return shape.elements - 1 > std::numeric_limits<std::uint32_t>::max();
}

Region whole(std::uint64_t bytes, std::uint64_t word_bytes) {
  const std::uint64_t words = bytes / word_bytes;
  return {words, 0, words, words};
}

Region moved(const Shape& shape, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t words = shape.stride * shape.vector;
  return {count * shape.grid * shape.vector, first * words, count * words, shape.run() * words};
}

Walk Walk::over(const Region& region, bool is_cpu) {
  const std::uint64_t items = max_walkers(region.words, is_cpu);
  const std::uint64_t blocks = region.words / region.block;
  const std::uint64_t widest = std::bit_floor(region.block);
  constexpr std::uint64_t side_by_side = 256;
  Walk walk;
  if (is_cpu) {
    walk.y = std::min(blocks, items);
    walk.x = std::min(widest, items / walk.y);
  } else {
    walk.x = std::min(widest, std::max(side_by_side, items / blocks));
    walk.y = std::min(blocks, std::max<std::uint64_t>(1, items / walk.x));
  }
  walk.each = (region.block + walk.x - 1) / walk.x;
  walk.apart = is_cpu ? walk.each : 1;
  walk.step = is_cpu ? 1 : walk.x;
  walk.blocks_each = blocks / walk.y;
  return walk;
}

std::uint64_t max_batches(const DeviceInfo& device, const Shape& shape) {
  return may_cut_loops(device) ? std::min(shape.batches(), max_iterations) : shape.batches();
}

}  // namespace clprobe::stride
