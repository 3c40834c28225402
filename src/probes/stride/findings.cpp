// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stride/curve.hpp"
#include "probes/stride/shape.hpp"

namespace clprobe::stride {
namespace {

/// One series, its points in ascending order of their strides.
struct SeriesCurve {
  std::string name{};
  std::string verb{"access"};
  std::vector<CurvePoint> points{};
  bool is_whole{false};     ///< from a stride of one element on
  bool is_imported{false};  ///< each bandwidth is the one number that another tool gave
};

/// What of a point the findings need: other tools' runs have no more, or less.
struct Coordinates {
  std::optional<std::int64_t> stride_bytes{};
  std::optional<std::int64_t> stride_elements{};
  std::optional<std::string> operation{};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("stride_bytes", stride_bytes, from_1);
    f.whole("stride_elements", stride_elements, from_1);
    f.text("operation", operation);
  }
};

SeriesCurve& curve_of(const Point& point, const Coordinates& at, std::vector<SeriesCurve>& all) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const SeriesCurve& each) { return each.name == point.series; });
  if (found != all.end()) return *found;
  all.push_back({.name = point.series});
  all.back().verb = at.operation.value_or(all.back().verb);
  return all.back();
}

std::vector<SeriesCurve> read_curves(const DeviceInfo& device, std::span<const Point> points) {
  std::vector<SeriesCurve> all;
  for (const Point& point : points) {
    const Coordinates at = find_shape<Coordinates>(point).value_or(Coordinates{});
    SeriesCurve& curve = curve_of(point, at, all);
    const auto time = estimate(point, device);
    const std::int64_t stride = at.stride_bytes.value_or(0);
    if (!point.failure.empty() || !time || stride <= 0 || !(time->ns_interval.low > 0.0)) continue;
    // Bytes per nanosecond; the fastest launches have the shortest times.
    curve.points.push_back({static_cast<double>(stride), ns_per_second / time->ns,
                            ns_per_second / time->ns_interval.high,
                            ns_per_second / time->ns_interval.low});
    curve.is_whole |= at.stride_elements == 1;
    curve.is_imported = device.timer == Timer::imported;
  }
  for (SeriesCurve& curve : all) {
    std::sort(
        curve.points.begin(), curve.points.end(),
        [](const CurvePoint& a, const CurvePoint& b) { return a.stride_bytes < b.stride_bytes; });
  }
  return all;
}

/// What the driver reports. Other tools do not say it, and 64 lanes are the most that GPUs have.
double sub_group_of(const DeviceInfo& device) {
  constexpr double widest = 64.0;
  return device.timer == Timer::imported ? widest : static_cast<double>(device.sub_group_size);
}

std::string bytes_text(double bytes) { return format_bytes({static_cast<std::uint64_t>(bytes)}); }

/// What a programmer should do, in one sentence.
std::string write_advice(const SeriesCurve& curve, const CurveVerdict& verdict) {
  const std::vector<CurvePoint>& points = curve.points;
  const auto percent = [&](double bandwidth) {
    return fmt::format("{:.3g} %", 100.0 * bandwidth / verdict.best);
  };
  const std::string best_stride = bytes_text(points[verdict.best_at].stride_bytes);
  switch (verdict.kind) {
    case CurveClass::gpu_coalescing: {
      const std::string tail =
          verdict.has_end_droop
              ? fmt::format(", and keep the stride below {}, which reaches only {}",
                            bytes_text(points.back().stride_bytes),
                            percent(points.back().bandwidth))
              : std::string();
      return fmt::format(
          "let neighbouring work-items {} neighbouring elements, with strides of at least {}{}; "
          "one contiguous run per work-item reaches {} of the best bandwidth",
          curve.verb, bytes_text(points[*verdict.knee].stride_bytes), tail,
          percent(points.front().bandwidth));
    }
    case CurveClass::cpu_serial:
      return fmt::format(
          "let each work-item {} one contiguous run; neighbouring elements for neighbouring "
          "work-items reach {} of the best bandwidth",
          curve.verb, percent(points.back().bandwidth));
    case CurveClass::flat:
      return fmt::format("choose any stride: the slowest reaches {} of the best bandwidth",
                         percent(std::min_element(points.begin(), points.end(),
                                                  [](const CurvePoint& a, const CurvePoint& b) {
                                                    return a.bandwidth < b.bandwidth;
                                                  })
                                     ->bandwidth));
    case CurveClass::unclear:
      break;
  }
  if (verdict.knee) {
    return fmt::format(
        "{} with strides of at least {}; one contiguous run per work-item reaches {} of the best "
        "bandwidth",
        curve.verb, bytes_text(points[*verdict.knee].stride_bytes),
        percent(points.front().bandwidth));
  }
  return fmt::format("use a stride of {}, the fastest here; no simple rule fits this curve",
                     best_stride);
}

/// What no point is measured better than, however little its samples scatter: a CPU's bandwidth
/// goes up and down by more between one visit and the next.
double told_apart(const DeviceInfo& device) { return runs_items_in_turn(device) ? 0.1 : 0.01; }

