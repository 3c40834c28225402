// SPDX-License-Identifier: Apache-2.0
// The ticks of charts.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "present/api/page.hpp"
#include "present/api/report.hpp"
#include "present/chart.hpp"

namespace clprobe {

TEST_CASE("a linear axis has even ticks, and a flat curve's noise does not fill it") {
  CHECK(report::even_ticks(0.0, 10.0, 2.1) == std::vector{0.0, 5.0, 10.0});
  CHECK(report::even_ticks(1.0, 3.9, 1.0) == std::vector{1.0, 2.0, 3.0});
  CHECK(report::even_ticks(3.4e9, 3.7e9, 1.5e8) == std::vector{3.4e9, 3.6e9});
  CHECK(report::even_ticks(0.0, 100.0, 6.0) ==
        std::vector{0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0});
  CHECK(report::even_ticks(1.0, 1.0, 1.0).empty());
  CHECK(report::even_ticks(1.0, 2.0, 0.0).empty());
  report::Chart chart{.x_name = "time_ms",
                      .y_unit = "hertz",
                      .scale = Scale::linear,
                      .series = {{"one", {{50.0, 1.98e9}, {100.0, 1.99e9}, {1650.0, 1.97e9}}}}};
  const report::Axis x = report::x_axis_of(chart);
  CHECK(x.share(850.0) == doctest::Approx(0.5));
  CHECK(x.value(x.on(50.0)) == 50.0);
  CHECK(x.has(50.0));
  CHECK(x.has(1650.0));
  CHECK_FALSE(x.has(49.0));
  const report::Axis y = report::y_axis_of(chart);
  // A tenth of the largest value, and room for notes.
  CHECK(y.high - y.low == doctest::Approx(1.4 * 1.99e8));
  CHECK(y.share(1.98e9) == doctest::Approx(0.5));
  report::Page page(TableStyle{});
  report::draw_chart(page, chart);
  const std::string drawn = page.text();
  for (const char* const tick : {"1950 MHz", "2000 MHz", "500 ms", "1.50 s"}) {
    CAPTURE(tick);
    CHECK(drawn.find(tick) != std::string::npos);
  }
  CHECK(drawn.find("5000 MHz") == std::string::npos);
  // A wide one keeps its own span.
  chart.series[0].points[0].y = 3.45e8;
  const report::Axis wide = report::y_axis_of(chart);
  CHECK(wide.high - wide.low == doctest::Approx(1.4 * (1.99e9 - 3.45e8)));
  for (const report::ChartPoint& each : chart.series[0].points) CHECK(wide.has(each.y));
}

TEST_CASE("a chart of few rows has round ticks, on rows that are there") {
  const auto drawn = [](double low, double high) {
    report::Page page(TableStyle{});
    report::draw_low_chart(page, {.x_name = "working_set_bytes",
                                  .y_title = "latency",
                                  .series = {{"global", {{1024.0, low}, {1048576.0, high}}}}});
    return page.text();
  };
  const std::string wide = drawn(16.2e-9, 345e-9);
  CHECK(wide.find("100 ns ┤") < wide.find("10 ns ┤"));
  CHECK(wide.find("10 ns ┤") != std::string::npos);
  const std::string flat = drawn(21e-9, 22e-9);
  CHECK(flat.find("50 ns ┤") == 1);
  CHECK(flat.find("20 ns ┤") != std::string::npos);
}

}  // namespace clprobe
