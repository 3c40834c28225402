// SPDX-License-Identifier: Apache-2.0
// How long to measure, and how well.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace clprobe {

/// How much effort a run may spend: fewer sizes and samples, or more.
enum class Effort { quick, normal, thorough };

std::string_view to_word(Effort value);

struct Budget {
  std::chrono::duration<double> probe_time{11.0};
  /// Somebody asked for that time. Else a simulated device takes as long as its points do: what a
  /// busy host has time for must not decide what is found of a machine that is always the same.
  bool is_asked_for{false};
  /// What the first visit may take beside that, which makes what all points use (buffers, cycles);
  /// of a plan that is not ordered it may take any time, since what it loses could be anything.
  std::chrono::duration<double> first_visit_time{std::chrono::hours(1)};
  double relative_interval{0.01};               ///< a point is done when its interval is narrower
  std::chrono::duration<double> min_time{0.0};  ///< few points are visited again until then
  int min_visits{2};                            ///< visits of a point, spread over the whole run
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

/// How the probes of a run share its time.
struct SchedulePolicy {
  /// The probes belong to one run: references of each show what disturbs the others, and cheap
  /// probes are visited again while expensive ones are measured.
  bool shares_run{true};
  /// A quick run has no time to alternate: a probe makes all its passes at once.
  bool is_quick{false};
};

/// What suits a probe that does not say otherwise.
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
