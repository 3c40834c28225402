// SPDX-License-Identifier: Apache-2.0
#include "launch/scalar.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

namespace clprobe::bundle {

static_assert(std::endian::native == std::endian::little, "OpenCL devices here are, too");

namespace {

using json::Cursor;

template <typename Number>
std::string bytes_of_number(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

bool is_signed(Type type) {
  return type == Type::int8 || type == Type::int16 || type == Type::int32 || type == Type::int64;
}

std::string unsigned_in(const Cursor& cursor, Type type) {
  const std::uint64_t number = cursor.natural();
  const auto bits = static_cast<unsigned>(8 * bytes_of(type));
  if (bits < 64 && number >> bits != 0) cursor.refuse(fmt::format("a {}", to_word(type)));
  return integer_of(type, number);
}

std::string signed_in(const Cursor& cursor, Type type) {
  const std::int64_t number = cursor.integer();
  const auto bits = static_cast<unsigned>(8 * bytes_of(type));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  if (number > most || number < -most - 1) cursor.refuse(fmt::format("a {}", to_word(type)));
  return integer_of(type, static_cast<std::uint64_t>(number));
}

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

}  // namespace

bool is_floating(Type type) { return type == Type::float32 || type == Type::float64; }

std::string integer_of(Type type, std::uint64_t bits) {
  return bytes_of_number(bits).substr(0, bytes_of(type));
}

std::string scalar_of(Type type, double number) {
  if (type == Type::float32) return bytes_of_number(static_cast<float>(number));
  if (type == Type::float64) return bytes_of_number(number);
  const bool is_negative = number < 0.0;
  const auto magnitude = static_cast<std::uint64_t>(is_negative ? -number : number);
  return integer_of(type, is_negative ? ~magnitude + 1 : magnitude);
}

std::uint64_t number_up_to(const Cursor& cursor, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t number = cursor.natural();
  if (number < least || number > most) {
    cursor.refuse(fmt::format("an integer from {} to {}", least, most));
  }
  return number;
}

Type type_in(const Cursor& cursor) {
  const std::optional<Type> type = type_from_word(cursor.text());
  if (!type) {
    cursor.refuse("one of char, uchar, short, ushort, int, uint, long, ulong, float, double");
  }
  return *type;
}

std::string scalar_in(const Cursor& cursor, Type type) {
  if (!is_floating(type)) {
    return is_signed(type) ? signed_in(cursor, type) : unsigned_in(cursor, type);
  }
  const double number = cursor.number();
  constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
  if (type == Type::float32 && (number > most || number < -most)) {
    cursor.refuse("a number that fits float");
  }
  return scalar_of(type, number);
}

std::string vector_in(const Cursor& value, const Cursor& type) {
  const Type element = type_in(type);
  if (value.is_number()) return scalar_in(value, element);
  constexpr std::size_t max_elements = 16;
  std::string bytes;
  value.for_each_element([&](const Cursor& each) {
    if (bytes.size() == max_elements * bytes_of(element)) each.refuse("at most 16 elements");
    bytes += scalar_in(each, element);
  });
  if (bytes.empty()) value.refuse("a number or an array of numbers");
  return bytes;
}

std::string bytes_in(const Cursor& hex) {
  const std::string digits = hex.text();
  std::string bytes;
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() > 2 * max_value_bytes) {
    hex.refuse(fmt::format("1 to {} bytes, two hexadecimal digits each", max_value_bytes));
  }
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_of(digits[i]);
    const int low = digit_of(digits[i + 1]);
    if (high < 0 || low < 0) hex.refuse("lower-case hexadecimal digits");
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace clprobe::bundle
