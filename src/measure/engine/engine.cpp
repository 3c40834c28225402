// SPDX-License-Identifier: Apache-2.0
#include "measure/api/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/point_facts.hpp"
#include "clprobe/run.hpp"
#include "compare/api/disturbance.hpp"
#include "measure/engine/conclude.hpp"
#include "measure/engine/sampler.hpp"
#include "measure/engine/schedule.hpp"

namespace clprobe {
namespace {

using Time = std::chrono::steady_clock::time_point;

// Divisor of the device's memory. The references of a probe may keep up to an eighth of the memory
// allocated.
constexpr std::uint64_t kept_part = 8;

PlannedPoint planned_point(const Point& point) {
  constexpr std::int64_t max_visits = 16;  // limits values from untrusted documents
  const std::int64_t visits =
      std::clamp(point.facts.integer_or(visited_often, 1), std::int64_t{1}, max_visits);
  return {point.series, static_cast<int>(visits)};
}

}  // namespace

/// Loop of the engine, which executes each step of the schedule and records its outcome.
class Engine::State {
 public:
  State(std::vector<EngineProbe> probes, const SchedulePolicy& policy, const Observer& observer)
      : observer_(observer), schedule_(scheduled(probes), policy, observer.began) {
    measured_.reserve(probes.size());
    for (EngineProbe& each : probes) {
      ProbeState measured{.of = std::move(each)};
      measured.result.probe = measured.of.probe->id;
      measured_.push_back(std::move(measured));
    }
  }

  void run() {
    if (measured_.empty()) return;
    step_end_ = now();
    while (!is_cancelled()) {
      const std::optional<Step> step = schedule_.next(now());
      if (!step) break;
      take(*step);
    }
    count_cores(std::nullopt);
  }

  [[nodiscard]] bool has_begun(std::size_t probe) const { return measured_[probe].has_begun; }
  [[nodiscard]] std::size_t visit_count(std::size_t probe) const {
    return measured_[probe].visit_count;
  }
  [[nodiscard]] bool is_done(std::size_t probe) const { return schedule_.is_done(probe); }
  [[nodiscard]] ProbeResult result(std::size_t probe) const;
  [[nodiscard]] const std::vector<Reference>& references(std::size_t probe) const {
    return measured_[probe].references;
  }

 private:
  /// State of a reference during the run.
  struct ReferenceState {
    std::size_t point{0};  ///< index of the point in the plan
    /// Copy of the point with its own buffers, which stay allocated.
    std::optional<Point> own_point{};
    /// Index in `references`; absent for a reference that only shows drift and is not stored.
    std::optional<std::size_t> stored{};
    int visits{0};
  };

  /// State of a probe and its results so far.
  struct ProbeState {
    EngineProbe of{};
    Request request{};
    bool has_begun{false};
    std::size_t visit_count{0};
    Ending ended{};
    ProbeResult result{};
    std::vector<ReferenceState> reference_states{};
    std::vector<Reference> references{};
    std::vector<double> speeds_ns{};
    std::vector<Warning> reference_warnings{};
    CoreUse cores{};

    [[nodiscard]] const DeviceInfo& device() const { return of.backend->device(); }
    /// Returns whether all visits of a point give equal samples, as on a simulated device.
    [[nodiscard]] bool is_certain() const { return is_simulated(device()); }
  };

  static void choose_references(const Plan& plan, ProbeState& measured);
  static std::vector<ScheduledProbe> scheduled(const std::vector<EngineProbe>& probes);
  void take(const Step& step);
  void plan(std::size_t probe);
  void refine(std::size_t probe);
  void visit(const Visit& visit);
  Outcome measure(ProbeState& measured, const Visit& visit);
  void visit_reference(const Visit& visit);
  bool measure_reference(ProbeState& measured, ReferenceState& reference, Outcome& outcome);
  void report_progress(std::size_t probe) const;
  void count_cores(std::optional<std::size_t> probe);
  Seconds time_since_last_step();

  [[nodiscard]] Time now() const { return measured_.front().of.backend->now(); }
  [[nodiscard]] bool is_cancelled() const { return observer_.cancelled && observer_.cancelled(); }

