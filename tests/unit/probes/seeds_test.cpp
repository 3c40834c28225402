// SPDX-License-Identifier: Apache-2.0
// How the experiments of the works that clprobe began with are made, as tests/seeds states it: on
// the simulator, and by what is planned. What they find is in docs/seeds.md, beside the works'
// numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/banks/runs_test.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {
namespace {

using simulator::Machine;
using simulator::Operation;
using WarpProgram = simulator::Program;
using simulator::Trace;

using Options = std::vector<std::pair<std::string_view, OptionValue>>;

Request asking(const Options& options, const std::vector<std::string>& series = {}) {
  Request request;
  request.series = series;
  for (const auto& [name, value] : options) request.own.set(name, value);
  return request;
}

std::vector<int> one_to(int last) {
  std::vector<int> all(static_cast<std::size_t>(last));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

/// What a probe plans for a simulated machine, as warp instructions.
std::vector<std::pair<Point, Trace>> traces_of(const char* probe, const char* preset,
                                               const Request& request) {
  const Machine machine = simulator::preset(preset);
  std::vector<std::pair<Point, Trace>> traces;
  for (Point& each : find_probe(probe)->plan(describe_device(machine), request).points) {
    const SimulatedWork work = find_probe(probe)->trace(machine, each);
    traces.emplace_back(std::move(each), work.trace(work.iterations));
  }
  return traces;
}

bool is_access(Operation operation) {
  return operation == Operation::load || operation == Operation::local_load ||
         operation == Operation::local_store;
}

/// The programs that read clocks: behind a barrier, and the last time behind all accesses.
void check_clocks(const WarpProgram& program) {
  const auto is_clock = [](const simulator::Instruction& each) {
    return each.operation == Operation::clock;
  };
  const auto first = std::find_if(program.begin(), program.end(), is_clock);
  const auto last = std::find_if(program.rbegin(), program.rend(), is_clock).base() - 1;
  REQUIRE(first != program.begin());
  CHECK((first - 1)->operation == Operation::barrier);
  CHECK(first != last);
  for (auto each = program.begin(); each != program.end(); ++each) {
    if (is_access(each->operation)) CHECK((first < each && each < last));
  }
}

}  // namespace

TEST_CASE("Lashgar: warps are 32 threads, a load of all of them is one instruction") {
  for (const char* const preset : {"fermi-m2070", "kepler-k20-pool", "kepler-k20-prt"}) {
    CAPTURE(preset);
    CHECK(simulator::preset(preset).core.warp_width == 32);
    const Request request = asking({{"work-items", std::vector<int>{32, 64}},
                                    {"loads", std::vector<int>{1}},
                                    {"target", std::vector<std::string>{"cache"}}},
                                   {"thread-latency"});
    for (const auto& [point, trace] : traces_of("inflight", preset, request)) {
      if (point.series != "cache-x1") continue;
      CHECK(point.parameters.integer("sub_group") == 32);
      const auto warps = static_cast<std::size_t>(point.parameters.integer("work_items") / 32);
      REQUIRE(trace.groups.size() == 1);
      CHECK(trace.groups.front().warps.size() == warps);
      for (const simulator::WarpWork& warp : trace.groups.front().warps) CHECK(warp.lanes == 32);
      const WarpProgram& program = trace.programs.front();
      CHECK(std::count_if(program.begin(), program.end(),
                          [](const auto& each) { return is_access(each.operation); }) == 1);
    }
  }
}

TEST_CASE("Lashgar: a line of 128 bytes for each thread, and 1 to 4 loads have a plot each") {
  const Request request =
      asking({{"target", std::vector<std::string>{"cache"}}}, {"thread-latency"});
  std::set<std::string> series;
  for (const auto& [point, trace] : traces_of("inflight", "fermi-m2070", request)) {
    series.insert(point.series);
    CHECK(point.parameters.integer("line_bytes") == 128);
    for (const simulator::Instruction& each : trace.programs.front()) {
      if (each.operation == Operation::load) CHECK(each.lanes.lane_step == 128);
    }
  }
  for (const char* const each : {"cache-x1", "cache-x2", "cache-x3", "cache-x4"}) {
    CHECK(series.contains(each));
  }
  CHECK(find_probe("inflight")->view.x == "work_items");
}

TEST_CASE("Okamoto: one block, its clock behind a barrier and behind the accesses") {
  const Request request = asking({{"word-size", std::vector<std::string>{"8"}}},
                                 {"load-latency", "load-throughput", "store-throughput"});
  for (const auto& each : traces_of("banks", "gtx-780-ti", request)) {
    CAPTURE(each.first.series);
    CHECK(each.second.groups.size() == 1);
    for (const WarpProgram& program : each.second.programs) check_clocks(program);
  }
}

TEST_CASE("Okamoto: no load keeps its value in a register: its address is the load before") {
  const Request request = asking({{"word-size", std::vector<std::string>{"8"}}}, {"load-latency"});
  for (const auto& [point, trace] : traces_of("banks", "gtx-780-ti", request)) {
    for (const simulator::Instruction& each : trace.programs.front()) {
      if (each.operation == Operation::local_load) CHECK(each.reads == each.writes);
    }
  }
}

TEST_CASE("Okamoto: w, l and k from 1 to 32, and all 32,768 of them") {
  const Request request =
      asking({{"sub-groups", one_to(32)}, {"instructions", one_to(32)}, {"ways", one_to(32)}},
             {"load-latency", "load-model"});
  std::vector<Point> points = banks::accesses_for(banks::gpu());
  banks::take_samples(points, {32, 4, 32});
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> all;
  for (const Point& each : find_probe("banks")->refine(banks::gpu(), request, points)) {
    all.emplace(each.parameters.integer("sub_groups"), each.parameters.integer("instructions"),
                each.parameters.integer("ways"));
  }
  CHECK(all.size() == 32768);
  CHECK(*all.begin() == std::tuple(1, 1, 1));
  CHECK(*all.rbegin() == std::tuple(32, 32, 32));
}

TEST_CASE("Okamoto: a mean is of 100 executions") { CHECK(banks::launches_of_model == 100); }

TEST_CASE("clmempatterns: 2^26 int by 2^20 threads in groups of 256, 64 elements each") {
  DeviceInfo device = banks::gpu();
  device.global_memory = gibibytes(8);
  device.max_allocation = gibibytes(2);
  const Request request = asking({{"elements", std::uint64_t{1} << 26U},
                                  {"grid", std::uint64_t{1} << 20U},
                                  {"work-group", std::uint64_t{256}},
                                  {"type", std::vector<std::string>{"int"}},
                                  {"vector", std::vector<std::string>{"1"}},
                                  {"operation", std::vector<std::string>{"read"}}});
  std::set<std::int64_t> strides;
  for (const Point& each : find_probe("stride")->plan(device, request).points) {
    CHECK(each.series == "read int");
    CHECK(each.parameters.integer("elements") == 1 << 26);
    CHECK(each.parameters.integer("grid") == 1 << 20);
    CHECK(each.parameters.integer("work_group") == 256);
    strides.insert(each.parameters.integer("stride_elements"));
  }
  CHECK(strides.size() == 21);
  CHECK(*strides.rbegin() == 1 << 20);
}

}  // namespace clprobe
