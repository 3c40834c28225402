// SPDX-License-Identifier: Apache-2.0
// Findings from curves of bandwidth by stride.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe::stride {

namespace {

constexpr std::size_t min_points = 4;
constexpr double reaches_best = 0.9;
constexpr double reaches_most = 0.6;
// Bandwidth at the smallest stride, as a share of the best: below 0.7 is slow, from 0.8 on is
// fast. A share in between may be noise. Caches serve part of the rest of a sector. On an H100,
// reads of 4 bytes per work-item reach a third of the best bandwidth, and reads of 16 bytes reach
// two thirds.
constexpr double slow_start = 0.7;
constexpr double fast_start = 0.8;
constexpr double droops = 0.93;
constexpr double droops_by_deviations = 4.0;
// A dip is below 80 % of the slower neighbour. With noise of 3 % per point, this is five standard
// deviations.
constexpr double dips = 0.8;
// Minimum bandwidth relative to doubling at each stride: growth below 1.7 is not a doubling. Noise
// of 3 % moves a ratio by 4 %.
constexpr double grows_along = 0.85;
// Minimum growth from one stride to the next. Without this minimum, a leap to more than twice the
// bandwidth would count for more than one doubling.
constexpr double grows_still = 1.45;
constexpr double grows_clearly = 1.15;
// Maximum distance of the knee from the width of a sub-group, in octaves. A later knee has another
// cause.
constexpr double max_octaves_after = 6.0;
// Burst of HBM2, GDDR6 and LPDDR4 in bytes. No memory of a GPU or CPU is fetched in smaller
// pieces.
constexpr double min_sector_bytes = 32.0;

bool is_slower(const CurvePoint& a, const CurvePoint& b) { return a.bandwidth < b.bandwidth; }

/// Bandwidths of a curve, by index.
class Curve {
 public:
  explicit Curve(std::span<const CurvePoint> points) : points_(points) {}

  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] std::size_t last() const { return points_.size() - 1; }
  [[nodiscard]] double at(std::size_t i) const { return points_[i].bandwidth; }
  [[nodiscard]] const CurvePoint& point(std::size_t i) const { return points_[i]; }
  [[nodiscard]] double growth(std::size_t i) const { return at(i) / at(i - 1); }

  /// Returns the median of all bandwidths that are at least 85 % of the second best. The median of
  /// the three best bandwidths would grow with noise and the number of strides. With 16 strides
  /// and 3 % noise this median would be 4 % too high.
  [[nodiscard]] double robust_best() const {
    std::vector<double> values;
    values.reserve(size());
    for (const CurvePoint& each : points_) values.push_back(each.bandwidth);
    std::sort(values.begin(), values.end(), std::greater<>());
    constexpr double near_best = 0.85;
    const double min_value = near_best * values[1];
    std::erase_if(values, [&](double value) { return value < min_value; });
    return median(values);
  }

  /// Returns the relative scatter (MAD) of the bandwidths from `knee` on, without the last stride.
  [[nodiscard]] double noise_at(double bandwidth, std::size_t knee) const {
    std::vector<double> values;
    for (std::size_t i = knee; i < last(); ++i) values.push_back(at(i));
    return values.size() < 3 ? 0.0 : scaled_mad(values) / bandwidth;
  }

  /// Returns the bandwidth at index i, or the median with its neighbours if that is higher. The
  /// median removes a single slow stride, and does not move a step.
  [[nodiscard]] double without_dip(std::size_t i) const {
    if (i == 0) return at(0);
    std::array<double, 3> three{at(i - 1), at(i), at(i + 1)};
    std::sort(three.begin(), three.end());
    return std::max(at(i), three[1]);
  }

  /// Returns the first stride from which all strides reach `bandwidth`, except possibly the last
  /// one.
  [[nodiscard]] std::optional<std::size_t> knee_of(double bandwidth) const {
    std::optional<std::size_t> knee;
    for (std::size_t i = last(); i-- > 0;) {
      if (without_dip(i) < bandwidth) break;
      knee = i;
    }
    return knee;
  }

  [[nodiscard]] std::optional<std::size_t> first_with(double bandwidth) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (at(i) >= bandwidth) return i;
    }
    return std::nullopt;
  }

  [[nodiscard]] double slowest() const {
    return std::min_element(points_.begin(), points_.end(), is_slower)->bandwidth;
  }

 private:
  std::span<const CurvePoint> points_;
};

std::string problem_of(std::span<const CurvePoint> points) {
  if (points.size() < min_points) {
    return fmt::format("{} strides were measured, but at least {} are needed", points.size(),
                       min_points);
  }
  constexpr double rounding = 1e-6;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].bandwidth > 0.0)) return "one stride has no measured bandwidth";
    const bool doubles =
        i == 0 || std::fabs(points[i].stride_bytes / points[i - 1].stride_bytes - 2.0) < rounding;
    if (!doubles) return "the measured strides have gaps";
  }
  return {};
}

