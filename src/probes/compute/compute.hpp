// SPDX-License-Identifier: Apache-2.0
// The probe `compute`: operations, points, and the functions that `Probe` points to. Pure, except
// `open`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/compute/operations.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::compute {

/// Returns the operation of a series. Throws std::out_of_range for an unknown name.
const Operation& operation_of(std::string_view series);

/// Part of the device that runs a point: one work-group, or work-groups on all compute units.
enum class Scope { unit, device };
inline constexpr Word<Scope> scope_words[]{{Scope::unit, "unit"}, {Scope::device, "device"}};

inline constexpr int max_chains = 8;
/// Maximum number of sub-groups of a work-group by default.
inline constexpr int max_sub_groups = 32;

struct Shape {
  Scope scope{Scope::unit};
  int chains{1};              ///< independent chains per work-item
  int width{1};               ///< components of a chain's value
  int sub_groups{1};          ///< sub-groups of the only work-group; `unit` only
  int lanes{1};               ///< work-items per sub-group; `unit` only
  int work{1};                ///< 2: twice as much work as 1; `device` only
  Timer timer{Timer::event};  ///< `device` only

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("scope", scope, scope_words);
    f.whole("chains", chains, {.min = 1, .max = max_chains});
    f.whole("width", width, {.min = 1, .max = 16});
    if (scope == Scope::unit) {
      f.whole("sub_groups", sub_groups, {.min = 1, .max = 1024});
      f.whole("lanes", lanes, {.min = 1, .max = 1024});
      f.derived("parallel_chains", chains * sub_groups);
    } else {
      f.whole("work", work, {.min = 1, .max = 2});
      f.word("timer", timer);
    }
  }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Returns the number of work-items and the work-group size of a point's launch.
LaunchSize launch_size(const DeviceInfo& device, const Shape& shape);

/// Returns the number of steps of a chain per loop iteration: a power of two.
std::uint32_t steps_of(const DeviceInfo& device, const Operation& operation, int chains);

/// Returns the build options of a point's kernel.
std::string build_options(const DeviceInfo& device, const Operation& operation, const Shape& shape);

/// Returns the maximum number of iterations of a launch with so many steps per iteration. Operands
/// of mad24 then stay below 2^24.
std::uint64_t max_iterations_of(std::uint32_t steps);

/// Number of different starts of chains.
inline constexpr std::size_t chain_starts = 8;
/// Returns the result of a component of a chain after `steps` steps, for each start.
std::array<std::uint32_t, chain_starts> results_after(const Operation& operation,
                                                      std::uint64_t steps);
/// Returns the sum of the results of all work-groups, from the results of the chains.
std::uint64_t expected_witness(const std::array<std::uint32_t, chain_starts>& results,
                               const Shape& shape, const LaunchSize& size);

/// Returns the findings of the probe. Method: docs/compute.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
Card card(const ProbeResult& result);

extern const Probe probe;

// Functions that `Probe` points to (launch.cpp).
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::compute
