// SPDX-License-Identifier: Apache-2.0
// Pages and pictures: that they are what they were, and that text of others stays text. How a page
// behaves in a browser is tested in tests/browser.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "example_runs.hpp"
#include "golden.hpp"
#include "present/api/explain.hpp"
#include "present/api/report.hpp"
#include "present/device_text.hpp"
#include "present/heat_map.hpp"
#include "present/html_page.hpp"
#include "present/safe_text.hpp"
#include "present/svg.hpp"
#include "text/api/embedded.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

using Json = nlohmann::ordered_json;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// The inverse of report::deflated, by zlib and a table of its own.
std::string inflated(std::string_view base64) {
  std::string stream;
  unsigned bits = 0;
  int count = 0;
  for (const char c : base64.substr(0, base64.find('='))) {
    const std::size_t digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            .find(c);
    REQUIRE(digit != std::string_view::npos);
    bits = bits << 6U | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    stream += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  std::string text(stream.size() * 1100, '\0');  // deflate makes nothing smaller than by 1032
  uLongf size = text.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                     reinterpret_cast<const Bytef*>(stream.data()), stream.size()) == Z_OK);
  text.resize(size);
  return text;
}

/// What an element of a page holds.
std::string_view content_of(std::string_view html, std::string_view id) {
  const std::string mark = "id=\"" + std::string(id) + "\">";
  const std::size_t from = html.find(mark) + mark.size();
  return html.substr(from, html.find("</", from) - from);
}

// The data as they were before they were deflated: versions of zlib make other bytes of them.
std::string with_data(std::string html) {
  const std::string runs(content_of(html, "runs"));  // which have a test of their own
  replace_all(html, runs, fmt::format("[{} documents]", Json::parse(runs).size()));
  const std::string files(content_of(html, "files"));
  Json named = Json::parse(files);
  for (Json& file : named) file["data"] = inflated(file["data"].get<std::string>());
  replace_all(html, files, named.dump());
  return html;
}

// Without what is a file of its own: its changes are seen there.
std::string without_files(std::string html) {
  for (const char* const name : {"report.js", "report.css"}) {
    replace_all(html, embedded_file(name), std::string("[") + name + "]");
    replace_all(html, content_hash(name), std::string("[hash of ") + name + "]");
  }
  const std::string method = report::html_of_explanation(
      report::section_of(embedded_file("latency.md"), "What can fool it"));
  REQUIRE(method.size() > 100);
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
  check_golden("report.html", without_files(with_data(render_html(two))));
}

TEST_CASE("a page says when nothing was measured") {
  const std::string none = render_html({});
  CHECK(none.find("No runs") != std::string::npos);
  Run broken = example_broken_run();
  const std::string html = render_html(std::span(&broken, 1));
  CHECK(html.find("interrupted: only earlier measurements are shown") != std::string::npos);
  CHECK(html.find("FAILED: clBuildProgram") != std::string::npos);
  CHECK(html.find("unobservable: local memory is emulated") != std::string::npos);
  CHECK(html.find("2 of 24 points could not be measured") != std::string::npos);
  CHECK(render_svg(std::span(&broken, 1), "stride").find("no curve was measured") !=
        std::string::npos);
}

TEST_CASE("a page of profile is titled by kernels, program and device") {
  Run run = example_gpu_run();
  run.results.resize(1);
  run.results[0].card.lines = {{"add", "1 ms"}, {"copy", "2 ms"}};
  run.arguments = {"profile", "--quick", "--", "app", "-x"};
  const std::string title = "add, copy of app on " + run.device.name;
  CHECK(render_html({&run, 1}).find("<h1>" + title + "</h1>") != std::string::npos);
  run.arguments = {"profile", "folder"};
  CHECK(render_html({&run, 1}).find("<h1>add, copy on ") != std::string::npos);
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
    // The page's own elements, and no more.
    const std::string own = without_files(html);
    CHECK(count(own, "<script") == 3);
    CHECK(count(own, "</script>") == 3);
    CHECK(count(own, "</title>") == 1 + count(own, "<circle") + count(own, "<svg xmlns"));
    CHECK(count(own, "<img") == 0);
    CHECK(count(own, "alert(1)") > 10);
    const std::string svg = render_svg(std::span(both).first(runs), evil.results[0].probe);
    CHECK(count(svg, "<script") == 0);
    CHECK(count(svg, "<img") == 0);
    CHECK(count(svg, "</title>") == 1);
  }
}

