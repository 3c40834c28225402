// SPDX-License-Identifier: Apache-2.0
// The card of the probe `bandwidth`: bandwidths by level, and the roofline of a run that also
// measured the peak of arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/units.hpp"
#include "probes/bandwidth/bandwidth.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::bandwidth {

namespace {

const Finding* find_at_level(const ProbeResult& result, std::string_view name,
                             std::string_view series, int level) {
  const auto found =
      std::find_if(result.findings.begin(), result.findings.end(), [&](const Finding& each) {
        return each.name == name && each.series == series && each.level == level;
      });
  return found == result.findings.end() ? nullptr : &*found;
}

// Returns "33.2 TB/s to 219 KiB, 9.93 TB/s to 27.4 MiB, 4.42 TB/s". With more than four levels,
// only the first three levels and the last level are shown.
std::string text_of(const ProbeResult& result, std::string_view series) {
  constexpr std::size_t max_shown = 4;
  // A result imported from another tool may have no bandwidth for the first levels.
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
    const Finding* const size = find_at_level(result, "capacity", series, *rate->level);
    if (!rate->value && !rate->low) continue;
    std::string one =
        rate->value ? format_rate(*rate->value) : format_rate(*rate->low) + " (no plateau)";
    if (size != nullptr && size->value) one += " to " + size_text(*size->value);
    const Finding* const share = find_at_level(result, "share_of_peak", series, *rate->level);
    if (share != nullptr && share->value) {
      one += fmt::format(" ({:.0f} % of the reported peak)", 100.0 * *share->value);
    }
    append(text, ", ", one);
  }
  return text;
}

/// Returns the sizes of a series' smallest and largest working set, in bytes. Without points, both
/// sizes are 0.
std::pair<double, double> ends_of_sets(const ProbeResult& result, std::string_view series) {
  std::pair<double, double> ends{0.0, 0.0};
  for (const Point& point : result.points) {
    if (point.series != series || point.samples.empty()) continue;
    const auto size = static_cast<double>(point.parameters.integer_or("working_set_bytes", 0));
    if (size > 0.0 && (ends.first == 0.0 || size < ends.first)) ends.first = size;
    ends.second = std::max(ends.second, size);
  }
  return ends;
}

/// Returns "32.7 GB/s at 128 MiB" for `beyond`, the rise after the last plateau. Returns an empty
/// string if `beyond` is null, since the curve ends in a plateau.
std::string beyond_text(const Finding* beyond, double largest) {
  if (beyond == nullptr || largest == 0.0) return {};
  return fmt::format("{} at {}", format_rate(*beyond->value), size_text(largest));
}

/// Returns the bandwidth of a series by level, up to a level without an end or a final rise.
std::vector<CardPlateau> plateaus_of(const ProbeResult& result, std::string_view series) {
  std::vector<CardPlateau> plateaus;
  const auto [smallest, largest] = ends_of_sets(result, series);
  double from = smallest;
  for (int level = 1;; ++level) {
    const Finding* const rate = find_at_level(result, "bandwidth", series, level);
    const Finding* const size = find_at_level(result, "capacity", series, level);
    if (rate == nullptr || size == nullptr) {
      const Finding* const beyond = find_value(result.findings, "beyond", series);
      const std::string text = beyond_text(beyond, largest);
      if (!text.empty()) plateaus.push_back({from, largest, true, text, *beyond});
      return plateaus;
    }
    const bool is_open = !size->value.has_value();
    const double to = is_open ? size->low.value_or(0.0) : *size->value;
    if (rate->value) plateaus.push_back({from, to, is_open, format_rate(*rate->value), *rate});
    if (is_open) return plateaus;
    from = size->high.value_or(to);  // smaller sizes may be of the previous level
  }
}

std::string text_of_unit(const Finding& rate) {
  return rate.unit == "bytes_per_cycle" ? fmt::format("{:.3g} B/cycle", *rate.value)
                                        : format_rate(*rate.value);
}

/// A bandwidth and the name of its level.
struct RoofSlope {
  std::string name{};
  double rate{0.0};  ///< bytes per second
};

/// A peak, and its ridge points.
struct RoofPeak {
  std::string_view type{};       ///< type of number
  double rate{0.0};              ///< operations per second
  std::vector<double> ridges{};  ///< operations per byte, in the order of the slopes
};

struct Roofline {
  std::vector<RoofSlope> slopes{};  ///< slowest first
  std::vector<RoofPeak> peaks{};
  std::string reason{};  ///< why no ridge point of floats is known
};

std::string slope_name(const ProbeResult& result, const Finding& ridge) {
  if (!ridge.label.empty()) return ridge.label;
  if (ridge.level) return fmt::format("level {}", *ridge.level);
  return "at " + size_text(ends_of_sets(result, read_series).second);
}

/// Returns the bandwidth that a ridge point belongs to, in bytes per second; 0 if unknown.
double rate_of(const ProbeResult& result, const Finding& ridge) {
  for (const Finding& each : result.findings) {
    const bool is_rate = each.name == "bandwidth" || (each.name == "beyond" && !ridge.level);
    if (is_rate && each.series == ridge.series && each.level == ridge.level) {
      return each.value.value_or(each.low.value_or(0.0));
    }
  }
  return 0.0;
}

