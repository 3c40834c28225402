// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: what it says first, what it draws, and that text of others stays text.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/comparison_report.hpp"
#include "example_runs.hpp"
#include "report/comparison_charts.hpp"

namespace clprobe {
namespace {

using Json = nlohmann::ordered_json;

/// A result whose series runs along sizes, each access taking `ns` at every size.
ComparedResult curves_of(double ns, std::vector<std::string> keys) {
  ComparedCurve curve{.series = "one", .unit = "seconds"};
  for (std::string& key : keys) curve.points.push_back({.key = std::move(key), .value = ns * 1e-9});
  ComparedResult result{.probe = "unheard_of"};
  result.curves.push_back(std::move(curve));
  return result;
}

RunDigest run_with(ComparedResult result) {
  RunDigest run{.file = "a.json", .device = "Example"};
  run.results.push_back(std::move(result));
  return run;
}

std::vector<std::string> sizes(int count, std::string_view more = {}) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) {
    keys.push_back(fmt::format("working_set_bytes {}{}", 64 << i, more));
  }
  return keys;
}

}  // namespace

TEST_CASE("curves of all runs are over each other, and beside the baseline's place by place") {
  const std::array runs{run_with(curves_of(10.0, sizes(4))), run_with(curves_of(15.0, sizes(5)))};
  const auto charts = report::comparison_charts(runs, 0, "unheard_of");
  REQUIRE(charts.size() == 1);
  const Json& chart = charts.front();
  CHECK(chart["x"]["title"] == "working set");
  REQUIRE(chart["curves"].size() == 2);
  CHECK(chart["curves"][0]["values"] == Json({10, 10, 10, 10}));
  CHECK(chart["curves"][1]["values"] == Json({15, 15, 15, 15, 15}));
  CHECK(chart["curves"][0]["ratios"]["texts"] == Json({"1.000x", "1.000x", "1.000x", "1.000x"}));
  // The last place is the second run's alone.
  CHECK(chart["curves"][1]["ratios"]["values"] == Json({1.5, 1.5, 1.5, 1.5}));
  const std::size_t at = chart["curves"][1]["ratios"]["at"];
  CHECK(chart["places"][at]["texts"] == Json({"64 B", "128 B", "256 B", "512 B"}));
  CHECK(chart["ratio"]["title"] == "ratio to A");
  CHECK(report::comparison_charts(runs, 1, "unheard_of").front()["ratio"]["title"] == "ratio to B");
  CHECK(report::comparison_charts(runs, 0, "another").empty());
}

TEST_CASE("ratios have fine ticks near 1 and decades elsewhere") {
  const auto ticks = [](double ns) {
    const std::array runs{run_with(curves_of(10.0, sizes(4))), run_with(curves_of(ns, sizes(4)))};
    return report::comparison_charts(runs, 0, "unheard_of").front()["ratio"]["ticks"];
  };
  CHECK(ticks(10.5)[1] == Json({0.55, "0.550"}));
  CHECK(ticks(18.9)[1] == Json({0.55, "0.550"}));
  CHECK(ticks(19.1)[1][0] == 2e-06);
  CHECK(ticks(5.2)[1][0] == 2e-06);
}

TEST_CASE("a second parameter makes lines of its own, and what follows from the first does not") {
  std::vector<std::string> keys = sizes(4, ", word_bytes 4");
  for (const std::string& key : sizes(4, ", word_bytes 8")) keys.push_back(key);
  const std::array two{run_with(curves_of(10.0, keys))};
  const auto charts = report::comparison_charts(two, 0, "unheard_of");
  REQUIRE(charts.front()["curves"].size() == 2);
  CHECK(charts.front()["curves"][1]["series"] == "one, word 8 B");
  keys = {"elements 1, size_bytes 8", "elements 2, size_bytes 16", "elements 3, size_bytes 24"};
  const std::array one{run_with(curves_of(10.0, keys))};
  CHECK(report::comparison_charts(one, 0, "unheard_of").front()["curves"].size() == 1);
  // Words are no places, and neither is a single point.
  for (const char* const key : {"pattern unit", "size_bytes inf", "size_bytes 64"}) {
    const std::array none{run_with(curves_of(10.0, {key, key}))};
    CHECK(report::comparison_charts(none, 0, "unheard_of").empty());
  }
}

TEST_CASE("a comparison's page begins with who is better at what, then the largest change") {
  Run slow = example_gpu_run();
  for (const int level : {1, 2, 3, 4}) slow_level(slow.results[0], level, level == 1 ? 1.4 : 1.3);
  const std::vector<RunDigest> runs{digest(example_gpu_run(), "a.json"),
                                    digest(slow, "<b onclick='x'>.json")};
  const std::string html = render_comparison_html(compare(runs, 0, 0.03), runs);
  const std::size_t summary = html.find("<span class=\"verdict worse\">worse</span>");
  const std::size_t first = html.find("1.40x slower");
  const std::size_t second = html.find("1.30x slower", html.find("<tr data-probe"));
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  CHECK(summary < html.find("<table"));
  CHECK(html.find("<tr data-probe=\"latency\" data-verdict=\"worse\">") <
        html.find("data-verdict=\"same\""));
  CHECK(html.find("1.40x slower", html.find("<tr data-probe")) < second);
  CHECK(html.find("<b onclick") == std::string::npos);
  CHECK(html.find("&lt;b onclick") != std::string::npos);
}

TEST_CASE("a page of two runs of one device names it once, and then what tells them apart") {
  std::vector<RunDigest> runs(2, digest(example_gpu_run(), "a.json"));
  const std::string device = runs[0].device;
  const auto heading = [&] {
    const std::string html = render_comparison_html(compare(runs, 0, 0.03), runs);
    const std::size_t start = html.find("<h1>") + 4;
    return html.substr(start, html.find("</h1>") - start);
  };
  CHECK(heading() == device + ": B compared with A");
  runs[0].started = "2026-01-02T08:00:00Z";
  runs[1].started = "2026-01-09T08:00:00Z";
  CHECK(heading() == device + ": 2026-01-09 compared with 2026-01-02");
  runs[1].device = "Another";
  CHECK(heading() == "Another compared with " + device);
}

TEST_CASE("a page calls runs by their model and what tells them apart") {
  std::vector<RunDigest> runs(3, digest(example_cpu_run(), "a.json"));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].type = DeviceType::cpu;
    runs[i].device = "cpu-skylake-avx512-Intel(R) Xeon(R) Processor";
    runs[i].started = fmt::format("2026-01-0{}T08:00:00Z", i + 1);
  }
  const std::string html = render_comparison_html(compare(runs, 0, 0.03), runs);
  CHECK(html.find("</span>B Intel Xeon, 2026-01-02</h3>") != std::string::npos);
  CHECK(html.find("</span>C Intel Xeon, 2026-01-03</h3>") != std::string::npos);
}

TEST_CASE("of many runs a page has the rows that changed alone") {
  std::vector<RunDigest> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(digest(example_gpu_run(), "a.json"));
  const auto page = [&] { return render_comparison_html(compare(runs, 0, 0.03), runs); };
  CHECK(page().find("data-verdict=\"same\"") != std::string::npos);
  runs.push_back(digest(example_cpu_run(), "b.json"));
  const std::string many = page();
  CHECK(many.find("data-verdict=\"same\"") == std::string::npos);
  CHECK(many.find("data-verdict=\"better\"") != std::string::npos);
}

}  // namespace clprobe
