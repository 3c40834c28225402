// SPDX-License-Identifier: Apache-2.0
// Made-up kernels of which each cause of waiting can be taken away by a change of addresses, layout
// or dependences, as a build of a real kernel would: what the ablation method is tried on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "unit/random_traces.hpp"

namespace clprobe::simulator {

enum class Factor : std::uint8_t { memory, l2, bank_conflict, barrier, chain, divergence };
inline constexpr std::size_t factor_count = 6;
std::string_view to_word(Factor factor);

/// A loop that all warps of a work-group run. The counts are those of one turn.
struct RandomKernel {
  std::uint64_t warps{1};
  std::uint64_t turns{1};
  std::uint64_t memory_loads{0};  ///< of lines that nobody has touched
  std::uint64_t l2_loads{0};      ///< of lines that are in the second level only
  std::uint64_t local_loads{0};
  std::int64_t local_stride{1};  ///< in words: so many lanes share a bank, up to 32
  std::uint64_t chain{0};        ///< operations, each on the result of the one before
  std::uint64_t branches{0};     ///< divergent ones
  std::uint64_t uneven_work{0};  ///< special operations of one warp, another one each turn
  bool has_barrier{false};
};

RandomKernel random_kernel(Random& random);
/// Causes that the kernel has, at most five: of six the last is left out.
std::vector<Factor> factors_of(const RandomKernel& kernel);
/// The build without the factors of `idealised`; bit n stands for the n-th of `Factor`. All builds
/// have the same number of instructions.
Trace make_kernel(const Machine& machine, const RandomKernel& kernel, std::uint32_t idealised);

/// What the all-causes view says that taking away each factor would save, as shares of the time, in
/// the order of `Factor`. The view says by whom a cycle was spent, a factor takes away a part of
/// that: of a wait for main memory what is above the latency of the second level, and so on; of
/// waiting for local memory what the conflict adds. What both memory factors only save together is
/// shared by them. A full MSHR counts as waiting for the levels that loads waited for. Waiting for
/// the uneven work is no chain's.
std::array<double, factor_count> expected_shares(const Machine& machine,
                                                 const RandomKernel& kernel);

}  // namespace clprobe::simulator
