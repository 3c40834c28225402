// SPDX-License-Identifier: Apache-2.0
// What a launch costs. Method: docs/launch.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/launch/findings.hpp"
#include "probes/launch/launches.hpp"
#include "probes/launch/series.hpp"
#include "probes/shared/card_parts.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::launch {

extern const Probe probe;

namespace {

constexpr Option options[]{
    {.name = "launches",
     .value_name = "LIST",
     .summary = "launches that are waited for together: 1,16,256 or 1-8",
     .details = "How many launches are waited for together: numbers and ranges from 1 to 65,536. "
                "By default 1 to 4,096 of the plain series, and 256 of the others.",
     .value = Numbers{1, 65536}},
    {.name = "idle",
     .value_name = "MS",
     .summary = "milliseconds of idling before a launch of after-idling",
     .details = "For how long the device is idle before each launch of the series "
                "`after-idling`, in milliseconds. Default: 100, and 2000 with --thorough.",
     .value = Number{1, 60000}},
};

constexpr auto declared_series = [] {
  std::array<Series, all_series.size()> declared{};
  for (std::size_t i = 0; i < declared.size(); ++i) {
    declared[i] = {all_series[i].name, all_series[i].summary};
  }
  return declared;
}();

constexpr FindingSpec finding_specs[]{
    {.name = "round_trip", .unit = "seconds", .role = Role::headline},
    {.name = "slow_round_trip", .unit = "seconds"},
    {.name = "launch_time", .unit = "seconds", .role = Role::headline},
    {.name = "launch_rate", .unit = "operations_per_second"},
    {.name = "gap", .unit = "seconds"},
    {.name = "build_time", .unit = "seconds"},
};

constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(1),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2},
                          .normal = {.probe_time = std::chrono::milliseconds(1500),
                                     .relative_interval = 0.03,
                                     .max_visits = 4,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

bool wants(const Request& request, std::string_view series) {
  return request.series.empty() ||
         std::find(request.series.begin(), request.series.end(), series) != request.series.end();
}

std::vector<int> counts_of(const SeriesSpec& series, const Request& request) {
  if (!is_by_count(series.manner)) return {1};
  std::vector<int> asked = request.own.numbers("launches");
  if (!asked.empty()) return asked;
  if (series.name != queued_series) {
    return {256};
  }
  if (request.effort == Effort::quick) return {1, 16, 256};
  return {1, 4, 16, 64, 256, 1024, 4096};
}

std::uint64_t idle_ms_of(const Request& request) {
  constexpr std::uint64_t usual = 100;
  constexpr std::uint64_t until_clocks_have_fallen = 2000;
  return request.own.number("idle").value_or(
      request.effort == Effort::thorough ? until_clocks_have_fallen : usual);
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  for (const SeriesSpec& series : all_series) {
    if (!wants(request, series.name)) continue;
    const std::string reason = missing_in(series, device);
    if (!reason.empty()) {
      result.findings.push_back(not_measured("launch_time", series.name, reason));
      continue;
    }
    const bool is_gap = series.manner == Manner::back_to_back;
    for (const int count : counts_of(series, request)) {
      Point point;
      point.series = series.name;
      write_shape(Shape{.launches = static_cast<std::uint64_t>(count),
                        .manner = series.manner,
                        .arguments = series.arguments,
                        .idle_queues = series.idle_queues,
                        .idle_ms = series.manner == Manner::after_idling ? idle_ms_of(request) : 0,
                        .timer = is_gap ? Timer::event : Timer::wait},
                  point);
      result.points.push_back(std::move(point));
    }
  }
  constexpr Bytes counter = kibibytes(4);
  result.memory = counter;
  return result;
}

std::string seconds_in(const ProbeResult& result, std::string_view name, std::string_view series) {
  const Finding* const found = find_value(result.findings, name, series);
  return found == nullptr ? std::string() : format_seconds(*found->value);
}

Card card(const ProbeResult& result) {
  Card card;
  std::string text;
  const std::string alone = seconds_in(result, "round_trip", queued_series);
  const std::string queued = seconds_in(result, "launch_time", queued_series);
  const std::string gap = seconds_in(result, "gap", gap_series);
  if (!alone.empty()) append(text, ", ", alone + " alone");
  if (!queued.empty()) append(text, ", ", queued + " in a queue");
  if (!gap.empty()) append(text, ", ", gap + " between two on the device");
  if (!text.empty()) card.lines.push_back({"launch", std::move(text)});
  for (const std::string& series : series_in(result.findings)) {
    std::string row;
    for (const std::string_view name : {"round_trip", "launch_time", "gap", "build_time"}) {
      const std::string time = seconds_in(result, name, series);
      std::string words(name);
      std::replace(words.begin(), words.end(), '_', ' ');
      if (!time.empty()) append(row, ", ", words + " " + time);
    }
    if (row.empty()) {
      card.unseen.push_back(fmt::format("launches {}", series));
    } else {
      card.rows.push_back({series, std::move(row)});
    }
  }
  return card;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "launch",
    .title = "Launches",
    .question = "What does it cost to launch a kernel, alone and among many?",
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "launches", .value_title = "time of a launch"},
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

}  // namespace clprobe::launch
