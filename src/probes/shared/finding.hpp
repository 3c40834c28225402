// SPDX-License-Identifier: Apache-2.0
// Making findings. What depends on the name alone (role, direction) is stamped from the probe's
// FindingSpec, and is not set here. Pure.
#pragma once

#include <string>
#include <string_view>

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

/// Sets the value and its interval.
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

/// Makes a finding without a value, with the reason after measuring.
inline Finding without_value(std::string_view name, std::string_view series,
                             std::string_view method, std::string_view reason,
                             std::string_view unit = {}) {
  Finding finding = finding_of(name, series, unit, method);
  finding.reason = reason;
  return finding;
}

/// Method of findings of `plan`, which the engine keeps when the analysis is repeated.
inline constexpr std::string_view plan_method = "plan";

/// Makes a finding of something that `plan` does not measure, with the reason that the device
/// reports.
inline Finding not_measured(std::string_view name, std::string_view series,
                            std::string_view reason) {
  Finding finding = without_value(name, series, plan_method, reason);
  finding.source = Source::reported;
  return finding;
}

}  // namespace clprobe
