// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/bars.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::stalls {
namespace {

/// Returns the findings of a bar. `free_lows`: low end of the free share of each of four resources.
std::vector<Finding> bar_of(std::string_view first, const std::vector<double>& free_lows,
                            std::string_view verdict = "agree") {
  std::vector<Finding> found{finding_of(stack_first_name, "bar", "share", "", 0.6, 0.5, 0.7)};
  found.back().label = first;
  for (const double low : free_lows) {
    found.push_back(finding_of(stack_absorbed_name, "bar", "share", "noise", 0.9, low, 0.95));
  }
  found.push_back(finding_of("noise", "bar", "", "noise"));
  found.back().label = verdict;
  return found;
}

bool is_bound(const std::vector<Finding>& found) {
  return find_latency_bound("bar", found).has_value();
}

}  // namespace

TEST_CASE("what waits for memory, with every resource free for a fifth, is bound by latency") {
  const auto bound = find_latency_bound("bar", bar_of("memory data: L2", {0.9, 0.46, 0.8, 0.9}));
  REQUIRE(bound);
  CHECK(bound->series == "bar");
  CHECK(
      bound->label.find("bound by latency: memory data is the largest cause, and each resource is "
                        "free for a part of the time.") == 0);
  CHECK(is_bound(bar_of("memory data: L2", {0.9, 0.2, 0.8, 0.9})));
  CHECK_FALSE(is_bound(bar_of("memory data: L2", {0.9, 0.19, 0.8, 0.9})));
}

TEST_CASE("nothing is said of another first cause, nor where noise speaks against it") {
  CHECK_FALSE(is_bound(bar_of("compute data", {0.9, 0.9, 0.9, 0.9})));
  CHECK_FALSE(is_bound(bar_of("memory data: L2", {0.9, 0.9, 0.9, 0.9}, "inconclusive")));
  std::vector<Finding> unresolved = bar_of("memory data: L2", {0.9, 0.9, 0.9, 0.9});
  unresolved.front().value.reset();
  CHECK_FALSE(is_bound(unresolved));
}

TEST_CASE("nor where not all of four resources are known") {
  CHECK_FALSE(is_bound(bar_of("memory data: L2", {0.9, 0.9, 0.9})));
  std::vector<Finding> lost = bar_of("memory data: L2", {0.9, 0.9, 0.9, 0.9});
  lost[2].value.reset();
  CHECK_FALSE(is_bound(lost));
  CHECK_FALSE(find_latency_bound("other", bar_of("memory data: L2", {0.9, 0.9, 0.9, 0.9})));
}

}  // namespace clprobe::stalls
