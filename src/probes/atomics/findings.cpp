// SPDX-License-Identifier: Apache-2.0
// Findings and card of the probe `atomics`. Method: docs/atomics.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/units.hpp"
#include "probes/atomics/atomics.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::atomics {
namespace {

constexpr std::string_view rate_unit = "operations_per_second";

// Ratio of the rates without and with results from which operations count as combined.
constexpr double min_combining = 1.5;

/// A measured point. The estimate is the time of one operation.
struct Timed {
  Shape shape{};
  Estimate time{};

  [[nodiscard]] double rate() const { return ns_per_second / time.ns; }
};

/// Returns the points of a series, fewest addresses first.
std::vector<Timed> read_points(const DeviceInfo& device, std::span<const Point> points,
                               std::string_view series) {
  std::vector<Timed> found;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    // Other programs on a CPU can also speed operations up, since fewer cores then contend.
    const auto time = estimate(point, device);
    if (shape && time && time->ns > 0.0) found.push_back({*shape, *time});
  }
  std::stable_sort(found.begin(), found.end(), [](const Timed& a, const Timed& b) {
    return a.shape.addresses < b.shape.addresses;
  });
  return found;
}

/// Adds a latency in seconds, and in cycles if the clock counts cycles.
void add_latency(Findings& found, const DeviceInfo& device, std::string_view name,
                 std::string_view series, std::string_view method, double ns,
                 const Interval& interval) {
  const auto add = [&](const std::string& full_name, std::string_view unit, double scale) {
    found.findings.push_back(finding_of(full_name, series, unit, method, ns * scale,
                                        interval.low * scale, interval.high * scale));
  };
  add(std::string(name), "seconds", 1.0 / ns_per_second);
  if (counts_core_cycles(device)) {
    add(fmt::format("{}_cycles", name), "cycles", device.clock.ticks_per_ns);
  }
}

void add_latencies(Findings& found, const DeviceInfo& device, std::string_view series,
                   const std::vector<Timed>& all) {
  if (all.size() == 1) {
    const Estimate& time = all.front().time;
    add_latency(found, device, "latency", series, "one chain", time.ns, time.ns_interval);
    found.findings.back().holds_scatter = time.holds_visits;
    return;
  }
  std::vector<double> latencies;
  latencies.reserve(all.size());
  for (const Timed& each : all) latencies.push_back(each.time.ns);
  const auto add = [&](std::string_view name, const std::vector<double>& part) {
    add_latency(found, device, name, series,
                fmt::format("{} of {} blocks", part.size(), latencies.size()), median(part),
                median_interval(part));
  };
  // A CPU's core keeps the lines in its own cache, so that they have no near and far homes.
  const auto modes = runs_items_in_turn(device) ? std::nullopt : find_modes(latencies);
  if (modes) {
    add("near_latency", modes->near);
    add("far_latency", modes->far);
  } else {
    add("latency", latencies);
  }
}

void add_rate(Findings& found, std::string_view name, std::string_view series,
              std::string_view unit, std::string_view method, const Timed& point,
              double scale = ns_per_second) {
  const Interval& ns = point.time.ns_interval;
  found.findings.push_back(finding_of(name, series, unit, method, scale / point.time.ns,
                                      scale / ns.high, scale / ns.low));
  found.findings.back().holds_scatter = point.time.holds_visits;
}

const Timed& fastest(const std::vector<Timed>& all) {
  return *std::min_element(all.begin(), all.end(),
                           [](const Timed& a, const Timed& b) { return a.time.ns < b.time.ns; });
}

std::string address_text(const Timed& point) {
  return point.shape.addresses == 1 ? "1 address"
                                    : fmt::format("{} addresses", point.shape.addresses);
}

