// SPDX-License-Identifier: Apache-2.0
// What is planned for which device.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/plans_test.hpp"
#include "probes/transfer/transfer.hpp"

namespace clprobe::transfer {

namespace {

// Number of series without the two series between devices, which peer_test.cpp tests.
constexpr std::size_t series_of_one_device = all_series.size() - 2;

DeviceInfo svm_gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.reported.set("svm_capabilities", std::int64_t{1});
  return device;
}

DeviceInfo phone() {
  DeviceInfo device = svm_gpu();
  device.compute_units = 2;
  device.global_memory = mebibytes(64);
  device.max_allocation = mebibytes(16);
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device = svm_gpu();
  device.type = DeviceType::cpu;
  device.compute_units = 2;
  device.global_memory = gibibytes(64);
  device.max_allocation = gibibytes(16);
  return device;
}

std::map<std::string, std::vector<std::uint64_t>> sizes_in(const Plan& plan) {
  std::map<std::string, std::vector<std::uint64_t>> sizes;
  for (const auto& [series, shapes] : shapes_by_series<Shape>(plan)) {
    for (const Shape& each : shapes) sizes[series].push_back(each.transfer_bytes);
  }
  for (auto& [series, all] : sizes) std::sort(all.begin(), all.end());
  return sizes;
}

std::vector<std::uint64_t> sizes_for(const DeviceInfo& device, const Request& request = {}) {
  return sizes_in(probe.plan(device, request)).at("to-device");
}

}  // namespace

TEST_CASE("transfer: a large GPU has all series from 64 B to 64 MiB or more, each by its own way") {
  const Plan plan = probe.plan(svm_gpu(), {});
  CHECK(plan.findings.empty());
  const auto all = sizes_in(plan);
  CHECK(all.size() == series_of_one_device);
  for (const auto& entry : all) {
    const auto& series = entry.first;
    const auto& sizes = entry.second;
    CAPTURE(series);
    const bool is_of_link = series == "to-device-pinned" || series == "from-device-pinned";
    CHECK(sizes.back() == mebibytes(is_of_link ? 256 : 64).count);
    const bool is_large = series.ends_with("-duplex");
    CHECK(sizes.front() == (is_large ? mebibytes(64) : Bytes{64}).count);
    CHECK(sizes.size() == (is_large ? 1 : 7) + (is_of_link ? 1 : 0));
  }
  for (const Point& each : plan.points) {
    const auto shape = shape_of<Shape>(each);
    CHECK(shape.timer == Timer::wait);
    CHECK(shape.buffer_bytes == std::max(shape.transfer_bytes, mebibytes(64).count));
    CHECK(shape.moved_bytes() == shape.transfer_bytes * (each.series == both_series ? 2 : 1));
    const auto* const spec =
        std::find_if(all_series.begin(), all_series.end(),
                     [&](const SeriesSpec& any) { return any.name == each.series; });
    REQUIRE(spec != all_series.end());
    CHECK(shape.way == spec->way);
    CHECK(shape.direction == spec->direction);
    CHECK_FALSE(probe.find_problem(each).has_value());
  }
}

TEST_CASE("transfer: what time cuts off first lies between the large and the small transfers") {
  for (const Effort effort : {Effort::quick, Effort::normal}) {
    const Plan plan = probe.plan(svm_gpu(), with_effort(effort));
    CHECK(plan.is_ordered);
    const std::uint64_t largest = sizes_in(plan).at("to-device").back();
    std::set<std::string> first;
    const std::size_t large = series_of_one_device + (effort == Effort::normal ? 2 : 0);
    for (std::size_t i = 0; i < large; ++i) {
      CHECK(shape_of<Shape>(plan.points[i]).transfer_bytes >= largest);
      first.insert(plan.points[i].series);
    }
    CHECK(first.size() == series_of_one_device);
    CHECK(shape_of<Shape>(plan.points[large]).transfer_bytes <= kibibytes(1).count);
    const std::uint64_t last = shape_of<Shape>(plan.points.back()).transfer_bytes;
    CHECK(last > kibibytes(1).count);
    CHECK(last < largest);
  }
  CHECK_FALSE(probe.plan(svm_gpu(), with_effort(Effort::thorough)).is_ordered);
}

