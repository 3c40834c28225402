// SPDX-License-Identifier: Apache-2.0
// Bars of parts of kernels in every format, on a made-up run.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "clprobe/report.hpp"
#include "clprobe/stacks.hpp"
#include "example_runs.hpp"
#include "report/stacks.hpp"
#include "report/svg.hpp"

namespace clprobe {
namespace {

void add_bar(std::string_view bar, std::string_view view, double none, double data, double cycles,
             std::vector<Finding>& findings) {
  Finding time;
  time.name = stack_time_name;
  time.series = bar;
  time.value = cycles;
  time.unit = "cycles";
  findings.push_back(time);
  const auto add = [&](std::string_view label, double share) {
    Finding part;
    part.name = stack_part_name;
    part.series = bar;
    part.method = view;
    part.label = label;
    part.value = share;
    part.unit = "share";
    findings.push_back(part);
  };
  add("no stall", none);
  add("memory data: L2", data);
}

/// A kernel whose second half of the time is waiting, on two units of which one waits for all of
/// it.
Run parts_run() {
  Run run = example_gpu_run();
  run.results.resize(1);
  ProbeResult& result = run.results.front();
  result.probe = "gsi";
  result.warnings.clear();
  result.points.resize(1);
  result.findings.clear();
  add_bar("a, b", stack_view_gsi, 0.5, 0.5, 16, result.findings);
  add_bar("a, b, unit 0", stack_view_units, 1.0, 0.0, 16, result.findings);
  add_bar("a, b, unit 1", stack_view_units, 0.0, 1.0, 16, result.findings);
  add_bar("a, b, cycles 0 to 7", stack_view_timeline, 0.75, 0.25, 8, result.findings);
  add_bar("a, b, cycles 8 to 15", stack_view_timeline, 0.25, 0.75, 8, result.findings);
  return run;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a bar of a part is the kernel's name and what of it, behind the last comma") {
  CHECK(split_bar("a, b, unit 0").kernel == "a, b");
  CHECK(split_bar("a, b, unit 0").part == "unit 0");
  CHECK(split_bar("a").kernel == "a");
  CHECK(split_bar("a").part.empty());
}

TEST_CASE("terminals have bars of units below their kernel, and the time from left to right") {
  const std::vector<Run> runs{parts_run()};
  const std::string text = render_table(runs, {.width = 40});
  CHECK(has(text,
            "\n a, b\n  unit 0  ##############################\n"
            "  unit 1  DDDDDDDDDDDDDDDDDDDDDDDDDDDDDD\n"));
  // A column of eight for each window, the first category at the bottom.
  CHECK(has(text,
            "\n a, b\n  DDDDDD\n  DDDDDD\n  ###DDD\n  ###DDD\n  ###DDD\n  ###DDD\n  ######\n"
            "  ######\n  0 16.0\n"));
}

TEST_CASE("tables have a row for each part, and pages a figure for each view and kernel") {
  const Run run = parts_run();
  std::vector<report::Table> tables;
  for (const report::Block& block : report::shares_blocks(run.results[0].findings)) {
    if (const auto* const table = std::get_if<report::Table>(&block)) tables.push_back(*table);
  }
  REQUIRE(tables.size() == 3);
  CHECK(has(tables[2].title, "a, b: over time"));
  CHECK(tables[2].head == std::vector<std::string>{"", "no stall", "memory data"});
  std::string row;
  for (const report::Cell& cell : tables[2].rows[1]) row += cell.text + "|";
  CHECK(row == "cycles 8 to 15|25.0|75.0|");
  const auto figures = report::figures_of(std::span(&run, 1), "gsi");
  std::string titles;
  for (const auto& each : figures) titles += each.title + '\n';
  CHECK(titles ==
        "\na, b, by compute unit, one cause per cycle (GSI)\n"
        "a, b, over time, one cause per cycle (GSI)\n");
  CHECK(has(figures[2].svg, ">a, b, cycles 8 to 15</text>"));
}

}  // namespace clprobe
