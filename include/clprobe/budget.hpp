// SPDX-License-Identifier: Apache-2.0
// Time and precision of a measurement.
#pragma once

#include <chrono>
#include <cstdint>

#include "clprobe/words.hpp"

namespace clprobe {

/// Effort of a run: fewer or more sizes and samples.
enum class Effort { quick, normal, thorough };
template <>
struct EnumWords<Effort> {
  static constexpr std::array table{Word{Effort::quick, "quick"}, Word{Effort::normal, "normal"},
                                    Word{Effort::thorough, "thorough"}};
};

struct Budget {
  std::chrono::duration<double> probe_time{11.0};
  /// The user requested that time. Otherwise a simulated device has no limit: the load of the host
  /// must not decide which of its points are measured.
  bool is_asked_for{false};
  /// Additional time for the first visit, which prepares what all points use (buffers, cycles). An
  /// unordered plan has no such limit, since any point might be lost.
  std::chrono::duration<double> first_visit_time{std::chrono::hours(1)};
  double relative_interval{0.01};               ///< a point is done when its interval is narrower
  std::chrono::duration<double> min_time{0.0};  ///< a probe of few points is repeated until then
  int min_visits{2};                            ///< of a point, spread over the run
  int max_visits{5};
  int samples_per_visit{3};
  std::uint64_t seed{42};
};

/// One budget for each effort.
struct Budgets {
  Budget quick{};
  Budget normal{};
  Budget thorough{};

  [[nodiscard]] constexpr const Budget& of(Effort effort) const {
    if (effort == Effort::quick) return quick;
    return effort == Effort::thorough ? thorough : normal;
  }
};

/// Rules by which probes share the time of a run.
struct SchedulePolicy {
  /// The probes belong to one run: references of each show what disturbs the others, and cheap
  /// probes are visited again while expensive ones are measured.
  bool shares_run{true};
  /// A quick run has no time to alternate: a probe makes all its passes at once.
  bool is_quick{false};
};

/// Default budgets of probes.
inline constexpr Budgets usual_budgets{.quick = {.probe_time = std::chrono::seconds(3),
                                                 .first_visit_time = std::chrono::seconds(1),
                                                 .min_visits = 1,
                                                 .max_visits = 2},
                                       .normal = {.min_time = std::chrono::seconds(1)},
                                       .thorough = {.probe_time = std::chrono::seconds(120),
                                                    .relative_interval = 0.003,
                                                    .min_time = std::chrono::seconds(5),
                                                    .max_visits = 20,
                                                    .samples_per_visit = 5}};

}  // namespace clprobe