  const Observer& observer_;
  Schedule schedule_;
  std::vector<ProbeState> measured_{};
  Time step_end_{};  // end of the previous step
  // Probe whose core use is being counted; absent between probes.
  std::optional<std::size_t> counted_{};
  CoreUse cores_before_{};
};

std::vector<ScheduledProbe> Engine::State::scheduled(const std::vector<EngineProbe>& probes) {
  std::vector<ScheduledProbe> all;
  all.reserve(probes.size());
  for (const EngineProbe& each : probes) {
    all.push_back({.budget = each.budget,
                   .has_limit = has_limit(each.budget, each.backend->device()),
                   .is_simulated = is_simulated(each.backend->device()),
                   .provides_references = each.probe->lends_references,
                   .group = each.group,
                   .references_from = each.references_from});
  }
  return all;
}

/// Selects the references of a probe. A reference with a copy (PlannedReference::alone) keeps the
/// copy's buffers if the memory limit allows. If the plan has no references and at least 8 points,
/// the first point shows drift of the device's speed, provided that the point is visited again.
void Engine::State::choose_references(const Plan& plan, ProbeState& measured) {
  constexpr std::size_t min_points = 8;
  const bool is_reference_only = measured.of.references_from.has_value();
  // A memory limit of the user applies to all buffers together, so that no reference keeps its
  // buffers.
  const bool may_keep =
      is_reference_only || (!measured.is_certain() && measured.request.max_memory.count == 0);
  const Bytes memory_limit = may_keep ? measured.device().global_memory / kept_part : Bytes{};
  Bytes kept{};
  for (const PlannedReference& each : plan.references) {
    const Point& point = plan.points.at(each.point);
    measured.reference_states.push_back(
        {.point = each.point, .stored = measured.references.size()});
    measured.references.push_back({each.kind, point.series, point.parameters, {}});
    measured.references.back().is_rate =
        is_reference_only && measured.of.probe->unit != Unit::seconds;
    if (!each.alone || memory_limit < kept + each.alone->memory) continue;
    kept = kept + each.alone->memory;
    measured.reference_states.back().own_point = each.alone->point;
  }
  if (is_reference_only) return;
  // Waiting times are excluded: they depend on the host's scheduler instead of the device's speed,
  // and their scatter can exceed the drift. The probe `clock` would also wait one second for each
  // visit of an idle device.
  const bool is_visited_again = measured.of.budget.max_visits > 1 || measured.is_certain();
  if (measured.reference_states.empty() && plan.points.size() >= min_points && is_visited_again &&
      timer_of(plan.points.front(), measured.device()) != Timer::wait) {
    measured.reference_states.push_back({.point = 0});
  }
  if (measured.is_certain()) measured.references.clear();
}

void Engine::State::take(const Step& step) {
  const std::size_t probe = step.visit.probe;
  ProbeState& measured = measured_[probe];
  if (step.kind == Step::Kind::visit && step.visit.why == Why::reference) {
    return visit_reference(step.visit);
  }
  count_cores(step.kind == Step::Kind::pass_over ? std::nullopt : std::optional(probe));
  switch (step.kind) {
    case Step::Kind::plan:
      return plan(probe);
    case Step::Kind::refine:
      return refine(probe);
    case Step::Kind::visit: {
      std::vector<const Point*> expected;
      for (const std::size_t i : step.expected) expected.push_back(&measured.result.points[i]);
      if (!expected.empty()) measured.of.backend->expect(*measured.of.probe, expected);
      return visit(step.visit);
    }
    case Step::Kind::pass_over:
      if (observer_.pass_over) observer_.pass_over(probe);
      step_end_ = now();  // the time that the observer takes belongs to no probe
  }
}

void Engine::State::plan(std::size_t probe) {
  ProbeState& measured = measured_[probe];
  const Probe& of = *measured.of.probe;
  measured.has_begun = true;
  measured.request = measured.of.request();
  Plan plan = of.plan(measured.device(), measured.request);
  choose_references(plan, measured);
  PlannedProbe planned{.seconds = plan.seconds,
                       .is_ordered = plan.is_ordered,
                       .urgent = plan.urgent,
                       .min_urgent_visits = plan.min_urgent_visits,
                       .max_urgent_visits = plan.max_urgent_visits,
                       .can_refine = of.refine != nullptr};
  for (const Point& each : plan.points) planned.points.push_back(planned_point(each));
  for (const ReferenceState& each : measured.reference_states) {
    planned.references.push_back({each.own_point.has_value(), each.stored.has_value()});
  }
  measured.result.points = std::move(plan.points);
  measured.ended.known = std::move(plan.findings);
  schedule_.plan(probe, std::move(planned), now(), time_since_last_step());
}

void Engine::State::refine(std::size_t probe) {
  ProbeState& measured = measured_[probe];
  std::vector<Point>& points = measured.result.points;
  std::vector<Point> more = measured.of.probe->refine(measured.device(), measured.request, points);
  const auto is_planned = [&](const Point& point) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& each) { return each.series == point.series; });
  };
  std::vector<PlannedPoint> planned;
  for (Point& point : more) {
    if (!is_planned(point)) point.facts.set(follow_up, std::int64_t{1});
    planned.push_back(planned_point(point));
  }
  points.insert(points.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  schedule_.add_points(probe, std::move(planned), time_since_last_step());
}

