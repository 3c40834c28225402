// SPDX-License-Identifier: Apache-2.0
// Pages and pictures: that they are what they were, and that text of others stays text. How a page
// behaves in a browser is tested in tests/browser.
#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "clprobe/embedded.hpp"
#include "clprobe/report.hpp"
#include "example_runs.hpp"
#include "golden.hpp"
#include "report/device_text.hpp"
#include "report/grids.hpp"
#include "report/html_text.hpp"
#include "report/packed.hpp"
#include "report/page_charts.hpp"

namespace clprobe {
namespace {

using Json = nlohmann::ordered_json;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Without what is a file of its own, or another package's: its changes are seen there.
std::string without_files(std::string html) {
  for (const char* const name : {"chart.js", "report.js", "report.css"}) {
    const std::string_view file = embedded_file(name);
    if (!file.empty()) replace_all(html, file, std::string("[") + name + "]");
    replace_all(html, content_hash(name), std::string("[hash of ") + name + "]");
  }
  const std::string method = report::html_of_explanation(embedded_file("latency.md"));
  replace_all(html, method, "[latency.md]\n");
  return html;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++found;
  return found;
}

Run markup_run() {
  Run run = example_gpu_run();
  const std::string evil =
      "</script></title><script>alert(1)</script><img src=x onerror='a' \"&amp;";
  run.device.name = evil;
  run.device.driver = evil;
  run.arguments = {evil};
  run.results[0].probe = evil;
  run.results[0].status = Status::failed;
  run.results[0].reason = evil;
  run.results[0].points[0].series = evil;
  run.results[0].points[0].parameters.set(evil, Value{evil});
  run.results[0].findings.front().series = evil;
  run.results[0].kernels.front().options = evil;
  run.results[0].warnings = {{evil, {{evil, Value{evil}}}}};
  return run;
}

Point grid_point(std::int64_t stride, std::int64_t items) {
  Point point{.series = "local", .parameters = {{"stride_words", stride}, {"work_items", items}}};
  point.samples.push_back(
      {.accesses = 100, .ticks = static_cast<std::uint64_t>(1000 * items + stride), .host_ns = 1});
  return point;
}

}  // namespace

TEST_CASE("pages and pictures are what they were") {
  std::array two{example_gpu_run(), example_cpu_run()};
  check_golden("latency.svg", render_svg(two, "latency"));
  check_golden("latency-one.svg", render_svg(std::span(two).first(1), "latency"));
  for (Run& run : two) run.results[0].points.resize(12);
  if (embedded_file("chart.js").empty()) return;  // a page without the library says so
  check_golden("report.html", without_files(render_html(two)));
}

TEST_CASE("a page says when nothing was measured") {
  const std::string none = render_html({});
  CHECK(none.find("No runs") != std::string::npos);
  Run broken = example_broken_run();
  const std::string html = render_html(std::span(&broken, 1));
  CHECK(html.find("interrupted: what was measured until then is shown") != std::string::npos);
  CHECK(html.find("FAILED: clBuildProgram") != std::string::npos);
  CHECK(html.find("cannot be seen here: local memory is emulated") != std::string::npos);
  CHECK(html.find("2 of 24 points could not be measured") != std::string::npos);
  CHECK(render_svg(std::span(&broken, 1), "stride").find("no curve was measured") !=
        std::string::npos);
}

TEST_CASE("markup in a run is text in a page and in a picture") {
  using report::html_text;
  CHECK(html_text("<a href=\"x\">'&'</a>\n\x01") ==
        "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt; ?");
  const Run evil = markup_run();
  const Run good = example_gpu_run();
  for (const std::size_t runs : {1U, 2U}) {
    const std::array both{evil, good};
    const std::string html = render_html(std::span(both).first(runs));
    // The page's own elements, and no more; the library is free to speak of elements in strings.
    const std::string own = without_files(html);
    CHECK(count(own, "<script") == 4);
    CHECK(count(own, "</script>") == 4);
    CHECK(count(own, "</title>") == 2 + (runs - 1));  // and one in each picture
    CHECK(count(own, "<img") == 0);
    CHECK(count(own, "alert(1)") > 10);
    const std::string svg = render_svg(std::span(both).first(runs), evil.results[0].probe);
    CHECK(count(svg, "<script") == 0);
    CHECK(count(svg, "<img") == 0);
    CHECK(count(svg, "</title>") == 1);
  }
}

TEST_CASE("data in a script cannot end it") {
  CHECK(report::script_json("\"</script><!-- &\"") ==
        "\"\\u003c/script\\u003e\\u003c!-- \\u0026\"");
  CHECK(Json::parse(report::script_json("{\"a<b\":\"c>&\"}")) == Json::parse(R"({"a<b":"c>&"})"));
}

TEST_CASE("values of a page are not looked at again") {
  using report::fill;
  CHECK(fill("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "x"}}) == "<{{b}}|x>");
  CHECK_THROWS_AS(fill("{{c}}", {{"a", ""}}), std::invalid_argument);
  CHECK_THROWS_AS(fill("{{a", {{"a", ""}}), std::invalid_argument);
}

TEST_CASE("explanations become elements") {
  CHECK(report::html_of_explanation("# t\n\nWhy <b>?\n\n## The `x`\n\nOne\ntwo\n\n- a\n  b\n- c\n\n"
                                    "Term.\n  Said\n  of it.\n\n    run  --this\n    <that>\n") ==
        "<p>Why &lt;b&gt;?</p>\n<h4>The <code>x</code></h4>\n<p>One two</p>\n<ul>\n<li>a b</li>\n"
        "<li>c</li>\n</ul>\n<dl>\n<dt>Term.</dt>\n<dd>Said of it.</dd>\n</dl>\n<pre><code>run  "
        "--this\n&lt;that&gt;</code></pre>\n");
  CHECK(report::question_of("# t\n\nOne\ntwo?\n\nthree") == "One two?");
}

TEST_CASE("the policy of a page names exactly its own scripts and style") {
  // From `printf '' | openssl dgst -sha256 -binary | base64`, for a build without the library.
  constexpr std::string_view of_nothing = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
  CHECK((embedded_file("chart.js").empty() == (content_hash("chart.js") == of_nothing)));
  for (const char* const name : {"chart.js", "report.js", "report.css"}) {
    CHECK(content_hash(name).size() == of_nothing.size());
    CHECK(count(render_html({}), content_hash(name)) == 1);
  }
  CHECK_THROWS_AS(content_hash("latency.md"), std::out_of_range);
  CHECK(has_embedded_file("latency.md"));
  CHECK_FALSE(has_embedded_file("nothing.md"));
}

TEST_CASE("a document is packed by columns") {
  const Json samples =
      Json::parse(R"([{"n":1,"t":5},{"n":1,"t":6},{"n":1},{"n":1,"t":18446744073709551615}])");
  CHECK(report::pack(samples) == Json::parse(R"({"$rows":4,"$columns":[["n",{"$repeats":[1,4]}],
      ["t",[5,6,null,{"$number":"18446744073709551615"}]]]})"));
  CHECK(report::pack(Json::parse(R"({"$rows":2,"a":11.0,"b":0.5,"c":[]})")) ==
        Json::parse(R"({"$$rows":2,"a":{"$number":"11.0"},"b":0.5,"c":[]})"));
  CHECK(report::pack(Json::parse("[[1,2],[],[2]]")) ==
        Json::parse(R"({"$lengths":[2,0,1],"$joined":[1,2,2]})"));
  // Values that come again, and numbers in blocks of base 85.
  CHECK(report::pack(Json::parse(
            R"(["again and again","other","again and again","other",null,"other","again and again",
                0.5])")) == Json::parse(R"({"$words":["again and again","other",null,0.5],
                        "$at":{"$base85":"#$(#[w","$count":8}})"));
}

TEST_CASE("a probe is seen in the way that its points allow") {
  using report::heat_map_axes;
  CHECK_FALSE(heat_map_axes(example_gpu_run().results[0]));
  ProbeResult grid{.probe = "unheard_of", .unit = Unit::seconds};
  for (const std::int64_t stride : {1, 2, 3, 4, 6}) {
    for (const std::int64_t items : {16, 32}) grid.points.push_back(grid_point(stride, items));
  }
  CHECK_FALSE(heat_map_axes(grid));  // two curves say more than two rows
  for (const std::int64_t stride : {1, 2, 3, 4, 6}) {
    for (const std::int64_t items : {1, 8}) grid.points.push_back(grid_point(stride, items));
  }
  CHECK(heat_map_axes(grid));
  Run run = example_gpu_run();
  run.results = {grid};
  const Json chart = report::page_chart(std::span(&run, 1), "unheard_of");
  CHECK(chart["x"]["title"] == "stride words");
  CHECK(chart["y"]["title"] == "work items");
  CHECK(chart["grids"][0]["values"].size() == 20);
  CHECK(chart["places"][0].size() == 20);
  CHECK(chart["places"][0][0][0] == 1);
  check_golden("heat-map.svg", render_svg(std::span(&run, 1), "unheard_of"));
  // Of what has its own view, too, the points must be there for it.
  ProbeResult banks = grid;
  banks.probe = "banks";
  CHECK(heat_map_axes(banks));
  banks.points.resize(1);
  CHECK_FALSE(heat_map_axes(banks));
}

TEST_CASE("runs of one device are told apart") {
  std::array runs{example_gpu_run(), example_gpu_run(), example_cpu_run(), example_gpu_run()};
  const std::string name = runs[0].device.name;
  CHECK(report::run_titles(std::span(runs).first(1)) == std::vector{name});
  CHECK(report::run_titles(runs)[3] == name + " #4");
  runs[1].device.driver = "600";
  runs[3].started = "2026-02-03T00:00:00Z";
  CHECK((report::run_titles(runs) ==
         std::vector<std::string>{name + ", driver 580.159.03, 2026-01-02",
                                  name + ", driver 600, 2026-01-02", runs[2].device.name,
                                  name + ", driver 580.159.03, 2026-02-03"}));
  runs[3].device.driver = "610";
  CHECK(report::run_titles(runs)[3] == name + ", driver 610");
}

}  // namespace clprobe
