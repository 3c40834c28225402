// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/explain.hpp"
#include "text/text.hpp"

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

### in flight / requests in flight

Loads that were issued.

And more of it.

### c1 / c2

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
  CHECK(terms[0] == std::vector<std::string>{"in flight", "requests in flight"});
  const std::string text =
      "in flight / requests in flight\n  Loads that were issued.\n\n"
      "  And more of it.\n";
  for (const char* name : {"in flight", "Requests-in_flight", " requests  in flights "}) {
    CAPTURE(name);
    CHECK(term_text(glossary, name, {}) == text);
  }
  CHECK(term_text(glossary, "C2", {}) == "c1 / c2\n  Two numbers.\n");
  CHECK(term_text(glossary, "classes", {}) == std::nullopt);
  CHECK(term_text(glossary, "class", {}) == "class\n  A kind.\n");
  CHECK(term_text(glossary, "One", {}) == std::nullopt);
  CHECK(term_text(glossary, "", {}) == std::nullopt);
}

}  // namespace clprobe
