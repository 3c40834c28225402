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
// A field may decide which others follow: it is read before they are. Pure.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "clprobe/run.hpp"
#include "clprobe/words.hpp"

namespace clprobe {

/// Reads the fields of a point. The first that is missing, or no value of its type, is the problem;
/// fields with a problem keep their value.
class FieldReader {
 public:
  explicit FieldReader(const Point& point) : point_(point) {}

  template <std::integral Number>
  void whole(std::string_view name, Number& number) {
    if (const Value* const value = need(name)) take(name, *value, number);
  }
  /// A field that not every point has.
  template <std::integral Number>
  void whole(std::string_view name, std::optional<Number>& number) {
    number.reset();
    const Value* const value = point_.parameters.find(name);
    if (value != nullptr) take(name, *value, number.emplace());
  }

  void text(std::string_view name, std::string& text) {
    if (const Value* const value = need(name)) take(name, *value, text);
  }
  void text(std::string_view name, std::optional<std::string>& text) {
    text.reset();
    const Value* const value = point_.parameters.find(name);
    if (value != nullptr) take(name, *value, text.emplace());
  }

  /// An enumeration, by the words of its table (words.hpp).
  template <typename Enum, typename Table>
  void word(std::string_view name, Enum& field, const Table& table) {
    take_word(name, field, [&](std::string_view word) { return value_in(table, word); });
  }
  /// One whose words are those of the document (run.hpp).
  template <typename Enum>
  void word(std::string_view name, Enum& field) {
    take_word(name, field, [](std::string_view word) { return from_word<Enum>(word); });
  }

  /// Written for those who read documents; follows from the other fields.
  template <typename Value>
  void derived(std::string_view /*name*/, const Value& /*value*/) {}

  /// A fact, which keeps its value where the point does not have it.
  template <std::integral Number>
  void fact(std::string_view name, Number& number) {
    if (const Value* const value = point_.facts.find(name)) take(name, *value, number);
  }

  /// Empty where all fields were read.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  const Value* need(std::string_view name) {
    const Value* const value = point_.parameters.find(name);
    if (value == nullptr) fail("a point without '{}'", name);
    return value;
  }

  template <std::integral Number>
  void take(std::string_view name, const Value& value, Number& number) {
    const auto* const integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr) {
      fail("'{}' is no whole number", name);
    } else if (!std::in_range<Number>(*integer)) {
      fail("'{}' is out of range", name);
    } else {
      number = static_cast<Number>(*integer);
    }
  }

  void take(std::string_view name, const Value& value, std::string& text) {
    if (const auto* const found = std::get_if<std::string>(&value)) {
      text = *found;
    } else {
      fail("'{}' is no text", name);
    }
  }

  template <typename Enum, typename Find>
  void take_word(std::string_view name, Enum& field, const Find& find) {
    std::string word;
    text(name, word);
    if (const auto value = find(word)) {
      field = *value;
    } else {
      fail("'{}' is none of its words", name);
    }
  }

  void fail(fmt::format_string<std::string_view&> message, std::string_view name) {
    if (problem_.empty()) problem_ = fmt::format(message, name);
  }

  const Point& point_;
  std::string problem_{};
};

/// Writes fields into a point, in the order of the list.
class FieldWriter {
 public:
  explicit FieldWriter(Point& point) : point_(point) {}

  template <std::integral Number>
  void whole(std::string_view name, Number number) {
    point_.parameters.set(name, static_cast<std::int64_t>(number));
  }
  template <std::integral Number>
  void whole(std::string_view name, const std::optional<Number>& number) {
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
  void fact(std::string_view name, Number number) {
    point_.facts.set(name, static_cast<std::int64_t>(number));
  }

 private:
  Point& point_;
};

/// The shape of a point; nothing where a field is missing or wrong, as in a document that another
/// version or tool wrote.
template <typename Shape>
std::optional<Shape> find_shape(const Point& point) {
  Shape shape;
  FieldReader reader(point);
  shape.visit(reader);
  return reader.problem().empty() ? std::optional(std::move(shape)) : std::nullopt;
}

/// The shape of a point that `plan` or `refine` made. Throws std::out_of_range, which names the
/// first field that is missing or wrong.
template <typename Shape>
Shape shape_of(const Point& point) {
  Shape shape;
  FieldReader reader(point);
  shape.visit(reader);
  if (!reader.problem().empty()) throw std::out_of_range(reader.problem());
  return shape;
}

/// Sets the parameters and facts of a point.
template <typename Shape>
void write_shape(Shape shape, Point& point) {
  FieldWriter writer(point);
  shape.visit(writer);
}

}  // namespace clprobe
