// SPDX-License-Identifier: Apache-2.0
#include "report/card.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "clprobe/report.hpp"
#include "example_runs.hpp"
#include "golden.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Finding number(double value, const char* unit, double aside = 0.0) {
  Finding finding{.value = value, .unit = unit};
  finding.low = value * (1.0 - aside);
  finding.high = value * (1.0 + aside);
  return finding;
}

Finding open_end(double low) {
  Finding finding{.unit = "bytes"};
  finding.low = low;
  return finding;
}

/// Two levels, and a line of each kind.
Run carded_run() {
  Run run = example_gpu_run();
  run.results[0].card = {
      .levels = {{"global 1", number(16.2e-9, "seconds", 0.004), number(32.0, "cycles"),
                  number(196608.0, "bytes", 0.05), "cache"},
                 {"global 2", number(345e-9, "seconds", 0.01), number(684.0, "cycles"),
                  open_end(1073741824.0), "memory"}},
      .lines = {{"bandwidth", "read 4.55 TB/s, copy 4.03 TB/s (int4, neighbours side by side)"}},
      .rows = {{"image", "44.4 ns to 197 KiB"}},
      .unseen = {"size of a sector"}};
  return run;
}

std::vector<std::string> card_lines(const Run& run, int width, bool is_unicode = true) {
  report::Page page({.width = width, .unicode = is_unicode});
  report::add_card(page, report::card_of(run), true);
  return lines_of(page.text());
}

}  // namespace

TEST_CASE("a card has the levels, the lines and what was not seen, in every format") {
  const std::array run{carded_run()};
  check_golden("card.txt", render_table(run, {}));
  for (const std::string& text : {render_table(run, {}), render_markdown(run), render_html(run)}) {
    for (const char* const each :
         {"345 ns", "684", "memory", "1 GiB", "4.55 TB/s", "size of a sector"}) {
      CAPTURE(each);
      CHECK(text.find(each) != std::string::npos);
    }
  }
  CHECK(render_table(run, {}).find("> 1 GiB") != std::string::npos);
  CHECK(render_table(run, {}).find("bandwidth") < render_table(run, {}).find("latency ─"));
}

TEST_CASE("a card is at most 14 lines at 80 columns, whatever its probes say") {
  Run run = carded_run();
  Card& card = run.results[0].card;
  for (int i = 0; i < 20; ++i) card.levels.push_back(card.levels[0]);
  card.levels.push_back(card.levels[1]);
  card.levels.push_back(card.levels[0]);
  card.levels.back().name = "local 1";
  std::string text;
  for (int i = 0; i < 60; ++i) text += "words and words ";
  card.lines = {{"one", text}, {"two", text}, {"three", "short"}};
  card.unseen.assign(100, "what could not be seen");
  for (const bool is_unicode : {true, false}) {
    const std::vector<std::string> lines = card_lines(run, 80, is_unicode);
    CHECK(lines.size() == 14);
    CHECK(lines[6].find("global 1") != std::string::npos);
    CHECK(lines[9].find("memory") != std::string::npos);  // a series' last level is always there
    CHECK(lines[10].find("local 1") != std::string::npos);
    CHECK(lines[12].find("; three short") != std::string::npos);
    CHECK(lines[13].find("beware of clock drift") != std::string::npos);
    for (const int width : {10, 40, 60, 79, 80, 120}) {
      for (const std::string& line : card_lines(run, width, is_unicode)) {
        CAPTURE(line);
        CHECK(display_width(line) <= width);
      }
    }
  }
  card.levels.clear();
  card.lines.resize(1);
  CHECK(card_lines(run, 80).size() == 14);  // room that nobody else takes
}

