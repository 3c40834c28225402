// SPDX-License-Identifier: Apache-2.0
// Checks the plans for several devices, and how their points are built and launched.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/compute/compute.hpp"
#include "probes/shared/plans_test.hpp"

namespace clprobe::compute {
namespace {

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.launch_timer = Timer::event;
  device.timer = Timer::clock;
  device.reported.set("double_fp_config", std::int64_t{63});
  return device;
}

DeviceInfo processor() {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.compute_units = 2;
  device.sub_group_size = 8;
  device.max_work_group_size = 4096;
  return device;
}

using Shapes = std::vector<Shape>;

Shapes of_unit(const Shapes& all) {
  Shapes found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [](const Shape& each) { return each.scope == Scope::unit; });
  return found;
}

/// Pairs of chains and sub-groups.
std::set<std::pair<int, int>> grid(const Shapes& all) {
  std::set<std::pair<int, int>> found;
  for (const Shape& each : of_unit(all)) found.emplace(each.chains, each.sub_groups);
  return found;
}

std::map<std::string, Shapes> planned(const DeviceInfo& device, const Request& request = {}) {
  return shapes_by_series<Shape>(probe.plan(device, request));
}

}  // namespace

TEST_CASE("compute: fma by chains and sub-groups, other operations alone and at the full rate") {
  const auto all = planned(gpu());
  CHECK(all.size() == 13);
  CHECK(grid(all.at("fma")).size() == 4 * 5);
  CHECK(grid(all.at("fma")).contains({8, 32}));
  CHECK(grid(all.at("add")) == std::set<std::pair<int, int>>{{1, 1}, {4, 8}});
  CHECK(grid(all.at("barrier")) == std::set<std::pair<int, int>>{{1, 1}, {1, 8}, {1, 32}});
  CHECK(all.at("barrier").size() == 3);
  Request thorough = with_effort(Effort::thorough);
  CHECK(grid(planned(gpu(), thorough).at("fma")).size() == 4 * 6);
  CHECK(grid(planned(gpu(), with_effort(Effort::quick)).at("fma")) == grid(all.at("add")));
}

TEST_CASE("compute: each operation runs once and twice the work on all compute units") {
  for (const DeviceInfo& device : {gpu(), processor()}) {
    for (const auto& each_series : planned(device)) {
      const Shapes& shapes = each_series.second;
      CAPTURE(each_series.first);
      if (each_series.first == "barrier") continue;
      std::map<int, int> works;
      for (const Shape& each : shapes) {
        if (each.scope == Scope::unit) continue;
        ++works[each.work];
        CHECK(each.timer == Timer::event);
      }
      CHECK(works.size() == 2);
      CHECK(works[1] == works[2]);
    }
  }
}

TEST_CASE("compute: a time limit drops the grid of fma before the last operation") {
  const Plan plan = probe.plan(gpu(), {});
  CHECK(plan.is_ordered);
  CHECK(plan.points.front().series == "fma");
  CHECK(plan.points.back().series == "fma");
  const auto last = std::find_if(plan.points.rbegin(), plan.points.rend(),
                                 [](const Point& each) { return each.series != "fma"; });
  CHECK(last->series == "barrier");
  CHECK(plan.points.rend() - last == 12 * 4 + 3);
}

TEST_CASE("compute: chains of a CPU have vectors, except for the latency") {
  const auto all = planned(processor());
  for (const auto& each_series : all) {
    const std::string& series = each_series.first;
    const Shapes& shapes = each_series.second;
    CAPTURE(series);
    CHECK(shapes.front() == Shape{});
    for (std::size_t i = 1; i < shapes.size(); ++i) {
      CHECK(shapes[i].width == (series == "double-fma" ? 8 : 16));
      CHECK(shapes[i].sub_groups == 1);
    }
  }
  CHECK(of_unit(all.at("fma")).size() == 5);
  CHECK(all.at("fma").size() == 5 + 4);
  CHECK(all.at("add").size() == 2 + 2);
}

TEST_CASE("compute: a driver that makes vectors of work-items gets 16 of them instead") {
  DeviceInfo device = processor();
  device.isa = "spir";
  const Shapes shapes = planned(device).at("fma");
  CHECK(shapes.size() == 2 + 2);
  CHECK(shapes[0] == Shape{});
  CHECK(shapes[1] == Shape{.chains = 4, .lanes = 16});
  CHECK(launch_size(device, shapes[2]).group == 16);
  CHECK(launch_size(device, shapes[2]).items == 2 * 8 * 16);
  CHECK(steps_of(device, operation_of("fma"), 4) == 2);
  device.max_work_group_size = 8;
  CHECK(launch_size(device, shapes[2]).group == 8);
}

