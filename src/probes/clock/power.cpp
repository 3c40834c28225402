// SPDX-License-Identifier: Apache-2.0
// Power, and the energy of reading memory and of arithmetic. Method: docs/clock.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/clock/clock.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::clock {
namespace {

/// A load whose power above the idle device's buys a throughput.
struct Purchase {
  std::string_view energy;
  std::string_view unit;
  std::string_view series;
  std::string_view throughput;
};

constexpr Purchase purchases[]{
    {"energy_per_byte", "joules_per_byte", "stream", "bandwidth"},
    {"energy_per_operation", "joules_per_operation", "arithmetic", "operations"},
};

// Number of power readings from which their extremes are an interval.
constexpr std::size_t min_readings = 3;

}  // namespace

void add_energy(Findings& found, const Readings& readings) {
  for (const Purchase& each : purchases) {
    const Finding* const idle = find_value(found.findings, "power", "idle");
    const Finding* const loaded = find_value(found.findings, "power", each.series);
    const Finding* const rate = find_value(found.findings, each.throughput, each.series);
    if (idle == nullptr || loaded == nullptr || rate == nullptr) continue;
    const double idle_watts = *idle->value;
    const double per_watt = 1.0 / *rate->value;
    Finding energy = finding_of(each.energy, each.series, each.unit, "power above idle / rate");
    if (*loaded->value <= idle_watts) {
      energy.reason = "the meter shows no more power than on the idle device";
      found.findings.push_back(std::move(energy));
      continue;
    }
    energy.value = (*loaded->value - idle_watts) * per_watt;
    const auto own = readings.find(std::string(each.series));
    if (own != readings.end() && own->second.size() >= min_readings) {
      const auto [least, most] = std::ranges::minmax(own->second);
      energy.low = std::max(0.0, least - idle_watts) * per_watt;
      energy.high = (most - idle_watts) * per_watt;
    } else {
      energy.reason = "the load is too short for several power readings: repeat with --burn 20s";
    }
    found.findings.push_back(std::move(energy));
  }
}

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

std::string energy_text(const ProbeResult& result) {
  constexpr double pico = 1e-12;
  std::string text;
  bool is_rough = false;
  const auto add = [&](std::string_view name, std::string_view what) {
    const Finding* const energy = find_value(result.findings, name);
    if (energy == nullptr) return;
    // Loads of a second gave 100 to 153 pJ on an H200, a load of 20 s gave 124 pJ.
    const double value = *energy->value / pico;
    is_rough = is_rough || !energy->low;
    append(text, ", ",
           energy->low ? fmt::format("{:.3g} pJ per {}", value, what)
                       : fmt::format("about {:.0f} pJ per {}", value, what));
  };
  add("energy_per_byte", "byte read");
  add("energy_per_operation", "operation");
  if (is_rough) text += " (short load; --burn 20s)";
  return text;
}

}  // namespace clprobe::clock