TEST_CASE("what a card has no room for ends after a whole part of its list") {
  Run run = carded_run();
  Card& card = run.results[0].card;
  card.levels.resize(1);
  card.unseen = {"bandwidth of copy", "banks of local memory", "limit of loads in flight", "knee"};
  for (int i = 0; i < 8; ++i) {
    card.lines.push_back(
        {"more", "read 4.55 TB/s, copy 4.03 TB/s (int4, each work-item in a row)"});
  }
  card.lines.push_back(
      {"last", "main memory 10 to 72 % of 4 kernels, compute data 8 to 68 % of 2 kernels"});
  const std::vector<std::string> lines = card_lines(run, 80);
  const auto has = [&](std::string_view text) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& each) {
      return each.find(text) != std::string::npos;
    });
  };
  CHECK(has("main memory 10 to 72 % of 4 kernels, …"));
  CHECK(has("bandwidth of copy, 3 more; beware of clock drift"));
  CHECK(std::none_of(lines.begin(), lines.end(), [](const std::string& each) {
    return each.find("compute data") != std::string::npos || each.ends_with(" …)");
  }));
  // Parentheses are closed, also where the page is narrow.
  const std::vector<std::string> narrow = card_lines(run, 60, false);
  CHECK(std::none_of(narrow.begin(), narrow.end(), [](const std::string& each) {
    return each.find("(int4, ...") != std::string::npos &&
           each.find("(int4, ...)") == std::string::npos;
  }));
}

TEST_CASE("a line that two lists share gives each what the other one leaves") {
  Run run = carded_run();
  Card& card = run.results[0].card;
  for (int i = 0; i < 8; ++i) card.lines.push_back({"more", "short"});
  std::vector<Warning>& warnings = run.results[0].warnings;
  const auto last = [&] { return card_lines(run, 80).back(); };
  card.unseen = {"one thing", "and another"};
  warnings = {{.code = "clock_drift"}};
  CHECK(last() == " not seen   one thing, and another; beware of clock drift");
  card.unseen.assign(9, "a long thing");
  CHECK(last() == " not seen   a long thing, a long thing, 7 more; beware of clock drift");
  for (const char* const code : {"small_pages", "few_points", "wide_intervals"}) {
    warnings.push_back({.code = code});
  }
  CHECK(last() == " not seen   a long thing, 8 more; beware of clock drift, small pages, 2 more");
  // Half of the line is too little for the first one of a list.
  card.unseen = {"launches command-buffer", "one thing", "and another"};
  CHECK(last() == " not seen   launches command-buffer, 2 more; beware of clock drift, 3 more");
  card.unseen = {"one thing", "and another"};
  warnings = {{.code = "a_warning_of_many_words_indeed"}, {.code = "clock_drift"}};
  CHECK(last() ==
        " not seen   one thing, 1 more; beware of a warning of many words indeed, 1 more");
  // With a line more each has one of its own.
  card.lines.pop_back();
  const std::vector<std::string> lines = card_lines(run, 80);
  CHECK(lines.size() == 14);
  CHECK(lines[12] == " not seen   one thing, and another");
  CHECK(lines[13] == " beware of  a warning of many words indeed, clock drift");
}

TEST_CASE("lists share a line before an answer is cut") {
  Run run = carded_run();
  Card& card = run.results[0].card;
  for (int i = 0; i < 6; ++i) card.lines.push_back({"more", "short"});
  card.lines.push_back(
      {"last", "main memory 10 to 72 % of 4 kernels, compute data 8 to 68 % of 2 kernels"});
  const std::vector<std::string> lines = card_lines(run, 80);
  CHECK(lines.size() == 14);
  CHECK(lines[12].find("kernels") != std::string::npos);
  CHECK(lines[13] == " not seen   size of a sector; beware of clock drift");
}

