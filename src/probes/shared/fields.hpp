// SPDX-License-Identifier: Apache-2.0
// Points as structs: a shape lists its fields once, which gives reader and writer.
//
//   struct Shape {
//     std::uint64_t word_bytes{0};
//     std::string target{};
//     template <class Visitor> void visit(Visitor& fields) {
//       fields.whole("word_bytes", word_bytes);
//       fields.text("target", target);
//     }
//   };
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

class FieldReader {
 public:
  explicit FieldReader(const Point& point) : point_(point) {}
  template <std::integral Whole>
  void whole(std::string_view name, Whole& value) {
    value = static_cast<Whole>(point_.parameters.integer(name));
  }
  void text(std::string_view name, std::string& value) { value = point_.parameters.text(name); }

 private:
  const Point& point_;
};

class FieldWriter {
 public:
  explicit FieldWriter(Point& point) : point_(point) {}
  template <std::integral Whole>
  void whole(std::string_view name, Whole& value) {
    point_.parameters.set(name, static_cast<std::int64_t>(value));
  }
  void text(std::string_view name, std::string& value) { point_.parameters.set(name, value); }

 private:
  Point& point_;
};

/// Throws std::out_of_range with the name of a parameter that is absent or of another kind.
template <class Shape>
Shape shape_of(const Point& point) {
  Shape shape{};
  FieldReader reader(point);
  shape.visit(reader);
  return shape;
}

template <class Shape>
void write_shape(const Shape& shape, Point& point) {
  FieldWriter writer(point);
  Shape copy = shape;
  copy.visit(writer);
}

}  // namespace clprobe
