// SPDX-License-Identifier: Apache-2.0
// The variance beside Thread-Latency curves, as the reports draw it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "clprobe/report.hpp"
#include "report/page_charts.hpp"
#include "report/thread_latency.hpp"

namespace clprobe {
namespace {

Point point_of(const char* series, int items, int merger, double cycles) {
  Point point;
  point.series = series;
  point.parameters = {{"work_items", std::int64_t{items}},
                      {"loads", std::int64_t{1}},
                      {"merger", std::int64_t{merger}}};
  for (int run = 0; run < 3; ++run) {
    Sample sample;
    sample.accesses = 2;
    sample.ticks = static_cast<std::uint64_t>(2.0 * cycles);
    sample.host_ns = 1000;
    point.samples.push_back(sample);
  }
  return point;
}

/// 400 cycles up to 12 work-items, 490 from 14 on.
Run stepped() {
  Run run;
  run.device.timer = Timer::clock;
  run.device.clock.ticks_per_ns = 1.0;
  ProbeResult result;
  result.probe = "inflight";
  result.unit = Unit::seconds;
  for (int n = 2; n <= 24; n += 2) {
    result.points.push_back(point_of("cache-x1", n, 1, n > 12 ? 490.0 : 400.0));
    result.points.push_back(point_of("cache-x1-within-2", n, 2, n > 12 ? 490.0 : 400.0));
  }
  run.results.push_back(result);
  return run;
}

TEST_CASE("a step has a third of its square at both sides, and mergers are left out") {
  const report::Chart chart = report::variance_chart(stepped().results.front());
  REQUIRE(chart.series.size() == 1);
  CHECK(chart.series.front().name == "cache-x1");
  REQUIRE(chart.series.front().points.size() == 2);
  for (const report::ChartPoint& point : chart.series.front().points) {
    CHECK(point.y == doctest::Approx(90.0 * 90.0 / 3.0));
  }
  CHECK(chart.series.front().points[0].x == 12.0);
  CHECK(chart.series.front().points[1].x == 14.0);
}

TEST_CASE("the terminal draws it with all points only, the page always has it") {
  const Run run = stepped();
  TableStyle style;
  const auto has_variance = [&] {
    return render_table({&run, 1}, style).find("variance of each point") != std::string::npos;
  };
  CHECK_FALSE(has_variance());
  style.all_points = true;
  CHECK(has_variance());
  const auto chart = report::page_chart({&run, 1}, "inflight");
  REQUIRE(chart["curves"].size() == 2);
  CHECK(chart["curves"][0]["variance"]["values"].dump() == "[2700,2700]");
  CHECK(chart["places"][1]["values"].dump() == "[12,14]");
  CHECK_FALSE(chart["curves"][1].contains("variance"));
}

TEST_CASE("other probes have no such chart") {
  ProbeResult result = stepped().results.front();
  for (Point& point : result.points) point.parameters = {{"working_set_bytes", std::int64_t{64}}};
  CHECK(report::variance_chart(result).series.empty());
}

}  // namespace
}  // namespace clprobe
