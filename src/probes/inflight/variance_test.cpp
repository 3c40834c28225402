// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/inflight/inflight.hpp"
#include "probes/inflight/points_test.hpp"

namespace clprobe::inflight {
namespace {

Point taking(double cycles, int items, int loads = 1) {
  Point point = block(loads, 1, MergerMode::within, items);
  for (int run = 0; run < 3; ++run) {
    Sample sample{.accesses = 2};
    sample.ticks = static_cast<std::uint64_t>(2.0 * cycles);
    point.samples.push_back(sample);
  }
  return point;
}

/// Returns a curve of 400 cycles up to 12 work-items and 490 cycles from 14 work-items on.
std::vector<Point> stepped() {
  std::vector<Point> points;
  for (int n = 2; n <= 24; n += 2) points.push_back(taking(n > 12 ? 490.0 : 400.0, n));
  return points;
}

std::optional<double> variance_at(const std::vector<Point>& points, std::size_t place) {
  return number_in(points[place].facts, variance_fact);
}

}  // namespace

TEST_CASE("a step has a third of its square at both sides, as a fact of these points") {
  std::vector<Point> points = stepped();
  derive_variance(points);
  CHECK(*variance_at(points, 5) == doctest::Approx(90.0 * 90.0 / 3.0));
  CHECK(*variance_at(points, 6) == doctest::Approx(90.0 * 90.0 / 3.0));
  CHECK(*variance_at(points, 4) == 0.0);
  CHECK_FALSE(variance_at(points, 0));  // the first point has only one neighbour
  CHECK_FALSE(variance_at(points, 11));
}

TEST_CASE("curves are apart, in any order of their points") {
  std::vector<Point> points{taking(490.0, 6), taking(100.0, 4, 2), taking(400.0, 4),
                            taking(400.0, 2)};
  derive_variance(points);
  CHECK(*variance_at(points, 2) == doctest::Approx(2700.0));
  CHECK_FALSE(variance_at(points, 1));
}

TEST_CASE("what a document claims of it is written anew, and no failed point has any") {
  std::vector<Point> points = stepped();
  for (Point& point : points) point.facts.set(variance_fact, 1.0);
  points[5].failure = "lost";
  points[5].samples.clear();
  derive_variance(points);
  CHECK_FALSE(variance_at(points, 0));
  CHECK_FALSE(variance_at(points, 5));
  CHECK(*variance_at(points, 6) == doctest::Approx(2700.0));
  CHECK(points[6].facts.find("buffer_bytes") != nullptr);
}

TEST_CASE("what no document can hold is left out") {
  std::vector<Point> points = stepped();
  for (std::size_t i = 6; i < points.size(); ++i) {
    for (Sample& sample : points[i].samples) {
      sample.accesses = 1;
      sample.ticks = std::numeric_limits<std::uint64_t>::max();
    }
  }
  derive_variance(points);
  CHECK_FALSE(variance_at(points, 6));
}

TEST_CASE("the engine derives it before the analysis, of new runs and of stored ones") {
  ProbeResult result;
  result.probe = probe.id;
  result.points = stepped();
  analyse_again(probe, gpu(), result);
  CHECK(*variance_at(result.points, 6) == doctest::Approx(2700.0));
  CHECK(result.view.beside == variance_fact);
}

}  // namespace clprobe::inflight
