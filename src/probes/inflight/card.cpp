// SPDX-License-Identifier: Apache-2.0
// How many loads are in flight: what ends them where that was seen, else the largest number that is
// sound.
#include "probes/inflight/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "probes/inflight/findings.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/shared/card_parts.hpp"

namespace clprobe::inflight {
namespace {

/// Where it was seen: of requests or, where a table has them, of instructions that load.
const Finding* find_limit(const ProbeResult& result) {
  const Finding* const requests = find_value(result.findings, "requests", unit_series);
  return requests != nullptr ? requests : find_value(result.findings, "instructions", unit_series);
}

std::string limit_text(const ProbeResult& result) {
  if (const Finding* const most = find_limit(result)) {
    std::string text = fmt::format("{:.0f} {} per compute unit", *most->value,
                                   most->name == "requests" ? "requests" : "load instructions");
    const Finding* const limit = find_finding(result.findings, "limit", unit_series);
    if (limit != nullptr && !limit->label.empty()) text += fmt::format(" ({})", limit->label);
    return text;
  }
  // All of them are true, so the largest says most.
  double most = 0.0;
  for (const std::string_view name : {"requests_at_least", "in_flight_at_least"}) {
    const Finding* const bound = find_value(result.findings, name, unit_series);
    if (bound != nullptr) most = std::max(most, *bound->value);
  }
  if (!(most > 0.0)) return {};
  return fmt::format("at least {:.0f} loads per compute unit", std::floor(most));
}

/// The whole device's. "at least" is said once for what stands before it as well.
std::string device_text(const ProbeResult& result, bool is_bound_before) {
  if (const Finding* const seen = find_value(result.findings, "bytes_in_flight", device_series)) {
    return fmt::format("{}{} on the device", is_bound_before ? "and " : "",
                       size_text(*seen->value));
  }
  const Finding* const bound =
      find_value(result.findings, "bytes_in_flight_at_least", device_series);
  if (bound == nullptr) return {};
  return fmt::format("{}{} on the device", is_bound_before ? "" : "at least ",
                     size_text(*bound->value));
}

std::string loaded_text(const ProbeResult& result) {
  const Finding* const idle = find_value(result.findings, "latency", loaded_series);
  const Finding* const most = find_value(result.findings, "max_loaded_latency", loaded_series);
  if (idle == nullptr || most == nullptr) return {};
  return fmt::format("{} idle, {} under the fastest streams", format_seconds(*idle->value),
                     format_seconds(*most->value));
}

std::string chains_text(const ProbeResult& result) {
  std::string text;
  for (const std::string_view series : {"cache-chains", "memory-chains"}) {
    const Finding* const time = find_value(result.findings, "latency", series);
    if (time == nullptr) continue;
    std::string one =
        fmt::format("{}: {} a hop", series.substr(0, series.find('-')), format_seconds(*time->value));
    if (const Finding* const many = find_value(result.findings, "in_flight", series)) {
      one += fmt::format(", {:.0f} in flight", *many->value);
    }
    append(text, "; ", one);
  }
  return text;
}

/// Bytes of a line that the loaded points moved; 0 without such points.
double streamed_line(const ProbeResult& result) {
  for (const Point& point : result.points) {
    if (point.series != loaded_traffic_series) continue;
    return static_cast<double>(point.parameters.integer_or("line_bytes", 0));
  }
  return 0.0;
}

std::vector<CardPlot> plots_of(const ProbeResult& result) {
  std::vector<CardPlot> plots;
  if (const double line = streamed_line(result); line > 0.0) {
    plots.push_back({.title = "Latency under streaming load",
                     .series = {std::string(loaded_latency_series)},
                     .by = "delay",
                     .across_title = "bandwidth of the streams",
                     .across = std::string(loaded_traffic_series),
                     .across_bytes = line});
  }
  plots.push_back({.title = "Chains side by side",
                   .series = {"cache-chains", "memory-chains"},
                   .by = "asked",
                   .across_title = "requested loads in flight"});
  return plots;
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  std::string text = limit_text(result);
  append(text, ", ", device_text(result, text.starts_with("at least")));
  if (text.empty() && !result.findings.empty()) {
    const Finding* const why = find_finding(result.findings, "in_flight");
    const std::string reason = why == nullptr ? "" : why->reason;
    card.unseen.push_back("loads in flight" +
                          (reason.empty() ? reason : fmt::format(" ({})", reason)));
  }
  if (!text.empty()) card.lines.push_back({"in flight", std::move(text)});
  if (std::string chains = chains_text(result); !chains.empty()) {
    card.rows.push_back({"chains", std::move(chains)});
  }
  if (std::string loaded = loaded_text(result); !loaded.empty()) {
    card.rows.push_back({"loaded", std::move(loaded)});
  }
  card.plots = plots_of(result);
  for (const Finding& each : result.findings) {
    if (each.series == loaded_series) continue;
    card.titles.emplace(each.series, fmt::format("loads in flight, {}", each.series));
  }
  return card;
}

}  // namespace clprobe::inflight
