// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "present/findings.hpp"

namespace clprobe {

TEST_CASE("an interval as wide as its value is told by its ends, and not as a share") {
  Finding cost{.name = "extra_cost", .unit = "seconds"};
  const auto shown = [&](double value, double low, double high) {
    cost.value = value;
    cost.low = low;
    cost.high = high;
    return report::interval_text(cost);
  };
  CHECK(shown(4e-7, 3e-7, 4.2e-7) == "±25%");
  CHECK(shown(4e-7, 1e-9, 4.2e-7) == "±100%");
  CHECK(shown(4e-7, 4e-7, 8e-7) == "(400–800)");
  CHECK(shown(-4e-7, -5e-7, 6e-7) == "(-500 to 600)");
  CHECK(shown(4e-7, -2e-6, 5e-7) == "(-2.00 µs to 500 ns)");
  CHECK(shown(0.0, -2e-9, 5e-9) == "(-2.00 to 5.00)");
}

TEST_CASE("a value says its unit where its title does not") {
  const auto text = [](const char* name, const char* unit) {
    Finding finding{.name = name, .unit = unit};
    finding.value = 125.0;
    return report::value_text(finding);
  };
  CHECK(text("unit_bandwidth", "bytes_per_cycle") == "125 B/cycle");
  CHECK(text("unit_operations", "operations_per_cycle") == "125 op/cycle");
  CHECK(text("conflict_free", "cycles") == "125 cycles");
  CHECK(text("bytes_per_cycle", "bytes_per_cycle") == "125");
  CHECK(text("cycles", "cycles") == "125");
  CHECK(text("parallelism", "") == "125");
}

}  // namespace clprobe
