// SPDX-License-Identifier: Apache-2.0
// How long multiplications take, by how many do not wait for each other. Method: docs/@ID@.md.
#include "probes/@ID@/launch.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::@ID@ {

extern const Probe probe;

namespace {

constexpr std::string_view series = "multiply";
constexpr int max_chains = 16;  // a register each, as in cl/@ID@.cl

constexpr Option options[]{
    {.name = "chains",
     .value_name = "LIST",
     .summary = "independent multiplications: 1-4 or 1,2,8",
     .details = "How many multiplications do not wait for each other: numbers and ranges from 1 to "
                "16. Default: 1, 2, 4, 8 and 16.",
     .value = Numbers{1, max_chains}},
};

// `analyse` makes these and no others. The headline is the answer to the probe's question.
constexpr FindingSpec finding_specs[]{
    {.name = "latency", .unit = "seconds", .role = Role::headline},
    {.name = "throughput", .unit = "operations_per_second"},
};

// Pure. Points in any order; parameters tell which point it is, with units in their names.
Plan plan(const DeviceInfo&, const Request& request) {
  std::vector<int> chains = request.own.numbers("chains");
  if (chains.empty()) chains = {1, 2, 4, 8, 16};
  Plan result{.memory = result_bytes};
  for (const int each : chains) {
    Point point;
    point.series = series;
    point.parameters = {{"chains", std::int64_t{each}}};
    result.points.push_back(std::move(point));
  }
  return result;
}

// Pure. Findings with an interval, a unit and a method, or with a reason. A sample's accesses are
// multiplications.
Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  std::optional<Estimate> alone;
  std::optional<Estimate> best;
  for (const Point& point : points) {
    const std::optional<Estimate> time = estimate(point, device);
    if (!time || !(time->ns > 0.0)) continue;
    if (point.parameters.integer_or("chains", 0) == 1) alone = time;
    if (!best || time->ns < best->ns) best = time;
  }
  Findings found;
  if (!best) return found;  // nothing measured is nothing found
  constexpr std::string_view method = "least sample";
  if (alone) {
    found.findings.push_back(finding_of(
        "latency", series, "seconds", method, alone->ns / ns_per_second,
        alone->ns_interval.low / ns_per_second, alone->ns_interval.high / ns_per_second));
  } else {
    found.findings.push_back(
        without_value("latency", series, method, "not measured: one chain was not asked for"));
  }
  found.findings.push_back(
      finding_of("throughput", series, "operations_per_second", method, ns_per_second / best->ns,
                 ns_per_second / best->ns_interval.high, ns_per_second / best->ns_interval.low));
  return found;
}

// Pure. What of the findings stands on the card of a device, the answer in a line, and what could
// not be seen.
Card card(const ProbeResult& result) {
  Card card;
  if (const Finding* const latency = find_value(result.findings, "latency")) {
    card.lines.push_back({"multiplication", format_seconds(*latency->value)});
  } else if (!result.findings.empty()) {
    card.unseen.emplace_back("latency of a multiplication");
  }
  return card;
}

}  // namespace

const Probe probe{
    .id = "@ID@",
    .title = "Multiplication",
    .question = "How long does a multiplication take, alone and beside others?",
    .options = options,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "chains", .value_title = "time of a multiplication"},
    .plan = plan,
    .open = open,
    .builds = builds,
    .analyse = analyse,
    .card = card,
};

}  // namespace clprobe::@ID@