TEST_CASE("transfer: every look has three small transfers, a first one few others") {
  for (const Effort effort : {Effort::quick, Effort::normal, Effort::thorough}) {
    const std::vector<std::uint64_t> sizes = sizes_for(svm_gpu(), with_effort(effort));
    CHECK(std::count_if(sizes.begin(), sizes.end(),
                        [](std::uint64_t size) { return size <= kibibytes(1).count; }) >= 3);
  }
  CHECK(sizes_for(svm_gpu(), with_effort(Effort::quick)).size() == 6);
  CHECK(sizes_for(svm_gpu(), with_effort(Effort::quick)).back() == mebibytes(64).count);
  CHECK(sizes_for(svm_gpu(), with_effort(Effort::normal)).size() == 7);
  CHECK(sizes_for(svm_gpu(), with_effort(Effort::normal)).back() == mebibytes(64).count);
  CHECK(sizes_for(svm_gpu(), with_effort(Effort::thorough)).size() == 23);
  CHECK(sizes_for(svm_gpu(), with_effort(Effort::thorough)).back() == mebibytes(256).count);
}

TEST_CASE("transfer: where host and device share a memory, and on small devices, less is moved") {
  const Request all = with_effort(Effort::thorough);
  CHECK(sizes_for(cpu(), all).back() == mebibytes(64).count);
  DeviceInfo integrated = svm_gpu();
  integrated.reported.set("host_unified_memory", std::int64_t{1});
  CHECK(sizes_for(integrated, all).back() == mebibytes(64).count);
  integrated.reported.set("host_unified_memory", std::int64_t{0});
  CHECK(sizes_for(integrated, all).back() == mebibytes(256).count);
  DeviceInfo middle = svm_gpu();
  middle.global_memory = gibibytes(15);
  CHECK(sizes_for(middle, all).back() == mebibytes(64).count);
  const Plan plan = probe.plan(phone(), {});
  CHECK(plan.memory <= mebibytes(32));
  CHECK(plan.memory > mebibytes(16));
}

TEST_CASE("transfer: memory holds, with one series and with all") {
  for (const DeviceInfo& device : {svm_gpu(), phone(), cpu()}) {
    for (const Bytes max : {kibibytes(64), mebibytes(4), mebibytes(100)}) {
      Request request;
      request.max_memory = max;
      const Plan all = probe.plan(device, request);
      CHECK_FALSE(all.points.empty());
      CHECK(all.memory <= max);
      request.series = {"to-device"};
      const Plan one = probe.plan(device, request);
      CHECK(one.memory <= max);
      // One series needs two buffers, all series need eight.
      CHECK(sizes_in(one).at("to-device").back() > sizes_in(all).at("to-device").back());
    }
  }
}

TEST_CASE("transfer: only a look that has time and memory for it has the link's largest transfer") {
  const auto largest = [](const DeviceInfo& device, const Request& request) {
    return Bytes{sizes_in(probe.plan(device, request)).at("to-device-pinned").back()};
  };
  Request request;
  CHECK(largest(svm_gpu(), request) == mebibytes(256));
  CHECK(probe.plan(svm_gpu(), request).memory == mebibytes(7 * 64 + 3 * 256));
  CHECK(largest(svm_gpu(), with_effort(Effort::quick)) == mebibytes(64));
  CHECK(largest(svm_gpu(), with_sizes({{kibibytes(1), mebibytes(64), 0.0}})) == mebibytes(64));
  CHECK(largest(cpu(), request) == mebibytes(64));
  DeviceInfo short_of_memory = svm_gpu();
  short_of_memory.max_allocation = mebibytes(255);
  CHECK(largest(short_of_memory, request) == mebibytes(64));
  // The seven usual buffers have the size of 1.75 large buffers. The largest transfer needs three
  // more large buffers.
  request.max_memory = mebibytes(6 * 256);
  CHECK(largest(svm_gpu(), request) == mebibytes(256));
  CHECK(probe.plan(svm_gpu(), request).memory <= request.max_memory);
  request.max_memory = mebibytes(6 * 256 - 1);
  CHECK(largest(svm_gpu(), request) == mebibytes(64));
  // Without the series of pinned memory there are no large buffers.
  request.max_memory = {};
  request.series = {"to-device"};
  CHECK(probe.plan(svm_gpu(), request).memory == mebibytes(2 * 64));
}

