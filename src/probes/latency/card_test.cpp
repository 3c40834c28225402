// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/latency.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

#include "probes/shared/finding.hpp"

namespace clprobe::latency {
namespace {

void add_level(ProbeResult& result, const char* series, int number, double ns,
               std::optional<double> bytes, double largest, const char* step) {
  Finding time = finding_of("latency", series, "seconds", "", ns * 1e-9, ns * 1e-9, ns * 1e-9);
  time.level = number;
  result.findings.push_back(time);
  Finding size = finding_of("capacity", series, "bytes", "");
  size.level = number;
  size.value = bytes;
  if (!bytes) size.low = largest;
  result.findings.push_back(size);
  if (step == nullptr) return;
  Finding kind = finding_of("step", series, "", "");
  kind.level = number;
  kind.label = step;
  result.findings.push_back(kind);
}

std::string last_of_global(double largest) {
  ProbeResult result;
  add_level(result, "global", 1, 16.0, 1000.0, 0.0, "cache-or-far");
  add_level(result, "global", 2, 345.0, std::nullopt, largest, nullptr);
  return card(result).levels.at(1).name;
}

}  // namespace

TEST_CASE("what lies far behind the last cache is memory, and what may be one more cache is not") {
  CHECK(last_of_global(4000.0) == "memory");
  CHECK(last_of_global(3999.0) == "L2?");
  ProbeResult alone;
  add_level(alone, "global", 1, 16.0, std::nullopt, 1e9, nullptr);
  CHECK(card(alone).levels.at(0).what == "cache or memory");
}

TEST_CASE(
    "behind a level that may be the half of a cache, and one that may be a TLB's, all is unsure") {
  ProbeResult result;
  add_level(result, "global", 1, 1.1, 32768.0, 0.0, "cache");
  add_level(result, "global", 2, 4.0, 1e6, 0.0, "unknown");
  add_level(result, "global", 3, 197.0, 3e8, 0.0, nullptr);
  const Card found = card(result);
  REQUIRE(found.levels.size() == 3);
  CHECK(found.levels[0].name == "L1");
  CHECK(found.levels[0].what.empty());
  CHECK(found.levels[1].name == "L2?");
  CHECK(found.levels[1].what == "cache, or reach of a TLB");
  CHECK(found.levels[2].name == "L3?");
  ProbeResult far;
  add_level(far, "global", 1, 16.0, 32768.0, 0.0, "cache");
  add_level(far, "global", 2, 142.0, 3e7, 0.0, "cache-or-far");
  add_level(far, "global", 3, 258.0, 6e7, 0.0, "cache");
  add_level(far, "global", 4, 332.0, 1e9, 0.0, "translation");
  std::string names;
  for (const CardLevel& each : card(far).levels) names += each.name + " " + each.what + "; ";
  CHECK(names ==
        "L1 ; L2 or its near half; far L2? far half of L2, or L3; level 4 reach of a TLB; ");
}

TEST_CASE("one size has its value on the card, and says that it is no plateau") {
  ProbeResult result;
  Finding time = finding_of("latency", "global", "seconds", "at 1 MiB", 143e-9, 129e-9, 157e-9);
  time.reason = "one size; no plateau: add sizes with --sizes";
  result.findings.push_back(time);
  time.series = "image";
  result.findings.push_back(time);
  const Card found = card(result);
  REQUIRE(found.levels.size() == 1);
  CHECK(found.levels[0].name == "global");
  CHECK(found.levels[0].latency.value == 143e-9);
  CHECK(found.levels[0].capacity.label == "at 1 MiB");
  CHECK(found.levels[0].what == "one size; no plateau");
  CHECK(found.rows.at(0).text == "143 ns ±9.8% at 1 MiB (one size; no plateau)");
}

TEST_CASE("what rises behind the last level has a row, up to the largest set that was measured") {
  ProbeResult result;
  add_level(result, "global", 1, 1.1, 32768.0, 0.0, "cache");
  result.findings.push_back(finding_of("beyond", "global", "seconds", "", 326e-9, 190e-9, 326e-9));
  const auto add_point = [&](std::int64_t bytes, bool has_samples) {
    Point point;
    point.series = "global";
    point.parameters.set("working_set_bytes", bytes);
    if (has_samples) point.samples.resize(1);
    result.points.push_back(point);
  };
  add_point(1 << 20, true);
  add_point(1 << 30, true);
  add_point(std::int64_t{1} << 32, false);
  const Card found = card(result);
  REQUIRE(found.levels.size() == 2);
  CHECK(found.levels[1].name == "beyond");
  CHECK(found.levels[1].what == "rising, no plateau");
  CHECK(found.levels[1].latency.value == 326e-9);
  CHECK(found.levels[1].latency.low == 190e-9);
  CHECK(found.levels[1].latency.high == 326e-9);
  CHECK(found.levels[1].capacity.low == 1073741824.0);
  CHECK_FALSE(found.levels[1].capacity.value.has_value());
  // A point imported from another tool has a time but no samples.
  result.points.back().facts.set("imported_ns", 326.0);
  CHECK(card(result).levels[1].capacity.low == 4294967296.0);
}

TEST_CASE("a row says what the order of addresses saves") {
  const auto row = [](std::optional<double> share) {
    ProbeResult result;
    Finding in_order = finding_of("in_order", "global-in-order", "share", "");
    in_order.value = share;
    if (!share) in_order.reason = "not measured";
    result.findings.push_back(in_order);
    const Card found = card(result);
    CHECK(found.unseen.empty());
    REQUIRE(found.rows.size() == 1);
    return found.rows[0].text;
  };
  CHECK(row(0.5) == "50 % of the latency in random order: prefetched");
  CHECK(row(0.51) == "51 % of the latency in random order");
  CHECK(row(0.9) == "90 % of the latency in random order: not prefetched");
  CHECK(row(std::nullopt) == "not measured");
}

TEST_CASE("a row says from where on the order of addresses is faster, and its levels") {
  ProbeResult result;
  const auto add = [&](std::string_view name, std::string_view unit, double value) -> Finding& {
    Finding finding = finding_of(name, "global-in-order", unit, "");
    finding.value = value;
    return result.findings.emplace_back(std::move(finding));
  };
  add("in_order", "share", 0.25);
  add("in_order_from", "bytes", 2097152.0);
  add("latency", "seconds", 44e-9).level = 1;
  const Card found = card(result);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].text ==
        "25 % of the latency in random order: prefetched; faster from 2 MiB on; 44.0 ns");
}

