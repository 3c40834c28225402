// SPDX-License-Identifier: Apache-2.0
#include "measure/engine/schedule.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "measure/api/engine.hpp"

namespace clprobe {
namespace {

// Minimum time between visits of references. Disturbances last for seconds, but a GPU may measure
// sixteen points in 10 ms.
constexpr Seconds between_references{0.3};

/// Returns the order with one point of each series first, so that no series is missing if the time
/// is used up.
std::vector<std::size_t> each_series_first(const auto& points,
                                           const std::vector<std::size_t>& order) {
  std::set<std::string_view> series;
  std::vector<std::size_t> first;
  std::vector<std::size_t> rest;
  for (const std::size_t index : order) {
    (series.insert(points[index].series).second ? first : rest).push_back(index);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

/// Returns the order with each point repeated `visits_per_pass` times, at equal distances in the
/// pass.
std::vector<std::size_t> with_repeats(const auto& points, const std::vector<std::size_t>& order) {
  std::vector<std::vector<std::size_t>> after(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    const auto times = static_cast<std::size_t>(points[order[position]].visits_per_pass);
    for (std::size_t time = 0; time < times; ++time) {
      after[(position + time * order.size() / times) % order.size()].push_back(order[position]);
    }
  }
  std::vector<std::size_t> all;
  for (const auto& each : after) all.insert(all.end(), each.begin(), each.end());
  return all;
}

/// Returns whether the probe has used `share` of its time. The first visit does not count, since it
/// prepares buffers that all points use. In an ordered plan, the first visit counts as far as it
/// exceeds `first_visit_time`.
bool is_out_of_time(const auto& state, double share = 1.0) {
  if (!state.first_visit || !state.probe.has_limit) return false;
  const Seconds spared = state.plan.is_ordered
                             ? std::min(*state.first_visit, state.probe.budget.first_visit_time)
                             : *state.first_visit;
  return state.elapsed - spared > share * state.probe.budget.probe_time;
}

std::size_t points_left(const auto& state) {
  return static_cast<std::size_t>(std::count_if(state.points.begin(), state.points.end(),
                                                [](const auto& each) { return !each.is_done; }));
}

bool has_stored_references(const auto& state) {
  return std::any_of(state.references.begin(), state.references.end(),
                     [](const auto& each) { return each.planned.is_stored; });
}

}  // namespace

Schedule::Schedule(const std::vector<ScheduledProbe>& probes, SchedulePolicy policy, Time began)
    : policy_(policy), began_(began) {
  states_.reserve(probes.size());
  for (const ScheduledProbe& probe : probes) {
    ProbeState state{.probe = probe};
    state.random.seed(probe.budget.seed);
    state.is_done = probe.references_from.has_value();
    states_.push_back(std::move(state));
  }
}

std::optional<Step> Schedule::next(Time now) {
  if (auto step = plan_lone_references(now)) return step;
  for (;;) {
    if (auto step = next_reference(now)) return step;
    if (pass_) {
      if (auto step = next_in_pass()) return step;
    } else if (!begin_pass(now)) {
      return std::nullopt;
    }
  }
}

void Schedule::plan(std::size_t probe, PlannedProbe planned, Time now, Seconds took) {
  ProbeState& state = states_[probe];
  for (PlannedPoint& each : planned.points) {
    state.points.push_back({std::move(each.series), each.visits_per_pass});
  }
  planned.points.clear();
  for (const ScheduledReference& each : planned.references) {
    // The last visit is set to an earlier time, so that the reference is due after the first
    // sixteen points.
    const auto wait = std::chrono::duration_cast<Time::duration>(between_references);
    state.references.push_back({.planned = each, .last = now - wait});
  }
  state.plan = std::move(planned);
  state.planned_at = now;
  state.is_planned = true;
  state.elapsed += took;
}

void Schedule::add_points(std::size_t probe, std::vector<PlannedPoint> points, Seconds took) {
  ProbeState& state = states_[probe];
  const std::size_t first = state.points.size();
  for (PlannedPoint& each : points) {
    state.points.push_back({std::move(each.series), each.visits_per_pass});
  }
  state.elapsed += took;
  queue(shuffled_from(state, first), Why::refined);
}

void Schedule::record(const Visit& visit, const Outcome& outcome, Time now) {
  ProbeState& state = states_[visit.probe];
  const bool is_own_pass = pass_ && pass_->probe == visit.probe;
  const bool has_failed = outcome.kind == Outcome::Kind::failed;
  if (visit.why == Why::reference) {
    ReferenceState& reference = state.references[visit.point];
    reference.last = now;
    reference.spent += outcome.measuring;
    ++reference.visits;
    reference.has_failed = has_failed;
    if (is_own_pass) state.elapsed += outcome.took;
    return;
  }
  state.elapsed += outcome.took;
  PointState& point = state.points[visit.point];
  if (outcome.kind == Outcome::Kind::refused) {
    point.is_done = true;
  } else {
    if (!state.first_visit) state.first_visit = state.elapsed;
    ++point.visits;
    point.can_repeat = !has_failed;
    if (has_failed) {
      point.is_done = true;
    } else {
      judge(state, visit.point, outcome.is_narrow);
    }
  }
  if (pass_ && pass_->stage < Stage::settle) add_due_between_points();
}

double Schedule::done_share(std::size_t probe) const {
  const std::vector<PointState>& points = states_[probe].points;
  const auto add = [](double sum, const PointState& each) {
    return sum + (each.is_done ? 1.0 : std::min(0.9, 0.45 * each.visits));
  };
  return std::accumulate(points.begin(), points.end(), 0.0, add) /
         static_cast<double>(std::max<std::size_t>(1, points.size()));
}

Seconds Schedule::time_left(std::size_t probe) const {
  const ProbeState& state = states_[probe];
  const Budget& budget = state.probe.budget;
  const double done = done_share(probe);
  const Seconds by_pace = done > 0.0 ? state.elapsed * (1.0 - done) / done : Seconds(0.0);
  const double expected = state.plan.seconds > 0.0 ? state.plan.seconds : expected_seconds(budget);
  const Seconds by_budget = std::max(
      Seconds(0.0), Seconds(expected) + state.first_visit.value_or(Seconds(0.0)) - state.elapsed);
  if (done <= 0.1) return by_budget;
  return is_limit(budget) || !state.probe.has_limit ? by_pace : std::min(by_pace, by_budget);
}

/// Returns the step that plans a probe of which only kept references are visited, once its start
/// time is reached.
std::optional<Step> Schedule::plan_lone_references(Time now) const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::optional<Seconds> from = states_[i].probe.references_from;
    if (!states_[i].is_planned && from && now - began_ >= *from) {
      return Step{.kind = Step::Kind::plan, .visit = {.probe = i}};
    }
  }
  return std::nullopt;
}

std::optional<Step> Schedule::next_reference(Time now) {
  while (!due_.empty()) {
    const Due due = due_.front();
    due_.pop_front();
    if (!is_due(due, now)) continue;
    return Step{.visit = {due.probe, due.reference, Why::reference}};
  }
  return std::nullopt;
}

/// Returns the next visit of the stage; after the last visit, the result of advance(). Returns
/// nothing if the stage or the pass changed, or if references may be due.
std::optional<Step> Schedule::next_in_pass() {
  while (!queue_.empty()) {
    const Queued next = queue_.front();
    queue_.pop_front();
    if (is_stopped(next)) {
      queue_.clear();
      break;
    }
    if (!is_wanted(next)) continue;
    return Step{.visit = {pass_->probe, next.point, next.why},
                .expected = std::exchange(expected_, {})};
  }
  return advance();
}

/// Begins the next stage of the pass, or ends the pass. Returns the step to plan the probe, to
/// refine its points or to report the pass, if one is due; otherwise nothing.
std::optional<Step> Schedule::advance() {
  ProbeState& state = current();
  const auto step = [&](Step::Kind kind) {
    return Step{.kind = kind, .visit = {.probe = pass_->probe}};
  };
  switch (pass_->stage) {
    case Stage::begin:
      if (!state.is_planned) return step(Step::Kind::plan);
      pass_->stage = state.passes++ == 0 ? Stage::urgent : Stage::repeat;
      if (pass_->stage == Stage::urgent) {
        queue_urgent_visits();
      } else {
        queue(shuffled_from(state, 0), Why::repeat);
      }
      break;
    case Stage::urgent:
      pass_->stage = Stage::first;
      queue_first_visits();
      break;
    case Stage::first:
      pass_->stage = Stage::refined;
      if (is_out_of_time(state) || !state.plan.can_refine) break;
      return step(Step::Kind::refine);
    case Stage::refined:
    case Stage::repeat:
      finish_passes();
      break;
    case Stage::settle:
      pass_->stage = Stage::references;
      if (!is_out_of_time(state)) add_due(pass_->probe, false, Seconds(1.0));
      break;
    case Stage::references:
      pass_->stage = Stage::report;
      add_due_of_others();
      break;
    case Stage::report: {
      const Step over = step(Step::Kind::pass_over);
      for (std::size_t i = 0; policy_.shares_run && i < states_.size(); ++i) {
        if (i != pass_->probe) extra_.push_back(i);
      }
      pass_.reset();
      return over;
    }
    case Stage::extra:
      ++state.passes;
      pass_.reset();
      break;
  }
  return std::nullopt;
}

/// Decides whether the probe is done. If only a few points remain, their passes are repeated
/// immediately.
void Schedule::finish_passes() {
  // Reopening a probe's buffers takes longer than visiting a few points. The last passes over few
  // points therefore follow each other without passes of other probes.
  constexpr std::size_t tenth = 10;
  ProbeState& state = current();
  const Budget& budget = state.probe.budget;
  const std::size_t left = points_left(state);
  if (state.passes > 1 && state.passes < budget.max_visits && !is_out_of_time(state) && left > 0 &&
      left * tenth <= state.points.size()) {
    ++state.passes;
    return queue(shuffled_from(state, 0), Why::repeat);
  }
  state.is_done = state.passes >= budget.max_visits || is_out_of_time(state) || left == 0;
  pass_->stage = Stage::settle;
  if (state.is_done && !state.probe.is_simulated) queue_settling_visits();
}

/// Adds references of other probes to this pass, so that references of probes with few passes also
/// cover the whole run.
void Schedule::add_due_of_others() {
  for (std::size_t i = 0; policy_.shares_run && i < states_.size(); ++i) {
    const bool is_other = i != pass_->probe && states_[i].probe.provides_references;
    if (is_other && has_stored_references(states_[i])) add_due(i, false, Seconds(3.0));
  }
}

bool Schedule::begin_pass(Time now) {
  if (begin_extra_pass(now) || begin_usual_pass()) return true;
  if (is_ending_ || !policy_.shares_run) return false;
  end_run();
  return true;
}

/// Begins another pass over a finished probe, if the pass takes little of the run's time. Without
/// such passes, a probe that takes one second would miss most disturbances of a run of one minute.
bool Schedule::begin_extra_pass(Time now) {
  while (!extra_.empty()) {
    const std::size_t probe = extra_.front();
    extra_.pop_front();
    if (policy_.is_quick || !is_worth_extra_pass(states_[probe], now)) continue;
    pass_ = {probe, Stage::extra};
    queue_extra_visits();
    return true;
  }
  return false;
}

/// Begins the next pass. First, each probe of a group makes one pass, in order. Then the unfinished
/// probes of the group alternate. Then the next group begins. Quick runs finish each probe first.
bool Schedule::begin_usual_pass() {
  const auto begin = [&](std::size_t probe) {
    last_ = probe;
    group_ = states_[probe].probe.group;
    pass_ = {probe, Stage::begin};
    return true;
  };
  if (policy_.is_quick && last_ && !states_[*last_].is_done) return begin(*last_);
  const auto is_open = [&](std::size_t i) { return !states_[i].is_done; };
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (is_open(i) && (!first || states_[i].probe.group < states_[*first].probe.group)) first = i;
  }
  if (!first) return false;
  const std::size_t group = states_[*first].probe.group;
  const auto is_member = [&](std::size_t i) {
    return is_open(i) && states_[i].probe.group == group;
  };
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (is_member(i) && states_[i].passes == 0) return begin(i);
  }
  for (std::size_t k = 1; k <= states_.size(); ++k) {
    const std::size_t i = (last_.value_or(0) + k) % states_.size();
    if (is_member(i)) return begin(i);
  }
  return false;
}

