// SPDX-License-Identifier: Apache-2.0
// Kernels that wait for a unit: their points, the addresses of their stores, and their findings
// from times whose causes are known.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "probes/shared/fields.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/stalls/cases/wait_for_one.hpp"
#include "probes/stalls/points_test.hpp"

namespace clprobe::stalls {
namespace {

constexpr std::string_view requests = "memory structural: serial requests";
constexpr std::string_view buffer = "memory structural: full store buffer";
constexpr std::string_view pending = "memory structural: pending release";

/// Gate that suppresses all stores of a launch.
constexpr std::uint32_t closed = 0xffffffff;

std::set<std::string> cases_planned(const Request& request) {
  std::set<std::string> cases;
  for (const Point& point : probe.plan(gpu(), request).points) {
    cases.insert(point.parameters.text("case"));
  }
  return cases;
}

/// Returns the indices of all words that 32 lanes store to in one block.
std::multiset<std::uint32_t> places_of(const wait_for_one::Arguments& arguments) {
  std::multiset<std::uint32_t> places;
  for (std::uint32_t lane = 0; lane < line_words; ++lane) {
    for (std::uint32_t turn = 0; turn < 4 * arguments.mix.stores; ++turn) {
      places.insert(index_of(arguments, {.row = 3, .lane = lane, .iteration = 5, .turn = turn}));
    }
  }
  return places;
}

TEST_CASE("cases that wait for a unit run where they are named, and where time is given") {
  const std::set<std::string> usual = cases_planned({});
  CHECK(usual.size() == 9);
  CHECK_FALSE(usual.contains("release"));
  Request thorough;
  thorough.effort = Effort::thorough;
  CHECK(cases_planned(thorough).size() == all_cases().size());
  Request named;
  named.own.set("case", std::vector<std::string>{"release", "barrier"});
  CHECK(cases_planned(named) == std::set<std::string>{"barrier", "release"});
  CHECK(probe.options.front().details.ends_with(
      "Default: all with --thorough, otherwise all except `uncoalesced-loads`, "
      "`uncoalesced-stores`, `store-bound`, "
      "`release`, `function-unit`."));
}

TEST_CASE("lanes that are a line apart and lanes side by side take the same words of a block") {
  const std::vector<Point> points = plan_of({"uncoalesced-stores"}).points;
  const auto apart = wait_for_one::Arguments::of(wait_for_one::uncoalesced_stores, points.front());
  REQUIRE(apart.lane_stride == 32);
  auto together = apart;
  std::swap(together.lane_stride, together.turn_stride);
  const auto places = places_of(apart);
  CHECK(places == places_of(together));
  CHECK(std::set(places.begin(), places.end()).size() == wait_for_one::block_words);
  CHECK(*places.rbegin() - *places.begin() + 1 == wait_for_one::block_words);
  // The 32 lanes of one store access one line, or 32 lines.
  const auto lines_of = [](const wait_for_one::Arguments& arguments) {
    std::set<std::uint32_t> lines;
    for (std::uint32_t lane = 0; lane < line_words; ++lane) {
      lines.insert(index_of(arguments, {.lane = lane, .turn = 7}) / line_words);
    }
    return lines.size();
  };
  CHECK(lines_of(apart) == 32);
  CHECK(lines_of(together) == 1);
}

TEST_CASE("rows store into blocks of their own, of main memory or of what caches hold") {
  const auto check = [](const wait_for_one::Mix& mix, std::uint64_t bytes, std::uint32_t blocks) {
    CAPTURE(mix.name);
    const Point usual = plan_of({std::string(mix.name)}).points.front();
    const auto arguments = wait_for_one::Arguments::of(mix, usual);
    CHECK(arguments.stored_bytes() == bytes);
    CHECK(wait_for_one::memory_of(mix, usual).copies == bytes);
    CHECK(arguments.row_blocks == blocks);
    std::set<std::uint32_t> places;
    const std::uint32_t rows = shape_of<wait_for_one::Shape>(usual).rows();
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t i = 0; i < arguments.row_blocks; ++i) {
        const std::uint32_t place = index_of(arguments, {.row = row, .iteration = i});
        CHECK(place < bytes / 4);
        places.insert(place);
      }
    }
    CHECK(places.size() == std::size_t{rows} * arguments.row_blocks);
    // The iteration after the last block starts again at the first block.
    CHECK(index_of(arguments, {.row = 1, .iteration = arguments.row_blocks}) ==
          index_of(arguments, {.row = 1}));
  };
  check(wait_for_one::store_bound, mebibytes(256).count, 31);
  check(wait_for_one::release, mebibytes(4).count, 1);
  CHECK(wait_for_one::Arguments::of(wait_for_one::function_unit,
                                    plan_of({"function-unit"}).points.front())
            .stored_bytes() == 0);
}

