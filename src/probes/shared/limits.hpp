// SPDX-License-Identifier: Apache-2.0
// A request, with its options by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"

namespace clprobe {
enum class AddressForm { automatic, pointer, index, offset };
enum class ElementType { int32, float32, float64 };
enum class Operation { read, write, copy, update };
enum class BufferKind { device, host, svm };
inline constexpr Word<ElementType> element_type_words[]{
    {ElementType::int32, "int"}, {ElementType::float32, "float"}, {ElementType::float64, "double"}};
inline constexpr Word<Operation> operation_table[]{{Operation::read, "read"},
                                                   {Operation::write, "write"},
                                                   {Operation::copy, "copy"},
                                                   {Operation::update, "update"}};
inline constexpr Word<BufferKind> buffer_table[]{
    {BufferKind::device, "device"}, {BufferKind::host, "host"}, {BufferKind::svm, "svm"}};
inline constexpr Word<AddressForm> address_table[]{{AddressForm::automatic, "auto"},
                                                   {AddressForm::pointer, "pointer"},
                                                   {AddressForm::index, "index"},
                                                   {AddressForm::offset, "offset"}};
inline std::string_view to_word(ElementType v) { return word_in(element_type_words, v); }
inline std::string_view to_word(Operation v) { return word_in(operation_table, v); }
inline std::string_view to_word(BufferKind v) { return word_in(buffer_table, v); }

template <>
inline std::optional<ElementType> from_word(std::string_view word) {
  return value_in(element_type_words, word);
}
template <>
inline std::optional<Operation> from_word(std::string_view word) {
  return value_in(operation_table, word);
}
template <>
inline std::optional<BufferKind> from_word(std::string_view word) {
  return value_in(buffer_table, word);
}

struct StreamLimits {
  std::uint64_t elements{0};
  std::uint64_t grid{0};
  std::uint64_t work_group{0};
  std::vector<ElementType> types{};
  std::vector<int> vectors{};
  std::vector<Operation> operations{};
  std::vector<BufferKind> buffers{};
  std::optional<Timer> timer{};
};
struct InflightLimits {
  std::vector<int> work_items{};
  std::vector<int> loads{};
  std::vector<int> mergers{};
  std::vector<std::string> targets{};
};
struct StallLimits {
  std::vector<std::string> cases{};
};
struct Limits {
  Bytes max_memory{};
  std::vector<SizeRange> sizes{};
  std::vector<std::string> series{};
  Bytes step{};
  int unroll{16};
  AddressForm address{AddressForm::automatic};
  std::vector<int> word_bytes{};
  std::vector<int> strides{};
  std::vector<int> ways{};
  std::vector<int> sub_groups{};
  std::vector<int> instructions{};
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  StreamLimits stream{};
  InflightLimits in_flight{};
  StallLimits stalls{};
  Bytes last_cache{};
};

template <typename Table, typename Enum>
void read_words(const Table& table, const std::vector<std::string>& words,
                std::vector<Enum>& into) {
  for (const std::string& word : words) into.push_back(*value_in(table, word));
}
inline std::vector<int> ints(const std::vector<std::string>& words) {
  std::vector<int> all;
  for (const std::string& word : words) all.push_back(std::stoi(word));
  return all;
}

inline Limits limits_of(const Request& request) {
  const OptionValues& own = request.own;
  Limits limits;
  limits.max_memory = request.max_memory;
  limits.effort = request.effort;
  limits.seed = request.seed;
  limits.series = request.series;
  limits.last_cache = request.known.last_cache;
  limits.sizes = own.sizes("sizes");
  limits.step = own.size("step");
  limits.unroll = static_cast<int>(own.number("unroll").value_or(16));
  limits.address = value_in(address_table, own.word("address")).value_or(AddressForm::automatic);
  limits.word_bytes = ints(own.words("words"));
  limits.strides = own.numbers("strides");
  limits.ways = own.numbers("ways");
  limits.sub_groups = own.numbers("sub-groups");
  limits.instructions = own.numbers("instructions");
  limits.stream.elements = own.number("elements").value_or(0);
  limits.stream.grid = own.number("grid").value_or(0);
  limits.stream.work_group = own.number("work-group").value_or(0);
  read_words(element_type_words, own.words("type"), limits.stream.types);
  limits.stream.vectors = ints(own.words("vector"));
  read_words(operation_table, own.words("operation"), limits.stream.operations);
  read_words(buffer_table, own.words("buffer"), limits.stream.buffers);
  limits.stream.timer = from_word<Timer>(own.word("timer"));
  limits.in_flight.work_items = own.numbers("work-items");
  limits.in_flight.loads = own.numbers("loads");
  limits.in_flight.mergers = own.numbers("mergers");
  limits.in_flight.targets = own.words("target");
  limits.stalls.cases = own.words("case");
  return limits;
}
}  // namespace clprobe
