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

// Of the device's memory, those of a probe keep one part of so many at most.
constexpr std::uint64_t kept_part = 8;
// Disturbances last for seconds, and a GPU measures sixteen points in a hundredth of one.
constexpr std::chrono::milliseconds between_looks{300};

}  // namespace

References::References(const Probe& probe, Backend& backend, const Budget& budget,
                       const Observer& observer)
    : probe_(probe), backend_(backend), budget_(budget), observer_(observer) {}

void References::choose(const Plan& plan, const Request& request, bool is_time_real) {
  constexpr std::size_t worth_following = 8;
  is_time_real_ = is_time_real;
  // A limit that was asked for is one for all buffers.
  const bool may_keep = is_time_real && request.max_memory.count == 0;
  follow_planned(plan, may_keep ? backend_.device().global_memory / kept_part : Bytes{});
  // It may scatter more than what it would stand for. What the host waits for tells of its
  // scheduler, and not of the device's speed. What is visited once is a moment that does not come
  // again: `clock` would wait a second more for each look at an idle device.
  const bool is_seen_again = budget_.max_visits > 1 || !is_time_real;
  if (followed_.empty() && plan.points.size() >= worth_following && is_seen_again &&
      timer_of(plan.points.front(), backend_.device()) != Timer::wait) {
    followed_.push_back({.point = 0});
  }
  if (!is_time_real_) seen_ = plan.recorded_references;
  begin();
}

void References::watch(const Plan& plan) {
  manner_ = {.parts = 100, .dear = std::chrono::milliseconds(2)};
  follow_planned(plan, backend_.device().global_memory / kept_part);
  for (Reference& each : seen_) each.is_rate = probe_.unit != Unit::seconds;
  begin();
}

void References::follow_planned(const Plan& plan, Bytes room) {
  Bytes kept{};
  for (const PlannedReference& each : plan.references) {
    const Point& point = plan.points.at(each.point);
    followed_.push_back({.point = each.point, .place = seen_.size()});
    seen_.push_back({each.kind, point.series, point.parameters, {}});
    if (!each.alone || room < kept + each.alone->memory) continue;
    kept = kept + each.alone->memory;
    followed_.back().alone = each.alone->point;
  }
}

void References::begin() {
  for (Followed& each : followed_) {
    each.began = backend_.now();
    each.last = each.began - between_looks;  // so that the first look is one of sixteen points
  }
}

void References::follow(std::span<const Point> points) {
  constexpr int points_between = 16;
  if (++points_since_ < points_between) return;
  points_since_ = 0;
  // The drift of a short probe, which is followed without references, needs every look.
  const bool are_apart = is_time_real_ && !seen_.empty();
  measure_due(Which::all, points, are_apart ? between_looks : Steady::duration{});
}

void References::look_again(std::span<const Point> points, std::chrono::seconds between) {
  measure_due(Which::all, points, between);
}

void References::look_at_kept(std::span<const Point> points, std::chrono::milliseconds between) {
  measure_due(Which::kept, points, between);
}

/// Each by itself: a large working set may take longer to lay out than sixteen points to measure,
/// and the others need not wait for it.
bool References::is_due(const Followed& followed, Steady::duration at_least) const {
  constexpr std::chrono::milliseconds hardly_any{2};
  const Steady::time_point now = backend_.now();
  if (now - followed.last < at_least) return false;
  // A simulated run is the same however long it takes.
  if (!is_time_real_ || followed.spent <= followed.looks * hardly_any) return true;
  return followed.spent * manner_.parts <= now - followed.began;
}

void References::measure_due(Which which, std::span<const Point> points,
                             Steady::duration at_least) {
  std::vector<Followed> still;
  for (Followed& each : followed_) {
    const bool is_meant = which == Which::all || each.alone.has_value();
    if (is_meant && is_due(each, at_least)) {
      if (observer_.cancelled && observer_.cancelled()) return;
      if (!measure(each, points[each.point])) continue;
    }
    still.push_back(each);
  }
  followed_ = std::move(still);
}

/// Whether it goes on.
bool References::measure(Followed& followed, const Point& planned) {
  if (!planned.failure.empty()) return false;
  Point point = followed.alone.value_or(planned);
  point.samples.clear();
  const Steady::time_point now = backend_.now();
  try {
    const Work work =
        followed.alone ? backend_.prepare_kept(probe_, point) : backend_.prepare(probe_, point);
    // What is kept is laid out once.
    const bool is_once = followed.alone && followed.looks == 0;
    const Steady::time_point begin = is_once ? backend_.now() : now;
    // More than a visit's where they take little: what a moment scatters by is no disturbance of
    // the run. Of dear ones more moments tell more.
    const std::uint64_t visits = followed.place ? 3 : 1;
    for (std::uint64_t visit = 0; visit < visits; ++visit) {
      if (visit > 0 && backend_.now() - begin > manner_.dear) break;
      sample_visit(work, backend_.device(), budget_, visit, point);
    }
    followed.last = backend_.now();
    followed.spent += followed.last - begin;
    ++followed.looks;
    if (followed.place && is_time_real_) {
      const std::chrono::duration<double> all = followed.last - now;
      seen_[*followed.place].spent_seconds += all.count();
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