void add_bandwidth(Findings& found, const DeviceInfo& device, const SeriesCurve& curve,
                   const CurveVerdict& verdict) {
  const CurvePoint& best = curve.points[verdict.best_at];
  found.findings.push_back(finding_of("bandwidth", curve.name, "bytes_per_second",
                                      "median at the best stride", best.bandwidth, best.low,
                                      best.high));
  found.findings.back().source = Source::measured;
  if (curve.is_imported) {
    // One number has no interval, and is not exact either.
    found.findings.back().low.reset();
    found.findings.back().high.reset();
  }
  Finding stride = finding_of("best_stride", curve.name, "bytes", "largest median");
  stride.value = best.stride_bytes;
  // Every stride that is not clearly slower might be the best in another run.
  for (const CurvePoint& point : curve.points) {
    if (point.high < best.low * (1.0 - told_apart(device))) continue;
    stride.low = std::min(stride.low.value_or(*stride.value), point.stride_bytes);
    stride.high = std::max(stride.high.value_or(*stride.value), point.stride_bytes);
  }
  if (stride.low != stride.high) {
    stride.reason = fmt::format("several strides are equally fast: {} to {}",
                                bytes_text(*stride.low), bytes_text(*stride.high));
    stride.value.reset();
  }
  found.findings.push_back(std::move(stride));
}

void add_class(Findings& found, const SeriesCurve& curve, const CurveVerdict& verdict) {
  Finding kind =
      finding_of("class", curve.name, "", "bandwidth at stride 1, knee, largest strides");
  if (verdict.kind == CurveClass::unclear) {
    kind.reason = "not clear: " + verdict.unclear_reason;
  } else {
    kind.label = word_in(class_words, verdict.kind);
  }
  found.findings.push_back(std::move(kind));
}

/// A stride of the curve, bracketed by the one before it, which is too small, and itself.
Finding bracket(const SeriesCurve& curve, const char* name, std::size_t at, const char* method) {
  const double here = curve.points[at].stride_bytes;
  const double before = at == 0 ? here : curve.points[at - 1].stride_bytes;
  return finding_of(name, curve.name, "bytes", method, here, before, here);
}

void add_knee(Findings& found, const SeriesCurve& curve, const CurveVerdict& verdict) {
  const bool rises = verdict.kind == CurveClass::gpu_coalescing;
  if (rises) {
    Finding knee =
        bracket(curve, "knee", *verdict.knee, "90 % or more of the best bandwidth from here on");
    if (verdict.sub_knee) {
      knee.method +=
          fmt::format(", 60 % from {}", bytes_text(curve.points[*verdict.sub_knee].stride_bytes));
    }
    found.findings.push_back(std::move(knee));
  } else if (verdict.kind != CurveClass::unclear) {
    found.findings.push_back(
        without_value("knee", curve.name, "90 % or more of the best bandwidth from here on",
                      "not visible: the bandwidth does not rise with the stride", "bytes"));
  }
}

void add_hints(Findings& found, const DeviceInfo& device, const SeriesCurve& curve,
               const CurveVerdict& verdict) {
  Finding sector =
      finding_of("sector", curve.name, "bytes", "end of growth proportional to the stride");
  if (verdict.sector) {
    sector.value = curve.points[*verdict.sector].stride_bytes;
  } else {
    sector.reason = verdict.no_sector_reason;
  }
  found.findings.push_back(std::move(sector));
  Finding lanes =
      finding_of("sub_group", curve.name, "", "largest growth beyond the sector, in words");
  if (verdict.sub_group) {
    lanes.value = curve.points[*verdict.sub_group].stride_bytes / lane_bytes;
    lanes.method += " of 4 bytes";
    if (device.timer != Timer::imported) {
      lanes.method += fmt::format("; the driver reports {}", device.sub_group_size);
    }
  } else {
    lanes.reason = verdict.no_sub_group_reason;
  }
  found.findings.push_back(std::move(lanes));
}

void add_irregularities(Findings& found, const SeriesCurve& curve, const CurveVerdict& verdict) {
  if (verdict.has_end_droop && verdict.kind != CurveClass::cpu_serial) {
    Finding droop = finding_of("end_droop", curve.name, "share",
                               fmt::format("lost at a stride of {}, below 93 % of the best",
                                           bytes_text(curve.points.back().stride_bytes)));
    droop.value = 1.0 - verdict.last_share;
    found.findings.push_back(std::move(droop));
  }
  for (const Dip& dip : verdict.dips) {
    Finding finding = finding_of("dip", curve.name, "bytes",
                                 fmt::format("{:.3g} of the slower neighbour", dip.share));
    finding.value = dip.stride_bytes;
    found.findings.push_back(std::move(finding));
  }
}

}  // namespace

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape, Coordinates>(point);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const SeriesCurve& curve : read_curves(device, points)) {
    if (curve.points.empty()) continue;
    CurveVerdict verdict = judge_curve(curve.points, sub_group_of(device));
    if (!curve.is_whole) {
      verdict.kind = CurveClass::unclear;
      verdict.unclear_reason = "the stride of one element was not measured";
    }
    add_bandwidth(found, device, curve, verdict);
    add_class(found, curve, verdict);
    add_knee(found, curve, verdict);
    if (verdict.kind == CurveClass::gpu_coalescing) add_hints(found, device, curve, verdict);
    add_irregularities(found, curve, verdict);
    Finding advice = finding_of("advice", curve.name, "", "class, knee and largest stride");
    advice.label = write_advice(curve, verdict);
    found.findings.push_back(std::move(advice));
  }
  return found;
}

}  // namespace clprobe::stride
