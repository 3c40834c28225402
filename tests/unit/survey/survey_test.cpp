// SPDX-License-Identifier: Apache-2.0
#include "profile/api/survey.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace clprobe::survey {
namespace {

Row row(const std::string& kernel, std::uint64_t total_ns, std::uint64_t launches = 1) {
  return {.signature = {.kernel = kernel, .dimensions = 1, .global = {64}},
          .sum = {.launches = launches,
                  .timed = launches,
                  .total_ns = total_ns,
                  .min_ns = 1,
                  .max_ns = total_ns}};
}

std::size_t main_kernels(const std::vector<std::uint64_t>& times) {
  std::vector<Row> rows;
  for (const std::uint64_t time : times) rows.push_back(row("k" + std::to_string(time), time));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].signature.program.hash = i;
  return count_main_kernels(kernels_of(rows));
}

/// The ordinal of the launch that stands for launches of these times.
std::uint64_t typical(const std::vector<std::uint64_t>& times) {
  std::vector<TimedLaunch> launches;
  for (const std::uint64_t ns : times) launches.push_back({launches.size() + 1, ns});
  std::reverse(launches.begin(), launches.end());
  return typical_launch(launches).ordinal;
}

}  // namespace

TEST_CASE("a sum has the least and the greatest time of what was timed") {
  Sum sum;
  CHECK(sum.min_ns == 0);
  sum.add_time(30);
  sum.add_time(10);
  sum.add_time(20);
  CHECK(sum == Sum{.launches = 0, .timed = 3, .total_ns = 60, .min_ns = 10, .max_ns = 30});
  // Launches without times change neither.
  sum.add({.launches = 5});
  CHECK(sum == Sum{.launches = 5, .timed = 3, .total_ns = 60, .min_ns = 10, .max_ns = 30});
}

TEST_CASE("times that a driver makes up do not run over") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  Sum sum;
  sum.add_time(most);
  sum.add_time(2);
  CHECK(sum.total_ns == most);
}

TEST_CASE("what several processes did is one row per signature") {
  Survey first{.processes = {{1, "a"}}, .rows = {row("x", 10)}, .gaps = {{Gap::failed, 2}}};
  first.rows[0].typical = {3, 10};
  Survey other{.processes = {{2, "b"}},
               .rows = {row("y", 5), row("x", 7, 3)},
               .gaps = {{Gap::failed, 1}, {Gap::refused, 4}}};
  other.rows[1].uses_svm = true;
  other.rows[1].typical = {2, 7};
  Merged merged;
  merged.add(first);
  merged.add(other);
  const Survey& all = merged.survey();
  REQUIRE(all.rows.size() == 2);
  CHECK(all.rows[0].sum ==
        Sum{.launches = 4, .timed = 4, .total_ns = 17, .min_ns = 1, .max_ns = 10});
  CHECK(all.rows[0].uses_svm);
  CHECK(all.rows[0].typical == TimedLaunch{3, 10});
  CHECK(all.processes.size() == 2);
  CHECK(all.gaps.at(Gap::failed) == 3);
  CHECK(all.gaps.at(Gap::refused) == 4);
}

TEST_CASE("every part of a signature tells launches apart") {
  const Signature one{.kernel = "k",
                      .program = {1, ProgramKind::source},
                      .device = "d",
                      .dimensions = 2,
                      .global = {8, 8},
                      .local = {4, 4}};
  std::vector<Signature> others(7, one);
  others[0].kernel = "l";
  others[1].program.hash = 2;
  others[2].program.kind = ProgramKind::binary;
  others[3].device = "e";
  others[4].dimensions = 3;
  others[5].global = {8, 16};
  others[6].local = {};
  for (const Signature& other : others) {
    Merged all;
    all.add({.rows = {{.signature = one}}});
    all.add({.rows = {{.signature = other}}});
    CHECK(all.survey().rows.size() == 2);
  }
}

TEST_CASE("rows are sorted by time, then by launches, then by name") {
  Survey survey{.rows = {row("b", 5), row("a", 5), row("c", 5, 2), row("d", 9)}};
  sort_by_time(survey);
  std::string order;
  for (const Row& each : survey.rows) order += each.signature.kernel;
  CHECK(order == "dcab");
}

