// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/findings.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "clprobe/estimate.hpp"
#include "probes/launch/series.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::launch {
namespace {

constexpr std::string_view median_method = "median";

Finding seconds_of(std::string_view name, std::string_view series, std::string_view method,
                   const Estimate& time) {
  return finding_of(name, series, "seconds", method, time.ns / ns_per_second,
                    time.ns_interval.low / ns_per_second, time.ns_interval.high / ns_per_second);
}

/// The time of a launch where so many are waited for together.
struct Queued {
  std::uint64_t launches{1};
  Estimate each{};
};

/// By how many.
std::vector<Queued> queued_in(std::string_view series, const DeviceInfo& device,
                              std::span<const Point> points) {
  std::vector<Queued> all;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (shape && time) all.push_back({shape->launches, *time});
  }
  std::sort(all.begin(), all.end(),
            [](const Queued& a, const Queued& b) { return a.launches < b.launches; });
  return all;
}

void add_slow_round_trip(Findings& found, std::span<const Point> points) {
  for (const Point& point : points) {
    const std::optional<double> slow = number_in(point.facts, slow_ns);
    const std::optional<double> middle = number_in(point.facts, middle_ns);
    if (point.series != queued_series || !slow || !middle) continue;
    Finding finding =
        finding_of("slow_round_trip", point.series, "seconds", "99 % of 1,000",
                   *slow / ns_per_second, *middle / ns_per_second, *slow / ns_per_second);
    finding.high.reset();
    finding.low.reset();
    found.findings.push_back(std::move(finding));
    return;
  }
}

/// What waiting for one launch takes, and a launch among the most that are waited for together.
void add_queued(Findings& found, const SeriesSpec& series, const std::vector<Queued>& all,
                std::span<const Point> points) {
  const bool is_plain = series.name == queued_series;
  if (is_plain && all.front().launches == 1) {
    found.findings.push_back(
        seconds_of("round_trip", series.name, median_method, all.front().each));
    add_slow_round_trip(found, points);
  }
  const Queued& most = all.back();
  if (most.launches == 1) return;
  found.findings.push_back(seconds_of("launch_time", series.name, median_method, most.each));
  if (!is_plain) return;
  found.findings.push_back(finding_of("launch_rate", series.name, "operations_per_second",
                                      median_method, ns_per_second / most.each.ns,
                                      ns_per_second / most.each.ns_interval.high,
                                      ns_per_second / most.each.ns_interval.low));
}

std::string_view name_of(Manner manner) {
  if (manner == Manner::back_to_back) return "gap";
  return manner == Manner::after_idling ? "round_trip" : "build_time";
}

}  // namespace

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape>(point);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const SeriesSpec& series : all_series) {
    const std::vector<Queued> all = queued_in(series.name, device, points);
    if (all.empty()) continue;
    if (is_by_count(series.manner)) {
      add_queued(found, series, all, points);
    } else {
      found.findings.push_back(
          seconds_of(name_of(series.manner), series.name, median_method, all.front().each));
    }
  }
  return found;
}

}  // namespace clprobe::launch
