// SPDX-License-Identifier: Apache-2.0
// Limits of a measurement: time, precision and number of visits.
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
  /// True if the user chose the time. For the default time, a simulated device has no limit, so
  /// that the host's load does not decide which points are measured.
  bool is_asked_for{false};
  /// In ordered plans, the first visit counts as probe time only beyond this limit, since the visit
  /// prepares buffers and cycles that all points share. In unordered plans, the whole first visit
  /// is excluded, since the time limit could drop any point.
  std::chrono::duration<double> first_visit_time{std::chrono::hours(1)};
  /// Relative width of a point's interval at or below which `min_visits` visits are enough.
  double relative_interval{0.01};
  /// Time after a probe's first visit that the engine fills with up to 20 visits of each point.
  std::chrono::duration<double> min_time{0.0};
  /// Minimum number of passes that visit a point, unless the probe's time runs out.
  int min_visits{2};
  int max_visits{5};
  int samples_per_visit{3};
  std::uint64_t seed{42};
};

/// Budgets of a probe for each effort.
struct Budgets {
  Budget quick{};
  Budget normal{};
  Budget thorough{};

  [[nodiscard]] constexpr const Budget& of(Effort effort) const {
    if (effort == Effort::quick) return quick;
    return effort == Effort::thorough ? thorough : normal;
  }
};

/// Rules for sharing the time of a run among probes.
struct SchedulePolicy {
  /// True if the probes belong to one run. References then detect disturbances for all probes, and
  /// cheap probes are visited again while expensive probes are measured.
  bool shares_run{true};
  /// True for quick runs, in which each probe makes all its passes before the next probe begins.
  bool is_quick{false};
};

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
