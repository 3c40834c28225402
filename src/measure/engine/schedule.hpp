// SPDX-License-Identifier: Apache-2.0
// Schedule of a run: it decides which point is visited next, and why (figure in docs/method.md).
// The schedule is pure: it uses no device and no clock.
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
  urgent,     ///< visit before other points, since the probe's headlines depend on the point
  first,      ///< visit in the first pass
  refined,    ///< visit of a point that the probe added after its first pass
  repeat,     ///< visit in a later pass, or to fill the minimum time
  reference,  ///< visit of a reference point, which detects disturbances
};

struct Visit {
  std::size_t probe{0};
  std::size_t point{0};  ///< index of the point or of the reference in the plan of the probe
  Why why{Why::first};

  friend bool operator==(const Visit&, const Visit&) = default;
};

/// Next step for the engine to take.
struct Step {
  enum class Kind {
    plan,       ///< call Schedule::plan() for the probe
    refine,     ///< call Schedule::add_points() for the probe
    visit,      ///< visit the point and call Schedule::record()
    pass_over,  ///< save the result of the probe, which has completed a pass
  };
  Kind kind{Kind::visit};
  Visit visit{};
  /// Points to visit from this step on, in order; set at most at the first visit of a stage.
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
  Seconds measuring{0.0};  ///< time of a reference visit, without first preparing kept buffers
  bool is_narrow{false};   ///< true if the point's interval is as narrow as the budget requires
};

struct PlannedPoint {
  std::string series{};
  int visits_per_pass{1};
};

/// A reference point of a plan.
struct ScheduledReference {
  bool is_kept{false};  ///< true if its buffers stay allocated, which makes visits cheap
  /// False for a reference that only shows drift; its visits need no minimum pause.
  bool is_stored{true};
};

/// The properties of a probe's plan that the schedule needs.
struct PlannedProbe {
  std::vector<PlannedPoint> points{};
  double seconds{0.0};  ///< expected time to measure all points once; 0: the budget's time
  bool is_ordered{false};
  std::size_t urgent{0};
  int min_urgent_visits{1};
  int max_urgent_visits{2};
  bool can_refine{false};
  std::vector<ScheduledReference> references{};
};

/// The properties of a probe that the schedule needs before the probe is planned.
struct ScheduledProbe {
  Budget budget{};
  bool has_limit{true};      ///< true if points are omitted when the time is used up
  bool is_simulated{false};  ///< true if all visits of a point give equal samples
  /// True if its references are also visited in passes of other probes.
  bool provides_references{false};
  /// Number of the group; passes in a group alternate, and groups run one after another.
  std::size_t group{0};
  std::optional<Seconds> references_from{};  ///< start time, if only kept references are visited
};

/// Order in which the points of all probes are visited.
///
/// A pass visits each unfinished point of one probe. The order is random, so that drift and bursts
/// of noise do not correlate with sizes, except in the first pass of an ordered plan. Passes of
/// different probes alternate, so that a disturbance of a few seconds affects only one visit of a
/// point; quick runs finish each probe first. References are visited between points.
class Schedule {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Schedule(const std::vector<ScheduledProbe>& probes, SchedulePolicy policy, Time began);

  /// Returns the next step; nothing if the run is over.
  std::optional<Step> next(Time now);
  /// Records the plan of a probe, after a step of kind `plan`.
  void plan(std::size_t probe, PlannedProbe planned, Time now, Seconds took);
  /// Adds refined points of a probe, after a step of kind `refine`.
  void add_points(std::size_t probe, std::vector<PlannedPoint> points, Seconds took);
  /// Records the outcome of a visit, after a step of kind `visit`.
  void record(const Visit& visit, const Outcome& outcome, Time now);

  /// Returns whether the probe has no visits left, or no time for more visits.
  [[nodiscard]] bool is_done(std::size_t probe) const { return states_[probe].is_done; }
  /// Returns the time that the probe's own steps have taken.
  [[nodiscard]] Seconds elapsed(std::size_t probe) const { return states_[probe].elapsed; }
  /// Returns the number of visits of a point so far.
  [[nodiscard]] int visits(std::size_t probe, std::size_t point) const {
    return states_[probe].points[point].visits;
  }
  /// Returns the estimated share of the probe's work that is done, from 0 to 1.
  [[nodiscard]] double done_share(std::size_t probe) const;
  /// Returns the estimated time until the probe is done.
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
  /// State of a probe during the run.
  struct ProbeState {
    ScheduledProbe probe{};
    PlannedProbe plan{};  // the plan without its points
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
    int visits_before{0};  // number of earlier visits of the point in this queue
  };
  struct Due {
    std::size_t probe{0};
    std::size_t reference{0};
    Seconds at_least{0.0};  // minimum time since the last visit of the reference
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
  std::optional<std::size_t> last_{};  // the probe that made the last pass
  std::optional<Pass> pass_{};
  std::deque<Queued> queue_{};
  std::vector<std::size_t> expected_{};
  std::deque<Due> due_{};
  std::deque<std::size_t> extra_{};  // the probes that may get an extra pass
  bool is_ending_{false};
};

}  // namespace clprobe
