// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/card.hpp"

#include <doctest/doctest.h>

#include "clprobe/stacks.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::stalls {

TEST_CASE("the largest cause of each kernel stands on the card, by causes") {
  ProbeResult result;
  const auto add = [&](const char* bar, std::string_view label, double share) {
    result.findings.push_back(finding_of(stack_part_name, bar, "share", stack_view_shapley, share,
                                         share - 0.001, share + 0.001));
    result.findings.back().label = label;
  };
  CHECK(card(result).lines.empty());
  add("one", "memory data: main memory", 0.37);
  add("one", "memory data: L2", 0.1);
  add("one", stack_remainder, 0.53);
  CHECK(card(result).lines.at(0).text == "37 % main memory of one");
  add("two", "memory data: main memory", 0.59);
  add("three", "synchronization: barrier", 0.52);
  CHECK(card(result).lines.at(0).text == "37–59 % main memory (2 kernels), 52 % barrier");
  add("four", "synchronization: barrier", 0.52);
  CHECK(card(result).lines.at(0).text == "37–59 % main memory (2 kernels), 52 % barrier (2)");
}

}  // namespace clprobe::stalls
