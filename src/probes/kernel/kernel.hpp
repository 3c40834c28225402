// SPDX-License-Identifier: Apache-2.0
// Probe `kernel`: the parameters and facts of its points, and its functions. Pure except `open`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/device_info.hpp"
#include "clprobe/probe.hpp"
#include "probes/kernel/causes.hpp"
#include "probes/shared/fields.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

enum class Variant {
  plain,          ///< the program's launch, after other data filled the caches
  warm,           ///< the program's launch, after an equal launch
  instrumented,   ///< text with clprobe's instrumentation, which may remove causes
  resident,       ///< text with entry code, and local memory that limits the resident groups
  whole_waves,    ///< text with entry code; only the groups of full waves
  ending,         ///< text with entry code, at which all groups end
  copies,         ///< concurrent copies with all causes removed, each in its own queue
  next_to_loads,  ///< kernel with all causes removed, next to a kernel that loads
};

struct VariantRow {
  Variant value;
  std::string_view word;
  std::string_view suffix;  ///< end of the name of the series, after the kernel's label
};
inline constexpr std::array variants{
    VariantRow{Variant::plain, "plain", ""},
    VariantRow{Variant::warm, "warm", ", warm"},
    VariantRow{Variant::instrumented, "instrumented", ", folded"},
    VariantRow{Variant::resident, "resident", ", by groups at once"},
    VariantRow{Variant::whole_waves, "whole waves", ", whole waves"},
    VariantRow{Variant::ending, "ending", ", ending at once"},
    VariantRow{Variant::copies, "copies", ", with all gone, beside copies"},
    VariantRow{Variant::next_to_loads, "beside loads", ", with all gone, beside loads"}};

constexpr std::string_view suffix_of(Variant variant) {
  return variants.at(static_cast<std::size_t>(variant)).suffix;
}
/// True for variants whose text has clprobe's entry code (with_entry in prelude.hpp).
constexpr bool has_entry(Variant variant) {
  return variant == Variant::resident || variant == Variant::whole_waves ||
         variant == Variant::ending;
}
/// True for variants that remove all causes and run next to other launches.
constexpr bool is_concurrent(Variant variant) {
  return variant == Variant::copies || variant == Variant::next_to_loads;
}

inline bool is_folded(const prelude::Setting& setting) {
  return setting.exponents != prelude::Setting{}.exponents;
}

struct Shape {
  std::string bundle{};  ///< id of the bundle
  Variant variant{Variant::plain};
  std::uint64_t groups{0};  ///< number of groups; 0: the driver chooses their size
  /// Groups that do the work of all groups; with an entry, groups that are launched.
  std::uint64_t distinct_groups{0};
  prelude::Setting setting{};  ///< removed causes of an instrumented text
  /// Unused local memory of each group, in eighths of the local memory that the kernel leaves.
  std::uint64_t padding_eighths{0};
  Timer timer{Timer::event};

