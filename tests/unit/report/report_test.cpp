// SPDX-License-Identifier: Apache-2.0
#include "present/api/report.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <locale>
#include <nlohmann/json.hpp>

#include "example_runs.hpp"
#include "golden.hpp"
#include "hidden_text.hpp"
#include "present/chart.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/heat_map.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);  // the last line ends too
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Without the colours that the page itself makes: ESC [ digits m.
std::string without_colour(const std::string& line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, "\x1b[") == 0) {
      const std::size_t end = line.find_first_not_of("0123456789;", i + 2);
      if (end != std::string::npos && line[end] == 'm') {
        i = end;
        continue;
      }
    }
    plain += line[i];
  }
  return plain;
}

// The cells of a row of RFC 4180.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_double = is_quoted && line.compare(i, 2, "\"\"") == 0;
    if (line[i] == '"' && !is_double) {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
      i += is_double ? 1 : 0;
    }
  }
  return cells;
}

std::size_t unescaped_pipes(const std::string& line) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      ++count;
    }
  }
  return count;
}

/// A locale that writes 1.234,5: what a renderer that uses the global locale would show.
class CommaPoint : public std::numpunct<char> {
 public:
  CommaPoint() : std::numpunct<char>(1) {}  // 1: the locale does not delete it

 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("every format is what it was") {
  const std::array gpu{example_gpu_run()};
  check_golden("table.txt", render_table(gpu, {}));
  check_golden("table-ascii-60.txt", render_table(gpu, {.width = 60, .unicode = false}));
  check_golden("table-verbose.txt", render_table(gpu, {.all_points = true}));
  const std::array banks{example_banks_run()};
  check_golden("banks.txt", render_table(banks, {}));
  check_golden("banks-ascii-60.txt", render_table(banks, {.width = 60, .unicode = false}));
  check_golden("banks.md", render_markdown(banks));
  const std::array three{example_gpu_run(), example_cpu_run(), example_broken_run()};
  check_golden("side-by-side.txt", render_table(three, {}));
  check_golden("report.md", render_markdown(three));
  std::array small{example_gpu_run(), example_cpu_run()};
  for (Run& run : small) run.results[0].points.resize(12);
  check_golden("report.csv", render_csv(small));
}

TEST_CASE("a report is a function of the file") {
  const std::vector<Run> runs = runs_from_json(read_golden("run.json"));
  CHECK(render_table(runs, {}) == read_golden("table.txt"));
}

TEST_CASE("no table is wider than asked for, and nothing of a driver controls the terminal") {
  const std::vector<std::vector<Run>> documents{
      {example_gpu_run()},
      {example_hostile_run()},
      {example_banks_run()},
      {example_banks_run(), example_banks_run()},
      {example_gpu_run(), example_cpu_run(), example_broken_run(), example_hostile_run()}};
  for (const std::vector<Run>& runs : documents) {
    for (const int width : {10, 20, 33, 40, 52, 60, 72, 80, 100, 132, 250}) {
      for (const int choice : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const TableStyle style{.width = width,
                               .colour = (choice & 1) != 0,
                               .unicode = (choice & 2) != 0,
                               .all_points = (choice & 4) != 0};
        CAPTURE(width);
        CAPTURE(choice);
        for (const std::string& coloured : lines_of(render_table(runs, style))) {
          const std::string line = style.colour ? without_colour(coloured) : coloured;
          CAPTURE(line);
          REQUIRE(display_width(line) <= width);
          REQUIRE(printable(line) == line);
          if (!style.unicode) REQUIRE(printable_ascii(line) == line);
          REQUIRE_FALSE(line.ends_with(' '));
        }
      }
    }
  }
}

TEST_CASE("no character that is not seen reaches a report") {
  const std::vector<std::vector<Run>> documents{
      {example_hostile_run()},
      {with_hidden_text(example_gpu_run())},
      {with_hidden_text(example_banks_run())},
      {with_hidden_text(example_broken_run())},
      {with_hidden_text(example_gpu_run()), with_hidden_text(example_cpu_run())}};
  for (const std::vector<Run>& runs : documents) {
    const std::string probe = runs.front().results.front().probe;
    for (const bool is_unicode : {false, true}) {
      CHECK(first_hidden(render_table(runs, {.unicode = is_unicode, .all_points = true})) == "");
    }
    CHECK(first_hidden(render_csv(runs)) == "");
    CHECK(first_hidden(render_findings_csv(runs)) == "");
    CHECK(first_hidden(render_markdown(runs)) == "");
    CHECK(first_hidden(render_svg(runs, probe)) == "");
    CHECK(first_hidden(render_html(runs)) == "");
    CHECK(first_hidden(to_json(runs)) == "");
  }
}

TEST_CASE("colour changes nothing but the colour") {
  const std::array runs{example_gpu_run(), example_cpu_run(), example_banks_run()};
  const std::string coloured = render_table(runs, {.colour = true});
  CHECK(coloured.find("\x1b[") != std::string::npos);
  CHECK(without_colour(coloured) == render_table(runs, {}));
}

TEST_CASE("nothing measured is said, not hidden") {
  CHECK(render_table({}, {}).empty());
  Run run = example_broken_run();
  const std::string brief = render_table(std::span(&run, 1), {});
  CHECK(brief.find("FAILED: clBuildProgram") != std::string::npos);
  CHECK(brief.find("INTERRUPTED: stopped by the user") != std::string::npos);
  CHECK(brief.find("not done") != std::string::npos);
  CHECK(brief.find("the run was interrupted") != std::string::npos);
  const std::string broken = render_table(std::span(&run, 1), {.all_points = true});
  CHECK(broken.find("INTERRUPTED: stopped by the user") != std::string::npos);
  CHECK(broken.find("2 of 24 points could not be measured") != std::string::npos);
  CHECK(broken.find("FAILED: clBuildProgram") != std::string::npos);
  CHECK(broken.find("unobservable: local memory is emulated") != std::string::npos);
  run.results.clear();
  CHECK(render_table(std::span(&run, 1), {}).find("nothing was measured") != std::string::npos);
}

TEST_CASE("CSV has the same columns in every row and no formulas") {
  const std::array runs{example_hostile_run(), example_cpu_run()};
  const std::vector<std::string> rows = lines_of(render_csv(runs));
  const std::size_t columns = cells_of(rows.front()).size();
  REQUIRE(rows.size() > 100);
  for (const std::string& row : rows) {
    CAPTURE(row);
    REQUIRE(printable(row) == row);
    const std::vector<std::string> cells = cells_of(row);
    REQUIRE(cells.size() == columns);
    for (const std::string& cell : cells) {
      REQUIRE_FALSE((!cell.empty() && std::string_view("=+-@").find(cell[0]) != std::string::npos));
    }
  }
}

TEST_CASE("spreadsheets do not run a device's name") {
  Run run = example_gpu_run();
  run.device.name = "=HYPERLINK(\"http://example.org\")";
  run.device.driver = " +1";
  const std::string row = lines_of(render_csv(std::span(&run, 1))).at(1);
  CHECK(row.starts_with(
      R"row(0,"'=HYPERLINK(""http://example.org"")",' +1,latency,global,1024,)row"));
}

TEST_CASE("CSV gives a time for a sample only where the sample alone has one") {
  const Run gpu = example_gpu_run();
  const Run cpu = example_cpu_run();
  CHECK(cells_of(lines_of(render_csv(std::span(&gpu, 1))).at(1)).back() == "16.2254");
  CHECK(cells_of(lines_of(render_csv(std::span(&cpu, 1))).at(1)).back().empty());
}

TEST_CASE("Markdown's tables keep their columns whatever the names") {
  const std::array runs{example_hostile_run(), example_gpu_run()};
  const std::string text = render_markdown(runs);
  CHECK(printable(text) != text);  // line ends are the only control characters
  std::size_t pipes = 0;
  for (const std::string& line : lines_of(text)) {
    CAPTURE(line);
    REQUIRE(printable(line) == line);
    if (!line.starts_with('|')) {
      pipes = 0;
      continue;
    }
    if (pipes == 0) pipes = unescaped_pipes(line);
    REQUIRE(unescaped_pipes(line) == pipes);
  }
  CHECK(text.find("\\`pipe\\` \\*bold\\* \\<b\\>") != std::string::npos);
}

TEST_CASE("warnings are sentences, also those that nobody has written yet") {
  CHECK(
      describe_warning({"clock_drift", {{"drift_share", 0.041}}}) ==
      "the device's speed changed by 4.1 % during the run; close other programs, lock the clocks, "
      "or repeat with --thorough");
  CHECK(describe_warning({"clock-drift", {{"drift_share", 0.041}}}).starts_with("the device's"));
  CHECK(describe_warning({"clock_drift", {{"start_ns", std::int64_t{1500}}}}) ==
        "clock drift: start 1.50 µs; close other programs, lock the clocks, or repeat with "
        "--thorough");
  CHECK(describe_warning({"very_odd", {{"size_bytes", std::int64_t{65536}}, {"why", "rain"}}}) ==
        "very odd: size 64 KiB, why rain");
  CHECK(describe_warning({"odd", {}}) == "odd");
  CHECK(describe_warning({"wide_intervals",
                          {{"points", std::int64_t{37}},
                           {"of_points", std::int64_t{120}},
                           {"widest_share", 0.46}}}) ==
        "the samples of 37 of 120 points scatter by up to 46 %; --thorough takes more samples per "
        "point");
  const auto short_time = [](std::int64_t planned) {
    return describe_warning(
        {"time_budget_short", {{"measured", std::int64_t{0}}, {"planned", planned}}});
  };
  CHECK(short_time(1).starts_with("the time budget was reached after 0 of 1 point; "));
  CHECK(short_time(30).starts_with("the time budget was reached after 0 of 30 points; "));
}

TEST_CASE("warnings that differ in numbers alone are one sentence") {
  std::vector<Warning> warnings;
  const auto refuse = [&](std::string_view series, int work_items) {
    warnings.push_back({"point_refused",
                        {{"series", std::string(series)},
                         {"reason", fmt::format("at most 256 work-items, not {}", work_items)}}});
  };
  for (int i = 0; i < 3; ++i) refuse("cache-x1", 300 + i);
  CHECK(report::warning_sentences(warnings).size() == 3);
  warnings.push_back({"odd", {}});
  for (int i = 0; i < 40; ++i) refuse("cache-x2", 1000 + i);
  refuse("memory-x1", 300);
  const std::vector<std::string> sentences = report::warning_sentences(warnings);
  REQUIRE(sentences.size() == 3);
  CHECK(sentences[0] ==
        "cache-x1: at most 256 work-items, not 300; the other points were measured (and 42 similar "
        "warnings)");
  CHECK(sentences[1] == "odd");
  CHECK(sentences[2].starts_with("memory-x1: "));
}

TEST_CASE("the locale of the program changes no report") {
  const std::array runs{example_gpu_run(), example_cpu_run()};
  const std::string csv = render_csv(runs);
  const std::string table = render_table(runs, {.all_points = true});
  const CommaPoint comma;
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), &comma));
  CHECK(render_csv(runs) == csv);
  CHECK(render_table(runs, {.all_points = true}) == table);
  std::locale::global(before);
}

