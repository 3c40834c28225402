// SPDX-License-Identifier: Apache-2.0
// Shapes: what is written is read again, and what is wrong is named.
#include "probes/shared/fields.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "probes/shared/finding.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe {
namespace {

enum class Fruit { apple, pear };
constexpr Word<Fruit> fruit_words[]{{Fruit::apple, "apple"}, {Fruit::pear, "pear"}};

struct Basket {
  std::uint32_t count{1};
  Fruit fruit{Fruit::apple};
  std::int64_t worms{0};  ///< number of worms, stored only for apples
  std::optional<int> price{};
  std::string owner{};
  std::optional<std::string> note{};
  Timer timer{Timer::host};
  std::uint64_t weight{7};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("count", count);
    f.derived("twice", 2 * count);
    f.word("fruit", fruit, fruit_words);
    if (fruit == Fruit::apple) f.whole("worms", worms, {.min = -1, .max = 9});
    f.whole("price", price);
    f.text("owner", owner);
    f.text("note", note);
    f.word("timer", timer);
    f.derived("label", std::string_view(owner));
    f.fact("weight", weight);
  }

  friend bool operator==(const Basket&, const Basket&) = default;
};

Point point_of(const Basket& basket) {
  Point point;
  write_shape(basket, point);
  return point;
}

std::string problem_of(const Point& point) {
  try {
    static_cast<void>(shape_of<Basket>(point));
  } catch (const std::out_of_range& problem) {
    CHECK_FALSE(find_shape<Basket>(point).has_value());
    return problem.what();
  }
  CHECK(find_shape<Basket>(point).has_value());
  return {};
}

TEST_CASE("a shape is read as it was written, parameters in the order of its fields") {
  const Basket apples{
      .count = 3, .worms = -1, .owner = "Eve", .note = "ripe", .timer = Timer::event, .weight = 9};
  const Point point = point_of(apples);
  CHECK(point.parameters == Parameters{{"count", std::int64_t{3}},
                                       {"twice", std::int64_t{6}},
                                       {"fruit", std::string("apple")},
                                       {"worms", std::int64_t{-1}},
                                       {"owner", std::string("Eve")},
                                       {"note", std::string("ripe")},
                                       {"timer", std::string("event")},
                                       {"label", std::string("Eve")}});
  CHECK(point.facts == Parameters{{"weight", std::int64_t{9}}});
  CHECK(shape_of<Basket>(point) == apples);
}

TEST_CASE("a field decides which others follow, and optional ones may be missing") {
  const Basket pears{.fruit = Fruit::pear, .price = 0};
  const Point point = point_of(pears);
  CHECK(point.parameters.find("worms") == nullptr);
  CHECK(point.parameters.find("note") == nullptr);
  CHECK(shape_of<Basket>(point) == pears);
}

TEST_CASE("a fact that a point does not have keeps its value") {
  Point point = point_of({.weight = 9});
  point.facts = {};
  CHECK(shape_of<Basket>(point).weight == 7);
}

TEST_CASE("the first field that is missing or wrong is named") {
  CHECK(problem_of(point_of({})).empty());
  CHECK(problem_of({}) == "a point lacks 'count'");
  const auto problem_with = [](const char* name, const Value& value) {
    Point point = point_of({.price = 1});
    point.parameters.set(name, value);
    return problem_of(point);
  };
  CHECK(problem_with("count", std::int64_t{-1}) == "'count' is -1, but must be at least 0");
  CHECK(problem_with("count", std::int64_t{1} << 32U) ==
        "'count' is 4294967296, but must be at most 4294967295");
  CHECK(problem_with("worms", std::int64_t{-2}) == "'worms' is -2, but must be at least -1");
  CHECK(problem_with("worms", std::int64_t{9}).empty());
  CHECK(problem_with("worms", std::int64_t{10}) == "'worms' is 10, but must be at most 9");
  CHECK(problem_with("count", std::int64_t{std::numeric_limits<std::uint32_t>::max()}).empty());
  CHECK(problem_with("count", 1.0) == "'count' is not a whole number");
  CHECK(problem_with("price", std::string("much")) == "'price' is not a whole number");
  CHECK(problem_with("owner", std::int64_t{1}) == "'owner' is not text");
  CHECK(problem_with("fruit", std::string("plum")) == "'fruit' is not one of the known values");
  CHECK(problem_with("timer", std::string("sundial")) == "'timer' is not one of the known values");
}

TEST_CASE("what a stored point has and cannot be is found, what it lacks is not") {
  CHECK_FALSE(find_problem<Basket>({}).has_value());
  Point point = point_of({.price = 1});
  CHECK_FALSE(find_problem<Basket>(point).has_value());
  point.parameters.set("fruit", std::string("plum"));  // a later version may define "plum"
  CHECK_FALSE(find_problem<Basket>(point).has_value());
  point.facts.set("weight", std::int64_t{-1});
  CHECK(find_problem<Basket>(point) ==
        PointProblem{"facts", "weight", "is -1, but must be at least 0"});
  point.parameters.set("twice", std::string("two"));
  CHECK(find_problem<Basket>(point) ==
        PointProblem{"parameters", "twice", "is not a whole number"});
}

TEST_CASE("an option offers the words of its table, and reads them") {
  CHECK(words_of_table(fruit_words) == std::array<std::string_view, 2>{"apple", "pear"});
  CHECK(values_in(fruit_words, {"pear", "apple"}) == std::vector{Fruit::pear, Fruit::apple});
  CHECK(numbers_in({"16", "4"}) == std::vector{16, 4});
}

TEST_CASE("findings are built in one way") {
  const Finding value = finding_of("knee", "read", "bytes", "90 %", 8.0, 4.0, 16.0);
  CHECK(value.value == 8.0);
  CHECK(value.low == 4.0);
  CHECK(value.high == 16.0);
  CHECK(value.source == Source::derived);
  const Finding none = without_value("knee", "read", "90 %", "not visible", "bytes");
  CHECK_FALSE(none.value.has_value());
  CHECK(none.unit == "bytes");
  const Finding planned = not_measured("knee", "read", "the device has none");
  CHECK(planned.name == "knee");
  CHECK(planned.series == "read");
  CHECK(planned.reason == "the device has none");
  CHECK(planned.method == "plan");  // the engine keeps findings with this method
  CHECK(planned.source == Source::reported);
}

}  // namespace
}  // namespace clprobe
