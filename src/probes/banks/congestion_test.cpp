// SPDX-License-Identifier: Apache-2.0
// What stands beside the model E = c1 * w * l * k + c2: where it is off, and the bound of theory.
#include "probes/banks/findings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "probes/banks/access.hpp"
#include "probes/banks/runs_test.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::banks {
namespace {

constexpr Model model{32, 4, 32};

/// Returns points of the conflict model on a device that takes w * l * k + 300 cycles. With a
/// single sub-group (w = 1) it takes `alone` times as long.
std::vector<Point> points_of(std::string_view series, double alone) {
  std::vector<Point> points;
  for (const int w : {1, 2, 32}) {
    for (const int l : {1, 32}) {
      for (const int k : {1, 8, 32}) {
        Shape shape;
        shape.pattern = {PatternKind::congestion, k, 128, 32};
        shape.sub_groups = static_cast<std::uint32_t>(w);
        shape.instructions = static_cast<std::uint32_t>(l);
        Point point;
        point.series = series;
        write_shape(shape, point);
        const double cycles = (w == 1 ? alone : 1.0) * (w * l * k + 300.0);
        // A sample has 1000 launches of w * l accesses each.
        Sample sample{.accesses = static_cast<std::uint64_t>(1000 * w * l)};
        sample.ticks = static_cast<std::uint64_t>(1000.0 * cycles);
        point.samples = {sample, sample};
        points.push_back(point);
      }
    }
  }
  return points;
}

/// Returns findings of the conflict model. Earlier findings of chains and of independent loads
/// have a latency of 25 cycles and a cost of 1 cycle per way.
Findings found_in(const std::vector<Point>& points, bool has_latency = true) {
  Findings found;
  const auto add = [&](std::string_view name, std::string_view series, double value) {
    found.findings.push_back(finding_of(name, series, "cycles", "", value, value, value));
  };
  if (has_latency) add("conflict_free", "load-latency 4 B", 25.0);
  add("cost_per_way", "load-throughput 4 B", 1.0);
  add_congestion(found, gpu(), points, model);
  return found;
}

const Finding* named(const Findings& found, std::string_view name) {
  const auto at = std::find_if(found.findings.begin(), found.findings.end(),
                               [&](const Finding& each) { return each.name == name; });
  return at == found.findings.end() ? nullptr : &*at;
}

const Finding* find_row(const Findings& found, std::string_view name, std::string_view series) {
  const auto at =
      std::find_if(found.findings.begin(), found.findings.end(),
                   [&](const Finding& each) { return each.name == name && each.series == series; });
  return at == found.findings.end() ? nullptr : &*at;
}

/// Returns the last `count` points.
std::vector<Point> last_of(std::vector<Point> points, std::size_t count) {
  points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(count));
  return points;
}

}  // namespace

TEST_CASE("a discrete memory machine takes a wavefront a turn, and one latency for all") {
  // 16 wavefronts (8 accesses of 2), one per cycle, and a latency of 25 cycles: 16 - 1 + 25 = 40.
  CHECK(discrete_memory_machine_time(16.0, 25.0, 1.0) == doctest::Approx(40.0));
  CHECK(discrete_memory_machine_time(1.0, 25.0, 1.0) == doctest::Approx(25.0));
  CHECK(discrete_memory_machine_time(16.0, 25.0, 2.0) == doctest::Approx(55.0));
}

TEST_CASE("the bound of theory stands beside the loads of the model: the median and the extremes") {
  const Findings found = found_in(points_of("load-model", 1.0));
  const Finding* const over = named(found, "over_bound");
  REQUIRE(over != nullptr);
  // The ratio of w l k + 300 to w l k + 24, for products from 1 to 32,768.
  CHECK(*over->high == doctest::Approx(301.0 / 25.0).epsilon(1e-3));
  CHECK(*over->low == doctest::Approx(33068.0 / 32792.0).epsilon(1e-3));
  CHECK(*over->low < *over->value);
  CHECK(*over->value < *over->high);
}

TEST_CASE("there is no bound for stores, nor without the latency of a load") {
  CHECK(named(found_in(points_of("store-model", 1.0)), "over_bound") == nullptr);
  CHECK(named(found_in(points_of("store-model", 1.0)), "c1") != nullptr);
  CHECK(named(found_in(points_of("load-model", 1.0), false), "over_bound") == nullptr);
}

