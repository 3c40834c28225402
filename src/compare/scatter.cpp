// SPDX-License-Identifier: Apache-2.0
#include "compare/api/disturbance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"

namespace clprobe {
namespace {

// The quietest series of stored runs: 0.0 % on GPUs, 0.05 to 2.3 % on hosts with other guests,
// whose bandwidths scatter by 50 % at the same time.
constexpr double worth_telling = 0.05;
// Times that the host waits for include its scheduler, and more samples do not help: only scatter
// that also hides changes from `compare` (coarse_change) is worth telling.
constexpr double worth_telling_of_waits = 0.25;

/// The width of the interval as a share of the time.
std::optional<double> width_of(const Point& point, const DeviceInfo& device) {
  const std::optional<Estimate> found = estimate(point, device);
  if (!found || !(found->ns > 0.0)) return std::nullopt;
  return width_of_samples(point, *found, device) / found->ns;
}

}  // namespace

double width_of_samples(const Point& point, const Estimate& found, const DeviceInfo& device) {
  if (!found.holds_visits) return found.ns_interval.high - found.ns_interval.low;
  constexpr double quarter = 0.25;
  const std::vector<double> times = access_times_ns(point, device);
  return median(times) - quantile(times, quarter);
}

std::optional<Warning> find_scatter(std::span<const Point> points, const DeviceInfo& device) {
  std::int64_t wide = 0;
  double widest = 0.0;
  for (const Point& point : points) {
    const double width = width_of(point, device).value_or(0.0);
    widest = std::max(widest, width);
    const bool is_wait = timer_of(point, device) == Timer::wait;
    if (width > (is_wait ? worth_telling_of_waits : worth_telling)) ++wide;
  }
  const auto all = static_cast<std::int64_t>(points.size());
  constexpr std::int64_t tenth = 10;
  if (wide * tenth <= all) return std::nullopt;
  return Warning{"wide_intervals",
                 {{"points", wide}, {"of_points", all}, {"widest_share", widest}}};
}

namespace {

/// Warns of what the reference points saw, if that is worth telling.
void tell_references(Run& run) {
  const std::optional<MostChanged> most = find_most_changed(run);
  if (!most) return;
  // The warning states the observed range; intervals of short runs allow for several times as much.
  const double share = std::expm1(most->seen.range);
  if (share > worth_telling) {
    run.warnings.push_back({std::string(reference_warning),
                            {{"probe", most->probe},
                             {"series", most->series},
                             {"kind", std::string(to_word(most->kind))},
                             {"changed_share", share},
                             {"allowed_factor", std::exp(most->seen.range * most->seen.factor)}},
                            WarningSource::analysis});
  }
}

/// Warns of the share of the cores that others used, if that is worth telling.
void tell_others(Run& run) {
  constexpr double tenth = 0.1;
  const auto most = std::ranges::max_element(run.results, {}, &ProbeResult::others_share);
  if (most == run.results.end() || most->others_share <= tenth) return;
  run.warnings.push_back({std::string(others_warning),
                          {{"probe", most->probe}, {"others_share", most->others_share}},
                          WarningSource::analysis});
}

}  // namespace

void tell_disturbance(Run& run) {
  std::erase_if(run.warnings, [](const Warning& warning) {
    return warning.code == reference_warning || warning.code == others_warning;
  });
  run.disturbances = find_disturbances(run);
  tell_others(run);
  tell_references(run);
}

}  // namespace clprobe