TEST_CASE("a parameter has the unit of its name, but for what no size and no time can be") {
  CHECK(report::parameter_text("timer_resolution_ns", Value(1000.0)) == "1.00 µs");
  CHECK(report::parameter_text("timer_resolution_ns", Value(-0.5)) == "-0.500");
  // No share has an exponent.
  CHECK(report::parameter_text("changed_share", Value(0.1904)) == "19 %");
  CHECK(report::parameter_text("changed_share", Value(9.99)) == "999 %");
  CHECK(report::parameter_text("changed_share", Value(9.996)) == "1000 %");
  CHECK(report::parameter_text("changed_share", Value(15.1)) == "1510 %");
  CHECK(describe_warning({"reference_changed",
                          {{"probe", "bandwidth"},
                           {"series", "read"},
                           {"kind", "memory"},
                           {"changed_share", 15.1},
                           {"allowed_factor", 2.4}}}) ==
        "the time of the reference point (memory: read of bandwidth) changed by up to 1510 %; "
        "perhaps another program uses the device; the intervals allow for changes by a factor of "
        "2.40");
  CHECK(report::parameter_text("working_set_bytes", Value(std::int64_t{4096})) == "4 KiB");
  CHECK(report::parameter_text("working_set_bytes", Value(std::int64_t{-4096})) == "-4096");
}