TEST_CASE("a row says what a loop around each load adds") {
  ProbeResult result;
  result.findings.push_back(
      finding_of("loop_overhead", "global-looped", "share", "", 0.07, 0.05, 0.08));
  Card found = card(result);
  CHECK(found.unseen.empty());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].text == "a loop around each load adds 7 % to the latency");
  result.findings.front().value.reset();
  result.findings.front().reason = "not measured";
  CHECK(card(result).rows[0].text == "not measured");
}

TEST_CASE("levels of global and local memory stand on the card, the others in rows") {
  ProbeResult result;
  add_level(result, "global", 1, 16.0, 1024.0, 0.0, "cache-or-far");
  add_level(result, "global", 2, 345.0, std::nullopt, 1e9, nullptr);
  add_level(result, "constant-program", 1, 14.3, 2048.0, 0.0, nullptr);
  add_level(result, "constant-program", 2, 49.7, std::nullopt, 65536.0, nullptr);
  add_level(result, "local", 1, 11.8, std::nullopt, 49152.0, nullptr);
  result.findings.push_back(without_value("latency", "image", "plan", "the device has no images"));
  const Card found = card(result);
  REQUIRE(found.levels.size() == 3);
  CHECK(found.levels[0].name == "L1");
  CHECK(found.levels[0].what == "or its near half");
  CHECK(found.levels[1].memory == CardMemory::global);
  CHECK(found.levels[2].memory == CardMemory::local);
  CHECK(found.levels[2].name == "local");
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].topic == "constant-program");
  CHECK(found.rows[0].text == "14.3 ns to 2 KiB, 49.7 ns to > 64 KiB");
  CHECK(found.rows[1].text == "the device has no images");
  CHECK(found.unseen.empty());  // features that a device lacks are not listed
}

TEST_CASE("a row says how far the nearest level is from that of global memory") {
  const auto row = [](double ratio, double low, double high, std::string_view label) {
    ProbeResult result;
    add_level(result, "image", 1, 10.0, 1024.0, 0.0, nullptr);
    result.findings.push_back(finding_of("beside_global", "image", {}, "", ratio, low, high));
    result.findings.back().label = label;
    return card(result).rows.at(0).text;
  };
  CHECK(row(0.88, 0.87, 0.89, "") == "10.0 ns to 1 KiB; 12 % below L1");
  CHECK(row(1.5, 1.4, 1.6, "") == "10.0 ns to 1 KiB; 50 % above L1");
  CHECK(row(2.0, 1.9, 2.1, "") == "10.0 ns to 1 KiB; 2 times L1");
  CHECK(row(1.05, 1.0, 1.1, "") == "10.0 ns to 1 KiB; like L1");
  CHECK(row(0.95, 0.9, 1.0, "") == "10.0 ns to 1 KiB; like L1");
  CHECK(row(1.05, 1.04, 1.1, "as global") == "10.0 ns to 1 KiB; same as global");
}

TEST_CASE("a row says that memory of the host lies in that of the device") {
  const auto row = [](std::string_view label) {
    ProbeResult result;
    add_level(result, "host", 1, 343.0, std::nullopt, 65536.0, nullptr);
    Finding memory = finding_of("host_memory", "host", "", "");
    memory.label = label;
    result.findings.push_back(memory);
    return card(result).rows.at(0).text;
  };
  CHECK(row("device") == "343 ns to > 64 KiB; in device memory");
  CHECK(row("host") == "343 ns to > 64 KiB");
}

TEST_CASE("a row says what a load over the link takes where that is all that is known") {
  ProbeResult result;
  result.findings.push_back(finding_of("link_latency", "host", "seconds", "", 7e-7, 7e-7, 7e-7));
  CHECK(card(result).rows.at(0).text == "700 ns over the link");
  CHECK(card(result).unseen.empty());
}

TEST_CASE("of more than three levels a row has the first and the last") {
  ProbeResult result;
  for (int level = 1; level <= 3; ++level) {
    add_level(result, "image", level, 10.0 * level, 1024.0 * level, 0.0, nullptr);
  }
  CHECK(card(result).rows.at(0).text == "10.0 ns to 1 KiB, 20.0 ns to 2 KiB, 30.0 ns to 3 KiB");
  add_level(result, "image", 4, 40.0, std::nullopt, 8192.0, nullptr);
  CHECK(card(result).rows.at(0).text == "10.0 ns to 1 KiB, 2 more, 40.0 ns to > 8 KiB");
}

TEST_CASE("nothing found is an empty card") {
  const Card none = card({});
  CHECK(none.levels.empty());
  CHECK(none.rows.empty());
  CHECK(none.unseen.empty());
}

}  // namespace clprobe::latency