Roofline roofline_of(const ProbeResult& result) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> types{
      {{"ridge", "float"}, {"double_ridge", "double"}, {"half_ridge", "half"}}};
  Roofline roofline;
  for (const auto& [name, type] : types) {
    RoofPeak peak{.type = type};
    std::vector<RoofSlope> slopes;
    // Findings begin with the fastest level.
    for (auto each = result.findings.rbegin(); each != result.findings.rend(); ++each) {
      if (each->name != name) continue;
      if (!each->value && type == "float") roofline.reason = each->reason;
      const double rate = rate_of(result, *each);
      if (!each->value || rate <= 0.0) continue;
      slopes.push_back({slope_name(result, *each), rate});
      peak.ridges.push_back(*each->value);
      peak.rate = *each->value * rate;
    }
    if (slopes.empty()) continue;
    roofline.slopes = std::move(slopes);
    roofline.peaks.push_back(std::move(peak));
  }
  return roofline;
}

/// Returns "ridge at 14.7 flop/B (memory), 7.02 (L2); double 7.36 (memory)".
std::string roofline_text(const Roofline& roofline) {
  std::string text;
  for (const RoofPeak& peak : roofline.peaks) {
    const bool is_first = text.empty();
    if (is_first) {
      text = peak.type == "float" ? "ridge at " : fmt::format("{} ridge at ", peak.type);
    } else {
      text += fmt::format("; {} ", peak.type);
    }
    const std::size_t count = is_first ? peak.ridges.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      text += fmt::format("{}{}{} ({})", i == 0 ? "" : ", ", format_number(peak.ridges[i]),
                          is_first && i == 0 ? " flop/B" : "", roofline.slopes[i].name);
    }
  }
  return text.empty() ? roofline.reason : text;
}

/// Returns the curve min(`slope` x, `peak`), or a horizontal line at `peak` if `slope` is 0. Points
/// are dense, since terminals draw points instead of lines, and include the ridge point.
CardCurve roof(std::string name, double slope, double peak, double from, double to) {
  constexpr int steps = 40;
  std::vector<double> xs;
  for (int i = 0; i <= steps; ++i) xs.push_back(from * std::pow(to / from, i / double{steps}));
  const double ridge = slope > 0.0 ? peak / slope : from;
  if (ridge > from && ridge < to) {
    xs.insert(std::upper_bound(xs.begin(), xs.end(), ridge), ridge);
  }
  CardCurve curve{.name = std::move(name)};
  for (const double x : xs) {
    curve.points.emplace_back(x, slope > 0.0 ? std::min(slope * x, peak) : peak);
  }
  return curve;
}

/// Returns the chart: the roof of the slowest level with the first peak, the slopes of the other
/// levels up to the highest peak, and all peaks from the slope of the fastest level on.
CardPlot roofline_plot(const Roofline& roofline) {
  CardPlot plot{.title = std::string(roofline_title),
                .by = "flops_per_byte",
                .across_title = "arithmetic intensity",
                .across_unit = "flops_per_byte",
                .value_title = "floating-point rate",
                .unit = "flops_per_second"};
  double top = 0.0;
  double last = 0.0;
  double first = HUGE_VAL;
  double fastest = 0.0;
  for (const RoofPeak& peak : roofline.peaks) {
    top = std::max(top, peak.rate);
    last = std::max(last, *std::max_element(peak.ridges.begin(), peak.ridges.end()));
    first = std::min(first, *std::min_element(peak.ridges.begin(), peak.ridges.end()));
  }
  for (const RoofSlope& slope : roofline.slopes) fastest = std::max(fastest, slope.rate);
  const double from = first / 8.0;
  const double to = last * 4.0;
  bool is_slowest = true;
  for (const RoofSlope& slope : roofline.slopes) {
    const double peak = is_slowest ? roofline.peaks.front().rate : top;
    plot.curves.push_back(roof(fmt::format("{} {}", slope.name, format_rate(slope.rate)),
                               slope.rate, peak, from, is_slowest ? to : top / slope.rate));
    is_slowest = false;
  }
  for (const RoofPeak& peak : roofline.peaks) {
    plot.curves.push_back(roof(fmt::format("{} {}", peak.type, format_flops(peak.rate)), 0.0,
                               peak.rate, peak.rate / fastest, to));
  }
  return plot;
}

void add_roofline(Card& card, const ProbeResult& result) {
  const Roofline roofline = roofline_of(result);
  if (std::string text = roofline_text(roofline); !text.empty()) {
    card.lines.push_back({std::string(roofline_title), std::move(text)});
  }
  if (!roofline.peaks.empty()) card.plots.push_back(roofline_plot(roofline));
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  std::string text = text_of(result, read_series);
  append(text, ", ",
         beyond_text(find_value(result.findings, "beyond", read_series),
                     ends_of_sets(result, read_series).second));
  const Finding* const unit = find_at_level(result, "unit_bandwidth", one_unit_series, 1);
  if (!text.empty() && unit != nullptr && unit->value) {
    text += fmt::format("; one compute unit {}", text_of_unit(*unit));
  }
  if (!text.empty()) {
    card.columns.push_back({.title = "read",
                            .plateaus = plateaus_of(result, read_series),
                            .alone = {"bandwidth", "read " + text},
                            .series = std::string(read_series)});
  }
  for (const std::string_view series : {"write", "copy"}) {
    std::vector<CardPlateau> plateaus = plateaus_of(result, series);
    if (plateaus.empty()) continue;
    card.columns.push_back(
        {.plateaus = std::move(plateaus), .series = std::string(series), .is_shown = false});
  }
  for (const std::string& series : series_in(result.findings)) {
    std::string row = text_of(result, series);
    if (!row.empty()) card.rows.push_back({series, std::move(row)});
  }
  add_roofline(card, result);
  return card;
}

}  // namespace clprobe::bandwidth
