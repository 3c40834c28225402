// SPDX-License-Identifier: Apache-2.0
// What a view declares beside its points' values, in every format.
#include "present/curves.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "present/api/report.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

Point point_of(const char* series, int items, double cycles, double variance) {
  Point point;
  point.series = series;
  point.parameters = {{"work_items", std::int64_t{items}}};
  point.facts = {{"variance_square_cycles", variance}};
  for (int run = 0; run < 3; ++run) {
    Sample sample;
    sample.accesses = 2;
    sample.ticks = static_cast<std::uint64_t>(2.0 * cycles);
    sample.host_ns = 1000;
    point.samples.push_back(sample);
  }
  return point;
}

/// 400 cycles up to 12 work-items, 490 from 14 on, and a series that has nothing but zeros.
Run stepped() {
  Run run;
  run.device.timer = Timer::clock;
  run.device.clock.ticks_per_ns = 1.0;
  ProbeResult result;
  result.probe = "inflight";
  result.unit = Unit::seconds;
  result.view = {.x = "work_items", .beside = "variance_square_cycles"};
  for (int n = 2; n <= 24; n += 2) {
    const double variance = n == 12 ? 2700.0 : n == 14 ? 2800.0 : 0.0;
    result.points.push_back(point_of("cache-x1", n, n > 12 ? 490.0 : 400.0, variance));
    result.points.push_back(point_of("flat", n, 400.0, 0.0));
  }
  run.results.push_back(result);
  return run;
}

}  // namespace

TEST_CASE("what is declared beside the values is drawn for the series that have any") {
  const Run run = stepped();
  const report::Chart chart = report::beside_chart(run.results.front());
  REQUIRE(chart.series.size() == 1);
  CHECK(chart.series.front().name == "cache-x1");
  REQUIRE(chart.series.front().points.size() == 2);  // no zeros
  CHECK(chart.series.front().points[0].x == 12.0);
  CHECK(chart.series.front().points[0].y == 2700.0);
  ProbeResult other = run.results.front();
  other.view.beside.clear();
  CHECK(report::beside_chart(other).series.empty());
}

TEST_CASE("the terminal draws it with all points only, the page always has it") {
  const Run run = stepped();
  TableStyle style;
  const auto has_variance = [&] {
    return render_table({&run, 1}, style).find("variance square cycles of each point") !=
           std::string::npos;
  };
  CHECK_FALSE(has_variance());
  style.all_points = true;
  CHECK(has_variance());
}

TEST_CASE("CSV and JSON say of each point what it is") {
  const Run run = stepped();
  const std::string csv = render_csv({&run, 1});
  CHECK(csv.find("work_items,variance_square_cycles,accesses") != std::string::npos);
  CHECK(csv.find("cache-x1,12,2700,") != std::string::npos);
  const std::string json = to_json(std::vector<Run>{run});
  CHECK(json.find("\"variance_square_cycles\":2800.0") != std::string::npos);
  CHECK(json.find("\"beside\":\"variance_square_cycles\"") != std::string::npos);
}

TEST_CASE("a picture has it on an axis of its own, on the right") {
  Run run = stepped();
  const std::string picture = render_svg({&run, 1}, "inflight");
  CHECK(picture.find(">variance square cycles (dotted)</text>") != std::string::npos);
  CHECK(picture.find("stroke-dasharray=\"1 2\"") != std::string::npos);
  // The plot ends where the axis begins.
  CHECK(picture.find("H780\"") != std::string::npos);
  run.results.front().view.beside.clear();
  const std::string without = render_svg({&run, 1}, "inflight");
  CHECK(without.find("(dotted)") == std::string::npos);
  CHECK(without.find("H836\"") != std::string::npos);
}

}  // namespace clprobe
