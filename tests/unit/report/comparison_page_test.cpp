// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: what it says first, what it draws, and that text of others stays text.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "example_runs.hpp"
#include "present/api/report.hpp"
#include "present/comparison.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

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

std::size_t times(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++found;
  return found;
}

std::vector<std::string> sizes(int count, std::string_view more = {}) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) {
    keys.push_back(fmt::format("working_set_bytes {}{}", 64 << i, more));
  }
  return keys;
}

}  // namespace

TEST_CASE("curves of all runs are over each other, and next to them their ratios") {
  const std::array runs{run_with(curves_of(10.0, sizes(4))), run_with(curves_of(15.0, sizes(5)))};
  const std::vector<std::string> names{"A one", "B two"};
  const auto figures = report::comparison_figures(runs, 0, "unheard_of", names);
  REQUIRE(figures.size() == 2);
  CHECK_FALSE(figures[0].is_folded);
  CHECK(figures[1].is_folded);
  CHECK(figures[0].title == "one, value by working set");
  CHECK(figures[1].title == "one, ratio to A by working set");
  CHECK(times(figures[0].svg, "<circle") == 9);
  CHECK(times(figures[0].svg, "<title>A one, 64 B: 10.0 ns, 1.000x A</title>") == 1);
  CHECK(times(figures[0].svg, "<title>B two, 512 B: 15.0 ns, 1.5x A</title>") == 1);
  // The last place is the second run's alone.
  CHECK(times(figures[0].svg, "<title>B two, 1 KiB: 15.0 ns</title>") == 1);
  CHECK(times(figures[1].svg, "<circle") == 8);
  CHECK(report::comparison_figures(runs, 1, "unheard_of", names)[1].title ==
        "one, ratio to B by working set");
  CHECK(report::comparison_figures(runs, 0, "another", names).empty());
}

TEST_CASE("ratios near 1 have a linear axis, and others decades") {
  const auto ticks = [](double ns, std::string_view text) {
    const std::array runs{run_with(curves_of(10.0, sizes(4))), run_with(curves_of(ns, sizes(4)))};
    const auto figures = report::comparison_figures(runs, 0, "unheard_of", {"A", "B"});
    return times(figures.at(1).svg, text);
  };
  CHECK(ticks(10.5, ">2</text>") == 0);
  CHECK(ticks(39.0, ">3</text>") == 1);
  CHECK(ticks(100.0, ">3</text>") == 0);
  CHECK(ticks(100.0, ">5</text>") == 1);
}

TEST_CASE("a second parameter makes lines of its own, and what follows from the first does not") {
  const auto figures_of = [](std::vector<std::string> keys) {
    const std::array runs{run_with(curves_of(10.0, std::move(keys)))};
    return report::comparison_figures(runs, 0, "unheard_of", {"A"});
  };
  std::vector<std::string> keys = sizes(4, ", word_bytes 4");
  for (const std::string& key : sizes(4, ", word_bytes 8")) keys.push_back(key);
  const auto two = figures_of(keys);
  REQUIRE(two.size() == 4);
  CHECK(two[2].title == "one, word 8 B, value by working set");
  CHECK(figures_of(
            {"elements 1, size_bytes 8", "elements 2, size_bytes 16", "elements 3, size_bytes 24"})
            .size() == 2);
  // Words are no places, and neither is a single point.
  for (const char* const key : {"pattern unit", "size_bytes inf", "size_bytes 64"}) {
    CHECK(figures_of({key, key}).empty());
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