TEST_CASE("whatever the loader accepts can be rendered") {
  Run run = example_gpu_run();
  std::vector<Point>& points = run.results[0].points;
  points.erase(points.begin() + 6, points.end());
  const std::string good = to_json(std::span(&run, 1));
  std::uint64_t state = 5;
  const auto random_below = [&](std::size_t limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    return static_cast<std::size_t>((state >> 33U) % limit);
  };
  int rendered = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = good;
    for (int edits = 0; edits < 6; ++edits) {  // digits, so that many remain documents
      const std::size_t at = text.find_first_of("0123456789", random_below(text.size()));
      if (at != std::string::npos) text.replace(at, 1, 1, "0123456789-e."[random_below(13)]);
    }
    try {
      const std::vector<Run> runs = runs_from_json(text);
      for (const std::string& line : lines_of(render_table(runs, {.all_points = true}))) {
        REQUIRE(display_width(line) <= 80);
      }
      CHECK_FALSE(render_csv(runs).empty());
      CHECK_FALSE(render_markdown(runs).empty());
      ++rendered;
    } catch (const RunFormatError& error) {
      CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
    }
  }
  CHECK(rendered > 100);
}

TEST_CASE("a chart needs two sizes, and survives any finite curve") {
  report::Page page(TableStyle{});
  report::draw_chart(page, {.x_name = "stride"});
  report::draw_chart(page, {.x_name = "stride", .series = {{"one", {{4.0, 2.0}}}}});
  CHECK(page.text().empty());
  report::draw_chart(page, {.x_name = "stride",
                            .series = {{"wild", {{1.0, 1e-3}, {2.0, 1e12}, {3.0, 5.0}}},
                                       {"flat", {{1.0, 1e-300}, {1e300, 1e-300}}}}});
  for (const std::string& line : lines_of(page.text())) {
    CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("a note is written where it has room, and one that is wider than the chart is not") {
  report::Chart chart{.x_name = "stride", .series = {{"one", {{1.0, 2.0}, {16.0, 2.0}}}}};
  const auto drawn_with = [&](const std::string& text) {
    chart.notes = {{1.0, 16.0, 2.0, text}};
    report::Page page(TableStyle{});
    report::draw_chart(page, chart);
    return page.text();
  };
  CHECK(drawn_with("two").find("two") != std::string::npos);
  for (const std::size_t width : {60U, 66U, 70U, 78U, 200U, 100'000U}) {
    const std::string drawn = drawn_with(std::string(width, 'w'));
    CAPTURE(width);
    CHECK((drawn.find("ww") == std::string::npos || width < 80));
    for (const std::string& line : lines_of(drawn)) CHECK(display_width(line) <= 80);
  }
}

TEST_CASE(
    "a heat map needs two columns, has one shade where nothing varies, and survives any number") {
  report::Page page(TableStyle{});
  const auto cell = [](double x, double y, double value) {
    return report::GridCell{y, {.x = x, .y = value}};
  };
  report::Grid map{"load", {"stride_words", "word_bytes"}, "cycles", "", {cell(1.0, 4.0, 2.0)}};
  report::draw_heat_map(page, {}, report::Form::usual);
  report::draw_heat_map(page, map, report::Form::usual);
  CHECK(page.text().empty());
  map.cells.push_back(cell(2.0, 4.0, 2.1));
  report::draw_heat_map(page, map, report::Form::usual);
  CHECK(page.text().find("··") != std::string::npos);
  map.cells = {cell(-1e300, 4.0, 1e-300), cell(1e300, 8.5, 1e300), cell(0.5, 1e18, 3.0)};
  report::draw_heat_map(page, map, report::Form::usual);
  for (const std::string& line : lines_of(page.text())) {
    CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("findings that share no names are tables of their own") {
  const std::vector<Finding> findings{{.name = "banks", .series = "memory"},
                                      {.name = "c1", .series = "model"},
                                      {.name = "width", .series = "memory"},
                                      {.name = "c2", .series = "other"},
                                      {.name = "c1", .series = "other"}};
  const auto blocks = report::groups_of(findings);
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].size() == 2);
  CHECK(blocks[1].size() == 3);
  CHECK(report::groups_of(example_gpu_run().results[0].findings).size() == 1);
}

}  // namespace clprobe
