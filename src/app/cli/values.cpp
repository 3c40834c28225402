// SPDX-License-Identifier: Apache-2.0
#include "app/cli/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "app/cli/flags.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

template <typename... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError(fmt::format(format, std::forward<Parts>(parts)...));
}

struct Number {
  double value{0.0};
  std::string_view rest{};  ///< text after the digits
  bool is_valid{false};
};

Number read_number(std::string_view text) {
  Number number;
  const char* const last = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data(), last, number.value, std::chars_format::fixed);
  number.is_valid = error == std::errc{} && std::isfinite(number.value) && number.value >= 0.0;
  number.rest = text.substr(static_cast<std::size_t>(rest - text.data()));
  return number;
}

double parse_ratio(std::string_view text, std::string_view range) {
  const Number ratio = read_number(text);
  if (!ratio.is_valid || !ratio.rest.empty() || ratio.value <= 1.0) {
    refuse("{} needs a ratio above 1 after '*': write a number such as 2 or 1.2", quote(range));
  }
  return ratio.value;
}

SizeRange parse_size_range(std::string_view text) {
  const std::size_t star = text.find('*');
  const std::string_view ends = text.substr(0, star);
  const std::size_t dash = ends.find('-');
  if (dash == std::string_view::npos) {
    const Bytes size = parse_size(ends);
    if (star == std::string_view::npos) return {size, size, 0.0};
    refuse("{} has a ratio but only one size: write a range such as 1KiB-1GiB*2", quote(text));
  }
  SizeRange range{parse_size(ends.substr(0, dash)), parse_size(ends.substr(dash + 1)), 0.0};
  if (range.last < range.first) {
    refuse("{} is in descending order: write the smaller size first", quote(text));
  }
  if (star == std::string_view::npos) return range;
  range.ratio = parse_ratio(text.substr(star + 1), text);
  // Maximum number of sizes in a range. Each size costs a kernel launch, so a larger number is
  // probably a typing error.
  constexpr double max_sizes = 1000.0;
  const auto first = static_cast<double>(range.first.count);
  const auto last = static_cast<double>(range.last.count);
  if (std::log(last / first) / std::log(range.ratio) > max_sizes) {
    refuse("{} has more than {} sizes: write a larger ratio after '*'", quote(text), max_sizes);
  }
  return range;
}

struct ScaledUnit {
  std::string_view word;
  double factor;
};

constexpr std::array seconds_units{ScaledUnit{"ms", 1e-3}, ScaledUnit{"s", 1.0},
                                   ScaledUnit{"min", 60.0}, ScaledUnit{"h", 3600.0}};
constexpr std::array hertz_units{ScaledUnit{"Hz", 1.0},  ScaledUnit{" Hz", 1.0},
                                 ScaledUnit{"kHz", 1e3}, ScaledUnit{" kHz", 1e3},
                                 ScaledUnit{"MHz", 1e6}, ScaledUnit{" MHz", 1e6},
                                 ScaledUnit{"GHz", 1e9}, ScaledUnit{" GHz", 1e9}};
constexpr std::array share_units{ScaledUnit{"%", 0.01}, ScaledUnit{" %", 0.01}};

/// Returns the number in the base unit, such as 90 s for "1.5min"; -1 if `text` is not a number
/// with a known unit.
double read_scaled(std::string_view text, std::span<const ScaledUnit> units) {
  const Number number = read_number(text);
  const auto unit = std::ranges::find(units, number.rest, &ScaledUnit::word);
  return number.is_valid && unit != units.end() ? number.value * unit->factor : -1.0;
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    parts.push_back(text.substr(0, comma));
    if (!is_last) text.remove_prefix(comma + 1);
  }
  return parts;
}

Bytes parse_size(std::string_view text) {
  const std::optional<Bytes> size = parse_bytes(text);
  if (size && size->count > 0) return *size;
  refuse(
      "{} is not a valid size: write a whole number of bytes above 0, such as 128, 64KiB or 1GiB",
      quote(text));
}

std::vector<SizeRange> parse_sizes(std::string_view text) {
  std::vector<SizeRange> ranges;
  for (const std::string_view part : split_list(text)) ranges.push_back(parse_size_range(part));
  return ranges;
}

std::chrono::duration<double> parse_duration(std::string_view text) {
  constexpr double max_seconds = 1000.0 * 3600.0;  // six weeks; longer is probably a typing error
  const double seconds = read_scaled(text, seconds_units);
  if (seconds > 0.0 && seconds <= max_seconds) return std::chrono::duration<double>(seconds);
  refuse(
      "{} is not a valid time: write a time above 0 and up to 1000 hours, such as 500ms, 30s, 2min "
      "or 1h",
      quote(text));
}

std::uint64_t parse_milliseconds(std::string_view text, std::uint64_t least, std::uint64_t most) {
  constexpr double ms_per_s = 1e3;
  const Number number = read_number(text);
  const bool is_bare = number.is_valid && number.rest.empty();
  const double ms =
      std::round(is_bare ? number.value : ms_per_s * read_scaled(text, seconds_units));
  if (ms >= static_cast<double>(least) && ms <= static_cast<double>(most)) {
    return static_cast<std::uint64_t>(ms);
  }
  const auto max_hours = static_cast<double>(most) / ms_per_s / 3600.0;
  refuse(
      "{} is not a valid time: write a time from {}ms to {:g}h, such as 500ms, 5s or 2min; numbers "
      "without a unit are milliseconds",
      quote(text), least, max_hours);
}

