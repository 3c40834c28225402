// SPDX-License-Identifier: Apache-2.0
// Which series a device gets, and what is said of those that it does not.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

TEST_CASE("what a device has not is a finding that says so") {
  const Plan plan = plan_of(bare());
  CHECK(series_of(plan.points) ==
        std::set<std::string>{"global", "global-pages", "global-in-order", "host"});
  std::set<std::string> missing;
  for (const Finding& finding : plan.findings) {
    missing.insert(finding.series);
    CHECK_FALSE(finding.value.has_value());
    CHECK_FALSE(finding.reason.empty());
    CHECK(finding.source == Source::reported);
  }
  CHECK(missing ==
        std::set<std::string>{"constant-argument", "constant-program", "local", "image"});
}

TEST_CASE("a device that has everything is asked everything") {
  const std::set<std::string> usual{
      "global", "global-pages", "global-in-order", "constant-argument", "constant-program",
      "local",  "image"};
  std::set<std::string> with_link = usual;
  with_link.insert("host");
  for (const DeviceInfo& device : {big_gpu(), phone(), cpu()}) {
    const bool has_link = device.type != DeviceType::cpu;
    CHECK(series_of(plan_of(device).points) == (has_link ? with_link : usual));
    CHECK(plan_of(device).findings.empty());
  }
  std::set<std::string> with_scalar = with_link;
  with_scalar.insert("global-scalar");
  CHECK(series_of(plan_of(amd()).points) == with_scalar);
}

TEST_CASE("loops of one load are measured in the nearest level, where they are asked for") {
  const auto points = [](Effort effort, bool is_named) {
    Request request;
    request.effort = effort;
    if (is_named) request.series = {"global", "global-looped"};
    std::vector<Point> found = plan_of(big_gpu(), request).points;
    std::erase_if(found, [](const Point& each) { return each.series != "global-looped"; });
    return found;
  };
  CHECK(points(Effort::normal, false).empty());
  CHECK(points(Effort::thorough, false).size() == 4);
  const std::vector<Point> named = points(Effort::normal, true);
  CHECK(sizes_of(named, "global-looped") ==
        std::vector<std::uint64_t>{kibibytes(1).count, kibibytes(8).count});
  for (const Point& each : named) CHECK(each.parameters.integer("unroll") == 1);
  DeviceInfo simulated = big_gpu();
  simulated.type = DeviceType::simulated;
  Request request;
  request.series = {"global-looped"};
  CHECK(plan_of(simulated, request).points.empty());
}

TEST_CASE("the order of addresses is looked at by a few sizes, and not by a first look") {
  const auto sizes = [](const DeviceInfo& device, Effort effort, bool is_named) {
    Request request;
    request.effort = effort;
    if (is_named) request.series = {"global", "global-in-order"};
    return sizes_of(plan_of(device, request).points, "global-in-order");
  };
  const auto usual = sizes(big_gpu(), Effort::normal, false);
  CHECK(usual == std::vector<std::uint64_t>{kibibytes(256).count, mebibytes(2).count,
                                            mebibytes(16).count, mebibytes(128).count,
                                            gibibytes(1).count});
  CHECK(sizes(big_gpu(), Effort::quick, false).empty());
  CHECK_FALSE(sizes(big_gpu(), Effort::quick, true).empty());
  CHECK(sizes(big_gpu(), Effort::thorough, false).size() > 10);
  DeviceInfo simulated = big_gpu();
  simulated.type = DeviceType::simulated;
  CHECK(sizes(simulated, Effort::normal, false).empty());
}

