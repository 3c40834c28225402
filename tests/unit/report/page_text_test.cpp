// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "present/api/explain.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace {

constexpr std::string_view page = R"(# chase

How long does one `load` take?

## The method

It goes *round* in a ring, see [the page](docs/method.md), and this paragraph is
longer than a line.

    clprobe chase --quick

- First. It has
  two lines.
- Second

1. One
2. Two

| word | what it means |
|---|---|
| `near` | the first one |
| far | what lies behind it and has a long explanation that goes on |

<!-- not shown -->

## What is found

Behind a table:

- latency: the time, e.g. of L1. Its unit is ns.
- capacity (of a level): where 5 % miss. `low` is before it.

## What can fool it

- **Prefetchers.**
  The order is random.
- **The compiler.** It is watched.

## Sources

- A book. Another one.
)";

constexpr std::string_view glossary = R"(# Glossary

## One

### in flight

Also: requests in flight,
cache, or far.

Loads that were issued.

And more of it.

### c1

Also: c2.

Two numbers.

## Two

### class

A kind.
)";

}  // namespace

TEST_CASE("a page is wrapped, headings stand out, and tables have columns") {
  CHECK(page_text(page, {.width = 44}) == R"(chase
  How long does one `load` take?

The method
  It goes round in a ring, see the page, and
  this paragraph is longer than a line.

    clprobe chase --quick

  - First. It has two lines.
  - Second

  1. One
  2. Two

  word    what it means
  `near`  the first one
  far     what lies behind it and has a long
          explanation that goes on

What is found
  Behind a table:

  - latency: the time, e.g. of L1. Its unit
    is ns.
  - capacity (of a level): where 5 % miss.
    `low` is before it.

What can fool it
  - Prefetchers. The order is random.
  - The compiler. It is watched.

Sources
  - A book. Another one.
)");
}

TEST_CASE("no line is wider than was asked for, and none than what is easily read") {
  for (const int width : {30, 33, 80, 1000}) {  // code is not wrapped
    const std::string text = page_text(page, {.width = width});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      REQUIRE(display_width(text.substr(at, end - at)) <= std::min(width, 100));
      at = end + 1;
    }
  }
}

TEST_CASE("colour is for headings alone") {
  const std::string text = page_text("# Title\n\nWords\n", {.has_colour = true});
  CHECK(text == "\x1b[1mTitle\x1b[0m\n  Words\n");
}

TEST_CASE("what a page holds besides words does nothing to the terminal") {
  const std::string text = page_text("# a\x1b[2Jb\n\n    c\x1b[2Jd\n\ne\x1b[2Jf\n", {});
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("the short form has the question, first sentences and what is bold") {
  CHECK(short_page_text(page, {}) == R"(chase
  How long does one `load` take?

What is found
  - latency: the time, e.g. of L1.
  - capacity (of a level): where 5 % miss.

What can fool it
  Prefetchers; The compiler.
)");
}

TEST_CASE("sections without a list are told by the first sentence of each paragraph") {
  CHECK(short_page_text("# a: b\n\nWhy?\n\n## What is found\n\nOne. Two.\n\nThree. Four.\n", {}) ==
        "a: b\n  Why?\n\nWhat is found\n  One.\n  Three.\n");
}

TEST_CASE("terms are found by any of their names, however these are written") {
  const auto terms = terms_in(glossary);
  REQUIRE(terms.size() == 3);
  CHECK(terms[0] == std::vector<std::string>{"in flight", "requests in flight", "cache", "or far"});
  const std::string text =
      "in flight\n  Also: requests in flight, cache, or far.\n\n"
      "  Loads that were issued.\n\n  And more of it.\n";
  for (const char* name : {"in flight", "Requests-in_flight", " requests  in flights "}) {
    CAPTURE(name);
    CHECK(term_text(glossary, name, {}) == text);
  }
  CHECK(term_text(glossary, "C2", {}) == "c1\n  Also: c2.\n\n  Two numbers.\n");
  CHECK(term_text(glossary, "classes", {}) == std::nullopt);
  CHECK(term_text(glossary, "class", {}) == "class\n  A kind.\n");
  CHECK(term_text(glossary, "One", {}) == std::nullopt);
  CHECK(term_text(glossary, "", {}) == std::nullopt);
}

TEST_CASE("a finding is the item of its name, or what another one says that -v shows") {
  constexpr std::string_view found_page = R"(# a: b

- capacity: of another section.

## What is found

- latency, max loaded latency: the time
  of a load.
- `memory`, or `main memory` and `last cache`: what `capacity` has.
- requests: one. With `-v` also `bic margin`, a number.
- requests at least: two.
)";
  using Texts = std::vector<std::string>;
  CHECK(finding_texts(found_page, "max_loaded_latency") ==
        Texts{"latency, max loaded latency: the time of a load."});
  for (const char* const word : {"memory", "Main memory", "last-cache"}) {
    CAPTURE(word);
    CHECK(finding_texts(found_page, word) ==
          Texts{"`memory`, or `main memory` and `last cache`: what `capacity` has."});
  }
  CHECK(finding_texts(found_page, "capacity").empty());
  CHECK(finding_texts(found_page, "bic_margin").size() == 1);
  CHECK(finding_texts(found_page, "requests").size() == 2);
}

TEST_CASE("words are the same however they are written, and otherwise not") {
  CHECK(is_same_word("Not-seen:", "not seen"));
  CHECK(is_same_word("a changing speed", "changing speed"));
  CHECK(is_same_word("SMs", "SM"));
  CHECK(is_same_word("cache, or its near half", "cache or its near half"));
  CHECK(is_same_word("bytes in flight at least", "bytes_in_flight"));
  CHECK(!is_same_word("class", "clas"));
  CHECK(!is_same_word("L1", "L2"));
  CHECK(!is_same_word("at least", ""));
}

}  // namespace clprobe
