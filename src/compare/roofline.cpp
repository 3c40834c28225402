// SPDX-License-Identifier: Apache-2.0
// Ridge points of the roofline model, from the findings of two probes. Method: S. Williams, A.
// Waterman, D. Patterson, Roofline: an insightful visual performance model, CACM 52(4), 2009.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/agreement.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

/// A declared quantity and the result of the probe that declares it.
struct Declared {
  ProbeResult* result{nullptr};
  SharedQuantity what{};
};

/// Returns the declarations of a quantity, in the order of the probes, that have a result.
std::vector<Declared> declared(Run& run, std::span<const ProbeQuantities> all, Quantity quantity) {
  std::vector<Declared> found;
  for (const ProbeQuantities& probe : all) {
    for (ProbeResult& result : run.results) {
      if (result.probe != probe.probe) continue;
      for (const SharedQuantity& each : probe.quantities) {
        if (each.quantity == quantity) found.push_back({&result, each});
      }
    }
  }
  return found;
}

bool is_about(const Finding& finding, const SharedQuantity& what) {
  return finding.name == what.finding && finding.series == what.series;
}

/// Returns the peak; null if the result has none.
const Finding* find_peak(const Declared& peak) {
  const auto found = std::ranges::find_if(peak.result->findings, [&](const Finding& each) {
    return is_about(each, peak.what) && each.value && *each.value > 0.0;
  });
  return found == peak.result->findings.end() ? nullptr : &*found;
}

/// Bandwidth of a level, or at one working set. The bandwidth of a level without a plateau is that
/// of the fastest working set.
struct Slope {
  const Finding* finding{nullptr};
  double value{0.0};
  Interval interval{};
};

std::optional<Slope> slope_of(const Finding& rate) {
  const double value = rate.value.value_or(rate.low.value_or(0.0));
  const Interval interval{rate.low.value_or(value), rate.high.value_or(value)};
  if (!(value > 0.0) || !(interval.low > 0.0) || !(interval.high > 0.0)) return std::nullopt;
  return Slope{&rate, value, interval};
}

/// Returns the bandwidths of a result in the order of its findings: those of levels, and that of
/// the largest working set if it belongs to no level.
std::vector<Slope> slopes_of(const ProbeResult& result, const SharedQuantity& rate,
                             const SharedQuantity* beyond) {
  std::vector<Slope> slopes;
  for (const Finding& each : result.findings) {
    const bool is_of_level = is_about(each, rate) && (each.level || is_at_one_size(each));
    const bool is_last = beyond != nullptr && is_about(each, *beyond) && each.value;
    if (!is_of_level && !is_last) continue;
    if (const auto slope = slope_of(each)) slopes.push_back(*slope);
  }
  return slopes;
}

Finding ridge_of(const Finding& peak, const Slope& slope, const SharedQuantity& ridge,
                 const std::string& level_name) {
  return {.name = std::string(ridge.finding),
          .series = std::string(ridge.series),
          .level = slope.finding->level,
          .value = *peak.value / slope.value,
          .low = peak.low.value_or(*peak.value) / slope.interval.high,
          .high = peak.high.value_or(*peak.value) / slope.interval.low,
          .unit = "flops_per_byte",
          .label = level_name,
          .method = std::string(roofline_method),
          .role = Role::remark,
          .is_ratio = true};
}

/// Adds the ridge points of one type of number, or the reason why there are none.
void add_ridges(const Run& run, const Declared& ridge, const Declared& peak,
                const SharedQuantity& rate, const SharedQuantity* beyond) {
  ProbeResult& result = *ridge.result;
  const Finding* const top = find_peak(peak);
  const std::vector<Slope> slopes = slopes_of(result, rate, beyond);
  std::vector<Finding> made;
  if (top != nullptr && !slopes.empty()) {
    std::map<int, std::string> names = level_names(run, result.probe, rate.series);
    for (const Slope& each : slopes) {
      const auto name = names.find(each.finding->level.value_or(0));
      Finding found = ridge_of(*top, each, ridge.what, name == names.end() ? "" : name->second);
      if (is_sane(*found.low) && is_sane(*found.high)) made.push_back(std::move(found));
    }
  } else if (std::ranges::any_of(peak.result->points, [&](const Point& each) {
               return each.series == peak.what.series;
             })) {
    made.push_back({.name = std::string(ridge.what.finding),
                    .series = std::string(ridge.what.series),
                    .unit = "flops_per_byte",
                    .method = std::string(roofline_method),
                    .reason = top == nullptr ? "not known: " + peak.result->probe + " found no peak"
                                             : "not known: no bandwidth was measured",
                    .role = Role::remark});
  }
  std::ranges::move(made, std::back_inserter(result.findings));
}

}  // namespace

void tell_roofline(Run& run, std::span<const ProbeQuantities> all) {
  for (ProbeResult& result : run.results) {
    std::erase_if(result.findings,
                  [](const Finding& each) { return each.method == roofline_method; });
  }
  const std::vector<Declared> peaks = declared(run, all, Quantity::peak);
  const std::vector<Declared> rates = declared(run, all, Quantity::bandwidth);
  const std::vector<Declared> last = declared(run, all, Quantity::bandwidth_beyond);
  for (const Declared& ridge : declared(run, all, Quantity::ridge)) {
    const auto is_beside = [&](const Declared& other) {
      return other.result == ridge.result && other.what.series == ridge.what.series;
    };
    const auto rate = std::ranges::find_if(rates, is_beside);
    const auto beyond = std::ranges::find_if(last, is_beside);
    const auto peak = std::ranges::find_if(
        peaks, [&](const Declared& each) { return each.what.memory == ridge.what.memory; });
    if (rate == rates.end() || peak == peaks.end()) continue;
    add_ridges(run, ridge, *peak, rate->what, beyond == last.end() ? nullptr : &beyond->what);
  }
}

}  // namespace clprobe