void Engine::State::visit(const Visit& visit) {
  ProbeState& measured = measured_[visit.probe];
  if (observer_.visiting) {
    observer_.visiting(visit.probe, measured.result.points[visit.point]);
  }
  Outcome outcome = measure(measured, visit);
  if (outcome.kind == Outcome::Kind::failed && is_cancelled()) return;
  outcome.took = time_since_last_step();
  ++measured.visit_count;
  schedule_.record(visit, outcome, now());
  report_progress(visit.probe);
}

Outcome Engine::State::measure(ProbeState& measured, const Visit& visit) {
  const Probe& probe = *measured.of.probe;
  Point& point = measured.result.points[visit.point];
  const int visits = schedule_.visits(visit.probe, visit.point);
  try {
    const PreparedPoint prepared = measured.of.backend->prepare(probe, point);
    for (const auto& [name, value] : prepared.facts) point.facts.set(name, value);
    std::vector<KernelBuild>& kernels = measured.result.kernels;
    const bool is_new = std::find(kernels.begin(), kernels.end(), prepared.build) == kernels.end();
    if (is_new && prepared.build != KernelBuild{}) kernels.push_back(prepared.build);
    sample_visit(prepared, measured.device(), measured.of.budget,
                 static_cast<std::uint64_t>(visits), point);
  } catch (const Unsupported& refusal) {
    measured.ended.refusals.push_back({point.series, refusal.what()});
    return {.kind = Outcome::Kind::refused};
  } catch (const VoidedPoint& error) {
    point.failure = error.what();  // also invalidates the earlier samples
    return {.kind = Outcome::Kind::failed};
  } catch (const DeviceError& error) {
    // Cancellation is not a device error.
    if (is_cancelled()) return {.kind = Outcome::Kind::failed};
    if (visits > 0) {
      point.facts.set(later_failure, std::string(error.what()));
    } else {
      point.failure = error.what();
    }
    return {.kind = Outcome::Kind::failed};
  }
  const auto found = estimate(point, measured.device());
  const bool is_narrow = found && width_of_samples(point, *found, measured.device()) <=
                                      measured.of.budget.relative_interval * found->ns;
  return {.is_narrow = is_narrow};
}

void Engine::State::visit_reference(const Visit& visit) {
  ProbeState& measured = measured_[visit.probe];
  ReferenceState& reference = measured.reference_states[visit.point];
  Outcome outcome;
  const bool is_measured = measured.result.points[reference.point].failure.empty() &&
                           measure_reference(measured, reference, outcome);
  if (!is_measured) outcome.kind = Outcome::Kind::failed;
  outcome.took = time_since_last_step();
  schedule_.record(visit, outcome, now());
}

