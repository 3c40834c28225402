// SPDX-License-Identifier: Apache-2.0
// The parameters of a point as a struct. A shape names its fields once, in `visit`, and both the
// reader and the writer walk that list:
//
//   struct Shape {
//     std::uint64_t word_bytes{4};
//     std::string target{};
//     template <typename Visitor> void visit(Visitor& f) {
//       f.whole("word_bytes", word_bytes);
//       f.text("target", target);
//     }
//   };
//
// `visit` may skip fields depending on the value of an earlier field. Pure.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "clprobe/words.hpp"

namespace clprobe {

/// Allowed range of a whole number in a point. A stored point may violate the range. The default
/// maximum exceeds the number of bytes of any device's memory.
struct Bounds {
  std::int64_t min{0};
  std::int64_t max{std::int64_t{1} << 48U};
};
inline constexpr Bounds from_1{.min = 1};
/// Allowed ranges of counts. The product of three counts fits 64 bits.
inline constexpr Bounds count_from_0{.max = std::int64_t{1} << 20U};
inline constexpr Bounds count_from_1{.min = 1, .max = std::int64_t{1} << 20U};

/// Reads the fields of a point. `problem()` is about the first field of a wrong type or out of
/// bounds; without such a field, about the first missing field or unknown word. Required fields
/// with a problem keep their value.
class FieldReader {
 public:
  explicit FieldReader(const Point& point) : point_(point) {}

  template <std::integral Number>
  void whole(std::string_view name, Number& number, const Bounds& bounds = {}) {
    if (const Value* const value = need(name)) take(name, *value, number, bounds);
  }
  /// Reads an optional number. The number has no value if the point lacks the field.
  template <std::integral Number>
  void whole(std::string_view name, std::optional<Number>& number, const Bounds& bounds = {}) {
    number.reset();
    const Value* const value = point_.parameters.find(name);
    if (value != nullptr) take(name, *value, number.emplace(), bounds);
  }

  void text(std::string_view name, std::string& text) {
    if (const Value* const value = need(name)) take(name, *value, text);
  }
  void text(std::string_view name, std::optional<std::string>& text) {
    text.reset();
    const Value* const value = point_.parameters.find(name);
    if (value != nullptr) take(name, *value, text.emplace());
  }

  /// Reads an enumeration. The words are those of `table` (words.hpp).
  template <typename Enum, typename Table>
  void word(std::string_view name, Enum& field, const Table& table) {
    take_word(name, field, [&](std::string_view word) { return value_in(table, word); });
  }
  /// Reads an enumeration. The words are those of documents (run.hpp).
  template <typename Enum>
  void word(std::string_view name, Enum& field) {
    take_word(name, field, [](std::string_view word) { return from_word<Enum>(word); });
  }

  /// Checks the type, and the range of a number, of a field that follows from other fields. Points
  /// store the field for readers of documents.
  template <std::integral Number>
  void derived(std::string_view name, Number /*number*/) {
    std::optional<std::int64_t> shown;
    whole(name, shown);
  }
  void derived(std::string_view name, std::string_view /*text*/) {
    std::optional<std::string> shown;
    text(name, shown);
  }

  /// Reads a fact. `number` keeps its value if the point lacks the fact.
  template <std::integral Number>
  void fact(std::string_view name, Number& number, const Bounds& bounds = {}) {
    const Value* const value = point_.facts.find(name);
    if (value == nullptr) return;
    group_ = "facts";
    take(name, *value, number, bounds);
    group_ = "parameters";
  }

  /// Returns the problem as text. Returns an empty string if all fields were read.
  [[nodiscard]] std::string problem() const {
    const std::optional<PointProblem>& any = bad_ ? bad_ : unknown_;
    if (!any) return {};
    return any->what == is_missing ? fmt::format("a point lacks '{}'", any->name)
                                   : fmt::format("'{}' {}", any->name, any->what);
  }
  /// Returns the first field of a wrong type or out of bounds; nothing without such a field.
  [[nodiscard]] const std::optional<PointProblem>& bad() const { return bad_; }
  /// Returns the reason why the point cannot be read. Requires that `problem()` is not empty.
  [[nodiscard]] PointProblem worst() const {
    return bad_ ? *bad_ : unknown_.value_or(PointProblem{});
  }

 private:
  static constexpr std::string_view is_missing = "is missing";

  const Value* need(std::string_view name) {
    const Value* const value = point_.parameters.find(name);
    if (value == nullptr) note(unknown_, name, std::string(is_missing));
    return value;
  }

