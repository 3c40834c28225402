// SPDX-License-Identifier: Apache-2.0
// What a launch costs. Method: docs/launch.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/launch/findings.hpp"
#include "probes/launch/launches.hpp"
#include "probes/launch/series.hpp"
#include "probes/shared/card_parts.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/wanted_series.hpp"

namespace clprobe::launch {

extern const Probe probe;

namespace {

/// The time behind or before some words; empty where it was not found.
std::string time_of(const ProbeResult& result, std::string_view name, std::string_view series,
                    std::string_view words) {
  const Finding* const found = find_value(result.findings, name, series);
  return found == nullptr ? std::string()
                          : fmt::format(fmt::runtime(words), format_seconds(*found->value));
}

/// "event +0.41 µs": of a cost that is surely above 0, or below.
std::string sure_cost(const Finding& cost) {
  if (cost.low.value_or(*cost.value) <= 0.0 && cost.high.value_or(*cost.value) >= 0.0) return {};
  return fmt::format("{} {}{}", cost.series, *cost.value > 0.0 ? "+" : "",
                     format_seconds(*cost.value));
}

/// A line, "30.1 µs, after idling 78.2 µs".
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) append(text, ", ", part);
  return text;
}

void add_row(Card& card, std::string_view topic, std::string text) {
  if (!text.empty()) card.rows.push_back({std::string(topic), std::move(text)});
}

Card card(const ProbeResult& result) {
  Card card;
  const std::string alone = time_of(result, "round_trip", queued_series, "{} to launch and wait");
  const std::string queued = time_of(result, "launch_time", queued_series, "{} each when queued");
  std::string line = joined({alone, queued});
  if (!line.empty()) card.lines.push_back({"launch", std::move(line)});

  add_row(card, "alone",
          joined({time_of(result, "round_trip", queued_series, "{}"),
                  time_of(result, "slow_round_trip", queued_series, "99th percentile {}"),
                  time_of(result, "cold_round_trip", idle_series, "after idling {}")}));
  add_row(card, "queued",
          joined({time_of(result, "launch_time", queued_series, "{} per launch"),
                  time_of(result, "gap", gap_series, "gap of {} on the device")}));
  std::string extras;
  for (const Finding& each : result.findings) {
    if (each.name == "extra_cost" && each.value) append(extras, ", ", sure_cost(each));
  }
  add_row(card, "more", std::move(extras));
  add_row(card, "first",
          joined({time_of(result, "build_time", build_series, "build {}"),
                  time_of(result, "build_time", build_again_series, "again {}"),
                  time_of(result, "first_launch", local_size_series, "new work-group size {}")}));
  return card;
}

constexpr Option options[]{
    {.name = "launches",
     .value_name = "LIST",
     .summary = "launches before each wait, such as 1,16,256 or 1-8",
     .details = "Number of launches before each wait: numbers and ranges from 1 to 65,536. "
                "Default: 1, 16, 256 and 4,096; with --thorough, powers of 4 from 1 to 4,096. "
                "Series that are compared with plain launches use 256 launches, or the largest "
                "requested number below that.",
     .value = Numbers{1, 65536}},
    {.name = "idle",
     .value_name = "MS",
     .summary = "idle time before each launch of after-idling, in ms",
     .details = "Idle time of the device before each launch of the series `after-idling`, in "
                "milliseconds. Default: 100, and 2000 with --thorough.",
     .value = Number{1, 60000}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "round_trip", .unit = "seconds", .role = Role::headline},
    {.name = "slow_round_trip", .unit = "seconds", .role = Role::passing},
    {.name = "cold_round_trip", .unit = "seconds", .role = Role::passing},
    {.name = "launch_time", .unit = "seconds", .role = Role::headline},
    // The launch time in another form: compared as well, one change would count twice.
    {.name = "launch_rate", .unit = "operations_per_second", .role = Role::remark},
    {.name = "gap", .unit = "seconds"},
    {.name = "period", .unit = "seconds"},
    {.name = "extra_cost", .unit = "seconds", .role = Role::passing, .part_of = "launch_time"},
    {.name = "first_launch", .unit = "seconds", .role = Role::passing},
    {.name = "build_time", .unit = "seconds", .role = Role::passing},
};

constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(1),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2,
                                    .samples_per_visit = 2},
                          // A limit for slow drivers: two visits of all take a second on an H200.
                          .normal = {.probe_time = std::chrono::milliseconds(4500),
                                     .relative_interval = 0.03,
                                     .max_visits = 2,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

/// How many launches are waited for together. A line needs three numbers, and one more shows how
/// far launches lie off it.
std::vector<int> counts_of(const Request& request) {
  std::vector<int> counts = request.own.numbers("launches");
  if (counts.empty()) {
    const int most = request.effort == Effort::quick ? 1024 : 4096;
    const int ratio = request.effort == Effort::normal ? 16 : 4;
    for (int count = 1; count <= most; count *= ratio) counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

/// How many launches are waited for together where one thing differs from the plain ones: many, so
/// that the wait is a small part, and not so many that a dozen series take long.
int count_beside(const std::vector<int>& counts) {
  constexpr int usual = 256;
  const auto beyond = std::upper_bound(counts.begin(), counts.end(), usual);
  return beyond == counts.begin() ? counts.front() : *(beyond - 1);
}

std::uint64_t idle_ms_of(const Request& request) {
  constexpr std::uint64_t usual = 100;
  constexpr std::uint64_t until_clocks_have_fallen = 2000;
  return request.own.number("idle").value_or(
      request.effort == Effort::thorough ? until_clocks_have_fallen : usual);
}

Point point_of(const SeriesSpec& series, int launches, const Request& request) {
  Point point;
  point.series = series.name;
  write_shape(Shape{.manner = series.manner,
                    .arguments = series.arguments,
                    .idle_queues = series.idle_queues,
                    .launches = static_cast<std::uint64_t>(launches),
                    .idle_ms = series.manner == Manner::after_idling ? idle_ms_of(request) : 0,
                    .timer = is_on_device(series.manner) ? Timer::event : Timer::wait},
              point);
  return point;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  result.is_ordered = true;
  const std::vector<int> counts = counts_of(request);
  const int beside = count_beside(counts);
  const SeriesSpec& queued = all_series.front();
  if (wants(request, queued_series)) {
    for (const int count : counts) result.points.push_back(point_of(queued, count, request));
  }
  bool has_extra = false;
  for (const SeriesSpec& series : all_series) {
    if (series.name == queued_series || !wants(request, series.name)) continue;
    const std::string reason = missing_in(series, device);
    if (!reason.empty()) {
      result.findings.push_back(not_measured(main_finding_of(series), series.name, reason));
      continue;
    }
    result.points.push_back(point_of(series, is_of_many(series.manner) ? beside : 1, request));
    has_extra = has_extra || is_of_many(series.manner);
  }
  // A difference needs both.
  if (has_extra && !wants(request, queued_series)) {
    result.points.insert(result.points.begin(), point_of(queued, beside, request));
  }
  constexpr Bytes counter = kibibytes(4);
  result.memory = counter;
  return result;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "launch",
    .title = "Launches",
    .question = "What does launching a kernel cost, alone and among many launches?",
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "launches", .value_title = "time per launch"},
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
