// SPDX-License-Identifier: Apache-2.0
#include "present/card.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "example_runs.hpp"
#include "golden.hpp"
#include "present/api/report.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

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
      .levels = {{"L1", number(16.2e-9, "seconds", 0.004), number(32.0, "cycles"),
                  number(196608.0, "bytes", 0.05), "cache"},
                 {"memory", number(345e-9, "seconds", 0.01), number(684.0, "cycles"),
                  open_end(1073741824.0), ""}},
      .lines = {{"bandwidth", "read 4.55 TB/s, copy 4.03 TB/s (int4, coalesced)"}},
      .rows = {{"image", "44.4 ns to 197 KiB"}},
      .unseen = {"banks of local memory"}};
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
         {"345 ns", "684", "memory", "1 GiB", "4.55 TB/s", "banks of local memory"}) {
      CAPTURE(each);
      CHECK(text.find(each) != std::string::npos);
    }
  }
  CHECK(render_table(run, {}).find("> 1 GiB") != std::string::npos);
  CHECK(render_table(run, {}).find("bandwidth") < render_table(run, {}).find("latency ─"));
}

TEST_CASE("an answer takes at most two lines at 80 columns, and a list one") {
  Run run = carded_run();
  Card& card = run.results[0].card;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "words and words ";
  card.lines = {{"one", text}, {"two", text}, {"three", "short"}};
  card.unseen.assign(100, "what could not be seen");
  for (const bool is_unicode : {true, false}) {
    const std::vector<std::string> lines = card_lines(run, 80, is_unicode);
    REQUIRE(lines.size() == 11);
    CHECK(lines[9].starts_with(" not seen  what could not be seen, "));
    CHECK(lines[9].ends_with(" more"));
    CHECK(lines[10] == " warnings  clock drift");
    for (const int width : {10, 40, 60, 79, 80, 120}) {
      for (const std::string& line : card_lines(run, width, is_unicode)) {
        CAPTURE(line);
        CHECK(display_width(line) <= width);
      }
    }
  }
  // A sentence is cut only where the card would have more than 16 lines.
  const auto is_cut = [&run] {
    const std::vector<std::string> lines = card_lines(run, 80);
    return std::ranges::any_of(lines, [](const auto& line) { return line.ends_with("…"); });
  };
  for (const auto& [sentences, is_sentence_cut] : {std::pair{2U, false}, std::pair{4U, true}}) {
    card.lines.assign(sentences, {"one", text.substr(0, 300), true});
    CHECK(is_cut() == is_sentence_cut);
  }
  // The first warning stands whole, on lines of its own.
  run.results[0].warnings = {{.code = std::string(60, 'a') + "_and_more_of_it"},
                             {.code = "clock_drift"}};
  const std::vector<std::string> lines = card_lines(run, 80);
  CHECK(lines[lines.size() - 2].ends_with("a and more"));
  CHECK(lines.back() == "           of it, 1 more");
}

TEST_CASE("an answer that has no room ends after a whole part of its list") {
  Run run = carded_run();
  std::string text;
  for (int i = 0; i < 6; ++i) text += "main memory 10 to 72 % of 4 kernels, ";
  run.results[0].card.lines = {{"last", text}};
  CHECK(card_lines(run, 80)[5].ends_with("main memory 10 to 72 % of 4 kernels, …"));
}

TEST_CASE("facts stand next to a name where both fit in a line, else below it") {
  Run run = carded_run();
  CHECK(card_lines(run, 80)[0] ==
        "NVIDIA H200  132 compute units, 140 GiB, driver 580.159.03, 2026-01-02");
  run.device.name = "cpu-skylake-avx512-Intel(R) Xeon(R) Processor";
  CHECK(card_lines(run, 80)[1] == " 132 compute units, 140 GiB, driver 580.159.03, 2026-01-02");
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
  CHECK(report::card_html(card).find(">type</th>") != std::string::npos);
  for (report::DeviceLevel& level : card.levels) level.own.cycles = {};
  CHECK(report::card_html(card).find(">cycles</th>") == std::string::npos);
  for (report::DeviceLevel& level : card.levels) level.own.what.clear();
  CHECK(report::card_html(card).find(">type</th>") == std::string::npos);
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

TEST_CASE("a measured reach of a TLB decides what an uncertain level is") {
  Run run;
  run.results.resize(2);
  const auto bytes = [](double value, double low, double high) {
    return Finding{.name = "reach", .value = value, .low = low, .high = high, .unit = "bytes"};
  };
  CardLevel level{.name = "L4?", .capacity = bytes(1000.0, 900.0, 1100.0), .what = "unclear"};
  level.may_be_tlb = true;
  run.results[0].card.levels = {level};
  const auto settled = [&](const Finding& reach) {
    run.results[1].card.reaches = {reach};
    const CardLevel own = report::card_of(run).levels.at(0).own;
    return own.name + ", " + own.what;
  };
  CHECK(settled(bytes(1000.0, 950.0, 1050.0)) == "level 1, reach of a TLB");
  CHECK(settled(bytes(700.0, 700.0, 721.0)) == "level 1, reach of a TLB");
  CHECK(settled(bytes(700.0, 700.0, 719.0)) == "L4?, unclear");
  CHECK(settled(bytes(1400.0, 1374.0, 1500.0)) == "level 1, reach of a TLB");
  CHECK(settled(bytes(1400.0, 1376.0, 1500.0)) == "L4, ");
  // A reach that is only known to be larger proves a cache.
  CHECK(settled({.name = "reach", .low = 5000.0}) == "L4, ");
  CHECK(settled({.name = "reach", .low = 1200.0}) == "L4?, unclear");
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