void classify(const Curve& curve, double sub_group, CurveVerdict& verdict) {
  const double start = curve.at(0) / verdict.best;
  const double octaves_of_sub_group = std::log2(std::max(1.0, sub_group));
  if (start < slow_start && verdict.knee) {
    const double octaves = std::log2(curve.point(*verdict.knee).stride_bytes / lane_bytes);
    if (octaves <= octaves_of_sub_group + max_octaves_after) {
      verdict.kind = CurveClass::gpu_coalescing;
    } else {
      verdict.unclear_reason =
          "only strides far larger than a sub-group's width reach full bandwidth";
    }
    return;
  }
  if (curve.slowest() >= fast_start * verdict.best) {
    verdict.kind = CurveClass::flat;
  } else if (start >= fast_start) {
    // The class `cpu_serial` requires that large strides are slow in general. A single slow stride
    // is a dip.
    std::vector<double> large;
    for (std::size_t i = curve.size() - curve.size() / 3; i < curve.size(); ++i) {
      large.push_back(curve.at(i));
    }
    if (median(large) < fast_start * verdict.best) {
      verdict.kind = CurveClass::cpu_serial;
    } else {
      verdict.unclear_reason = "only some strides are slow";
    }
  } else if (start < slow_start) {
    verdict.unclear_reason = "small strides are slow, but no larger strides sustain full bandwidth";
  } else {
    verdict.unclear_reason = fmt::format(
        "one contiguous run per work-item reaches {:.0f} % of the bandwidth of the fast strides, "
        "which is neither slow nor fast",
        100.0 * start);
  }
}

constexpr const char* growth_fades =
    "not visible: the bandwidth stops doubling far below the best bandwidth, as it does when "
    "caches serve the accesses";

/// Finds the sector. Up to the size of a sector, each doubling of the stride doubles the used part
/// of each fetch.
void find_sector(const Curve& curve, CurveVerdict& verdict) {
  std::size_t end = 0;
  double expected = 1.0;
  while (end < curve.last() && curve.growth(end + 1) >= grows_still) {
    expected *= 2.0;
    if (curve.at(end + 1) / curve.at(0) < grows_along * expected) break;
    ++end;
  }
  if (end == 0) {
    verdict.no_sector_reason =
        "not visible: doubling the smallest stride does not double the bandwidth; an element is "
        "possibly as large as a sector";
    return;
  }
  if (curve.point(end).stride_bytes < min_sector_bytes) {
    verdict.no_sector_reason = growth_fades;
    return;
  }
  verdict.sector = end;
}

void find_sub_group(const Curve& curve, CurveVerdict& verdict) {
  // Growth up to the minimum size of a sector comes from the use of sectors, even if no sector is
  // visible.
  std::size_t from = verdict.sector.value_or(0) + 1;
  while (from < curve.last() && curve.point(from).stride_bytes <= min_sector_bytes) ++from;
  std::optional<std::size_t> steepest;
  for (std::size_t i = from; i <= *verdict.knee; ++i) {
    if (curve.growth(i) < grows_clearly) continue;
    if (!steepest || curve.growth(i) > curve.growth(*steepest)) steepest = i;
  }
  // A sub-group has at most 128 work-items. Growth at larger strides is due to the structure of
  // memory.
  constexpr double max_lanes = 128.0;
  // A step is a growth that exceeds the growth before it, or that is the last growth. If caches
  // serve other work-items from the rest of a line, the curve rises ever more slowly and has no
  // step.
  const auto is_step = [&](std::size_t i) {
    if (!verdict.sector && i > 1 && curve.growth(i) < curve.growth(i - 1)) return false;
    const bool stands_out = i > from && curve.growth(i) > grows_clearly * curve.growth(i - 1);
    return stands_out || i == curve.last() || curve.growth(i + 1) < grows_clearly;
  };
  if (steepest ? !is_step(*steepest) : !verdict.sector) {
    verdict.no_sub_group_reason =
        "not visible: the bandwidth rises ever more slowly, without a step";
    return;
  }
  if (!steepest) {
    verdict.no_sub_group_reason =
        "not visible: beyond the stride of one sector, the bandwidth hardly grows";
  } else if (curve.point(*steepest).stride_bytes > max_lanes * lane_bytes) {
    verdict.no_sub_group_reason =
        "not visible: the bandwidth grows most at strides beyond any sub-group's width";
  } else {
    verdict.sub_group = steepest;
  }
}