/// Requests extra passes and visits of all references at the end of the run, since a disturbance
/// may last until the end.
void Schedule::end_run() {
  is_ending_ = true;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool is_reference_only = states_[i].probe.references_from.has_value();
    if (!is_reference_only) extra_.push_back(i);
    add_due(i, is_reference_only, is_reference_only ? between_references : Seconds(1.0));
  }
}

void Schedule::queue(const std::vector<std::size_t>& order, Why why) {
  expected_ = order;
  std::erase_if(expected_, [&](std::size_t i) { return current().points[i].is_done; });
  for (const std::size_t index : with_repeats(current().points, order)) {
    queue_.push_back({index, why});
  }
}

void Schedule::queue_urgent_visits() {
  const PlannedProbe& plan = current().plan;
  for (int before = 0; before < plan.max_urgent_visits; ++before) {
    for (std::size_t i = 0; i < plan.urgent; ++i) queue_.push_back({i, Why::urgent, before});
  }
}

void Schedule::queue_first_visits() {
  ProbeState& state = current();
  if (!state.plan.is_ordered) {
    queue(each_series_first(state.points, shuffled_from(state, 0)), Why::first);
    return;
  }
  std::vector<std::size_t> in_order(state.points.size() - state.plan.urgent);
  std::iota(in_order.begin(), in_order.end(), state.plan.urgent);
  queue(in_order, Why::first);
}

