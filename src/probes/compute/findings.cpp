// SPDX-License-Identifier: Apache-2.0
// Findings and card of the probe `compute`. Method: docs/compute.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/units.hpp"
#include "probes/compute/compute.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::compute {
namespace {

constexpr std::string_view per_second = "operations_per_second";

/// A measured point. The estimate is the time of one operation of one component.
struct Measured {
  Shape shape{};
  Estimate time{};
};

std::vector<Measured> read_points(const DeviceInfo& device, std::span<const Point> points,
                                  std::string_view series) {
  std::vector<Measured> found;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    // Other programs can only slow a CPU down.
    const auto time =
        runs_items_in_turn(device) ? estimate_of_best(point, device) : estimate(point, device);
    if (shape && time && time->ns > 0.0) found.push_back({*shape, *time});
  }
  return found;
}

Finding rate_finding(std::string_view name, std::string_view series, std::string_view unit,
                     std::string_view method, const Estimate& time, double factor) {
  Finding rate = finding_of(name, series, unit, method, factor / time.ns,
                            factor / time.ns_interval.high, factor / time.ns_interval.low);
  rate.holds_scatter = time.holds_visits;
  return rate;
}

/// Returns the point of a single chain of a single sub-group, with the fewest components.
const Measured* find_alone(const std::vector<Measured>& all) {
  const Measured* alone = nullptr;
  for (const Measured& each : all) {
    const bool is_alone =
        each.shape.scope == Scope::unit && each.shape.chains == 1 && each.shape.sub_groups == 1;
    if (is_alone && (alone == nullptr || each.shape.width < alone->shape.width)) alone = &each;
  }
  return alone;
}

/// Returns the point of the most sub-groups; null if no point has several.
const Measured* find_largest_group(const std::vector<Measured>& all) {
  const Measured* largest = nullptr;
  for (const Measured& each : all) {
    const int known = largest == nullptr ? 1 : largest->shape.sub_groups;
    if (each.shape.sub_groups > known) largest = &each;
  }
  return largest;
}

/// Returns the fastest point of one compute unit; null without such a point.
const Measured* find_best_of_unit(const std::vector<Measured>& all) {
  const Measured* best = nullptr;
  for (const Measured& each : all) {
    if (each.shape.scope != Scope::unit) continue;
    if (best == nullptr || each.time.ns < best->time.ns) best = &each;
  }
  return best;
}

/// Returns the fastest point of the whole device with this work, and with `chains` chains unless
/// `chains` is 0; null without such a point.
const Measured* find_of_device(const std::vector<Measured>& all, int work, int chains = 0) {
  const Measured* best = nullptr;
  for (const Measured& each : all) {
    const bool is_usable = each.shape.scope == Scope::device && each.shape.work == work &&
                           (chains == 0 || each.shape.chains == chains);
    if (is_usable && (best == nullptr || each.time.ns < best->time.ns)) best = &each;
  }
  return best;
}

/// Adds the time of a step: all components of all work-items make one step at the same time.
void add_latency(Findings& found, const DeviceInfo& device, std::string_view series,
                 std::string_view name_of_time, const Measured& alone) {
  const std::string method =
      name_of_time == "latency"
          ? std::string("one chain")
          : format_count(static_cast<std::uint64_t>(alone.shape.sub_groups), "sub-group");
  const double count =
      static_cast<double>(alone.shape.lanes) * alone.shape.width * alone.shape.sub_groups;
  const Interval& ns = alone.time.ns_interval;
  const auto add = [&](std::string_view name, std::string_view unit, double scale) {
    found.findings.push_back(finding_of(name, series, unit, method, alone.time.ns * scale,
                                        ns.low * scale, ns.high * scale));
    found.findings.back().holds_scatter = alone.time.holds_visits;
  };
  add(name_of_time, "seconds", count / ns_per_second);
  if (counts_core_cycles(device)) {
    add(fmt::format("{}_cycles", name_of_time), "cycles", count * device.clock.ticks_per_ns);
  }
}

std::string method_of(const Shape& shape) {
  return fmt::format("{} x {}{}", format_count(static_cast<std::uint64_t>(shape.chains), "chain"),
                     format_count(static_cast<std::uint64_t>(shape.sub_groups), "sub-group"),
                     shape.width > 1 ? fmt::format(" x {} components", shape.width) : "");
}

void add_unit_rate(Findings& found, const DeviceInfo& device, std::string_view series,
                   const Measured& best) {
  const bool in_cycles = counts_core_cycles(device);
  found.findings.push_back(rate_finding(
      "unit_rate", series, in_cycles ? "operations_per_cycle" : per_second, method_of(best.shape),
      best.time, in_cycles ? 1.0 / device.clock.ticks_per_ns : ns_per_second));
}

/// Ratio with its interval.
struct Ratio {
  double value{0.0};
  Interval interval{};
};

/// Returns the ratio of two times.
Ratio ratio_of(const Estimate& above, const Estimate& below) {
  return {above.ns / below.ns,
          {above.ns_interval.low / below.ns_interval.high,
           above.ns_interval.high / below.ns_interval.low}};
}

void add_ratio(Findings& found, std::string_view name, std::string_view series,
               std::string_view method, const Ratio& ratio, double factor) {
  found.findings.push_back(finding_of(name, series, "", method, factor * ratio.value,
                                      factor * ratio.interval.low, factor * ratio.interval.high));
}

// Twice the work takes at least this multiple of the time, unless compilers or drivers skip work.
// A launch's start may take a tenth of the time of a short launch.
constexpr double min_doubling = 1.8;