void find_dips(const Curve& curve, CurveVerdict& verdict) {
  for (std::size_t i = 1; i < curve.last(); ++i) {
    const double neighbour = std::min(curve.at(i - 1), curve.at(i + 1));
    const double neighbours_low = std::min(curve.point(i - 1).low, curve.point(i + 1).low);
    if (curve.at(i) >= dips * neighbour || curve.point(i).high >= neighbours_low) continue;
    verdict.dips.push_back({curve.point(i).stride_bytes, curve.at(i) / neighbour});
  }
}

}  // namespace

CurveVerdict judge_curve(std::span<const CurvePoint> points, double sub_group) {
  CurveVerdict verdict;
  if (!points.empty()) {
    const auto best = std::max_element(points.begin(), points.end(), is_slower);
    verdict.best = best->bandwidth;
    verdict.best_at = static_cast<std::size_t>(best - points.begin());
  }
  verdict.unclear_reason = problem_of(points);
  if (!verdict.unclear_reason.empty()) return verdict;
  const Curve curve(points);
  verdict.best = curve.robust_best();
  verdict.knee = curve.knee_of(reaches_best * verdict.best);
  verdict.sub_knee = curve.first_with(reaches_most * verdict.best);
  classify(curve, sub_group, verdict);
  if (verdict.kind == CurveClass::gpu_coalescing) {
    find_sector(curve, verdict);
    find_sub_group(curve, verdict);
  }
  verdict.last_share = curve.at(curve.last()) / verdict.best;
  const double noise = verdict.knee ? curve.noise_at(verdict.best, *verdict.knee) : 0.0;
  verdict.has_end_droop = verdict.last_share < std::min(droops, 1.0 - droops_by_deviations * noise);
  find_dips(curve, verdict);
  return verdict;
}

namespace {

/// Curve of a series, in ascending order of the strides.
struct SeriesCurve {
  std::string name{};
  std::string verb{"access"};
  std::vector<CurvePoint> points{};
  bool is_whole{false};  ///< the curve starts at a stride of one element
};

/// Parameters of a point that the findings need. Imported points may have only some of the
/// parameters.
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
    // `ns_per_second / ns` converts ns per byte to bytes per second. The fastest launches have the
    // shortest times, so the ends of the interval are exchanged.
    curve.points.push_back({static_cast<double>(stride), ns_per_second / time->ns,
                            ns_per_second / time->ns_interval.high,
                            ns_per_second / time->ns_interval.low});
    curve.is_whole |= at.stride_elements == 1;
  }
  for (SeriesCurve& curve : all) {
    std::sort(
        curve.points.begin(), curve.points.end(),
        [](const CurvePoint& a, const CurvePoint& b) { return a.stride_bytes < b.stride_bytes; });
  }
  return all;
}

/// Returns the sub-group size that the driver reports. Imported runs have no such report and get
/// 64, the maximum of GPUs.
double sub_group_of(const DeviceInfo& device) {
  constexpr double widest = 64.0;
  return device.timer == Timer::imported ? widest : static_cast<double>(device.sub_group_size);
}

std::string bytes_text(double bytes) { return format_bytes({static_cast<std::uint64_t>(bytes)}); }

/// Returns advice to a programmer in one sentence.
std::string write_advice(const SeriesCurve& curve, const CurveVerdict& verdict) {
  const std::vector<CurvePoint>& points = curve.points;
  const auto percent = [&](double bandwidth) {
    return fmt::format("{:.3g} %", 100.0 * bandwidth / points[verdict.best_at].bandwidth);
  };
  const std::string best_stride = bytes_text(points[verdict.best_at].stride_bytes);
  switch (verdict.kind) {
    case CurveClass::gpu_coalescing: {
      const std::string tail =
          verdict.has_end_droop
              ? fmt::format(
                    ", and keep the stride below {}, where the bandwidth is only {} of the best",
                    bytes_text(points.back().stride_bytes), percent(points.back().bandwidth))
              : std::string();
      return fmt::format(
          "let neighbouring work-items {} neighbouring elements, with strides of at least {}{}; "
          "one contiguous run per work-item reaches {} of the best bandwidth",
          curve.verb, bytes_text(points[*verdict.knee].stride_bytes), tail,
          percent(points.front().bandwidth));
    }
    case CurveClass::cpu_serial:
      return fmt::format(
          "let each work-item {} one contiguous run, which reaches {} of the best bandwidth; "
          "neighbouring elements for neighbouring work-items reach {}",
          curve.verb, percent(points.front().bandwidth), percent(points.back().bandwidth));
    case CurveClass::flat:
      return fmt::format(
          "choose any stride: the slowest reaches {} of the best bandwidth",
          percent(std::min_element(points.begin(), points.end(), is_slower)->bandwidth));
    case CurveClass::unclear:
      break;
  }
  const auto slowest_from = [&points](std::size_t knee) {
    return std::min_element(points.begin() + static_cast<std::ptrdiff_t>(knee), points.end(),
                            is_slower)
        ->bandwidth;
  };
  // The knee gives a rule only if all strides from the knee on beat the smallest stride.
  if (verdict.knee && points.front().bandwidth < slowest_from(*verdict.knee)) {
    return fmt::format(
        "{} with strides of at least {}; one contiguous run per work-item reaches {} of the best "
        "bandwidth",
        curve.verb, bytes_text(points[*verdict.knee].stride_bytes),
        percent(points.front().bandwidth));
  }
  return fmt::format("use a stride of {}, the fastest here; no simple rule fits this curve",
                     best_stride);
}

