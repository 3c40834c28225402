// SPDX-License-Identifier: Apache-2.0
// Ridge points of hand-made runs.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/agreement.hpp"
#include "clprobe/run.hpp"

namespace clprobe {
namespace {

constexpr std::array of_units{SharedQuantity{Quantity::peak, "float", "flops", "single"},
                              SharedQuantity{Quantity::peak, "double", "flops", "twice"}};
constexpr std::array of_walks{SharedQuantity{Quantity::bandwidth, "global", "rate", "all"},
                              SharedQuantity{Quantity::capacity, "global", "capacity", "all"},
                              SharedQuantity{Quantity::bandwidth_beyond, "global", "rest", "all"},
                              SharedQuantity{Quantity::ridge, "float", "ridge", "all"},
                              SharedQuantity{Quantity::ridge, "double", "double_ridge", "all"}};
constexpr std::array both{ProbeQuantities{"walks", of_walks}, ProbeQuantities{"units", of_units}};

Finding with_interval(std::string_view name, std::string_view series, std::optional<int> level,
                      double value, double share) {
  Finding made;
  made.name = name;
  made.series = series;
  made.level = level;
  made.value = value;
  made.low = value * (1.0 - share);
  made.high = value * (1.0 + share);
  return made;
}

/// 60 TFLOP/s of floats within 10 %, 30 TFLOP/s of doubles within 1 %.
ProbeResult peaks() {
  ProbeResult result;
  result.probe = "units";
  result.points = {Point{.series = "single"}, Point{.series = "twice"}};
  result.findings = {with_interval("flops", "single", {}, 60e12, 0.1),
                     with_interval("flops", "twice", {}, 30e12, 0.01),
                     with_interval("flops", "another", {}, 1e12, 0.01)};
  return result;
}

/// 30 TB/s up to 200 KiB, 10 TB/s up to 30 MiB, 4 TB/s beyond 1 GiB; each within 20 %.
ProbeResult walks() {
  ProbeResult result;
  result.probe = "walks";
  constexpr double kibibyte = 1024.0;
  const std::array rates{30e12, 10e12, 4e12};
  const std::array ends{200.0 * kibibyte, 30.0 * kibibyte * kibibyte, 0.0};
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const int level = static_cast<int>(i) + 1;
    result.findings.push_back(with_interval("rate", "all", level, rates.at(i), 0.2));
    result.findings.push_back(with_interval("capacity", "all", level, ends.at(i), 0.01));
  }
  Finding& last = result.findings.back();
  last.value.reset();
  last.high.reset();
  last.low = kibibyte * kibibyte * kibibyte;
  return result;
}

/// Latency of the caches, whose steps name them.
ProbeResult chase() {
  ProbeResult result;
  result.probe = "chase";
  for (int level = 1; level <= 2; ++level) {
    result.findings.push_back(
        with_interval("capacity", "chase", level, level == 1 ? 200e3 : 31e6, 0.01));
    Finding step = with_interval("step", "chase", level, 1.0, 0.0);
    step.label = "cache";
    result.findings.push_back(step);
  }
  return result;
}

Run run_of(std::vector<ProbeResult> results) {
  Run run;
  run.results = std::move(results);
  tell_roofline(run, both);
  return run;
}

std::vector<Finding> ridges(const Run& run, std::string_view name) {
  std::vector<Finding> found;
  for (const ProbeResult& result : run.results) {
    for (const Finding& each : result.findings) {
      if (each.name == name) found.push_back(each);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a ridge point is a peak divided by a bandwidth, with the quotients of both intervals") {
  const Run run = run_of({walks(), peaks()});
  const std::vector<Finding> found = ridges(run, "ridge");
  REQUIRE(found.size() == 3);
  CHECK(*found[0].value == doctest::Approx(2.0));
  CHECK(*found[1].value == doctest::Approx(6.0));
  CHECK(*found[2].value == doctest::Approx(15.0));
  CHECK(*found[2].low == doctest::Approx(54.0 / 4.8));
  CHECK(*found[2].high == doctest::Approx(66.0 / 3.2));
  CHECK(found[2].level == 3);
  CHECK(found[2].series == "all");
  CHECK(found[2].unit == "flops_per_byte");
  CHECK(found[2].role == Role::remark);
  CHECK(found[2].label == "memory");
  CHECK(found[1].label.empty());
  const std::vector<Finding> doubles = ridges(run, "double_ridge");
  REQUIRE(doubles.size() == 3);
  CHECK(*doubles[0].value == doctest::Approx(1.0));
  CHECK(*doubles[0].low == doctest::Approx(29.7 / 36.0));
  CHECK(*doubles[2].value == doctest::Approx(7.5));
}

TEST_CASE("levels have the names that another probe's steps give them") {
  const std::vector<Finding> found = ridges(run_of({chase(), peaks(), walks()}), "ridge");
  REQUIRE(found.size() == 3);
  CHECK(found[0].label == "L1");
  CHECK(found[1].label == "L2");
  CHECK(found[2].label == "memory");
}

TEST_CASE("ridge points are made again, not added") {
  Run run = run_of({walks(), peaks()});
  run.results[1].findings[0].value = 120e12;
  tell_roofline(run, both);
  const std::vector<Finding> found = ridges(run, "ridge");
  REQUIRE(found.size() == 3);
  CHECK(*found[0].value == doctest::Approx(4.0));
}

TEST_CASE("a bandwidth without a plateau has a ridge point") {
  ProbeResult rising = walks();
  Finding& first = rising.findings[0];
  first.value.reset();
  first.low = first.high = 40e12;
  rising.findings.push_back(with_interval("rest", "all", {}, 2e12, 0.5));
  const std::vector<Finding> found = ridges(run_of({rising, peaks()}), "ridge");
  REQUIRE(found.size() == 4);
  CHECK(*found[0].value == doctest::Approx(1.5));
  CHECK(*found[0].high == doctest::Approx(66.0 / 40.0));
  CHECK_FALSE(found[3].level);
  CHECK(*found[3].value == doctest::Approx(30.0));
  CHECK(*found[3].high == doctest::Approx(66.0));
}

TEST_CASE("without one of the two, the reason names it; without its probe, there is nothing") {
  ProbeResult refused = peaks();
  refused.findings.erase(refused.findings.begin());
  const Run run = run_of({walks(), refused});
  const std::vector<Finding> found = ridges(run, "ridge");
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].value);
  CHECK(found[0].reason == "not known: units found no peak");
  CHECK(ridges(run, "double_ridge").size() == 3);

  ProbeResult empty;
  empty.probe = "walks";
  const std::vector<Finding> none = ridges(run_of({empty, peaks()}), "ridge");
  REQUIRE(none.size() == 1);
  CHECK(none[0].reason == "not known: no bandwidth was measured");

  CHECK(ridges(run_of({walks()}), "ridge").empty());
  CHECK(ridges(run_of({peaks()}), "ridge").empty());
  // The user selected other series.
  refused.points.clear();
  CHECK(ridges(run_of({walks(), refused}), "ridge").empty());
}

}  // namespace clprobe
