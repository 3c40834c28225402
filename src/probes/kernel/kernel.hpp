// SPDX-License-Identifier: Apache-2.0
// Probe `kernel`: the parameters and facts of its points, and its functions. Pure except `open`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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
  instrumented,   ///< the program's text with clprobe's instrumentation, which may remove causes
  resident,       ///< text with entry code; unused local memory limits the resident groups
  whole_waves,    ///< text with entry code; only the groups of full waves are launched
  ending,         ///< text with entry code; all groups end at the entry code
  copies,         ///< concurrent copies with all causes removed, each in its own queue
  next_to_loads,  ///< kernel with all causes removed, next to another kernel that loads
  rewritten,      ///< the program's PTX without some of its instructions
};

struct VariantRow {
  Variant value;
  std::string_view word;
  std::string_view suffix;  ///< end of the series' name, after the kernel's label
};
inline constexpr std::array variants{
    VariantRow{Variant::plain, "plain", ""},
    VariantRow{Variant::warm, "warm", ", warm"},
    VariantRow{Variant::instrumented, "instrumented", ", folded"},
    VariantRow{Variant::resident, "resident", ", by groups at once"},
    VariantRow{Variant::whole_waves, "whole waves", ", whole waves"},
    VariantRow{Variant::ending, "ending", ", ending at once"},
    VariantRow{Variant::copies, "copies", ", with all gone, beside copies"},
    VariantRow{Variant::next_to_loads, "beside loads", ", with all gone, beside loads"},
    VariantRow{Variant::rewritten, "rewritten", ", rewritten"}};

constexpr std::string_view suffix_of(Variant variant) {
  return variants.at(static_cast<std::size_t>(variant)).suffix;
}
/// True for variants whose kernel begins with clprobe's entry code (prelude::with_entry).
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

struct PartRow {
  ptx::Part part;
  std::string_view name;  ///< in the names of parameters and facts: "without_loads", "loads_count"
  std::string_view title;
};
/// In the order of ptx::Part.
inline constexpr std::array part_rows{
    PartRow{ptx::Part::loads, "loads", "loads"}, PartRow{ptx::Part::stores, "stores", "stores"},
    PartRow{ptx::Part::local_memory, "local_memory", "accesses of local memory"},
    PartRow{ptx::Part::atomics, "atomics", "atomics"},
    PartRow{ptx::Part::barriers, "barriers", "barriers"}};

struct Shape {
  std::string bundle{};  ///< id of the bundle
  Variant variant{Variant::plain};
  std::uint64_t groups{0};  ///< number of work-groups; 0 if the driver chooses the work-group size
  /// Number of distinct groups that do the work of all groups. For variants with entry code, the
  /// number of launched groups.
  std::uint64_t distinct_groups{0};
  prelude::Setting setting{};  ///< causes that the instrumented launch removes
  ptx::Parts removed{};        ///< instructions that the rewritten launch lacks
  /// True if the rewritten launch takes recorded decisions at branches that data decide.
  bool replays_branches{false};
  /// Padding: unused local memory of each group, in eighths of the local memory that the kernel
  /// leaves free.
  std::uint64_t padding_eighths{0};
  Timer timer{Timer::event};

  /// True if the launch finds the data of an earlier equal launch in the caches.
  [[nodiscard]] bool is_warm() const {
    return variant == Variant::warm || is_concurrent(variant) || is_folded(setting);
  }

  /// True if the rewritten launch lacks nothing.
  [[nodiscard]] bool is_unchanged() const { return removed.none() && !setting.without_functions; }

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
    const auto visit_flag = [&f](std::string_view name, bool is_without) {
      std::optional<int> flag;
      if (is_without) flag = 1;
      f.whole("without_" + std::string(name), flag, {.max = 1});
      return flag.value_or(0) != 0;
    };
    if (variant == Variant::rewritten) {
      for (const PartRow& row : part_rows) {
        const std::size_t bit = ptx::index_of(row.part);
        removed.set(bit, visit_flag(row.name, removed.test(bit)));
      }
      setting.without_functions = visit_flag("functions", setting.without_functions);
      std::optional<int> replays;
      if (replays_branches) replays = 1;
      f.whole("replays_branches", replays, {.max = 1});
      replays_branches = replays.value_or(0) != 0;
    }
    if (variant != Variant::instrumented && !is_concurrent(variant)) return;
    f.whole("exponent_0", setting.exponents[0], exponent);
    f.whole("exponent_1", setting.exponents[1], exponent);
    f.whole("exponent_2", setting.exponents[2], exponent);
    for (const FactorRow& row : factor_rows) {
      if (row.without == nullptr) continue;
      setting.*row.without = visit_flag(row.cause.name, setting.*row.without);
    }
  }
};

// Names of the facts about the replay.

