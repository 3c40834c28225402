// SPDX-License-Identifier: Apache-2.0
// Findings and card of the probe `map`. Method: docs/map.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/units.hpp"
#include "probes/map/map.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::map {
namespace {

// Ratio of times from which the order of blocks counts.
constexpr double min_gain = 1.05;

/// Times of a series by compute unit and part, in ns.
struct Times {
  std::map<std::uint64_t, std::array<std::optional<double>, 2>> of_unit{};
  std::vector<double> all{};
  std::vector<UnitShape> shapes{};
};

Times read_times(const DeviceInfo& device, std::span<const Point> points, std::string_view series) {
  Times times;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<UnitShape>(point);
    const auto time = estimate(point, device);
    if (!shape || !time || time->ns <= 0.0) continue;
    times.of_unit[shape->unit][shape->part] = time->ns;
    times.all.push_back(time->ns);
    times.shapes.push_back(*shape);
  }
  return times;
}

/// Adds the median of latencies in seconds, and in cycles if the clock counts cycles.
void add_latency(Findings& found, const DeviceInfo& device, std::string_view name,
                 std::string_view series, std::string_view method,
                 const std::vector<double>& latencies_ns) {
  const double ns = median(latencies_ns);
  const Interval interval = median_interval(latencies_ns);
  const auto add = [&](const std::string& full_name, std::string_view unit, double scale) {
    found.findings.push_back(finding_of(full_name, series, unit, method, ns * scale,
                                        interval.low * scale, interval.high * scale));
  };
  add(std::string(name), "seconds", 1.0 / ns_per_second);
  if (counts_core_cycles(device)) {
    add(fmt::format("{}_cycles", name), "cycles", device.clock.ticks_per_ns);
  }
}

