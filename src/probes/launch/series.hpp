// SPDX-License-Identifier: Apache-2.0
// The series of the probe `launch`: what is launched, and how. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::launch {

enum class Manner {
  plain,             ///< one after another into a queue that keeps their order
  event,             ///< each gives an event
  wait_list,         ///< each waits for the event of the one before
  changed_argument,  ///< each has another argument than the one before
  two_programs,      ///< kernels of two programs take turns
  out_of_order,      ///< into a queue that need not keep their order
  back_to_back,      ///< kernels that go on for a while: what lies between them on the device
  after_idling,      ///< one alone, after nothing was launched for a while
  build,             ///< a program that the driver has never seen
  build_again        ///< one that it has
};
inline constexpr Word<Manner> manner_words[]{{Manner::plain, "plain"},
                                             {Manner::event, "event"},
                                             {Manner::wait_list, "wait-list"},
                                             {Manner::changed_argument, "changed-argument"},
                                             {Manner::two_programs, "two-programs"},
                                             {Manner::out_of_order, "out-of-order"},
                                             {Manner::back_to_back, "back-to-back"},
                                             {Manner::after_idling, "after-idling"},
                                             {Manner::build, "build"},
                                             {Manner::build_again, "build-again"}};

struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  Manner manner{Manner::plain};
  std::uint64_t arguments{0};    ///< more than every kernel has
  std::uint64_t idle_queues{0};  ///< beside the one that is used
};

inline constexpr std::string_view queued_series = "queued";
inline constexpr std::string_view idle_series = "after-idling";
inline constexpr std::string_view gap_series = "back-to-back";
inline constexpr std::string_view build_series = "build";
inline constexpr std::string_view build_again_series = "build-again";

inline constexpr std::array all_series{
    SeriesSpec{queued_series, "launches one after another, waited for together"},
    SeriesSpec{"event", "each gives an event", Manner::event},
    SeriesSpec{"wait-list", "each waits for the event of the last", Manner::wait_list},
    SeriesSpec{"changed-argument", "each has another argument", Manner::changed_argument},
    SeriesSpec{"arguments-4", "kernels with 4 more arguments", Manner::plain, 4},
    SeriesSpec{"arguments-16", "kernels with 16 more arguments", Manner::plain, 16},
    SeriesSpec{"arguments-64", "kernels with 64 more arguments", Manner::plain, 64},
    SeriesSpec{"two-programs", "kernels of two programs in turn", Manner::two_programs},
    SeriesSpec{"out-of-order", "into a queue without order", Manner::out_of_order},
    SeriesSpec{"idle-queues-4", "beside 4 queues that are idle", Manner::plain, 0, 4},
    SeriesSpec{"idle-queues-16", "beside 16 queues that are idle", Manner::plain, 0, 16},
    SeriesSpec{"idle-queues-64", "beside 64 queues that are idle", Manner::plain, 0, 64},
    SeriesSpec{gap_series, "what lies between kernels on the device", Manner::back_to_back},
    SeriesSpec{idle_series, "one after the device was idle", Manner::after_idling},
    SeriesSpec{build_series, "building a new program", Manner::build},
    SeriesSpec{build_again_series, "building it again", Manner::build_again},
};

/// Whether its points differ by how many launches are waited for together.
bool is_by_count(Manner manner);

/// Why the device cannot have such a series; empty when it can.
std::string missing_in(const SeriesSpec& series, const DeviceInfo& device);

/// What one point is. Only where they differ by it points have a number of launches.
struct Shape {
  std::uint64_t launches{1};  ///< that are waited for together
  Manner manner{Manner::plain};
  std::uint64_t arguments{0};
  std::uint64_t idle_queues{0};
  std::uint64_t idle_ms{0};  ///< before each launch
  Timer timer{Timer::wait};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("manner", manner, manner_words);
    if (is_by_count(manner)) f.whole("launches", launches, count_from_1);
    f.whole("arguments", arguments, {.max = 64});
    f.whole("idle_queues", idle_queues, {.max = 64});
    f.whole("idle_ms", idle_ms, {.max = 60000});
    f.word("timer", timer);
  }
};

// Facts of round trips, one by one: what half of them take, and one in a hundred, in nanoseconds.
inline constexpr std::string_view middle_ns = "middle_ns";
inline constexpr std::string_view slow_ns = "slow_ns";

}  // namespace clprobe::launch