/// 1 if two replays give equal bytes, otherwise 0.
inline constexpr std::string_view deterministic_fact = "deterministic";
/// Bytes that differ between two replays, per million bytes of the objects that the kernel writes.
inline constexpr std::string_view differing_fact = "differing_ppm";
/// 1 if the replay gives the program's bytes, otherwise 0; absent if unknown.
inline constexpr std::string_view equal_fact = "equal_to_app";
/// 1 if the replayed text differs from the program's; absent if not.
inline constexpr std::string_view other_text_fact = "other_text";
/// Names of the buffers of floats or doubles that another text leaves with other bytes; absent if
/// there is none.
inline constexpr std::string_view other_floats_fact = "other_floats";
/// Names of the buffers whose bytes are equal in two replays but differ from the program's bytes.
/// The fact is absent if no buffer differs.
inline constexpr std::string_view wrong_buffers_fact = "wrong_buffers";

// Names of the facts about the program, from the bundle. Times are whole nanoseconds.

/// Time of the recorded launch in the program.
inline constexpr std::string_view app_ns_fact = "app_ns";
inline constexpr std::string_view app_mean_ns_fact = "app_mean_ns";
/// Share of the program's device time that the kernel's launches take, in parts per million.
inline constexpr std::string_view app_share_fact = "app_share_ppm";
inline constexpr std::string_view app_launches_fact = "app_launches";

/// Bandwidth of the device's memory in bytes per second, a fact of plain launches.
inline constexpr std::string_view memory_rate_fact = "memory_bytes_per_second";

// Names of the facts about launches with entry code.

/// Unused local memory of each group.
inline constexpr std::string_view padding_fact = "padding_bytes";
/// Number of groups that the device runs at the same time, counted by the entry code.
inline constexpr std::string_view resident_fact = "resident_groups";

// Names of the facts about concurrent launches. `noise_amount`: number of launches of each copy, or
// a third of the number of loads of each work-item. `noise_ns`: time in ns of one copy, or of the
// loading kernel, without concurrency.
inline constexpr std::string_view noise_amount_fact = "noise_amount";
inline constexpr std::string_view noise_ns_fact = "noise_ns";

// Names of the facts that the plan sets: sizes of the launch and the device, and for each factor
// the reason for its absence ("memory_absence").

/// Total size of the launch's buffers.
inline constexpr std::string_view buffer_bytes_fact = "buffer_bytes";
inline constexpr std::string_view last_cache_fact = "last_cache_bytes";

/// Returns the name of the fact for element `index` of a list. The index counts from 0, but names
/// count from 1: "level_1_bytes".
inline std::string fact_at(std::string_view format, std::size_t index) {
  return fmt::format(fmt::runtime(format), index + 1);
}
/// Name of the facts with the capacities of global memory's caches, numbered as in probe `latency`.
inline constexpr std::string_view level_fact = "level_{}_bytes";
inline constexpr std::size_t max_levels = 8;
/// Name of the facts with the ratio instrumented or rewritten time / plain time, in parts per
/// million. Each block of alternating launches gives one ratio.
inline constexpr std::string_view ratio_fact = "turn_{}_ppm";
inline constexpr std::size_t max_ratios = 8;

// Names of the facts about rewriting, for plain launches on devices whose driver gives PTX.

/// Reason why the kernel cannot be rewritten. Absent if it can.
inline constexpr std::string_view rewriting_absence = "rewriting_absence";
/// Number of instructions of a part of the kernel: "loads_count".
inline constexpr std::string_view count_fact = "{}_count";
/// Number of instructions of a part that can be removed: "loads_removable". The others decide on
/// addresses, branches or barriers.
inline constexpr std::string_view removable_fact = "{}_removable";
/// Reason why the kernel's barriers stay. Absent if there is none.
inline constexpr std::string_view barriers_fact = "barriers_reason";
/// Number of branches that data decide, if their decisions have to be replayed to remove more
/// instructions. Absent if not.
inline constexpr std::string_view replayed_fact = "replayed_branches";

inline constexpr std::string_view entry_factor = "entry";
inline constexpr std::string_view not_present = "not present";
/// Returns the name of the fact that holds the reason why `factor` is refused, or `not_present`.
inline std::string absence_of(std::string_view factor) { return std::string(factor) + "_absence"; }

inline constexpr std::int64_t million = 1'000'000;

