// SPDX-License-Identifier: Apache-2.0
// What the probe measures: kernels, each a case of --case, with its points, its launch and its
// findings (stalls.cpp lists them); the causes that they wait for, and their clocks. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/shared/bounds.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/wanted_series.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::stalls {

/// A cause that an argument of the kernel takes away.
enum class Cause {
  main_memory,    ///< loads from main memory hit what the caches hold
  second_cache,   ///< loads that the caches hold hit the first-level cache
  beyond_first,   ///< both of these, where the device's memory is too small to tell them apart
  bank_conflict,  ///< lanes that meet in one bank
  barrier,        ///< waiting at a barrier
  chain,          ///< operations that wait for each other
  divergence,     ///< lanes that take turns
  // A unit takes nothing more:
  serial_requests,  ///< lanes of one instruction that are lines apart
  store_buffer,     ///< stores
  release,          ///< a fence behind stores
  function_unit,    ///< special functions
};

/// GSI's name: "memory data: main memory".
std::string_view label_of(Cause cause);
std::string_view to_word(Cause cause);
/// What the cause keeps busy.
Resource resource_of(Cause cause);

/// "main-memory,chain" of a point's parameter `factors`. Throws std::out_of_range for a word that
/// is no cause.
std::vector<Cause> causes_in(std::string_view words);
/// "main-memory,chain", as `causes_in` reads it.
std::string joined(std::span<const Cause> causes);

/// What must be gone before each of them can be, as AblationOptions has it: the loads that no
/// longer come from main memory come from the second-level cache; stores still cost something when
/// their lanes are side by side, or nothing waits for them, and nothing at all when they are gone.
std::vector<std::uint32_t> needs_of(std::span<const Cause> causes);

/// Which causes of a kernel a point has taken away.
struct Ablated {
  std::string factors{};       ///< as `joined` writes them
  std::uint32_t idealised{0};  ///< bit i: the i-th of them has been taken away

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("factors", factors);
    fields.whole("idealised", idealised, {.max = (1 << max_factors) - 1});
  }

  /// Throws std::out_of_range where `factors` names no causes.
  [[nodiscard]] bool has_taken(Cause cause) const;
};

/// The same point with each set of its causes taken away that can be. Throws std::out_of_range for
/// a point without them.
std::vector<Point> with_all_sets(const Point& usual);

/// The most iterations of a launch after `first` turns of other loops, with `turns` of the inner
/// loops in each iteration. Only drivers that cut loops count inner loops (shared/launch_size.hpp).
inline std::uint64_t fitting_turns(const DeviceInfo& device, std::uint64_t first,
                                   std::uint64_t turns) {
  if (!may_cut_loops(device)) return max_iterations;
  const std::uint64_t room = max_iterations - std::min(max_iterations, first);
  return std::max<std::uint64_t>(1, room / turns);
}

/// How long a launch is to take, and how many iterations it may have.
struct Length {
  std::uint64_t target_ns{0};
  std::uint64_t few{1};
  std::uint64_t most{1};
  bool begins_cold{false};  ///< the start of a launch is long beside a few iterations
};

/// As many iterations as take so long, when so many of them took what the sample says.
inline std::uint64_t iterations_for(std::uint64_t target_ns, std::uint64_t count,
                                    const Sample& sample) {
  // An event that says less than this of what the host waited is none of the launch.
  constexpr std::uint64_t min_share = 16;
  const std::uint64_t event_ns = sample.event_ns.value_or(0);
  const std::uint64_t taken_ns = event_ns > sample.host_ns / min_share ? event_ns : sample.host_ns;
  return taken_ns == 0 ? count : target_ns * count / taken_ns;
}

/// As many iterations as make a launch so long. Of a few the start of the launch and loads into
/// caches that begin empty may be most: on an H200 launches of a kernel that waits for little were
/// a fifth as long as they were to be, and 1.3 % of the time of the kernel that waits was taken for
/// what no cause explains.
inline std::uint64_t fitting_iterations(const Length& length,
                                        const std::function<Sample(std::uint64_t)>& run) {
  const auto fitted_to = [&](std::uint64_t count) {
    return std::clamp(iterations_for(length.target_ns, count, run(count)), length.few,
                      std::max(length.few, length.most));
  };
  const std::uint64_t first = fitted_to(length.few);
  return length.begins_cold && first > length.few ? fitted_to(first) : first;
}

struct Shared;  // launch.hpp; sees OpenCL

/// The probe's options, and what it may take.
struct Options {
  std::vector<std::string> cases{};  ///< empty: all
  Effort effort{Effort::normal};
  Bytes last_cache{};
  Bytes max_memory{};  ///< 0: the probe's choice
  Bytes max_data{};    ///< of that, for the array that loads go to; 0: the probe's choice

  explicit Options(const Request& request)
      : cases(request.own.words("case")),
        effort(request.effort),
        last_cache(request.known.last_cache),
        max_memory(request.max_memory),
        max_data(request.max_memory) {}

