// SPDX-License-Identifier: Apache-2.0
// What one probe says beside the levels of another: by working sets, and by memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "example_runs.hpp"
#include "present/api/report.hpp"
#include "present/card.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

using report::DeviceCard;

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * kib;

CardLevel ending_at(double bytes) {
  CardLevel level{.name = "global 1", .memory = CardMemory::global};
  level.capacity = {.value = bytes, .unit = "bytes"};
  return level;
}

CardLevel without_end(double largest) {
  CardLevel level{.name = "global 2", .memory = CardMemory::global};
  level.capacity.unit = "bytes";
  level.capacity.low = largest;
  return level;
}

CardPlateau plateau(double from, double to, const char* text) { return {from, to, false, text}; }
CardPlateau open_plateau(double from, double to, const char* text) {
  return {from, to, true, text};
}

/// What a column says of such levels; nothing where it says nothing of any.
std::vector<std::string> beside(const std::vector<CardLevel>& levels,
                                std::vector<CardPlateau> plateaus) {
  DeviceCard card;
  for (const CardLevel& each : levels) card.levels.push_back({.own = each});
  const bool is_added =
      report::add_column(card, {.title = "read", .plateaus = std::move(plateaus)});
  CHECK(card.columns.size() == (is_added ? 1U : 0U));
  std::vector<std::string> texts;
  for (const report::DeviceLevel& each : card.levels) {
    CHECK(each.columns.size() == card.columns.size());
    texts.insert(texts.end(), each.columns.begin(), each.columns.end());
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a level has the plateau that covers it") {
  const std::vector<CardLevel> levels{ending_at(32 * kib), ending_at(1 * mib),
                                      without_end(1024 * mib)};
  CHECK(beside(levels, {plateau(4 * kib, 32 * kib, "a"), plateau(32 * kib, 1 * mib, "b"),
                        open_plateau(1 * mib, 512 * mib, "c")}) == Texts{"a", "b", "c"});
  // One plateau may cover two levels.
  CHECK(beside(levels, {plateau(4 * kib, 1 * mib, "a"), open_plateau(1 * mib, 512 * mib, "c")}) ==
        Texts{"a", "a", "c"});
  CHECK(beside(levels, {}).empty());
}

TEST_CASE(
    "of two plateaus that cover a third of a level each the one counts that ends as it does") {
  const std::vector<CardLevel> levels{ending_at(64 * kib), ending_at(64 * mib)};
  const auto second = [&](double between, double end) {
    return beside(levels, {plateau(4 * kib, 64 * kib, "near"), plateau(64 * kib, between, "low"),
                           plateau(between, end, "high")})
        .at(1);
  };
  CHECK(second(2.1 * mib, 64 * mib) == "high");
  CHECK(second(2.1 * mib, 90 * mib) == "high");
  CHECK(second(2.1 * mib, 20 * mib) == "low");  // 3.25 of 10 doublings
  // A third of ten doublings from the end is 6.35 MiB.
  CHECK(second(6.3 * mib, 64 * mib) == "high");
  CHECK(second(6.4 * mib, 64 * mib) == "low");
  // An end beyond is as far as one before.
  CHECK(second(6.3 * mib, 600 * mib) == "high");
  CHECK(second(6.3 * mib, 700 * mib) == "low");
}

TEST_CASE("an H200's L2 has the rate of the sets that fill it, not of those that units share") {
  // clprobe 0.1.0 at cbc401e3: capacities and plateaus of one run.
  const std::vector<CardLevel> levels{ending_at(219 * kib), ending_at(28.6 * mib),
                                      ending_at(52.6 * mib), without_end(1024 * mib)};
  CHECK(
      beside(levels, {plateau(32 * kib, 198 * kib, "32.5"), plateau(198 * kib, 2.58 * mib, "13.0"),
                      plateau(2.58 * mib, 51.7 * mib, "9.08"),
                      open_plateau(51.7 * mib, 1024 * mib, "4.51")}) ==
      Texts{"32.5", "9.08", "9.08", "4.51"});
}

TEST_CASE("a plateau without an end is beside a level that has one where no other is") {
  const std::vector<CardLevel> levels{ending_at(64 * kib), ending_at(8 * mib)};
  CHECK(beside(levels, {plateau(4 * kib, 64 * kib, "near"), plateau(64 * kib, 800 * kib, "cache"),
                        open_plateau(800 * kib, 512 * mib, "memory")}) == Texts{"near", "cache"});
  CHECK(beside(levels, {plateau(4 * kib, 64 * kib, "near"),
                        open_plateau(64 * kib, 512 * mib, "memory")}) == Texts{"near", "memory"});
}

TEST_CASE("the first level begins at the smallest set that was measured") {
  const std::vector<CardLevel> levels{ending_at(64 * kib)};
  const auto first = [&](double smallest) {
    return beside(levels, {plateau(smallest, 16 * kib, "low"), plateau(16 * kib, 64 * kib, "high")})
        .at(0);
  };
  CHECK(first(1.1 * kib) == "high");
  CHECK(first(0.9 * kib) == "low");
  CHECK(first(0.0) == "low");  // of a document without points
}

TEST_CASE("a plateau that covers less than a third of a level says nothing of it") {
  // 9 doublings, of which a third is 3.
  const std::vector<CardLevel> levels{ending_at(1 * mib), ending_at(512 * mib)};
  const auto second = [&](double from) {
    const Texts texts =
        beside(levels, {plateau(4 * kib, 1 * mib, "near"), plateau(from, 1024 * mib, "cache")});
    return texts.at(1);
  };
  CHECK(second(64 * mib) == "cache");
  CHECK(second(65 * mib).empty());
  CHECK(second(1 * mib) == "cache");
}

TEST_CASE("a plateau that ends nearer to the previous level than to the level is not the level's") {
  // A Xeon's plateau up to 1.19 MiB is that of L2, whose latency rises from 647 KiB.
  const auto third = [](double end) {
    return beside({ending_at(47 * kib), ending_at(647 * kib), ending_at(2.83 * mib)},
                  {plateau(4 * kib, 46 * kib, "L1"), plateau(108 * kib, end, "L2"),
                   open_plateau(152 * mib, 1024 * mib, "memory")});
  };
  CHECK(third(1.19 * mib) == Texts{"L1", "L2", ""});
  CHECK(third(1.4 * mib) == Texts{"L1", "L2", "L2"});  // the middle is 1.34 MiB
}

TEST_CASE("memory has no bandwidth of a cache") {
  const std::vector<CardLevel> levels{ending_at(1 * mib), without_end(1024 * mib)};
  CHECK(beside(levels, {plateau(4 * kib, 1 * mib, "near"), plateau(1 * mib, 512 * mib, "cache")}) ==
        Texts{"near", ""});
  CHECK(beside(levels, {plateau(4 * kib, 1 * mib, "near"), plateau(1 * mib, 65 * mib, "cache"),
                        open_plateau(65 * mib, 512 * mib, "memory")}) == Texts{"near", ""});
  CHECK(beside(levels, {plateau(4 * kib, 1 * mib, "near"), plateau(1 * mib, 8 * mib, "cache"),
                        open_plateau(8 * mib, 512 * mib, "memory")}) == Texts{"near", "memory"});
}

TEST_CASE("a level whose end is not known has nothing beside it, nor has the next one") {
  CardLevel unknown = ending_at(0.0);
  unknown.capacity = {};
  const std::vector<CardPlateau> one{open_plateau(4 * kib, 1024 * mib, "a")};
  CHECK(beside({ending_at(32 * kib), unknown, ending_at(8 * mib), without_end(1024 * mib)}, one) ==
        Texts{"a", "", "", "a"});
  CHECK(beside({unknown}, one).empty());
}

TEST_CASE("levels of other memories have no part in a column, and do not end those of its own") {
  CardLevel local = ending_at(48 * kib);
  local.memory = CardMemory::local;
  const std::vector<CardPlateau> one{plateau(4 * kib, 64 * kib, "a")};
  CHECK(beside({ending_at(32 * kib), local}, one) == Texts{"a", ""});
  CHECK(beside({local, ending_at(32 * kib)}, one) == Texts{"", "a"});
  CHECK(beside({local}, one).empty());
}

TEST_CASE("a column and a note stand beside levels, and in lines without them") {
  Run run = example_gpu_run();
  ProbeResult& levels = run.results[0];
  levels.card = {.levels = {ending_at(256 * kib), without_end(1024 * mib), ending_at(48 * kib)}};
  levels.card.levels[2].name = "local 1";
  levels.card.levels[2].what = "local memory";
  levels.card.levels[2].memory = CardMemory::local;
  for (CardLevel& each : levels.card.levels) each.latency = {.value = 1e-8, .unit = "seconds"};
  ProbeResult sets{.probe = "sets"};
  sets.card.columns = {{.title = "read",
                        .plateaus = {plateau(4 * kib, 256 * kib, "33.2 TB/s"),
                                     open_plateau(256 * kib, 512 * mib, "4.42 TB/s")},
                        .alone = {"lone topic", "33.2 TB/s to 256 KiB, 4.42 TB/s"}}};
  ProbeResult banks{.probe = "banks"};
  banks.card.notes = {{.text = "32 banks", .alone = {"local memory", "it has 32 banks"}}};
  // In any order of the probes, and in every format.
  for (const auto& results : {std::vector{levels, sets, banks}, std::vector{banks, sets, levels}}) {
    run.results = results;
    const std::array runs{run};
    for (const std::string& text :
         {render_table(runs, {}), render_markdown(runs), render_html(runs)}) {
      CHECK(text.find("33.2 TB/s") < text.find("4.42 TB/s"));
      CHECK(text.find("32 banks") != std::string::npos);
      CHECK(text.find("lone topic") == std::string::npos);
      CHECK(text.find("it has 32 banks") == std::string::npos);
    }
    CHECK(render_markdown(runs).find("| capacity | read | type |") != std::string::npos);
    CHECK(render_markdown(runs).find("local memory: 32 banks |") != std::string::npos);
    CHECK(render_html(runs).find(">read</th>") != std::string::npos);
    CHECK(render_html(runs).find("<td class=\"reason\">local memory: 32 banks</td>") !=
          std::string::npos);
  }
  run.results = {sets, banks};
  const std::array alone{run};
  for (const std::string& text :
       {render_table(alone, {}), render_markdown(alone), render_html(alone)}) {
    CHECK(text.find("33.2 TB/s to 256 KiB") != std::string::npos);
    CHECK(text.find("it has 32 banks") != std::string::npos);
  }
}

TEST_CASE("on a narrow page levels lose what says least first, and a note has its line") {
  DeviceCard card{.title = "device", .columns = {"read"}};
  CardLevel cache = ending_at(27.2 * mib);
  cache.capacity.low = 26.2 * mib;
  cache.capacity.high = 32.1 * mib;
  cache.latency = {.value = 142e-9, .low = 141e-9, .high = 143e-9, .unit = "seconds"};
  cache.cycles = {.value = 281.0, .unit = "cycles"};
  cache.what = "cache, or its near half";
  cache.short_what = "cache or half";
  CardLevel local = without_end(48 * kib);
  local.name = "local 1";
  local.latency = {.value = 11.8e-9, .unit = "seconds"};
  card.levels = {{.own = cache, .columns = {"9.11 TB/s"}},
                 {.own = local, .columns = {""}, .note = "32 banks of 4 B, 2.00 cycles per way"}};
  const auto at = [&](int width) {
    report::Page page({.width = width});
    report::add_card(page, card, true);
    for (std::size_t begin = 0; begin < page.text().size();) {
      const std::size_t end = page.text().find('\n', begin);
      CHECK(display_width(page.text().substr(begin, end - begin)) <= width);
      begin = end + 1;
    }
    return page.text();
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(at(100), "±0.7%"));
  CHECK(has(at(100), "cache, or its near half"));
  CHECK(has(at(80), "±0.7%"));
  CHECK(has(at(80), "9.11 TB/s  cache or half"));
  CHECK(has(at(80), "> 48 KiB  32 banks of 4 B, 2.00 cycles per way\n"));
  CHECK_FALSE(has(at(76), "±0.7%"));
  CHECK(has(at(76), "(26.2–32.1)"));
  CHECK_FALSE(has(at(68), "(26.2–32.1)"));
  CHECK(has(at(68), "9.11 TB/s"));
  CHECK(has(at(68), "32 banks of 4 B, …"));
  CHECK_FALSE(has(at(68), "±"));
}

}  // namespace clprobe
