// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "profile/api/survey.hpp"

namespace clprobe::survey {
namespace {

Survey example() {
  Survey survey{.processes = {{4711, "a\tname\n\x1b[31m\\x41"}},
                .gaps = {{Gap::refused, 3}, {Gap::unfinished, 1}},
                .clock = {100, 120, 110}};
  survey.rows.push_back({.signature = {.kernel = "k\xc2\xb5",
                                       .program = {0xfedcba9876543210U, ProgramKind::built_in},
                                       .device = "a device",
                                       .dimensions = 3,
                                       .global = {1, 2, std::numeric_limits<std::uint64_t>::max()},
                                       .local = {4, 5, 6}},
                         .sum = {10, 8, 7, 6, 5, 1},
                         .uses_svm = true,
                         .typical = {3, 4}});
  survey.rows.push_back({.signature = {.kernel = ""}, .sum = {1, 0, 0, 0, 0}});
  return survey;
}

bool is_refused(const std::string& text) {
  try {
    static_cast<void>(from_text(text));
  } catch (const FormatError&) {
    return true;
  }
  return false;
}

std::string with(std::string text, std::string_view old, std::string_view fresh) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

}  // namespace

TEST_CASE("what is written is read again, whatever is in the names") {
  CHECK(from_text(to_text(example())) == example());
  CHECK(from_text(to_text({})) == Survey{});
  for (const char letter : to_text(example())) CHECK((letter >= ' ' && letter < 0x7f));
  // Bytes that are no UTF-8 are replaced.
  Survey other;
  other.rows = {{.signature = {.kernel = "k\xff"}, .sum = {1, 0, 0, 0, 0}}};
  CHECK(from_text(to_text(other)).rows.at(0).signature.kernel == "k\xef\xbf\xbd");
}

TEST_CASE("a file that is cut anywhere is refused") {
  const std::string whole = to_text(example());
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(is_refused(whole.substr(0, size)));
  CHECK(is_refused(whole + "x"));
  CHECK(is_refused(whole + whole));
}

TEST_CASE("what is not as it should be is refused") {
  const std::string whole = to_text(example());
  CHECK(is_refused("[]"));
  CHECK(is_refused(wanted_to_text({})));
  for (const std::string_view number :
       {"-1", "99999999999999999999999", "4711.5", "\"4711\"", "null"}) {
    CHECK(is_refused(with(whole, "4711", number)));
  }
  CHECK(is_refused(with(whole, "\"rows\"", "\"lines\"")));
  CHECK(is_refused(with(whole, "built-in", "builtin")));
  CHECK(is_refused(with(whole, "\"refused\"", "\"refusal\"")));
  CHECK(is_refused(with(whole, "\"dimensions\":3", "\"dimensions\":4")));
  CHECK(is_refused(with(whole, "\"launches\":10", "\"launches\":7")));
  CHECK(is_refused(with(whole, "\"estimated\":1", "\"estimated\":3")));
  CHECK_FALSE(is_refused(with(whole, "\"estimated\":1", "\"estimated\":2")));
  CHECK(is_refused(with(whole, "\"uses_svm\":true", "\"uses_svm\":1")));
  CHECK(is_refused(with(whole, "[1,2,", "[")));
}

TEST_CASE("changed bytes are refused or read, and never more than that") {
  std::mt19937 random(7);
  const std::string whole = to_text(example());
  for (int round = 0; round < 5000; ++round) {
    std::string text = whole;
    for (int change = 0; change < 3; ++change) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    static_cast<void>(is_refused(text));
  }
}

TEST_CASE("a list of wanted launches reads back, and what is none is refused") {
  std::vector<Wanted> wanted{{.kernel = "k\tm", .ordinal = 2},
                             {.kernel = "sum",
                              .signature = example().rows[0].signature,
                              .ordinal = 3,
                              .launches = 4,
                              .share = 0.25,
                              .mean_ns = 5000.0}};
  wanted[1].signature->kernel = "sum";
  const std::string text = wanted_to_text(wanted);
  CHECK(wanted_from_text(text) == wanted);
  CHECK(wanted_from_text(wanted_to_text({})).empty());
  for (const std::string& bad :
       {std::string(), text.substr(1), text + "x", text + text, with(text, "ordinal", "order"),
        with(text, "\"k", "7,\"k"), to_text(example())}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(wanted_from_text(bad), FormatError);
  }
}

}  // namespace clprobe::survey