TEST_CASE("transfer: each series counts the buffers that it needs") {
  const auto count = [](std::vector<std::string> names) {
    std::vector<SeriesSpec> series;
    for (const SeriesSpec& each : all_series) {
      if (std::find(names.begin(), names.end(), each.name) != names.end()) series.push_back(each);
    }
    return count_buffers(series, svm_gpu());
  };
  CHECK(count({"to-device"}) == 2);
  CHECK(count({"from-device", "to-device"}) == 2);
  CHECK(count({"to-device-pinned"}) == 3);
  CHECK(count({"both-pinned"}) == 4);
  CHECK(count({"to-device-duplex"}) == 4);
  CHECK(count({"to-device-map"}) == 3);
  CHECK(count({"to-device-kernel"}) == 2);
  CHECK(count({"from-device-svm"}) == 3);
  CHECK(count({"on-device"}) == 2);
  CHECK(count_buffers({all_series.begin(), all_series.end()}, svm_gpu()) == 7);
}

TEST_CASE("transfer: without shared virtual memory its series say so") {
  for (const std::int64_t capabilities : {std::int64_t{0}, std::int64_t{2}}) {
    DeviceInfo device = svm_gpu();
    device.reported.set("svm_capabilities", capabilities);
    const Plan plan = probe.plan(device, {});
    CHECK(sizes_in(plan).size() == series_of_one_device - 2);
    REQUIRE(plan.findings.size() == 2);
    for (const Finding& each : plan.findings) {
      CHECK(each.series.ends_with("-svm"));
      CHECK(each.reason == "the device has no shared virtual memory");
    }
  }
  DeviceInfo unknown = svm_gpu();
  unknown.reported = {};
  CHECK(probe.plan(unknown, {}).findings.size() == 2);
}

TEST_CASE("transfer: sizes that were asked for are measured, and such as fit nowhere refused") {
  const std::vector<std::uint64_t> sizes =
      sizes_for(svm_gpu(), with_sizes({{mebibytes(1), gibibytes(2), 2.0}}));
  REQUIRE(sizes.size() == 12);
  CHECK(sizes[1] == mebibytes(2).count);
  CHECK(sizes.back() == gibibytes(2).count);
  // Sizes are rounded down to whole vectors of 16 bytes.
  CHECK(sizes_for(svm_gpu(), with_sizes({{Bytes{1000}, Bytes{1000}, 0.0}})) ==
        std::vector<std::uint64_t>{992});
  CHECK(probe.check(svm_gpu(), {}).empty());
  CHECK(probe.check(svm_gpu(), with_sizes({{kibibytes(64), kibibytes(64), 0.0}})).empty());
  CHECK(probe.check(svm_gpu(), with_sizes({{Bytes{8}, Bytes{8}, 0.0}}))
            .starts_with(
                "--sizes: none of these sizes can be transferred; choose sizes between 16 B and"));
  Request little = with_sizes({{mebibytes(1), mebibytes(1), 0.0}});
  little.max_memory = mebibytes(4);
  CHECK(probe.check(svm_gpu(), little) ==
        "--sizes: none of these sizes can be transferred; choose sizes between 16 B and 512 KiB");
  little.series = {"to-device"};
  CHECK(probe.check(svm_gpu(), little).empty());
  // A size beyond the limit is refused, either as one of two sizes or as the end of a range.
  for (const SizeRange& more :
       {SizeRange{mebibytes(2), mebibytes(2), 0.0}, {kibibytes(1), mebibytes(2), 0.0}}) {
    Request with_more = with_sizes({{kibibytes(1), kibibytes(1), 0.0}, more});
    with_more.max_memory = mebibytes(4);
    with_more.series = {"to-device"};
    CHECK(probe.check(svm_gpu(), with_more) ==
          "--sizes: 2 MiB is more than --max-memory allows; choose at most 1.33 MiB");
  }
}

TEST_CASE("transfer: a run that is cut off has the rates of the card") {
  for (const Effort effort : {Effort::quick, Effort::normal}) {
    const Plan plan = probe.plan(cpu(), with_effort(effort));
    std::vector<std::string> first;
    for (std::size_t i = 0; i < 5; ++i) first.push_back(plan.points.at(i).series);
    CHECK(first == std::vector<std::string>{"to-device-pinned", "from-device-pinned", "to-device",
                                            "from-device", "both-pinned"});
  }
}

}  // namespace clprobe::transfer