TEST_CASE("main kernels make 80 % of the time, and are three at most") {
  CHECK(main_kernels({}) == 0);
  CHECK(main_kernels({0, 0}) == 0);
  CHECK(main_kernels({80, 20}) == 1);
  CHECK(main_kernels({79, 21}) == 2);
  CHECK(main_kernels({50, 25, 20, 5}) == 3);
  CHECK(main_kernels({20, 20, 20, 20, 20}) == 3);
}

TEST_CASE("what counts is the kernel, in however many rows") {
  // One launch of each size, of which another program's kernel has the longest.
  std::vector<Row> rows{row("once", 300)};
  for (std::uint64_t side = 40; side > 0; --side) rows.push_back(row("often", side));
  for (std::size_t i = 1; i < rows.size(); ++i) rows[i].signature.global = {41 - i};
  const std::vector<Kernel> kernels = kernels_of(rows);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].sum.launches == 40);
  CHECK(kernels[0].sum.total_ns == 820);
  const std::vector<KernelShare> shares = kernel_shares(rows);
  CHECK(shares[0].of_time == doctest::Approx(300.0 / 1120.0));
  CHECK(shares[40].of_time == doctest::Approx(820.0 / 1120.0));
  CHECK(shares[40].is_main);
  // The size nearest to the mean one, 20.5, whatever disturbed a launch of another.
  CHECK(rows[typical_row(rows, kernels[0])].signature.global[0] == 20);
  rows[39].sum.total_ns = 400;
  CHECK(rows[typical_row(rows, kernels_of(rows)[0])].signature.global[0] == 20);
  // Unless that took most of the kernel's time.
  rows[39].sum.total_ns = 900;
  CHECK(typical_row(rows, kernels_of(rows)[0]) == 39);
}

TEST_CASE("the typical launch has the mean time, or most of the time") {
  CHECK(typical({}) == 0);
  CHECK(typical({7}) == 1);
  CHECK(typical({7, 9}) == 2);
  // In the first one drivers compile.
  CHECK(typical({1000, 9, 10, 11}) == 2);
  CHECK(typical({5, 1, 5, 10, 20, 9}) == 4);
  // Levels of a breadth-first search: one makes nearly all of the time.
  CHECK(typical({4, 4, 4, 5, 6, 12, 80, 590, 60, 4, 4}) == 8);
  CHECK(typical({1, 10, 11, 30}) == 3);
}

TEST_CASE("an event clock that disagrees with the host's is doubtful, by what both calls allow") {
  constexpr std::uint64_t second = 1'000'000'000;
  CHECK(event_clock_factor({}) == 1.0);
  CHECK(event_clock_factor({second, second, second}) == 1.0);
  CHECK(event_clock_factor({second, second, second / 42}) == doctest::Approx(42).epsilon(1e-6));
  CHECK(event_clock_factor({second, second, 20 * second}) == doctest::Approx(0.05));
  CHECK(event_clock_factor({second, second, 0}) == doctest::Approx(1e9));
  // Within 30 %, and within what the calls themselves took, it agrees.
  CHECK(event_clock_factor({second, second, second * 100 / 131}) == doctest::Approx(1.31));
  CHECK(event_clock_factor({second, second, second * 100 / 129}) == 1.0);
  CHECK(event_clock_factor({second, second, second * 131 / 100}) < 1.0);
  CHECK(event_clock_factor({second, second, second * 129 / 100}) == 1.0);
  CHECK(event_clock_factor({second, 3 * second, 3 * second}) == 1.0);
  CHECK(event_clock_factor({4'999'999, second, 1}) == 1.0);
  CHECK(event_clock_factor({5'000'000, second, 1}) > 1.0);
  CHECK(has_doubtful_times({.rows = {row("k", 100)}, .clock = {second, second, second / 42}}));
  CHECK(!has_doubtful_times({.rows = {row("k", 100)}, .clock = {second, second, second}}));
}

TEST_CASE("launches that are too short for any device are doubtful") {
  CHECK(!has_doubtful_times({}));
  CHECK(has_doubtful_times({.rows = {row("k", 9), row("l", 0)}}));
  CHECK(!has_doubtful_times({.rows = {row("k", 9), row("l", 10)}}));
}

TEST_CASE("gaps stand in the order of their numbers, each with words") {
  for (std::size_t i = 0; i < all_gaps().size(); ++i) {
    const GapRow& gap = all_gaps()[i];
    CHECK(static_cast<std::size_t>(gap.gap) == i);
    CHECK(!gap.reason.empty());
  }
  CHECK(all_gaps().size() == static_cast<std::size_t>(Gap::extension) + 1);
}

}  // namespace clprobe::survey