TEST_CASE("where the model is off most is said: one sub-group that waits for its own loads") {
  const Findings found = found_in(points_of("load-model", 2.0));
  REQUIRE(named(found, "deviates_most") != nullptr);
  CHECK(named(found, "deviates_most")->label == "1 sub-group, 32 accesses, 32 ways");
}

TEST_CASE("what was published of a device stands beside what is found of it, by the same words") {
  std::vector<Point> points = points_of("load-model", 1.0);
  const auto found_of = [&](const char* name) {
    DeviceInfo device = gpu();
    device.name = name;
    Findings found;
    add_congestion(found, device, points, model);
    return found;
  };
  CHECK(named(found_of("simulated gtx-780-ti"), "published_c1") == nullptr);
  for (Point& point : points) point.parameters.set("word_bytes", std::int64_t{8});
  for (const char* const name : {"simulated gtx-780-ti", "NVIDIA GeForce GTX 780 Ti"}) {
    CAPTURE(name);
    const Findings found = found_of(name);
    REQUIRE(find_row(found, "published_c1", "load-model") != nullptr);
    CHECK(*named(found, "published_c1")->value == 1.047);
    CHECK(*named(found, "published_c2")->value == 337.7);
    CHECK(named(found, "published_c2")->method == "Okamoto et al. 2014, section III");
  }
  CHECK(named(found_of("NVIDIA GeForce GTX 780"), "published_c1") == nullptr);
  CHECK(named(found_of("simulated gsi"), "published_c2") == nullptr);
}

TEST_CASE("a point that is asked for alone has a row, and why there is no line") {
  const Findings found = found_in(last_of(points_of("load-model", 1.0), 1));
  const std::string_view row = "load-model, 32 sub-groups, 32 accesses, 32 ways";
  REQUIRE(find_row(found, "time", row) != nullptr);
  CHECK(*find_row(found, "time", row)->value == doctest::Approx(33068.0));
  CHECK(find_row(found, "time", row)->unit == "cycles");
  REQUIRE(named(found, "c1") != nullptr);
  CHECK_FALSE(named(found, "c1")->value);
  CHECK(named(found, "c1")->reason ==
        "not known: fitting a line needs 3 different products of sub-groups, accesses and ways, "
        "but only 1 was measured");
  CHECK(named(found, "over_bound") == nullptr);
}

TEST_CASE("three products make a line, and up to 8 points have rows") {
  const Findings two = found_in(last_of(points_of("load-model", 1.0), 2));
  CHECK_FALSE(named(two, "c1")->value);
  const Findings three = found_in(last_of(points_of("load-model", 1.0), 3));
  REQUIRE(named(three, "c1")->value);
  CHECK(named(found_in(last_of(points_of("load-model", 1.0), 8)), "time") != nullptr);
  CHECK(named(found_in(last_of(points_of("load-model", 1.0), 9)), "time") == nullptr);
}

TEST_CASE("the chart has each point at its product, and the line that was found") {
  ProbeResult result;
  result.points = points_of("load-model", 1.0);
  CHECK(model_plots(result).empty());
  result.findings = found_in(result.points).findings;
  const std::vector<CardPlot> plots = model_plots(result);
  REQUIRE(plots.size() == 1);
  CHECK(plots[0].title == "Bank-conflict model, loads");
  CHECK(plots[0].unit == "cycles");
  REQUIRE(plots[0].points.size() == 18);
  CHECK(plots[0].points[17].x == 32768.0);
  CHECK(plots[0].points[17].accesses == 1024.0);
  REQUIRE(plots[0].trends.size() == 1);
  CHECK(plots[0].trends[0].series == "load-model");
  CHECK(plots[0].trends[0].slope == doctest::Approx(1.0));
  CHECK(plots[0].trends[0].offset == doctest::Approx(300.0).epsilon(1e-3));
}

TEST_CASE("a word of two banks counts twice, by what was found, else by what was planned") {
  ProbeResult result;
  result.points = points_of("load-model", 1.0);
  for (Point& point : result.points) point.parameters.set("word_bytes", std::int64_t{8});
  result.findings = found_in(points_of("load-model", 1.0)).findings;
  CHECK(model_plots(result)[0].points[0].x == 2.0);
  result.findings.push_back(finding_of("bank_width", "local memory", "bytes", "", 8.0, 8.0, 8.0));
  CHECK(model_plots(result)[0].points[0].x == 1.0);
}

}  // namespace clprobe::banks
