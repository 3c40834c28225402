// SPDX-License-Identifier: Apache-2.0
// Somebody's kernels, replayed from bundles. Method: docs/kernel.md.
#include <string>
#include <vector>

#include "clprobe/launch.hpp"
#include "clprobe/probe.hpp"
#include "probes/kernel/findings.hpp"
#include "probes/kernel/launch.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/card_parts.hpp"

namespace clprobe::kernel {

extern const Probe probe;

namespace {

constexpr FindingSpec finding_specs[]{
    {.name = "time", .unit = "seconds", .role = Role::headline},
    {.name = "warm_time", .unit = "seconds"},
    {.name = "app_time", .unit = "seconds"},
    {.name = "replay_ratio", .better = Better::unknown},
    {.name = "app_share", .better = Better::unknown},
    {.name = "deterministic"},
    {.name = "equal_to_app"},
};

constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(5), .min_visits = 1, .max_visits = 2},
    .normal = {.probe_time = std::chrono::seconds(20), .min_time = std::chrono::seconds(1)},
    .thorough = {.probe_time = std::chrono::seconds(120),
                 .relative_interval = 0.003,
                 .min_time = std::chrono::seconds(5),
                 .max_visits = 20,
                 .samples_per_visit = 5}};

/// 0 where the driver chooses their size.
std::uint64_t count_groups(const bundle::NdRange& range) {
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < range.dimensions; ++i) {
    if (range.local[i] == 0) return 0;
    count *= (range.global[i] + range.local[i] - 1) / range.local[i];
  }
  return count;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  // A bundle's points one after another: its objects are laid out once.
  result.is_ordered = true;
  for (const AskedLaunch& each : request.launches) {
    Shape shape{.bundle = each.bundle.id,
                .groups = count_groups(each.bundle.launch.range),
                .timer = device.launch_timer == Timer::event ? Timer::event : Timer::wait};
    const auto add = [&](Caches caches, std::string_view suffix) {
      shape.caches = caches;
      Point point;
      point.series = each.label + std::string(suffix);
      write_shape(shape, point);
      result.points.push_back(std::move(point));
    };
    add(Caches::cold, "");
    add(Caches::warm, warm_suffix);
    std::uint64_t bytes = 0;
    for (const bundle::Object& object : each.bundle.launch.objects) bytes += 2 * object.bytes;
    result.memory.count += bytes;
  }
  return result;
}

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape>(point);
}

Card card(const ProbeResult& result) {
  Card card;
  for (const std::string& series : series_in(result.findings)) {
    const Finding* const time = find_value(result.findings, "time", series);
    if (time != nullptr) card.lines.push_back({series, format_seconds(*time->value)});
    if (time == nullptr && find_finding(result.findings, "time", series) != nullptr) {
      card.unseen.push_back("time of " + series);
    }
  }
  return card;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "kernel",
    .title = "Kernels of programs",
    .question = "How long does a program's kernel take by itself, and why?",
    .replays_launches = true,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "groups", .value_title = "time of a launch"},
    .budgets = budgets,
    .plan = plan,
    .open = open,
    .variants = variants,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .card = card,
    .loops = loops,
};

}  // namespace clprobe::kernel
