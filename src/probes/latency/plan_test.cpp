// SPDX-License-Identifier: Apache-2.0
// What the probe `latency` plans.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

/// Returns the maximum distance, in positions of `all`, between neighbouring sizes of `chosen`.
std::size_t widest_gap(const std::set<std::uint64_t>& all, std::span<const std::uint64_t> chosen) {
  const std::set<std::uint64_t> some(chosen.begin(), chosen.end());
  std::size_t widest = 0;
  for (auto size = some.begin(); std::next(size) != some.end(); ++size) {
    const auto gap = std::distance(all.find(*size), all.find(*std::next(size)));
    widest = std::max(widest, static_cast<std::size_t>(gap));
  }
  return widest;
}

/// Checks that the memory of the series can hold the working set.
void check_fits(const DeviceInfo& device, const Point& point) {
  const std::uint64_t size = number(point, "working_set_bytes");
  if (point.series == "local") CHECK(size <= device.local_memory.count);
  if (point.series.starts_with("constant")) CHECK(size <= device.constant_buffer.count);
  if (point.series == "constant-program") CHECK(size <= kibibytes(64).count);
  if (point.series == "image") {
    CHECK(size / 4 <= static_cast<std::uint64_t>(device.image_buffer_pixels));
  }
  const bool is_buffer = point.series != "local" && point.series != "constant-program";
  if (is_buffer) CHECK(shape_of<RingShape>(point).buffer_bytes <= device.max_allocation.count);
}

/// Checks conditions that every plan must meet, for any device and request.
void check_points(const DeviceInfo& device, const Plan& plan) {
  std::map<std::string, std::set<std::uint64_t>> sizes;
  for (const Point& point : plan.points) {
    const std::uint64_t size = number(point, "working_set_bytes");
    const std::uint64_t step = number(point, "step_bytes");
    CAPTURE(point.series);
    CAPTURE(size);
    REQUIRE(step >= 8);
    CHECK(step % 8 == 0);
    CHECK(size % step == 0);
    CHECK(size >= 2 * step);
    if (!plan.is_ordered && !sizes[point.series].empty()) {
      CHECK(size > *sizes[point.series].rbegin());
    }
    CHECK(sizes[point.series].insert(size).second);  // each size occurs once
    CHECK(shape_of<RingShape>(point).buffer_bytes >= size);
    CHECK(number(point, "line_bytes") >= 8);
    CHECK(point.samples.empty());
    CHECK(point.failure.empty());
    CHECK_NOTHROW(static_cast<void>(options_of(point)));
    check_fits(device, point);
  }
}

TEST_CASE("plans keep to the device, whatever the request") {
  for (const DeviceInfo& device : all_devices()) {
    for (const Request& request : many_requests()) {
      CAPTURE(device.name);
      const Plan plan = plan_of(device, request);
      check_points(device, plan);
      CHECK(plan.points.size() + plan.findings.size() > 0);
    }
  }
}

TEST_CASE("a loop is of 16 loads, unless somebody asks for a length") {
  Request asked;
  for (const std::uint64_t length : {16U, 8U}) {
    for (const Point& point : plan_of(big_gpu(), asked).points) {
      CHECK(number(point, "unroll") == length);
    }
    asked.own.set("unroll", OptionValue{std::uint64_t{8}});
  }
}

TEST_CASE("without request a plan ends at the least of 1 GiB, a buffer, and a quarter of memory") {
  const auto largest = [](const DeviceInfo& device) {
    return sizes_of(plan_of(device).points, "global").back();
  };
  CHECK(largest(big_gpu()) == gibibytes(1).count);
  CHECK(largest(phone()) == mebibytes(16).count);
  DeviceInfo device = big_gpu();
  device.global_memory = mebibytes(100);
  CHECK(largest(device) == mebibytes(25).count);
  device = big_gpu();
  device.max_allocation = mebibytes(256);
  CHECK(largest(device) == mebibytes(256).count);
}