TEST_CASE("with --order fixed the order of addresses has the sizes of a random one") {
  Request request;
  request.own.set("order", std::vector<std::string>{"fixed"});
  for (const Effort effort : {Effort::quick, Effort::normal, Effort::thorough}) {
    request.effort = effort;
    const std::vector<Point> points = plan_of(big_gpu(), request).points;
    CHECK(sizes_of(points, "global-in-order") == sizes_of(points, "global"));
  }
  request.series = {"global"};
  CHECK(probe.check(big_gpu(), request) ==
        "--order: fixed needs the series global-in-order, which --series leaves out; add "
        "global-in-order to --series");
  request.series.clear();
  CHECK(probe.check(big_gpu(), request).empty());
  // The limit of 64 MiB allows the first requested size but not the second size.
  request.max_memory = mebibytes(64);
  request.own.set("sizes", OptionValue{std::vector<SizeRange>{{kibibytes(64), kibibytes(64), 0.0},
                                                              {gibibytes(1), gibibytes(1), 0.0}}});
  CHECK(probe.check(big_gpu(), request)
            .starts_with("--sizes: 1 GiB is more than --max-memory allows; choose at most"));
  // The constants of the device cannot hold 1 GiB, but its global memory can.
  request.max_memory = {};
  request.own.set("order", std::vector<std::string>{});
  request.series = {"constant-program"};
  CHECK(probe.check(big_gpu(), request) ==
        "--sizes: 1 GiB is more than the measured memory can hold; choose at most 64 KiB");
  request.series = {"constant-program", "global"};
  CHECK(probe.check(big_gpu(), request).empty());
}

TEST_CASE("a simulated device, which does not prefetch, has the order of addresses where asked") {
  DeviceInfo simulated = big_gpu();
  simulated.type = DeviceType::simulated;
  const auto sizes = [&](const Request& request) {
    return sizes_of(plan_of(simulated, request).points, "global-in-order").size();
  };
  Request request;
  for (const Effort effort : {Effort::quick, Effort::normal, Effort::thorough}) {
    request.effort = effort;
    CHECK(sizes(request) == 0);
    for (const Finding& each : plan_of(simulated, request).findings) {
      CHECK(each.series != "global-in-order");
    }
  }
  request.series = {"global-in-order"};
  CHECK(sizes(request) > 0);
  request = {};
  request.own.set("order", std::vector<std::string>{"fixed"});
  CHECK(sizes(request) == sizes_of(plan_of(simulated, request).points, "global").size());
}

TEST_CASE("a series of one vendor's devices is missed only where it was asked for") {
  Request request;
  request.series = {"global-scalar"};
  const Plan plan = plan_of(big_gpu(), request);
  CHECK(plan.points.empty());
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].series == "global-scalar");
  CHECK_FALSE(plan.findings[0].reason.empty());
  CHECK_FALSE(plan_of(amd(), request).points.empty());
}

TEST_CASE("the host's memory is chased through where it is another one, up to 64 MiB") {
  Request request;
  request.series = {"host"};
  const std::vector<std::uint64_t> sizes = sizes_of(plan_of(big_gpu(), request).points, "host");
  CHECK(sizes.front() == kibibytes(64).count);
  CHECK(sizes.back() == mebibytes(64).count);
  CHECK(sizes_of(plan_of(phone(), request).points, "host").back() == mebibytes(8).count);
  for (const Bytes max : {kibibytes(1), kibibytes(200), mebibytes(4), mebibytes(100)}) {
    request.max_memory = max;
    const Plan plan = plan_of(big_gpu(), request);
    CHECK(plan.memory <= max);
    CHECK(plan.points.empty() == (max < mebibytes(1)));
  }
  request.max_memory = {};
  DeviceInfo integrated = big_gpu();
  integrated.reported.set("host_unified_memory", std::int64_t{1});
  for (const DeviceInfo& device : {cpu(), integrated}) {
    const Plan plan = plan_of(device, request);
    CHECK(plan.points.empty());
    REQUIRE(plan.findings.size() == 1);
    CHECK(plan.findings[0].reason == "host and device share one memory");
  }
}

TEST_CASE("--series leaves the others out, findings included") {
  Request request;
  request.series = {"local", "image"};
  CHECK(series_of(plan_of(big_gpu(), request).points) == std::set<std::string>{"image", "local"});
  const Plan plan = plan_of(bare(), request);
  CHECK(plan.points.empty());
  CHECK(plan.findings.size() == 2);
}

}  // namespace
}  // namespace clprobe::latency
