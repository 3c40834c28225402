// SPDX-License-Identifier: Apache-2.0
#include "probes/bandwidth/shape.hpp"

#include <fmt/format.h>

#include <numeric>

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
  return operation == Operation::write || operation == Operation::copy ||
         operation == Operation::update;
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

// Word w is (square w + line) w, so that the sum of those before n is
// square n (n - 1) (2 n - 1) / 6 + line n (n - 1) / 2.
std::uint32_t sum_before(std::uint64_t words) {
  constexpr std::uint32_t square = 0x7f4a7c15;
  constexpr std::uint32_t line = 0x42ef9505;
  if (words == 0) return 0;
  const std::uint64_t pairs = words % 2 == 0 ? words / 2 * (words - 1) : (words - 1) / 2 * words;
  const std::uint64_t odd = 2 * words - 1;
  // One of both has the factor 3.
  const std::uint64_t squares = pairs % 3 == 0 ? pairs / 3 * odd : odd / 3 * pairs;
  return static_cast<std::uint32_t>(square * squares + line * pairs);
}

std::uint32_t expected_sum(const Shape& shape, std::span<const Place> places, std::uint64_t count) {
  const auto rounds = static_cast<std::uint32_t>(count / shape.blocks);
  const std::uint64_t rest = count % shape.blocks;
  const std::uint64_t words_of_block = shape.block_bytes() / sizeof(std::uint32_t);
  std::uint32_t sum = 0;
  for (const Place& place : places) {
    const auto before = [&](std::uint64_t block) {
      return sum_before((place.region + block) * words_of_block);
    };
    const std::uint32_t all = before(shape.blocks) - before(0);
    const std::uint64_t end = place.start + rest;
    sum += rounds * all;
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
  if (shape.operation == Operation::image) options += " -DIMAGE";
  if (shape.group > usual_group) options += large_group(shape.group);
  return options;
}

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all{{build_options({.lanes = 1, .vector = 16}), ""},
                                 {build_options({.lanes = 1, .vector = texel_words}), ""},
                                 {build_options({.lanes = 64, .vector = 4}), ""}};
  all.push_back({build_options({.lanes = 128, .vector = 4, .group = 512}), ""});
  for (const std::uint64_t group : {128U, 256U, 512U, 1024U}) {
    all.push_back({build_options({.lanes = group, .vector = 4, .group = group}), ""});
    all.push_back({build_options({.operation = Operation::image,
                                  .lanes = group,
                                  .vector = texel_words,
                                  .group = group}),
                   ""});
  }
  all.push_back({build_options({.operation = Operation::image, .lanes = 1}), ""});
  return all;
}

}  // namespace clprobe::bandwidth
