// SPDX-License-Identifier: Apache-2.0
#include "clprobe/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace clprobe {
namespace {

constexpr double kibi = 1024.0;

/// Returns the number of bytes in a unit that is given in lower case: "k", "kib", "kb", "b" or the
/// empty string; nothing for another unit.
std::optional<double> bytes_in(std::string_view unit) {
  const std::size_t prefix =
      unit.empty() ? std::string_view::npos : std::string_view("kmgt").find(unit.front());
  const bool has_prefix = prefix != std::string_view::npos;
  const std::string_view rest = unit.substr(has_prefix ? 1 : 0);
  const double power = has_prefix ? static_cast<double>(prefix + 1) : 0.0;
  if (rest.empty() || (has_prefix && rest == "ib")) return std::pow(kibi, power);
  return rest == "b" ? std::optional(std::pow(1e3, power)) : std::nullopt;
}

/// A unit for display, as a multiple of the base unit.
struct UnitScale {
  double factor;
  const char* name;
};

/// Returns the value in the first unit of `scales` that it reaches; in the last unit if it reaches
/// none.
std::string format_scaled(double value, std::span<const UnitScale> scales) {
  const auto found = std::ranges::find_if(
      scales, [&](const UnitScale& each) { return std::fabs(value) >= 0.9995 * each.factor; });
  const UnitScale& scale = found == scales.end() ? scales.back() : *found;
  return fmt::format("{} {}", format_number(value / scale.factor), scale.name);
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  double number = 0.0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0.0) return std::nullopt;
  std::string word(rest, last);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::optional<double> unit = bytes_in(word);
  if (!unit) return std::nullopt;
  const double count = number * *unit;
  constexpr double limit = 9.2e18;  // below 2^63, so that the conversion to an integer is defined
  if (count > limit || count != std::floor(count)) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(count)};
}

std::string format_number(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0.0) return "0";
  // Values are rounded to three digits: 0.9996 is shown as 1.00, which has a digit before the
  // point.
  constexpr double half_a_digit = 1.0005;
  if (!std::isfinite(magnitude * half_a_digit)) return fmt::format("{}", value);
  const int digits_before = static_cast<int>(std::floor(std::log10(magnitude * half_a_digit))) + 1;
  // Numbers of 1e15 and more are shown with an exponent instead of many zeros.
  constexpr int max_digits = 15;
  if (digits_before > max_digits) return fmt::format("{:.2e}", value);
  return fmt::format("{:.{}f}", value, std::clamp(3 - digits_before, 0, 12));
}

std::string format_bytes(Bytes size) { return format_byte_count(static_cast<double>(size.count)); }

std::string format_byte_count(double value) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < units.size()) {
    value /= kibi;
    ++unit;
  }
  std::string number = value >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  return fmt::format("{} {}", number, units[unit]);
}

std::string format_count(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_seconds(double seconds) {
  constexpr std::array scales{UnitScale{1.0, "s"}, UnitScale{1e-3, "ms"}, UnitScale{1e-6, "µs"},
                              UnitScale{1e-9, "ns"}};
  return format_scaled(seconds, scales);
}

std::string format_rate(double bytes_per_second) {
  constexpr std::array scales{UnitScale{1e12, "TB/s"}, UnitScale{1e9, "GB/s"},
                              UnitScale{1e6, "MB/s"}, UnitScale{1e3, "kB/s"},
                              UnitScale{1.0, "B/s"}};
  return format_scaled(bytes_per_second, scales);
}

std::string format_flops(double per_second) {
  constexpr std::array scales{UnitScale{1e12, "TFLOP/s"}, UnitScale{1e9, "GFLOP/s"},
                              UnitScale{1e6, "MFLOP/s"}, UnitScale{1e3, "kFLOP/s"},
                              UnitScale{1.0, "FLOP/s"}};
  return format_scaled(per_second, scales);
}

}  // namespace clprobe
