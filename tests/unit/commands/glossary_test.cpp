// SPDX-License-Identifier: Apache-2.0
// Whoever meets a word in a report can ask what it means.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "app/commands/commands.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/run.hpp"
#include "clprobe/stacks.hpp"
#include "compare/api/compare.hpp"
#include "present/api/explain.hpp"
#include "probes/inflight/saturation.hpp"
#include "probes/inflight/thread_latency.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stride/stride.hpp"
#include "simulation/api/simulator.hpp"
#include "text/api/embedded.hpp"
#include "unit/golden.hpp"

namespace clprobe {
namespace {

using commands::find_page;

bool is_explained(std::string_view word) { return !commands::word_text(word, {}).empty(); }

std::string with_spaces(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace

TEST_CASE("every kind of step, limit, class and verdict is explained") {
  for (const StepKind kind :
       {StepKind::cache, StepKind::cache_or_far, StepKind::translation, StepKind::unknown}) {
    CHECK_MESSAGE(is_explained(to_word(kind)), to_word(kind));
  }
  // What a card says of them.
  for (const char* const words :
       {"L1", "L2?", "or its near half", "or half", "far L2?", "far half of L2, or L3", "or L3",
        "reach of a TLB", "TLB reach", "cache, or reach of a TLB", "cache or TLB", "memory",
        "cache or memory", "no plateau", "warnings", "not seen", "best stride", "ordinary memory",
        "to launch and wait"}) {
    CHECK_MESSAGE(is_explained(words), words);
  }
  using inflight::OutstandingKind;
  for (const OutstandingKind kind :
       {OutstandingKind::request_pool, OutstandingKind::request_table, OutstandingKind::ambiguous,
        OutstandingKind::neither, OutstandingKind::unobservable}) {
    CHECK_MESSAGE(is_explained(to_word(kind)), to_word(kind));
  }
  using inflight::ThroughputLimit;
  for (const ThroughputLimit limit : {ThroughputLimit::capacity, ThroughputLimit::port,
                                      ThroughputLimit::different, ThroughputLimit::unknown}) {
    CHECK_MESSAGE(is_explained(to_word(limit)), to_word(limit));
  }
  for (const auto& each : stride::class_words) {
    CHECK_MESSAGE(is_explained(each.word), each.word);
  }
  for (const Verdict verdict :
       {Verdict::same, Verdict::better, Verdict::worse, Verdict::different, Verdict::unclear}) {
    CHECK_MESSAGE(is_explained(to_word(verdict)), to_word(verdict));
  }
  for (const Source source : {Source::measured, Source::reported, Source::derived}) {
    CHECK_MESSAGE(is_explained(to_word(source)), to_word(source));
  }
}

TEST_CASE("every cause of stalls is explained") {
  for (std::size_t i = 0; i < simulator::stall_count; ++i) {
    const auto stall = static_cast<simulator::Stall>(i);
    CHECK_MESSAGE(is_explained(to_word(stall)), to_word(stall));
  }
  for (const simulator::StallPart& part : simulator::stall_parts) {
    CHECK_MESSAGE(is_explained(label_of(part)), label_of(part));
  }
  using stalls::Cause;
  for (const Cause cause :
       {Cause::main_memory, Cause::second_cache, Cause::beyond_first, Cause::bank_conflict,
        Cause::barrier, Cause::chain, Cause::divergence, Cause::serial_requests,
        Cause::store_buffer, Cause::release, Cause::function_unit}) {
    CHECK_MESSAGE(is_explained(stalls::label_of(cause)), stalls::label_of(cause));
  }
  CHECK(is_explained("unattributed"));
  CHECK(is_explained(stack_not_resolved));
}

TEST_CASE("every finding of every probe is explained") {
  for (const Probe* const probe : all_probes()) {
    for (const FindingSpec& finding : probe->findings) {
      if (finding.role == Role::advice) continue;  // a sentence that needs no other
      std::string name = with_spaces(finding.name);
      const bool is_bound = name.ends_with(" at least");
      if (is_bound) name.resize(name.size() - std::string_view(" at least").size());
      CAPTURE(probe->id);
      CAPTURE(name);
      // Of a word that is also a probe `explain` prints the page.
      CHECK((find_probe(name) != nullptr || is_explained(name)));
    }
  }
}

TEST_CASE("no term hides behind a probe's name or another term, and all begin with a heading") {
  std::set<std::string> seen;
  for (const std::vector<std::string>& names : terms_in(embedded_file("glossary.md"))) {
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK((find_probe(name) == nullptr && find_page(name) == nullptr));
      CHECK(seen.insert(name).second);
      // Under its own name it is found, and not under one that looks the same.
      const std::optional<std::string> text = term_text(embedded_file("glossary.md"), name, {});
      REQUIRE(text);
      CHECK(text->starts_with(names.front()));
    }
  }
  CHECK(seen.size() > 150);
}

TEST_CASE("the glossary stays short enough to be read") {
  const std::string_view page = embedded_file("glossary.md");
  CHECK(terms_in(page).size() <= 60);
  CHECK(std::count(page.begin(), page.end(), ' ') + std::count(page.begin(), page.end(), '\n') <
        2200);
}

TEST_CASE("the short form of each page fits a screen and has what it is for") {
  for (const Probe* const probe : all_probes()) {
    CAPTURE(probe->id);
    const std::string page(embedded_file(std::string(probe->id) + ".md"));
    const std::string text = short_page_text(page, {.width = 80});
    const auto lines = std::count(text.begin(), text.end(), '\n');
    CHECK(lines >= 10);
    CHECK(lines <= 34);
    CHECK(text.find("What is found\n  ") != std::string::npos);
    CHECK(text.find("What can fool it\n  ") != std::string::npos);
    const std::string whole = page_text(page, {.width = 80});
    CHECK(whole.size() > 2 * text.size());
  }
}

}  // namespace clprobe
