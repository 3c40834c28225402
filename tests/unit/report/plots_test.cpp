// SPDX-License-Identifier: Apache-2.0
#include "present/curves.hpp"
#include "present/svg.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "example_runs.hpp"
#include "present/api/report.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

/// A point whose samples take so many cycles for an access.
Point point_of(const char* series, std::int64_t delay, const std::vector<std::uint64_t>& cycles) {
  Point point{.series = series, .parameters = {{"delay", delay}}};
  for (const std::uint64_t each : cycles) {
    point.samples.push_back({.accesses = 1000, .ticks = 1000 * each, .host_ns = 1});
  }
  return point;
}

/// Latencies at three delays, and what streamed meanwhile at two of them.
Run loaded_run() {
  Run run = example_gpu_run();
  run.device.clock.overhead_ticks = 0;
  run.device.clock.ticks_per_ns = 2.0;
  ProbeResult& result = run.results[0];
  result.points = {point_of("slow", 1, {900, 300, 400}), point_of("slow", 2, {200}),
                   point_of("slow", 3, {100}), point_of("stream", 1, {2}),
                   point_of("stream", 2, {8})};
  CardPlot over{.title = "Latency <beside> streams", .series = {"slow"}, .by = "delay"};
  result.card.plots = {over};
  over.across_title = "bandwidth";
  over.across = "stream";
  over.across_bytes = 128.0;
  over.title = "Over bandwidth";
  result.card.plots.push_back(over);
  over.series = {"nobody"};
  over.title = "Nothing";
  result.card.plots.push_back(over);
  return run;
}

}  // namespace

TEST_CASE("a series is drawn over a parameter, or over the bandwidth of another one") {
  const Run run = loaded_run();
  const ProbeResult& result = run.results[0];
  const report::Chart over_delay = report::chart_of_plot(result.card.plots[0], result, run.device);
  REQUIRE(over_delay.series.size() == 1);
  REQUIRE(over_delay.series[0].points.size() == 3);
  CHECK(over_delay.series[0].points[0].x == 1.0);
  CHECK(1e9 * over_delay.series[0].points[0].y == doctest::Approx(150.0));  // the fastest of three
  const report::Chart over_bandwidth =
      report::chart_of_plot(result.card.plots[1], result, run.device);
  REQUIRE(over_bandwidth.series.size() == 1);
  REQUIRE(over_bandwidth.series[0].points.size() == 2);  // those that both have
  CHECK(over_bandwidth.series[0].points[0].x == doctest::Approx(128e9));
  CHECK(over_bandwidth.series[0].points[1].x == doctest::Approx(32e9));
  CHECK(report::chart_of_plot(result.card.plots[2], result, run.device).series.empty());
}

TEST_CASE(
    "curves of a card are drawn as they are, in their own units, and have rows in curves.csv") {
  Run run = example_gpu_run();
  ProbeResult& result = run.results[0];
  result.card.plots = {{.title = "Roofline",
                        .by = "flops_per_byte",
                        .across_title = "intensity",
                        .curves = {{"roof", {{0.5, 2e12}, {4.0, 16e12}}}, {"peak", {{4.0, 16e12}}}},
                        .across_unit = "flops_per_byte",
                        .value_title = "rate",
                        .unit = "flops_per_second"}};
  const report::Chart chart = report::chart_of_plot(result.card.plots[0], result, run.device);
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].name == "roof");
  CHECK(chart.series[0].points[1].x == 4.0);
  CHECK(chart.series[0].points[1].y == 16e12);
  CHECK(report::x_text_of(chart, 0.5) == "0.5 flop/B");
  const std::string csv = formats::curves.runs({&run, 1}, {});
  CHECK(csv.find(",roof,flops_per_byte,0.5,2000000000000,,,flops_per_second\n") !=
        std::string::npos);
  const std::string svg = formats::svg.runs({&run, 1}, {.probe = result.probe, .plot = "Roofline"});
  CHECK(svg.find("<title>Roofline</title>") != std::string::npos);
  CHECK(svg.find("16 TFLOP/s") == std::string::npos);
  CHECK(svg.find("10 TFLOP/s") != std::string::npos);
  const std::string none = formats::svg.runs({&run, 1}, {.probe = result.probe, .plot = "Other"});
  CHECK(none.find("no curve was measured") != std::string::npos);
}

