// SPDX-License-Identifier: Apache-2.0
// Tiles that are written by rows and read by columns: their layouts, their plan, and what is
// advised of their times.
#include "probes/banks/transpose.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "measure/api/engine.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/findings.hpp"
#include "probes/banks/runs_test.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::banks {
namespace {

Tile tile_of(Layout layout, int word_bytes = 4) {
  return {.layout = layout, .word_bytes = word_bytes, .side = 32, .sub_groups = 8};
}

/// Returns the result of the probe on a simulated machine.
ProbeResult simulated(const simulator::Machine& machine, const Request& request) {
  const std::unique_ptr<Backend> backend = simulated_backend(machine, request.seed);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host must not change the result
  budget.min_visits = 1;
  budget.max_visits = 1;
  return measure(*find_probe("banks"), *backend, request, budget, {});
}

constexpr std::array all_layouts{Layout::rows, Layout::padded, Layout::diagonal, Layout::shifted};

/// Returns the maximum number of ways over all rows of the tile, or over all columns if
/// `is_column`.
int max_ways(const Tile& tile, const Model& model, bool is_column) {
  const std::vector<std::uint32_t> places = offsets_of(tile);
  const auto side = static_cast<std::size_t>(tile.side);
  int max = 0;
  for (std::size_t a = 0; a < side; ++a) {
    std::vector<std::uint32_t> offsets;
    for (std::size_t b = 0; b < side; ++b) {
      offsets.push_back(places[is_column ? b * side + a : a * side + b]);
    }
    max = std::max(max, wavefronts_of(offsets, tile.word_bytes, model));
  }
  return max;
}

constexpr std::uint64_t local_bytes = std::uint64_t{1} << 16U;
constexpr std::uint64_t small_bytes = std::uint64_t{1} << 14U;

Plan planned(int lanes, std::int64_t max_work_group, int word_bytes, std::uint64_t room) {
  Plan plan;
  add_transpositions(lanes, max_work_group, word_bytes, room, plan);
  return plan;
}

/// Returns the points of all layouts with these times per access in cycles.
std::vector<Point> timed(const DeviceInfo& device, std::array<std::uint64_t, 4> cycles) {
  std::vector<Point> points = planned(32, device.max_work_group_size, 4, local_bytes).points;
  REQUIRE(points.size() == cycles.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    Sample sample{.accesses = 1000};
    sample.ticks = 1000 * cycles.at(i);
    points[i].samples = {sample, sample};
  }
  return points;
}

const Finding* named(const std::vector<Finding>& findings, std::string_view name) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& each) { return each.name == name; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("every layout keeps all words apart, within the local memory that is reserved") {
  for (const Layout layout : all_layouts) {
    for (const int word : {4, 8, 16}) {
      const Tile tile = tile_of(layout, word);
      const std::vector<std::uint32_t> places = offsets_of(tile);
      CHECK(std::set<std::uint32_t>(places.begin(), places.end()).size() == 32 * 32);
      CHECK(*std::max_element(places.begin(), places.end()) + static_cast<unsigned>(word) <=
            bytes_of(tile));
    }
  }
}

TEST_CASE("columns of plain rows meet in one bank, and those of other layouts do not") {
  for (const Model& model : {Model{32, 4, 32}, Model{32, 8, 32}}) {
    const int word = model.width_bytes;
    for (const Layout layout : all_layouts) {
      CHECK(max_ways(tile_of(layout, word), model, false) == 1);
    }
    CHECK(max_ways(tile_of(Layout::rows, word), model, true) == 32);
    CHECK(max_ways(tile_of(Layout::padded, word), model, true) == 1);
    CHECK(max_ways(tile_of(Layout::diagonal, word), model, true) == 1);
    const int shifted = max_ways(tile_of(Layout::shifted, word), model, true);
    CHECK(shifted > 1);
    CHECK(shifted < 6);
  }
}

TEST_CASE("a tile is as wide as a sub-group, and its rows are shared evenly") {
  for (const auto& [lanes, group] : {std::pair{32, 1024}, {64, 256}, {32, 128}, {8, 4096}}) {
    const Plan plan = planned(lanes, group, 4, local_bytes);
    REQUIRE(plan.points.size() == 4);
    for (const Point& point : plan.points) {
      const auto tile = shape_of<Tile>(point);
      CHECK(tile.side == lanes);
      CHECK(tile.side * tile.sub_groups <= group);
      CHECK(tile.rows_per_sub_group() * tile.sub_groups == tile.side);
      CHECK(tile.rows_per_sub_group() <= max_rows_per_sub_group);
    }
  }
  const auto reason_of = [](const Plan& plan) {
    CHECK(plan.points.empty());
    REQUIRE(plan.findings.size() == 1);
    return plan.findings.front().reason;
  };
  CHECK(reason_of(planned(32, 1024, 16, small_bytes)) ==
        "a tile of 32 x 32 words needs 16.5 KiB of local memory, more than is available");
  CHECK(reason_of(planned(64, 64, 4, local_bytes)) ==
        "a work-group of 64 work-items is too small for a tile of 64 rows");
}

TEST_CASE("all transpositions of a launch are an odd number, and the loops hold them") {
  for (const std::uint64_t iterations :
       {std::uint64_t{1}, std::uint64_t{2}, max_transpositions()}) {
    const std::uint64_t lead = lead_of_transpositions(iterations);
    CHECK(lead >= 1);
    CHECK((lead + iterations) % 2 == 1);
    CHECK(lead + iterations + 2 <= max_iterations);
  }
}

TEST_CASE("padding is advised where it pays, with both times, and nowhere else") {
  const std::vector<Finding> found = transpose_findings(gpu(), timed(gpu(), {20, 2, 4, 5}));
  REQUIRE(named(found, "transposition") != nullptr);
  CHECK(named(found, "transposition")->series == "transpose rows");
  CHECK(*named(found, "transposition")->value == doctest::Approx(20.0));
  const Finding* const advice = named(found, "advice");
  REQUIRE(advice != nullptr);
  CHECK(advice->label ==
        "If a kernel writes a tile of 32 x 32 words by rows and reads it by columns, pad each row "
        "by one word (2.00 cycles per access). Alternatively, rotate row r by r words (diagonal, "
        "4.00 cycles). The faster of the two is 10.0 times as fast as plain rows (20.0 cycles). "
        "Randomly shifted rows take 5.00 cycles.");
  CHECK(named(transpose_findings(gpu(), timed(gpu(), {10, 10, 11, 10})), "advice") == nullptr);
  std::vector<Point> some = timed(gpu(), {20, 2, 4, 5});
  some[1].samples.clear();
  CHECK(named(transpose_findings(gpu(), some), "advice") == nullptr);
}

TEST_CASE("simulated: columns of plain rows take 32 ways, and those of padded ones one") {
  Request request;
  request.series = {std::string(transpose_series)};
  for (const char* const name : {"kepler-k20-prt", "gtx-780-ti", "hopper-like"}) {
    CAPTURE(name);
    const simulator::Machine machine = simulator::preset(name);
    request.own.set("word-size",
                    std::vector<std::string>{std::to_string(machine.local.bank_bytes)});
    const ProbeResult result = simulated(machine, request);
    const auto time_of = [&](std::string_view series) {
      const auto found = std::find_if(
          result.findings.begin(), result.findings.end(),
          [&](const Finding& each) { return each.series == series && each.value.has_value(); });
      REQUIRE(found != result.findings.end());
      return *found->value;
    };
    const double rows = time_of("transpose rows");
    const double padded = time_of("transpose padded");
    // Barriers and latency are equal in both layouts. In `rows` every second access has 31
    // additional ways.
    CHECK(rows - padded == doctest::Approx(31.0 / 2.0).epsilon(0.02));
    CHECK(time_of("transpose diagonal") == doctest::Approx(padded));
    CHECK(time_of("transpose shifted") < rows / 4.0);
    CHECK(named(result.findings, "advice") != nullptr);
  }
}

}  // namespace clprobe::banks
