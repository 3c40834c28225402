// SPDX-License-Identifier: Apache-2.0
// The probe `clock`: a point is a moment under a load. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    SeriesSpec{"idle", "idle device", Load::idle},
    SeriesSpec{"arithmetic", "all compute units calculating", Load::arithmetic},
    SeriesSpec{"stream", "all compute units reading memory", Load::stream},
    SeriesSpec{"both", "half of the compute units calculating, half reading memory", Load::both},
};

/// Method of counting a device's cycles, and the clock that times these cycles.
enum class Counting {
  none,
  chain,   ///< CPUs: a chain of operations that take one cycle each, timed by a constant-rate
           ///< clock
  steady,  ///< the kernel reads a cycle counter and a constant-rate counter
  event,   ///< the kernel reads a cycle counter; the launches are timed by events
};

Counting counting_of(const DeviceInfo& device);
/// Returns the reason why the device's clock cannot be measured. If the clock can be measured,
/// returns an empty string.
std::string_view missing_on(const DeviceInfo& device);

struct Shape {
  std::uint64_t time_ms{0};  ///< end of the moment since the start of the load
  std::uint64_t slot_ms{0};  ///< length of the moment
  Load load{Load::idle};
  Timer timer{Timer::event};
  std::uint64_t buffer_bytes{0};  ///< size of the buffer; a fact

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("load", load, load_words);
    f.whole("time_ms", time_ms, {.max = 36'000'000});
    f.whole("slot_ms", slot_ms, {.max = 60000});
    f.word("timer", timer);
    f.fact("buffer_bytes", buffer_bytes);
  }
};

/// Facts of a moment in addition to its cycles. A fact is 0 if unknown.
struct Observation {
  std::uint64_t operations{0};   ///< products and fused products in the moment's launches
  std::uint64_t moved_bytes{0};  ///< bytes that the moment's launches move
  std::uint64_t launched_ns{0};  ///< sum of the times of the moment's launches
  std::uint64_t power_mw{0};     ///< mean power since the previous reading of the meter

  template <typename Visitor>
  void visit(Visitor& f) {
    f.fact("operations", operations, {.max = std::int64_t{1} << 60U});
    f.fact("moved_bytes", moved_bytes, {.max = std::int64_t{1} << 60U});
    f.fact("launched_ns", launched_ns, {.max = std::int64_t{1} << 60U});
    f.fact("power_mw", power_mw);
  }
};

/// Fact of the first moment: the reason why power cannot be read.
inline constexpr std::string_view no_power_fact = "no_power";

/// Launch: its work-items and their work.
struct Burn {
  std::uint64_t items{1};
  std::uint64_t group{1};
  std::uint32_t vectors{1};  ///< vectors of the buffer that is read
  std::uint32_t first{0};    ///< first vector of the first work-item
  std::uint32_t apart{1};    ///< distance between the first vectors of consecutive work-items
  std::uint32_t step{1};     ///< distance between consecutive vectors of a work-item
  std::uint32_t rounds{1};
  std::uint32_t numbers{0};  ///< iterations of arithmetic per round
  std::uint32_t loads{0};    ///< iterations of streaming per round
  std::uint32_t links{0};    ///< iterations of a chain after each round

  friend bool operator==(const Burn&, const Burn&) = default;
};

/// Returns the launch for a device and a buffer of `size`, with `numbers` and `loads` still 0.
Burn launch_shape(const DeviceInfo& device, Bytes size);
/// Returns the maximum of `numbers` and of `loads`. The iterations of all rounds together then stay
/// below the limit at which drivers end loops.
std::uint32_t max_turns(const DeviceInfo& device);

/// Number of steps per iteration, as in cl/clock.cl.
inline constexpr std::uint32_t unroll = 8;
/// Number of operations per step: a product and a fused product for each of four sequences.
inline constexpr std::uint32_t operations_of_step = 8;
/// Number of links of a chain per iteration.
inline constexpr std::uint32_t links_of_turn = 64;
/// Number of cycles per link on a CPU. A link is an addition, and an exclusive or that depends on
/// its result.
inline constexpr std::uint32_t cycles_of_link = 2;

/// Returns the number of operations of a launch. With both loads, half of the work-groups run
/// arithmetic.
std::uint64_t operations_of(const Burn& burn);
/// Returns the number of bytes that a launch reads. With both loads, half of the work-groups
/// stream.
std::uint64_t moved_bytes_of(const Burn& burn);

/// Returns the final number of a work-item, modulo 2^32.
std::uint32_t expected_end(const Burn& burn, std::uint32_t item);

/// Returns the final value of a chain of `links` links. The chain begins with the number of the
/// work-item.
std::uint32_t expected_chain(std::uint32_t item, std::uint64_t links, std::uint32_t more,
                             std::uint32_t mask);

extern const Probe probe;

/// Power readings in watts of the last third of each load, by series.
using Readings = std::map<std::string, std::vector<double>>;

/// Adds what a byte and an operation cost in joules, from the findings of power and throughput.
void add_energy(Findings& found, const Readings& readings);

/// Returns "119–700 W", or a single number if all values are equal. Returns "119 W idle" if no
/// load has a power.
std::string power_text(const ProbeResult& result);

/// Returns "129 pJ per byte read, 11.4 pJ per operation"; empty without these findings.
std::string energy_text(const ProbeResult& result);

/// Returns the findings of the probe. Method: docs/clock.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

// Functions that `Probe` points to (launch.cpp).
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::clock
