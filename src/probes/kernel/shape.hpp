// SPDX-License-Identifier: Apache-2.0
// What a point of a replayed launch is. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::kernel {

/// What the caches hold when the launch begins: other things, or what the one before left.
enum class Caches { cold, warm };
inline constexpr std::array caches_words{Word{Caches::cold, "cold"}, Word{Caches::warm, "warm"}};

struct Shape {
  std::string bundle{};  ///< its id
  Caches caches{Caches::cold};
  std::uint64_t groups{0};  ///< 0: the driver chooses their size
  Timer timer{Timer::event};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.text("bundle", bundle);
    f.word("caches", caches, caches_words);
    f.whole("groups", groups, {.max = std::int64_t{1} << 40U});
    f.word("timer", timer);
  }
};

// Facts of a point, which the replay found out.
inline constexpr std::string_view deterministic_fact = "deterministic";  ///< 0 or 1
inline constexpr std::string_view differing_fact = "differing_share";  ///< of bytes, in two replays
inline constexpr std::string_view equal_fact = "equal_to_app";         ///< 0 or 1; absent: unknown
inline constexpr std::string_view other_buffers_fact = "other_buffers";  ///< where it is 0: which
// And what the bundle says of the program.
inline constexpr std::string_view app_ns_fact = "app_ns";  ///< of this launch
inline constexpr std::string_view app_mean_ns_fact = "app_mean_ns";
inline constexpr std::string_view app_share_fact = "app_share";
inline constexpr std::string_view app_launches_fact = "app_launches";

/// Between the kernel's label and what is special about a series of it.
inline constexpr std::string_view label_end = ", ";
inline constexpr std::string_view warm_suffix = ", warm";

/// The kernel's label in a series' name.
inline std::string_view label_of(std::string_view series) {
  return series.substr(0, series.find(label_end));
}

}  // namespace clprobe::kernel
