// SPDX-License-Identifier: Apache-2.0
// Makers of findings.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "clprobe/run.hpp"

namespace clprobe {

/// Without a value yet.
inline Finding finding_of(std::string_view name, std::string_view series, std::string_view unit,
                          std::string_view method) {
  Finding finding;
  finding.name = name;
  finding.series = series;
  finding.unit = unit;
  finding.method = method;
  return finding;
}

/// Nothing can be said, and why.
inline Finding without_value(std::string_view name, std::string_view series,
                             std::string_view method, std::string reason) {
  Finding finding = finding_of(name, series, "", method);
  finding.reason = std::move(reason);
  return finding;
}

/// What is clear without measuring, and why.
inline Finding not_measured(std::string_view name, std::string_view series, std::string reason) {
  Finding finding = without_value(name, series, "plan", std::move(reason));
  finding.source = Source::reported;
  return finding;
}

}  // namespace clprobe