TEST_CASE("data of a page cannot end their element") {
  const Run evil = markup_run();
  const std::string html = render_html(std::span(&evil, 1));
  const std::string_view data = content_of(html, "runs");
  CHECK(data.size() > 100);
  CHECK(data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                               "0123456789+/=[\",]") == std::string_view::npos);
}

TEST_CASE("text is deflated and comes back") {
  // From Python: base64.b64encode(zlib.compress(b"a", 9)).
  CHECK(report::deflated("a") == "eNpLBAAAYgBi");
  CHECK(report::deflated("").size() == 12);
  std::string text;
  for (int size = 0; size < 300; ++size) {  // every padding
    CHECK(inflated(report::deflated(text)) == text);
    text += static_cast<char>(size * size % 251);
  }
  CHECK(report::deflated(std::string(100000, 'x')).size() < 300);
}

TEST_CASE("a page carries the documents of its runs") {
  const std::array runs{example_gpu_run(), example_cpu_run()};
  const std::string html = render_html(runs);
  const Json streams = Json::parse(content_of(html, "runs"));
  REQUIRE(streams.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(inflated(streams[i].get<std::string>()) == to_json(std::span(runs).subspan(i, 1)));
  }
}

TEST_CASE("a page carries its findings as a table for spreadsheets") {
  Run run = example_gpu_run();
  run.results[0].findings.front().reason = "=1+1, \"so\"";
  const std::string html = render_html(std::span(&run, 1));
  const Json files = Json::parse(content_of(html, "files"));
  REQUIRE(files.size() == 2);
  CHECK(files[0]["name"] == "clprobe-findings.csv");
  CHECK(files[1]["name"] == "clprobe-curves.csv");
  CHECK(inflated(files[1]["data"].get<std::string>()) == render_curves_csv(std::span(&run, 1)));
  const std::string csv = inflated(files[0]["data"].get<std::string>());
  CHECK(csv.starts_with("device_index,device,driver,started,probe,series,level,finding,value,"));
  CHECK(count(csv, "\n") == 1 + run.results[0].findings.size());
  CHECK(csv.find(",\"'=1+1, \"\"so\"\"\"\n") != std::string::npos);
  CHECK(csv.find(",latency,global,1,latency,1.616") != std::string::npos);
}

