// SPDX-License-Identifier: Apache-2.0
// Cases of the probe `stalls`. A case of --case is a kernel with its points, its launch and its
// findings; stalls.cpp lists all cases. Also the causes that kernels wait for, and their clocks.
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::stalls {

/// Resource that a cause or a kind of noise loads. `waiting`: a delay that keeps no resource busy,
/// such as a barrier or a dependency chain.
enum class Resource : std::uint8_t { waiting, arithmetic, local_memory, cache, memory };

/// Cause of waiting that an argument of the kernel removes.
enum class Cause {
  main_memory,   ///< loads from main memory, which hit caches if the cause is removed
  second_cache,  ///< loads from L2, which hit L1 if the cause is removed
  /// `main_memory` and `second_cache` as one cause, if memory is too small to distinguish these
  /// causes.
  beyond_first,
  bank_conflict,  ///< lanes that access different words of one bank
  barrier,        ///< waiting at a barrier
  chain,          ///< operations that depend on each other
  divergence,     ///< only some lanes of a sub-group are active at a time
  // Causes in which a unit accepts no more requests:
  serial_requests,  ///< lanes of one instruction that access different lines
  store_buffer,     ///< stores that wait for a free entry of the store buffer
  release,          ///< a fence after stores
  function_unit,    ///< special functions that wait for their pipelines
};

/// Returns the cause's name in GSI: "memory data: main memory".
std::string_view label_of(Cause cause);
std::string_view to_word(Cause cause);
Resource resource_of(Cause cause);
/// Returns the cause with this name in GSI; nothing for another text.
std::optional<Cause> cause_called(std::string_view label);

/// Returns the causes that a point's parameter `factors` lists ("main-memory,chain"). Throws
/// std::out_of_range for a word that is no cause.
std::vector<Cause> causes_in(std::string_view words);
/// Returns the list of causes ("main-memory,chain"), which `causes_in` reads.
std::string joined(std::span<const Cause> causes);

/// Returns for each cause the causes that must be removed first, as AblationOptions::needs. Loads
/// come from the second-level cache only after main memory is removed. Stores have a cost of their
/// own only after scattered lanes and fences are removed.
std::vector<std::uint32_t> needs_of(std::span<const Cause> causes);

/// Causes of a kernel, and the causes that a point's build lacks.
struct Ablated {
  std::string factors{};       ///< causes of stalls in the kernel, as a list that `joined` writes
  std::uint32_t idealised{0};  ///< bit i: the i-th cause is removed

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("factors", factors);
    fields.whole("idealised", idealised, {.max = (1 << max_factors) - 1});
  }

  /// Returns true if the cause is removed. Throws std::out_of_range if `factors` has an unknown
  /// cause.
  [[nodiscard]] bool is_removed(Cause cause) const;
};

/// Returns one point for each set of causes that can be removed. Throws std::out_of_range for a
/// point without causes.
std::vector<Point> with_all_sets(const Point& usual);

/// Returns the maximum number of iterations of a launch. `first`: iterations of a loop before the
/// main loop. `inner`: iterations of all loops per iteration of the main loop, at least 1. Both
/// count only on drivers that end long loops (shared/launch_size.hpp).
inline std::uint64_t max_fitting_iterations(const DeviceInfo& device, std::uint64_t first,
                                            std::uint64_t inner) {
  if (!may_cut_loops(device)) return max_iterations;
  const std::uint64_t room = max_iterations - std::min(max_iterations, first);
  return std::max<std::uint64_t>(1, room / inner);
}

/// Target time of a launch, and the limits of its iterations.
struct Length {
  std::uint64_t target_ns{0};
  std::uint64_t few{1};
  std::uint64_t most{1};
  bool begins_cold{false};  ///< true if starting a launch takes long compared with `few` iterations
};