/// Returns the minimum relative difference between the bandwidths of two strides that counts, even
/// if samples scatter less. On a CPU the minimum is larger, since visits differ more.
double min_difference(const DeviceInfo& device) { return runs_items_in_turn(device) ? 0.1 : 0.01; }

void add_bandwidth(Findings& found, const DeviceInfo& device, const SeriesCurve& curve,
                   const CurveVerdict& verdict) {
  const CurvePoint& best = curve.points[verdict.best_at];
  found.findings.push_back(finding_of("bandwidth", curve.name, "bytes_per_second",
                                      "median at the best stride", best.bandwidth, best.low,
                                      best.high));
  found.findings.back().source = Source::measured;
  Finding stride = finding_of("best_stride", curve.name, "bytes", "largest median");
  stride.value = best.stride_bytes;
  // Strides that are not clearly slower might be the best in another run, so the interval includes
  // these strides.
  for (const CurvePoint& point : curve.points) {
    if (point.high < best.low * (1.0 - min_difference(device))) continue;
    stride.low = std::min(stride.low.value_or(*stride.value), point.stride_bytes);
    stride.high = std::max(stride.high.value_or(*stride.value), point.stride_bytes);
  }
  if (stride.low != stride.high) {
    const bool has_slower =
        std::any_of(curve.points.begin(), curve.points.end(), [&](const CurvePoint& point) {
          return point.stride_bytes > *stride.low && point.stride_bytes < *stride.high &&
                 point.high < best.low * (1.0 - min_difference(device));
        });
    stride.reason =
        fmt::format("several strides are equally fast: {} to {}{}", bytes_text(*stride.low),
                    bytes_text(*stride.high), has_slower ? ", with slower ones between" : "");
    stride.value.reset();
  }
  found.findings.push_back(std::move(stride));
}

void add_class(Findings& found, const SeriesCurve& curve, const CurveVerdict& verdict) {
  Finding kind = finding_of("class", curve.name, "",
                            "bandwidth at a stride of one element, at the knee and at the largest "
                            "strides");
  if (verdict.kind == CurveClass::unclear) {
    kind.reason = "not clear: " + verdict.unclear_reason;
  } else {
    kind.label = word_in(class_words, verdict.kind);
  }
  found.findings.push_back(std::move(kind));
}

void add_knee(Findings& found, const SeriesCurve& curve, const CurveVerdict& verdict) {
  constexpr std::string_view method =
      "at least 90 % of the bandwidth of the fast strides from this stride on";
  if (verdict.kind == CurveClass::gpu_coalescing) {
    // The interval extends from the previous stride, which is too small, to the stride of the
    // knee.
    const std::size_t at = *verdict.knee;
    const double here = curve.points[at].stride_bytes;
    const double before = at == 0 ? here : curve.points[at - 1].stride_bytes;
    Finding knee = finding_of("knee", curve.name, "bytes", method, here, before, here);
    if (verdict.sub_knee) {
      knee.method +=
          fmt::format(", 60 % from {}", bytes_text(curve.points[*verdict.sub_knee].stride_bytes));
    }
    found.findings.push_back(std::move(knee));
  } else if (verdict.kind != CurveClass::unclear) {
    found.findings.push_back(
        without_value("knee", curve.name, method,
                      "not visible: the bandwidth does not rise with the stride", "bytes"));
  }
}

/// Adds the sector and the sub-group that the rise of the curve with the stride indicates.
void add_hints(Findings& found, const DeviceInfo& device, const SeriesCurve& curve,
               const CurveVerdict& verdict) {
  Finding sector = finding_of("sector", curve.name, "bytes",
                              "stride up to which bandwidth grows proportionally");
  if (verdict.sector) {
    sector.value = curve.points[*verdict.sector].stride_bytes;
  } else {
    sector.reason = verdict.no_sector_reason;
  }
  found.findings.push_back(std::move(sector));
  Finding lanes = finding_of("sub_group", curve.name, "",
                             "stride with the largest growth beyond the sector, in words");
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
    Finding droop = finding_of(
        "end_droop", curve.name, "share",
        fmt::format("bandwidth lost at a stride of {}, which reaches less than 93 % of the best",
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
