// SPDX-License-Identifier: Apache-2.0
// Who walks over what, and what that adds up to, beside walks that are made step by step.
#include "probes/bandwidth/bandwidth.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "unit/random.hpp"

namespace clprobe::bandwidth {
namespace {

/// Returns word `place` of the buffer, as `word_at` in cl/bandwidth.cl does.
std::uint32_t word_at(std::uint64_t place) {
  const auto w = static_cast<std::uint32_t>(place);
  return (0x7f4a7c15U * w + 0x42ef9505U) * w;
}

std::uint64_t whole(Random& random, int low, int high) {
  return static_cast<std::uint64_t>(random.whole_log_uniform(low, high));
}

Shape random_shape(Random& random) {
  Shape shape;
  shape.lanes = whole(random, 1, 4);
  shape.vector = random.chance(0.5) ? 4 : 16;
  shape.regions = whole(random, 1, 5);
  shape.walks = shape.regions * whole(random, 1, 12);
  shape.blocks = whole(random, 1, 40);
  return shape;
}

/// Returns the number of visits of each block of the buffer if each walk visits `count` blocks.
std::vector<std::uint32_t> visits(const Shape& shape, std::uint64_t count) {
  std::vector<std::uint32_t> of_block(shape.regions * shape.blocks);
  for (const Place& place : places_of(shape)) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ++of_block.at(place.region + (place.start + i) % shape.blocks);
    }
  }
  return of_block;
}

}  // namespace

TEST_CASE("the sum of the first words, beside adding them up") {
  std::uint32_t sum = 0;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    CHECK(sum_before(n) == sum);
    sum += word_at(n);
  }
  // With these numbers of words every product exceeds 2^32.
  for (const std::uint64_t from : {(std::uint64_t{1} << 28U) - 7, (std::uint64_t{1} << 32U) - 9}) {
    std::uint32_t more = sum_before(from);
    for (std::uint64_t n = from; n < from + 7; ++n) more += word_at(n);
    CHECK(sum_before(from + 7) == more);
  }
}

TEST_CASE("what walks must add up is what they go over") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = random_shape(random);
    const std::uint64_t count = whole(random, 1, 100);
    const std::uint64_t words = shape.block_bytes() / 4;
    const std::vector<std::uint32_t> of_block = visits(shape, count);
    std::uint32_t sum = 0;
    for (std::uint64_t block = 0; block < of_block.size(); ++block) {
      for (std::uint64_t w = block * words; w < (block + 1) * words; ++w) {
        sum += of_block[block] * word_at(w);
      }
    }
    CAPTURE(shape.walks);
    CAPTURE(shape.regions);
    CAPTURE(shape.blocks);
    CHECK(expected_sum(shape, places_of(shape), count) == sum);
  }
}

TEST_CASE("an iteration goes over all of every region, and counts what it moves") {
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = random_shape(random);
    const std::vector<std::uint32_t> of_block = visits(shape, shape.step());
    CHECK(*std::min_element(of_block.begin(), of_block.end()) >= 1);
    std::uint64_t moved = 0;
    for (const std::uint32_t each : of_block) moved += each * shape.block_bytes();
    CHECK(shape.bytes_per_iteration() == moved);
  }
  Shape copy{.operation = Operation::copy, .blocks = 3};
  CHECK(copy.bytes_per_iteration() == 2 * 3 * copy.block_bytes());
}

TEST_CASE("walks start evenly spread, and neighbours far apart") {
  Shape shape;
  shape.walks = 132;
  shape.blocks = 1320;
  const std::vector<Place> places = places_of(shape);
  std::set<std::uint32_t> starts;
  for (const Place& each : places) starts.insert(each.start);
  CHECK(starts.size() == 132);
  for (const std::uint32_t each : starts) CHECK(each % 10 == 0);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const auto apart = static_cast<int>(places[i].start) - static_cast<int>(places[i - 1].start);
    CHECK(std::abs(apart) > 400);
  }
}

TEST_CASE("regions lie one behind another, and each has as many walks") {
  const Shape shape{.walks = 6, .regions = 3, .blocks = 5};
  const std::vector<Place> places = places_of(shape);
  REQUIRE(places.size() == 6);
  for (std::size_t i = 0; i < places.size(); ++i) CHECK(places[i].region == i / 2 * 5);
}

}  // namespace clprobe::bandwidth
