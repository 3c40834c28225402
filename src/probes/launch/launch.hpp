// SPDX-License-Identifier: Apache-2.0
// The probe `launch`: its series and the manners of launches. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::launch {

/// Manner of a launch. Many launches share one wait in the manners up to `command_buffer`.
enum class Manner {
  plain,             ///< launches into an in-order queue
  event,             ///< each launch returns an event
  wait_list,         ///< each launch waits for the event of the previous launch
  changed_argument,  ///< each launch changes an argument
  two_programs,      ///< kernels of two programs alternate
  out_of_order,      ///< launches into an out-of-order queue
  command_buffer,    ///< launches recorded in advance and submitted together
  back_to_back,      ///< long kernels: gap from the end of one kernel to the start of the next
  start_to_start,    ///< long kernels: period from start to start
  after_idling,      ///< launch after an idle period
  new_local_size,    ///< launch with a work-group size that is new for the kernel
  build,             ///< build and first launch of a program that the driver has never built
  build_again        ///< build and first launch of a program that the driver has built before
};
inline constexpr Word<Manner> manner_words[]{{Manner::plain, "plain"},
                                             {Manner::event, "event"},
                                             {Manner::wait_list, "wait-list"},
                                             {Manner::changed_argument, "changed-argument"},
                                             {Manner::two_programs, "two-programs"},
                                             {Manner::out_of_order, "out-of-order"},
                                             {Manner::command_buffer, "command-buffer"},
                                             {Manner::back_to_back, "back-to-back"},
                                             {Manner::start_to_start, "start-to-start"},
                                             {Manner::after_idling, "after-idling"},
                                             {Manner::new_local_size, "new-local-size"},
                                             {Manner::build, "build"},
                                             {Manner::build_again, "build-again"}};

struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  Manner manner{Manner::plain};
  std::string_view finding{"extra_cost"};
  std::uint64_t arguments{0};    ///< additional arguments of the kernel
  std::uint64_t idle_queues{0};  ///< additional queues without launches
};

inline constexpr std::string_view queued_series = "queued";
inline constexpr std::string_view gap_series = "back-to-back";
inline constexpr std::string_view period_series = "start-to-start";
inline constexpr std::string_view idle_series = "after-idling";
inline constexpr std::string_view local_size_series = "new-local-size";
inline constexpr std::string_view build_series = "build";
inline constexpr std::string_view build_again_series = "build-again";

/// The most important series come first, since the time limit may end a run early.
inline constexpr std::array all_series{
    SeriesSpec{queued_series, "launches that share one wait", Manner::plain, "launch_time"},
    SeriesSpec{gap_series, "gap between the end of a kernel and the start of the next kernel",
               Manner::back_to_back, "gap"},
    SeriesSpec{period_series, "time between the starts of consecutive kernels",
               Manner::start_to_start, "period"},
    SeriesSpec{"event", "launches that each return an event", Manner::event},
    SeriesSpec{"wait-list", "launches that each wait for the previous launch's event",
               Manner::wait_list},
    SeriesSpec{"changed-argument", "launches that each change an argument",
               Manner::changed_argument},
    SeriesSpec{"arguments-4", "launches of kernels with 4 additional arguments", Manner::plain,
               "extra_cost", 4},
    SeriesSpec{"arguments-16", "launches of kernels with 16 additional arguments", Manner::plain,
               "extra_cost", 16},
    SeriesSpec{"arguments-64", "launches of kernels with 64 additional arguments", Manner::plain,
               "extra_cost", 64},
    SeriesSpec{"two-programs", "launches that alternate between two programs",
               Manner::two_programs},
    SeriesSpec{"out-of-order", "launches into an out-of-order queue", Manner::out_of_order},
    SeriesSpec{"command-buffer", "launches recorded in advance and submitted together",
               Manner::command_buffer},
    SeriesSpec{"idle-queues-1", "launches with 1 additional idle queue", Manner::plain,
               "extra_cost", 0, 1},
    SeriesSpec{"idle-queues-4", "launches with 4 additional idle queues", Manner::plain,
               "extra_cost", 0, 4},
    SeriesSpec{"idle-queues-16", "launches with 16 additional idle queues", Manner::plain,
               "extra_cost", 0, 16},
    SeriesSpec{"idle-queues-64", "launches with 64 additional idle queues", Manner::plain,
               "extra_cost", 0, 64},
    SeriesSpec{idle_series, "launch after the device has been idle", Manner::after_idling,
               "cold_round_trip"},
    SeriesSpec{local_size_series, "launch with a new work-group size", Manner::new_local_size,
               "first_launch"},
    SeriesSpec{build_again_series, "rebuilding a program that was built before",
               Manner::build_again, "minimum_build_time"},
    SeriesSpec{build_series, "building a new program", Manner::build, "minimum_build_time"},
};

