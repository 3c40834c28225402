// SPDX-License-Identifier: Apache-2.0
// How a kernel's groups fill the device: how many run at once, what fewer at once cost, and what
// the last, partly filled wave of them costs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/kernel_causes.hpp"

namespace clprobe {

/// Launches of the whole kernel with local memory that nothing uses.
struct ResidentTime {
  std::uint64_t resident_groups{0};  ///< at once, on the device, as counted
  std::uint64_t padding_bytes{0};    ///< of local memory, for each group
  Visits visits_ns{};
};

/// A share of the kernel's time, or why there is none.
struct PlaceCost {
  CauseState state{CauseState::not_resolved};
  Cost cost{};
  double share{0.0};
  Interval share_interval{};
  std::string reason{};  ///< why there is no value, or what else is to be known; no full stop
};

/// What the kernel takes longer with fewer groups at once.
struct Occupancy {
  std::uint64_t resident_groups{0};  ///< as the kernel is
  std::uint64_t fewer_groups{0};     ///< that it was compared with; 0: there are none
  PlaceCost fewer{};
};

/// `times` in any order; the one with the least padding is the kernel as it is. Compared are the
/// most groups that are at most half as many, else the fewest there are. Nothing for no times.
std::optional<Occupancy> find_occupancy(std::span<const ResidentTime> times);

/// What the kernel gains if all of its groups took as long as those of its whole waves do.
struct Tail {
  std::uint64_t whole_waves{0};
  std::uint64_t rest_groups{0};  ///< in the last wave
  PlaceCost last_wave{};
};

/// A launch of this many whole waves says nothing about its last one, which is a part of the time
/// that noise hides.
inline constexpr std::uint64_t max_waves = 64;

/// How many groups the launch of whole waves has; 0 where none is worth a launch.
std::uint64_t groups_of_whole_waves(std::uint64_t groups, std::uint64_t resident_groups);

/// `whole_ns`: launches of `groups_of_whole_waves`. Nothing where no group was counted.
std::optional<Tail> find_tail(std::uint64_t groups, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns);

/// What the kernel takes whatever its groups do.
struct Starting {
  PlaceCost launch{};  ///< of which one group ends at once
  PlaceCost groups{};  ///< starting and ending all of them, beyond that
};

/// `one_ns`, `all_ns`: launches of one group and of all, which end at once. Nothing where there are
/// none; with `all_ns` empty the kernel has one group alone.
std::optional<Starting> find_starting(const Visits& kernel_ns, const Visits& one_ns,
                                      const Visits& all_ns);

/// Launches with noise of one kind beside the kernel, by what the noise takes by itself; the first
/// one has groups beside that end at once.
struct NoiseTimes {
  std::string_view name{};
  std::vector<NoisePoint> points{};
};

/// How much of that noise the kernel does not feel. `state` is `refused` where too little was
/// measured, or where groups beside it that do nothing change the kernel.
struct Absorbed {
  std::string_view name{};
  PlaceCost free{};  ///< the share of the kernel's time; at least, as noise takes places as well
};

/// `kernel_ns`: the kernel with an entry and nothing beside it.
std::vector<Absorbed> find_absorbed(std::span<const NoiseTimes> noise, const Visits& kernel_ns);

struct KernelPlaces {
  std::uint64_t groups{0};  ///< of the launch
  double ratio{1.0};        ///< of the kernel with an entry to the kernel as it is
  std::string doubt{};      ///< why nothing else is believed; one line, without a full stop
  std::optional<Occupancy> occupancy{};
  std::optional<Tail> tail{};
  std::optional<Starting> starting{};
  std::vector<Absorbed> noise{};
  std::optional<double> app_share{};  ///< of the program's device time
};

/// One sentence on the largest of all that was found.
std::string kernel_advice(const KernelCauses& causes, const KernelPlaces& places);

}  // namespace clprobe