double parse_frequency(std::string_view text) {
  constexpr double min_hertz = 1e3;  // rates outside these limits are probably typing errors
  constexpr double max_hertz = 1e12;
  const double hertz = read_scaled(text, hertz_units);
  if (hertz >= min_hertz && hertz <= max_hertz) return hertz;
  refuse("{} is not a valid clock rate: write a number with its unit, such as 1.98GHz or 1980MHz",
         quote(text));
}

std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number);
  const bool is_whole = error == std::errc{} && rest == last;
  if (is_whole && number >= least && number <= most) return number;
  const bool is_number = rest == last && rest != text.data();
  refuse("{} is {}: write a whole number from {} to {}", quote(text),
         is_number ? "out of range" : "not a whole number", least, most);
}

std::vector<int> parse_wholes(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::vector<int> numbers;
  for (const std::string_view part : split_list(text)) {
    const std::size_t dash = part.find('-');
    const std::uint64_t first = parse_whole(part.substr(0, dash), least, most);
    const std::uint64_t last =
        dash == std::string_view::npos ? first : parse_whole(part.substr(dash + 1), least, most);
    if (last < first) {
      refuse("{} is in descending order: write the smaller number first", quote(part));
    }
    for (std::uint64_t number = first; number <= last; ++number) {
      add_once(numbers, static_cast<int>(number));
    }
  }
  constexpr std::size_t max_numbers = 256;  // a longer list is probably a typing error
  if (numbers.size() > max_numbers) {
    refuse("{} has more than {} numbers: write fewer", quote(text), max_numbers);
  }
  return numbers;
}

double parse_share(std::string_view text) {
  const double share = read_scaled(text, share_units);
  if (share >= 0.0 && share <= 1.0) return share;
  refuse("{} is not a valid percentage: write 0% to 100% with a percent sign, such as 3% or 0.5%",
         quote(text));
}

std::uint64_t parse_count(std::string_view text) {
  constexpr std::string_view power = "2^";
  constexpr std::uint64_t largest_power = 62;
  if (text.starts_with(power)) {
    return std::uint64_t{1} << parse_whole(text.substr(power.size()), 0, largest_power);
  }
  const std::optional<Bytes> count = parse_bytes(text);
  // A count may end in K, M, G or T, but not in B, which is the unit of sizes.
  const bool is_size = text.ends_with('B') || text.ends_with('b');
  if (count && count->count > 0 && !is_size) return count->count;
  refuse("{} is not a valid count: write a whole number above 0, such as 65536, 64K or 2^16",
         quote(text));
}

namespace {

struct Reader {
  std::string_view text;

  OptionValue operator()(const Sizes&) const { return parse_sizes(text); }
  OptionValue operator()(const Size& spec) const {
    const Bytes size = parse_size(text);
    if (size.count % spec.multiple_of == 0) return size;
    refuse("{} is not a multiple of {} bytes: write a multiple such as {}", quote(text),
           spec.multiple_of, spec.multiple_of * 8);
  }
  OptionValue operator()(const clprobe::Number& spec) const {
    return parse_whole(text, spec.min, spec.max);
  }
  OptionValue operator()(const Milliseconds& spec) const {
    return parse_milliseconds(text, spec.min, spec.max);
  }
  OptionValue operator()(const Numbers& spec) const {
    return parse_wholes(text, spec.min, spec.max);
  }
  OptionValue operator()(const Count& spec) const {
    const std::uint64_t count = parse_count(text);
    if (!spec.power_of_two || std::has_single_bit(count)) return count;
    const std::uint64_t below = std::bit_floor(count);
    refuse("{} is not a power of two: choose {} or {}", count, below, below * 2);
  }
  OptionValue operator()(const Choice&) const { return std::vector{std::string(text)}; }
  OptionValue operator()(const TracePath&) const { return std::vector{std::string(text)}; }
  OptionValue operator()(const Choices&) const {
    std::vector<std::string> words;
    for (const std::string_view word : split_list(text)) {
      add_once(words, word);
    }
    return words;
  }
};

}  // namespace

OptionValue read_value(const ValueSpec& spec, std::string_view text) {
  return std::visit(Reader{text}, spec);
}

bool is_stream_path(std::string_view path) {
  // A path below /dev with an extension is a file, such as /dev/shm/run.json.
  const bool is_device = path.starts_with("/dev/");
  return path == "-" || (is_device && !std::filesystem::path(path).has_extension());
}

Output parse_output(std::string_view path) {
  if (is_stream_path(path)) return {.path = std::string(path)};
  std::string name = std::filesystem::path(path).filename().string();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string typed = std::filesystem::path(name).extension().string();
  const Writer* found = nullptr;
  std::vector<std::string_view> endings;
  for (const Writer* const each : writers()) {
    const bool is_longer = found == nullptr || each->ending.size() > found->ending.size();
    if (!typed.empty() && name.ends_with(each->ending) && is_longer) found = each;
    if (each->ending.starts_with('.')) endings.push_back(each->ending);
  }
  if (found != nullptr) return {std::string(path), found};
  const std::optional<std::string_view> meant = nearest(typed, endings);
  refuse("{} has no known file extension: {}end the name in {}", quote(path),
         meant ? fmt::format("did you mean '{}'? ", *meant) : std::string(), join_choices(endings));
}

}  // namespace clprobe::cli
