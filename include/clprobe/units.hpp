// SPDX-License-Identifier: Apache-2.0
// Quantities with their unit in the type, and their text forms.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clprobe {

inline constexpr double ns_per_second = 1e9;

/// A number of bytes: a size, an offset, a capacity. 64-bit, since buffers exceed 4 GiB.
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
/// 1000), in any case. Returns nothing for other text and for sizes above 2^63.
std::optional<Bytes> parse_bytes(std::string_view text);

/// Returns "512 B", "192 KiB", "27.6 MiB": at most three significant digits, binary prefixes.
std::string format_bytes(Bytes size);
/// Formats a possibly fractional number of bytes as format_bytes() does.
std::string format_byte_count(double value);

/// Returns "16.2 ns", "1.35 µs", "345 ns": three significant digits.
std::string format_seconds(double seconds);

/// Returns "4.41 TB/s", "19.8 GB/s": decimal prefixes, as in data sheets of memory.
std::string format_rate(double bytes_per_second);

/// Returns a number with three significant digits and no exponent below 1e15: "32.0", "281",
/// "0.512".
std::string format_number(double value);

/// Returns "1 point", "3 points": a number and its noun, with "s" as the plural ending.
std::string format_count(std::uint64_t count, std::string_view noun);

}  // namespace clprobe
