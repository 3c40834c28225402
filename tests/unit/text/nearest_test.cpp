// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "app/cli/options.hpp"

namespace clprobe::cli {
namespace {

std::string found(std::string_view word, const std::vector<std::string_view>& candidates) {
  return std::string(nearest(word, candidates).value_or("(none)"));
}

}  // namespace

TEST_CASE("slips of the keyboard are understood") {
  const std::vector<std::string_view> probes{"latency", "bandwidth", "local_latency", "tlb"};
  CHECK(found("latncy", probes) == "latency");
  CHECK(found("lateny", probes) == "latency");
  CHECK(found("latnecy", probes) == "latency");
  CHECK(found("LATENCY", probes) == "latency");
  CHECK(found("banwidth", probes) == "bandwidth");
  CHECK(found("locallatency", probes) == "local_latency");
  CHECK(found("band", probes) == "bandwidth");
  CHECK(found("tbl", probes) == "tlb");
  CHECK(found("--jsn", {"json", "format"}) == "json");
}

TEST_CASE("what is like nothing gets no guess") {
  const std::vector<std::string_view> probes{"latency", "bandwidth", "tlb"};
  for (const char* word : {"", "x", "ba", "xyzzy", "memory", "---"}) {
    CAPTURE(word);
    CHECK(found(word, probes) == "(none)");
  }
  CHECK(found(std::string(100000, 'l'), probes) == "(none)");
  CHECK(found("latency", {}) == "(none)");
  CHECK(found("a", {"b"}) == "(none)");
  CHECK(found("L1", {"c1"}) == "(none)");
  CHECK(found("cacheline", {"baseline"}) == "(none)");
  CHECK(found("folded", {"loaded"}) == "(none)");
}

TEST_CASE("the nearest wins, the first among equals") {
  CHECK(found("read", {"reads", "read"}) == "read");
  CHECK(found("cat", {"bat", "rat"}) == "bat");
}

}  // namespace clprobe::cli
