// SPDX-License-Identifier: Apache-2.0
// A case of --case: a kernel with its points, its launch and its findings (stalls.cpp lists them);
// the causes that kernels wait for, and their clocks. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/shared/bounds.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/wanted_series.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::stalls {

/// The resource that a cause or a kind of noise loads. `waiting`: a delay that keeps nothing busy,
/// such as a barrier or a dependency chain.
enum class Resource : std::uint8_t { waiting, arithmetic, local_memory, cache, memory };

/// A cause that an argument of the kernel removes.
enum class Cause {
  main_memory,    ///< loads from main memory hit what the caches hold
  second_cache,   ///< loads that the caches hold hit the first-level cache
  beyond_first,   ///< both of these, where the device's memory is too small to tell them apart
  bank_conflict,  ///< lanes that meet in one bank
  barrier,        ///< waiting at a barrier
  chain,          ///< operations that wait for each other
  divergence,     ///< lanes that take turns
  // Causes of a unit that takes nothing more:
  serial_requests,  ///< lanes of one instruction that are lines apart
  store_buffer,     ///< stores
  release,          ///< a fence behind stores
  function_unit,    ///< special functions
};

/// GSI's name: "memory data: main memory".
std::string_view label_of(Cause cause);
std::string_view to_word(Cause cause);
/// The resource that the cause keeps busy.
Resource resource_of(Cause cause);

/// Returns the causes in a point's parameter `factors` ("main-memory,chain"). Throws
/// std::out_of_range for a word that is no cause.
std::vector<Cause> causes_in(std::string_view words);
/// Returns "main-memory,chain", as `causes_in` reads it.
std::string joined(std::span<const Cause> causes);

/// The causes that must be removed before each of these, as AblationOptions::needs: loads come from
/// the second-level cache once they no longer come from main memory; stores have a cost of their
/// own once their lanes are side by side and no fence waits for them.
std::vector<std::uint32_t> needs_of(std::span<const Cause> causes);

/// The causes of a kernel that a point is without.
struct Ablated {
  std::string factors{};       ///< as `joined` writes them
  std::uint32_t idealised{0};  ///< bit i: the i-th of them is removed

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("factors", factors);
    fields.whole("idealised", idealised, {.max = (1 << max_factors) - 1});
  }

  /// Throws std::out_of_range where `factors` names no causes.
  [[nodiscard]] bool has_taken(Cause cause) const;
};

/// The point without each set of its causes that can be removed. Throws std::out_of_range for a
/// point without causes.
std::vector<Point> with_all_sets(const Point& usual);

/// The most iterations of a launch after `first` turns of other loops, with `turns` of the inner
/// loops in each iteration. Only drivers that cut loops count inner loops (shared/launch_size.hpp).
inline std::uint64_t fitting_turns(const DeviceInfo& device, std::uint64_t first,
                                   std::uint64_t turns) {
  if (!may_cut_loops(device)) return max_iterations;
  const std::uint64_t room = max_iterations - std::min(max_iterations, first);
  return std::max<std::uint64_t>(1, room / turns);
}

/// The wanted time of a launch, and its possible numbers of iterations.
struct Length {
  std::uint64_t target_ns{0};
  std::uint64_t few{1};
  std::uint64_t most{1};
  bool begins_cold{false};  ///< the start of a launch takes long compared with a few iterations
};

/// The iterations that take `target_ns`, if `count` iterations took the time of the sample.
inline std::uint64_t iterations_for(std::uint64_t target_ns, std::uint64_t count,
                                    const Sample& sample) {
  // A launch whose event reports a smaller share of the host's time has a wrong event.
  constexpr std::uint64_t min_share = 16;
  const std::uint64_t event_ns = sample.event_ns.value_or(0);
  const std::uint64_t taken_ns = event_ns > sample.host_ns / min_share ? event_ns : sample.host_ns;
  return taken_ns == 0 ? count : target_ns * count / taken_ns;
}

/// The iterations that make a launch as long as wanted. A few iterations may mostly take the start
/// of the launch and loads into empty caches: on an H200, launches of a kernel with few waits were
/// a fifth as long as wanted, which left 1.3 % of the time of the kernel unattributed.
inline std::uint64_t fitting_iterations(const Length& length,
                                        const std::function<Sample(std::uint64_t)>& run) {
  const auto fitted_to = [&](std::uint64_t count) {
    return std::clamp(iterations_for(length.target_ns, count, run(count)), length.few,
                      std::max(length.few, length.most));
  };
  const std::uint64_t first = fitted_to(length.few);
  return length.begins_cold && first > length.few ? fitted_to(first) : first;
}

// Constants of cl/stalls.cl, which must equal these.
inline constexpr std::uint32_t line_words = 32;
inline constexpr std::uint32_t tile_words = 1024;
/// The factor and the bits of an operation, which are arguments so that no compiler knows them.
inline constexpr std::uint32_t step_multiplier = 747796405;
inline constexpr std::uint32_t step_addend = 0x9e3779b9;

/// An operation of a kernel (STEP).
inline std::uint32_t step(std::uint32_t x, std::uint32_t addend = step_addend) {
  return (x * step_multiplier) ^ addend;
}
/// The generator of lines (NEXT).
inline std::uint32_t next_state(std::uint32_t state) { return state * 1664525 + 1013904223; }

