// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace clprobe {
namespace {

/// The text that has an ink, lines after each other.
std::string text_in(std::initializer_list<std::string_view> lines, report::Ink ink) {
  report::SummaryInks inks;
  std::string text;
  std::string all;
  std::string whole;
  for (const std::string_view line : lines) {
    whole += line;
    for (const report::Span& span : inks.spans_of(line)) {
      all += span.text;
      if (span.ink == ink) text += span.text;
    }
  }
  CHECK(all == whole);
  return text;
}

}  // namespace

TEST_CASE("each part of a summary has the colour of its verdict, also across lines") {
  const auto in = [](report::Ink ink) {
    return text_in({"worse: time 2x slower; better: gap 2x",
                    "faster, rate 3x faster; different:", "shares (6); 302 same, 8 unclear"},
                   ink);
  };
  CHECK(in(report::Ink::failure) == "worse: time 2x slower;");
  CHECK(in(report::Ink::good) == "better: gap 2xfaster, rate 3x faster;");
  CHECK(in(report::Ink::caution) == "different:shares (6);");
  CHECK(in(report::Ink::plain) == "   302 same, 8 unclear");
}

TEST_CASE("of counts the verdict alone has a colour, and what follows has none") {
  const auto in = [](report::Ink ink) {
    return text_in({"25 better, 55", "worse, 48 different: launch 3x slower, ..."}, ink);
  };
  CHECK(in(report::Ink::good) == "better,");
  CHECK(in(report::Ink::failure) == "worse,");
  CHECK(in(report::Ink::caution) == "different:");
  CHECK(in(report::Ink::plain) == "25  55 48  launch 3x slower, ...");
  CHECK(text_in({"no change; 3 same"}, report::Ink::plain) == "no change; 3 same");
}

}  // namespace clprobe
