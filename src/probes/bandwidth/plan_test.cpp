// SPDX-License-Identifier: Apache-2.0
// What is planned for which device.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/point_facts.hpp"
#include "clprobe/probe.hpp"
#include "probes/bandwidth/bandwidth.hpp"
#include "probes/shared/plans_test.hpp"

namespace clprobe::bandwidth {

namespace {

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.local_memory = kibibytes(48);
  device.image_buffer_pixels = 1 << 28;
  device.launch_timer = Timer::event;
  return device;
}

DeviceInfo cpu() {
  DeviceInfo device;
  device.type = DeviceType::cpu;
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  device.global_memory = gibibytes(8);
  device.max_allocation = gibibytes(2);
  device.local_memory = kibibytes(512);
  device.image_buffer_pixels = 1 << 28;
  device.launch_timer = Timer::event;
  return device;
}

}  // namespace

TEST_CASE("bandwidth: a GPU has all series, from near the units to far beyond the last cache") {
  const Plan plan = probe.plan(gpu(), {});
  CHECK(plan.findings.empty());
  const auto all = shapes_by_series<Shape>(plan);
  CHECK(all.size() == all_series.size());
  for (const auto& entry : all) {
    const auto& series = entry.first;
    const auto& shapes = entry.second;
    CAPTURE(series);
    CHECK(std::is_sorted(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) {
      return a.working_set_bytes < b.working_set_bytes;
    }));
    for (const Shape& each : shapes) {
      CHECK(each.buffer_bytes == gibibytes(1).count);
      CHECK(each.touched_bytes() <= each.buffer_bytes);
      CHECK(each.walks % each.regions == 0);
      CHECK(each.items() % each.group == 0);
      CHECK(each.timer == Timer::event);
    }
  }
  CHECK(all.at("read").front().working_set_bytes == kibibytes(32).count);
  CHECK(all.at("read").back().working_set_bytes == gibibytes(1).count);
  CHECK(all.at("read").front().walks == 132);  // one walk per compute unit
  CHECK(all.at("read").front().lanes == 512);
  CHECK(all.at("read").back().lanes == 1024);
  CHECK(all.at("read-one-unit").front().walks == 1);
  CHECK(all.at("read-own").front().regions == 132);
  // In this series `working_set_bytes` is the size per compute unit.
  CHECK(all.at("read-own").back().touched_bytes() ==
        132 * all.at("read-own").back().working_set_bytes);
  // A copy touches two buffers, and its working set is the sum of these buffers.
  CHECK(all.at("copy").back().working_set_bytes == 2 * all.at("copy").back().touched_bytes());
  CHECK(all.at("write").front().regions == all.at("write").front().walks);
  for (const char* const operation : {"write", "copy", "update"}) {
    // Each unit has at least two walks, since the rate of a single walk is not that of a level.
    CHECK(all.at(operation).front().walks == 2 * 132);
    // Work-groups have 64 work-items, so that all units have work, up to the size at which all
    // work-items have a block. Larger sizes have groups of 1024.
    const std::uint64_t enough = mebibytes(33).count / (std::string(operation) == "copy" ? 1 : 2);
    for (const Shape& each : all.at(operation)) {
      CHECK(each.lanes == (each.working_set_bytes < enough ? 64 : 1024));
      CHECK(each.group == each.lanes);
      if (each.working_set_bytes >= enough) CHECK(each.items() == 132 * 2048);
    }
    // A series of one unit has one work-group and few sizes.
    const std::vector<Shape>& alone = all.at(std::string(operation) + "-one-unit");
    CHECK(alone.size() >= 5);
    CHECK(alone.size() <= 8);
    for (const Shape& each : alone) CHECK(each.items() == 1024);
    CHECK(alone.front().group == 1024);
    CHECK(alone.front().touched_bytes() == kibibytes(64).count);
    CHECK(alone.back().working_set_bytes == mebibytes(256).count);
  }
  CHECK(all.at("local").size() == 1);
  CHECK(all.at("local").front().touched_bytes() <= kibibytes(48).count);
}

TEST_CASE("bandwidth: points of one core of a CPU alone say so") {
  int alone = 0;
  for (const Point& point : probe.plan(cpu(), {}).points) {
    const bool is_one_unit = point.series.ends_with("-one-unit");
    CHECK((point.facts.find(of_one_unit) != nullptr) == is_one_unit);
    alone += is_one_unit ? 1 : 0;
  }
  CHECK(alone > 0);
  for (const Point& point : probe.plan(gpu(), {}).points) {
    CHECK(point.facts.find(of_one_unit) == nullptr);
  }
}

TEST_CASE("bandwidth: groups that write are no larger than a device has them") {
  DeviceInfo small = gpu();
  small.max_work_group_size = 256;
  const auto shapes = shapes_by_series<Shape>(probe.plan(small, {})).at("write");
  CHECK(shapes.front().lanes == 64);
  CHECK(shapes.back().lanes == 256);
  CHECK(shapes.back().walks == 8 * 132);
}

