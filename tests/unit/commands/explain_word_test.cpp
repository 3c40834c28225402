// SPDX-License-Identifier: Apache-2.0
// Reports print names of findings, series and warnings, and people use words of their own.
#include <doctest/doctest.h>

#include <string>

#include "app/commands/commands.hpp"
#include "clprobe/registry.hpp"

namespace clprobe::commands {
namespace {

std::string explained(std::string_view word) { return word_text(word, {.width = 100}); }

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("explain: every series and option of a probe names its probe") {
  for (const Probe* const probe : all_probes()) {
    const std::string id(probe->id);
    for (const Series& series : probe->series) {
      CAPTURE(std::string(series.name));
      CHECK(has(explained(series.name), "a series of " + id));
    }
    for (const Option& option : probe->options) {
      CAPTURE(std::string(option.name));
      CHECK(has(explained(option.name), "an option of " + id));
    }
  }
}

TEST_CASE("explain: a number behind a word, and a category before it, do not matter") {
  const std::string text = explained("idle-queues");
  CHECK(has(text, "idle-queues-4, a series of launch"));
  CHECK(has(text, "idle-queues-64, a series of launch"));
  CHECK(explained("global 1") == explained("global"));
  CHECK(explained("memory data: L2") == explained("L2"));
  CHECK(has(explained("cache-x8"), "--target, an option of inflight"));
  CHECK(explained("to-devic").empty());
  CHECK(explained("").empty());
}

TEST_CASE("explain: an entry comes first, and findings, options and warnings follow") {
  CHECK(explained("warp").starts_with("sub-group\n"));
  CHECK(has(explained("bank conflict"), "k-way"));
  CHECK(has(explained("capacity"), "latency reports the finding capacity: "));
  CHECK(has(explained("capacity"), "bandwidth reports the finding capacity: "));
  CHECK(has(explained("app_time"), "kernel reports the finding"));
  CHECK(has(explained("sizes"), "--sizes, an option of latency: "));
  CHECK(has(explained("quick"), "--quick, an option: "));
  CHECK(has(explained("memory-bound"), "--case, an option of stalls: "));
  CHECK(explained("shared cores").starts_with("shared cores, a warning: "));
  CHECK(has(explained("clock drift"), "the device's speed changed by ... during the run"));
}

}  // namespace clprobe::commands
