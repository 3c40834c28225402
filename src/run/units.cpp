// SPDX-License-Identifier: Apache-2.0
#include "clprobe/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace clprobe {
namespace {

struct Suffix {
  std::string_view word;  // lower case
  double factor;
};

constexpr double kilo = 1e3;
constexpr double kibi = 1024.0;
constexpr std::array suffixes{
    Suffix{"", 1.0},
    Suffix{"b", 1.0},
    Suffix{"k", kibi},
    Suffix{"kib", kibi},
    Suffix{"m", kibi* kibi},
    Suffix{"mib", kibi* kibi},
    Suffix{"g", kibi* kibi* kibi},
    Suffix{"gib", kibi* kibi* kibi},
    Suffix{"t", kibi* kibi* kibi* kibi},
    Suffix{"tib", kibi* kibi* kibi* kibi},
    Suffix{"kb", kilo},
    Suffix{"mb", kilo* kilo},
    Suffix{"gb", kilo* kilo* kilo},
    Suffix{"tb", kilo* kilo* kilo* kilo},
};

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  double number = 0.0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0.0) return std::nullopt;
  std::string word(rest, last);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const suffix = std::find_if(suffixes.begin(), suffixes.end(),
                                          [&](const Suffix& each) { return each.word == word; });
  if (suffix == suffixes.end()) return std::nullopt;
  const double count = number * suffix->factor;
  constexpr double limit = 9.2e18;  // below 2^63, where doubles still convert
  if (count > limit || count != std::floor(count)) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(count)};
}

std::string format_number(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0.0) return "0";
  // 0.9996 is shown as 1.00, and must be counted as that.
  constexpr double half_a_digit = 1.0005;
  if (!std::isfinite(magnitude * half_a_digit)) return fmt::format("{}", value);
  const int digits_before = static_cast<int>(std::floor(std::log10(magnitude * half_a_digit))) + 1;
  // Nothing that is measured; zeros without end would be no easier to read.
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
  struct Scale {
    double unit;
    const char* name;
  };
  constexpr std::array scales{Scale{1.0, "s"}, Scale{1e-3, "ms"}, Scale{1e-6, "µs"},
                              Scale{1e-9, "ns"}};
  for (const Scale& scale : scales) {
    if (std::fabs(seconds) >= 0.9995 * scale.unit) {
      return fmt::format("{} {}", format_number(seconds / scale.unit), scale.name);
    }
  }
  return fmt::format("{} ns", format_number(seconds / scales.back().unit));
}

std::string format_rate(double bytes_per_second) {
  struct Scale {
    double unit;
    const char* name;
  };
  constexpr std::array scales{Scale{1e12, "TB/s"}, Scale{1e9, "GB/s"}, Scale{1e6, "MB/s"},
                              Scale{1e3, "kB/s"}};
  for (const Scale& scale : scales) {
    if (std::fabs(bytes_per_second) >= 0.9995 * scale.unit) {
      return fmt::format("{} {}", format_number(bytes_per_second / scale.unit), scale.name);
    }
  }
  return fmt::format("{} B/s", format_number(bytes_per_second));
}

}  // namespace clprobe