TEST_CASE("compute: what a device does not have has a reason") {
  DeviceInfo device = gpu();
  device.reported.set("double_fp_config", std::int64_t{0});
  const auto reasons = [](const Plan& plan) {
    std::map<std::string, std::string> found;
    for (const Finding& each : plan.findings) found[each.series] = each.reason;
    return found;
  };
  CHECK(reasons(probe.plan(device, {})) ==
        std::map<std::string, std::string>{
            {"double-fma", "the device does not support doubles"},
            {"half-fma", "the device does not support cl_khr_fp16"},
            {"dot-product", "the device does not support cl_khr_integer_dot_product"},
            {"matrix-half",
             "only NVIDIA's matrix units, from compute capability 8.0, are measured"}});
  device.reported.set("extensions", std::string("cl_khr_fp16x cl_khr_integer_dot_product"));
  CHECK(reasons(probe.plan(device, {})).size() == 3);
  device.reported.set("nv_compute_capability_major", std::int64_t{8});
  CHECK(planned(device).at("matrix-half").front().width == 4);
  device.reported.set("extensions", std::string("cl_khr_fp16"));
  CHECK(planned(device).at("half-fma").front().width == 2);
  device.type = DeviceType::simulated;
  const Plan simulated = probe.plan(device, {});
  CHECK(simulated.points.empty());
  CHECK(simulated.memory.count == 0);
  CHECK(simulated.findings.size() == 16);
  CHECK(reasons(simulated).contains("barrier"));
  Request request;
  request.series = {"add"};
  CHECK(probe.plan(device, request).findings.size() == 1);
}

TEST_CASE("compute: chains and sub-groups that were asked for") {
  Request request;
  request.series = {"mul"};
  request.own.set("chains", std::vector<int>{2, 3});
  request.own.set("sub-groups", std::vector<int>{4, 16});
  const Shapes shapes = planned(gpu(), request).at("mul");
  CHECK(grid(shapes) == std::set<std::pair<int, int>>{{1, 1}, {2, 4}, {2, 16}, {3, 4}, {3, 16}});
  for (const Shape& each : shapes) {
    if (each.scope == Scope::device) CHECK(each.chains == 3);
  }
  CHECK(probe.check(gpu(), request).empty());
  request.own.set("sub-groups", std::vector<int>{33});
  CHECK(probe.check(gpu(), request) ==
        "--sub-groups: 33 sub-groups of 32 work-items exceed the maximum of 1024 work-items per "
        "work-group; choose 1 to 32");
}

TEST_CASE("compute: a device of small work-groups has fewer sub-groups") {
  DeviceInfo device = gpu();
  device.max_work_group_size = 64;
  CHECK(grid(planned(device).at("add")) == std::set<std::pair<int, int>>{{1, 1}, {4, 2}});
  device.sub_group_size = 1;  // unknown: 32 is usual
  CHECK(planned(device).at("add").front().lanes == 32);
  device.max_work_group_size = 1;
  CHECK(planned(device).at("add").front().lanes == 1);
}

TEST_CASE("compute: how points are launched and built") {
  const Operation& fma = operation_of("fma");
  const Operation& cosine = operation_of("native-cos");
  const Shape alone{.lanes = 32};
  CHECK(launch_size(gpu(), alone).items == 32);
  CHECK(build_options(gpu(), fma, alone) == "-DOPERATION=OP_FMA -DCHAINS=1 -DWIDTH=1 -DSTEPS=1024");
  const Shape full{.chains = 4, .sub_groups = 32, .lanes = 32};
  CHECK(launch_size(gpu(), full).group == 1024);
  CHECK(build_options(gpu(), fma, full) ==
        "-DOPERATION=OP_FMA -DCHAINS=4 -DWIDTH=1 -DSTEPS=256 -DGROUP=1024");
  const Shape all{.scope = Scope::device, .chains = 4, .work = 2};
  CHECK(launch_size(gpu(), all).group == 256);
  CHECK(launch_size(gpu(), all).items == 132 * 2048);
  CHECK(build_options(gpu(), cosine, all) == "-DOPERATION=OP_COS -DCHAINS=4 -DWIDTH=1 -DSTEPS=64");
  CHECK(launch_size(processor(), all).group == 1);
  CHECK(launch_size(processor(), all).items == 16);
  CHECK(steps_of(processor(), fma, 8) == 16);
  CHECK(steps_of(processor(), cosine, 8) == 2);
  // Of 1024 steps, 3 chains have 256 each: a power of two.
  CHECK(steps_of(gpu(), fma, 3) == 256);
  CHECK(max_iterations_of(16) == 60000);
  CHECK(max_iterations_of(512) == 16384);
}

}  // namespace clprobe::compute