TEST_CASE("parts of a curve that have names are marked where the curve is") {
  Run run = loaded_run();
  ProbeResult& result = run.results[0];
  result.card.plots[0].marks = {{"slow", 1, 2, false, "near <1>"},
                                {"slow", 2, 3, true, "far"},
                                {"slow", 3.5, 9, true, "behind"},
                                {"nobody", 1, 2, true, "nothing"}};
  const report::Chart chart = report::chart_of_plot(result.card.plots[0], result, run.device);
  REQUIRE(chart.notes.size() == 2);
  CHECK(chart.notes[0].text == "near <1>");
  CHECK(chart.notes[0].end_high == 2.0);
  CHECK(1e9 * chart.notes[0].y == doctest::Approx(125.0));  // between 150 and 100
  CHECK(chart.notes[1].end_high == 0.0);
  const auto figures = report::figures_of(std::vector<Run>{run}, result.probe);
  CHECK(figures.at(1).svg.find(">near &lt;1&gt;</text>") != std::string::npos);
}

TEST_CASE("points that say where they lie are averaged by place, with the line through them") {
  Run run = loaded_run();
  ProbeResult& result = run.results[0];
  // 1000 accesses of 400, 200 and 100 cycles.
  result.card.plots = {{.title = "Model",
                        .series = {"slow"},
                        .by = "product",
                        .across_title = "product",
                        .points = {{0, 8.0, 10.0}, {1, 8.0, 10.0}, {2, 4.0, 10.0}, {99, 2.0, 1.0}},
                        .trends = {{"slow", 250.0, 1000.0, "line"}, {"nobody", 1.0, 1.0, "none"}},
                        .value_title = "time of all",
                        .unit = "cycles"}};
  const report::Chart chart = report::chart_of_plot(result.card.plots[0], result, run.device);
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].name == "line");
  REQUIRE(chart.series[0].points.size() == 2);
  CHECK(chart.series[0].points[1].y == 3000.0);
  REQUIRE(chart.series[1].points.size() == 2);
  CHECK(chart.series[1].points[0].x == 4.0);
  CHECK(chart.series[1].points[0].y == doctest::Approx(1000.0));
  CHECK(chart.series[1].points[1].y == doctest::Approx(3000.0));  // between 4000 and 2000
  const auto figures = report::figures_of(std::vector<Run>{run}, result.probe);
  CHECK(figures.at(1).svg.find("<title>slow, 4: 1000</title>") != std::string::npos);
  CHECK(figures.at(1).svg.find(">time of all</text>") != std::string::npos);
  result.card.plots[0].unit = "seconds";
  const report::Chart seconds = report::chart_of_plot(result.card.plots[0], result, run.device);
  CHECK(1e9 * seconds.series[1].points[0].y == doctest::Approx(500.0));  // 2 cycles a ns
}

TEST_CASE("a plot stands in the text of every point, and where a map has no points to draw") {
  Run run = loaded_run();
  ProbeResult& result = run.results[0];
  result.card.plots.resize(1);
  result.findings.clear();
  TableStyle style;
  const std::string title = "Latency <beside> streams";
  CHECK(render_table(std::vector<Run>{run}, style).find(title) == std::string::npos);
  style.all_points = true;
  CHECK(render_table(std::vector<Run>{run}, style).find(title) != std::string::npos);
  result.view = {.kind = ViewKind::heat_map, .x = "stride", .y = "word"};
  const report::Chart instead = report::chart_without_map(result, run.device);
  REQUIRE(instead.series.size() == 1);
  CHECK(instead.series[0].name == "slow");
  CHECK(instead.x_name == "delay");
  // It is drawn once, in place of the map.
  CHECK(render_table(std::vector<Run>{run}, style).find(title) == std::string::npos);
  CHECK(render_svg(std::vector<Run>{run}, result.probe).find(">delay</text>") != std::string::npos);
  result.card.plots.clear();
  CHECK(report::chart_without_map(result, run.device).series.size() == 2);
}

TEST_CASE("a page has the plots of all runs, by title, and none without points") {
  const std::vector<Run> runs{loaded_run(), loaded_run()};
  std::string titles;
  for (const auto& each : report::figures_of(runs, runs[0].results[0].probe)) {
    titles += each.title + (each.is_folded ? " (folded)\n" : "\n");
    const bool is_over_bandwidth = each.title.find("Over") != std::string::npos;
    CHECK((each.svg.find(">bandwidth</text>") != std::string::npos) == is_over_bandwidth);
  }
  const std::string device = runs[0].device.name;
  CHECK(titles == "\nLatency <beside> streams\n" + device +
                      ": Latency <beside> streams (folded)\nOver bandwidth\n" + device +
                      ": Over bandwidth (folded)\n");
  const std::string html = render_html(runs);
  CHECK(html.find("<h3>Latency &lt;beside&gt; streams</h3>") != std::string::npos);
}

}  // namespace clprobe
