// SPDX-License-Identifier: Apache-2.0
// The cards of real devices: what a person came for is on the upper half of a screen.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/analyse_again.hpp"
#include "app/commands/stored_runs.hpp"
#include "compare/api/compare.hpp"
#include "present/api/report.hpp"
#include "present/card.hpp"
#include "present/comparison.hpp"
#include "run/api/json.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

std::vector<std::filesystem::path> stored_runs() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CLPROBE_RESULTS)) {
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  }
  return found;
}

std::vector<std::string> card_lines(const Run& run) {
  report::Page page(TableStyle{});
  report::add_card(page, report::card_of(run), true);
  std::vector<std::string> lines;
  std::string line;
  for (const char letter : page.text()) {
    if (letter != '\n') {
      line += letter;
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  return lines;
}

void check_levels(const Run& run, const std::vector<std::string>& lines) {
  for (const report::DeviceLevel& level : report::card_of(run).levels) {
    CAPTURE(level.own.name);
    CHECK(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with(" " + level.own.name + " ");
    }));
  }
}

/// Each time and size on the card is a finding of the run, with its interval.
void check_card(const Run& run) {
  const auto is_found = [&](const Finding& shown) {
    return std::any_of(run.results.begin(), run.results.end(), [&](const ProbeResult& result) {
      return std::find(result.findings.begin(), result.findings.end(), shown) !=
             result.findings.end();
    });
  };
  for (const report::DeviceLevel& level : report::card_of(run).levels) {
    if (level.own.name == "beyond") continue;  // the far end of a curve, and no finding of a level
    CAPTURE(level.own.name);
    for (const Finding* const shown :
         {&level.own.latency, &level.own.cycles, &level.own.capacity}) {
      CHECK((*shown == Finding{} || is_found(*shown)));
    }
  }
}

/// The interval of every row of a comparison, and of its document, is that of the run.
void check_comparison(const Run& run) {
  const auto close = [](const std::optional<double>& one, const std::optional<double>& other) {
    return one.has_value() == other.has_value() &&
           (one == other || *one == doctest::Approx(*other).scale(0).epsilon(1e-9));
  };
  const std::vector<RunDigest> runs{digest(run, "a"), digest(run, "b")};
  for (const ComparedResult& result : runs.front().results) {
    const auto measured =
        std::find_if(run.results.begin(), run.results.end(),
                     [&](const ProbeResult& each) { return each.probe == result.probe; });
    if (measured == run.results.end()) continue;  // the core's clock, which no probe finds
    std::size_t next = 0;
    for (const Finding& finding : measured->findings) {
      if (finding.role == Role::remark || finding.role == Role::advice) continue;
      CAPTURE(result.probe);
      CAPTURE(finding.series);
      CAPTURE(finding.name);
      const Finding shown = report::shown_finding(result.findings.at(next++));
      CHECK(shown.name == finding.name);
      CHECK(shown.value == finding.value);
      CHECK(close(shown.low, finding.low));
      CHECK(close(shown.high, finding.high));
    }
  }
  const Comparison comparison = compare(runs, 0, 0.03);
  const json::Json document = json::parse(comparison_to_json(comparison, runs));
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const Finding shown = report::shown_finding(*comparison.rows[row].baseline);
    const json::Json& written = document["findings"][row]["baseline"];
    CHECK(written.contains("low") == shown.low.has_value());
    if (shown.low) CHECK(written["low"].get<double>() == *shown.low);
    if (shown.high) CHECK(written["high"].get<double>() == *shown.high);
  }
}

/// The run on a host whose speed changes by a half all the time.
Run shaken(Run run) {
  for (const ReferenceKind kind : {ReferenceKind::core, ReferenceKind::memory}) {
    Reference& reference = run.references.emplace_back();
    reference.kind = kind;
    reference.series = "shaken";
    for (int i = 0; i < 30; ++i) {
      reference.moments.push_back({static_cast<double>(i), i / 6 % 2 == 0 ? 100.0 : 150.0});
    }
  }
  commands::conclude(run);
  return run;
}

}  // namespace

TEST_CASE("a finding has one interval, wherever it is shown, on a quiet host and a busy one") {
  std::size_t wider = 0;
  for (const std::filesystem::path& path : stored_runs()) {
    CAPTURE(path.string());
    for (const Run& run : commands::read_runs(path.string())) {
      const Run busy = shaken(run);
      for (const Run* const each : {&run, &busy}) {
        check_card(*each);
        check_comparison(*each);
      }
      for (std::size_t i = 0; i < run.results.size(); ++i) {
        if (!(busy.results[i].findings == run.results[i].findings)) ++wider;
      }
    }
  }
  CHECK(wider >= 15);
}