  template <std::integral Number>
  void take(std::string_view name, const Value& value, Number& number, const Bounds& bounds) {
    const auto* const integer = std::get_if<std::int64_t>(&value);
    const std::int64_t max = std::in_range<Number>(bounds.max)
                                 ? bounds.max
                                 : static_cast<std::int64_t>(std::numeric_limits<Number>::max());
    if (integer == nullptr) {
      fail(name, "is not a whole number");
    } else if (*integer < bounds.min) {
      fail(name, fmt::format("is {}, but must be at least {}", *integer, bounds.min));
    } else if (*integer > max) {
      fail(name, fmt::format("is {}, but must be at most {}", *integer, max));
    } else {
      number = static_cast<Number>(*integer);
    }
  }

  void take(std::string_view name, const Value& value, std::string& text) {
    if (const auto* const found = std::get_if<std::string>(&value)) {
      text = *found;
    } else {
      fail(name, "is not text");
    }
  }

  template <typename Enum, typename Find>
  void take_word(std::string_view name, Enum& field, const Find& find) {
    const Value* const value = need(name);
    if (value == nullptr) return;
    std::string word;
    take(name, *value, word);
    if (const auto known = find(std::string_view(word))) {
      field = *known;
    } else {
      note(unknown_, name, "is not one of the known values");
    }
  }

  void fail(std::string_view name, std::string what) { note(bad_, name, std::move(what)); }

  /// Keeps the first problem of its kind: a wrong value, or a missing field or unknown word.
  void note(std::optional<PointProblem>& problem, std::string_view name, std::string what) const {
    if (!problem) problem = PointProblem{std::string(group_), std::string(name), std::move(what)};
  }

  const Point& point_;
  std::string_view group_{"parameters"};
  std::optional<PointProblem> bad_{};
  std::optional<PointProblem> unknown_{};
};

class FieldWriter {
 public:
  explicit FieldWriter(Point& point) : point_(point) {}

  template <std::integral Number>
  void whole(std::string_view name, Number number, const Bounds& = {}) {
    point_.parameters.set(name, static_cast<std::int64_t>(number));
  }
  template <std::integral Number>
  void whole(std::string_view name, const std::optional<Number>& number, const Bounds& = {}) {
    if (number) whole(name, *number);
  }
  void text(std::string_view name, const std::string& text) { point_.parameters.set(name, text); }
  void text(std::string_view name, const std::optional<std::string>& text) {
    if (text) point_.parameters.set(name, *text);
  }
  template <typename Enum, typename Table>
  void word(std::string_view name, Enum value, const Table& table) {
    point_.parameters.set(name, std::string(word_in(table, value)));
  }
  template <typename Enum>
  void word(std::string_view name, Enum value) {
    point_.parameters.set(name, std::string(to_word(value)));
  }
  template <std::integral Number>
  void derived(std::string_view name, Number number) {
    whole(name, number);
  }
  void derived(std::string_view name, std::string_view text) {
    point_.parameters.set(name, std::string(text));
  }
  template <std::integral Number>
  void fact(std::string_view name, Number number, const Bounds& = {}) {
    point_.facts.set(name, static_cast<std::int64_t>(number));
  }

 private:
  Point& point_;
};

/// Returns the shape of a point. Returns nothing if a field is missing or wrong, as in a document
/// of another version or tool.
template <typename Shape>
std::optional<Shape> find_shape(const Point& point) {
  Shape shape;
  FieldReader reader(point);
  shape.visit(reader);
  return reader.problem().empty() ? std::optional(std::move(shape)) : std::nullopt;
}

/// Returns the shape of a point that `plan` or `refine` made. Throws PointError for the first
/// wrong or missing field.
template <typename Shape>
Shape shape_of(const Point& point) {
  Shape shape;
  FieldReader reader(point);
  shape.visit(reader);
  if (!reader.problem().empty()) throw PointError(point, reader.worst(), reader.problem());
  return shape;
}

/// Returns the first field of a stored point with a wrong type or out of bounds, in the order of
/// `Shapes`. Missing fields and unknown words are no problem: other versions and tools differ.
template <typename... Shapes>
std::optional<PointProblem> find_problem(const Point& point) {
  std::optional<PointProblem> problem;
  const auto look = [&]<typename Shape>(Shape shape) {
    if (problem) return;
    FieldReader reader(point);
    shape.visit(reader);
    problem = reader.bad();
  };
  (look(Shapes{}), ...);
  return problem;
}

template <typename Shape>
void write_shape(Shape shape, Point& point) {
  FieldWriter writer(point);
  shape.visit(writer);
}

}  // namespace clprobe