TEST_CASE("answers share lines before a level goes, the shortest ones first") {
  Run run = carded_run();
  Card& card = run.results[0].card;
  const CardLevel cache = card.levels[0];
  const CardLevel memory = card.levels[1];
  card.lines = {{"transfer", "to 55.5 GB/s, from 55.4, both 102 (pageable 12.4, 15.4)"},
                {"launch", "9.48 µs alone, 3.82 µs in a queue"},
                {"clock", "1976 MHz arithmetic, 1976 stream, 1951 both"},
                {"in flight", "at least 542 loads per compute unit, 1.41 MiB on the device"},
                {"stalls", "38–58 % main memory (5 kernels), 83 % bank conflict"}};
  const auto with_levels = [&](int count) {
    card.levels.clear();
    for (int i = 1; i < count; ++i) {
      card.levels.push_back(cache);
      card.levels.back().name = "global " + std::to_string(i);
    }
    card.levels.push_back(memory);
    card.levels.back().name = "global " + std::to_string(count);
    return card_lines(run, 80);
  };
  const auto levels_in = [](const std::vector<std::string>& lines) {
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return line.starts_with(" global "); });
  };
  // Each has a line.
  CHECK(with_levels(6)[9] == " launch     9.48 µs alone, 3.82 µs in a queue");
  const std::vector<std::string> lines = with_levels(7);
  CHECK(lines.size() == 14);
  CHECK(levels_in(lines) == 7);
  CHECK(lines[10] ==
        " launch     9.48 µs alone, …; clock 1976 MHz arithmetic, 1976 stream, 1951 both");
  CHECK(lines[11].starts_with(" in flight  at least 542 loads per compute unit, 1.41 MiB"));
  // A line that is shared is not shared again, nor is that of what was not seen.
  const std::vector<std::string> more = with_levels(8);
  CHECK(levels_in(more) == 8);
  CHECK(more.size() == 14);
  CHECK(more[12].find("; stalls 38–58 % main memory") != std::string::npos);
  CHECK(more[13] == " not seen   size of a sector; beware of clock drift");
  CHECK(levels_in(with_levels(9)) == 8);
  // Whoever reads that level 9 follows level 7 is told.
  const auto page_of = [&](int count) {
    with_levels(count);
    std::array runs{run};
    runs[0].results.resize(3, {.probe = "stride"});
    return render_table(runs, {});
  };
  CHECK(page_of(8).find("not shown here") == std::string::npos);
  CHECK(page_of(9).find("not shown here: 1 level (") != std::string::npos);
  CHECK(page_of(11).find("not shown here: 3 levels (") != std::string::npos);
  for (const int count : {7, 8, 12}) {
    for (const std::string& line : with_levels(count)) CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("a long name shares its line where there is no room for two") {
  Run run = carded_run();
  run.device.name = "NVIDIA H100 80GB HBM3e";
  CHECK(card_lines(run, 80)[0] ==
        "NVIDIA H100 80GB HBM3e  132 units, 140 GiB, driver 580.159.03, 2026-01-02");
  run.device.name = "cpu-skylake-avx512-Intel(R) Xeon(R) Processor";
  CHECK(card_lines(run, 80)[1] == " 132 compute units, 140 GiB, driver 580.159.03, 2026-01-02");
  for (int i = 0; i < 8; ++i) run.results[0].card.lines.push_back({"more", "short"});
  CHECK(card_lines(run, 80).size() == 14);
  CHECK(card_lines(run, 80)[0].ends_with("Processor  132 units, 140 GiB, …"));
  CHECK(card_lines(run, 80)[1].ends_with("capacity"));
  run.device.name.append(30, 'x');  // what is left says nothing
  CHECK(card_lines(run, 80)[1].starts_with(" 132 compute units"));
}

TEST_CASE("a run of many probes is at most 60 lines at 80 columns, and says what it left out") {
  Run run = carded_run();
  const ProbeResult first = run.results[0];
  for (int i = 1; i < 9; ++i) {
    run.results.push_back(first);
    ProbeResult& added = run.results.back();
    added.probe = "probe" + std::to_string(i);
    added.card = {.rows = {}};
    for (int row = 0; row < 3 + i; ++row) {
      added.card.rows.push_back({"row " + std::to_string(row), "1.00 ns"});
    }
  }
  const std::array runs{run};
  const std::vector<std::string> lines = lines_of(render_table(runs, {}));
  CHECK(lines.size() <= 60);
  for (const std::string& line : lines) CHECK(display_width(line) <= 80);
  std::string said;  // across the ends of lines
  for (const std::string& line : lines) {
    said += " " + line.substr(std::min(line.size(), line.find_first_not_of(' ')));
  }
  const auto has = [&](const std::string& text) { return said.find(text) != std::string::npos; };
  for (int i = 1; i < 9; ++i) CHECK(has("probe" + std::to_string(i) + " "));
  CHECK(has("KiB ──"));  // the first one keeps its picture
  CHECK(has("not shown here: charts of "));
  CHECK(has("rows of "));
  // Where all has room nothing is left out.
  run.results.resize(3);
  const std::array few{run};
  CHECK(render_table(few, {}).find("not shown here") == std::string::npos);
}

TEST_CASE("a page's table of levels has no column that is empty") {
  report::DeviceCard card = report::card_of(carded_run());
  CHECK(report::card_html(card).find(">cycles</th>") != std::string::npos);
  CHECK(report::card_html(card).find(">what it is</th>") != std::string::npos);
  for (report::DeviceLevel& level : card.levels) level.own.cycles = {};
  CHECK(report::card_html(card).find(">cycles</th>") == std::string::npos);
  for (report::DeviceLevel& level : card.levels) level.own.what.clear();
  CHECK(report::card_html(card).find(">what it is</th>") == std::string::npos);
}

TEST_CASE("on a page levels are boxes, by the logarithm of their capacities") {
  report::DeviceCard card = report::card_of(carded_run());
  card.levels[0].own.capacity = number(32.0 * 1024, "bytes");
  card.levels[1].own.capacity = number(1024.0 * 1024, "bytes");
  const report::DeviceLevel memory = report::card_of(carded_run()).levels[1];
  card.levels.push_back(memory);
  std::string html = report::card_html(card);
  CHECK(html.find("x=\"12.0\" width=\"76.0\"") < html.find("x=\"3.4\" width=\"93.1\""));
  CHECK(html.find("x=\"3.4\" width=\"93.1\"") < html.find("x=\"0.0\" width=\"100.0\""));
  CHECK(html.find("<em>16.2 ns</em> cache <em>32 KiB</em>") != std::string::npos);
  CHECK(html.find("<em>345 ns</em> memory <em>&gt; 1 GiB</em>") != std::string::npos);
  // What is not known in between is as wide as the next, and other series have no box.
  card.levels[0].own.capacity = memory.own.capacity;
  card.levels[2].own.latency.series = "local";
  html = report::card_html(card);
  CHECK(html.find("x=\"12.0\" width=\"76.0\"") != html.rfind("x=\"12.0\" width=\"76.0\""));
  CHECK(html.find("width=\"100.0\"") == std::string::npos);
  card.levels.resize(1);
  CHECK(report::card_html(card).find("<figure") == std::string::npos);
}

TEST_CASE("without a card of its own the headlines of a result stand on it") {
  const std::array run{example_gpu_run()};
  const std::vector<std::string> lines = card_lines(run[0], 80);
  const auto has = [&](const char* text) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  CHECK(has("16.2 ns"));
  CHECK(has("global 2"));
  CHECK(has("constant-argument 1: latency 19.6 ns"));
  CHECK(has("and 2 more"));
}

TEST_CASE("a card is in no document, and makes no two results differ") {
  const std::array run{carded_run()};
  CHECK(to_json(run).find("side by side") == std::string::npos);
  CHECK(runs_from_json(to_json(run)).front() == run[0]);
}

TEST_CASE("many probes share a screen, and one has it for itself") {
  Run run = carded_run();
  const std::size_t alone = lines_of(render_table(std::span(&run, 1), {})).size();
  for (const char* const probe : {"second", "third"}) {
    run.results.push_back(run.results[0]);
    run.results.back().probe = probe;
  }
  const std::string many = render_table(std::span(&run, 1), {});
  CHECK(lines_of(many).size() < 2 * alone);
  CHECK(many.find("44.4 ns to 197 KiB") != std::string::npos);
  CHECK(many.find("clock drift") != std::string::npos);  // the kind, in a word
  CHECK(many.find("close other programs") == std::string::npos);
  const std::string all = render_table(std::span(&run, 1), {.all_points = true});
  CHECK(all.find("close other programs") != std::string::npos);
}

}  // namespace clprobe
