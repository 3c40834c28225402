// SPDX-License-Identifier: Apache-2.0
// What a point of a replayed launch is. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "clprobe/kernel_causes.hpp"
#include "clprobe/prelude.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::kernel {

/// What the caches hold when the launch begins: other things, or what the one before left.
enum class Caches { cold, warm };
inline constexpr std::array caches_words{Word{Caches::cold, "cold"}, Word{Caches::warm, "warm"}};

/// The program's text as it is, behind the one that renames work-items, or with an entry of ours
/// (prelude.hpp); bare: instrumented, with all causes taken away, and something beside it.
enum class Text { own, instrumented, entered, bare };
inline constexpr std::array text_words{Word{Text::own, "own"}, Word{Text::instrumented, "renamed"},
                                       Word{Text::entered, "entered"}, Word{Text::bare, "bare"}};

/// What runs next to a bare kernel: the same launch in other queues, or a kernel that loads. Older
/// documents have entered texts with groups next to them that end at once (idle), or that keep one
/// resource busy.
enum class Beside { nothing, idle, arithmetic, local, cache, memory, copies, scattered };
inline constexpr std::array beside_words{
    Word{Beside::nothing, "nothing"},       Word{Beside::idle, "idle"},
    Word{Beside::arithmetic, "arithmetic"}, Word{Beside::local, "local"},
    Word{Beside::cache, "cache"},           Word{Beside::memory, "memory"},
    Word{Beside::copies, "copies"},         Word{Beside::scattered, "scattered"}};

/// Whether some groups do what others do.
inline bool is_folded(const prelude::Setting& setting) {
  return setting.exponents != prelude::Setting{}.exponents;
}

struct Shape {
  std::string bundle{};  ///< its id
  Caches caches{Caches::cold};
  Text text{Text::own};
  std::uint64_t groups{0};           ///< 0: the driver chooses their size
  std::uint64_t distinct_groups{0};  ///< that do the work of all; of an entered text: are launched
  prelude::Setting setting{};        ///< of an instrumented text
  /// Of an entered text: so many eighths of the local memory that a group may have besides its own.
  std::uint64_t padding_eighths{0};
  Beside beside{Beside::nothing};
  std::uint64_t noise_percent{0};  ///< of entered texts in older documents
  bool ends_at_once{false};        ///< of an entered text: no group goes on into the kernel
  Timer timer{Timer::event};

  template <typename Visitor>
  void visit(Visitor& f) {
    constexpr Bounds count{.max = std::int64_t{1} << 62U};
    constexpr Bounds exponent{.max = prelude::no_folding};
    f.text("bundle", bundle);
    f.word("caches", caches, caches_words);
    f.word("text", text, text_words);
    f.whole("groups", groups, count);
    f.whole("distinct_groups", distinct_groups, count);
    f.word("timer", timer);
    if (text == Text::entered) {
      f.whole("padding_eighths", padding_eighths, {.max = 8});
      f.word("beside", beside, beside_words);
      f.whole("noise_percent", noise_percent, {.max = 1000});
      visit_newer(f, "ends_at_once", ends_at_once);
    }
    if (text == Text::bare) f.word("beside", beside, beside_words);
    if (text == Text::own || text == Text::entered) return;
    f.whole("exponent_0", setting.exponents[0], exponent);
    f.whole("exponent_1", setting.exponents[1], exponent);
    f.whole("exponent_2", setting.exponents[2], exponent);
    f.whole("window_dimension", setting.window.dimension, {.max = 2});
    f.whole("window_number", setting.window.number, {.max = 7});
    f.whole("window_shift", setting.window.shift, exponent);
    visit_switch(f, "without_barriers", setting.without_barriers);
    visit_switch(f, "without_atomics", setting.without_atomics);
    visit_newer(f, "without_lanes", setting.without_lanes);
    visit_newer(f, "without_fences", setting.without_fences);
    visit_newer(f, "without_functions", setting.without_functions);
  }

 private:
  template <typename Visitor>
  static void visit_switch(Visitor& f, std::string_view name, bool& is_on) {
    int number = is_on ? 1 : 0;
    f.whole(name, number, {.max = 1});
    is_on = number != 0;
  }
  /// Only where it is so: of documents that are older no launch is.
  template <typename Visitor>
  static void visit_newer(Visitor& f, std::string_view name, bool& is_on) {
    std::optional<int> number;
    if (is_on) number = 1;
    f.whole(name, number, {.max = 1});
    is_on = number.value_or(0) != 0;
  }
};

