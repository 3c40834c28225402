// SPDX-License-Identifier: Apache-2.0
#include "clprobe/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/scatter.hpp"
#include "engine/sampler.hpp"

namespace clprobe {
namespace {

using Seconds = std::chrono::duration<double>;
using Steady = std::chrono::steady_clock;

/// A point on its way.
struct Progress {
  int visits{0};
  bool done{false};
};

/// A point that the device does not support.
struct Refusal {
  std::string series;
  std::string reason;
};

/// One call of measure(): the points, their progress, and the time.
class ProbeRun {
 public:
  ProbeRun(const Probe& probe, Backend& backend, const Request& request, const Budget& budget,
           const Observer& observer)
      : probe_(probe),
        backend_(backend),
        request_(request),
        budget_(budget),
        observer_(observer),
        random_(budget.seed) {
    result_.probe = probe.id;
  }

  ProbeResult run() {
    const std::optional<Plan> given = backend_.plan_of(probe_);
    Plan plan = given ? *given : probe_.plan(backend_.device(), request_);
    result_.points = std::move(plan.points);
    std::vector<Finding> known = std::move(plan.findings);
    progress_.resize(result_.points.size());
    choose_sentinel();
    visit_all_from(0);
    if (!stopped() && !given && probe_.refine != nullptr) add_refined();
    for (int round = 1; round < budget_.max_visits && !stopped(); ++round) visit_all_from(0);
    if (!given) visit_again();
    drop_unvisited();
    finish(std::move(known));
    return std::move(result_);
  }

 private:
  void choose_sentinel();
  void visit_all_from(std::size_t first);
  void add_refined();
  void visit_again();
  void visit(std::size_t index);
  void follow_sentinel();
  void report_progress();
  void drop_unvisited();
  void finish(std::vector<Finding> known);
  void judge(std::size_t index);
  void remember(const KernelBuild& build);
  void report_refusals();
  void warn_of(const Refusal& refusal);
  void report_width();

  [[nodiscard]] bool cancelled() const { return observer_.cancelled && observer_.cancelled(); }
  [[nodiscard]] double elapsed_s() const { return Seconds(Steady::now() - begin_).count(); }
  /// The first visit makes what all points use (buffers, cycles) and is not counted.
  [[nodiscard]] bool out_of_time() const {
    return elapsed_s() - first_visit_s_.value_or(elapsed_s()) > budget_.probe_time.count();
  }
  [[nodiscard]] bool stopped() const { return cancelled() || out_of_time(); }

