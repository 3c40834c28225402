// SPDX-License-Identifier: Apache-2.0
// What the probe `latency` says of a series beside another one, and of a level beside the one
// before.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "probes/latency/devices_test.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::latency {
namespace {

TEST_CASE("what an order of addresses saves is its latency beside that of a random one") {
  const auto in_order = [](double ns, bool has_global) {
    Plan plan = plan_of(big_gpu());
    if (has_global) take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, "global-in-order", [&](double) { return ns; });
    const auto all =
        findings_of(probe.analyse(big_gpu(), plan.points), "global-in-order", "in_order");
    REQUIRE(all.size() == 1);
    return all.front();
  };
  // `three_levels` gives 441 ns at 1 GiB, since 1/32 of the loads hits L2.
  CHECK(*in_order(44.1, true).value == doctest::Approx(0.1).epsilon(0.01));
  CHECK(*in_order(441.0, true).value == doctest::Approx(1.0).epsilon(0.01));
  CHECK_FALSE(in_order(44.1, false).value.has_value());
  CHECK(
      findings_of(probe.analyse(big_gpu(), measured(big_gpu(), {})), "global-in-order", "in_order")
          .empty());
}

TEST_CASE("levels in the order of addresses, and from where on it is faster") {
  Request request;
  request.own.set("order", std::vector<std::string>{"fixed"});
  Plan plan = plan_of(big_gpu(), request);
  take_samples(plan.points, "global", three_levels());
  // Address order is as fast as random order in the first level, and twice as fast in memory.
  take_samples(plan.points, "global-in-order", {{16.0, 192.0 * 1024}, {70.0, 0.0}});
  const Findings found = probe.analyse(big_gpu(), plan.points);
  const auto times = findings_of(found, "global-in-order", "latency");
  REQUIRE(times.size() == 2);
  CHECK(*times[0].value * 1e9 == doctest::Approx(16.0).epsilon(0.02));
  CHECK(*times[1].value * 1e9 == doctest::Approx(70.0).epsilon(0.05));
  CHECK(findings_of(found, "global-in-order", "step").empty());
  const auto from = findings_of(found, "global-in-order", "in_order_from");
  REQUIRE(from.size() == 1);
  // With x the share of loads that miss L1, random order takes 16 + 124 x ns and address order 16
  // + 54 x ns. `size` is where address order takes 0.9 of random order.
  const double size = 192.0 * 1024 / (1.0 - 1.6 / 57.6);
  CHECK(*from[0].value == doctest::Approx(size).epsilon(0.1));
  CHECK(*from[0].value > size);
  // Without --order fixed, address order has too few sizes to find levels: sizes are at least a
  // factor of 2 apart.
  Request thorough;
  thorough.effort = Effort::thorough;
  plan = plan_of(big_gpu(), thorough);
  take_samples(plan.points, "global", three_levels());
  take_samples(plan.points, "global-in-order", {{16.0, 192.0 * 1024}, {70.0, 0.0}});
  CHECK(findings_of(probe.analyse(big_gpu(), plan.points), "global-in-order", "latency").empty());
}

TEST_CASE("what a loop around each load adds is a share of the load") {
  Request request;
  request.series = {"global", "global-looped"};
  const auto overhead = [&](double ns, bool has_global) {
    Plan plan = plan_of(big_gpu(), request);
    if (has_global) take_samples(plan.points, "global", [](double) { return 16.0; });
    take_samples(plan.points, "global-looped",
                 [&](double size) { return size < 4096.0 ? ns : ns + 2.0; });
    const auto all =
        findings_of(probe.analyse(big_gpu(), plan.points), "global-looped", "loop_overhead");
    REQUIRE(all.size() == 1);
    return all.front();
  };
  const Finding found = overhead(18.0, true);
  CHECK(*found.value == doctest::Approx(3.0 / 16.0).epsilon(0.01));
  CHECK(*found.low == doctest::Approx(2.0 / 16.0).epsilon(0.01));
  CHECK(*found.high == doctest::Approx(4.0 / 16.0).epsilon(0.01));
  CHECK_FALSE(overhead(18.0, false).value.has_value());
}

TEST_CASE("each level says what it adds to the one before") {
  const Findings found = probe.analyse(big_gpu(), measured(big_gpu(), {}));
  const auto added = findings_of(found, "global", "added");
  const auto times = findings_of(found, "global", "latency");
  REQUIRE(times.size() == 3);
  REQUIRE(added.size() == 2);
  for (std::size_t i = 0; i < added.size(); ++i) {
    CHECK(added[i].level == times[i + 1].level);
    CHECK(*added[i].value == *times[i + 1].value - *times[i].value);
    CHECK(*added[i].low == *times[i + 1].low - *times[i].high);
    CHECK(*added[i].high == *times[i + 1].high - *times[i].low);
  }
}

