// SPDX-License-Identifier: Apache-2.0
#include "engine/references.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "clprobe/estimate.hpp"
#include "engine/sampler.hpp"

namespace clprobe {
namespace {

// Of the time, one part of so many.
constexpr int max_share = 10;

}  // namespace

References::References(const Probe& probe, Backend& backend, const Budget& budget,
                       const Observer& observer)
    : probe_(probe), backend_(backend), budget_(budget), observer_(observer) {}

void References::choose(const Plan& plan, bool is_time_real) {
  constexpr std::size_t worth_following = 8;
  is_time_real_ = is_time_real;
  for (const PlannedReference& each : plan.references) {
    const Point& point = plan.points.at(each.point);
    followed_.push_back({each.point, seen_.size()});
    seen_.push_back({each.kind, point.series, point.parameters, {}});
  }
  // It may scatter more than what it would stand for.
  if (followed_.empty() && plan.points.size() >= worth_following) followed_.push_back({0, {}});
  if (!is_time_real_) seen_ = plan.recorded_references;
  last_ = Steady::now();
}

void References::follow(std::span<const Point> points) {
  constexpr int points_between = 16;
  constexpr std::chrono::milliseconds hardly_any{20};
  if (++points_since_ < points_between) return;
  // A large working set may take longer to lay out than sixteen points to measure.
  if (last_took_ >= hardly_any && Steady::now() - last_ < last_took_ * max_share) return;
  measure_all(points);
}

void References::look_again(std::span<const Point> points) {
  constexpr std::chrono::seconds some_time{1};
  if (Steady::now() - last_ < std::max<Steady::duration>(some_time, last_took_ * max_share)) return;
  measure_all(points);
}

void References::measure_all(std::span<const Point> points) {
  points_since_ = 0;
  const Steady::time_point begin = Steady::now();
  std::vector<Followed> still;
  for (const Followed& each : followed_) {
    if (observer_.cancelled && observer_.cancelled()) return;
    if (measure(each, points[each.point])) still.push_back(each);
  }
  followed_ = std::move(still);
  last_ = Steady::now();
  last_took_ = last_ - begin;
}

/// Whether it goes on.
bool References::measure(const Followed& followed, Point point) {
  if (!point.failure.empty()) return false;
  point.samples.clear();
  const Steady::time_point now = Steady::now();
  try {
    const Work work = backend_.prepare(probe_, point);
    // More than a visit's: what a moment scatters by is no disturbance of the run.
    const std::uint64_t looks = followed.place ? 3 : 1;
    for (std::uint64_t look = 0; look < looks; ++look) {
      sample_visit(work, backend_.device(), budget_, look, point);
    }
  } catch (const DeviceError& error) {
    // The point may have been done before, and would not tell.
    const bool is_interrupt = observer_.cancelled && observer_.cancelled();
    if (!is_interrupt) {
      warnings_.push_back({"drift_not_followed", {{"reason", std::string(error.what())}}});
    }
    return false;
  }
  if (&followed == &followed_.front()) {
    if (const auto ns = speed_ns(point, backend_.device())) speeds_ns_.push_back(*ns);
  }
  const std::optional<Estimate> found = estimate(point, backend_.device());
  if (!found || !followed.place || !is_time_real_) return true;
  const std::chrono::duration<double> since_begin = now - observer_.began;
  seen_[*followed.place].moments.push_back({since_begin.count(), found->ns});
  return true;
}

}  // namespace clprobe