TEST_CASE("bandwidth: the known last cache decides how far it goes, and memory how far it may") {
  Request request;
  request.known.last_cache = mebibytes(512);
  const auto largest = [&](const Request& asked) {
    return shapes_by_series<Shape>(probe.plan(gpu(), asked)).at("read").back().working_set_bytes;
  };
  CHECK(largest(request) == gibibytes(4).count);
  request.max_memory = mebibytes(256);
  CHECK(largest(request) <= mebibytes(112).count);
  const Plan plan = probe.plan(gpu(), request);
  CHECK(plan.memory <= mebibytes(224));
  request.series = {"read"};  // needs one buffer
  CHECK(largest(request) > mebibytes(200).count);
}

TEST_CASE("bandwidth: a first look reads three sizes before it copies and writes") {
  Request request;
  request.effort = Effort::quick;
  for (const DeviceInfo& device : {cpu(), gpu()}) {
    const Plan plan = probe.plan(device, request);
    CHECK(plan.is_ordered);
    std::string order;
    for (std::size_t i = 0; i < 6; ++i) order += plan.points.at(i).series + " ";
    CHECK(order == "read read read write copy read ");
    const auto largest = shapes_by_series<Shape>(plan).at("write");
    CHECK(shape_of<Shape>(plan.points[3]).working_set_bytes ==
          std::max_element(largest.begin(), largest.end(), [](const Shape& a, const Shape& b) {
            return a.working_set_bytes < b.working_set_bytes;
          })->working_set_bytes);
    request.own.set("sizes", std::vector<SizeRange>{{kibibytes(64), mebibytes(8), 2.0}});
    CHECK_FALSE(probe.plan(device, request).is_ordered);  // all requested sizes are measured
    request.own = {};
  }
}

TEST_CASE(
    "bandwidth: on a CPU work-groups of one, many a unit, and what it cannot say is left out") {
  const auto all = shapes_by_series<Shape>(probe.plan(cpu(), {}));
  CHECK(all.count("read-own") == 0);
  for (const auto& entry : all) {
    const auto& series = entry.first;
    const auto& shapes = entry.second;
    CAPTURE(series);
    for (const Shape& each : shapes) CHECK(each.group == 1);
  }
  CHECK(all.at("read").front().walks == 64);
  // Each core writes its own region. In a shared region, cores would take cache lines from each
  // other.
  for (const char* const series : {"write", "copy", "update"}) {
    CHECK(all.at(series).front().regions == 2);
    CHECK(all.at(series).front().walks == 2);
  }
  // A single core has a single walk.
  for (const char* const series : {"write-one-unit", "copy-one-unit", "update-one-unit"}) {
    CHECK(all.at(series).front().walks == 1);
    CHECK(all.at(series).size() == 6);
    CHECK(all.at(series).back().working_set_bytes == mebibytes(64).count);
  }
  CHECK(all.at("read").back().working_set_bytes == mebibytes(64).count);
  Request request;
  request.series = {"read-own"};
  const Plan plan = probe.plan(cpu(), request);
  CHECK(plan.points.empty());
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].reason.find("driver chooses the core") != std::string::npos);
}

TEST_CASE("bandwidth: images are as large as the device makes them, of a CPU small and few") {
  DeviceInfo device = gpu();
  device.image_buffer_pixels = 1 << 20;  // pixels of 16 bytes
  auto all = shapes_by_series<Shape>(probe.plan(device, {}));
  CHECK(all.at("image").back().working_set_bytes == mebibytes(16).count);
  CHECK(all.at("image").front().vector == 4);
  CHECK(all.at("image").front().walks == 132);
  CHECK(all.at("read").back().working_set_bytes == gibibytes(1).count);
  device.image_buffer_pixels = 0;
  const Plan without = probe.plan(device, {});
  CHECK(shapes_by_series<Shape>(without).count("image") == 0);
  REQUIRE(without.findings.size() == 1);
  CHECK(without.findings[0].series == "image");
  CHECK(without.findings[0].reason == "the device does not support images created from buffers");
  all = shapes_by_series<Shape>(probe.plan(cpu(), {}));
  CHECK(all.at("image").back().working_set_bytes == mebibytes(4).count);
  CHECK(all.at("image").size() <= 8);
  CHECK(all.at("image").front().vector == 4);  // one texel
  CHECK(all.at("read").front().vector == 16);
}

TEST_CASE("bandwidth: sizes that were asked for are measured, and such as fit nowhere refused") {
  const Plan plan = probe.plan(gpu(), with_sizes({{mebibytes(1), mebibytes(4), 2.0}}));
  const std::vector<Shape> shapes = shapes_by_series<Shape>(plan).at("read");
  REQUIRE(shapes.size() == 3);
  CHECK(shapes[1].working_set_bytes == mebibytes(2).count);
  CHECK(probe.check(gpu(), with_sizes({{mebibytes(1), mebibytes(1), 0.0}})).empty());
  Request tiny = with_sizes({{Bytes{64}, Bytes{64}, 0.0}});
  tiny.series = {"read"};
  CHECK(probe.check(gpu(), tiny) ==
        "--sizes: none of these sizes can be divided among the compute units; choose sizes between "
        "32 KiB and 35 GiB");
  // A requested size may exceed the default maximum. Above the limit of --max-memory the size is
  // refused, even if another requested size is within the limit.
  const Request large = with_sizes({{gibibytes(3), gibibytes(3), 0.0}});
  CHECK(probe.check(gpu(), large).empty());
  CHECK(shapes_by_series<Shape>(probe.plan(gpu(), large)).at("read").back().touched_bytes() ==
        gibibytes(3).count);
  Request both = with_sizes({{mebibytes(1), mebibytes(1), 0.0}, {gibibytes(3), gibibytes(3), 0.0}});
  both.max_memory = gibibytes(1);
  both.series = {"read"};
  CHECK(probe.check(gpu(), both) ==
        "--sizes: 3 GiB is more than --max-memory allows; choose at most 896 MiB");
  both.max_memory = gibibytes(4);
  CHECK(probe.check(gpu(), both).empty());
}

