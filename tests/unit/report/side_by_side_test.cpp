// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "example_runs.hpp"
#include "present/api/page.hpp"
#include "present/api/report.hpp"
#include "present/side_by_side.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

std::string table_of(const std::vector<Run>& runs, int width,
                     report::Form form = report::Form::usual) {
  report::Page page({.width = width});
  report::add_side_by_side(page, runs, form);
  return page.text();
}

std::size_t count_of(const std::string& text, std::string_view words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    ++count;
  }
  return count;
}

std::vector<Run> ten_runs() {
  std::vector<Run> runs(10, example_gpu_run());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].device.driver = "driver-" + std::string(1, static_cast<char>('a' + i));
  }
  return runs;
}

/// A device that copies to these and from them.
Run run_with_peers(const std::vector<std::string>& peers) {
  Run run = example_gpu_run();
  ProbeResult result;
  result.probe = "transfer";
  std::vector<std::string> series{"both-pinned"};
  for (const std::string& peer : peers) {
    series.insert(series.end(), {"to-peer-" + peer, "from-peer-" + peer});
  }
  for (const std::string& each : series) {
    Finding finding;
    finding.name = "bandwidth";
    finding.series = each;
    finding.unit = "bytes_per_second";
    finding.value = 2e9;
    result.findings.push_back(finding);
  }
  run.results = {result};
  return run;
}

/// A device whose levels take these times; the last one is memory.
Run run_with_levels(const std::string& name, const std::vector<double>& times_ns) {
  Run run = example_gpu_run();
  run.device.name = name;
  ProbeResult result{.probe = "latency", .status = Status::ok};
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    Finding time{.name = "latency", .series = "image"};
    time.level = static_cast<int>(i) + 1;
    time.unit = "seconds";
    time.value = times_ns[i] * 1e-9;
    time.role = Role::headline;
    Finding size{.name = "capacity", .series = "image"};
    size.level = time.level;
    size.unit = "bytes";
    size.low = 1e9;
    if (i + 1 < times_ns.size()) size.value = 1e5 * (static_cast<double>(i) + 1.0);
    result.findings.insert(result.findings.end(), {time, size});
  }
  run.results = {result};
  return run;
}

}  // namespace

TEST_CASE("every device is a column, and none is cut: those that do not fit stand below") {
  const std::vector<Run> runs = ten_runs();
  for (const int width : {60, 80, 120}) {
    const std::string text = table_of(runs, width);
    CAPTURE(text);
    for (const Run& run : runs) CHECK(count_of(text, run.device.driver) == 1);
    CHECK(count_of(text, "16.2 ns") == 10);
    CHECK(count_of(text, "…") == 0);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      CHECK(display_width(text.substr(at, end - at)) <= width);
      at = end + 1;
    }
  }
  CHECK(count_of(table_of(runs, 250), "global 1 latency") == 1);
  CHECK(count_of(table_of(runs, 80), "global 1 latency") > 1);
}

TEST_CASE("headlines are the rows, and with all that is known cycles and words as well") {
  const std::vector<Run> runs{example_gpu_run(), example_cpu_run()};
  const std::string text = table_of(runs, 120);
  CHECK(count_of(text, "global 2 latency") == 1);
  CHECK(count_of(text, "cycles") == 0);
  CHECK(count_of(text, "level end") == 0);
  const std::string whole = table_of(runs, 120, report::Form::whole);
  CHECK(count_of(whole, "global 2 cycles") == 1);
  CHECK(count_of(whole, "global 2 level end") == 1);
}

TEST_CASE("peers of several devices stand in their order, whichever device lacks itself") {
  const std::vector<Run> runs{run_with_peers({"1", "2"}), run_with_peers({"0", "2"}),
                              run_with_peers({"0", "1"})};
  std::vector<std::string> rows;
  for (const auto& row : report::SideBySide(runs).table("transfer", report::Form::whole).rows) {
    if (rows.empty() || rows.back() != row[0].text) rows.push_back(row[0].text);
  }
  CHECK(rows == std::vector<std::string>{"both-pinned", "to-peer-0", "from-peer-0", "to-peer-1",
                                         "from-peer-1", "to-peer-2", "from-peer-2"});
}

TEST_CASE("levels of devices stand side by side by what they are, not by their numbers") {
  const std::vector<Run> runs{run_with_levels("first", {10, 100, 400}),
                              run_with_levels("second", {12, 110, 200, 420}),
                              run_with_levels("third", {11, 410})};
  std::vector<std::string> rows;
  for (const auto& row : report::SideBySide(runs).table("latency", report::Form::whole).rows) {
    if (row[2].text != "latency") continue;
    std::string text = row[1].text + ":";
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const std::string& value = row[3 + run].text;
      text += " " + (value.empty() ? "-" : value);
    }
    rows.push_back(text);
  }
  CHECK(rows == std::vector<std::string>{"1: 10.0 ns 12.0 ns 11.0 ns", "2: 100 ns 110 ns -",
                                         "2+: - 200 ns -", "3: 400 ns 420 ns 410 ns"});
  const std::vector<report::LevelPositions> positions =
      report::SideBySide(runs).level_positions("latency");
  CHECK(report::position_text(positions[1].at({"image", 4})) == "3");
  // In every format: memory is in one row, with its own number as the first run has it.
  CHECK(table_of(runs, 120).find("image 2+ latency") != std::string::npos);
  CHECK(render_markdown(runs).find("| image | 3 | latency | 400 ns | 420 ns | 410 ns |") !=
        std::string::npos);
  CHECK(render_html(runs).find("<td class=\"level\">2+</td>") != std::string::npos);
}

TEST_CASE("of a few devices there are cards too, of many the table alone") {
  const std::vector<Run> runs = ten_runs();
  const std::string few = render_table(std::span(runs).first(4), {});
  CHECK(count_of(few, "NVIDIA H200") == 4);
  CHECK(few.find("NVIDIA H200") < few.find("global 1 latency"));
  CHECK(count_of(render_table(std::span(runs).first(5), {}), "NVIDIA H200") == 0);
}

}  // namespace clprobe
