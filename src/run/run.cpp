// SPDX-License-Identifier: Apache-2.0
#include "clprobe/run.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "clprobe/probe.hpp"

namespace clprobe {
namespace {

template <typename Enum>
struct Word {
  Enum value;
  std::string_view word;
};
// Clang 14 deduces no aggregates without a guide.
template <typename Enum>
Word(Enum, const char*) -> Word<Enum>;

// The one table per enumeration that both directions read.
template <typename Enum>
struct Words;

template <>
struct Words<Source> {
  static constexpr std::array table{Word{Source::measured, "measured"},
                                    Word{Source::reported, "reported"},
                                    Word{Source::derived, "derived"}};
};

template <>
struct Words<Status> {
  static constexpr std::array table{
      Word{Status::ok, "ok"}, Word{Status::unsupported, "unsupported"},
      Word{Status::unobservable, "unobservable"}, Word{Status::failed, "failed"},
      Word{Status::interrupted, "interrupted"}};
};

template <>
struct Words<ClockKind> {
  static constexpr std::array table{Word{ClockKind::none, "none"},
                                    Word{ClockKind::khr_device, "khr-device"},
                                    Word{ClockKind::khr_sub_group, "khr-sub-group"},
                                    Word{ClockKind::nvidia, "nvidia-clock64"},
                                    Word{ClockKind::amd, "amd-cycle-counter"},
                                    Word{ClockKind::intel, "intel-cycle-counter"},
                                    Word{ClockKind::cpu, "cpu-cycle-counter"},
                                    Word{ClockKind::simulated, "simulated-cycles"}};
};

template <>
struct Words<ClockRate> {
  static constexpr std::array table{Word{ClockRate::unknown, "unknown"},
                                    Word{ClockRate::core_cycles, "core-cycles"},
                                    Word{ClockRate::constant_rate, "constant-rate"}};
};

template <>
struct Words<Timer> {
  static constexpr std::array table{Word{Timer::clock, "clock"}, Word{Timer::event, "event"},
                                    Word{Timer::host, "host"}, Word{Timer::imported, "imported"}};
};

template <>
struct Words<AddressForm> {
  static constexpr std::array table{
      Word{AddressForm::automatic, "auto"}, Word{AddressForm::pointer, "pointer"},
      Word{AddressForm::index, "index"}, Word{AddressForm::offset, "offset"}};
};

template <>
struct Words<Effort> {
  static constexpr std::array table{Word{Effort::quick, "quick"}, Word{Effort::normal, "normal"},
                                    Word{Effort::thorough, "thorough"}};
};

template <>
struct Words<Quantity> {
  static constexpr std::array table{Word{Quantity::seconds_per_access, "seconds_per_access"},
                                    Word{Quantity::bytes_per_second, "bytes_per_second"}};
};

template <>
struct Words<ElementType> {
  static constexpr std::array table{Word{ElementType::int32, "int"},
                                    Word{ElementType::float32, "float"},
                                    Word{ElementType::float64, "double"}};
};
template <>
struct Words<Operation> {
  static constexpr std::array table{Word{Operation::read, "read"}, Word{Operation::write, "write"},
                                    Word{Operation::copy, "copy"},
                                    Word{Operation::update, "update"}};
};
template <>
struct Words<BufferKind> {
  static constexpr std::array table{Word{BufferKind::device, "device"},
                                    Word{BufferKind::host, "host"}, Word{BufferKind::svm, "svm"}};
};

template <typename Enum>
std::string_view word_of(Enum value) {
  const auto& table = Words<Enum>::table;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& each) { return each.value == value; });
  return found == table.end() ? std::string_view{} : found->word;
}

}  // namespace

std::string_view to_word(Source value) { return word_of(value); }
std::string_view to_word(Status value) { return word_of(value); }
std::string_view to_word(ClockKind value) { return word_of(value); }
std::string_view to_word(ClockRate value) { return word_of(value); }
std::string_view to_word(Timer value) { return word_of(value); }
std::string_view to_word(AddressForm value) { return word_of(value); }
std::string_view to_word(Effort value) { return word_of(value); }
std::string_view to_word(Quantity value) { return word_of(value); }
std::string_view to_word(ElementType value) { return word_of(value); }
std::string_view to_word(Operation value) { return word_of(value); }
std::string_view to_word(BufferKind value) { return word_of(value); }

template <typename Enum>
std::optional<Enum> from_word(std::string_view word) {
  const auto& table = Words<Enum>::table;
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& each) { return each.word == word; });
  if (found == table.end()) return std::nullopt;
  return found->value;
}

template <typename Enum>
std::vector<std::string_view> all_words() {
  std::vector<std::string_view> words;
  words.reserve(std::size(Words<Enum>::table));
  for (const auto& each : Words<Enum>::table) words.push_back(each.word);
  return words;
}

template std::optional<Source> from_word(std::string_view);
template std::optional<Status> from_word(std::string_view);
template std::optional<ClockKind> from_word(std::string_view);
template std::optional<ClockRate> from_word(std::string_view);
template std::optional<Timer> from_word(std::string_view);
template std::optional<AddressForm> from_word(std::string_view);
template std::optional<Effort> from_word(std::string_view);
template std::optional<ElementType> from_word(std::string_view);
template std::optional<Operation> from_word(std::string_view);
template std::optional<BufferKind> from_word(std::string_view);
template std::vector<std::string_view> all_words<Source>();
template std::vector<std::string_view> all_words<Status>();
template std::vector<std::string_view> all_words<ClockKind>();
template std::vector<std::string_view> all_words<ClockRate>();
template std::vector<std::string_view> all_words<Timer>();
template std::vector<std::string_view> all_words<AddressForm>();
template std::vector<std::string_view> all_words<Effort>();

void Parameters::set(std::string_view name, Value value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != entries_.end()) {
    found->second = std::move(value);
  } else {
    entries_.emplace_back(std::string(name), std::move(value));
  }
}

const Value* Parameters::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == entries_.end() ? nullptr : &found->second;
}

std::int64_t Parameters::integer(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr || !std::holds_alternative<std::int64_t>(*value)) {
    throw std::out_of_range("no integer parameter '" + std::string(name) + "'");
  }
  return std::get<std::int64_t>(*value);
}

std::int64_t Parameters::integer_or(std::string_view name, std::int64_t fallback) const {
  return find(name) == nullptr ? fallback : integer(name);
}

const std::string& Parameters::text(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr || !std::holds_alternative<std::string>(*value)) {
    throw std::out_of_range("no text parameter '" + std::string(name) + "'");
  }
  return std::get<std::string>(*value);
}

std::string Parameters::text_or(std::string_view name, std::string_view fallback) const {
  return find(name) == nullptr ? std::string(fallback) : text(name);
}

}  // namespace clprobe
