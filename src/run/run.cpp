// SPDX-License-Identifier: Apache-2.0
#include "clprobe/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "clprobe/budget.hpp"
#include "clprobe/words.hpp"

namespace clprobe {

Bytes reported_cache(const DeviceInfo& device) {
  const std::int64_t bytes = device.reported.integer_or("cache_bytes", 0);
  return {static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes))};
}

bool runs_at_full_clock(const DeviceInfo& device, double ticks_per_ns) {
  constexpr double nearly = 0.98;
  if (device.clock.rate != ClockRate::core_cycles) return false;
  const std::int64_t max_mhz = device.reported.integer_or("max_clock_mhz", 0);
  return max_mhz > 0 && 1e3 * ticks_per_ns >= nearly * static_cast<double>(max_mhz);
}

namespace {

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
                                    Word{Timer::host, "host"}, Word{Timer::wait, "wait"},
                                    Word{Timer::imported, "imported"}};
};

template <>
struct Words<Effort> {
  static constexpr std::array table{Word{Effort::quick, "quick"}, Word{Effort::normal, "normal"},
                                    Word{Effort::thorough, "thorough"}};
};

template <>
struct Words<DeviceType> {
  static constexpr std::array table{Word{DeviceType::gpu, "gpu"}, Word{DeviceType::cpu, "cpu"},
                                    Word{DeviceType::accelerator, "accelerator"},
                                    Word{DeviceType::other, "other"},
                                    Word{DeviceType::simulated, "simulated"}};
};

template <>
struct Words<Unit> {
  static constexpr std::array table{
      Word{Unit::seconds, "seconds"}, Word{Unit::bytes_per_second, "bytes_per_second"},
      Word{Unit::operations_per_second, "operations_per_second"}, Word{Unit::hertz, "hertz"}};
};

template <>
struct Words<ReferenceKind> {
  static constexpr std::array table{
      Word{ReferenceKind::core, "core"}, Word{ReferenceKind::cache, "cache"},
      Word{ReferenceKind::memory, "memory"}, Word{ReferenceKind::arithmetic, "arithmetic"}};
};

template <>
struct Words<ViewKind> {
  static constexpr std::array table{Word{ViewKind::curve, "curve"},
                                    Word{ViewKind::heat_map, "heat-map"},
                                    Word{ViewKind::stacks, "stacks"}};
};

template <>
struct Words<Scale> {
  static constexpr std::array table{Word{Scale::logarithmic, "logarithmic"},
                                    Word{Scale::linear, "linear"}};
};

template <>
struct Words<Better> {
  static constexpr std::array table{Word{Better::unknown, "unknown"}, Word{Better::less, "less"},
                                    Word{Better::more, "more"}};
};

template <>
struct Words<Role> {
  static constexpr std::array table{Word{Role::fact, "fact"},
                                    Word{Role::headline, "headline"},
                                    Word{Role::lower_bound, "lower-bound"},
                                    Word{Role::passing, "passing"},
                                    Word{Role::remark, "remark"},
                                    Word{Role::advice, "advice"}};
};

template <>
struct Words<WarningSource> {
  static constexpr std::array table{Word{WarningSource::engine, "engine"},
                                    Word{WarningSource::analysis, "analysis"}};
};

template <typename Enum>
std::string_view word_of(Enum value) {
  return word_in(Words<Enum>::table, value);
}

}  // namespace

std::string_view to_word(Source value) { return word_of(value); }
std::string_view to_word(Status value) { return word_of(value); }
std::string_view to_word(ClockKind value) { return word_of(value); }
std::string_view to_word(ClockRate value) { return word_of(value); }
std::string_view to_word(Timer value) { return word_of(value); }
std::string_view to_word(Effort value) { return word_of(value); }
std::string_view to_word(DeviceType value) { return word_of(value); }
std::string_view to_word(Unit value) { return word_of(value); }
std::string_view to_word(ReferenceKind value) { return word_of(value); }
std::string_view to_word(ViewKind value) { return word_of(value); }
std::string_view to_word(Scale value) { return word_of(value); }
std::string_view to_word(Better value) { return word_of(value); }
std::string_view to_word(Role value) { return word_of(value); }
std::string_view to_word(WarningSource value) { return word_of(value); }

template <typename Enum>
std::optional<Enum> from_word(std::string_view word) {
  return value_in(Words<Enum>::table, word);
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
template std::optional<Effort> from_word(std::string_view);
template std::optional<DeviceType> from_word(std::string_view);
template std::optional<Unit> from_word(std::string_view);
template std::optional<ReferenceKind> from_word(std::string_view);
template std::optional<ViewKind> from_word(std::string_view);
template std::optional<Scale> from_word(std::string_view);
template std::optional<Better> from_word(std::string_view);
template std::optional<Role> from_word(std::string_view);
template std::optional<WarningSource> from_word(std::string_view);
template std::vector<std::string_view> all_words<Source>();
template std::vector<std::string_view> all_words<Status>();
template std::vector<std::string_view> all_words<ClockKind>();
template std::vector<std::string_view> all_words<ClockRate>();
template std::vector<std::string_view> all_words<Timer>();
template std::vector<std::string_view> all_words<Effort>();
template std::vector<std::string_view> all_words<DeviceType>();
template std::vector<std::string_view> all_words<Unit>();
template std::vector<std::string_view> all_words<ReferenceKind>();
template std::vector<std::string_view> all_words<ViewKind>();
template std::vector<std::string_view> all_words<Scale>();
template std::vector<std::string_view> all_words<Better>();
template std::vector<std::string_view> all_words<Role>();
template std::vector<std::string_view> all_words<WarningSource>();

bool is_sane(double number) {
  const double magnitude = std::fabs(number);
  return magnitude == 0.0 || (magnitude >= min_magnitude && magnitude <= max_magnitude);
}

Better usual_direction(std::string_view unit) {
  if (unit == "seconds" || unit == "cycles") return Better::less;
  const bool is_rate = unit == "bytes_per_second" || unit == "bytes_per_cycle" ||
                       unit == "operations_per_second" || unit == "operations_per_cycle" ||
                       unit == "hertz";
  return is_rate ? Better::more : Better::unknown;
}

}  // namespace clprobe
