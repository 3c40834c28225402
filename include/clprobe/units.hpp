// SPDX-License-Identifier: Apache-2.0
// Quantities with their unit in the type, and how people read and write them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clprobe {

inline constexpr double ns_per_second = 1e9;

/// A number of bytes: a size, an offset, a capacity. 64-bit everywhere, since buffers pass 4 GiB.
struct Bytes {
  std::uint64_t count{0};

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, std::uint64_t n) { return {a.count * n}; }
  friend constexpr Bytes operator/(Bytes a, std::uint64_t n) { return {a.count / n}; }
  friend constexpr std::uint64_t operator/(Bytes a, Bytes b) { return a.count / b.count; }
};

constexpr Bytes kibibytes(std::uint64_t n) { return {n << 10U}; }
constexpr Bytes mebibytes(std::uint64_t n) { return {n << 20U}; }
constexpr Bytes gibibytes(std::uint64_t n) { return {n << 30U}; }

/// Reads "4096", "64K", "64KiB", "1.5MiB" or "1T" (K = KiB = 1024; kB, MB, GB, TB = powers of
/// 1000).
/// Case does not matter for the binary forms. Nothing when the text is not a size, or above 2^63.
std::optional<Bytes> parse_bytes(std::string_view text);

/// "512 B", "192 KiB", "27.6 MiB": at most three significant digits, binary prefixes.
std::string format_bytes(Bytes size);
/// Formats a number of bytes that need not be whole, as format_bytes() does.
std::string format_byte_count(double value);

/// "16.2 ns", "1.35 µs", "345 ns": three significant digits.
std::string format_seconds(double seconds);

/// "4.41 TB/s", "19.8 GB/s": decimal prefixes, as memory is sold by.
std::string format_rate(double bytes_per_second);

/// A bare number with three significant digits, and no exponent below 1e15: "32.0", "281", "0.512".
std::string format_number(double value);

/// "1 point", "3 points": a number and its noun, of which "s" makes the plural.
std::string format_count(std::uint64_t count, std::string_view noun);

}  // namespace clprobe