TEST_CASE("values of a page are not looked at again") {
  using report::fill;
  CHECK(fill("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "x"}}) == "<{{b}}|x>");
  CHECK_THROWS_AS(fill("{{c}}", {{"a", ""}}), std::invalid_argument);
  CHECK_THROWS_AS(fill("{{a", {{"a", ""}}), std::invalid_argument);
}

TEST_CASE("explanations become elements") {
  CHECK(report::html_of_explanation("# t\n\nWhy\n\n## The `x`\n\nOne\ntwo\n\n- a\n  b\n- c\n\n"
                                    "Text\n\n- **Term.**\n  Said.\n\nText\n\n    run  --this\n") ==
        "<p>Why</p>\n<h4>The <code>x</code></h4>\n<p>One\ntwo</p>\n<ul>\n<li>a\nb</li>\n"
        "<li>c</li>\n</ul>\n<p>Text</p>\n<ul>\n<li><strong>Term.</strong>\nSaid.</li>\n</ul>\n"
        "<p>Text</p>\n<pre><code>run  --this\n</code></pre>\n");
  CHECK(report::section_of("# t\n\n## A\n\nx\n\n### a\n\ny\n\n## B\n\nz\n", "A") ==
        "## A\n\nx\n\n### a\n\ny\n");
  CHECK(report::section_of("# t\n\n## B\n\nz\n", "B") == "## B\n\nz\n");
  CHECK(report::section_of("# t\n\n## B\n\nz\n", "A").empty());
  CHECK(report::question_of("# t\n\nOne `x`\ntwo <b>?\n\nthree") == "One x two <b>?");
  CHECK(report::question_of("# t\n") == "");
}

TEST_CASE("an explanation holds no HTML of its own, and its links lead to no script") {
  CHECK(report::html_of_explanation("a <b>c</b> &lt;i&gt;\n\n<script>alert()</script>\n\n"
                                    "[e](javascript:f()) [g](https://example.org)\n") ==
        "<p>a &lt;b&gt;c&lt;/b&gt; &lt;i&gt;</p>\n<pre><code>&lt;script&gt;alert()&lt;/script&gt;\n"
        "</code></pre>\n<p><a href=\"\">e</a> <a href=\"https://example.org\">g</a></p>\n");
}

TEST_CASE("the explanations of the probes have nothing that is not meant") {
  // Stars of a product that become emphasis, and quotes or numbers at the beginning of a line.
  for (const char* const page :
       {"banks.md", "inflight.md", "latency.md", "stalls.md", "stride.md"}) {
    CAPTURE(page);
    const std::string html = report::html_of_explanation(embedded_file(page));
    CHECK(count(html, "<h4>") > 3);
    CHECK(count(html, "<p>") > 5);
    for (const char* const tag :
         {"<em>", "<ol", "<blockquote", "<hr", "<h1", "<h2", "<h3", "<img"}) {
      CHECK_MESSAGE(count(html, tag) == 0, tag);
    }
  }
}

TEST_CASE("the policy of a page names exactly its own scripts and style") {
  constexpr std::string_view of_nothing = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
  for (const char* const name : {"report.js", "report.css"}) {
    CHECK(content_hash(name).size() == of_nothing.size());
    CHECK(count(render_html({}), content_hash(name)) == 1);
  }
  CHECK_THROWS_AS(content_hash("latency.md"), std::out_of_range);
  CHECK(has_embedded_file("latency.md"));
  CHECK_FALSE(has_embedded_file("nothing.md"));
}

TEST_CASE("a page has the values of all charts' points, and files of pictures have none") {
  const std::array two{example_gpu_run(), example_cpu_run()};
  const std::string html = render_html(two);
  CHECK(html.find("<title>H200, 1 KiB: 16.2 ns") != std::string::npos);
  CHECK(count(html, "<circle") > 50);
  CHECK(count(render_svg(two, "latency"), "<circle") == 0);
  // A figure for each series, the first one open; a device has one colour in all of them.
  const std::vector<report::Figure> figures = report::figures_of(two, "latency");
  REQUIRE(figures.size() > 1);
  CHECK_FALSE(figures[0].is_folded);
  CHECK(figures[0].title.empty());
  CHECK(figures[1].is_folded);
  CHECK(html.find("<details><summary>" + figures[1].title + "</summary>\n<figure") !=
        std::string::npos);
}

TEST_CASE("of more curves than can be told apart each figure has a few") {
  Run run = example_gpu_run();
  ProbeResult& result = run.results.front();
  result.findings.clear();
  const std::vector<Point> points = result.points;
  result.points.clear();
  for (int series = 0; series < 12; ++series) {
    for (Point point : points) {
      point.series = fmt::format("s{}", series);
      result.points.push_back(std::move(point));
    }
  }
  const auto figures = report::figures_of(std::span(&run, 1), result.probe);
  REQUIRE(figures.size() == 3);
  CHECK(figures[1].title == "curves 6 to 10 of 12");
  CHECK(figures[2].title == "curves 11 to 12 of 12");
  CHECK(figures[2].svg.find(">s11</text>") != std::string::npos);
  CHECK(figures[2].svg.find(">s9</text>") == std::string::npos);
  CHECK(figures[0].svg.find("5 of 12 curves") != std::string::npos);
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
  std::array both{run, run};
  for (Point& point : both[1].results[0].points) {
    for (Sample& sample : point.samples) *sample.ticks *= 2;
  }
  const auto maps = report::figures_of(both, "unheard_of");
  REQUIRE(maps.size() == 2);
  CHECK(count(maps[0].svg, "</title></rect>") == 20);
  CHECK(maps[0].svg.find("<title>stride words 1, work-items 8: ") != std::string::npos);
  // Colours mean the same on all devices: the scale has the same ends.
  const auto scale = [](const std::string& svg) { return svg.substr(svg.rfind("<text")); };
  CHECK(scale(maps[0].svg) == scale(maps[1].svg));
  check_golden("heat-map.svg", render_svg(std::span(&run, 1), "unheard_of"));
  // Of what has its own view, too, the points must be there for it.
  ProbeResult banks = grid;
  banks.probe = "banks";
  CHECK(heat_map_axes(banks));
  banks.points.resize(1);
  CHECK_FALSE(heat_map_axes(banks));
}

TEST_CASE("runs of one device are told apart by what differs, and by no more") {
  std::array runs{example_gpu_run(), example_gpu_run(), example_cpu_run(), example_gpu_run()};
  CHECK(report::run_titles(std::span(runs).first(1)) == std::vector{runs[0].device.name});
  using Titles = std::vector<std::string>;
  const std::string cpu = "AMD EPYC 9V74 80-Core";
  CHECK(report::run_titles(runs) == Titles{"H200, #1", "H200, #2", cpu, "H200, #4"});
  runs[1].device.driver = "600";
  runs[3].started = "2026-02-03T00:00:00Z";
  CHECK(report::run_titles(runs) ==
        Titles{"H200, 580.159.03, 2026-01-02", "H200, 600", cpu, "H200, 580.159.03, 2026-02-03"});
  runs[3].device.driver = "610";
  CHECK(report::run_titles(runs) == Titles{"H200, 580.159.03", "H200, 600", cpu, "H200, 610"});
  runs[3].device.compute_units = 7;
  CHECK(report::run_titles(runs)[3] == "H200, 7 units");
  runs[3].device.compute_units = 0;  // not known, and not shown
  CHECK(report::run_titles(runs)[3] == "H200");
  runs[3].label = "mine";
  CHECK(report::run_titles(runs)[3] == "mine");
  CHECK(report::run_names(std::array{digest(runs[3], "")})[0][0] == "mine");
  // Of one day the device tells more than the time; of two days its number may be another one.
  runs.fill(example_gpu_run());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].started = fmt::format("2026-01-0{}T08:55:2{}Z", i == 3 ? 3 : 2, i);
  }
  runs[1].device.platform_index = "0:1";
  runs[3].device.platform_index = "0:1";
  CHECK(report::run_titles(runs) == Titles{"H200, 2026-01-02, 0:0, 08:55:20",
                                           "H200, 2026-01-02, 0:1",
                                           "H200, 2026-01-02, 0:0, 08:55:22", "H200, 2026-01-03"});
  runs[1].device.platform_index.clear();  // of another tool
  CHECK(report::run_titles(runs)[1] == "H200, 2026-01-02");
}

TEST_CASE("a model is called as people call it") {
  DeviceInfo device;
  device.type = DeviceType::cpu;
  for (const auto& [name, model] :
       {std::pair("pthread-skylake-avx512-Intel(R) Xeon(R) Processor", "Intel Xeon"),
        std::pair("cpu-znver4-AMD EPYC 9V74 80-Core Processor", "AMD EPYC 9V74 80-Core"),
        std::pair("Intel(R) Core(TM) i7-X", "Intel Core i7-X"),
        std::pair("cpu-lower-case", "cpu-lower-case"), std::pair(" Processor", " Processor")}) {
    device.name = name;
    CHECK(report::model_of(device) == model);
  }
  device.type = DeviceType::gpu;
  device.name = "NVIDIA H100 80GB HBM3";
  CHECK(report::model_of(device) == "H100 80GB HBM3");
}

}  // namespace clprobe
