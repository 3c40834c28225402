// SPDX-License-Identifier: Apache-2.0
// The plan of `inflight`, what it refuses, and its lines; no OpenCL.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/point_facts.hpp"
#include "probes/inflight/points_test.hpp"

namespace clprobe::inflight {
namespace {

std::set<std::string> series_of(const Plan& plan) {
  std::set<std::string> series;
  for (const Point& each : plan.points) series.insert(each.series);
  return series;
}

Request asking(std::vector<int> work_items, std::vector<int> loads, std::vector<int> mergers,
               std::vector<std::string> targets) {
  Request request;
  request.own.set("work-items", std::move(work_items));
  request.own.set("loads", std::move(loads));
  request.own.set("mergers", std::move(mergers));
  request.own.set("target", std::move(targets));
  return request;
}

TEST_CASE("a GPU with a clock gets curves of both targets, and chains") {
  const Plan plan = probe.plan(gpu(), {});
  const std::set<std::string> series = series_of(plan);
  for (const char* const name :
       {"overhead", "cache-x1", "cache-x8", "memory-x1", "memory-x4", "cache-chains",
        "memory-chains", "loaded-latency", "loaded-traffic"}) {
    CAPTURE(name);
    CHECK(series.contains(name));
  }
  CHECK_FALSE(series.contains("host-x1"));
  CHECK(plan.findings.empty());
  for (const Point& each : plan.points) {
    if (is_loaded(each)) continue;
    const Shape shape = Shape::of(each);
    CHECK(shape.work_items <= 1024);
    CHECK(shape.lines_per_round() * 2 <= shape.lines());
    CHECK((shape.lines() & (shape.lines() - 1)) == 0);
  }
}

TEST_CASE("groups of devices go to 1024, by 4 sub-groups beyond 256, of a first look to 256") {
  const auto items_of = [](const DeviceInfo& device, Effort effort) {
    Request request;
    request.effort = effort;
    std::set<std::uint64_t> items;
    for (const Point& each : probe.plan(device, request).points) {
      if (each.series == "cache-x1") items.insert(Shape::of(each).work_items);
    }
    return items;
  };
  const std::set<std::uint64_t> usual = items_of(gpu(), Effort::normal);
  CHECK(*usual.rbegin() == 1024);
  CHECK(usual.contains(248));
  CHECK(usual.contains(256));
  CHECK(std::vector<std::uint64_t>(usual.upper_bound(256), usual.upper_bound(640)) ==
        std::vector<std::uint64_t>{384, 512, 640});
  CHECK(*items_of(gpu(), Effort::quick).rbegin() == 256);
  CHECK(items_of(gpu(), Effort::thorough).size() == 512);
  DeviceInfo simulated = gpu();
  simulated.type = DeviceType::simulated;
  CHECK(items_of(simulated, Effort::normal).contains(264));
}

TEST_CASE("CPUs have no curves, and it is said why") {
  const Plan plan = probe.plan(cpu(), {});
  CHECK(series_of(plan) ==
        std::set<std::string>{"cache-chains", "memory-chains", "loaded-latency", "loaded-traffic"});
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings.front().name == "limit");
  CHECK_FALSE(plan.findings.front().reason.empty());
  for (const Point& each : plan.points) {
    if (!is_loaded(each)) CHECK(Shape::of(each).work_items == 1);
    CHECK(each.facts.integer_or(visited_often, 1) == (is_loaded(each) ? 1 : 2));
    // A buffer of 256 KiB fits a CPU core's L2 cache even if other programs use part of the cache.
    if (each.series == "cache-chains") CHECK(Shape::of(each).lines() * 64 == 256 << 10);
  }
  Request quick;
  quick.effort = Effort::quick;
  for (const Point& each : probe.plan(cpu(), quick).points) {
    CHECK_FALSE(each.facts.find(visited_often) != nullptr);
  }
  for (const Point& each : probe.plan(gpu(), {}).points) {
    CHECK_FALSE(each.facts.find(visited_often) != nullptr);
  }
}

TEST_CASE("without a clock chains alone are measured, and it is said why") {
  DeviceInfo blind = gpu();
  blind.timer = Timer::event;
  const Plan plan = probe.plan(blind, {});
  CHECK(series_of(plan) == std::set<std::string>{"cache-chains", "memory-chains"});
  REQUIRE(plan.findings.size() == 2);
  CHECK(plan.findings[0].name == "limit");
  CHECK(plan.findings[1].name == "memory_parallelism");
  for (const Finding& each : plan.findings) CHECK(each.reason.find("clock") != std::string::npos);
}

TEST_CASE("--series narrows the plan, and a word of another probe leaves nothing") {
  const auto of = [](std::vector<std::string> words) {
    Request request;
    request.series = std::move(words);
    return probe.plan(gpu(), request);
  };
  CHECK(series_of(of({"chains"})) == std::set<std::string>{"cache-chains", "memory-chains"});
  CHECK(series_of(of({"loaded"})) == std::set<std::string>{"loaded-latency", "loaded-traffic"});
  const std::set<std::string> curves = series_of(of({"thread-latency"}));
  CHECK(curves.contains("overhead"));
  CHECK(curves.contains("memory-x8"));
  CHECK_FALSE(curves.contains("cache-chains"));
  const Plan other = of({"global"});
  CHECK(other.points.empty());
  CHECK(other.findings.empty());
}

TEST_CASE("streams and the chase together keep to the memory that is allowed") {
  Request request;
  request.max_memory = mebibytes(64);
  for (const Point& each : probe.plan(gpu(), request).points) {
    if (!is_loaded(each)) continue;
    const LoadedShape shape = LoadedShape::of(each);
    CHECK(2 * each.facts.integer("buffer_bytes") <= 64 << 20);
    CHECK(shape.vectors() * 16 == static_cast<std::uint64_t>(each.facts.integer("buffer_bytes")));
    CHECK(shape.items <= 256);
  }
}

TEST_CASE("all that the probe holds keeps to --max-memory, and its parts are counted") {
  for (const DeviceInfo& device : {gpu(), cpu()}) {
    for (const Bytes most : {mebibytes(1), mebibytes(3), mebibytes(64), mebibytes(512)}) {
      for (const std::vector<std::string>& targets :
           {std::vector<std::string>{}, {"memory"}, {"cache", "memory", "host"}}) {
        Request request = asking({}, {}, {}, targets);
        request.max_memory = most;
        const Plan plan = probe.plan(device, request);
        REQUIRE_FALSE(plan.points.empty());
        std::map<std::string, std::int64_t> buffers;
        for (const Point& each : plan.points) {
          const std::int64_t bytes = each.facts.integer("buffer_bytes");
          buffers[each.parameters.text("target")] = bytes;
          if (is_loaded(each)) buffers["streams"] = bytes;
        }
        std::int64_t all = 0;
        for (const auto& [name, bytes] : buffers) all += bytes;
        CAPTURE(most.count);
        CHECK(plan.memory <= most);
        CHECK(plan.memory.count > static_cast<std::uint64_t>(all));
      }
    }
  }
}

TEST_CASE("buffers are as large as ever where no memory is asked for") {
  std::map<std::string, std::int64_t> buffers;
  for (const Point& each : probe.plan(gpu(), {}).points) {
    buffers[each.parameters.text("target")] = each.facts.integer("buffer_bytes");
  }
  CHECK(buffers == std::map<std::string, std::int64_t>{{"cache", 4 << 20}, {"memory", 256 << 20}});
}

TEST_CASE("a CPU keeps a core for the chase, and one core is tried all the same") {
  for (const std::int64_t cores : {1, 2, 64}) {
    DeviceInfo device = cpu();
    device.compute_units = cores;
    for (const Point& each : probe.plan(device, {}).points) {
      if (!is_loaded(each)) continue;
      const LoadedShape shape = LoadedShape::of(each);
      CHECK(shape.items == 1);
      if (shape.groups > 0) {
        CHECK(shape.groups == static_cast<std::uint64_t>(std::max<std::int64_t>(1, cores - 1)));
      }
    }
  }
}

TEST_CASE("what is asked for is what is planned") {
  const Request request = asking({32, 64}, {2}, {1, 4}, {"memory"});
  const Plan plan = probe.plan(gpu(), request);
  CHECK(series_of(plan) == std::set<std::string>{"overhead", "memory-x2", "memory-x2-within-4",
                                                 "memory-x2-across-4", "memory-chains"});
  const auto planned = std::count_if(plan.points.begin(), plan.points.end(),
                                     [](const Point& each) { return each.series == "memory-x2"; });
  CHECK(planned == 2);
}

TEST_CASE("what a device can never do is refused in one line with the nearest choice") {
  CHECK(probe.check(gpu(), asking({64, 2048}, {}, {}, {})) ==
        "--work-items: 2048 exceeds the device's largest work-group; choose 1 to 1024");
  CHECK(probe.check(gpu(), asking({}, {}, {4096}, {})).starts_with("--mergers: 4096"));
  CHECK(probe.check(gpu(), asking({1024}, {16}, {32}, {"cache"})).empty());
}

TEST_CASE("the cycle of lines visits each line once and can be entered anywhere") {
  for (const std::uint32_t lines : {1U, 2U, 8U, 4096U}) {
    const LineCycle cycle{lines - 1};
    std::set<std::uint32_t> seen;
    std::uint32_t line = 0;
    for (std::uint32_t k = 0; k < lines; ++k) {
      CHECK(cycle.at(k) == line);
      seen.insert(line);
      line = cycle.after(line);
    }
    CHECK(seen.size() == lines);
    CHECK(line == 0);
  }
}

TEST_CASE("chains meet no line that a launch of more or fewer chains has read before them") {
  Shape shape;
  shape.kind = Kind::chains;
  shape.buffer_bytes = shape.line_bytes << 14U;
  std::set<std::uint32_t> read;
  std::uint64_t position = 0;
  std::uint64_t all = 0;
  for (const auto& [chains, hops] : {std::pair(1U, 128U),
                                     {16U, 1U},
                                     {16U, 128U},
                                     {4U, 128U},
                                     {8U, 31U},
                                     {1U, 128U},
                                     {64U, 100U},
                                     {2U, 128U}}) {
    shape.chains = chains;
    const std::uint64_t distance = shape.chain_distance(hops);
    for (std::uint32_t line : shape.chain_lines(position, distance)) {
      for (std::uint32_t hop = 0; hop < hops; ++hop) {
        read.insert(line);
        line = shape.cycle().after(line);
        ++all;
      }
    }
    position += shape.chain_positions(hops);
  }
  REQUIRE(position <= shape.lines());
  CHECK(read.size() == all);
  // The lines do not suffice for 64 chains of 1024 hops. The starts divide the cycle evenly, and
  // the next launch starts 1024 positions further.
  shape.chains = 64;
  CHECK(shape.chain_distance(1024) == (1U << 14U) / 64);
  CHECK(shape.chain_positions(1024) == 1024);
}

TEST_CASE("mergers share lines within a sub-group or across") {
  const Shape within = Shape::of(block(1, 4, MergerMode::within, 64));
  CHECK(within.line_index_of(0) == within.line_index_of(3));
  CHECK(within.line_index_of(3) != within.line_index_of(4));
  CHECK(within.lines_per_load() == 16);
  const Shape across = Shape::of(block(1, 2, MergerMode::across, 128));
  CHECK(across.line_index_of(5) == across.line_index_of(37));
  CHECK(across.line_index_of(5) != across.line_index_of(6));
  CHECK(across.line_index_of(5) != across.line_index_of(69));
  CHECK(across.lines_per_load() == 64);
}

TEST_CASE("the witness counts every load of every round") {
  const Shape one = Shape::of(block(1, 1, MergerMode::within, 2));
  const LineCycle cycle = one.cycle();
  // In rounds 0 and 1 two work-items load lines 6 to 9. The first word of each line is the number
  // of the next line.
  const std::uint64_t expected =
      std::uint64_t{cycle.after(6)} + cycle.after(7) + cycle.after(8) + cycle.after(9);
  CHECK(one.block_checksum(6, 1) == expected);
  CHECK(one.block_checksum(6, 2) > expected);
}

}  // namespace
}  // namespace clprobe::inflight