TEST_CASE("--max-memory moves the end both ways, but never beyond one allocation") {
  const auto largest = [](const DeviceInfo& device, Bytes most) {
    Request request;
    request.max_memory = most;
    return Bytes{sizes_of(plan_of(device, request).points, "global").back()};
  };
  // Returns the memory that remains for rings on the device after the host ring and the small
  // buffers.
  const auto share = [](Bytes most) {
    return most - std::min(most / 8, mebibytes(64)) - kibibytes(16);
  };
  for (const Bytes most : {mebibytes(2), gibibytes(8)}) {
    CHECK(largest(big_gpu(), most) == share(most));
  }
  CHECK(largest(phone(), gibibytes(8)) == mebibytes(16));
}

TEST_CASE("all that the probe holds keeps to --max-memory, and its parts are counted") {
  for (const DeviceInfo& device : all_devices()) {
    for (const Bytes most : {kibibytes(1), kibibytes(100), mebibytes(3), mebibytes(512)}) {
      for (const Bytes step : {Bytes{8}, Bytes{64}, Bytes{200}, kibibytes(4), kibibytes(48)}) {
        Request request;
        request.max_memory = most;
        request.series = {"global", "global-pages", "constant-argument", "image"};
        request.own.set("step", step);
        const Plan plan = plan_of(device, request);
        std::uint64_t store = 0;
        for (const Point& point : plan.points) {
          store = std::max(store, shape_of<RingShape>(point).buffer_bytes);
        }
        CAPTURE(device.name);
        CAPTURE(most.count);
        CAPTURE(step.count);
        CHECK(plan.memory <= most);
        // Plan memory includes the results and one 8-byte number for each of the 1,024 work-items
        // of a walk.
        if (!plan.points.empty()) CHECK(plan.memory.count > store + 8 * 1024);
        CHECK((plan.memory.count == 0) == plan.points.empty());
      }
    }
  }
}

TEST_CASE("a plan without limits says how much memory it takes") {
  const Plan plan = plan_of(big_gpu());
  // The plan needs 1 GiB on the device and 64 MiB on the host, and no table of the nodes.
  CHECK(plan.memory > gibibytes(1) + mebibytes(64));
  CHECK(plan.memory < gibibytes(1) + mebibytes(65));
}

TEST_CASE("all rings that are cut from a store are cut from one") {
  for (const DeviceInfo& device : all_devices()) {
    for (const Request& request : many_requests()) {
      std::set<std::uint64_t> stores;
      for (const Point& point : plan_of(device, request).points) {
        if (is_cut_from_store(series_named(point.series))) {
          stores.insert(shape_of<RingShape>(point).buffer_bytes);
        }
      }
      CHECK(stores.size() <= 1);
    }
  }
}

TEST_CASE("--sizes are measured as they were asked for") {
  Request request;
  set_sizes(request, {{kibibytes(4), kibibytes(64), 2.0}});
  CHECK(sizes_of(plan_of(big_gpu(), request).points, "global") ==
        std::vector<std::uint64_t>{4096, 8192, 16384, 32768, 65536});
  set_sizes(request, {{mebibytes(5), mebibytes(5), 0.0}, {kibibytes(1), kibibytes(1), 0.0}});
  CHECK(sizes_of(plan_of(big_gpu(), request).points, "global") ==
        std::vector<std::uint64_t>{1024, 5242880});
  // A requested size may exceed the largest size of a default plan.
  set_sizes(request, {{gibibytes(6), gibibytes(6), 0.0}});
  CHECK(sizes_of(plan_of(big_gpu(), request).points, "global") ==
        std::vector<std::uint64_t>{gibibytes(6).count});
  request.max_memory = gibibytes(2);
  CHECK(sizes_of(plan_of(big_gpu(), request).points, "global").empty());
}

