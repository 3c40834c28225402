// SPDX-License-Identifier: Apache-2.0
// The schedule of a run decides which point is visited next, and why. It is pure: it uses no device
// and no clock. docs/method.md has a picture.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "clprobe/budget.hpp"

namespace clprobe {

using Seconds = std::chrono::duration<double>;

/// Reason why a point is visited.
enum class Why {
  urgent,     ///< visit before other points, since the probe's headlines depend on it
  first,      ///< visit in the first pass
  refined,    ///< visit of a point that the probe added after its first pass
  repeat,     ///< visit in a later pass
  reference,  ///< visit of a reference point, which shows what disturbs the run
};

struct Visit {
  std::size_t probe{0};
  std::size_t point{0};  ///< index in the probe's points or references
  Why why{Why::first};

  friend bool operator==(const Visit&, const Visit&) = default;
};

/// Step that the engine takes next.
struct Step {
  enum class Kind {
    plan,       ///< call Schedule::plan() for the probe
    refine,     ///< call Schedule::add_points() for the probe
    visit,      ///< visit the point and call Schedule::record()
    pass_over,  ///< the probe has completed a pass, and its result can be saved
  };
  Kind kind{Kind::visit};
  Visit visit{};
  /// Points of the probe that will be visited from this step on, in order; empty within a pass.
  std::vector<std::size_t> expected{};
};

struct Outcome {
  enum class Kind {
    measured,
    refused,  ///< the device does not support the point
    failed,   ///< the visit failed, and the point is not visited again
  };
  Kind kind{Kind::measured};
  Seconds took{0.0};       ///< time since the end of the previous step
  Seconds measuring{0.0};  ///< time of a reference without initialising its buffers
  bool is_narrow{false};   ///< the point's interval meets the budget
};

struct PlannedPoint {
  std::string series{};
  int visits_per_pass{1};
};

/// Reference of a plan.
struct ScheduledReference {
  bool is_kept{false};   ///< its buffers stay allocated, which makes visits cheap
  bool is_stored{true};  ///< false: it shows drift of a short probe and is always visited
};

/// Plan of a probe for the schedule.
struct PlannedProbe {
  std::vector<PlannedPoint> points{};
  double seconds{0.0};  ///< expected time of all points; 0: the budget's
  bool is_ordered{false};
  std::size_t urgent{0};
  int min_urgent_visits{1};
  int max_urgent_visits{2};
  bool can_refine{false};
  std::vector<ScheduledReference> references{};
};

/// Probe before it is planned.
struct ScheduledProbe {
  Budget budget{};
  bool has_limit{true};             ///< points are left out when the time is used up
  bool is_simulated{false};         ///< all visits of a point give equal samples
  bool provides_references{false};  ///< its references are also visited in passes of other probes
  std::size_t group{0};             ///< passes alternate in a group; groups run in order
  std::optional<Seconds> references_from{};  ///< start, if only kept references are visited
};

/// Decides the order in which the points of all probes are visited.
///
/// A pass visits each unfinished point of a probe in random order, so that drift and bursts of
/// noise do not correlate with sizes. Passes of different probes alternate, so that a disturbance
/// of some seconds affects one visit of a point, not all visits. References are visited between
/// points.
class Schedule {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Schedule(const std::vector<ScheduledProbe>& probes, SchedulePolicy policy, Time began);

  /// Returns the next step; nothing when all probes are done.
  std::optional<Step> next(Time now);
  /// Records the plan after Step::Kind::plan.
  void plan(std::size_t probe, PlannedProbe planned, Time now, Seconds took);
  /// Adds refined points after Step::Kind::refine.
  void add_points(std::size_t probe, std::vector<PlannedPoint> points, Seconds took);
  /// Records the outcome after Step::Kind::visit.
  void record(const Visit& visit, const Outcome& outcome, Time now);

  /// Returns whether the probe has no visits left, or no time for them.
  [[nodiscard]] bool is_done(std::size_t probe) const { return states_[probe].is_done; }
  /// Time that the probe's own steps have taken.
  [[nodiscard]] Seconds elapsed(std::size_t probe) const { return states_[probe].elapsed; }
  /// Number of visits of a point so far.
  [[nodiscard]] int visits(std::size_t probe, std::size_t point) const {
    return states_[probe].points[point].visits;
  }
  /// Estimated share of the probe's work that is done.
  [[nodiscard]] double done_share(std::size_t probe) const;
  /// Estimated time until the probe is done.
  [[nodiscard]] Seconds time_left(std::size_t probe) const;

 private:
  struct PointState {
    std::string series{};
    int visits_per_pass{1};
    int visits{0};
    bool is_done{false};
    bool can_repeat{false};
  };
  struct ReferenceState {
    ScheduledReference planned{};
    Time last{};
    Seconds spent{0.0};
    int visits{0};
    bool has_failed{false};
  };
  /// State of a probe in the schedule.
  struct ProbeState {
    ScheduledProbe probe{};
    PlannedProbe plan{};  // plan without its points
    std::vector<PointState> points{};
    std::vector<ReferenceState> references{};
    std::mt19937_64 random{};
    bool is_planned{false};
    bool is_done{false};
    int passes{0};
    int points_since_reference{0};
    Time planned_at{};
    Seconds elapsed{0.0};
    std::optional<Seconds> first_visit{};
  };
  enum class Stage { begin, urgent, first, refined, repeat, settle, references, report, extra };
  struct Pass {
    std::size_t probe{0};
    Stage stage{Stage::begin};
  };
  struct Queued {
    std::size_t point{0};
    Why why{Why::first};
    int visits_before{0};  // visits of the point earlier in this queue
  };
  struct Due {
    std::size_t probe{0};
    std::size_t reference{0};
    Seconds at_least{0.0};  // minimum time since its last visit
  };

  std::optional<Step> plan_lone_references(Time now) const;
  std::optional<Step> next_reference(Time now);
  std::optional<Step> next_in_pass();
  std::optional<Step> advance();
  void finish_passes();
  void add_due_of_others();
  bool begin_pass(Time now);
  bool begin_extra_pass(Time now);
  bool begin_usual_pass();
  void end_run();
  void queue(const std::vector<std::size_t>& order, Why why);
  void queue_first_visits();
  void queue_urgent_visits();
  void queue_settling_visits();
  void queue_extra_visits();
  [[nodiscard]] bool is_stopped(const Queued& next) const;
  [[nodiscard]] bool is_wanted(const Queued& next) const;
  void add_due(std::size_t probe, bool kept_only, Seconds at_least);
  void add_due_between_points();
  static void judge(ProbeState& state, std::size_t point, bool is_narrow);
  [[nodiscard]] bool is_due(const Due& due, Time now) const;
  [[nodiscard]] bool is_worth_extra_pass(const ProbeState& state, Time now) const;
  static std::vector<std::size_t> shuffled_from(ProbeState& state, std::size_t first);
  ProbeState& current() { return states_[pass_->probe]; }
  [[nodiscard]] const ProbeState& current() const { return states_[pass_->probe]; }

  std::vector<ProbeState> states_;
  SchedulePolicy policy_;
  Time began_;
  std::size_t group_{0};
  std::optional<std::size_t> last_{};  // probe that made the last pass
  std::optional<Pass> pass_{};
  std::deque<Queued> queue_{};
  std::vector<std::size_t> expected_{};
  std::deque<Due> due_{};
  std::deque<std::size_t> extra_{};  // probes that may get an extra pass
  bool is_ending_{false};
};

}  // namespace clprobe