/// Returns numbers as ranges: "0-3, 8, 10-11".
std::string ranges_text(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    append(text, ", ",
           last == i ? fmt::format("{}", numbers[i])
                     : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return text;
}

/// Adds the number of compute units near each part. A compute unit without a time in each part does
/// not count.
void add_halves(Findings& found, std::string_view series, const Times& times) {
  std::array<std::vector<std::uint64_t>, 2> halves;
  for (const auto& [unit, of_part] : times.of_unit) {
    if (of_part[0] && of_part[1]) halves[*of_part[0] <= *of_part[1] ? 0 : 1].push_back(unit);
  }
  if (halves[0].empty() && halves[1].empty()) return;
  const std::string_view what = times.shapes.front().unit_is_read != 0 ? "units" : "work-groups";
  constexpr std::array<std::string_view, 2> names{"first_half_units", "second_half_units"};
  for (std::size_t half = 0; half < 2; ++half) {
    const auto count = static_cast<double>(halves[half].size());
    const std::string method = halves[half].empty()
                                   ? std::string("none")
                                   : fmt::format("{} {}", what, ranges_text(halves[half]));
    found.findings.push_back(finding_of(names[half], series, "count", method, count, count, count));
  }
}

/// Adds the share of blocks that are near compute unit 0. The interval covers all placements of the
/// buffer.
void add_near_share(Findings& found, std::string_view series, const Times& times) {
  std::vector<double> shares;
  for (const UnitShape& shape : times.shapes) {
    if (shape.near_blocks == 0) continue;
    shares.push_back(static_cast<double>(shape.near_blocks) / static_cast<double>(shape.blocks));
  }
  if (shares.empty()) return;
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  found.findings.push_back(finding_of(
      "near_share", series, "",
      fmt::format("of {} blocks of 4 KiB, from compute unit 0", times.shapes.front().blocks),
      median(shares), *low, *high));
}

/// Adds the latencies of a series. Returns true if they are near and far ones.
bool add_latencies(Findings& found, const DeviceInfo& device, std::string_view series,
                   const Times& times) {
  const auto split = find_split(times.all);
  if (!split) {
    add_latency(found, device, "latency", series,
                fmt::format("{} compute units", times.of_unit.size()), times.all);
    return false;
  }
  const auto add = [&](std::string_view name, const std::vector<double>& part) {
    add_latency(found, device, name, series,
                fmt::format("{} of {} latencies", part.size(), times.all.size()), part);
  };
  add("near_latency", split->near);
  add("far_latency", split->far);
  return true;
}

void add_ratio(Findings& found, std::string_view name, const Estimate& time,
               const Estimate& reference, std::string_view method) {
  found.findings.push_back(finding_of(name, gather_series, "", method, time.ns / reference.ns,
                                      time.ns_interval.low / reference.ns_interval.high,
                                      time.ns_interval.high / reference.ns_interval.low));
}

void add_advice(Findings& found, std::string text) {
  Finding advice = finding_of("advice", gather_series, "", "gain of near blocks");
  advice.label = std::move(text);
  found.findings.push_back(std::move(advice));
}

/// Adds the ratios of the gather's times. Returns true if there are any.
bool add_gain(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  std::map<Order, Estimate> times;
  for (const Point& point : points) {
    if (point.series != gather_series || !point.failure.empty()) continue;
    const auto shape = find_shape<GatherShape>(point);
    const auto time = estimate(point, device);
    if (shape && time && time->ns > 0.0) times[shape->order] = *time;
  }
  if (!times.contains(Order::near)) return false;
  const Estimate& near = times.at(Order::near);
  if (times.contains(Order::far)) {
    add_ratio(found, "far_cost", times.at(Order::far), near, "time of far blocks / near blocks");
  }
  if (!times.contains(Order::any)) return false;
  add_ratio(found, "gain", times.at(Order::any), near, "time of any blocks / near blocks");
  Finding& gain = found.findings.back();
  const bool has_gain = *gain.low >= min_gain;
  gain.label = has_gain ? "near is faster" : "no difference";
  const double ratio = *gain.value;
  add_advice(found,
             has_gain
                 ? fmt::format("Let each work-group read blocks of 4 KiB near its compute unit "
                               "(%smid): a gather of any blocks takes {:.2f} times as long.",
                               ratio)
                 : fmt::format("The order of blocks makes no difference here: a gather of any "
                               "blocks takes {:.2f} times as long as one of near blocks.",
                               ratio));
  return true;
}

void add_hand_over(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  std::vector<double> all;
  std::string failure;
  for (const Point& point : points) {
    if (point.series != hand_over_series) continue;
    if (!point.failure.empty()) failure = point.failure;
    const auto time = point.failure.empty() ? estimate(point, device) : std::nullopt;
    if (time && time->ns > 0.0) all.push_back(time->ns);
  }
  const std::string method = fmt::format("{} pairs of compute units", all.size());
  if (all.empty()) {
    if (failure.empty()) return;
    found.findings.push_back(
        without_value("hand_over_latency", hand_over_series, "pairs", failure, "seconds"));
    return;
  }
  add_latency(found, device, "hand_over_latency", hand_over_series,
              all.size() == 1 ? std::string("1 pair of compute units") : method, all);
}

/// Returns a latency in cycles, or else as a time; empty without a value.
std::string latency_text(std::span<const Finding> findings, const std::string& name,
                         std::string_view series) {
  if (const Finding* const cycles = find_value(findings, name + "_cycles", series)) {
    return format_number(*cycles->value) + " cycles";
  }
  const Finding* const time = find_value(findings, name, series);
  return time == nullptr ? std::string() : format_seconds(*time->value);
}

/// Returns "295 / 494 cycles near / far", or "295 cycles everywhere".
std::string distance_text(std::span<const Finding> findings, std::string_view series) {
  const Finding* const near = find_value(findings, "near_latency_cycles", series);
  const Finding* const far = find_value(findings, "far_latency_cycles", series);
  if (near != nullptr && far != nullptr) {
    return fmt::format("{} / {} cycles near / far", format_number(*near->value),
                       format_number(*far->value));
  }
  const std::string near_time = latency_text(findings, "near_latency", series);
  if (!near_time.empty()) {
    return fmt::format("{} / {} near / far", near_time,
                       latency_text(findings, "far_latency", series));
  }
  const std::string one = latency_text(findings, "latency", series);
  return one.empty() ? one : one + " everywhere";
}

std::string halves_text(std::span<const Finding> findings) {
  const Finding* const first = find_value(findings, "first_half_units");
  const Finding* const second = find_value(findings, "second_half_units");
  if (first == nullptr || second == nullptr) return {};
  return fmt::format("halves of {:.0f} + {:.0f} units", *first->value, *second->value);
}

}  // namespace

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  bool is_even = false;
  for (const std::string_view series : {atomic_series, load_series}) {
    const Times times = read_times(device, points, series);
    if (times.all.empty()) continue;
    const bool is_split = add_latencies(found, device, series, times);
    if (series != atomic_series) continue;
    is_even = !is_split;
    if (!is_split) continue;
    add_halves(found, series, times);
    add_near_share(found, series, times);
  }
  const bool has_gain = add_gain(found, device, points);
  if (!has_gain && is_even) {
    add_advice(found,
               "The order of blocks makes no difference here: all compute units reach all blocks "
               "alike.");
  }
  add_hand_over(found, device, points);
  return found;
}

Card card(const ProbeResult& result) {
  Card card;
  const std::span<const Finding> findings = result.findings;
  for (const std::string_view series : {atomic_series, load_series}) {
    std::string text = distance_text(findings, series);
    if (!text.empty()) card.rows.push_back({std::string(series), std::move(text)});
  }
  std::string line = distance_text(findings, atomic_series);
  append(line, "; ", halves_text(findings));
  const Finding* const gain = find_value(findings, "gain");
  if (gain != nullptr && *gain->value >= min_gain) {
    append(line, "; ", fmt::format("near blocks gain {:.2f}x", *gain->value));
  }
  const std::string hand_over = latency_text(findings, "hand_over_latency", hand_over_series);
  if (!hand_over.empty()) {
    append(line, "; ", "hand-over " + hand_over);
    card.rows.push_back({std::string(hand_over_series), hand_over});
  }
  if (!line.empty()) {
    card.lines.push_back({"map", std::move(line)});
  } else if (!findings.empty()) {
    card.unseen.emplace_back("distances of compute units");
  }
  return card;
}

}  // namespace clprobe::map
