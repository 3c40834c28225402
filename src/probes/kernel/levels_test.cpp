// SPDX-License-Identifier: Apache-2.0
// Tests of the memory level, as measured by probe `latency`, that a kernel's working set fits.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {

extern const Probe probe;

namespace {

/// Returns the result for 1024 groups on buffers of 8192 bytes in total, on a device with caches of
/// the given sizes in bytes.
ProbeResult with_levels(const std::vector<std::uint64_t>& bytes) {
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  for (const std::uint64_t each : bytes) {
    request.known.levels.push_back(
        {static_cast<int>(request.known.levels.size()) + 1, Bytes{each}});
  }
  ProbeResult result{.probe = "kernel"};
  result.points = plan(device_with_events(), request).points;
  for (Point& point : result.points) measure(point, 1e6);
  for (const Point& point : result.points) CHECK_FALSE(probe.find_problem(point).has_value());
  result.findings = probe.analyse(device_with_events(), result.points).findings;
  return result;
}

std::string sentence_of(const std::vector<std::uint64_t>& bytes) {
  const ProbeResult result = with_levels(bytes);
  const Finding* const levels = find_finding(result.findings, "levels");
  return levels == nullptr ? "none" : levels->label;
}

std::vector<CardMark> marks_of_card(const std::vector<std::uint64_t>& bytes) {
  const CardPlot plot = probe.card(with_levels(bytes)).plots.at(0);
  CHECK(plot.value_title == "time per launch");
  return plot.marks;
}

}  // namespace

TEST_CASE("kernel: its working set lies in a level that latency found, and folded in nearer ones") {
  CHECK(sentence_of({}) == "none");
  CHECK(sentence_of({64, 4096}) ==
        "The kernel's buffers of 8 KiB exceed global 2 (4 KiB); with 512 distinct groups, the used "
        "part fits in global 2, with 8 in global 1.");
  CHECK(sentence_of({64, 8191}) ==
        "The kernel's buffers of 8 KiB exceed global 2 (8 KiB); with 1023 distinct groups, the "
        "used part fits in global 2, with 8 in global 1.");
  CHECK(sentence_of({64, 8192}) ==
        "The kernel's buffers of 8 KiB fit in global 2 (8 KiB); with 8 distinct groups, the used "
        "part fits in global 1.");
  CHECK(sentence_of({64, 8192, 1U << 20U}) == sentence_of({64, 8192}));
  CHECK(sentence_of({16384, 90000}) == "The kernel's buffers of 8 KiB fit in global 1 (16 KiB).");
  // A cache of 7 bytes is smaller than the share of a single group (8 bytes), so the sentence omits
  // the cache.
  CHECK(sentence_of({7, 4096}) ==
        "The kernel's buffers of 8 KiB exceed global 2 (4 KiB); with 512 distinct groups, the used "
        "part fits in global 2.");
  const ProbeResult result = with_levels({64, 4096});
  CHECK(*find_finding(result.findings, "working_set")->value == 8192);
}

TEST_CASE("kernel: levels are marked in the curve over distinct groups") {
  CHECK(marks_of_card({}).empty());
  const std::vector<CardMark> marks = marks_of_card({64, 4096});
  REQUIRE(marks.size() == 3);
  for (const CardMark& each : marks) CHECK(each.series == "triad, folded");
  CHECK(marks[0].text == "global 1");
  CHECK(marks[0].from == 1);
  CHECK(marks[0].to == 8);
  CHECK_FALSE(marks[0].is_open);
  CHECK(marks[1].text == "global 2");
  CHECK(marks[1].from == 8);
  CHECK(marks[1].to == 512);
  CHECK(marks[2].text == "beyond global 2");
  CHECK(marks[2].to == 1024);
  CHECK(marks[2].is_open);
  // All buffers fit the second cache, which is twice as large, so no mark lies beyond the second
  // cache.
  const std::vector<CardMark> inside = marks_of_card({64, 16384, 1U << 20U});
  REQUIRE(inside.size() == 2);
  CHECK(inside[1].to == 1024);
  CHECK(inside[1].text == "global 2");
  CHECK(inside[1].is_open);
}

}  // namespace clprobe::kernel