/// Returns the number of iterations that take `target_ns`, if `count` iterations took the sample's
/// time.
inline std::uint64_t iterations_for(std::uint64_t target_ns, std::uint64_t count,
                                    const Sample& sample) {
  // An event time below 1/16 of the host's time is wrong.
  constexpr std::uint64_t min_share = 16;
  const std::uint64_t event_ns = sample.event_ns.value_or(0);
  const std::uint64_t taken_ns = event_ns > sample.host_ns / min_share ? event_ns : sample.host_ns;
  return taken_ns == 0 ? count : target_ns * count / taken_ns;
}

/// Returns the number of iterations whose launch takes the target time. The time of `few`
/// iterations may mostly be the start of the launch and loads into empty caches. With
/// `begins_cold`, a second launch corrects the fit. Without this launch, launches on an H200 took a
/// fifth of the target time, and 1.3 % of the kernel's time remained unattributed.
inline std::uint64_t fitting_iterations(const Length& length,
                                        const std::function<Sample(std::uint64_t)>& run) {
  const auto fitted_to = [&](std::uint64_t count) {
    return std::clamp(iterations_for(length.target_ns, count, run(count)), length.few,
                      std::max(length.few, length.most));
  };
  const std::uint64_t first = fitted_to(length.few);
  return length.begins_cold && first > length.few ? fitted_to(first) : first;
}

// Constants that cl/stalls.cl repeats.
inline constexpr std::uint32_t line_words = 32;
inline constexpr std::uint32_t tile_words = 1024;
/// Factor and addend of an operation. Kernels get the factor and the addend as arguments, so that
/// compilers do not know the values.
inline constexpr std::uint32_t step_multiplier = 747796405;
inline constexpr std::uint32_t step_addend = 0x9e3779b9;

/// Returns the result of an operation of a kernel (macro STEP).
inline std::uint32_t step(std::uint32_t x, std::uint32_t addend = step_addend) {
  return (x * step_multiplier) ^ addend;
}
/// Returns the next state of the generator that chooses lines (macro NEXT).
inline std::uint32_t next_state(std::uint32_t state) { return state * 1664525 + 1013904223; }

struct Shared;  // defined in launch.hpp, which uses OpenCL

struct Options {
  std::vector<std::string> cases{};  ///< names of the cases to run; empty: all
  Effort effort{Effort::normal};
  Bytes last_cache{};
  Bytes max_memory{};  ///< maximum size of all buffers; 0: the probe's choice
  Bytes max_data{};    ///< maximum size of the array that kernels load from; 0: the probe's choice

  explicit Options(const Request& request)
      : cases(request.own.words("case")),
        effort(request.effort),
        last_cache(request.known.last_cache),
        max_memory(request.max_memory),
        max_data(request.max_memory) {}

  /// Returns true if a case is to run. A case on request runs only if it is named or with
  /// --thorough.
  [[nodiscard]] bool wants(std::string_view name, bool is_on_request) const {
    if (cases.empty() && is_on_request) return effort == Effort::thorough;
    return is_wanted(cases, name);
  }
};

/// Sizes in bytes of the buffers that points share. `own`: size of the buffers of a single point.
struct Memory {
  std::uint64_t data{0};
  std::uint64_t copies{0};
  std::uint64_t results{0};
  std::uint64_t stamps{0};
  std::uint64_t own{0};

  void include(const Memory& other) {
    data = std::max(data, other.data);
    copies = std::max(copies, other.copies);
    results = std::max(results, other.results);
    stamps = std::max(stamps, other.stamps);
    own = std::max(own, other.own);
  }
  /// Returns the bytes of all buffers except the arrays, whose sizes can be chosen.
  [[nodiscard]] std::uint64_t without_arrays() const { return results + stamps + own; }
  [[nodiscard]] std::uint64_t total() const { return data + copies + without_arrays(); }
};

/// Points of a bar, which is a series.
using Points = std::vector<const Point*>;

