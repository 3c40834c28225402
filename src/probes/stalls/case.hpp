// SPDX-License-Identifier: Apache-2.0
// What the probe measures: kernels, each a case of --case, with its points, its launch and its
// findings. stalls.cpp lists them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/wanted_series.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::stalls {

/// Of a work-item, all loops together.
struct Turns {
  std::uint64_t first{0};       ///< before the iterations
  std::uint64_t iteration{1};   ///< of one iteration, with itself
  std::uint64_t iterations{1};  ///< of a launch, at most

  [[nodiscard]] std::uint64_t total() const { return first + iteration * iterations; }
};

/// As many iterations as leave all loops whole: where a driver may cut them the inner ones count,
/// too.
inline Turns fitted(const DeviceInfo& device, Turns turns) {
  turns.iterations = max_iterations;
  if (may_cut_loops(device)) {
    const std::uint64_t room = max_iterations - std::min(max_iterations, turns.first);
    turns.iterations = std::max<std::uint64_t>(1, room / turns.iteration);
  }
  return turns;
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
struct Asked {
  std::vector<std::string> cases{};  ///< empty: all
  Effort effort{Effort::normal};
  Bytes last_cache{};
  Bytes max_memory{};  ///< 0: the probe's choice
  Bytes max_data{};    ///< of that, for the array that loads go to; 0: the probe's choice

  explicit Asked(const Request& request)
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
  std::vector<Point> (*points)(const DeviceInfo&, const Asked&){nullptr};
  Memory (*memory)(const Point&){nullptr};
  /// Of its kernel.
  KernelLoops (*loops)(const DeviceInfo&, const Point&){nullptr};
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

  [[nodiscard]] static WorkingSets of(const DeviceInfo& device, const Asked& asked);
};

/// Of the array that no cache is to hold.
inline constexpr Bytes min_far_bytes = kibibytes(16);

/// Work-items of a group, at most `at_most`: a power of two.
std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most);

}  // namespace clprobe::stalls
