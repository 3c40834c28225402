// SPDX-License-Identifier: Apache-2.0
// Number of visits of the points that `stalls` plans.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "clprobe/point_facts.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/points_test.hpp"

namespace clprobe::stalls {
namespace {

TEST_CASE("of a CPU the kernels as they are are visited often, but for a first look") {
  DeviceInfo cpu = gpu();
  cpu.type = DeviceType::cpu;
  const auto often = [](const DeviceInfo& device, Effort effort) {
    Request request;
    request.effort = effort;
    std::map<std::string, int> found;
    for (const Point& point : probe.plan(device, request).points) {
      const auto times = point.facts.integer_or(visited_often, 1);
      CHECK((times == 1 || times == 3));
      CHECK((times == 1 || is_whole_kernel(point)));
      if (times > 1) ++found[point.series];
    }
    return found;
  };
  const std::map<std::string, int> found = often(cpu, Effort::normal);
  for (const char* const series : {"bank-conflicts", "implicit, async copy", "uts"}) {
    CAPTURE(series);
    REQUIRE(found.contains(series));
    CHECK(found.at(series) == 1);
  }
  CHECK(often(cpu, Effort::quick).empty());
  CHECK(often(gpu(), Effort::normal).empty());
}

}  // namespace
}  // namespace clprobe::stalls
