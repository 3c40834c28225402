// SPDX-License-Identifier: Apache-2.0
// What the probe `banks` concludes of what devices would measure.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "probes/banks/runs_test.hpp"

namespace clprobe::banks {
namespace {

TEST_CASE("32 banks of 4 bytes are found, with what they cost") {
  const std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(value_of(found, "banks", "local memory") == 32.0);
  CHECK(value_of(found, "bank_width", "local memory") == 4.0);
  CHECK(value_of(found, "lanes_together", "local memory") == 32.0);
  CHECK(value_of(found, "bic_margin", "local memory") > 100.0);
  CHECK_FALSE(find(found, "second_best", "local memory")->label.empty());
  CHECK(value_of(found, "cost_per_way", "load-latency 4 B") == doctest::Approx(2.0));
  CHECK(value_of(found, "conflict_free", "load-latency 4 B") == doctest::Approx(25.0));
  CHECK(value_of(found, "cost_per_way", "store-throughput 16 B") == doctest::Approx(1.0));
  CHECK(value_of(found, "bytes_per_cycle", "load-throughput 4 B") == doctest::Approx(128 / 1.1));
  for (const char* const name : {"bandwidth", "bytes_per_cycle"}) {
    const Finding* const rate = find(found, name, "load-throughput 4 B");
    REQUIRE((rate->low.has_value() && rate->high.has_value()));
    CHECK(*rate->low <= *rate->value);
    CHECK(*rate->high >= *rate->value);
  }
  CHECK(value_of(found, "bandwidth", "load-throughput 4 B") == doctest::Approx(256e9 / 1.1));
  CHECK(value_of(found, "c1", "load-model") == doctest::Approx(1.0).epsilon(1e-3));
  CHECK(value_of(found, "c2", "store-model") == doctest::Approx(300.0).epsilon(1e-3));
  CHECK(value_of(found, "model_r2", "load-model") > 0.9999);
  CHECK(find(found, "c1", "load-model")->unit == "cycles");
  CHECK_FALSE(find(found, "deviates_most", "store-model")->label.empty());
}

TEST_CASE("what visits say by themselves is in the intervals of a bandwidth and a median") {
  std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  for (Point& point : points) {
    Sample later = point.samples.back();
    later.visit = 1;
    *later.ticks *= 2;
    point.samples.insert(point.samples.end(), {later, later});
  }
  const Findings found = banks_probe().analyse(gpu(), points);
  const Finding* const rate = find(found, "bytes_per_cycle", "load-throughput 4 B");
  REQUIRE(rate != nullptr);
  CHECK(*rate->value == doctest::Approx(128 / 1.1));
  CHECK(*rate->low == doctest::Approx(64 / 1.1));
  CHECK_FALSE(rate->holds_scatter);
  const Finding* const free = find(found, "conflict_free", "load-latency 4 B");
  REQUIRE(free != nullptr);
  CHECK(*free->value == doctest::Approx(25.0));
  CHECK(*free->high == doctest::Approx(50.0));
  CHECK(free->holds_scatter);
}

TEST_CASE("of a dozen passes one that was slow is no end of what is usual") {
  std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  for (Point& point : points) {
    for (std::uint64_t visit = 1; visit < 12; ++visit) {
      Sample later = point.samples.front();
      later.visit = visit;
      if (visit == 7) *later.ticks *= 2;
      point.samples.push_back(later);
    }
  }
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(*find(found, "conflict_free", "load-latency 4 B")->high == doctest::Approx(25.0));
  CHECK(*find(found, "bytes_per_cycle", "load-throughput 4 B")->low == doctest::Approx(128 / 1.1));
}

TEST_CASE("other memories are found from what is measured on their devices") {
  for (const Model& model : {Model{64, 4, 64}, {32, 8, 32}}) {
    const Findings found = banks_probe().analyse(wave64(), measured(wave64(), {}, model));
    CAPTURE(model.banks);
    CHECK(value_of(found, "banks", "local memory") == model.banks);
    CHECK(value_of(found, "bank_width", "local memory") == model.width_bytes);
    CHECK(value_of(found, "lanes_together", "local memory") == model.lanes_together);
    CHECK(value_of(found, "c1", "load-model") == doctest::Approx(1.0).epsilon(1e-3));
  }
}

TEST_CASE("congestion is of the banks that were found, w, l and k swept") {
  std::vector<Point> points = accesses_for(gpu());
  take_samples(points, {32, 4, 32});
  const std::vector<Point> more = banks_probe().refine(gpu(), {}, points);
  CHECK(series_of(more) == std::set<std::string>{"load-model", "store-model"});
  CHECK(more.size() == 2 * 4 * 4 * 4);
  CHECK(more.back().parameters.integer("ways") == 32);
  CHECK(more.back().parameters.integer("sub_groups") == 32);
  CHECK(more.back().parameters.integer("instructions") == 32);
  Request thorough;
  thorough.effort = Effort::thorough;
  CHECK(banks_probe().refine(gpu(), thorough, points).size() == 2 * 6 * 6 * 6);
  for (const Point& point : more) {
    CHECK(wavefronts_at(point, {32, 4, 32}) == point.parameters.integer("ways"));
  }
  const Request request =
      asking({{"ways", Ints{3}}, {"sub-groups", Ints{5}}, {"instructions", Ints{7}}});
  const auto asked = banks_probe().refine(gpu(), request, points);
  REQUIRE(asked.size() == 2);
  CHECK(asked.front().parameters.integer("ways") == 3);
}

TEST_CASE("a CPU has no banks, and no made-up number") {
  std::vector<Point> points = accesses_for(cpu());
  take_samples(points, {}, true);
  CHECK(banks_probe().refine(cpu(), {}, points).empty());
  const Findings found = banks_probe().analyse(cpu(), points);
  const Finding* const none = find(found, "banks", "local memory");
  REQUIRE(none != nullptr);
  CHECK_FALSE(none->value.has_value());
  CHECK(none->reason.starts_with("not visible"));
  CHECK(none->reason.find("ordinary memory") != std::string::npos);
  for (const char* const name : {"bank_width", "lanes_together", "second_best", "c1"}) {
    CHECK(std::none_of(found.findings.begin(), found.findings.end(),
                       [&](const Finding& each) { return each.name == name; }));
  }
  CHECK(find(found, "cost_per_way", "load-latency 4 B") == nullptr);
  CHECK(find(found, "conflict_free", "load-latency 4 B")->unit == "seconds");
  // If ways are requested, the conflict model is measured even without visible banks. The rows of
  // the model then share a bank in every candidate.
  const auto asked = banks_probe().refine(cpu(), asking({{"ways", Ints{2}}}), points);
  REQUIRE_FALSE(asked.empty());
  CHECK(asked.front().parameters.integer("span_bytes") == 1024);
}

TEST_CASE("points of another version are left out, and nothing is thrown") {
  std::vector<Point> points = measured(gpu(), {}, {32, 4, 32});
  points[0].parameters.set("pattern", std::string("spiral"));
  points[1].parameters.set("word_bytes", std::int64_t{0});
  points[2].parameters.set("lanes", std::int64_t{-4});
  points[3].failure = "it failed";
  points[5].parameters.set("instructions", 1.5);
  points[4].samples.clear();
  const Findings found = banks_probe().analyse(gpu(), points);
  CHECK(value_of(found, "banks", "local memory") == 32.0);
}

}  // namespace
}  // namespace clprobe::banks