/// Queues up to 20 repetitions of each point, until `min_time` has passed. A few visits that follow
/// each other immediately could all lie in a slow phase of the host, and still agree.
void Schedule::queue_settling_visits() {
  constexpr int max_visits = 20;
  for (int before = 0; before < max_visits; ++before) {
    for (std::size_t i = 0; i < current().points.size(); ++i) {
      queue_.push_back({i, Why::repeat, before});
    }
  }
}

void Schedule::queue_extra_visits() {
  for (const std::size_t index : shuffled_from(current(), 0)) {
    queue_.push_back({index, Why::repeat});
  }
}

/// Returns whether the remaining queue of the pass is dropped.
bool Schedule::is_stopped(const Queued& next) const {
  constexpr double urgent_share = 0.8;
  const ProbeState& state = current();
  if (pass_->stage == Stage::extra) return false;
  if (is_out_of_time(state)) return true;
  if (pass_->stage == Stage::urgent) {
    return next.visits_before > 0 && is_out_of_time(state, urgent_share);
  }
  return pass_->stage == Stage::settle &&
         state.elapsed - state.first_visit.value_or(Seconds(0.0)) > state.probe.budget.min_time;
}

bool Schedule::is_wanted(const Queued& next) const {
  const ProbeState& state = current();
  const PointState& point = state.points[next.point];
  if (pass_->stage == Stage::settle) return point.can_repeat;
  if (pass_->stage != Stage::extra) return !point.is_done;
  // Beyond the budget's number of visits, only points with wide intervals are visited.
  const bool is_beyond_budget = state.passes >= state.probe.budget.max_visits;
  return point.can_repeat && !(is_beyond_budget && point.is_done);
}

