// SPDX-License-Identifier: Apache-2.0
// What one point of the probe `stride` is: which elements, whose, and what a launch must find.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::stride {

enum class ElementType { int32, float32, float64 };  // as TYPE in cl/stride.cl
inline constexpr Word<ElementType> type_words[]{
    {ElementType::int32, "int"}, {ElementType::float32, "float"}, {ElementType::float64, "double"}};

enum class Operation { read, write, copy, update };
inline constexpr Word<Operation> operation_words[]{{Operation::read, "read"},
                                                   {Operation::write, "write"},
                                                   {Operation::copy, "copy"},
                                                   {Operation::update, "update"}};

enum class BufferKind { device, host, svm };
inline constexpr Word<BufferKind> buffer_words[]{
    {BufferKind::device, "device"}, {BufferKind::host, "host"}, {BufferKind::svm, "svm"}};

inline constexpr std::array vector_widths{1, 2, 4, 8, 16};

/// Bytes of one value of an element.
std::uint64_t word_bytes_of(ElementType type);

/// Whether a buffer is read and another one written.
bool uses_two_buffers(Operation operation);
bool reads_source(Operation operation);
bool writes_target(Operation operation);

/// Directions in which every byte is moved: two for copy and update.
std::uint64_t directions_of(Operation operation);

/// The elements of a launch and how they are dealt to its work-items.
struct Shape {
  std::uint64_t elements{1};  ///< all numbers are powers of two
  std::uint64_t grid{1};
  std::uint64_t work_group{1};
  std::uint64_t stride{1};  ///< in elements, at most `grid`
  std::uint64_t vector{1};
  ElementType type{ElementType::int32};
  Operation operation{Operation::read};
  BufferKind buffer{BufferKind::device};
  Timer timer{Timer::host};
  /// "whole": each launch moves the whole buffer, however long it takes.
  std::optional<std::string> per_launch{};
  /// A fact: the largest buffer of the plan, which all points share.
  std::uint64_t shared_buffer_bytes{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.derived("stride_bytes", stride * element_bytes());
    f.whole("stride_elements", stride, from_1);
    f.derived("pattern", pattern());
    f.word("operation", operation, operation_words);
    f.word("type", type, type_words);
    f.whole("vector", vector, {.min = 1, .max = 16});
    f.word("buffer", buffer, buffer_words);
    f.whole("elements", elements, from_1);
    f.derived("working_set_bytes", buffer_bytes() * (uses_two_buffers(operation) ? 2 : 1));
    f.whole("grid", grid, from_1);
    f.whole("work_group", work_group, count_from_1);
    f.word("timer", timer);
    f.text("per_launch", per_launch);
    f.fact("buffer_bytes", shared_buffer_bytes);
  }

  /// The name of the access pattern: "serial", "grid stride", ...
  [[nodiscard]] std::string_view pattern() const;
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
WordRule sum_rule(const Shape& shape, std::uint64_t first, std::uint64_t count);

/// Work-items of which a launch that reads brings the sum home; every other one checks its own.
inline constexpr std::uint64_t max_samples = 4096;
/// Of the buffer for those sums, and a word that says that some other sum was wrong.
inline constexpr std::uint64_t sums_bytes = (max_samples + 1) * sizeof(std::uint64_t);

/// How many work-items at most walk over so many words to fill or check them.
std::uint64_t max_walkers(std::uint64_t words, bool is_cpu);

/// The build options of cl/stride.cl. `is_wide`: places need, or should have, 64 bits.
std::string build_options(const Shape& shape, bool is_wide);

/// Whether places must have 64 bits.
bool needs_wide(const Shape& shape);

/// Every way to build cl/stride.cl.
std::vector<KernelVariant> variants();

}  // namespace clprobe::stride
