// SPDX-License-Identifier: Apache-2.0
// The cards of real devices: what a person came for is on the upper half of a screen.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/read_runs.hpp"
#include "report/card.hpp"
#include "text/text.hpp"

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

}  // namespace

TEST_CASE("the card of every stored run is at most 14 lines of 80 columns, with all its levels") {
  const std::vector<std::filesystem::path> paths = stored_runs();
  CHECK(paths.size() >= 15);
  for (const std::filesystem::path& path : paths) {
    CAPTURE(path.string());
    for (const Run& run : commands::read_runs(path.string())) {
      const std::vector<std::string> lines = card_lines(run);
      CHECK(lines.size() <= 14);
      for (const std::string& line : lines) {
        CAPTURE(line);
        CHECK(display_width(line) <= 80);
      }
      check_levels(run, lines);
    }
  }
}

TEST_CASE("a run of all probes keeps up to seven levels of global memory on its card") {
  const std::filesystem::path folder(CLPROBE_RESULTS);
  for (const char* const path :
       {"nvidia/h200/580.159.04_2026-11-26.json", "intel/xeon/pocl-5.0_2026-11-27.json"}) {
    CAPTURE(path);
    Run run = commands::read_runs((folder / path).string()).front();
    const auto latency =
        std::find_if(run.results.begin(), run.results.end(),
                     [](const ProbeResult& each) { return each.probe == "latency"; });
    REQUIRE(latency != run.results.end());
    std::vector<CardLevel>& levels = latency->card.levels;
    constexpr std::size_t most = 8;  // with one of local memory
    REQUIRE(levels.size() >= 5);
    for (std::size_t more = 1; levels.size() < most; ++more) {
      levels.insert(levels.begin() + 1, levels[1]);
      levels[1].name = "another " + std::to_string(more);
      const std::vector<std::string> lines = card_lines(run);
      CHECK(lines.size() == 14);
      check_levels(run, lines);
      for (const std::string& line : lines) CHECK(display_width(line) <= 80);
    }
  }
}

}  // namespace clprobe
