// SPDX-License-Identifier: Apache-2.0
#include "clprobe/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/expected_time.hpp"
#include "clprobe/point_facts.hpp"
#include "clprobe/run.hpp"
#include "clprobe/scatter.hpp"
#include "engine/conclude.hpp"
#include "engine/references.hpp"
#include "engine/sampler.hpp"

namespace clprobe {
namespace {

using Seconds = std::chrono::duration<double>;
using Steady = std::chrono::steady_clock;

/// `first` and what follows it of so many.
std::vector<std::size_t> indices_from(std::size_t first, std::size_t count) {
  std::vector<std::size_t> order(count - first);
  std::iota(order.begin(), order.end(), first);
  return order;
}

/// A point of each series before all others, else in the order given: where time runs out, none of
/// them is missing.
std::vector<std::size_t> each_series_first(std::span<const Point> points,
                                           const std::vector<std::size_t>& order) {
  std::set<std::string_view> seen;
  std::vector<std::size_t> first;
  std::vector<std::size_t> rest;
  for (const std::size_t index : order) {
    (seen.insert(points[index].series).second ? first : rest).push_back(index);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

/// How many times as often as others the point is visited in a round.
int visits_in_round(const Point& point) {
  constexpr std::int64_t max_visits = 16;  // a document may say anything
  return static_cast<int>(
      std::clamp(point.facts.integer_or(visited_often, 1), std::int64_t{1}, max_visits));
}

/// The order with those points several times that are visited often: again and again in as many
/// equal parts of the round.
std::vector<std::size_t> with_repeats(std::span<const Point> points,
                                      const std::vector<std::size_t>& order) {
  // What is visited behind the first, second, ... of the order.
  std::vector<std::vector<std::size_t>> behind(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto times = static_cast<std::size_t>(visits_in_round(points[order[place]]));
    for (std::size_t time = 0; time < times; ++time) {
      behind[(place + time * order.size() / times) % order.size()].push_back(order[place]);
    }
  }
  std::vector<std::size_t> all;
  for (const std::vector<std::size_t>& each : behind) {
    all.insert(all.end(), each.begin(), each.end());
  }
  return all;
}

// Of so many the two least and the two most are beyond a 95 % interval of their median: one moment
// in which a host was fast or slow is then no end of it.
constexpr int enough_visits = 12;

}  // namespace

/// The points, their progress, and the time.
class Measuring::Passes {
 public:
  Passes(const Probe& probe, Backend& backend, Request request, const Budget& budget,
         const Observer& observer)
      : probe_(probe),
        backend_(backend),
        request_(std::move(request)),
        budget_(budget),
        observer_(observer),
        random_(budget.seed),
        references_(probe, backend, budget_, observer) {
    result_.probe = probe.id;
  }

  void pass() {
    begin();
    if (rounds_++ == 0) {
      first_round();
    } else {
      visit_all(shuffled_from(0));
    }
    if (rounds_ > 1) finish_few();
    ended_.is_done = !cancelled() && (rounds_ >= budget_.max_visits || out_of_time() || has_all());
    if (ended_.is_done && !says_the_same()) visit_again();
    if (!is_given_ && !stopped()) references_.look_again(result_.points, std::chrono::seconds(1));
    was_cancelled_ = cancelled();
    end();
  }

  void watch() {
    Plan plan = probe_.plan(backend_.device(), request_);
    references_.watch(plan);
    result_.points = std::move(plan.points);
  }

  void look_again(std::chrono::seconds between) {
    if (!is_given_ && !cancelled()) references_.look_again(result_.points, between);
  }

  void look_at_kept(std::chrono::milliseconds between) {
    if (!is_given_ && !cancelled()) references_.look_at_kept(result_.points, between);
  }

  bool visit_again_if_cheap() {
    if (!is_worth_another_visit()) return false;
    begin();
    for (const std::size_t index : shuffled_from(0)) {
      if (cancelled()) break;
      if (is_beyond_budget() && progress_[index].done) continue;
      if (may_visit_again(index)) visit(index);
    }
    ++rounds_;
    end();
    return true;
  }

  [[nodiscard]] bool is_done() const { return ended_.is_done || was_cancelled_; }
  [[nodiscard]] ProbeResult result() const;
  [[nodiscard]] const std::vector<Reference>& references() const { return references_.seen(); }

 private:
  /// A point on its way.
  struct Progress {
    int visits{0};
    bool done{false};
  };

  void begin();
  void end();
  void first_round();
  void visit_urgent();
  void finish_few();
  std::vector<std::size_t> shuffled_from(std::size_t first);
  void visit_all(const std::vector<std::size_t>& order);
  void visit_and_look(std::size_t index);
  void leave_to_others();
  void add_refined();
  void visit_again();
  [[nodiscard]] bool may_visit_again(std::size_t index) const;
  [[nodiscard]] bool is_worth_another_visit() const;
  /// Then only points whose intervals are still wide are visited.
  [[nodiscard]] bool is_beyond_budget() const { return rounds_ >= budget_.max_visits; }
  void visit(std::size_t index);
  void report_progress();
  void judge(std::size_t index);
  void remember(const KernelBuild& build);

  [[nodiscard]] bool cancelled() const { return observer_.cancelled && observer_.cancelled(); }
  [[nodiscard]] double elapsed_s() const {
    const auto here = begin_ ? Seconds(backend_.now() - *begin_) : Seconds(0.0);
    return elapsed_before_s_ + here.count();
  }
  [[nodiscard]] std::size_t points_left() const {
    return static_cast<std::size_t>(std::count_if(progress_.begin(), progress_.end(),
                                                  [](const Progress& each) { return !each.done; }));
  }
  [[nodiscard]] bool has_all() const { return points_left() == 0; }
  /// At every visit: what is played back or simulated.
  [[nodiscard]] bool says_the_same() const { return is_given_ || is_simulated(backend_.device()); }
  [[nodiscard]] bool has_limit() const { return clprobe::has_limit(budget_, backend_.device()); }
  [[nodiscard]] bool out_of_time(double share = 1.0) const {
    if (!first_visit_s_ || !has_limit()) return false;
    const double spared = plan_.is_ordered
                              ? std::min(*first_visit_s_, budget_.first_visit_time.count())
                              : *first_visit_s_;
    return elapsed_s() - spared > share * budget_.probe_time.count();
  }
  [[nodiscard]] bool stopped() const { return cancelled() || out_of_time(); }

  const Probe& probe_;
  Backend& backend_;
  Request request_;
  Budget budget_;
  const Observer& observer_;
  std::mt19937_64 random_;
  std::optional<Steady::time_point> begin_{};  // of the pass that is made now
  double elapsed_before_s_{0.0};
  CoreUse cores_at_begin_{};
  CoreUse cores_{};  // in all passes before this one
  int rounds_{0};
  bool was_cancelled_{false};
  bool is_given_{false};  // the backend has points of its own
  Plan plan_{};           // without its points and findings
  Ending ended_{};
  ProbeResult result_{};
  std::vector<Progress> progress_{};
  References references_;
  std::optional<double> first_visit_s_{};
};

void Measuring::Passes::begin() {
  begin_ = backend_.now();
  cores_at_begin_ = backend_.core_use();
}

void Measuring::Passes::end() {
  const CoreUse now = backend_.core_use();
  cores_.own_s += now.own_s - cores_at_begin_.own_s;
  cores_.busy_s += now.busy_s - cores_at_begin_.busy_s;
  cores_.idle_s += now.idle_s - cores_at_begin_.idle_s;
  elapsed_before_s_ = elapsed_s();
  begin_.reset();
}

void Measuring::Passes::first_round() {
  std::optional<Plan> given = backend_.plan_of(probe_);
  is_given_ = given.has_value();
  Plan plan = given ? std::move(*given) : probe_.plan(backend_.device(), request_);
  references_.choose(plan, request_, !says_the_same());
  result_.points = std::move(plan.points);
  ended_.known = std::move(plan.findings);
  progress_.resize(result_.points.size());
  plan_ = std::move(plan);
  if (plan_.urgent > 0) visit_urgent();
  // Of all, those that were not visited before.
  const auto in_order = indices_from(plan_.urgent, result_.points.size());
  visit_all(plan_.is_ordered ? in_order : each_series_first(result_.points, shuffled_from(0)));
  if (!stopped() && !is_given_ && probe_.refine != nullptr) add_refined();
}

/// A first look may end before its last round: what it is about is then known as well as it can be.
void Measuring::Passes::visit_urgent() {
  constexpr double max_share = 0.8;
  for (int round = 0; round < plan_.max_urgent_visits; ++round) {
    for (std::size_t index = 0; index < plan_.urgent; ++index) {
      if (stopped() || (round > 0 && out_of_time(max_share))) return;
      if (!progress_[index].done) visit_and_look(index);
    }
  }
}

/// So that drift and bursts of noise do not follow the sizes.
std::vector<std::size_t> Measuring::Passes::shuffled_from(std::size_t first) {
  std::vector<std::size_t> order = indices_from(first, result_.points.size());
  std::shuffle(order.begin(), order.end(), random_);
  return order;
}

void Measuring::Passes::visit_all(const std::vector<std::size_t>& order) {
  std::vector<const Point*> expected;
  for (const std::size_t index : order) {
    if (!progress_[index].done) expected.push_back(&result_.points[index]);
  }
  backend_.expect(probe_, expected);
  for (const std::size_t index : with_repeats(result_.points, order)) {
    if (stopped()) return;
    if (!progress_[index].done) visit_and_look(index);
  }
}

void Measuring::Passes::visit_and_look(std::size_t index) {
  visit(index);
  references_.follow(result_.points);
  leave_to_others();
  report_progress();
}

void Measuring::Passes::leave_to_others() {
  if (!observer_.between_points) return;
  const Steady::time_point before = backend_.now();
  observer_.between_points();
  *begin_ += backend_.now() - before;
}

void Measuring::Passes::add_refined() {
  const std::size_t first = result_.points.size();
  const auto is_planned = [&](std::string_view series) {
    return std::any_of(result_.points.begin(), result_.points.begin() + std::ssize(progress_),
                       [&](const Point& each) { return each.series == series; });
  };
  for (Point& point : probe_.refine(backend_.device(), request_, result_.points)) {
    if (!is_planned(point.series)) point.facts.set(follow_up, std::int64_t{1});
    result_.points.push_back(std::move(point));
  }
  progress_.resize(result_.points.size());
  visit_all(shuffled_from(first));
}

/// A turn opens the probe's buffers anew, which takes longer than a few points do: their rounds are
/// made at once.
void Measuring::Passes::finish_few() {
  constexpr std::size_t tenth = 10;
  while (rounds_ < budget_.max_visits && !stopped() && !has_all() &&
         points_left() * tenth <= progress_.size()) {
    visit_all(shuffled_from(0));
    ++rounds_;
  }
}

/// A disturbed host is slow for a while and fast for a while, so that a handful of points, done in
/// a moment, could all meet it at its slowest with narrow intervals.
void Measuring::Passes::visit_again() {
  constexpr int max_rounds = 20;
  for (int round = 0; round < max_rounds && !stopped(); ++round) {
    for (std::size_t index = 0; index < result_.points.size(); ++index) {
      if (stopped() || elapsed_s() - first_visit_s_.value_or(0.0) > budget_.min_time.count()) {
        return;
      }
      if (may_visit_again(index)) visit(index);
    }
  }
}

/// A point without samples was refused, and would be refused again; a lost device stays lost.
bool Measuring::Passes::may_visit_again(std::size_t index) const {
  const Point& point = result_.points[index];
  const bool is_there = point.failure.empty() && !point.samples.empty();
  return is_there && point.facts.find(later_failure) == nullptr;
}

/// What another round takes is a small part of the run.
bool Measuring::Passes::is_worth_another_visit() const {
  constexpr double max_share = 0.08;
  if (says_the_same() || cancelled()) return false;
  if (!ended_.is_done || rounds_ >= std::max(budget_.max_visits, enough_visits)) return false;
  if (is_beyond_budget() && has_all()) return false;
  const Seconds run = backend_.now() - observer_.began;
  return elapsed_before_s_ * (rounds_ + 1) / rounds_ <= max_share * run.count();
}

void Measuring::Passes::visit(std::size_t index) {
  Point& point = result_.points[index];
  Progress& progress = progress_[index];
  if (observer_.visiting) observer_.visiting(probe_, point);
  try {
    const Work work = backend_.prepare(probe_, point);
    for (const auto& [name, value] : work.facts) point.facts.set(name, value);
    remember(work.build);
    sample_visit(work, backend_.device(), budget_, static_cast<std::uint64_t>(progress.visits),
                 point);
  } catch (const Unsupported& refusal) {
    ended_.refusals.push_back({point.series, refusal.what()});
    progress.done = true;
    return;
  } catch (const VoidedPoint& error) {
    point.failure = error.what();  // what it said before is not believed either
    progress.done = true;
  } catch (const DeviceError& error) {
    if (cancelled()) return;  // the error is the interrupt's, not the device's
    if (progress.visits > 0) {
      point.facts.set(later_failure, std::string(error.what()));
    } else {
      point.failure = error.what();
    }
    progress.done = true;
  }
  if (!first_visit_s_) first_visit_s_ = elapsed_s();
  ++progress.visits;
  if (!progress.done) judge(index);
}

/// A point is done when it was visited often enough and its interval is narrow; a simulated one at
/// once, unless it is a recorded one of several visits.
void Measuring::Passes::judge(std::size_t index) {
  Progress& progress = progress_[index];
  const Point& point = result_.points[index];
  const auto found = estimate(point, backend_.device());
  const bool narrow = found && width_of_samples(point, *found, backend_.device()) <=
                                   budget_.relative_interval * found->ns;
  const int min_visits =
      index < plan_.urgent ? plan_.min_urgent_visits : budget_.min_visits * visits_in_round(point);
  const bool is_certain = says_the_same() && !is_given_;
  progress.done = is_certain || (narrow && progress.visits >= min_visits);
}

void Measuring::Passes::report_progress() {
  if (!observer_.progress) return;
  const auto visits = [](double sum, const Progress& each) {
    return sum + (each.done ? 1.0 : std::min(0.9, 0.45 * each.visits));
  };
  const double done = std::accumulate(progress_.begin(), progress_.end(), 0.0, visits) /
                      static_cast<double>(std::max<std::size_t>(1, progress_.size()));
  const double by_pace = done > 0 ? elapsed_s() * (1.0 - done) / done : 0.0;
  const double by_budget =
      std::max(0.0, expected_seconds(budget_) + first_visit_s_.value_or(0.0) - elapsed_s());
  const bool is_by_pace = is_limit(budget_) || !has_limit();
  const double later = is_by_pace ? by_pace : std::min(by_pace, by_budget);
  observer_.progress(probe_, done, done > 0.1 ? later : by_budget);
}

void Measuring::Passes::remember(const KernelBuild& build) {
  if (build == KernelBuild{}) return;  // a backend that builds nothing
  if (std::find(result_.kernels.begin(), result_.kernels.end(), build) == result_.kernels.end()) {
    result_.kernels.push_back(build);
  }
}

ProbeResult Measuring::Passes::result() const {
  ProbeResult result = result_;
  result.elapsed_seconds = elapsed_s();
  result.others_share = others_share(cores_);
  result.references = references_.seen();
  result.warnings.insert(result.warnings.end(), references_.warnings().begin(),
                         references_.warnings().end());
  Ending ended = ended_;
  ended.speeds_ns = references_.speeds_ns();
  conclude(probe_, backend_.device(), ended, result);
  return result;
}

Measuring::Measuring(const Probe& probe, Backend& backend, Request request, const Budget& budget,
                     const Observer& observer)
    : passes_(std::make_unique<Passes>(probe, backend, std::move(request), budget, observer)) {}
Measuring::Measuring(Measuring&&) noexcept = default;
Measuring& Measuring::operator=(Measuring&&) noexcept = default;
Measuring::~Measuring() = default;

void Measuring::pass() { passes_->pass(); }
void Measuring::watch() { passes_->watch(); }
bool Measuring::visit_again() { return passes_->visit_again_if_cheap(); }
void Measuring::look_again(std::chrono::seconds between) { passes_->look_again(between); }
void Measuring::look_at_kept(std::chrono::milliseconds between) { passes_->look_at_kept(between); }
const std::vector<Reference>& Measuring::references() const { return passes_->references(); }
bool Measuring::is_done() const { return passes_->is_done(); }
ProbeResult Measuring::result() const { return passes_->result(); }

ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer) {
  Measuring measuring(probe, backend, request, budget, observer);
  while (!measuring.is_done()) measuring.pass();
  return measuring.result();
}

}  // namespace clprobe
