// SPDX-License-Identifier: Apache-2.0
// What one point of the probe `clock` is: a moment while a load goes on. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::clock {

enum class Load { idle, arithmetic, stream, both };
inline constexpr Word<Load> load_words[]{{Load::idle, "idle"},
                                         {Load::arithmetic, "arithmetic"},
                                         {Load::stream, "stream"},
                                         {Load::both, "both"}};

struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  Load load{Load::idle};
};

inline constexpr std::array all_series{
    SeriesSpec{"idle", "after the device was idle", Load::idle},
    SeriesSpec{"arithmetic", "while all units calculate", Load::arithmetic},
    SeriesSpec{"stream", "while all units read memory", Load::stream},
    SeriesSpec{"both", "while one half calculates and one reads", Load::both},
};

/// Why the device's clock cannot be told; empty when it can.
std::string_view missing_on(const DeviceInfo& device);

struct Shape {
  std::uint64_t at_ms{0};    ///< since the load began: when this moment ends
  std::uint64_t slot_ms{0};  ///< for how long this point keeps it going
  Load load{Load::idle};
  Timer timer{Timer::event};
  std::uint64_t buffer_bytes{0};  ///< a fact

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("load", load, load_words);
    f.whole("at_ms", at_ms, {.max = 36'000'000});
    f.whole("slot_ms", slot_ms, {.max = 60000});
    f.word("timer", timer);
    f.fact("buffer_bytes", buffer_bytes);
  }
};

/// A launch: how many work-items, and what each does.
struct Burn {
  std::uint64_t items{1};
  std::uint64_t group{1};
  std::uint32_t vectors{1};  ///< of what is read
  std::uint32_t rounds{1};
  std::uint32_t numbers{0};  ///< turns of arithmetic
  std::uint32_t loads{0};    ///< turns of streaming
};

/// Turns of an inner loop, as in cl/clock.cl.
inline constexpr std::uint32_t unroll = 8;
/// Links of a chain's turn.
inline constexpr std::uint32_t links_of_turn = 64;
/// Cycles of a link: an addition, and an exclusive or that waits for it.
inline constexpr std::uint32_t cycles_of_link = 2;

/// What a work-item reaches. Wrapping.
std::uint32_t expected_end(const Burn& burn, std::uint32_t item);

/// The end of the chain of a CPU's work-item after so many links.
std::uint32_t expected_chain(std::uint32_t item, std::uint64_t links, std::uint32_t more,
                             std::uint32_t mask);

}  // namespace clprobe::clock