/// Measures a reference and records its time. Returns false after a device error, with a warning.
bool Engine::State::measure_reference(ProbeState& measured, ReferenceState& reference,
                                      Outcome& outcome) {
  const DeviceInfo& device = measured.device();
  Backend& backend = *measured.of.backend;
  Point point = reference.own_point.value_or(measured.result.points[reference.point]);
  point.samples.clear();
  const Time begin = now();
  try {
    const PreparedPoint ready = reference.own_point
                                    ? backend.prepare_kept(*measured.of.probe, point)
                                    : backend.prepare(*measured.of.probe, point);
    const bool is_laid_out = reference.own_point && reference.visits == 0;
    const Time prepared = is_laid_out ? now() : begin;
    // A cheap reference gets more samples than a visit of a point, since scatter within one moment
    // must not look like a disturbance. An expensive reference gets fewer samples, so that more
    // moments can be measured.
    const std::chrono::milliseconds expensive(measured.of.references_from ? 2 : 10);
    const std::uint64_t count = reference.stored ? 3 : 1;
    for (std::uint64_t i = 0; i < count && (i == 0 || now() - prepared <= expensive); ++i) {
      sample_visit(ready, device, measured.of.budget, i, point);
    }
    outcome.measuring = now() - prepared;
    ++reference.visits;
  } catch (const DeviceError& error) {
    if (!is_cancelled()) {
      measured.reference_warnings.push_back(
          {"drift_not_followed", {{"reason", std::string(error.what())}}});
    }
    return false;
  }
  if (&reference == &measured.reference_states.front()) {
    if (const auto ns = speed_ns(point, device)) measured.speeds_ns.push_back(*ns);
  }
  if (!reference.stored || measured.is_certain()) return true;
  Reference& stored = measured.references[*reference.stored];
  stored.spent_seconds += Seconds(now() - begin).count();
  if (const auto found = estimate(point, device)) {
    stored.moments.push_back({Seconds(begin - observer_.began).count(), found->ns});
  }
  return true;
}

void Engine::State::report_progress(std::size_t probe) const {
  if (!observer_.progress) return;
  observer_.progress(probe, schedule_.done_share(probe), schedule_.time_left(probe).count());
}

/// Adds the core use since the last call to the probe that was measured, and starts to count for
/// `probe`.
void Engine::State::count_cores(std::optional<std::size_t> probe) {
  if (probe == counted_) return;
  if (counted_) {
    ProbeState& measured = measured_[*counted_];
    const CoreUse use = measured.of.backend->core_use();
    measured.cores.own_s += use.own_s - cores_before_.own_s;
    measured.cores.busy_s += use.busy_s - cores_before_.busy_s;
    measured.cores.idle_s += use.idle_s - cores_before_.idle_s;
  }
  if (probe) cores_before_ = measured_[*probe].of.backend->core_use();
  counted_ = probe;
}

Seconds Engine::State::time_since_last_step() {
  const Time end = now();
  return end - std::exchange(step_end_, end);
}

ProbeResult Engine::State::result(std::size_t probe) const {
  const ProbeState& measured = measured_[probe];
  ProbeResult result = measured.result;
  result.elapsed_seconds = schedule_.elapsed(probe).count();
  result.others_share = others_share(measured.cores);
  result.references = measured.references;
  result.warnings.insert(result.warnings.end(), measured.reference_warnings.begin(),
                         measured.reference_warnings.end());
  Ending ended = measured.ended;
  ended.is_done = schedule_.is_done(probe);
  ended.speeds_ns = measured.speeds_ns;
  conclude(*measured.of.probe, measured.device(), ended, result);
  return result;
}

Engine::Engine(std::vector<EngineProbe> probes, const SchedulePolicy& policy,
               const Observer& observer)
    : state_(std::make_unique<State>(std::move(probes), policy, observer)) {}
Engine::~Engine() = default;

void Engine::run() { state_->run(); }
bool Engine::has_begun(std::size_t probe) const { return state_->has_begun(probe); }
std::size_t Engine::visit_count(std::size_t probe) const { return state_->visit_count(probe); }
bool Engine::is_done(std::size_t probe) const { return state_->is_done(probe); }
ProbeResult Engine::result(std::size_t probe) const { return state_->result(probe); }
const std::vector<Reference>& Engine::references(std::size_t probe) const {
  return state_->references(probe);
}

ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer) {
  Engine engine({{.probe = &probe,
                  .backend = &backend,
                  .budget = budget,
                  .request = [&] { return request; }}},
                {.shares_run = false}, observer);
  engine.run();
  return engine.result(0);
}

std::vector<Program> programs_for(const Probe& probe, const DeviceInfo& device, std::uint64_t seed,
                                  std::span<const Point> points) {
  std::vector<Program> programs;
  if (probe.builds == nullptr) return programs;
  const std::string file = std::string(probe.id) + ".cl";
  for (const Point& point : points) {
    for (KernelVariant& variant : probe.builds(device, seed, point)) {
      Program program{file, std::move(variant)};
      const bool is_known = std::find(programs.begin(), programs.end(), program) != programs.end();
      if (!is_known) programs.push_back(std::move(program));
    }
  }
  return programs;
}

}  // namespace clprobe