  /// True if a launch finds the data of an equal launch in the caches.
  [[nodiscard]] bool is_warm() const {
    return variant == Variant::warm || is_concurrent(variant) || is_folded(setting);
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
    if (variant != Variant::instrumented && !is_concurrent(variant)) return;
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

// Facts about the replay.
inline constexpr std::string_view deterministic_fact = "deterministic";  ///< 0 or 1
/// Bytes that differ between two replays.
inline constexpr std::string_view differing_fact = "differing_ppm";
inline constexpr std::string_view equal_fact = "equal_to_app";  ///< 0 or 1; unknown if absent
/// Buffers whose bytes are equal in two replays, but differ from the program's. Absent if there are
/// none.
inline constexpr std::string_view wrong_buffers_fact = "wrong_buffers";
// Facts about the program from the bundle. Times are whole nanoseconds.
inline constexpr std::string_view app_ns_fact = "app_ns";  ///< time of this launch
inline constexpr std::string_view app_mean_ns_fact = "app_mean_ns";
/// Share of the program's device time.
inline constexpr std::string_view app_share_fact = "app_share_ppm";
inline constexpr std::string_view app_launches_fact = "app_launches";
// Facts about launches with an entry.
/// Unused local memory of each group.
inline constexpr std::string_view padding_fact = "padding_bytes";
/// Number of groups on the device.
inline constexpr std::string_view resident_fact = "resident_groups";
// Facts about concurrent launches: the number of launches of each copy, or of loads of each
// work-item, and the time without concurrency.
inline constexpr std::string_view noise_amount_fact = "noise_amount";
inline constexpr std::string_view noise_ns_fact = "noise_ns";
// Facts from the plan about the launch, and about each factor: "memory_absence".
inline constexpr std::string_view buffer_bytes_fact = "buffer_bytes";  ///< size of all buffers
inline constexpr std::string_view last_cache_fact = "last_cache_bytes";

/// Returns the name of the fact for an element of a list: "level_1_bytes".
inline std::string fact_at(std::string_view format, std::size_t index) {
  return fmt::format(fmt::runtime(format), index + 1);
}
/// Capacities of the caches of global memory, numbered as in `latency`.
inline constexpr std::string_view level_fact = "level_{}_bytes";
inline constexpr std::size_t max_levels = 8;
/// Instrumented time / plain time, one ratio per block of alternating launches.
inline constexpr std::string_view ratio_fact = "turn_{}_ppm";
inline constexpr std::size_t max_ratios = 8;

inline constexpr std::string_view entry_factor = "entry";
inline constexpr std::string_view not_present = "not present";
/// Returns the name of the fact with the reason why a factor is refused, or with `not_present`.
inline std::string absence_of(std::string_view factor) { return std::string(factor) + "_absence"; }

inline constexpr std::int64_t million = 1'000'000;

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
    for (std::size_t i = 0; i < max_ratios; ++i) {
      f.fact(fact_at(ratio_fact, i), number, {.min = 1, .max = million * million});
    }
    for (std::size_t i = 0; i < max_levels; ++i) {
      f.fact(fact_at(level_fact, i), number, {.min = 1, .max = large.max});
    }
  }
};

/// Returns a share that a document stores in parts per million.
inline std::optional<double> share_in(const Parameters& facts, std::string_view name) {
  const std::int64_t parts = facts.integer_or(name, -1);
  if (parts < 0) return std::nullopt;
  return static_cast<double>(parts) / static_cast<double>(million);
}

inline std::string_view label_of(std::string_view series) {
  return series.substr(0, series.find(", "));
}

/// Plans the points of the first pass: the program's launch; the instrumented launch with
/// decreasing numbers of distinct groups and without other causes; and launches with decreasing
/// numbers of resident groups.
Plan plan(const DeviceInfo& device, const Request& request);

/// Plans the points that depend on the first pass: the fastest working-set reduction without other
/// causes, concurrent launches, and the launch of full waves.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

/// Converts a bundle's launch to the form of prelude.hpp.
prelude::NdRange range_for_prelude(const bundle::NdRange& range);

/// Returns which causes can be removed, and the objections of the text, the launch and the device.
prelude::Judgement judge_kernel(const bundle::Bundle& bundle, const DeviceInfo& device);

/// Returns the causes that the build for all settings of the launch can remove.
prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device);

/// Opens the bundles that this process was given, for replay. Uses OpenCL.
Preparer open(Session& session);

/// Returns for each object whether all kernel parameters that get it are pointers to float.
std::vector<bool> objects_of_floats(const bundle::Bundle& bundle);

/// True if corresponding floats of `first` and `second` differ by at most a thousandth of the range
/// of `first` (which includes 0), and non-finite floats are equal. False if the lengths differ or
/// are not a multiple of 4 bytes.
bool are_close_floats(std::string_view first, std::string_view second);

/// Collects the times of the kernel with that label. Factors without all launches are refused.
KernelTimes gather_times(const DeviceInfo& device, std::span<const Point> points,
                         const std::string& label);

/// Collects how the groups of the kernel with that label fill the device. Returns nothing if no
/// launch counted groups.
std::optional<KernelOccupancy> gather_occupancy(const DeviceInfo& device,
                                                std::span<const Point> points,
                                                const std::string& label);

/// Finding with the size of all buffers of the launch.
inline constexpr std::string_view working_set_name = "working_set";
/// Finding with a sentence about the level that the buffers fit.
inline constexpr std::string_view levels_name = "levels";

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Returns the memory levels for the curves over distinct groups.
std::vector<CardMark> marks_of(const ProbeResult& result);

}  // namespace clprobe::kernel
