// SPDX-License-Identifier: Apache-2.0
#include "analysis/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace clprobe {
namespace {

/// Whether a finding's series is about this curve: its name, or that with more behind a blank, as
/// "load-throughput 4 B".
bool is_about(std::string_view series, const ComparedCurve& curve) {
  if (!series.starts_with(curve.series)) return false;
  return series.size() == curve.series.size() || series[curve.series.size()] == ' ';
}

/// What timed the points of the curve behind a series' findings; empty where that is not stated.
std::string timer_of(const ComparedResult& result, std::string_view series) {
  const auto curve = std::find_if(result.curves.begin(), result.curves.end(),
                                  [&](const auto& each) { return is_about(series, each); });
  return curve == result.curves.end() ? "" : curve->settings.text_or("timer", "");
}

}  // namespace

std::string doubt_of_timers(const ComparedResult& baseline, const ComparedResult& other,
                            std::string_view series) {
  const std::string before = timer_of(baseline, series);
  const std::string now = timer_of(other, series);
  if (before.empty() || now.empty() || before == now) return {};
  return fmt::format("; but timed by {} (baseline: {})", now, before);
}

std::vector<std::string> differing_origins(const RunDigest& baseline, const RunDigest& other) {
  if (other.device != baseline.device) return {};
  std::vector<std::string> texts;
  const auto add = [&](std::string_view what, const std::string& before, const std::string& now) {
    if (before.empty() || now.empty() || before == now) return;
    texts.push_back(fmt::format("{} {} instead of {}", what, now, before));
  };
  add("another card of the same model: UUID", baseline.uuid, other.uuid);
  add("driver", baseline.driver, other.driver);
  add("platform", baseline.platform, other.platform);
  return texts;
}

bool is_same_method(const ComparedResult& baseline, const ComparedResult& other) {
  if (baseline.method != 0 && other.method != 0) return baseline.method == other.method;
  if (baseline.kernels.empty() || other.kernels.empty()) return true;
  return std::any_of(baseline.kernels.begin(), baseline.kernels.end(), [&](const auto& kernel) {
    return std::find(other.kernels.begin(), other.kernels.end(), kernel) != other.kernels.end();
  });
}

std::string differing_methods(const RunDigest& baseline, const RunDigest& other) {
  return fmt::format(
      "measured by another version of the method ({}; baseline: {}); measure both with the same "
      "clprobe",
      other.tool, baseline.tool);
}

std::string doubt_of_clock(const Finding& baseline, const Finding& other) {
  if (baseline.method == other.method) return {};
  return fmt::format("; but by {} (baseline: {})", other.method, baseline.method);
}

}  // namespace clprobe
