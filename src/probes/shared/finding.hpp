// SPDX-License-Identifier: Apache-2.0
// Findings of probes: making them, finding them by name, and showing their values on cards. The
// probe's FindingSpec sets what depends on the name alone (role, direction). Pure.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Makes a finding without a value.
inline Finding finding_of(std::string_view name, std::string_view series, std::string_view unit,
                          std::string_view method) {
  Finding finding;
  finding.name = name;
  finding.series = series;
  finding.unit = unit;
  finding.method = method;
  return finding;
}

inline Finding with_value(Finding finding, double value, double low, double high) {
  finding.value = value;
  finding.low = low;
  finding.high = high;
  return finding;
}

inline Finding finding_of(std::string_view name, std::string_view series, std::string_view unit,
                          std::string_view method, double value, double low, double high) {
  return with_value(finding_of(name, series, unit, method), value, low, high);
}

/// Makes a finding without a value. `reason` states why the measurement gives none.
inline Finding without_value(std::string_view name, std::string_view series,
                             std::string_view method, std::string_view reason,
                             std::string_view unit = {}) {
  Finding finding = finding_of(name, series, unit, method);
  finding.reason = reason;
  return finding;
}

/// Method of findings that `plan` makes. The engine keeps these findings when the analysis is
/// repeated.
inline constexpr std::string_view plan_method = "plan";

/// Makes a finding without a value for a quantity that `plan` does not measure. The source is
/// `reported`, since most reasons come from the device's report.
inline Finding not_measured(std::string_view name, std::string_view series,
                            std::string_view reason) {
  Finding finding = without_value(name, series, plan_method, reason);
  finding.source = Source::reported;
  return finding;
}

/// Returns the first finding of this name and series; null if there is none. An empty `series`
/// matches any series.
inline const Finding* find_finding(std::span<const Finding> findings, std::string_view name,
                                   std::string_view series = {}) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.name == name && (series.empty() || each.series == series);
  });
  return found == findings.end() ? nullptr : &*found;
}

/// Returns the finding of this name and series. Returns null if there is no such finding, or if
/// the finding has no value.
inline const Finding* find_value(std::span<const Finding> findings, std::string_view name,
                                 std::string_view series = {}) {
  const Finding* const found = find_finding(findings, name, series);
  return found != nullptr && found->value ? found : nullptr;
}

/// Returns the names of the series, in the order of their first findings.
inline std::vector<std::string> series_in(std::span<const Finding> findings) {
  std::vector<std::string> series;
  for (const Finding& each : findings) {
    if (std::find(series.begin(), series.end(), each.series) == series.end()) {
      series.push_back(each.series);
    }
  }
  return series;
}

/// Formats a size. Sizes above 9.2e18 bytes, which a document may claim, are shown as 9.2e18.
inline std::string size_text(double bytes) {
  constexpr double largest = 9.2e18;
  return format_bytes({static_cast<std::uint64_t>(std::clamp(bytes, 0.0, largest))});
}

/// Returns "18.3 GB/s ±2.1% at 1 GiB (one size; no plateau)" for a time or a rate at one size.
inline std::string observed_text(const Finding& finding) {
  const auto show = finding.unit == "seconds" ? format_seconds : format_rate;
  std::string text = show(*finding.value);
  const double low = finding.low.value_or(0.0);
  const double high = finding.high.value_or(0.0);
  if (high >= 2.0 * *finding.value) {
    text += fmt::format(" ({} to {})", show(low), show(high));
  } else if (low < high) {
    text += " " + spread_text(*finding.value, low, high);
  }
  return fmt::format("{} {}", text, one_size_text(finding));
}

/// Appends `more` to a list in `text`, unless `more` is empty.
inline void append(std::string& text, std::string_view separator, std::string_view more) {
  if (!text.empty() && !more.empty()) text += separator;
  text += more;
}

}  // namespace clprobe