/// Returns true if many launches share one wait.
constexpr bool is_of_many(Manner manner) { return manner <= Manner::command_buffer; }

/// Returns true if events of the device time the launch. Otherwise the host times the launch.
constexpr bool is_on_device(Manner manner) {
  return manner == Manner::back_to_back || manner == Manner::start_to_start;
}

/// Shape of a point: launches of one manner.
struct Shape {
  Manner manner{Manner::plain};
  std::uint64_t arguments{0};
  std::uint64_t idle_queues{0};
  std::uint64_t launches{1};  ///< launches per wait
  std::uint64_t idle_ms{0};   ///< idle time before each launch
  Timer timer{Timer::wait};

  /// Returns true for plain launches. Plain launches are the basis of comparison for other
  /// launches.
  [[nodiscard]] bool is_plain() const {
    return manner == Manner::plain && arguments == 0 && idle_queues == 0;
  }
  /// Returns true if the launches share a wait and differ from plain launches in one respect.
  [[nodiscard]] bool is_extra() const { return is_of_many(manner) && !is_plain(); }

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("manner", manner, manner_words);
    f.whole("arguments", arguments, {.max = 64});
    f.whole("idle_queues", idle_queues, {.max = 64});
    // Only plain launches have the parameter `launches`, over which the report draws a curve.
    if (is_plain()) f.whole("launches", launches, count_from_1);
    if (is_extra()) f.whole("launches_together", launches, count_from_1);
    f.whole("idle_ms", idle_ms, {.max = 60000});
    f.word("timer", timer);
  }
};

// Names of facts about single round trips, in ns: the 99th percentile and its 95 % interval.
inline constexpr std::string_view slow_ns = "slow_ns";
inline constexpr std::string_view slow_low_ns = "slow_low_ns";
inline constexpr std::string_view slow_high_ns = "slow_high_ns";

/// Facts about slow round trips in ns: the 99th percentile, and its 95 % interval.
struct Observation {
  std::uint64_t slow{0};
  std::uint64_t slow_low{0};
  std::uint64_t slow_high{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.fact("slow_ns", slow);
    f.fact("slow_low_ns", slow_low);
    f.fact("slow_high_ns", slow_high);
  }
};

/// Number and sum of the times in the middle half of a sample.
struct Middle {
  std::uint64_t count{0};
  std::uint64_t ns{0};
};

/// Returns the middle half of the times: a quarter of the times at each end is dropped; of three
/// times, one at each end. The scheduler delays a few launches by milliseconds. A median would
/// show the resolution of coarse clocks.
Middle middle_half(std::span<const std::uint64_t> times_ns);

/// Returns the 95 % interval of the median, by ranks of the binomial distribution. For up to ten
/// values the interval is the whole range. Requires at least one value.
Interval interval_of_median(std::span<const double> values);

/// 99th percentile of times in ns, and its 95 % interval by ranks of the binomial distribution.
struct Slow {
  double ns{0.0};
  Interval interval{};
};
/// Returns the 99th percentile. Requires at least one time.
Slow slow_one_in_100(std::span<const std::uint64_t> times_ns);

extern const Probe probe;

/// Returns the findings of the probe. Method: docs/launch.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Number of iterations of a kernel that takes a few microseconds on a GPU.
inline constexpr std::uint64_t spin_turns = 2000;

// Functions that `Probe` points to (launches.cpp).
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::launch