TEST_CASE("the card of every stored run is at most 20 lines of 80 columns, with all its levels") {
  const std::vector<std::filesystem::path> paths = stored_runs();
  CHECK(paths.size() >= 15);
  for (const std::filesystem::path& path : paths) {
    CAPTURE(path.string());
    for (const Run& run : commands::read_runs(path.string())) {
      const std::vector<std::string> lines = card_lines(run);
      CHECK(lines.size() <= 20);
      for (const std::string& line : lines) {
        CAPTURE(line);
        CHECK(display_width(line) <= 80);
      }
      check_levels(run, lines);
    }
  }
}

TEST_CASE("a run of all probes keeps up to six levels of global memory on its card") {
  const std::filesystem::path folder(CLPROBE_RESULTS);
  for (const char* const path :
       {"nvidia/h200/580.159.04_2026-11-26.json", "nvidia/h100/580.159.04_2026-11-27.json"}) {
    CAPTURE(path);
    Run run = commands::read_runs((folder / path).string()).front();
    const auto latency =
        std::find_if(run.results.begin(), run.results.end(),
                     [](const ProbeResult& each) { return each.probe == "latency"; });
    REQUIRE(latency != run.results.end());
    std::vector<CardLevel>& levels = latency->card.levels;
    constexpr std::size_t most = 7;  // with one of local memory
    REQUIRE(levels.size() >= 5);
    for (std::size_t more = 1; levels.size() < most; ++more) {
      levels.insert(levels.begin() + 1, levels[1]);
      levels[1].name = "another " + std::to_string(more);
      const std::vector<std::string> lines = card_lines(run);
      CHECK(lines.size() <= 20);
      check_levels(run, lines);
      for (const std::string& line : lines) CHECK(display_width(line) <= 80);
    }
  }
}

namespace {

/// The words of a page's text, folded parts too, without scripts and styles.
std::size_t words_in(const std::string& html) {
  static const std::regex unread("<(script|style|title|desc)[^>]*>");
  std::string text;
  for (std::size_t at = 0; at < html.size();) {
    std::smatch found;
    const std::size_t tag = std::min(html.find('<', at), html.size());
    text += html.substr(at, tag - at) + ' ';
    const std::string start = html.substr(tag, 100);
    if (std::regex_search(start, found, unread, std::regex_constants::match_continuous)) {
      at = std::min(html.find(fmt::format("</{}>", found.str(1)), tag), html.size());
    } else {
      at = std::min(html.find('>', tag), html.size());
    }
    if (at < html.size() && html[at] == '>') ++at;
  }
  std::istringstream stream(text);
  return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(stream), {}));
}

}  // namespace

TEST_CASE("a page of nine probes has at most 8,000 words, folded ones too") {
  const std::filesystem::path path =
      std::filesystem::path(CLPROBE_RESULTS) / "nvidia/h200/580.159.04_2026-11-28.json";
  const std::vector<Run> runs{commands::read_runs(path.string()).front()};
  REQUIRE(runs[0].results.size() == 9);
  const std::size_t words = words_in(render_html(runs));
  CHECK(words > 3000);
  CHECK(words <= 8000);
}

TEST_CASE("a comparison names series and levels in words, not by numbers and ids") {
  const std::filesystem::path folder = std::filesystem::path(CLPROBE_RESULTS) / "nvidia";
  std::vector<RunDigest> runs;
  for (const char* const path :
       {"h100/580.159.04_2026-11-28.json", "h200/580.159.04_2026-11-28.json"}) {
    runs.push_back(digest(commands::read_runs((folder / path).string()).front(), path));
  }
  std::vector<std::string> titles;
  for (const ComparedRow& row : compare(runs, 0, 0.03).rows) {
    titles.push_back(report::row_title(row));
    const bool is_named = row.baseline->finding.series != "global" || row.probe != "latency" ||
                          !row.baseline->finding.level || !row.baseline->level_name.empty();
    CHECK_MESSAGE(is_named, titles.back());
    const bool is_of_several = row.baseline->finding.name == "shares";
    const bool has_title =
        is_of_several || !row.baseline->series_title.empty() || row.probe == clock_section;
    CHECK_MESSAGE(has_title, titles.back());
  }
  for (const char* const expected :
       {"L1 latency", "L2 capacity", "far L2 latency", "memory latency",
        "memory through an image: latency", "memory read by one compute unit",
        "L2 read by all compute units", "copy to the device from pinned memory"}) {
    CAPTURE(std::string(expected));
    CHECK(std::find(titles.begin(), titles.end(), expected) != titles.end());
  }
}

}  // namespace clprobe