  /// Of a case that is run on request alone, or not.
  [[nodiscard]] bool wants(std::string_view name, bool is_on_request) const {
    if (cases.empty() && is_on_request) return effort == Effort::thorough;
    return is_wanted(cases, name);
  }
};

/// Bytes that points hold, by the buffer that they share; `own` is free again with the point.
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
  /// All but the arrays, whose sizes can be chosen.
  [[nodiscard]] std::uint64_t beside() const { return results + stamps + own; }
  [[nodiscard]] std::uint64_t total() const { return data + copies + beside(); }
};

/// The points of one bar: of one series.
using Points = std::vector<const Point*>;

struct Case {
  std::string_view name{};      ///< for --case, and the points' parameter `case`
  std::string_view formerly{};  ///< its name in older documents; empty: the same
  std::string_view what{};      ///< what its kernel does, for the manual
  bool is_on_request{false};    ///< runs where it is named, or time is given: --thorough
  std::vector<Point> (*points)(const DeviceInfo&, const Options&){nullptr};
  Memory (*memory)(const Point&){nullptr};
  /// How the kernel is built.
  std::string (*options)(const DeviceInfo&, const Point&){nullptr};
  /// Throws DeviceError, Unsupported and cl::Error.
  Work (*prepare)(Shared&, const Point&){nullptr};
  /// Adds what a bar's points say.
  void (*analyse)(std::string_view bar, const Points&, const DeviceInfo&,
                  std::vector<Finding>&){nullptr};
};

/// In the order in which they are planned.
std::span<const Case> all_cases();
/// By its name, or its name in older documents; null when there is none.
const Case* find_case(std::string_view name);

/// Arrays of which loads hit main memory, the second-level cache, and the first. All powers of two.
struct WorkingSets {
  std::uint64_t far_bytes{0};
  std::uint64_t near_bytes{0};
  std::uint64_t first_bytes{0};
  bool is_lumped{false};  ///< no memory for more than the caches may hold

  [[nodiscard]] static WorkingSets of(const DeviceInfo& device, const Options& requested);
};

/// Of the array that no cache is to hold.
inline constexpr Bytes min_far_bytes = kibibytes(16);

/// Work-items of a group, at most `at_most`: a power of two.
std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most);

/// Phases that are told by stamps. `barrier`: what a sub-group waited there, of `all` that it took,
/// in the mean over sub-groups, by the clock of their compute unit. `tail`: from the end of a part
/// of the launch to the end of the last one, in the mean, of the `span` from the first beginning;
/// `longest-tail`: the same of the part that ended first.
inline constexpr std::string_view phase_barrier = "barrier";
inline constexpr std::string_view phase_all = "all";
inline constexpr std::string_view phase_tail = "tail";
inline constexpr std::string_view phase_longest_tail = "longest-tail";
inline constexpr std::string_view phase_span = "span";

/// Whether a phase is told by when parts ended.
bool is_of_ends(std::string_view phase);

/// What times a kernel of which causes are taken away. Of a launch on a GPU, how long it took. A
/// CPU has a group on each core, and what else wants one of them delays that group alone, and with
/// it the launch: on a virtual machine with 16 cores, two of which the host ran on one now and
/// then, launches took twice as long for seconds, and most groups did not. So where groups have a
/// clock there, it times each of them, and the middle one counts.
Timer timer_of_kernels(const DeviceInfo& device);

/// Whether a clock in the kernel times a point: its phase, or, where it has none, its middle group.
bool has_stamps(const Point& point);

/// The same work with the clock of one phase.
Point with_phase(const Point& usual, std::string_view phase);

/// The phases `tail`, `longest-tail` and `span`, of a device whose groups share a clock.
void add_tail(std::vector<Point>& points, const Point& usual, const DeviceInfo& device);

/// Five words of each part, as cl/stalls_mixed.clh stores them.
struct Stamp {
  std::uint64_t began{0};
  std::uint64_t ended{0};
  std::uint64_t waited{0};
  std::uint64_t shared_began{0};  ///< by the clock that all groups share
  std::uint64_t shared_ended{0};
};

/// Whether cl/stamps.clh has a clock that all groups of this device share. Where it has none, ends
/// are compared within groups.
bool has_shared_clock(const DeviceInfo& device);

/// Ticks of the device's clock in one tick of the shared one: on NVIDIA's devices that one counts
/// nanoseconds.
double ticks_of_shared(const DeviceInfo& device);

/// The ticks of a phase. `stamps`: of a launch, group after group, each of `parts_of_group`.
/// `is_shared`: ends of different groups are by one clock. Nothing of another name, and nothing
/// where a clock ran backwards.
double phase_ticks(std::string_view phase, std::span<const Stamp> stamps,
                   std::size_t parts_of_group, bool is_shared);

/// From the beginning of a group to its end, in the median over groups. `groups`: a stamp each.
double ticks_of_middle(std::span<const Stamp> groups);

/// A group of one part or more as one: from the first beginning to the last end. For devices that
/// run its work-items one after another.
Stamp as_one(std::span<const Stamp> group);

}  // namespace clprobe::stalls
