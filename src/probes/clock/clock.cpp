// SPDX-License-Identifier: Apache-2.0
// The core's clock over time, idle and under load. Method: docs/clock.md.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/clock/findings.hpp"
#include "probes/clock/launch.hpp"
#include "probes/clock/shape.hpp"
#include "probes/shared/card_parts.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/reference_sets.hpp"
#include "probes/shared/wanted_series.hpp"

namespace clprobe::clock {

extern const Probe probe;

namespace {

constexpr Option options[]{
    {.name = "burn",
     .value_name = "TIME",
     .summary = "total time under load, such as 5s, divided among the loads",
     .details = "Total time under load, such as `5s` or `2min`, divided evenly among the loads; a "
                "number without a unit is in milliseconds. Default: 5s; 1s with --quick, one "
                "minute per load with --thorough.",
     .value = Milliseconds{30, 36'000'000}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "clock", .unit = "hertz", .role = Role::headline},
    {.name = "settling_time", .unit = "seconds", .role = Role::passing},
    {.name = "throttled", .unit = "share", .role = Role::passing, .better = Better::less},
    {.name = "spread", .unit = "share", .role = Role::remark, .better = Better::less},
    {.name = "operations", .unit = "operations_per_second"},
    {.name = "unit_operations", .unit = "operations_per_cycle"},
    {.name = "bandwidth", .unit = "bytes_per_second"},
    {.name = "bandwidth_drift", .unit = "share", .role = Role::remark},
    {.name = "power", .unit = "watts", .role = Role::remark},
};

// Each moment is there once.
constexpr Budget once{.probe_time = std::chrono::hours(24),
                      .first_visit_time = std::chrono::hours(24),
                      .min_visits = 1,
                      .max_visits = 1,
                      .samples_per_visit = 1};
constexpr Budgets budgets{.quick = once, .normal = once, .thorough = once};

/// For how long each of so many loads goes on.
std::uint64_t load_ms(const Request& request, std::uint64_t loads) {
  constexpr std::uint64_t quick = 1000;
  constexpr std::uint64_t usual = 5000;
  constexpr std::uint64_t thorough = 60000;  // of each load
  const std::uint64_t own = request.effort == Effort::quick      ? quick
                            : request.effort == Effort::thorough ? thorough * loads
                                                                 : usual;
  return request.own.number("burn").value_or(own) / loads;
}

/// How long a device is left alone before it is looked at.
std::uint64_t idle_ms(const Request& request) {
  constexpr std::uint64_t quick = 200;
  constexpr std::uint64_t usual = 500;
  constexpr std::uint64_t thorough = 5000;
  return request.effort == Effort::quick      ? quick
         : request.effort == Effort::thorough ? thorough
                                              : usual;
}

/// How long a moment is: some of them in a short load, and not more than can be looked at in a long
/// one.
std::uint64_t slot_of(std::uint64_t load) {
  constexpr std::uint64_t usual = 50;
  constexpr std::uint64_t fewest = 10;
  constexpr std::uint64_t most = 2000;
  return std::max(std::clamp<std::uint64_t>(load / fewest, 1, usual), load / most);
}

Bytes buffer_size(const DeviceInfo& device, const Request& request) {
  Bytes size = runs_items_in_turn(device) ? beyond_caches(device) : mebibytes(512);
  if (device.max_allocation.count != 0) size = std::min(size, device.max_allocation);
  if (device.global_memory.count != 0) size = std::min(size, device.global_memory / 4);
  if (request.max_memory.count != 0) size = std::min(size, request.max_memory / 2);
  constexpr std::uint64_t granule = 4096;
  return {std::max(granule, size.count / granule * granule)};
}

/// Results of each work-item.
Bytes results_size(const DeviceInfo& device) {
  constexpr std::uint64_t items_of_unit = 2048;
  constexpr std::uint64_t bytes_of_item = 20;
  return Bytes{items_of_unit * bytes_of_item} * units_of(device);
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  const std::string_view missing = missing_on(device);
  std::uint64_t loads = 0;
  for (const SeriesSpec& series : all_series) {
    if (wants(request, series.name) && series.load != Load::idle) ++loads;
  }
  const std::uint64_t each = load_ms(request, std::max<std::uint64_t>(1, loads));
  const std::uint64_t slot = slot_of(each);
  const std::uint64_t bytes = buffer_size(device, request).count;
  for (const SeriesSpec& series : all_series) {
    if (!wants(request, series.name)) continue;
    if (!missing.empty()) {
      result.findings.push_back(not_measured("clock", series.name, missing));
      continue;
    }
    const bool is_idle = series.load == Load::idle;
    const std::uint64_t moments = is_idle ? 1 : each / slot;
    for (std::uint64_t i = 0; i < moments; ++i) {
      Point point;
      point.series = series.name;
      write_shape(Shape{.time_ms = is_idle ? idle_ms(request) : (i + 1) * slot,
                        .slot_ms = is_idle ? idle_ms(request) : slot,
                        .load = series.load,
                        .timer = runs_items_in_turn(device) ? Timer::clock : Timer::event,
                        .buffer_bytes = bytes},
                  point);
      result.points.push_back(std::move(point));
    }
  }
  result.is_ordered = true;
  if (!result.points.empty()) result.memory = Bytes{bytes} + results_size(device);
  return result;
}

/// "1800 MHz arithmetic (throttled 50 %)"; empty without a clock. The unit is said once.
std::string load_text(const ProbeResult& result, std::string_view series, bool has_unit) {
  const Finding* const clock = find_value(result.findings, "clock", series);
  if (clock == nullptr) return {};
  constexpr double mega = 1e6;
  constexpr double percent = 100.0;
  // Less is what a disturbed host makes of a steady clock.
  constexpr double worth_telling = 0.05;
  std::string text =
      fmt::format("{:.0f}{} {}", *clock->value / mega, has_unit ? " MHz" : "", series);
  const Finding* const throttled = find_value(result.findings, "throttled", series);
  if (throttled != nullptr && *throttled->value >= worth_telling) {
    text += fmt::format(" (throttled {:.0f} %)", *throttled->value * percent);
  }
  return text;
}

/// "119–700 W", or one number where there is one alone; "119 W idle" where no load has any.
std::string power_text(const ProbeResult& result) {
  std::vector<double> watts;
  bool has_load = false;
  for (const SeriesSpec& series : all_series) {
    const Finding* const power = find_value(result.findings, "power", series.name);
    if (power == nullptr) continue;
    watts.push_back(*power->value);
    has_load = has_load || series.load != Load::idle;
  }
  if (watts.empty()) return {};
  if (!has_load) return fmt::format("{:.0f} W idle", watts.front());
  const auto [low, high] = std::minmax_element(watts.begin(), watts.end());
  const std::string from = fmt::format("{:.0f}", *low);
  const std::string to = fmt::format("{:.0f}", *high);
  return from == to ? fmt::format("{} W", to) : fmt::format("{}–{} W", from, to);
}

/// The loads first: what has no room is the clock of a device that has nothing to do.
Card card(const ProbeResult& result) {
  Card card;
  std::string text;
  for (const bool is_idle : {false, true}) {
    for (const SeriesSpec& series : all_series) {
      if ((series.load == Load::idle) != is_idle) continue;
      append(text, ", ", load_text(result, series.name, text.empty()));
    }
  }
  if (text.empty()) {
    if (!result.findings.empty()) card.unseen.emplace_back("the clock under load");
    return card;
  }
  append(text, "; ", power_text(result));
  card.lines.push_back({"clock", std::move(text)});
  return card;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "clock",
    .title = "Clock under load",
    .question = "What clock do the cores sustain, idle and under load?",
    .method = 2,
    .unit = Unit::hertz,
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve,
             .x = "time_ms",
             .value_title = "clock",
             .scale = Scale::linear},
    .budgets = budgets,
    .plan = plan,
    .open = open,
    .variants = variants,
    .builds = builds,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .card = card,
    .loops = loops,
};

}  // namespace clprobe::clock
