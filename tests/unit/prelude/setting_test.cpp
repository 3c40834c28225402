// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "profile/api/prelude.hpp"
#include "random.hpp"
#include "rounds.hpp"

namespace clprobe::prelude {
namespace {

NdRange line(std::uint64_t global, std::uint64_t local) {
  return {.dimensions = 1, .global = {global, 1, 1}, .local = {local, 1, 1}};
}

std::string refusal(const NdRange& launch, const Setting& setting = {}) {
  try {
    encode(launch, setting);
  } catch (const SettingError& error) {
    return error.what();
  }
  return "";
}

/// The setting of a launch, as cl/prelude.clh reads it.
Setting decode(const NdRange& launched) {
  const auto bits = [&](unsigned at, unsigned count) {
    return static_cast<std::uint32_t>(launched.offset[2] >> at) & ((1U << count) - 1U);
  };
  Setting setting;
  for (unsigned d = 0; d < 3; ++d) setting.exponents.at(d) = no_folding - bits(2 + 5 * d, 5);
  setting.without_barriers = bits(27, 1) != 0;
  setting.without_atomics = bits(28, 1) != 0;
  setting.without_lanes = bits(29, 1) != 0;
  setting.without_fences = bits(30, 1) != 0;
  return setting;
}

NdRange random_launch(Random& random) {
  NdRange launch{.dimensions = static_cast<std::uint32_t>(random.whole_log_uniform(1, 3))};
  for (std::size_t d = 0; d < 3; ++d) {
    launch.local.at(d) = 1;
    if (d >= launch.dimensions) continue;
    launch.global.at(d) = static_cast<std::uint64_t>(random.whole_log_uniform(1, 100'000));
    launch.local.at(d) = static_cast<std::uint64_t>(random.whole_log_uniform(1, 300));
    if (d < 2) launch.offset.at(d) = static_cast<std::uint64_t>(random.whole_log_uniform(1, 9));
  }
  return launch;
}

}  // namespace

TEST_CASE("a launch becomes one of three dimensions, with the setting in the last offset") {
  const NdRange launched = encode(line(1024, 64), {});
  CHECK(launched ==
        NdRange{.dimensions = 3, .offset = {0, 0, 1}, .global = {1024, 1, 1}, .local = {64, 1, 1}});
  // As cl/prelude.clh takes it apart.
  const Setting setting{.exponents = {2, no_folding, no_folding},
                        .without_barriers = true,
                        .without_atomics = true,
                        .without_lanes = true,
                        .without_fences = true};
  const NdRange set = encode(line(1024, 64), setting);
  CHECK(set.offset[2] == (1U | 29U << 2U | 1U << 27U | 1U << 28U | 1U << 29U | 1U << 30U));
  CHECK(decode(set) == setting);
}

TEST_CASE("the first lane of a sub-group is that of the dimensions in which it lies") {
  constexpr std::uint32_t all = ~std::uint32_t{0};
  const auto masks = [](std::array<std::uint64_t, 3> local, std::uint64_t sub_group) {
    NdRange launch{.dimensions = 3, .global = local, .local = local};
    return lane_masks(launch, sub_group);
  };
  CHECK(masks({256, 1, 1}, 32) == LaneMasks{all << 5U, all, all});
  CHECK(masks({96, 2, 1}, 32) == LaneMasks{all << 5U, all, all});
  CHECK(masks({16, 16, 1}, 32) == LaneMasks{0, all << 1U, all});
  CHECK(masks({4, 4, 4}, 32) == LaneMasks{0, 0, all << 1U});
  CHECK(masks({1, 64, 1}, 32) == LaneMasks{all, all << 5U, all});
  // A group that is less than a sub-group is one.
  CHECK(masks({16, 1, 1}, 32) == LaneMasks{0, all, all});
  CHECK(masks({8, 2, 1}, 64) == LaneMasks{0, 0, all});
  CHECK(masks({48, 1, 1}, 32) == std::nullopt);
  CHECK(masks({12, 8, 1}, 32) == std::nullopt);
  CHECK(masks({16, 3, 1}, 32) == std::nullopt);
  CHECK(masks({0, 0, 0}, 32) == std::nullopt);
  CHECK(masks({48, 1, 1}, 24) == std::nullopt);
  // Every first lane is a work-item that there is, and no other has a smaller number.
  Random random(3);
  for (int round = 0; round < rounds(300); ++round) {
    const NdRange launch = random_launch(random);
    const auto found = lane_masks(launch, 32);
    if (!found) continue;
    const std::array<std::uint64_t, 3>& local = launch.local;
    for (std::uint64_t item = 0; item < local[0] * local[1] * local[2]; ++item) {
      const std::array<std::uint64_t, 3> id{item % local[0], item / local[0] % local[1],
                                            item / local[0] / local[1]};
      const std::uint64_t first =
          ((id[2] & (*found)[2]) * local[1] + (id[1] & (*found)[1])) * local[0] +
          (id[0] & (*found)[0]);
      REQUIRE(first == item / 32 * 32);
    }
  }
}

TEST_CASE("every setting of a sweep comes back out of the launch") {
  Random random(1);
  for (int round = 0; round < rounds(2000); ++round) {
    const NdRange launch = random_launch(random);
    const std::vector<Setting> sweep = fold_sweep(launch);
    REQUIRE(!sweep.empty());
    CHECK(sweep.front() == Setting{});
    CHECK(count_distinct_groups(launch, sweep.back()) == 1);
    std::uint64_t before = count_distinct_groups(launch, {}) + 1;
    for (const Setting& setting : sweep) {
      const std::uint64_t distinct = count_distinct_groups(launch, setting);
      CHECK(distinct < before);
      CHECK((&setting == &sweep[0] || &setting == &sweep[1] || distinct * 2 == before));
      before = distinct;
      const NdRange launched = encode(launch, setting);
      CHECK(decode(launched) == setting);
      CHECK(launched.offset[2] < std::uint64_t{1} << 31U);
    }
  }
}

TEST_CASE("folding keeps squares of groups") {
  const NdRange square{.dimensions = 2, .global = {64, 64, 1}, .local = {8, 8, 1}};
  const std::vector<Setting> sweep = fold_sweep(square);
  REQUIRE(sweep.size() == 7);
  CHECK(sweep[1].exponents == std::array<std::uint32_t, 3>{3, 2, 0});
  CHECK(sweep[2].exponents == std::array<std::uint32_t, 3>{2, 2, 0});
  CHECK(sweep[6].exponents == std::array<std::uint32_t, 3>{0, 0, 0});
}

TEST_CASE("what cannot be encoded is refused with the reason") {
  CHECK(refusal({.dimensions = 3, .offset = {0, 0, 1}, .global = {2, 2, 2}, .local = {1, 1, 1}}) ==
        "the launch's global offset in dimension 2 must be 0, because clprobe's instrumentation "
        "stores its settings there");
  CHECK(refusal(line(1024, 64), {.exponents = {5, no_folding, no_folding}}) ==
        "dimension 0 has 16 full-size groups, but group 31 was requested");
  // A smaller last group has not the work-items of the others.
  CHECK(refusal(line(1000, 64), {.exponents = {4, no_folding, no_folding}}) ==
        "dimension 0 has 15 full-size groups, but group 15 was requested");
  CHECK(refusal({.dimensions = 1, .global = {64, 1, 1}},
                {.exponents = {1, no_folding, no_folding}}) ==
        "the driver chooses the work-group size");
  CHECK(refusal({.dimensions = 1, .global = {64, 1, 1}}) == "");
  CHECK(refusal(line(std::uint64_t{1} << 40U, 1)) ==
        "the launch has too many groups in dimension 0");
}

TEST_CASE("a driver's choice of groups leaves nothing to fold") {
  CHECK(fold_sweep({.dimensions = 1, .global = {64, 1, 1}}).empty());
  CHECK_THROWS_AS(count_groups({.dimensions = 1, .global = {64, 1, 1}}), SettingError);
}

TEST_CASE("an entry is in every kernel of its name, and in no other one") {
  CHECK(with_entry("kernel void k(global int* a) { a[0] = 1; }", "k") ==
        "kernel void k(global int* a CLP_PARAMETERS) { CLP_ENTER  a[0] = 1; }");
  const std::string others = "void k(int a) { }\nkernel void l(global int* a) { }\nint m;";
  CHECK(with_entry(others, "k") == others);
  const std::string branches =
      "#if N\nkernel void k(global int* a) { }\n#else\nkernel void k(global int* b) { }\n#endif\n";
  const std::string entered = with_entry(branches, "k");
  CHECK(entered.find("a CLP_PARAMETERS) { CLP_ENTER  }") != std::string::npos);
  CHECK(entered.find("b CLP_PARAMETERS) { CLP_ENTER  }") != std::string::npos);
  CHECK(std::count(entered.begin(), entered.end(), '\n') ==
        std::count(branches.begin(), branches.end(), '\n'));
}

TEST_CASE("launches with an entry have their groups in dimension 0") {
  const NdRange launch{
      .dimensions = 2, .offset = {3, 4}, .global = {64, 32, 1}, .local = {8, 4, 1}};
  CHECK(count_all_groups(launch) == 64);
  CHECK(range_of_groups(launch, 10) ==
        NdRange{.dimensions = 2, .offset = {3, 4}, .global = {80, 4, 1}, .local = {8, 4, 1}});
  const std::string text = entry_text(launch);
  CHECK(text.find("#define CLP_GROUPS_0 8u\n#define CLP_GROUPS_1 8u\n#define CLP_GROUPS_2 1u\n") ==
        0);
  CHECK(text.ends_with("#line 1\n"));
}

TEST_CASE("an entry needs groups of one size, and few enough to be counted") {
  NdRange launch{.dimensions = 1, .global = {65, 1, 1}, .local = {8, 1, 1}};
  CHECK_THROWS_WITH_AS(static_cast<void>(entry_text(launch)),
                       "the launch's last groups in dimension 0 are smaller than the other groups",
                       SettingError);
  launch.local = {};
  CHECK_THROWS_AS(static_cast<void>(entry_text(launch)), SettingError);
  launch = {.dimensions = 3, .global = {1U << 20U, 1U << 11U, 1}, .local = {1, 1, 1}};
  CHECK_THROWS_WITH_AS(static_cast<void>(entry_text(launch)), "the launch has too many groups",
                       SettingError);
  launch.global[1] = (1U << 11U) - 1;
  CHECK_NOTHROW(static_cast<void>(entry_text(launch)));
}

}  // namespace clprobe::prelude
