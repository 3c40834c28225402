// SPDX-License-Identifier: Apache-2.0
// Checks the ends of chains against values computed with exact fractions (Python's Fraction,
// rounded after each operation), and the sum of the results of work-groups.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "probes/compute/compute.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::compute {
namespace {

/// The results of an exact operation: of start 0 after 2 steps, of 5 after 64, and of 7 after 1000.
struct Known {
  std::string_view name;
  std::uint32_t after_2;
  std::uint32_t after_64;
  std::uint32_t after_1000;
};

constexpr std::array known{
    Known{"fma", 0x3e80004d, 0x3e8289fd, 0x3e841c3d},
    Known{"double-fma", 0xa649a993, 0xcf3429cd, 0x5d308d71},
    Known{"add", 0x3e800008, 0x3e828100, 0x3e838fa0},
    Known{"mul", 0x3e7ffffc, 0x3e827fc0, 0x3e837c08},
    Known{"int-add", 0x2545f4de, 0x28bf814a, 0x4ca2dbd0},
    Known{"int-mad", 0x43440807, 0xda5d84aa, 0x41997264},
    Known{"mad24", 0x3, 0x5a, 0x40c},
    Known{"dot-product", 0x9e380716, 0x9e37fe0f, 0x9e382e95},
    Known{"matrix-half", 0x40a00000, 0x43060000, 0x44fb0000},
    Known{"barrier", 0x2545f4de, 0x28bf814a, 0x4ca2dbd0},
};

}  // namespace

TEST_CASE("compute: where exact chains end") {
  for (const Known& each : known) {
    CAPTURE(each.name);
    const Operation& operation = operation_of(each.name);
    CHECK(operation.is_exact);
    CHECK(results_after(operation, 2).at(0) == each.after_2);
    CHECK(results_after(operation, 64).at(5) == each.after_64);
    CHECK(results_after(operation, 1000).at(7) == each.after_1000);
  }
  const auto exact = std::count_if(all_operations.begin(), all_operations.end(),
                                   [](const Operation& each) { return each.is_exact; });
  CHECK(exact == static_cast<std::ptrdiff_t>(known.size()));
  CHECK_THROWS_AS(static_cast<void>(operation_of("nothing")), std::out_of_range);
}

TEST_CASE("compute: a missing iteration changes the end of an exact chain, however long it is") {
  for (const Known& each : known) {
    if (each.name == "dot-product") continue;  // its values soon repeat
    CAPTURE(each.name);
    const Operation& operation = operation_of(each.name);
    for (const std::uint64_t steps : {64U, 4096U, 100'000U}) {
      CHECK(results_after(operation, steps) != results_after(operation, steps + 2));
    }
  }
}

TEST_CASE("compute: chains that are not exact end within a range, which holds the right end") {
  for (const Operation& each : all_operations) {
    if (each.is_exact) continue;
    CAPTURE(each.name);
    CHECK(each.low < each.high);
    CHECK(each.high < 1.005 * each.low);
    CHECK(results_after(each, 64) == std::array<std::uint32_t, 8>{1, 1, 1, 1, 1, 1, 1, 1});
  }
}

TEST_CASE("compute: work-items start at four numbers, chains at two of each") {
  const std::array<std::uint32_t, chain_starts> results{1, 2, 3, 4, 50, 60, 70, 80};
  const Shape shape{.chains = 3, .width = 2};
  // Work-item 1: chains 0 and 2 end with 2, chain 1 with 60, and each has two components.
  const std::uint32_t item_1 = mixed(2 * (2 + 60 + 2));
  const std::uint32_t item_0 = mixed(2 * (1 + 50 + 1));
  CHECK(expected_witness(results, shape, {.items = 1, .group = 1}) == item_0);
  // Sums of groups are modulo 2^32, the sum of all groups is not.
  CHECK(expected_witness(results, shape, {.items = 2, .group = 1}) ==
        std::uint64_t{item_0} + item_1);
  CHECK(expected_witness(results, shape, {.items = 2, .group = 2}) ==
        static_cast<std::uint32_t>(item_0 + item_1));
  CHECK(expected_witness(results, shape, {.items = 5, .group = 1}) -
            expected_witness(results, shape, {.items = 4, .group = 1}) ==
        item_0);
}

}  // namespace clprobe::compute
