// SPDX-License-Identifier: Apache-2.0
// The parameters and facts of a point of a replayed launch. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "probes/kernel/causes.hpp"
#include "probes/shared/fields.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

/// The variants of a kernel's launch that are measured.
enum class Variant {
  plain,         ///< as in the program, after other data filled the caches
  warm,          ///< as in the program, after an equal launch
  instrumented,  ///< with clprobe's instrumentation, which may remove causes
  resident,      ///< with entry code, and local memory that limits the resident groups
  whole_waves,   ///< with entry code: only the groups of full waves
  ending,        ///< with entry code: all groups end there
  copies,        ///< copies without all causes, in queues side by side
  beside_loads,  ///< without all causes, next to a kernel that loads
};

struct VariantRow {
  Variant value;
  std::string_view word;
  std::string_view suffix;  ///< of its series, after the kernel's label
};
inline constexpr std::array variants{
    VariantRow{Variant::plain, "plain", ""},
    VariantRow{Variant::warm, "warm", ", warm"},
    VariantRow{Variant::instrumented, "instrumented", ", folded"},
    VariantRow{Variant::resident, "resident", ", by groups at once"},
    VariantRow{Variant::whole_waves, "whole waves", ", whole waves"},
    VariantRow{Variant::ending, "ending", ", ending at once"},
    VariantRow{Variant::copies, "copies", ", with all gone, beside copies"},
    VariantRow{Variant::beside_loads, "beside loads", ", with all gone, beside loads"}};

constexpr std::string_view suffix_of(Variant variant) {
  return variants.at(static_cast<std::size_t>(variant)).suffix;
}
/// True for variants whose text has an entry of clprobe's (prelude.hpp).
constexpr bool has_entry(Variant variant) {
  return variant == Variant::resident || variant == Variant::whole_waves ||
         variant == Variant::ending;
}
/// True for variants that run next to other launches, without all causes.
constexpr bool is_bare(Variant variant) {
  return variant == Variant::copies || variant == Variant::beside_loads;
}

/// True if few groups do the work of all.
inline bool is_folded(const prelude::Setting& setting) {
  return setting.exponents != prelude::Setting{}.exponents;
}

struct Shape {
  std::string bundle{};  ///< its id
  Variant variant{Variant::plain};
  std::uint64_t groups{0};           ///< 0: the driver chooses their size
  std::uint64_t distinct_groups{0};  ///< that do the work of all; with an entry: that are launched
  prelude::Setting setting{};        ///< of an instrumented text
  /// Eighths of the local memory that a group may have in addition to its own.
  std::uint64_t padding_eighths{0};
  Timer timer{Timer::event};

  /// True if a launch finds the data of an equal one in the caches.
  [[nodiscard]] bool is_warm() const {
    return variant == Variant::warm || is_bare(variant) || is_folded(setting);
  }

  template <typename Visitor>
  void visit(Visitor& f) {
    constexpr Bounds count{.max = std::int64_t{1} << 62U};
    constexpr Bounds exponent{.max = prelude::no_folding};
    f.text("bundle", bundle);
    f.word("variant", variant, variants);
    f.whole("groups", groups, count);
    f.whole("distinct_groups", distinct_groups, count);
    f.word("timer", timer);
    if (variant == Variant::resident) f.whole("padding_eighths", padding_eighths, {.max = 8});
    if (variant != Variant::instrumented && !is_bare(variant)) return;
    f.whole("exponent_0", setting.exponents[0], exponent);
    f.whole("exponent_1", setting.exponents[1], exponent);
    f.whole("exponent_2", setting.exponents[2], exponent);
    for (const FactorRow& row : factor_rows) {
      if (row.without == nullptr) continue;
      std::optional<int> is_without;
      if (setting.*row.without) is_without = 1;
      f.whole("without_" + std::string(row.cause.name), is_without, {.max = 1});
      setting.*row.without = is_without.value_or(0) != 0;
    }
  }
};