struct Observation {
  std::int64_t number{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    constexpr Bounds year_ns{.max = 31'536'000'000'000'000};
    constexpr Bounds large{.max = std::int64_t{1} << 62U};
    for (const std::string_view name : {deterministic_fact, equal_fact, other_text_fact}) {
      f.fact(name, number, {.max = 1});
    }
    for (const std::string_view name : {differing_fact, app_share_fact}) {
      f.fact(name, number, {.max = million});
    }
    for (const std::string_view name : {app_ns_fact, app_mean_ns_fact, noise_ns_fact}) {
      f.fact(name, number, year_ns);
    }
    for (const std::string_view name :
         {app_launches_fact, buffer_bytes_fact, last_cache_fact, padding_fact, resident_fact,
          noise_amount_fact, memory_rate_fact}) {
      f.fact(name, number, large);
    }
    f.fact(replayed_fact, number, large);
    for (const PartRow& row : part_rows) {
      f.fact(fmt::format(count_fact, row.name), number, large);
      f.fact(fmt::format(removable_fact, row.name), number, large);
    }
    for (std::size_t i = 0; i < max_ratios; ++i) {
      f.fact(fact_at(ratio_fact, i), number, {.min = 1, .max = million * million});
    }
    for (std::size_t i = 0; i < max_levels; ++i) {
      f.fact(fact_at(level_fact, i), number, {.min = 1, .max = large.max});
    }
  }
};

/// Returns the share that fact `name` stores in parts per million; nothing if the fact is absent.
inline std::optional<double> share_in(const Parameters& facts, std::string_view name) {
  const std::int64_t parts = facts.integer_or(name, -1);
  if (parts < 0) return std::nullopt;
  return static_cast<double>(parts) / static_cast<double>(million);
}

/// Cause that the rewritten kernel can lack.
struct Removal {
  Factor factor{};
  ptx::Parts parts{};  ///< instructions to remove; empty for functions
};

/// True if the facts of a plain launch contain the counts of the kernel's PTX instructions.
bool can_rewrite(const Parameters& facts);

/// Returns the causes that the rewritten kernel can lack, in the order of factors, from the facts
/// of a plain launch.
std::vector<Removal> removals_in(const Parameters& facts);

/// Returns the launch of the rewritten kernel without the causes whose bits are set in `bits`.
Shape shape_without(std::span<const Removal> removals, std::uint32_t bits);

/// Returns verdicts on the removal of each cause by rewriting, from the facts of a plain launch.
FactorVerdicts rewriting_verdicts(const Parameters& facts);

/// Returns the instructions that stay when a cause is removed, as the reason for a lower bound: "at
/// least: 2 of 9 loads determine addresses, ...". Contains only causes of which instructions stay.
std::map<Factor, std::string> kept_instructions(const Parameters& facts);

/// True if the device's driver gives the PTX of its programs.
inline bool gives_ptx(const DeviceInfo& device) { return device.vendor.starts_with("NVIDIA"); }

inline std::string_view label_of(std::string_view series) {
  return series.substr(0, series.find(", "));
}

/// Returns the points of the first pass: the program's launch, the instrumented launch with fewer
/// distinct groups or without other causes, a launch whose groups end at once, and launches with
/// fewer resident groups.
Plan plan(const DeviceInfo& device, const Request& request);

/// Returns the points that depend on the first pass: the launch of full waves, the rewritten kernel
/// or the fastest working-set reduction with other causes removed, and concurrent launches.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

/// Returns the bundle's range in the type of prelude.hpp.
prelude::NdRange range_for_prelude(const bundle::NdRange& range);

/// Returns which causes can be removed, with the reasons from the text, the launch or the device
/// that forbid a removal.
prelude::Judgement judge_kernel(const bundle::Bundle& bundle, const DeviceInfo& device);

/// Returns the causes that a single instrumented build must be able to remove for all settings of
/// the launch.
prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device);

/// Reads the bundles that this process was given, and returns the function that prepares points for
/// replay. Uses OpenCL. Throws DeviceError for an invalid bundle.
Preparer open(Session& session);

/// Returns for each object of the launch whether all kernel parameters that receive the object are
/// pointers to `type` ("float", "double").
std::vector<bool> objects_of(std::string_view type, const bundle::Bundle& bundle);

/// True if the floats of `first` and `second` at equal indices differ by at most a thousandth of
/// the range of `first`. The range includes 0. Non-finite floats must be equal. False if the
/// lengths differ or are not a multiple of 4 bytes.
bool are_close_floats(std::string_view first, std::string_view second);

/// Returns the times of the kernel with label `label`. If launches are missing, refuses factors
/// until all launches that remove sets of the other factors are present.
KernelTimes gather_times(const DeviceInfo& device, std::span<const Point> points,
                         const std::string& label);

/// Returns the costs of how the groups of the kernel with label `label` fill the device, or only
/// their number if no launch counted resident groups. Returns nothing without a plain launch.
std::optional<KernelOccupancy> gather_occupancy(const DeviceInfo& device,
                                                std::span<const Point> points,
                                                const std::string& label);

/// Name of the finding with the total size of the launch's buffers.
inline constexpr std::string_view working_set_name = "working_set";
/// Name of the finding with a sentence on the memory level that the buffers fit.
inline constexpr std::string_view levels_name = "levels";

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Returns the memory levels to mark in plots of time over distinct groups.
std::vector<CardMark> marks_of(const ProbeResult& result);

}  // namespace clprobe::kernel