/// Adds the number of addresses from which on the rate is at least half of the highest rate. The
/// value is interpolated between the two nearest points.
void add_half_rate(Findings& found, std::string_view series, const std::vector<Timed>& all) {
  const double half = fastest(all).rate() / 2.0;
  std::size_t next = all.size();
  while (next > 0 && all[next - 1].rate() >= half) --next;
  if (next == all.size()) return;
  constexpr std::string_view method = "interpolated";
  const auto above = static_cast<double>(all[next].shape.addresses);
  if (next == 0) {
    found.findings.push_back(
        finding_of("half_rate_addresses", series, "count", method, above, above, above));
    return;
  }
  const auto below = static_cast<double>(all[next - 1].shape.addresses);
  const double share =
      std::log(half / all[next - 1].rate()) / std::log(all[next].rate() / all[next - 1].rate());
  found.findings.push_back(finding_of("half_rate_addresses", series, "count", method,
                                      below * std::pow(above / below, share), below, above));
}

void add_device_rates(Findings& found, const SeriesSpec& series, std::size_t line_words,
                      const std::vector<Timed>& all) {
  const bool is_words = series.spacing_bytes == series.word_bytes;
  for (const Timed& each : all) {
    if (!is_words) break;
    if (each.shape.addresses == 1) {
      add_rate(found, "one_address_rate", series.name, rate_unit, "1 address", each);
    } else if (each.shape.addresses == line_words && series.word_bytes == sizeof(float)) {
      add_rate(found, "one_line_rate", series.name, rate_unit, address_text(each), each);
    }
  }
  if (all.size() < 2) return;
  const Timed& best = fastest(all);
  add_rate(found, "spread_rate", series.name, rate_unit, address_text(best), best);
  if (series.is_curve) add_half_rate(found, series.name, all);
}

/// Adds the rates of a work-group on one word and on a word per work-item.
void add_unit_rates(Findings& found, const DeviceInfo& device, std::string_view series,
                    const std::vector<Timed>& all) {
  const bool in_cycles = counts_core_cycles(device);
  const std::string_view unit = in_cycles ? "operations_per_cycle" : rate_unit;
  const double scale = in_cycles ? 1.0 / device.clock.ticks_per_ns : ns_per_second;
  const auto method = [](const Timed& point) {
    return fmt::format(
        "{} on {}",
        point.shape.work_items == 1 ? "1 work-item"
                                    : fmt::format("{} work-items", point.shape.work_items),
        point.shape.addresses == 1 ? "1 word" : fmt::format("{} words", point.shape.addresses));
  };
  if (all.front().shape.addresses == 1 && all.front().shape.work_items > 1) {
    add_rate(found, "unit_one_address_rate", series, unit, method(all.front()), all.front(), scale);
  }
  if (all.back().shape.addresses == all.back().shape.work_items) {
    add_rate(found, "unit_rate", series, unit, method(all.back()), all.back(), scale);
  }
}

/// Adds the rate on one address with unused results, relative to the rate with used results. Not
/// for CPUs, whose work-items do not run together.
void add_combining(Findings& found, const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return;
  const Finding* const used = find_value(found.findings, "one_address_rate", "add");
  const Finding* const unused = find_value(found.findings, "one_address_rate", "add-unused");
  if (used == nullptr || unused == nullptr) return;
  Finding ratio = finding_of(
      "combining", "add-unused", "", "rate with unused results / rate with used results",
      *unused->value / *used->value, *unused->low / *used->high, *unused->high / *used->low);
  if (*ratio.low >= min_combining) ratio.label = "combined";
  found.findings.push_back(std::move(ratio));
}

/// Returns a rate in decimal units, such as "1.36 Gop/s".
std::string rate_text(double value, std::string_view unit) {
  if (unit != rate_unit) return fmt::format("{} per cycle", format_number(value));
  constexpr std::array<std::pair<double, const char*>, 4> prefixes{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [scale, prefix] : prefixes) {
    if (value >= scale) return fmt::format("{} {}op/s", format_number(value / scale), prefix);
  }
  return fmt::format("{} op/s", format_number(value));
}

