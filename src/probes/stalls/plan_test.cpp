// SPDX-License-Identifier: Apache-2.0
// Points that `stalls` plans on devices, and the results that its kernels must compute.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/cases/copy.hpp"
#include "probes/stalls/cases/search.hpp"
#include "probes/stalls/cases/wait_for_one.hpp"
#include "probes/stalls/points_test.hpp"

namespace clprobe::stalls {
namespace {

constexpr std::array mixes{&wait_for_one::memory_bound,      &wait_for_one::latency_bound,
                           &wait_for_one::bank_conflicts,    &wait_for_one::barrier,
                           &wait_for_one::dependency_chain,  &wait_for_one::divergence,
                           &wait_for_one::uncoalesced_loads, &wait_for_one::uncoalesced_stores,
                           &wait_for_one::store_bound,       &wait_for_one::release,
                           &wait_for_one::function_unit};

wait_for_one::Arguments arguments_of(const wait_for_one::Mix& mix, const Point& point) {
  return wait_for_one::Arguments::of(mix, point);
}

TEST_CASE("every case has all sets of its causes once, and noise that begins with none") {
  for (const auto* const mix : mixes) {
    CAPTURE(mix->name);
    const Plan planned = plan_of({std::string(mix->name)});
    std::set<std::int64_t> sets;
    std::map<std::string, std::set<std::int64_t>> noise;
    std::size_t factors = 0;
    for (const Point& point : planned.points) {
      CHECK(point.series == mix->name);
      const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
      factors = causes.size();
      CHECK(std::find(causes.begin(), causes.end(), mix->built_for) != causes.end());
      const std::string kind = point.parameters.text_or("noise", "");
      if (!point.parameters.text_or("phase", "").empty()) continue;
      if (crowd_of(point) > 0) continue;
      if (kind.empty()) {
        CHECK(sets.insert(point.parameters.integer("idealised")).second);
      } else {
        CHECK(noise[kind].insert(point.parameters.integer("noise_amount")).second);
      }
    }
    CHECK(factors <= max_factors);
    // Main memory must be removed before the second-level cache, so three of the four sets of these
    // two causes exist. Similarly, a delay of stores must be removed before the stores themselves,
    // so three of four sets exist.
    const bool delays_stores = mix->is_scattered || mix->has_fence;
    const bool is_nested = mix->far_loads != 0 || (mix->stores != 0 && delays_stores);
    CHECK(sets.size() == (std::size_t{1} << factors) * (is_nested ? 3 : 4) / 4);
    CHECK(*sets.rbegin() + 1 == std::int64_t{1} << factors);
    CHECK(noise.size() == std::size(all_noise));
    for (const auto& [kind, amounts] : noise) {
      CHECK(amounts.size() >= 3);
      CHECK(*amounts.begin() == 0);
    }
  }
}

TEST_CASE("taking a cause away changes its arguments alone, and never how much is done") {
  for (const auto* const mix : mixes) {
    CAPTURE(mix->name);
    const std::vector<Point> points = plan_of({std::string(mix->name)}).points;
    const auto usual = arguments_of(*mix, points.front());
    for (const Point& point : points) {
      if (!point.parameters.text_or("noise", "").empty()) continue;
      const auto shape = arguments_of(*mix, point);
      const auto crowd = static_cast<std::uint32_t>(point.parameters.integer_or(crowd_name, 1));
      CHECK(shape.shape.groups == usual.shape.groups * crowd);
      CHECK(shape.shape.work_items == usual.shape.work_items);
      CHECK(shape.mix.tile_loads == mix->tile_loads);
      CHECK(shape.turn_mask == usual.turn_mask);
      CHECK(shape.load_mask == usual.load_mask);
      // A launch with more groups has more rows, which store to more blocks.
      CHECK((crowd > 1 || shape.store_mask == usual.store_mask));
      const auto set = point.parameters.integer("idealised");
      CHECK((set == 0) ==
            (shape.far_mask == usual.far_mask && shape.near_mask == usual.near_mask &&
             shape.mix.tile_stride == usual.mix.tile_stride && shape.is_chain == usual.is_chain &&
             shape.turn_shift == usual.turn_shift &&
             shape.mix.has_barrier == usual.mix.has_barrier &&
             shape.lane_stride == usual.lane_stride && shape.gate == usual.gate &&
             shape.mix.has_fence == usual.mix.has_fence && shape.is_special == usual.is_special));
    }
  }
}

TEST_CASE(
    "a GPU's units are filled with groups that have nothing left to wait for; a CPU's cores not") {
  for (const auto* const mix : mixes) {
    CAPTURE(mix->name);
    const auto crowds = [&](const DeviceInfo& device) {
      const std::vector<Point> points = plan_of({std::string(mix->name)}, device).points;
      return std::count_if(points.begin(), points.end(),
                           [](const Point& each) { return crowd_of(each) > 0; });
    };
    CHECK(crowds(gpu()) == 1);
    DeviceInfo cpu = gpu();
    cpu.type = DeviceType::cpu;
    CHECK(crowds(cpu) == 0);
    // All groups of a compute unit run at once and fill its four schedulers with at least four
    // sub-groups of 32 work-items each.
    const std::uint32_t items = mix->groups_per_unit * mix->crowd * mix->work_items;
    CHECK(items >= 512);
    CHECK(items <= 1024);
  }
}

TEST_CASE("noise is made beside as many work-items as the kernel has without it") {
  for (const auto* const mix : mixes) {
    CAPTURE(mix->name);
    const std::vector<Point> points = plan_of({std::string(mix->name)}).points;
    const auto workers_of = [](const Point& point) {
      return point.parameters.integer("groups") * point.parameters.integer("workers");
    };
    CHECK(workers_of(points.back()) == workers_of(points.front()));
  }
}

TEST_CASE("a GPU of 132 units loads from memory that no cache holds, and tells its caches apart") {
  const Plan planned = plan_of({"memory-bound"});
  const auto shape = arguments_of(wait_for_one::memory_bound, planned.points.front());
  CHECK(wait_for_one::memory_of(wait_for_one::memory_bound, planned.points.front()).data ==
        mebibytes(512).count);
  CHECK(std::uint64_t{shape.far_mask} + 1 == mebibytes(512).count / 128);
  CHECK(shape.near_mask + 1 == mebibytes(2).count / 128);
  CHECK(shape.turn_shift == 5);
  CHECK_FALSE(arguments_of(wait_for_one::memory_bound, planned.points.back()).far_mask == 0);
  CHECK(arguments_of(wait_for_one::barrier, plan_of({"barrier"}).points.front()).turn_mask == 7);
  CHECK(arguments_of(wait_for_one::divergence, plan_of({"divergence"}).points.front()).turn_shift ==
        0);
}

TEST_CASE("what cannot be told apart is one cause with that name") {
  Request request;
  request.own.set("case", std::vector<std::string>{"latency-bound", "implicit"});
  request.max_memory = mebibytes(8);
  const Plan planned = probe.plan(gpu(), request);
  CHECK(planned.points.size() > 20);
  for (const Point& point : planned.points) {
    const std::string factors = point.parameters.text("factors");
    CHECK(factors.find("beyond-first") != std::string::npos);
    CHECK(factors.find("main-memory") == std::string::npos);
    CHECK(factors.find("second-cache") == std::string::npos);
    CHECK(point.parameters.integer("far_bytes") <= 8 << 20);
  }
  CHECK(label_of(Cause::beyond_first) == "memory data: L2 or main memory");
}

TEST_CASE("a tiny device is planned for, too") {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.compute_units = 1;
  device.sub_group_size = 1;
  device.max_work_group_size = 1;
  device.global_memory = mebibytes(1);
  device.max_allocation = kibibytes(256);
  device.timer = Timer::host;
  device.launch_timer = Timer::host;
  for (const Point& point : probe.plan(device, {}).points) {
    CHECK(point.parameters.text("timer") == "host");
    // A group of one work-item has no second work-item that could make noise.
    CHECK(point.parameters.text_or("noise", "").empty());
    CHECK(point.parameters.text_or("phase", "").empty());
    CHECK(point.parameters.integer_or("far_bytes", 0) <= 256 << 10);
  }
}

TEST_CASE("work-items of a row load the same lines, and a chase follows what it loads") {
  wait_for_one::Arguments arguments{};
  arguments.shape.work_items = arguments.shape.workers = 64;
  arguments.mix = {.far_loads = 1, .is_chase = true, .tile_loads = 0, .chain_steps = 0};
  arguments.far_mask = 0xff;
  arguments.turn_mask = 7;
  // The results of two launches differ only because `far` depends on the launch's number.
  const std::uint32_t one = result_of(arguments, 1, 3, 0, 5);
  CHECK(one != result_of(arguments, 2, 3, 0, 5));
  CHECK(one != result_of(arguments, 1, 4, 0, 5));
  // Items 5 and 6 are in one row, so the loads of `far` add equal values to the results of items 5
  // and 6. Item 37 is in another row.
  wait_for_one::Arguments masked = arguments;
  masked.far_mask = 0;
  CHECK(one - result_of(masked, 1, 3, 0, 5) ==
        result_of(arguments, 1, 3, 0, 6) - result_of(masked, 1, 3, 0, 6));
  CHECK(one - result_of(masked, 1, 3, 0, 5) !=
        result_of(arguments, 1, 3, 0, 37) - result_of(masked, 1, 3, 0, 37));
}

TEST_CASE("a tail is the mean wait for the last end, by the clock that its parts share") {
  // Two groups of two parts each. The own clock of the second group is almost 5000 ticks ahead of
  // the clock that all groups share.
  const std::vector<Stamp> stamps{
      {.began = 10, .ended = 110, .waited = 20, .shared_began = 10, .shared_ended = 110},
      {.began = 30, .ended = 70, .waited = 0, .shared_began = 30, .shared_ended = 70},
      {.began = 5000, .ended = 5160, .waited = 80, .shared_began = 20, .shared_ended = 180},
      {.began = 5000, .ended = 5100, .waited = 20, .shared_began = 20, .shared_ended = 120}};
  CHECK(phase_ticks("span", stamps) == 170.0);
  CHECK(phase_ticks("tail", stamps) == (70.0 + 110.0 + 0.0 + 60.0) / 4);
  CHECK(phase_ticks("longest-tail", stamps) == 110.0);
  CHECK(phase_ticks("all", stamps) == (100.0 + 40.0 + 160.0 + 100.0) / 4);
  CHECK(phase_ticks("barrier", stamps) == 30.0);
  CHECK(phase_ticks("weather", stamps) == 0.0);
  CHECK(phase_ticks("span", {}) == 0.0);
  const Stamp one = merge_stamps(std::span(stamps).first(2));
  CHECK(one.began == 10);
  CHECK(one.ended == 110);
  CHECK(one.waited == 10);
}

TEST_CASE("a kernel on a CPU takes as long as the middle one of its groups") {
  DeviceInfo device = gpu();
  CHECK(timer_of_kernels(device) == device.launch_timer);
  device.type = DeviceType::cpu;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.clock.kind = ClockKind::cpu;
  CHECK(timer_of_kernels(device) == Timer::clock);
  for (const Point& point : plan_of({"barrier", "implicit"}, device).points) {
    CHECK(has_stamps(point));
    if (point.parameters.text("case") != "barrier") continue;
    CHECK(wait_for_one::options_of(wait_for_one::barrier, device, point).ends_with("-DSTAMPS=2"));
    CHECK(wait_for_one::memory_of(wait_for_one::barrier, point).stamps > 0);
  }
  // Without a clock that groups can read, launches are timed.
  device.clock.kind = ClockKind::khr_sub_group;
  CHECK(timer_of_kernels(device) == Timer::event);
  device.clock.kind = ClockKind::cpu;
  device.timer = Timer::host;
  CHECK(timer_of_kernels(device) == Timer::event);

  // Five groups. The third group shared its core with another process and took 288 ticks, almost
  // three times as long as the others.
  const std::vector<Stamp> groups{{.shared_began = 10, .shared_ended = 110},
                                  {.shared_began = 10, .shared_ended = 109},
                                  {.shared_began = 12, .shared_ended = 300},
                                  {.shared_began = 50, .shared_ended = 151},
                                  {.shared_began = 9, .shared_ended = 99}};
  CHECK(median_group_ticks(groups) == 100.0);
  CHECK(median_group_ticks({}) == 0.0);
}

TEST_CASE("a CPU, whose noise is but more work, has fewer amounts of it unless time is given") {
  const auto amounts_of = [](DeviceType type, Effort effort) {
    DeviceInfo device = gpu();
    device.type = type;
    std::set<std::int64_t> amounts;
    Request request;
    request.effort = effort;
    for (const Point& point : probe.plan(device, request).points) {
      if (!noise_of(point)) continue;
      amounts.insert(point.parameters.integer("noise_amount"));
    }
    return amounts;
  };
  const std::set<std::int64_t> few{0, 2, 8};
  const std::set<std::int64_t> all{0, 1, 2, 4, 8, 16};
  CHECK(amounts_of(DeviceType::gpu, Effort::quick) == few);
  CHECK(amounts_of(DeviceType::gpu, Effort::normal) == all);
  CHECK(amounts_of(DeviceType::gpu, Effort::thorough) == all);
  CHECK(amounts_of(DeviceType::cpu, Effort::quick) == few);
  CHECK(amounts_of(DeviceType::cpu, Effort::normal) == few);
  CHECK(amounts_of(DeviceType::cpu, Effort::thorough) == all);
}

TEST_CASE("a tree has the nodes that were asked for, each with one parent") {
  for (const std::uint32_t nodes : {1U, 2U, 65U, 1024U, 8192U}) {
    const search::Tree tree = search::make_tree(nodes, 7);
    CHECK(tree.nodes() == nodes);
    CHECK(tree.children.front() == 1);
    CHECK(tree.children.back() == nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::uint32_t count = tree.children[node + 1] - tree.children[node];
      CHECK(count <= (node == 0 ? 64U : 8U));
      CHECK(tree.children[node] > node);
    }
  }
  CHECK(search::make_tree(1024, 1).children == search::make_tree(1024, 1).children);
  CHECK(search::make_tree(1024, 1).children != search::make_tree(1024, 2).children);
  CHECK(search::search_result(search::make_tree(64, 1), 3) !=
        search::search_result(search::make_tree(64, 1), 4));
}

TEST_CASE("all ways to copy leave the same words, and those of a chunk come from its place") {
  std::vector<std::vector<std::uint32_t>> chunks;
  for (const Point& point : plan_of({"implicit"}).points) {
    if (point.parameters.integer("idealised") != 0) continue;
    const copy::Arguments shape = copy::Arguments::of(point);
    chunks.push_back(copy::copied_chunk(shape, 3, 11));
    CHECK(chunks.back() == chunks.front());
    CHECK(chunks.back() != copy::copied_chunk(shape, 4, 11));
    CHECK(chunks.back() != copy::copied_chunk(shape, 3, 12));
    // All groups that write a chunk of the target must write equal words. Therefore, the bits that
    // select the source chunk must be a subset of the bits that select the target chunk.
    CHECK((shape.from_mask & shape.to_mask) == shape.from_mask);
  }
  CHECK(chunks.size() >= 3);
}

TEST_CASE("cases are no probes, and are found by their names") {
  for (const Case& each : all_cases()) {
    CAPTURE(each.name);
    CHECK(find_probe(each.name) == nullptr);
    CHECK(find_case(each.name) == &each);
    CHECK(probe.options.front().details.find(each.what) != std::string_view::npos);
  }
  CHECK(all_cases().size() == 14);
  const bool is_found = find_case("") != nullptr || find_case("weather") != nullptr;
  CHECK_FALSE(is_found);
}

TEST_CASE("all memory of the probe together is what a person allows, or less") {
  // By default, no array is reduced to fit the memory limit: 512 MiB to load from, 256 MiB for
  // copies, and the blocks that 132 compute units store to.
  const Plan usual = plan_of({});
  CHECK(usual.points.front().parameters.integer("far_bytes") == std::int64_t{512} << 20);
  CHECK(usual.memory > mebibytes(768));
  CHECK(usual.memory < mebibytes(780));
  for (const Bytes most :
       {mebibytes(1), mebibytes(8), mebibytes(100), mebibytes(600), gibibytes(4)}) {
    CAPTURE(most.count);
    Request request;
    request.max_memory = most;
    const Plan plan = probe.plan(gpu(), request);
    CHECK(plan.memory <= most);
    CHECK(plan.memory.count > 0);
    CHECK_FALSE(plan.points.empty());
    // The queues of 132 groups need more than 4 MiB.
    CHECK(plan.findings.size() == (most < mebibytes(8) ? 1 : 0));
  }
  Request request;
  request.max_memory = kibibytes(16);
  const Plan none = probe.plan(gpu(), request);
  CHECK(none.points.empty());
  REQUIRE(none.findings.size() == 9);
  CHECK(none.findings.front().series == "memory-bound");
  CHECK(none.findings.front().reason.starts_with(
      "--max-memory: 16 KiB is too little; the kernels need at least"));
}

TEST_CASE("a simulated machine is for gsi") {
  DeviceInfo device = gpu();
  device.type = DeviceType::simulated;
  const Plan plan = probe.plan(device, {});
  CHECK(plan.points.empty());
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings.front().reason.find("gsi") != std::string::npos);
}

}  // namespace
}  // namespace clprobe::stalls