TEST_CASE(
    "bandwidth: what disturbs a CPU's own caches is another reference than that of its memory") {
  const auto references_of = [](const DeviceInfo& device) {
    const Plan plan = probe.plan(device, {});
    std::vector<std::pair<ReferenceKind, std::uint64_t>> found;
    for (const PlannedReference& each : plan.references) {
      const Point& point = plan.points.at(each.point);
      CHECK(point.series == "read");
      const Shape shape = shape_of<Shape>(point);
      found.emplace_back(each.kind, shape.working_set_bytes);
      // On a CPU the references stay prepared, so that they show disturbances until the end of the
      // run.
      REQUIRE(each.alone.has_value() == (device.type == DeviceType::cpu));
      if (!each.alone) continue;
      CHECK(each.alone->point.parameters == point.parameters);
      CHECK(each.alone->memory == Bytes{shape.touched_bytes()});
      CHECK(shape_of<Shape>(each.alone->point).buffer_bytes == shape.touched_bytes());
    }
    return found;
  };
  const auto of_cpu = references_of(cpu());
  REQUIRE(of_cpu.size() == 3);
  CHECK(of_cpu[0].first == ReferenceKind::core);
  CHECK(of_cpu[1].first == ReferenceKind::cache);
  CHECK(of_cpu[2].first == ReferenceKind::memory);
  CHECK(of_cpu[0].second < kibibytes(32).count);
  CHECK(of_cpu[1].second >= kibibytes(256).count);
  CHECK(of_cpu[1].second < kibibytes(400).count);
  CHECK(of_cpu[2].second > mebibytes(32).count);
  // The reference in memory stays prepared, and its size is the smallest that exceeds all caches.
  DeviceInfo large_cache = cpu();
  large_cache.reported.set("cache_bytes", static_cast<std::int64_t>(mebibytes(100).count));
  const auto beyond = references_of(large_cache);
  REQUIRE(beyond.size() == 3);
  CHECK(beyond[2].second >= mebibytes(256).count);
  CHECK(beyond[2].second < mebibytes(400).count);
  const auto of_gpu = references_of(gpu());
  REQUIRE(of_gpu.size() == 2);
  CHECK(of_gpu[0].first == ReferenceKind::core);
  CHECK(of_gpu[1].first == ReferenceKind::memory);
}

TEST_CASE("bandwidth: a first look has fewer points, a thorough one more") {
  const auto points = [](Effort effort) {
    Request request;
    request.effort = effort;
    return probe.plan(gpu(), request).points.size();
  };
  CHECK(points(Effort::quick) < points(Effort::normal) / 2);
  CHECK(points(Effort::thorough) > points(Effort::normal) * 3 / 2);
}

TEST_CASE("bandwidth: a first look fills no gigabytes") {
  const auto largest = [](const DeviceInfo& device, Effort effort) {
    Request request;
    request.effort = effort;
    request.known.last_cache = mebibytes(260);
    std::uint64_t most = 0;
    for (const Point& point : probe.plan(device, request).points) {
      most = std::max(most, shape_of<Shape>(point).working_set_bytes);
    }
    return most;
  };
  CHECK(largest(cpu(), Effort::normal) > mebibytes(512).count);
  CHECK(largest(cpu(), Effort::quick) <= mebibytes(128).count);
  CHECK(largest(cpu(), Effort::quick) > mebibytes(100).count);
  CHECK(largest(gpu(), Effort::quick) <= mebibytes(512).count);
}

TEST_CASE("bandwidth: devices whose drivers end long loops have more walks, or fewer sizes") {
  DeviceInfo llvmpipe = cpu();
  llvmpipe.isa = "spir";
  llvmpipe.compute_units = 1;
  Request request;
  request.known.last_cache = mebibytes(512);
  const auto all = shapes_by_series<Shape>(probe.plan(llvmpipe, request));
  CHECK(all.at("read").front().vector == 4);  // larger kernels compile for 30 s
  for (const auto& entry : all) {
    const auto& series = entry.first;
    const auto& shapes = entry.second;
    CAPTURE(series);
    for (const Shape& each : shapes) CHECK(each.step() <= 60000);
  }
  CHECK(all.at("read-one-unit").back().working_set_bytes < all.at("read").back().working_set_bytes);
}

}  // namespace clprobe::bandwidth
