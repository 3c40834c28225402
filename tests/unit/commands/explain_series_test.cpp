// SPDX-License-Identifier: Apache-2.0
// Reports print the names of series, so that each of them can be asked for.
#include <doctest/doctest.h>

#include <string>

#include "clprobe/registry.hpp"
#include "commands/pages.hpp"

namespace clprobe::commands {

TEST_CASE("explain: every series of a probe says of which it is, and what it measures") {
  constexpr int wide = 1000;
  for (const Probe* const probe : all_probes()) {
    for (const Series& series : probe->series) {
      CAPTURE(std::string(series.name));
      const std::string text = series_text(series.name, wide);
      CHECK(text.find("a series of " + std::string(probe->id)) != std::string::npos);
      CHECK(text.find(series.summary) != std::string::npos);
    }
  }
}

TEST_CASE("explain: a word before a number is all series that have one") {
  const std::string text = series_text("idle-queues", 100);
  CHECK(text.find("idle-queues-4, a series of launch") != std::string::npos);
  CHECK(text.find("idle-queues-64, a series of launch") != std::string::npos);
  CHECK(series_text("idle", 100).empty() != true);  // of clock
  CHECK(series_text("idle-", 100).empty());
  CHECK(series_text("to-devic", 100).empty());
  CHECK(series_text("both-pinned", 40).find("both-pinned, a series of transfer") == 0);
}

}  // namespace clprobe::commands