struct Shared;  // launch.hpp; sees OpenCL

/// The probe's options and limits.
struct Options {
  std::vector<std::string> cases{};  ///< empty: all
  Effort effort{Effort::normal};
  Bytes last_cache{};
  Bytes max_memory{};  ///< 0: the probe's choice
  Bytes max_data{};    ///< part of it for the array that is loaded; 0: the probe's choice

  explicit Options(const Request& request)
      : cases(request.own.words("case")),
        effort(request.effort),
        last_cache(request.known.last_cache),
        max_memory(request.max_memory),
        max_data(request.max_memory) {}

  /// True if a case is to run; some run only on request.
  [[nodiscard]] bool wants(std::string_view name, bool is_on_request) const {
    if (cases.empty() && is_on_request) return effort == Effort::thorough;
    return is_wanted(cases, name);
  }
};

/// Bytes of the buffers that points share; `own` belongs to a point alone.
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
  /// All but the arrays, whose sizes are a choice.
  [[nodiscard]] std::uint64_t beside() const { return results + stamps + own; }
  [[nodiscard]] std::uint64_t total() const { return data + copies + beside(); }
};

/// The points of one bar, which is one series.
using Points = std::vector<const Point*>;

struct Case {
  std::string_view name{};    ///< for --case, and the points' parameter `case`
  std::string_view what{};    ///< the work of its kernel, for the manual
  bool is_on_request{false};  ///< runs only if named, or with --thorough
  std::vector<Point> (*points)(const DeviceInfo&, const Options&){nullptr};
  Memory (*memory)(const Point&){nullptr};
  /// The build options of the kernel.
  std::string (*options)(const DeviceInfo&, const Point&){nullptr};
  /// Throws DeviceError, Unsupported and cl::Error.
  Work (*prepare)(Shared&, const Point&){nullptr};
  /// Adds the findings of a bar's points.
  void (*analyse)(std::string_view bar, const Points&, const DeviceInfo&,
                  std::vector<Finding>&){nullptr};
};

/// In the order in which they are planned.
std::span<const Case> all_cases();
/// Returns the case of that name; null when there is none.
const Case* find_case(std::string_view name);

/// Sizes of arrays whose loads hit main memory, the second-level cache and the first; powers of
/// two.
struct WorkingSets {
  std::uint64_t far_bytes{0};
  std::uint64_t near_bytes{0};
  std::uint64_t first_bytes{0};
  bool is_lumped{false};  ///< memory is too small to exceed the caches

  [[nodiscard]] static WorkingSets of(const DeviceInfo& device, const Options& requested);
};

/// Smallest array that is to exceed all caches.
inline constexpr Bytes min_far_bytes = kibibytes(16);

/// The largest group of at most `at_most` work-items that is a power of two.
std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most);

/// Phases that stamps measure. `barrier`: the time that a sub-group waits at barriers, in the mean
/// over sub-groups, and `all`: its whole time, by the clock of its compute unit. `tail`: the mean
/// time from the end of a part of the launch to the end of the last one; `longest-tail`: that time
/// of the part that ended first; `span`: the time from the first beginning to the last end.
inline constexpr std::string_view phase_barrier = "barrier";
inline constexpr std::string_view phase_all = "all";
inline constexpr std::string_view phase_tail = "tail";
inline constexpr std::string_view phase_longest_tail = "longest-tail";
inline constexpr std::string_view phase_span = "span";

/// The timer of kernels: on a GPU, launches. A CPU has a group on each core, and other processes
/// delay single groups and with them the launch: on a virtual machine with 16 cores, two of which
/// the host sometimes ran on one, launches took twice as long for seconds, and most groups did not.
/// If its groups share a clock, that clock times each of them, and the median counts.
Timer timer_of_kernels(const DeviceInfo& device);

/// True if a clock in the kernel times a point: its phase or, without one, its median group.
bool has_stamps(const Point& point);

/// The point with the clock of one phase.
Point with_phase(const Point& usual, std::string_view phase);

/// Adds the phases `tail`, `longest-tail` and `span` if the device's groups share a clock.
void add_tail(std::vector<Point>& points, const Point& usual, const DeviceInfo& device);

/// The words that each part of a launch stores (cl/stalls_mixed.clh).
struct Stamp {
  std::uint64_t began{0};
  std::uint64_t ended{0};
  std::uint64_t waited{0};
  std::uint64_t shared_began{0};  ///< by the clock that all groups share
  std::uint64_t shared_ended{0};
};

/// True if cl/stamps.clh has a clock that all groups of this device share.
bool has_shared_clock(const DeviceInfo& device);

/// Ticks of the device's clock in one tick of the shared one, which counts nanoseconds on NVIDIA's
/// devices.
double ticks_of_shared(const DeviceInfo& device);

/// The ticks of a phase of a launch; 0 for another word, or if a clock ran backwards. `tail`,
/// `longest-tail` and `span` count ticks of the shared clock.
double phase_ticks(std::string_view phase, std::span<const Stamp> stamps);

/// The median time of a group from beginning to end. `groups`: a stamp each.
double ticks_of_middle(std::span<const Stamp> groups);

/// The stamps of a group's parts as one, from the first beginning to the last end, for devices that
/// run work-items one after another.
Stamp as_one(std::span<const Stamp> group);

}  // namespace clprobe::stalls
