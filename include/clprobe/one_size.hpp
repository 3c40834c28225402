// SPDX-License-Identifier: Apache-2.0
// The value of a curve that has no plateau: that of its largest size, which the method names. Pure.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// Begins the method of such a finding: "at 1 GiB". Its reason says why there is no plateau.
inline constexpr std::string_view at_one_size = "at ";

inline bool is_at_one_size(const Finding& finding) {
  const std::string& method = finding.method;
  const bool names_size = method.starts_with(at_one_size) && method.size() > at_one_size.size() &&
                          std::isdigit(static_cast<unsigned char>(method[at_one_size.size()])) != 0;
  return finding.value && !finding.level && names_size;
}

/// "at 1 GiB (one size; no plateau)": the advice in the reason is left out.
inline std::string one_size_text(const Finding& finding) {
  return fmt::format("{} ({})", finding.method, finding.reason.substr(0, finding.reason.find(':')));
}

/// The wider side of an interval as a share of the value: "±0.4%".
inline std::string spread_text(double value, double low, double high) {
  const double percent = 100.0 * std::fabs(std::max(value - low, high - value) / value);
  if (percent < 0.05) return "±<0.1%";
  return fmt::format("±{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

}  // namespace clprobe