  const Probe& probe_;
  Backend& backend_;
  const Request& request_;
  Budget budget_;
  const Observer& observer_;
  std::mt19937_64 random_;
  Steady::time_point begin_{Steady::now()};
  ProbeResult result_{};
  std::vector<Progress> progress_{};
  std::optional<std::size_t> sentinel_{};
  std::vector<double> sentinel_ns_{};
  int since_sentinel_{0};
  std::vector<Refusal> refusals_{};
  std::optional<double> first_visit_s_{};
};

/// The smallest point of the first series stands for the clock: what it takes should not change.
void ProbeRun::choose_sentinel() {
  constexpr std::size_t worth_following = 8;
  if (result_.points.size() < worth_following) return;
  sentinel_ = 0;
}

void ProbeRun::visit_all_from(std::size_t first) {
  std::vector<std::size_t> order(result_.points.size() - first);
  std::iota(order.begin(), order.end(), first);
  // Shuffled, so that drift and bursts of noise do not follow the sizes.
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::size_t index : order) {
    if (stopped()) return;
    if (progress_[index].done) continue;
    visit(index);
    follow_sentinel();
    report_progress();
  }
}

void ProbeRun::add_refined() {
  const std::size_t first = result_.points.size();
  for (Point& point : probe_.refine(backend_.device(), request_, result_.points)) {
    result_.points.push_back(std::move(point));
  }
  progress_.resize(result_.points.size());
  visit_all_from(first);
}

/// A disturbed host is slow for a while and fast for a while, so that a handful of points, done in
/// a moment, could all meet it at its slowest with narrow intervals.
void ProbeRun::visit_again() {
  constexpr int max_rounds = 20;
  for (int round = 0; round < max_rounds && !stopped(); ++round) {
    for (std::size_t index = 0; index < result_.points.size(); ++index) {
      if (stopped() || elapsed_s() - first_visit_s_.value_or(0.0) > budget_.min_time.count()) {
        return;
      }
      const Point& point = result_.points[index];
      // A point without samples was refused, and would be refused again.
      if (point.failure.empty() && !point.samples.empty()) visit(index);
    }
  }
}

void ProbeRun::visit(std::size_t index) {
  Point& point = result_.points[index];
  Progress& progress = progress_[index];
  try {
    const Work work = backend_.prepare(probe_, point);
    for (const auto& [name, value] : work.facts) point.facts.set(name, value);
    remember(work.build);
    sample_visit(work, backend_.device(), budget_, static_cast<std::uint64_t>(progress.visits),
                 point);
  } catch (const Unsupported& refusal) {
    refusals_.push_back({point.series, refusal.what()});
    progress.done = true;
    return;
  } catch (const DeviceError& error) {
    if (cancelled()) return;  // the error is the interrupt's, not the device's
    point.failure = error.what();
    progress.done = true;
  }
  if (!first_visit_s_) first_visit_s_ = elapsed_s();
  ++progress.visits;
  if (!progress.done) judge(index);
}

/// A point is done when it was visited often enough and its interval is narrow.
void ProbeRun::judge(std::size_t index) {
  Progress& progress = progress_[index];
  const auto found = estimate(result_.points[index], backend_.device());
  const bool narrow = found && found->ns_interval.high - found->ns_interval.low <=
                                   budget_.relative_interval * found->ns;
  progress.done = narrow && progress.visits >= budget_.min_visits;
}

void ProbeRun::follow_sentinel() {
  constexpr int points_between = 16;
  if (!sentinel_ || ++since_sentinel_ < points_between) return;
  since_sentinel_ = 0;
  Point probe_point = result_.points[*sentinel_];
  if (!probe_point.failure.empty()) return;
  probe_point.samples.clear();
  try {
    const Work work = backend_.prepare(probe_, probe_point);
    sample_visit(work, backend_.device(), budget_, 0, probe_point);
    if (const auto ns = sentinel_time_ns(probe_point, backend_.device())) {
      sentinel_ns_.push_back(*ns);
    }
  } catch (const DeviceError& error) {
    sentinel_.reset();
    // The point may have been done before, and would not tell.
    if (cancelled()) return;
    result_.warnings.push_back({"drift_not_followed", {{"reason", std::string(error.what())}}});
  }
}

void ProbeRun::report_progress() {
  if (!observer_.progress) return;
  const auto visits = [](double sum, const Progress& each) {
    return sum + (each.done ? 1.0 : std::min(0.9, 0.45 * each.visits));
  };
  const double done = std::accumulate(progress_.begin(), progress_.end(), 0.0, visits) /
                      static_cast<double>(std::max<std::size_t>(1, progress_.size()));
  const double by_pace = done > 0 ? elapsed_s() * (1.0 - done) / done : 0.0;
  const double by_budget =
      std::max(0.0, budget_.probe_time.count() + first_visit_s_.value_or(0.0) - elapsed_s());
  observer_.progress(probe_, done, done > 0.1 ? std::min(by_pace, by_budget) : by_budget);
}

void ProbeRun::remember(const KernelBuild& build) {
  if (build == KernelBuild{}) return;  // a backend that builds nothing
  if (std::find(result_.kernels.begin(), result_.kernels.end(), build) == result_.kernels.end()) {
    result_.kernels.push_back(build);
  }
}

/// A point without a sample and without a failure says nothing: the run ended before it.
void ProbeRun::drop_unvisited() {
  const auto planned = static_cast<std::int64_t>(result_.points.size() - refusals_.size());
  std::erase_if(result_.points,
                [](const Point& point) { return point.samples.empty() && point.failure.empty(); });
  const auto measured = static_cast<std::int64_t>(result_.points.size());
  if (measured < planned && !cancelled()) {
    result_.warnings.push_back(
        {"time_budget_short", {{"measured", measured}, {"planned", planned}}});
  }
}

/// Points of a series that are refused for the same reason share a warning.
void ProbeRun::warn_of(const Refusal& refusal) {
  for (Warning& warning : result_.warnings) {
    const bool is_same = warning.code == "point_refused" &&
                         warning.facts.text_or("series", "") == refusal.series &&
                         warning.facts.text_or("reason", "") == refusal.reason;
    if (!is_same) continue;
    warning.facts.set("points", warning.facts.integer_or("points", 1) + 1);
    return;
  }
  result_.warnings.push_back(
      {"point_refused",
       {{"series", refusal.series}, {"reason", refusal.reason}, {"points", std::int64_t{1}}}});
}

/// A series of which all points were refused is a finding, one of which some were a warning.
void ProbeRun::report_refusals() {
  for (const Refusal& refusal : refusals_) {
    const auto is_same = [&](const auto& each) { return each.series == refusal.series; };
    if (std::any_of(result_.points.begin(), result_.points.end(), is_same)) {
      warn_of(refusal);
    } else if (std::none_of(result_.findings.begin(), result_.findings.end(), is_same)) {
      Finding finding;
      finding.name = probe_.id;
      finding.series = refusal.series;
      finding.source = Source::reported;
      finding.method = "plan";
      finding.reason = refusal.reason;
      result_.findings.push_back(std::move(finding));
    }
  }
}

void ProbeRun::report_width() {
  if (auto scatter = find_scatter(result_.points, backend_.device())) {
    result_.warnings.push_back(std::move(*scatter));
  }
}

void ProbeRun::finish(std::vector<Finding> known) {
  result_.elapsed_seconds = elapsed_s();
  Findings found = probe_.analyse(backend_.device(), result_.points);
  result_.findings = std::move(found.findings);
  result_.findings.insert(result_.findings.end(), known.begin(), known.end());
  result_.warnings.insert(result_.warnings.end(), found.warnings.begin(), found.warnings.end());
  report_refusals();
  declare(probe_, result_);
  report_width();
  if (const auto drift = drift_of(sentinel_ns_)) {
    result_.warnings.push_back({"clock_drift", {{"drift_share", *drift}}});
  }
  const auto failed = std::count_if(result_.points.begin(), result_.points.end(),
                                    [](const Point& point) { return !point.failure.empty(); });
  const auto all = static_cast<std::ptrdiff_t>(result_.points.size());
  if (cancelled()) {
    result_.status = Status::interrupted;
    result_.reason = "interrupted; what was measured until then is kept";
  } else if (failed > 0) {
    const auto first = std::find_if(result_.points.begin(), result_.points.end(),
                                    [](const Point& point) { return !point.failure.empty(); });
    result_.status = Status::failed;
    result_.reason = fmt::format("{} of {} failed, the first: {}", failed,
                                 format_count(result_.points.size(), "point"), first->failure);
  } else if (all == 0) {
    result_.status = Status::unsupported;
    const auto why = std::find_if(result_.findings.begin(), result_.findings.end(),
                                  [](const Finding& finding) { return !finding.reason.empty(); });
    result_.reason = why == result_.findings.end() ? "nothing to measure" : why->reason;
  }
}

}  // namespace

ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer) {
  return ProbeRun(probe, backend, request, budget, observer).run();
}

}  // namespace clprobe