TEST_CASE("neighbouring sizes are 9 % apart, but for what whole steps allow") {
  for (const DeviceInfo& device : all_devices()) {
    const Plan plan = plan_of(device);
    const auto sizes = sizes_of(plan.points, "global");
    const auto step = static_cast<double>(number(plan.points.front(), "step_bytes"));
    CHECK(sizes.front() == 1024);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const bool is_sparse = device.type == DeviceType::cpu && sizes[i - 1] >= mebibytes(128).count;
      if (is_sparse) continue;
      CHECK(static_cast<double>(sizes[i]) <= 1.09 * (static_cast<double>(sizes[i - 1]) + step));
    }
  }
  Request quick;
  quick.effort = Effort::quick;
  CHECK(plan_of(big_gpu(), quick).points.size() < plan_of(big_gpu()).points.size());
}

TEST_CASE("on a CPU sizes of memory alone are few, and on a GPU they are not") {
  DeviceInfo cpu = big_gpu();
  cpu.type = DeviceType::cpu;
  cpu.reported.set("cache_bytes", std::int64_t{mebibytes(100).count});
  const auto count_from = [](const DeviceInfo& device, Bytes from, const Request& request = {}) {
    const auto sizes = sizes_of(plan_of(device, request).points, "global");
    return std::count_if(sizes.begin(), sizes.end(), [&](auto size) { return size >= from.count; });
  };
  // From 200 MiB (twice the cache) to 1 GiB there are 6 sizes with a ratio of 1.42, or 20 with a
  // ratio of 1.09.
  CHECK(count_from(cpu, mebibytes(200)) == 6);
  CHECK(count_from(cpu, mebibytes(100)) == 14);
  Request thorough;
  thorough.effort = Effort::thorough;
  CHECK(count_from(cpu, mebibytes(200), thorough) > 40);
  // If no cache is reported, sparse sizes begin at 128 MiB: 6 sizes with a ratio of 1.42, and the
  // last size.
  cpu.reported.set("cache_bytes", std::int64_t{0});
  CHECK(count_from(cpu, mebibytes(128)) == 7);
  cpu.type = DeviceType::gpu;
  cpu.reported.set("cache_bytes", std::int64_t{mebibytes(100).count});
  CHECK(count_from(cpu, mebibytes(200)) == 20);
}

TEST_CASE("a first look begins with global memory, in sizes that halve the gaps") {
  Request quick;
  quick.effort = Effort::quick;
  for (const DeviceInfo& device : all_devices()) {
    const Plan plan = plan_of(device, quick);
    CHECK(plan.is_ordered);
    CHECK_FALSE(plan_of(device).is_ordered);
    CHECK(plan.points.front().series == "global");
    const auto is_global = [](const Point& point) { return point.series == "global"; };
    const auto end = std::find_if_not(plan.points.begin(), plan.points.end(), is_global);
    CHECK(std::none_of(end, plan.points.end(), is_global));
    const bool is_cpu = device.type == DeviceType::cpu;
    if (series_of(plan.points).contains("global-pages")) {
      // On a GPU the series that explains global memory comes last. On a CPU this series precedes
      // the other memories, which are global memory as well.
      CHECK((is_cpu ? *end : plan.points.back()).series == "global-pages");
    }
    // On a GPU one visit with little scatter is enough.
    CHECK(plan.urgent == (is_cpu ? static_cast<std::size_t>(end - plan.points.begin()) : 0U));
    if (is_cpu) CHECK(plan.min_urgent_visits == 2);
    if (is_cpu) CHECK(plan.max_urgent_visits == 4);
    CHECK(plan_of(device).urgent == 0);
    const std::vector<std::uint64_t> sizes = sizes_of(plan.points, "global");
    const std::set<std::uint64_t> rising(sizes.begin(), sizes.end());
    REQUIRE(rising.size() == sizes.size());  // no size occurs twice
    for (std::size_t count = 2; count < sizes.size(); ++count) {
      CHECK(widest_gap(rising, std::span(sizes).first(count)) <=
            2 * sizes.size() / std::bit_floor(count - 1));
    }
  }
}