TEST_CASE("a place says what is stored there, and no word opens or closes the gate") {
  CHECK(wait_for_one::stored_word(7, 1) != wait_for_one::stored_word(7, 2));
  CHECK(wait_for_one::stored_word(7, 1) != wait_for_one::stored_word(8, 1));
  for (const std::uint32_t place : {0U, 7U, ~mixed(1), ~mixed(1) ^ (1U << 31U)}) {
    CHECK(wait_for_one::stored_word(place, 1) < 1U << 31U);
  }
  for (const Point& point : plan_of({"store-bound"}).points) {
    const auto arguments = wait_for_one::Arguments::of(wait_for_one::store_bound, point);
    CHECK(arguments.gate == (has_cause(point, Cause::store_buffer) ? 0 : closed));
  }
}

TEST_CASE("special functions come to small whole numbers, as do multiplications instead of them") {
  wait_for_one::Arguments arguments;
  arguments.mix.functions = 1;
  arguments.is_special = true;
  constexpr std::uint32_t whole = 0x4b000000;
  // 0, 1 or all 4 of the four chains begin with 2^64. A chain that begins with 2^64 results in 2,
  // any other chain in 1/2. The sum is doubled.
  for (const auto& [state, special, cheap] :
       {std::tuple{0U, 4U, 0U}, std::tuple{1U << 30U, 7U, 2U}, std::tuple{15U << 27U, 16U, 8U}}) {
    std::uint32_t near = state;
    arguments.is_special = true;
    CHECK(structural_work(arguments, 0, near) == whole + special);
    CHECK(near == next_state(state));
    CHECK(arguments.function_scale() == 2.0F);
    near = state;
    arguments.is_special = false;
    CHECK(structural_work(arguments, 0, near) == whole + cheap);
  }
  // Six multiplications by 1/2, of four chains that begin with 2^64, and the scale.
  const float large = 4 * 0x1p64F * 0x1p-6F;
  CHECK(large * arguments.function_scale() == 8.0F);
  CHECK(wait_for_one::halving == 0.5F);
}

TEST_CASE("a fence is refused where no version of OpenCL has it") {
  DeviceInfo device = gpu();
  const auto options_of = [&](const wait_for_one::Mix& mix) {
    return wait_for_one::options_of(mix, device, Point{});
  };
  const auto option = [&] {
    return options_of(wait_for_one::release).substr(std::string_view("-DPART=0").size());
  };
  device.isa = "spir";
  device.version = "OpenCL 1.2 pocl";
  CHECK(wait_for_one::find_fence_problem(device) ==
        "OpenCL 1.2 has no fence that makes a work-item's stores visible to the whole device");
  CHECK(option() == " -DSTRUCTURAL=2");
  device.version = "OpenCL 2.1 AMD-APP";
  CHECK(wait_for_one::find_fence_problem(device).empty());
  CHECK(option() == " -cl-std=CL2.0 -DSTRUCTURAL=2");
  device.version = "OpenCL 3.0 PoCL";
  CHECK(wait_for_one::find_fence_problem(device).empty());
  CHECK(option() == " -cl-std=CL3.0 -DSTRUCTURAL=2");
  device.isa = "nvptx";
  device.version = "OpenCL 1.2 CUDA";
  CHECK(wait_for_one::find_fence_problem(device).empty());
  CHECK(option() == " -DSTRUCTURAL=2");
  CHECK(options_of(wait_for_one::store_bound) == "-DPART=0 -DSTRUCTURAL=1");
  CHECK(options_of(wait_for_one::barrier) == "-DPART=0");
}

