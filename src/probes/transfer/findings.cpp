// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "probes/shared/finding.hpp"
#include "probes/transfer/fit.hpp"
#include "probes/transfer/series.hpp"

namespace clprobe::transfer {
namespace {

constexpr std::string_view law_method = "start-up and rate";
/// A mapping that is so many times as fast as any way to move bytes moves none; and what a kernel
/// reads so much faster than any of them did not come from the host.
constexpr double beyond_moving = 3.0;

using Laws = std::map<std::string_view, Law>;

std::vector<Timed> transfers_of(std::string_view series, const DeviceInfo& device,
                                std::span<const Point> points) {
  std::vector<Timed> transfers;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time) continue;
    const auto bytes = static_cast<double>(shape->moved_bytes());
    transfers.push_back(
        {bytes, time->ns * bytes, {time->ns_interval.low * bytes, time->ns_interval.high * bytes}});
  }
  return transfers;
}

void add_law(Findings& found, std::string_view series, const Law& law) {
  const Interval& rate = law.bytes_per_ns_interval;
  found.findings.push_back(finding_of("bandwidth", series, "bytes_per_second", law_method,
                                      law.bytes_per_ns * ns_per_second, rate.low * ns_per_second,
                                      rate.high * ns_per_second));
  if (!law.start_ns) {
    constexpr std::string_view reason =
        "no transfer is small enough: its start-up is a part of all";
    found.findings.push_back(without_value("start_up", series, law_method, reason, "seconds"));
    return;
  }
  const Interval& start = law.start_interval;
  found.findings.push_back(finding_of("start_up", series, "seconds", law_method,
                                      *law.start_ns / ns_per_second, start.low / ns_per_second,
                                      start.high / ns_per_second));
  found.findings.push_back(finding_of("half_size", series, "bytes", law_method,
                                      *law.start_ns * law.bytes_per_ns, start.low * rate.low,
                                      start.high * rate.high));
}

/// The best rate of what surely moves bytes between host and device, one way.
double best_moved(const Laws& laws) {
  double best = 0.0;
  for (const SeriesSpec& each : all_series) {
    const bool is_moving =
        each.direction == Direction::to_device || each.direction == Direction::from_device;
    const auto law = laws.find(each.name);
    if (!is_moving || each.way == Way::kernel || law == laws.end()) continue;
    best = std::max(best, law->second.bytes_per_ns);
  }
  return best;
}

/// Both ways at once, as a share of the faster one alone.
void add_duplex(Findings& found, const Laws& laws) {
  const auto both = laws.find(both_series);
  const auto to = laws.find("to-device-pinned");
  const auto from = laws.find("from-device-pinned");
  if (both == laws.end() || to == laws.end() || from == laws.end()) return;
  const Law& one = to->second.bytes_per_ns > from->second.bytes_per_ns ? to->second : from->second;
  const Interval& of_both = both->second.bytes_per_ns_interval;
  found.findings.push_back(finding_of("duplex", both_series, "share", "beside one way",
                                      both->second.bytes_per_ns / one.bytes_per_ns,
                                      of_both.low / one.bytes_per_ns_interval.high,
                                      of_both.high / one.bytes_per_ns_interval.low));
}

/// Whether a mapping moves anything: what the largest one takes in which nobody copies, as a rate.
void add_zero_copy(Findings& found, const Laws& laws, std::span<const Point> points) {
  double bytes = 0.0;
  double ns = 0.0;
  std::string_view series;
  for (const SeriesSpec& each : all_series) {
    if (each.way != Way::map) continue;
    for (const Point& point : points) {
      const std::optional<double> took = number_in(point.facts, mapping_ns);
      const auto shape = find_shape<Shape>(point);
      if (point.series != each.name || !took || !(*took > 0.0) || !shape) continue;
      const auto size = static_cast<double>(shape->transfer_bytes);
      if (size < bytes || (size == bytes && *took <= ns)) continue;
      bytes = size;
      ns = *took;
      series = each.name;
    }
  }
  const double best = best_moved(laws);
  if (!(ns > 0.0) || !(best > 0.0)) return;
  Finding finding = finding_of("zero_copy", series, "", "mapping without a copy");
  finding.label = bytes / ns > beyond_moving * best ? is_zero_copy : is_no_zero_copy;
  found.findings.push_back(std::move(finding));
}

/// Where a kernel finds the memory that the driver made for the host.
void add_host_memory(Findings& found, const DeviceInfo& device, const Laws& laws) {
  if (runs_items_in_turn(device)) return;  // one memory
  const auto reads = laws.find("to-device-kernel");
  const double best = best_moved(laws);
  if (reads == laws.end() || !(best > 0.0)) return;
  Finding finding = finding_of("host_memory", "to-device-kernel", "", "beside transfers");
  finding.label = reads->second.bytes_per_ns > beyond_moving * best ? kept_on_device : kept_on_host;
  found.findings.push_back(std::move(finding));
}

}  // namespace

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape>(point);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  Laws laws;
  for (const SeriesSpec& series : all_series) {
    const std::optional<Law> law = fit_law(transfers_of(series.name, device, points));
    if (!law) continue;
    laws.emplace(series.name, *law);
    add_law(found, series.name, *law);
  }
  add_duplex(found, laws);
  add_zero_copy(found, laws, points);
  add_host_memory(found, device, laws);
  return found;
}

}  // namespace clprobe::transfer
