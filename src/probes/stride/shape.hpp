// SPDX-License-Identifier: Apache-2.0
// What one point of the probe `stride` is: which elements, whose, and what a launch must find.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::stride {

inline constexpr std::array vector_widths{1, 2, 4, 8, 16};

/// Bytes of one value of an element.
std::uint64_t word_bytes_of(ElementType type);

/// Whether a buffer is read and another one written.
bool uses_two_buffers(Operation operation);

/// Directions in which every byte is moved: two for copy and update.
std::uint64_t directions_of(Operation operation);

/// The elements of a launch and how they are dealt to its work-items.
struct StrideShape {
  std::uint64_t elements{1};  ///< all numbers are powers of two
  std::uint64_t grid{1};
  std::uint64_t work_group{1};
  std::uint64_t stride{1};  ///< in elements, at most `grid`
  std::uint64_t vector{1};
  ElementType type{ElementType::int32};
  Operation operation{Operation::read};
  BufferKind buffer{BufferKind::device};

  /// From the parameters of a point. Throws std::out_of_range where one is missing or unknown.
  static StrideShape of(const Point& point);

  [[nodiscard]] std::uint64_t word_bytes() const { return word_bytes_of(type); }
  [[nodiscard]] std::uint64_t element_bytes() const { return word_bytes() * vector; }
  [[nodiscard]] std::uint64_t buffer_bytes() const { return elements * element_bytes(); }
  [[nodiscard]] std::uint64_t words() const { return elements * vector; }
  /// Elements of one work-item.
  [[nodiscard]] std::uint64_t run() const { return elements / grid; }
  /// Independent loads of one work-item in a batch: 64 bytes of them, but at least 2 loads.
  [[nodiscard]] std::uint64_t unroll() const;
  /// Batches of one work-item that move all of its elements.
  [[nodiscard]] std::uint64_t batches() const { return run() / unroll(); }
  /// The place of a work-item's first element.
  [[nodiscard]] std::uint64_t first_of(std::uint64_t item) const;
};

/// log2 of a power of two.
std::uint32_t log2_of(std::uint64_t power);

/// Word w of the data is (square * w + line) * w + constant, wrapping in its width.
struct WordRule {
  std::uint64_t square{0};
  std::uint64_t line{0};
  std::uint64_t constant{0};

  [[nodiscard]] std::uint64_t at(std::uint64_t place) const {
    return (square * place + line) * place + constant;
  }
};

/// The rule of what is read. Odd numbers, so that all bits of the words differ from place to place.
inline constexpr WordRule data_rule{0x9e3779b97f4a7c15U, 0xd1342543de82ef95U, 0};

/// What a work-item must find that adds up its elements first .. first + count - 1 of data by
/// `data_rule`: a rule in the place of its element 0 (first_of). Wrapping in 64 bits, of which the
/// lower ones are right for narrower words.
WordRule sum_rule(const StrideShape& shape, std::uint64_t first, std::uint64_t count);

/// The build options of cl/stride.cl. `is_wide`: places need, or should have, 64 bits.
std::string stride_options(const StrideShape& shape, bool is_wide);

/// Whether places must have 64 bits.
bool needs_wide(const StrideShape& shape);

/// Every way to build cl/stride.cl.
std::vector<KernelVariant> stride_variants();

}  // namespace clprobe::stride
