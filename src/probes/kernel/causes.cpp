// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/causes.hpp"

#include <fmt/format.h>

#include <optional>

#include "clprobe/estimate.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

constexpr std::string_view folding_method = "folding of groups";
/// A build of the prelude that costs more than this, or gains it, is another kernel.
constexpr double max_instrument_ratio = 1.10;

struct Times {
  std::optional<Estimate> plain{};
  std::optional<Estimate> identity{};
  std::optional<Estimate> least{};  ///< of the foldings
  std::uint64_t least_groups{0};
};

Times times_of(const DeviceInfo& device, std::span<const Point> points, const std::string& label) {
  Times times;
  for (const Point& point : points) {
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    const bool is_own = label_of(point.series) == label;
    if (!is_own || !shape || !time || !(time->ns > 0.0)) continue;
    if (shape->caches == Caches::warm) continue;
    if (shape->text == Text::own) {
      times.plain = time;
    } else if (shape->setting == prelude::Setting{}) {
      times.identity = time;
    } else if (point.series.ends_with(folded_suffix) &&
               (!times.least || time->ns < times.least->ns)) {
      times.least = time;
      times.least_groups = shape->distinct_groups;
    }
  }
  return times;
}

}  // namespace

void add_causes(const DeviceInfo& device, std::span<const Point> points, const std::string& label,
                Findings& found) {
  const Times times = times_of(device, points, label);
  if (!times.plain || !times.identity) return;
  // The curve is that of the series.
  const std::string series = label + std::string(folded_suffix);
  const double ratio = times.identity->ns / times.plain->ns;
  found.findings.push_back(
      finding_of("instrument_ratio", series, {}, "renaming nothing", ratio,
                 times.identity->ns_interval.low / times.plain->ns_interval.high,
                 times.identity->ns_interval.high / times.plain->ns_interval.low));
  if (!times.least) return;
  if (ratio > max_instrument_ratio || ratio < 1.0 / max_instrument_ratio) {
    found.findings.push_back(without_value(
        "least_time", series, folding_method,
        fmt::format("not believed: the text that renames work-items makes the kernel take {:.2f} "
                    "of its time",
                    ratio),
        "seconds"));
    return;
  }
  const Estimate& least = *times.least;
  found.findings.push_back(
      finding_of("least_time", series, "seconds", folding_method, least.ns / ns_per_second,
                 least.ns_interval.low / ns_per_second, least.ns_interval.high / ns_per_second));
  const auto groups = static_cast<double>(times.least_groups);
  found.findings.push_back(
      finding_of("least_groups", series, {}, folding_method, groups, groups, groups));
}

}  // namespace clprobe::kernel
