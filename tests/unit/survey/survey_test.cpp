// SPDX-License-Identifier: Apache-2.0
#include "clprobe/survey.hpp"

#include <doctest/doctest.h>

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

std::size_t main_rows(const std::vector<std::uint64_t>& times) {
  std::vector<Row> rows;
  for (const std::uint64_t time : times) rows.push_back(row("k", time));
  return count_main_rows(rows);
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
  Survey all{.processes = {{1, "a"}}, .rows = {row("x", 10)}, .gaps = {{Gap::failed, 2}}};
  Survey other{.processes = {{2, "b"}},
               .rows = {row("y", 5), row("x", 7, 3)},
               .gaps = {{Gap::failed, 1}, {Gap::refused, 4}}};
  other.rows[1].uses_svm = true;
  merge(all, other);
  REQUIRE(all.rows.size() == 2);
  CHECK(all.rows[0].sum ==
        Sum{.launches = 4, .timed = 4, .total_ns = 17, .min_ns = 1, .max_ns = 10});
  CHECK(all.rows[0].uses_svm);
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
    Survey all{.rows = {{.signature = one}}};
    merge(all, {.rows = {{.signature = other}}});
    CHECK(all.rows.size() == 2);
  }
}

TEST_CASE("rows are sorted by time, then by launches, then by name") {
  Survey survey{.rows = {row("b", 5), row("a", 5), row("c", 5, 2), row("d", 9)}};
  sort_by_time(survey);
  std::string order;
  for (const Row& each : survey.rows) order += each.signature.kernel;
  CHECK(order == "dcab");
}

TEST_CASE("main rows make 80 % of the time, and are three at most") {
  CHECK(main_rows({}) == 0);
  CHECK(main_rows({0, 0}) == 0);
  CHECK(main_rows({80, 20}) == 1);
  CHECK(main_rows({79, 21}) == 2);
  CHECK(main_rows({50, 25, 20, 5}) == 3);
  CHECK(main_rows({20, 20, 20, 20, 20}) == 3);
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