TEST_CASE("a first look ends well beyond the last cache, and not at the largest buffer") {
  Request quick;
  quick.effort = Effort::quick;
  const auto last = [&](std::int64_t cache, DeviceType type = DeviceType::gpu) {
    DeviceInfo device = big_gpu();
    device.type = type;
    device.reported.set("cache_bytes", cache);
    const auto sizes = sizes_of(plan_of(device, quick).points, "global");
    return *std::max_element(sizes.begin(), sizes.end());
  };
  CHECK(last(0) == mebibytes(128).count);
  CHECK(last(-1) == mebibytes(128).count);
  CHECK(last(std::int64_t{60} << 20) == mebibytes(240).count);
  CHECK(last(std::int64_t{256} << 20) == mebibytes(512).count);
  CHECK(last(0, DeviceType::cpu) == mebibytes(256).count);
  CHECK(last(std::int64_t{32} << 20, DeviceType::cpu) == mebibytes(256).count);
  CHECK(last(std::int64_t{96} << 20, DeviceType::cpu) == mebibytes(384).count);
  // A requested size is measured even if it exceeds the limit of a quick run.
  set_sizes(quick, {{gibibytes(1), gibibytes(1), 0.0}});
  CHECK(last(0) == gibibytes(1).count);
}

TEST_CASE("the step is the larger of 64 bytes and the reported line, or what was asked for") {
  const auto step = [](const DeviceInfo& device, Bytes asked) {
    Request request;
    request.own.set("step", OptionValue{asked});
    return number(plan_of(device, request).points.front(), "step_bytes");
  };
  CHECK(step(big_gpu(), {}) == 128);
  CHECK(step(bare(), {}) == 64);
  CHECK(step(big_gpu(), Bytes{8}) == 8);
  CHECK(step(big_gpu(), kibibytes(4)) == 4096);
}

TEST_CASE("request that leave nothing to measure are a mistake, with what to choose instead") {
  Request request;
  set_sizes(request, {{Bytes{16}, Bytes{16}, 0.0}});
  const auto mistake = [&](const DeviceInfo& device) { return probe.check(device, request); };
  CHECK(plan_of(big_gpu(), request).points.empty());
  CHECK(mistake(big_gpu()) ==
        "--sizes: 16 B is less than two steps of 128 B; choose at least 256 B");
  set_sizes(request, {{Bytes{256}, Bytes{256}, 0.0}});
  CHECK(plan_of(big_gpu(), request).points.size() == 7);  // all series except the one with one
                                                          // node per page
  CHECK(mistake(big_gpu()).empty());
  request.own.set("step", OptionValue{Bytes{1024}});
  CHECK(
      mistake(big_gpu()) ==
      "--sizes: 256 B is less than two steps of 1 KiB; choose at least 2 KiB, or a smaller --step");

  request = {};
  request.own.set("step", OptionValue{gibibytes(1)});
  CHECK(mistake(big_gpu()) == "--step: no memory holds two steps of 1 GiB; choose at most 512 MiB");
  request.own.set("step", OptionValue{mebibytes(512)});
  CHECK(sizes_of(plan_of(big_gpu(), request).points, "global") ==
        std::vector<std::uint64_t>{gibibytes(1).count});
  CHECK(mistake(big_gpu()).empty());
  request.own.set("step", OptionValue{gibibytes(8'000'000'000)});
  CHECK(mistake(phone()).ends_with("choose at most 8 MiB"));
  // A series that the device does not support is not reported as a mistake in the options.
  request = {};
  request.series = {"local"};
  CHECK(mistake(bare()).empty());
  set_sizes(request, {{mebibytes(1), mebibytes(1), 0.0}});
  CHECK(mistake(big_gpu()).empty());
}

TEST_CASE("with a step of a page or more there is no other chase with one node per page") {
  Request request;
  request.own.set("step", OptionValue{kibibytes(4)});
  CHECK(series_of(plan_of(big_gpu(), request).points).contains("global-pages"));
  const Plan plan = plan_of(cpu(), request);
  CHECK_FALSE(series_of(plan.points).contains("global-pages"));
  CHECK(std::any_of(plan.findings.begin(), plan.findings.end(), [](const Finding& finding) {
    return finding.series == "global-pages" &&
           finding.reason == "the step between nodes is already a page or more";
  }));
}

}  // namespace
}  // namespace clprobe::latency