// Facts that the replay finds.
inline constexpr std::string_view deterministic_fact = "deterministic";  ///< 0 or 1
inline constexpr std::string_view differing_fact = "differing_ppm";  ///< of bytes, in two replays
inline constexpr std::string_view equal_fact = "equal_to_app";       ///< 0 or 1; absent: unknown
/// Buffers that two replays left alike, but the program otherwise. Absent: none.
inline constexpr std::string_view wrong_buffers_fact = "wrong_buffers";
// Facts of the bundle about the program; times in whole nanoseconds.
inline constexpr std::string_view app_ns_fact = "app_ns";  ///< of this launch
inline constexpr std::string_view app_mean_ns_fact = "app_mean_ns";
inline constexpr std::string_view app_share_fact = "app_share_ppm";  ///< of its device time
inline constexpr std::string_view app_launches_fact = "app_launches";
// Facts of launches with an entry.
inline constexpr std::string_view padding_fact = "padding_bytes";     ///< for each group
inline constexpr std::string_view resident_fact = "resident_groups";  ///< on the device
// Facts of launches next to others: their number, or loads of each work-item; and their time alone.
inline constexpr std::string_view noise_amount_fact = "noise_amount";
inline constexpr std::string_view noise_ns_fact = "noise_ns";
// Facts of the plan about the launch, and about each factor by its name: "memory_absence".
inline constexpr std::string_view buffer_bytes_fact = "buffer_bytes";  ///< of all buffers
inline constexpr std::string_view last_cache_fact = "last_cache_bytes";

/// The fact that holds a number of a list: "level_1_bytes".
inline std::string fact_at(std::string_view format, std::size_t place) {
  return fmt::format(fmt::runtime(format), place + 1);
}
/// Capacities of caches of global memory, numbered as by `latency`.
inline constexpr std::string_view level_fact = "level_{}_bytes";
inline constexpr std::size_t max_levels = 8;
/// Ratios of the instrumented kernel's time to the plain one's, by blocks of alternating launches.
inline constexpr std::string_view turn_fact = "turn_{}_ppm";
inline constexpr std::size_t max_turns = 8;

inline constexpr std::string_view entry_factor = "entry";
inline constexpr std::string_view not_present = "not present";
/// The fact that holds `not_present`, or the reason why a factor is refused.
inline std::string absence_of(std::string_view factor) { return std::string(factor) + "_absence"; }

inline constexpr std::int64_t million = 1'000'000;

/// The bounds of these facts in a document.
struct Observation {
  std::int64_t number{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    constexpr Bounds year_ns{.max = 31'536'000'000'000'000};
    constexpr Bounds large{.max = std::int64_t{1} << 62U};
    for (const std::string_view name : {deterministic_fact, equal_fact}) {
      f.fact(name, number, {.max = 1});
    }
    for (const std::string_view name : {differing_fact, app_share_fact}) {
      f.fact(name, number, {.max = million});
    }
    for (const std::string_view name : {app_ns_fact, app_mean_ns_fact, noise_ns_fact}) {
      f.fact(name, number, year_ns);
    }
    for (const std::string_view name : {app_launches_fact, buffer_bytes_fact, last_cache_fact,
                                        padding_fact, resident_fact, noise_amount_fact}) {
      f.fact(name, number, large);
    }
    for (std::size_t i = 0; i < max_turns; ++i) {
      f.fact(fact_at(turn_fact, i), number, {.min = 1, .max = million * million});
    }
    for (std::size_t i = 0; i < max_levels; ++i) {
      f.fact(fact_at(level_fact, i), number, {.min = 1, .max = large.max});
    }
  }
};

/// A share that is stored in parts per million.
inline std::optional<double> share_in(const Parameters& facts, std::string_view name) {
  const std::int64_t parts = facts.integer_or(name, -1);
  if (parts < 0) return std::nullopt;
  return static_cast<double>(parts) / static_cast<double>(million);
}

/// The kernel's label in the name of a series.
inline std::string_view label_of(std::string_view series) {
  return series.substr(0, series.find(", "));
}

}  // namespace clprobe::kernel