struct Case {
  std::string_view name{};    ///< word for --case and for the points' parameter `case`
  std::string_view what{};    ///< work of the kernel, for the manual
  bool is_on_request{false};  ///< true if the case runs only if named, or with --thorough
  std::vector<Point> (*points)(const DeviceInfo&, const Options&){nullptr};
  Memory (*memory)(const Point&){nullptr};
  std::string (*options)(const DeviceInfo&, const Point&){nullptr};
  /// Prepares a point. Throws DeviceError, Unsupported and cl::Error.
  Work (*prepare)(Shared&, const Point&){nullptr};
  void (*analyse)(std::string_view bar, const Points&, const DeviceInfo&,
                  std::vector<Finding>&){nullptr};
};

/// Returns all cases in the order of their plan.
std::span<const Case> all_cases();
const Case* find_case(std::string_view name);

/// Sizes of arrays whose loads hit main memory, the second-level cache, and the first-level cache.
/// All sizes are powers of two.
struct WorkingSets {
  std::uint64_t far_bytes{0};
  std::uint64_t near_bytes{0};
  std::uint64_t first_bytes{0};
  bool is_combined{false};  ///< true if `far_bytes` is too small to exceed all caches

  [[nodiscard]] static WorkingSets of(const DeviceInfo& device, const Options& requested);
};

/// Minimum size of the array that is to exceed all caches.
inline constexpr Bytes min_far_bytes = kibibytes(16);

/// Returns the size of the largest group that is a power of two and at most `at_most`.
std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most);

/// Phases that stamps measure. `barrier`: mean time that a sub-group waits at barriers. `all`: mean
/// whole time of a sub-group by the clock of its compute unit. `tail`: mean time from the end of a
/// part of the launch to the last end. `longest-tail`: the tail of the part that ended first.
/// `span`: time from the first beginning to the last end.
inline constexpr std::string_view phase_barrier = "barrier";
inline constexpr std::string_view phase_all = "all";
inline constexpr std::string_view phase_tail = "tail";
inline constexpr std::string_view phase_longest_tail = "longest-tail";
inline constexpr std::string_view phase_span = "span";

/// Returns the timer of kernels. A GPU times launches. A CPU whose groups share a clock times each
/// group with that clock, and the median group counts. A CPU runs a group on each core, and other
/// processes delay some groups and thus the whole launch. For example, a host sometimes ran two of
/// the 16 cores of a virtual machine on one core. For seconds, launches then took twice as long,
/// but most groups did not.
Timer timer_of_kernels(const DeviceInfo& device);

/// True if a clock in the kernel times a point: its phase or, without a phase, its median group.
bool has_stamps(const Point& point);

Point with_phase(const Point& usual, std::string_view phase);

/// Adds the phases `tail`, `longest-tail` and `span` if the device's groups share a clock.
void add_tail(std::vector<Point>& points, const Point& usual, const DeviceInfo& device);

/// Clock readings that each part of a launch stores (cl/stalls_mixed.clh).
struct Stamp {
  std::uint64_t began{0};
  std::uint64_t ended{0};
  std::uint64_t waited{0};
  std::uint64_t shared_began{0};  ///< beginning by the clock that all groups share
  std::uint64_t shared_ended{0};
};

/// True if cl/stamps.clh has a clock that all groups of this device share.
bool has_shared_clock(const DeviceInfo& device);

/// Returns the ticks of the device's clock in one tick of the shared clock, which counts
/// nanoseconds on NVIDIA's devices.
double ticks_of_shared(const DeviceInfo& device);

/// Returns the ticks of a phase of a launch; 0 for an unknown phase, without stamps, or if a clock
/// ran backwards. `tail`, `longest-tail` and `span` count ticks of the shared clock.
double phase_ticks(std::string_view phase, std::span<const Stamp> stamps);

/// Returns the median time of a group in ticks of the shared clock. `groups`: one stamp per group.
double median_group_ticks(std::span<const Stamp> groups);

/// Returns one stamp for all given stamps, at least one: the first beginning, the last end, and the
/// mean wait.
Stamp merge_stamps(std::span<const Stamp> group);

}  // namespace clprobe::stalls
