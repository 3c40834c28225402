// SPDX-License-Identifier: Apache-2.0
#include "probes/bandwidth/shape.hpp"

#include <fmt/format.h>

#include <numeric>

#include "probes/shared/mixed.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::bandwidth {
namespace {

/// A number of places to go on by that meets all of `count` places, and no near one soon: that next
/// to the golden section which has no divisor in common with them.
std::uint64_t spread_over_places(std::uint64_t count) {
  constexpr double golden = 0.6180339887498949;
  auto step = static_cast<std::uint64_t>(static_cast<double>(count) * golden);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

}  // namespace

bool writes(Operation operation) {
  return operation != Operation::read && operation != Operation::local;
}

std::uint64_t Shape::bytes_per_iteration() const {
  const std::uint64_t directions =
      operation == Operation::copy || operation == Operation::update ? 2 : 1;
  return walks * step() * block_bytes() * directions;
}

std::vector<Place> places_of(const Shape& shape) {
  const std::uint64_t sharers = shape.sharers();
  const std::uint64_t spread = spread_over_places(sharers);
  std::vector<Place> places;
  places.reserve(shape.walks);
  for (std::uint64_t walk = 0; walk < shape.walks; ++walk) {
    const std::uint64_t region = walk / sharers % shape.regions;
    const std::uint64_t start = walk % sharers * spread % sharers * shape.blocks / sharers;
    places.push_back(
        {static_cast<std::uint32_t>(region * shape.blocks), static_cast<std::uint32_t>(start)});
  }
  return places;
}

std::vector<std::uint32_t> sums_before_blocks(std::uint64_t blocks, std::uint64_t words_of_block) {
  std::vector<std::uint32_t> sums(blocks + 1);
  std::uint32_t word = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    std::uint32_t sum = sums[block];
    for (std::uint64_t i = 0; i < words_of_block; ++i) sum += mixed(++word);
    sums[block + 1] = sum;
  }
  return sums;
}

std::uint32_t expected_sum(const Shape& shape, std::span<const Place> places, std::uint64_t count,
                           std::span<const std::uint32_t> before_blocks) {
  const auto turns = static_cast<std::uint32_t>(count / shape.blocks);
  const std::uint64_t rest = count % shape.blocks;
  std::uint32_t sum = 0;
  for (const Place& place : places) {
    const auto before = [&](std::uint64_t block) { return before_blocks[place.region + block]; };
    const std::uint32_t all = before(shape.blocks) - before(0);
    const std::uint64_t end = place.start + rest;
    sum += turns * all;
    if (end <= shape.blocks) {
      sum += before(end) - before(place.start);
    } else {
      sum += before(shape.blocks) - before(place.start);
      sum += before(end - shape.blocks) - before(0);
    }
  }
  return sum;
}

std::string build_options(const Shape& shape) {
  std::string options = fmt::format("-DLANES={} -DVECTOR={}", shape.lanes, shape.vector);
  if (shape.group > usual_group) options += large_group(shape.group);
  return options;
}

std::vector<KernelVariant> variants() {
  return {{build_options({.lanes = 1, .vector = 16}), ""},
          {build_options({.lanes = 64, .vector = 4}), ""},
          {build_options({.lanes = 128, .vector = 4}), ""},
          {build_options({.lanes = 128, .vector = 4, .group = 512}), ""},
          {build_options({.lanes = 128, .vector = 4, .group = 1024}), ""}};
}

}  // namespace clprobe::bandwidth