void Schedule::add_due(std::size_t probe, bool kept_only, Seconds at_least) {
  const ProbeState& state = states_[probe];
  for (std::size_t i = 0; i < state.references.size(); ++i) {
    const ReferenceState& each = state.references[i];
    if (!each.has_failed && (each.planned.is_kept || !kept_only)) {
      due_.push_back({probe, i, at_least});
    }
  }
}

/// Adds references that are due after a point. The probe's own references are due after every
/// sixteen points. Kept references of other probes follow.
void Schedule::add_due_between_points() {
  constexpr int points_between = 16;
  ProbeState& state = current();
  if (++state.points_since_reference >= points_between) {
    state.points_since_reference = 0;
    const bool are_apart = !state.probe.is_simulated && has_stored_references(state);
    add_due(pass_->probe, false, are_apart ? between_references : Seconds(0.0));
  }
  for (std::size_t i = 0; policy_.shares_run && i < states_.size(); ++i) {
    const bool is_reference_only = states_[i].probe.references_from.has_value();
    if (i != pass_->probe) add_due(i, true, is_reference_only ? between_references : Seconds(1.0));
  }
}

/// Marks a point as done, or as not done. A simulated point needs one visit. Other points need the
/// minimum number of visits and a narrow interval.
void Schedule::judge(ProbeState& state, std::size_t point, bool is_narrow) {
  PointState& visited = state.points[point];
  const int min_visits = point < state.plan.urgent
                             ? state.plan.min_urgent_visits
                             : state.probe.budget.min_visits * visited.visits_per_pass;
  visited.is_done = state.probe.is_simulated || (is_narrow && visited.visits >= min_visits);
}