void add_peak(Findings& found, const DeviceInfo& device, const Operation& operation,
              const std::vector<Measured>& all) {
  const Measured* const twice = find_of_device(all, 2);
  const Measured* const once = find_of_device(all, 1, twice == nullptr ? 0 : twice->shape.chains);
  const Measured* main = twice != nullptr ? twice : once;
  if (main == nullptr) return;
  // Other programs slow the longer launches of a CPU down more.
  const bool is_once_faster = once != nullptr && once->time.ns < main->time.ns;
  if (is_once_faster && runs_items_in_turn(device)) main = once;
  const std::string_view series = operation.name;
  constexpr std::string_view method = "all compute units";
  if (once != nullptr && twice != nullptr) {
    // The estimates are times of one operation.
    const Ratio ratio = ratio_of(twice->time, once->time);
    add_ratio(found, "doubling", series, "time of twice the work", ratio, 2.0);
    // Slopes of the host's clock exclude the start of launches, but scatter too much for a verdict.
    const bool is_sure = twice->shape.timer == Timer::event;
    if (is_sure && 2.0 * ratio.interval.high < min_doubling) {
      found.findings.push_back(without_value(
          "peak", series, method,
          fmt::format("not known: twice the work takes only {} times as long, so the compiler may "
                      "skip work; repeat on an idle device",
                      format_number(2.0 * ratio.value)),
          per_second));
      return;
    }
  }
  found.findings.push_back(
      rate_finding("peak", series, per_second, method, main->time, ns_per_second));
  if (operation.flops > 0) {
    found.findings.push_back(rate_finding("peak_flops", series, "flops_per_second", method,
                                          main->time, ns_per_second * operation.flops));
  }
  if (const Measured* const unit = find_best_of_unit(all)) {
    const auto units = static_cast<double>(units_of(device));
    add_ratio(found, "unit_scaling", series, "peak / (compute units x rate of one compute unit)",
              ratio_of(unit->time, main->time), 1.0 / units);
  }
}

/// Returns a rate in decimal units, such as "67.1 TFLOP/s".
std::string rate_text(double value, std::string_view unit) {
  constexpr std::array<std::pair<double, const char*>, 4> prefixes{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [scale, prefix] : prefixes) {
    if (value >= scale) return fmt::format("{} {}{}", format_number(value / scale), prefix, unit);
  }
  return fmt::format("{} {}", format_number(value), unit);
}

/// Returns the rate of a compute unit and the latency: "128 per cycle and unit, 4.00 cycles".
std::string parts_text(std::span<const Finding> findings, std::string_view series) {
  std::string text;
  if (const Finding* const unit = find_value(findings, "unit_rate", series)) {
    append(text, ", ",
           unit->unit == per_second
               ? rate_text(*unit->value, "op/s per unit")
               : fmt::format("{} per cycle and unit", format_number(*unit->value)));
  }
  if (const Finding* const cycles = find_value(findings, "latency_cycles", series)) {
    append(text, ", ", fmt::format("{} cycles", format_number(*cycles->value)));
  } else if (const Finding* const latency = find_value(findings, "latency", series)) {
    append(text, ", ", format_seconds(*latency->value));
  }
  const Finding* const group = find_value(findings, "group_latency", series);
  if (group == nullptr) return text;
  const Finding* const cycles = find_value(findings, "group_latency_cycles", series);
  const std::string time = cycles == nullptr
                               ? format_seconds(*group->value)
                               : fmt::format("{} cycles", format_number(*cycles->value));
  append(text, ", ", fmt::format("{} ({})", time, group->method));
  return text;
}

/// Returns "67.1 TFLOP/s", or "33.5 Top/s" for an operation without FLOP/s; empty without a peak.
std::string peak_text(std::span<const Finding> findings, std::string_view series) {
  if (const Finding* const flops = find_value(findings, "peak_flops", series)) {
    return format_flops(*flops->value);
  }
  const Finding* const peak = find_value(findings, "peak", series);
  return peak == nullptr ? std::string() : rate_text(*peak->value, "op/s");
}

}  // namespace

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const Operation& operation : all_operations) {
    const std::vector<Measured> all = read_points(device, points, operation.name);
    if (const Measured* const alone = find_alone(all)) {
      add_latency(found, device, operation.name, "latency", *alone);
    }
    if (operation.name == group_barrier) {
      // A barrier has no rate.
      if (const Measured* const group = find_largest_group(all)) {
        add_latency(found, device, operation.name, "group_latency", *group);
      }
      continue;
    }
    if (const Measured* const best = find_best_of_unit(all)) {
      add_unit_rate(found, device, operation.name, *best);
    }
    add_peak(found, device, operation, all);
  }
  return found;
}

Card card(const ProbeResult& result) {
  Card card;
  std::string line;
  for (const Operation& operation : all_operations) {
    const std::string peak = peak_text(result.findings, operation.name);
    const std::string parts = parts_text(result.findings, operation.name);
    std::string text = peak;
    if (!parts.empty()) text += text.empty() ? parts : fmt::format(" ({})", parts);
    if (text.empty()) continue;
    card.rows.push_back({std::string(operation.name), text});
    // The line has the first operation in full, and the peaks of the other types.
    if (line.empty()) {
      line = fmt::format("{} {}", operation.name, text);
    } else if (operation.flops > 0 && !peak.empty()) {
      line += fmt::format("; {} {}", operation.name, peak);
    }
  }
  if (!line.empty()) {
    card.lines.push_back({"compute", std::move(line)});
  } else if (!result.findings.empty()) {
    card.unseen.emplace_back("rates of arithmetic");
  }
  return card;
}

}  // namespace clprobe::compute