// Facts of a point, which the replay found out.
inline constexpr std::string_view deterministic_fact = "deterministic";  ///< 0 or 1
inline constexpr std::string_view differing_fact = "differing_ppm";  ///< of bytes, in two replays
inline constexpr std::string_view equal_fact = "equal_to_app";       ///< 0 or 1; absent: unknown
inline constexpr std::string_view other_buffers_fact = "other_buffers";  ///< where it is 0: which
/// Of these, those that two replays left alike: not chance has them so. Absent: none.
inline constexpr std::string_view wrong_buffers_fact = "wrong_buffers";
// What the bundle says of the program; times in whole nanoseconds.
inline constexpr std::string_view app_ns_fact = "app_ns";  ///< of this launch
inline constexpr std::string_view app_mean_ns_fact = "app_mean_ns";
inline constexpr std::string_view app_share_fact = "app_share_ppm";  ///< of its device time
inline constexpr std::string_view app_launches_fact = "app_launches";
// Of an entered text; of a bare one the last two, of what is beside it.
inline constexpr std::string_view padding_fact = "padding_bytes";      ///< for each group
inline constexpr std::string_view resident_fact = "resident_groups";   ///< at once, on the device
inline constexpr std::string_view noise_amount_fact = "noise_amount";  ///< of each work-item
inline constexpr std::string_view noise_ns_fact = "noise_ns";          ///< by itself
// What the plan says of the launch, and of each factor by its name: "memory_absence".
inline constexpr std::string_view buffer_bytes_fact = "buffer_bytes";  ///< of all buffers
inline constexpr std::string_view last_cache_fact = "last_cache_bytes";
/// Capacities of caches of global memory, by the number that `latency` gives them, from 1.
inline constexpr std::array<std::string_view, 8> level_facts{
    "level_1_bytes", "level_2_bytes", "level_3_bytes", "level_4_bytes",
    "level_5_bytes", "level_6_bytes", "level_7_bytes", "level_8_bytes"};
/// Behind the prelude that renames nothing: its time over the plain one's, by blocks of turns.
inline constexpr std::array<std::string_view, 8> turn_facts{
    "turn_1_ppm", "turn_2_ppm", "turn_3_ppm", "turn_4_ppm",
    "turn_5_ppm", "turn_6_ppm", "turn_7_ppm", "turn_8_ppm"};
inline constexpr std::array factor_words{
    Word{KernelFactor::memory, "memory"},   Word{KernelFactor::barriers, "barriers"},
    Word{KernelFactor::atomics, "atomics"}, Word{KernelFactor::lanes, "lanes"},
    Word{KernelFactor::fences, "fences"},   Word{KernelFactor::functions, "functions"}};

/// A cause that a setting of the instrumentation removes.
struct RemovableCause {
  KernelFactor factor;
  bool prelude::Setting::*without;
  prelude::Verdict prelude::Judgement::*verdict;
  std::string_view suffix;  ///< of series without it
};
inline constexpr std::array removable_causes{
    RemovableCause{KernelFactor::barriers, &prelude::Setting::without_barriers,
                   &prelude::Judgement::barriers, ", without barriers"},
    RemovableCause{KernelFactor::atomics, &prelude::Setting::without_atomics,
                   &prelude::Judgement::atomics, ", without atomics"},
    RemovableCause{KernelFactor::lanes, &prelude::Setting::without_lanes,
                   &prelude::Judgement::lanes, ", without lanes"},
    RemovableCause{KernelFactor::fences, &prelude::Setting::without_fences,
                   &prelude::Judgement::fences, ", without fences"},
    RemovableCause{KernelFactor::functions, &prelude::Setting::without_functions,
                   &prelude::Judgement::functions, ", without special functions"}};

inline constexpr std::string_view entry_factor = "entry";
inline constexpr std::string_view not_present = "not present";
/// The fact that says `not_present`, or why a factor is refused.
inline std::string absence_of(std::string_view factor) { return std::string(factor) + "_absence"; }

inline constexpr std::int64_t million = 1'000'000;

/// These numbers, as a document may have them.
struct Observation {
  std::int64_t number{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    constexpr Bounds year_ns{.max = 31'536'000'000'000'000};
    constexpr Bounds part{.max = million};
    for (const std::string_view name : {deterministic_fact, equal_fact}) {
      f.fact(name, number, {.max = 1});
    }
    for (const std::string_view name : {differing_fact, app_share_fact}) f.fact(name, number, part);
    for (const std::string_view name : {app_ns_fact, app_mean_ns_fact, noise_ns_fact}) {
      f.fact(name, number, year_ns);
    }
    for (const std::string_view name : {app_launches_fact, buffer_bytes_fact, last_cache_fact,
                                        padding_fact, resident_fact, noise_amount_fact}) {
      f.fact(name, number, {.max = std::int64_t{1} << 62U});
    }
    for (const std::string_view name : turn_facts) {
      f.fact(name, number, {.min = 1, .max = million * million});
    }
    for (const std::string_view name : level_facts) {
      f.fact(name, number, {.min = 1, .max = std::int64_t{1} << 62U});
    }
  }
};

/// A share that is stored in parts per million.
inline std::optional<double> share_in(const Parameters& facts, std::string_view name) {
  const std::int64_t parts = facts.integer_or(name, -1);
  if (parts < 0) return std::nullopt;
  return static_cast<double>(parts) / static_cast<double>(million);
}

/// Between the kernel's label and what is special about a series of it.
inline constexpr std::string_view label_end = ", ";
inline constexpr std::string_view warm_suffix = ", warm";
inline constexpr std::string_view folded_suffix = ", folded";
inline constexpr std::string_view at_once_suffix = ", by groups at once";
inline constexpr std::string_view whole_waves_suffix = ", whole waves";
inline constexpr std::string_view ending_suffix = ", ending at once";
inline constexpr std::string_view bare_suffix = ", with all gone, beside ";

/// The kernel's label in a series' name.
inline std::string_view label_of(std::string_view series) {
  return series.substr(0, series.find(label_end));
}

}  // namespace clprobe::kernel