/// Returns whether a reference is due. Each reference has its own time limit, since initialising a
/// large working set may take longer than measuring sixteen points.
bool Schedule::is_due(const Due& due, Time now) const {
  constexpr Seconds negligible{0.002};
  // Divisor: a reference may take 1/20 of the time since its plan.
  constexpr double part = 20.0;
  constexpr double part_of_run = 100.0;  // divisor for probes of which only references are visited
  const ProbeState& state = states_[due.probe];
  const ReferenceState& reference = state.references[due.reference];
  if (reference.has_failed || now - reference.last < due.at_least) return false;
  // Visits of simulated references take no time of the run.
  if (state.probe.is_simulated || reference.spent <= reference.visits * negligible) return true;
  const double parts = state.probe.references_from ? part_of_run : part;
  return reference.spent * parts <= now - state.planned_at;
}

bool Schedule::is_worth_extra_pass(const ProbeState& state, Time now) const {
  constexpr double max_share = 0.08;
  // For twelve visits, the two smallest and the two largest values lie outside the 95 % interval of
  // the median. A single fast or slow moment of the host therefore does not widen the interval.
  constexpr int enough_visits = 12;
  if (!state.is_planned || !state.is_done || state.probe.is_simulated) return false;
  const int max_visits = state.probe.budget.max_visits;
  if (state.passes == 0 || state.passes >= std::max(max_visits, enough_visits)) return false;
  if (state.passes >= max_visits && points_left(state) == 0) return false;
  return state.elapsed * (state.passes + 1) / state.passes <= max_share * Seconds(now - began_);
}

/// Returns the indexes of all points from `first` on in random order, so that drift and bursts of
/// noise do not correlate with sizes.
std::vector<std::size_t> Schedule::shuffled_from(ProbeState& state, std::size_t first) {
  std::vector<std::size_t> order(state.points.size() - first);
  std::iota(order.begin(), order.end(), first);
  std::shuffle(order.begin(), order.end(), state.random);
  return order;
}

}  // namespace clprobe