TEST_CASE("what combines latencies follows their intervals as a disturbance widens them") {
  std::vector<Finding> findings{
      finding_of("latency", "global", "seconds", "", 10.0, 9.0, 11.0),
      finding_of("latency", "global", "seconds", "", 30.0, 27.0, 33.0),
      finding_of("latency", "local", "seconds", "", 20.0, 19.0, 22.0),
      finding_of("added", "global", "seconds", "", 20.0, 20.0, 20.0),
      finding_of("beside_global", "local", "", "", 2.0, 2.0, 2.0),
  };
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i != 4) findings[i].level = i == 1 || i == 3 ? 2 : 1;
  }
  findings[3].disturbance = 0.1;
  combine(findings);
  CHECK(*findings[3].low == 16.0);
  CHECK(*findings[3].high == 24.0);
  CHECK(findings[3].disturbance == 0.0);
  CHECK(*findings[4].low == doctest::Approx(19.0 / 11.0));
  CHECK(*findings[4].high == doctest::Approx(22.0 / 9.0));
}

TEST_CASE("a memory's nearest level is set beside that of global memory, and its curve") {
  const auto beside = [](std::string_view series, const std::function<double(double)>& time_of,
                         bool has_global = true) {
    Plan plan = plan_of(big_gpu());
    if (has_global) take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, series, time_of);
    return findings_of(probe.analyse(big_gpu(), plan.points), series, "beside_global");
  };
  const auto global_time = [](double size) { return time_at(three_levels(), size); };
  const auto faster = beside("local", [](double) { return 12.0; });
  REQUIRE(faster.size() == 1);
  CHECK(*faster[0].value == doctest::Approx(0.75).epsilon(0.01));
  CHECK(*faster[0].low <= *faster[0].value);
  CHECK(*faster[0].high >= *faster[0].value);
  CHECK(faster[0].label.empty());
  CHECK(beside("image", global_time).at(0).label == "as global");
  CHECK(beside("image", [&](double size) { return 1.07 * global_time(size); }).at(0).label ==
        "as global");
  CHECK(beside("image", [&](double size) { return 1.2 * global_time(size); }).at(0).label.empty());
  CHECK(beside("image", [&](double size) { return 0.85 * global_time(size); }).at(0).label.empty());
  // The image equals global memory only up to the end of L1, so its label is empty.
  CHECK(beside("image", [](double) { return 16.0; }).at(0).label.empty());
  CHECK(beside(
            "local", [](double) { return 12.0; }, false)
            .empty());
  CHECK(beside("global", global_time).empty());
}

TEST_CASE("memory of the host that answers as the device's does lies on the device") {
  const auto host_memory = [](double host_ns, bool has_global) {
    Plan plan = plan_of(big_gpu());
    if (has_global) take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, "host", [&](double) { return host_ns; });
    for (const Finding& each : probe.analyse(big_gpu(), plan.points).findings) {
      if (each.name == "host_memory") return each;
    }
    return Finding{};
  };
  // In `three_levels` half of the loads miss L2 at 64 MiB, so global memory takes 295 ns.
  CHECK(host_memory(300.0, true).label == "device");
  CHECK(host_memory(340.0, true).label == "device");
  CHECK(host_memory(370.0, true).label == "host");
  CHECK(host_memory(1200.0, true).label == "host");
  CHECK(host_memory(1200.0, true).series == "host");
  CHECK(host_memory(1200.0, false).label.empty());
  CHECK(host_memory(1200.0, false).reason == "global memory was not measured at a matching size");
  // The series of host memory has a latency but no step, since its end is not the end of a cache.
  Plan plan = plan_of(big_gpu());
  take_samples(plan.points, "host", [](double) { return 1200.0; });
  const Findings found = probe.analyse(big_gpu(), plan.points);
  const auto latency = std::find_if(
      found.findings.begin(), found.findings.end(),
      [](const Finding& each) { return each.name == "latency" && each.series == "host"; });
  REQUIRE(latency != found.findings.end());
  CHECK(*latency->value == doctest::Approx(1200e-9).scale(0).epsilon(0.01));
}

TEST_CASE("the link has a latency of its own only where host memory stays with the host") {
  const auto link = [](const auto& host_time) {
    Plan plan = plan_of(big_gpu());
    take_samples(plan.points, "global", three_levels());
    take_samples(plan.points, "host", host_time);
    return findings_of(probe.analyse(big_gpu(), plan.points), "host", "link_latency");
  };
  // Loads that hit a cache do not cross the link. Only the last level counts, and the finding has
  // no level number.
  const auto behind = link([](double size) { return size < 256e3 ? 16.0 : 1200.0; });
  REQUIRE(behind.size() == 1);
  CHECK(*behind[0].value == doctest::Approx(1200e-9).scale(0).epsilon(0.01));
  CHECK_FALSE(behind[0].level.has_value());
  CHECK(link([](double) { return 300.0; }).empty());
}

}  // namespace
}  // namespace clprobe::latency