TEST_CASE("what delays stores has all of its cost, and stores what they cost without it") {
  std::vector<Point> points = plan_of({"release", "uncoalesced-stores"}).points;
  for (Point& point : points) {
    const bool is_release = point.series == "release";
    // `release` has no loads, so none of its causes removes the 100 ns.
    const bool waits = is_release || has_cause(point, Cause::second_cache);
    double ns = 100.0 + (waits ? 100.0 : 0.0);
    // Scattered lanes and fences delay stores only in builds that have stores.
    if (has_cause(point, Cause::store_buffer)) {
      ns += 200.0;
      if (has_cause(point, is_release ? Cause::release : Cause::serial_requests)) ns += 600.0;
    }
    if (crowd_of(point) > 0) ns = 4 * 60.0;
    set_time(point, ns);
  }
  const Findings found = analyse(gpu(), points);
  for (const auto& [series, label] :
       {std::pair{std::string_view("release"), pending},
        std::pair{std::string_view("uncoalesced-stores"), requests}}) {
    CHECK(value_of(found, "stall", series, label) == doctest::Approx(0.6).epsilon(0.01));
    CHECK(value_of(found, "stall", series, buffer) == doctest::Approx(0.2).epsilon(0.02));
    const double l2 = series == "release" ? 0.0 : 0.1;
    if (l2 > 0.0) {
      CHECK(value_of(found, "stall", series, "memory data: L2") ==
            doctest::Approx(l2).epsilon(0.02));
    }
    CHECK(value_of(found, "stall", series, "no stall: issue") ==
          doctest::Approx(0.06).epsilon(0.02));
    CHECK(value_of(found, "stall", series, "unattributed") ==
          doctest::Approx(0.14 - l2).epsilon(0.03));
    const Finding* const first = find(found, "first_cause", series, label);
    REQUIRE(first != nullptr);
    CHECK(*first->value == doctest::Approx(0.6 / (0.8 + l2)).epsilon(0.02));
    CHECK(*first->low <= *first->value);
    CHECK(*first->high >= *first->value);
  }
}

TEST_CASE(
    "a function unit that takes nothing more is compute structural, and noise fits beside it") {
  std::vector<Point> points = plan_of({"function-unit", "uncoalesced-loads"}).points;
  for (Point& point : points) {
    const bool is_loads = point.series == "uncoalesced-loads";
    double ns = 200.0 + (has_cause(point, Cause::second_cache) ? 100.0 : 0.0);
    const Cause cause = is_loads ? Cause::serial_requests : Cause::function_unit;
    if (has_cause(point, cause)) ns += 700.0;
    // The kernel `uncoalesced-loads` keeps the load/store unit busy, so loads from caches add their
    // whole time.
    if (is_loads && point.parameters.text_or("noise", "") == "cache") {
      ns += 500.0 * static_cast<double>(point.parameters.integer("noise_amount"));
    }
    set_time(point, ns);
  }
  const Findings found = analyse(gpu(), points);
  CHECK(value_of(found, "stall", "function-unit", "compute structural") ==
        doctest::Approx(0.7).epsilon(0.01));
  CHECK(find(found, "noise", "function-unit")->label == "agree");
  CHECK(value_of(found, "stall", "uncoalesced-loads", requests) ==
        doctest::Approx(0.7).epsilon(0.01));
  CHECK(find(found, "noise", "uncoalesced-loads")->label == "agree");
  CHECK(value_of(found, "absorbed", "uncoalesced-loads", "cache") < 0.05);
}

}  // namespace
}  // namespace clprobe::stalls
