// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/stride_pattern.hpp"
#include "clprobe/estimate.hpp"

namespace clprobe::stride {
namespace {

constexpr double lane_bytes = 4.0;

/// One series, its points in ascending order of their strides.
struct Series {
  std::string name{};
  std::string verb{"access"};
  std::vector<StridePoint> points{};
  bool is_whole{true};  ///< from a stride of one element on
};

std::vector<Series> series_in(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<Series> all;
  for (const Point& point : points) {
    auto series = std::find_if(all.begin(), all.end(),
                               [&](const Series& each) { return each.name == point.series; });
    if (series == all.end()) {
      series = all.insert(all.end(), Series{});
      series->name = point.series;
      series->verb = point.parameters.text_or("operation", series->verb);
      series->is_whole = false;
    }
    const auto time = estimate(point, device);
    const std::int64_t stride = point.parameters.integer_or("stride_bytes", 0);
    if (!point.failure.empty() || !time || stride <= 0 || !(time->ns_interval.low > 0.0)) continue;
    // Bytes in a nanosecond; the fastest launches have the shortest times.
    series->points.push_back({static_cast<double>(stride), ns_per_second / time->ns,
                              ns_per_second / time->ns_interval.high,
                              ns_per_second / time->ns_interval.low});
    series->is_whole |= point.parameters.integer_or("stride_elements", 0) == 1;
  }
  for (Series& series : all) {
    std::sort(
        series.points.begin(), series.points.end(),
        [](const StridePoint& a, const StridePoint& b) { return a.stride_bytes < b.stride_bytes; });
  }
  return all;
}

std::string bytes_text(double bytes) { return format_bytes({static_cast<std::uint64_t>(bytes)}); }

Finding about(const Series& series, std::string name, std::string unit, std::string method) {
  Finding finding;
  finding.name = std::move(name);
  finding.series = series.name;
  finding.unit = std::move(unit);
  finding.method = std::move(method);
  return finding;
}

/// What a programmer should do, in one sentence.
std::string advice_of(const Series& series, const StridePattern& pattern) {
  const std::vector<StridePoint>& points = series.points;
  const auto percent = [&](double bandwidth) {
    return fmt::format("{:.3g} %", 100.0 * bandwidth / pattern.best);
  };
  const std::string best_stride = bytes_text(points[pattern.best_at].stride_bytes);
  switch (pattern.kind) {
    case StrideClass::gpu_coalescing: {
      const std::string tail =
          pattern.has_end_droop ? fmt::format(", and keep the stride below {}, where {} are left",
                                              bytes_text(points.back().stride_bytes),
                                              percent(points.back().bandwidth))
                                : std::string();
      return fmt::format(
          "let neighbouring work-items {} neighbouring elements, with strides of {} and more{}; "
          "runs of their own reach {}",
          series.verb, bytes_text(points[*pattern.knee].stride_bytes), tail,
          percent(points.front().bandwidth));
    }
    case StrideClass::cpu_serial:
      return fmt::format(
          "let each work-item {} a run of its own; neighbouring elements for neighbouring "
          "work-items reach {}",
          series.verb, percent(points.back().bandwidth));
    case StrideClass::flat:
      return fmt::format("choose any stride: the slowest reaches {} of the bandwidth",
                         percent(std::min_element(points.begin(), points.end(),
                                                  [](const StridePoint& a, const StridePoint& b) {
                                                    return a.bandwidth < b.bandwidth;
                                                  })
                                     ->bandwidth));
    case StrideClass::unclear:
      break;
  }
  if (pattern.knee) {
    return fmt::format("{} with strides of {} and more; runs of their own reach {}", series.verb,
                       bytes_text(points[*pattern.knee].stride_bytes),
                       percent(points.front().bandwidth));
  }
  return fmt::format("use a stride of {}, the fastest here; no simple rule fits this curve",
                     best_stride);
}

void add_bandwidth(Findings& found, const Series& series, const StridePattern& pattern) {
  const StridePoint& best = series.points[pattern.best_at];
  Finding bandwidth = about(series, "bandwidth", "bytes_per_second", "median of the best stride");
  bandwidth.source = Source::measured;
  bandwidth.value = best.bandwidth;
  bandwidth.low = best.low;
  bandwidth.high = best.high;
  found.findings.push_back(std::move(bandwidth));
  Finding stride = about(series, "best_stride", "bytes", "largest median");
  stride.value = best.stride_bytes;
  // Every stride that is not clearly slower might be the best in another run; and no point is
  // measured better than to 1 %, however little its samples scatter.
  constexpr double told_apart = 0.01;
  for (const StridePoint& point : series.points) {
    if (point.high < best.low * (1.0 - told_apart)) continue;
    stride.low = std::min(stride.low.value_or(*stride.value), point.stride_bytes);
    stride.high = std::max(stride.high.value_or(*stride.value), point.stride_bytes);
  }
  found.findings.push_back(std::move(stride));
}

void add_class(Findings& found, const Series& series, const StridePattern& pattern) {
  Finding kind = about(series, "class", "", "bandwidth at stride 1, knee, largest strides");
  if (pattern.kind == StrideClass::unclear) {
    kind.reason = "not clear: " + pattern.unclear_reason;
  } else {
    kind.label = to_word(pattern.kind);
  }
  found.findings.push_back(std::move(kind));
}

/// A place in the curve between the stride before it, which is too small, and itself.
Finding place(const Series& series, const char* name, std::size_t at, const char* method) {
  Finding finding = about(series, name, "bytes", method);
  finding.value = series.points[at].stride_bytes;
  finding.low = at == 0 ? *finding.value : series.points[at - 1].stride_bytes;
  finding.high = finding.value;
  return finding;
}

void add_knee(Findings& found, const Series& series, const StridePattern& pattern) {
  const bool rises = pattern.kind == StrideClass::gpu_coalescing;
  if (rises) {
    Finding knee = place(series, "knee", *pattern.knee, "90 % of the best from here on");
    if (pattern.sub_knee) {
      knee.method +=
          fmt::format(", 60 % from {}", bytes_text(series.points[*pattern.sub_knee].stride_bytes));
    }
    found.findings.push_back(std::move(knee));
  } else if (pattern.kind != StrideClass::unclear) {
    Finding none = about(series, "knee", "bytes", "90 % of the best from here on");
    none.reason = "not visible: the bandwidth does not rise with the stride";
    found.findings.push_back(std::move(none));
  }
}

void add_hints(Findings& found, const DeviceInfo& device, const Series& series,
               const StridePattern& pattern) {
  Finding sector = about(series, "sector", "bytes", "end of growth in proportion to the stride");
  if (pattern.sector) {
    sector.value = series.points[*pattern.sector].stride_bytes;
  } else {
    sector.reason = pattern.no_sector_reason;
  }
  found.findings.push_back(std::move(sector));
  Finding lanes = about(series, "sub_group", "", "largest growth behind the sector, in words");
  if (pattern.sub_group) {
    lanes.value = series.points[*pattern.sub_group].stride_bytes / lane_bytes;
    lanes.method += fmt::format(" of 4 bytes; the driver reports {}", device.sub_group_size);
  } else {
    lanes.reason = pattern.no_sub_group_reason;
  }
  found.findings.push_back(std::move(lanes));
}

void add_irregularities(Findings& found, const Series& series, const StridePattern& pattern) {
  if (pattern.has_end_droop && pattern.kind != StrideClass::cpu_serial) {
    Finding droop = about(series, "end_droop", "share",
                          fmt::format("lost at a stride of {}, below 93 % of the best",
                                      bytes_text(series.points.back().stride_bytes)));
    droop.value = 1.0 - pattern.last_share;
    found.findings.push_back(std::move(droop));
  }
  for (const StrideDip& dip : pattern.dips) {
    Finding finding =
        about(series, "dip", "bytes", fmt::format("{:.3g} of the slower neighbour", dip.share));
    finding.value = dip.stride_bytes;
    found.findings.push_back(std::move(finding));
  }
}

}  // namespace

Findings stride_findings(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const Series& series : series_in(device, points)) {
    if (series.points.empty()) continue;
    StridePattern pattern =
        read_stride_pattern(series.points, static_cast<double>(device.sub_group_size));
    if (!series.is_whole) {
      pattern.kind = StrideClass::unclear;
      pattern.unclear_reason = "the stride of one element was not measured";
    }
    add_bandwidth(found, series, pattern);
    add_class(found, series, pattern);
    add_knee(found, series, pattern);
    if (pattern.kind == StrideClass::gpu_coalescing) add_hints(found, device, series, pattern);
    add_irregularities(found, series, pattern);
    Finding advice = about(series, "advice", "", "class, knee and largest stride");
    advice.label = advice_of(series, pattern);
    found.findings.push_back(std::move(advice));
  }
  return found;
}

}  // namespace clprobe::stride