/// Returns the latency of a series in cycles, or else as a time: "280 / 524 cycles near / far".
std::string latency_text(std::span<const Finding> findings, std::string_view series) {
  const Finding* const one = find_value(findings, "latency", series);
  const Finding* const one_cycles = find_value(findings, "latency_cycles", series);
  if (one_cycles != nullptr) return format_number(*one_cycles->value) + " cycles";
  if (one != nullptr) return format_seconds(*one->value);
  const Finding* const near_cycles = find_value(findings, "near_latency_cycles", series);
  const Finding* const far_cycles = find_value(findings, "far_latency_cycles", series);
  if (near_cycles != nullptr && far_cycles != nullptr) {
    return fmt::format("{} / {} cycles near / far", format_number(*near_cycles->value),
                       format_number(*far_cycles->value));
  }
  const Finding* const near = find_value(findings, "near_latency", series);
  const Finding* const far = find_value(findings, "far_latency", series);
  if (near == nullptr || far == nullptr) return {};
  return fmt::format("{} / {} near / far", format_seconds(*near->value),
                     format_seconds(*far->value));
}

/// Returns the rates of a series: "1.36 Gop/s on one address, 98.0 Gop/s spread".
std::string rates_text(std::span<const Finding> findings, std::string_view series) {
  std::string text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> shown{
      {{"one_address_rate", "on one address"},
       {"spread_rate", "spread"},
       {"unit_one_address_rate", "on one address"},
       {"unit_rate", "per unit"}}};
  for (const auto& [name, where] : shown) {
    if (const Finding* const rate = find_value(findings, name, series)) {
      append(text, ", ", fmt::format("{} {}", rate_text(*rate->value, rate->unit), where));
    }
  }
  return text;
}

}  // namespace

std::optional<Modes> find_modes(std::vector<double> latencies) {
  constexpr std::size_t min_blocks = 10;
  constexpr double min_share = 0.1;
  constexpr double min_gap = 0.1;
  constexpr double min_deviations = 3.0;
  if (latencies.size() < min_blocks) return std::nullopt;
  std::sort(latencies.begin(), latencies.end());
  const auto side =
      static_cast<std::size_t>(std::ceil(min_share * static_cast<double>(latencies.size())));
  std::size_t split = side;
  for (std::size_t i = side; i + side <= latencies.size(); ++i) {
    if (latencies[i] - latencies[i - 1] > latencies[split] - latencies[split - 1]) split = i;
  }
  const auto middle = latencies.begin() + static_cast<std::ptrdiff_t>(split);
  Modes modes{{latencies.begin(), middle}, {middle, latencies.end()}};
  const double gap = latencies[split] - latencies[split - 1];
  const double scatter = std::max(scaled_mad(modes.near), scaled_mad(modes.far));
  const bool is_wide = gap > min_gap * latencies[split - 1] && gap > min_deviations * scatter;
  return is_wide ? std::optional(std::move(modes)) : std::nullopt;
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const SeriesSpec& series : all_series) {
    const std::vector<Timed> all = read_points(device, points, series.name);
    if (all.empty()) continue;
    switch (series.scope) {
      case Scope::chain:
        add_latencies(found, device, series.name, all);
        break;
      case Scope::unit:
        add_unit_rates(found, device, series.name, all);
        break;
      case Scope::device:
        add_device_rates(found, series, words_of_line(device), all);
        break;
    }
  }
  add_combining(found, device);
  return found;
}

Card card(const ProbeResult& result) {
  Card card;
  for (const SeriesSpec& series : all_series) {
    std::string text = latency_text(result.findings, series.name);
    append(text, ", ", rates_text(result.findings, series.name));
    if (!text.empty()) card.rows.push_back({std::string(series.name), std::move(text)});
  }
  std::string line = latency_text(result.findings, "latency");
  const Finding* const one = find_value(result.findings, "one_address_rate", "add");
  if (one != nullptr) {
    append(line, ", ", fmt::format("{} on one address", rate_text(*one->value, one->unit)));
  }
  const Finding* const spread = find_value(result.findings, "spread_rate", "add");
  if (spread != nullptr) {
    append(line, ", ", fmt::format("{} spread", rate_text(*spread->value, spread->unit)));
  }
  if (!line.empty()) {
    card.lines.push_back({"atomics", fmt::format("add {}", line)});
  } else if (card.rows.empty() && !result.findings.empty()) {
    card.unseen.emplace_back("atomic operations");
  }
  return card;
}

}  // namespace clprobe::atomics
