// SPDX-License-Identifier: Apache-2.0
// What all units read from each level: beside the levels of latency where the card has them, else
// in a line, with what one unit reads from the first.
#include "probes/bandwidth/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "probes/bandwidth/series.hpp"
#include "probes/shared/card_parts.hpp"

namespace clprobe::bandwidth {
namespace {

const Finding* of_level(const ProbeResult& result, std::string_view name, std::string_view series,
                        int level) {
  const auto found =
      std::find_if(result.findings.begin(), result.findings.end(), [&](const Finding& each) {
        return each.name == name && each.series == series && each.level == level;
      });
  return found == result.findings.end() ? nullptr : &*found;
}

// "33.2 TB/s to 219 KiB, 9.93 TB/s to 27.4 MiB, 4.42 TB/s". Of many levels the first and the last.
std::string text_of(const ProbeResult& result, std::string_view series) {
  constexpr std::size_t max_shown = 4;
  // Another tool may know no bandwidth of the first levels.
  std::vector<const Finding*> rates;
  for (const Finding& each : result.findings) {
    if (each.name != "bandwidth" || each.series != series) continue;
    if (is_at_one_size(each)) return observed_text(each);
    if (each.level) rates.push_back(&each);
  }
  std::string text;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const bool is_left_out = rates.size() > max_shown && i + 1 >= max_shown && i + 1 < rates.size();
    if (is_left_out) {
      if (i + 1 == max_shown) append(text, ", ", fmt::format("{} more", rates.size() - max_shown));
      continue;
    }
    const Finding* const rate = rates[i];
    const Finding* const size = of_level(result, "capacity", series, *rate->level);
    if (!rate->value && !rate->low) continue;
    std::string one =
        rate->value ? format_rate(*rate->value) : format_rate(*rate->low) + " (no plateau)";
    if (size != nullptr && size->value) one += " to " + size_text(*size->value);
    append(text, ", ", one);
  }
  return text;
}

/// The smallest and the largest set that was read, as far as anybody knows. 0 of a document without
/// points.
std::pair<double, double> ends_of_sets(const ProbeResult& result) {
  std::pair<double, double> ends{0.0, 0.0};
  for (const Point& point : result.points) {
    if (point.series != read_series || point.samples.empty()) continue;
    const auto size = static_cast<double>(point.parameters.integer_or("working_set_bytes", 0));
    if (size > 0.0 && (ends.first == 0.0 || size < ends.first)) ends.first = size;
    ends.second = std::max(ends.second, size);
  }
  return ends;
}

/// "32.7 GB/s at 128 MiB", behind the last plateau; empty where the curve ends in one.
std::string beyond_text(const ProbeResult& result, double largest) {
  const Finding* const beyond = find_value(result.findings, "beyond", read_series);
  if (beyond == nullptr || largest == 0.0) return {};
  return fmt::format("{} at {}", format_rate(*beyond->value), size_text(largest));
}

/// What all units read, level by level, until one whose end is not known.
std::vector<CardPlateau> plateaus_of(const ProbeResult& result) {
  std::vector<CardPlateau> plateaus;
  const auto [smallest, largest] = ends_of_sets(result);
  double from = smallest;
  for (int level = 1;; ++level) {
    const Finding* const rate = of_level(result, "bandwidth", read_series, level);
    const Finding* const size = of_level(result, "capacity", read_series, level);
    if (rate == nullptr || size == nullptr) {
      const std::string beyond = beyond_text(result, largest);
      if (!beyond.empty()) plateaus.push_back({from, largest, true, beyond});
      return plateaus;
    }
    const bool is_open = !size->value.has_value();
    const double to = is_open ? size->low.value_or(0.0) : *size->value;
    if (rate->value) plateaus.push_back({from, to, is_open, format_rate(*rate->value)});
    if (is_open) return plateaus;
    from = to;
  }
}

std::string text_of_unit(const Finding& rate) {
  return rate.unit == "bytes_per_cycle" ? fmt::format("{:.3g} B/cycle", *rate.value)
                                        : format_rate(*rate.value);
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  std::string text = text_of(result, read_series);
  append(text, ", ", beyond_text(result, ends_of_sets(result).second));
  const Finding* const unit = of_level(result, "unit_bandwidth", one_unit_series, 1);
  if (!text.empty() && unit != nullptr && unit->value) {
    text += fmt::format("; one compute unit {}", text_of_unit(*unit));
  }
  if (!text.empty()) {
    card.columns.push_back(
        {CardMemory::global, "read", plateaus_of(result), {"bandwidth", "read " + text}});
  }
  for (const std::string& series : series_in(result.findings)) {
    std::string row = text_of(result, series);
    if (!row.empty()) card.rows.push_back({series, std::move(row)});
  }
  return card;
}

}  // namespace clprobe::bandwidth
