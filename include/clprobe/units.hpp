// SPDX-License-Identifier: Apache-2.0
// Quantities whose type states the unit, and their text forms.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clprobe {

inline constexpr double ns_per_second = 1e9;

/// Number of bytes: a size, an offset or a capacity. 64-bit, since buffers exceed 4 GiB.
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

/// Returns the size that "4096", "64K", "64KiB", "1.5MiB" or "1T" describes, in upper or lower
/// case. K and KiB are 1024 bytes; kB, MB, GB and TB are powers of 1000. Returns nothing for other
/// text, for fractions of a byte and for sizes above 9.2e18 bytes.
std::optional<Bytes> parse_bytes(std::string_view text);

/// Returns a size with a binary prefix, rounded to three significant digits, or to a whole number
/// from 100: "512 B", "1012 KiB", "27.6 MiB".
std::string format_bytes(Bytes size);
/// Returns a number of bytes, possibly fractional, in the form of format_bytes().
std::string format_byte_count(double value);

/// Returns a time in ns, µs, ms or s, in the form of format_number(): "16.2 ns", "1.35 µs".
std::string format_seconds(double seconds);

/// Returns a rate with a decimal prefix, as in data sheets of memory: "4.41 TB/s", "19.8 GB/s".
std::string format_rate(double bytes_per_second);

/// Returns a rate of floating-point operations: "66.4 TFLOP/s", "429 GFLOP/s".
std::string format_flops(double per_second);

/// Returns a number with three significant digits, but at most 12 decimals: "32.0", "0.512". From
/// 1000, rounds to a whole number: "4096". Only magnitudes of 1e15 and more have an exponent.
std::string format_number(double value);

/// Returns a number and its noun: "1 point", "3 points". The plural of `noun` must end in "s".
std::string format_count(std::uint64_t count, std::string_view noun);

}  // namespace clprobe
