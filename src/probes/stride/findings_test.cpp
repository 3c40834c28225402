// SPDX-License-Identifier: Apache-2.0
// From the points of `stride` to its findings.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe::stride {
namespace {

/// Returns points of one series. The times of their launches follow from `bandwidths` in bytes per
/// second.
std::vector<Point> points_of(const std::vector<double>& bandwidths,
                             std::int64_t element_bytes = 4) {
  std::vector<Point> points;
  std::int64_t stride = 1;
  for (const double bandwidth : bandwidths) {
    Point point;
    point.series = "read int";
    point.parameters = {{"stride_bytes", stride * element_bytes},
                        {"stride_elements", stride},
                        {"operation", std::string("read")},
                        {"timer", std::string("event")}};
    constexpr std::uint64_t moved = 1U << 30U;
    for (const double noise : {0.99, 1.0, 1.01}) {
      Sample sample;
      sample.accesses = moved;
      sample.event_ns =
          static_cast<std::uint64_t>(static_cast<double>(moved) / bandwidth * 1e9 * noise);
      sample.host_ns = *sample.event_ns + 10000;
      point.samples.push_back(sample);
    }
    points.push_back(point);
    stride *= 2;
  }
  return points;
}

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.sub_group_size = 32;
  device.launch_timer = Timer::event;
  return device;
}

const Finding* find(const Findings& found, const std::string& name) {
  for (const Finding& each : found.findings) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

const std::vector<double> coalescing{0.25e12, 0.5e12, 1e12, 2e12, 2.1e12, 4e12, 4e12,
                                     4.1e12,  4e12,   4e12, 4e12, 4e12,   3e12};

TEST_CASE("the numbers of another tool: all findings, and no interval of a single number") {
  DeviceInfo device;
  device.timer = Timer::imported;
  // Bandwidths of an R9 Nano by clmempatterns, which does not report the size of sub-groups.
  const std::vector<double> bandwidths{
      17.777e9,  46.266e9,  70.492e9,  132.325e9, 157.876e9, 332.622e9, 374.789e9,
      379.795e9, 370.526e9, 436.231e9, 449.315e9, 474.542e9, 483.988e9, 489.281e9,
      494.472e9, 493.526e9, 492.802e9, 491.863e9, 490.497e9, 490.425e9, 442.735e9};
  std::vector<Point> points = points_of(bandwidths);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].samples.clear();
    points[i].parameters = {{"stride_bytes", std::int64_t{4} << i},
                            {"stride_elements", std::int64_t{1} << i},
                            {"operation", std::string("read")}};
    points[i].facts.set("imported_bytes_per_second", bandwidths[i]);
  }
  const Findings found = analyse(device, points);
  const Finding* const bandwidth = find(found, "bandwidth");
  REQUIRE(bandwidth != nullptr);
  CHECK(*bandwidth->value == doctest::Approx(494.472e9));
  CHECK(find(found, "class")->label == "gpu-coalescing");
  CHECK(*find(found, "knee")->value == 4096.0);
  CHECK(find(found, "sub_group")->method.find("reports") == std::string::npos);
  CHECK(find(found, "end_droop") != nullptr);
  CHECK(find(found, "advice") != nullptr);
}

TEST_CASE("a GPU: bandwidth, knee, sector, sub-group, droop, and one sentence") {
  const Findings found = analyse(gpu(), points_of(coalescing));
  const Finding* const bandwidth = find(found, "bandwidth");
  REQUIRE(bandwidth != nullptr);
  CHECK(*bandwidth->value == doctest::Approx(4.1e12).epsilon(0.001));
  CHECK(*bandwidth->low < *bandwidth->value);
  CHECK(*bandwidth->high > *bandwidth->value);
  CHECK(bandwidth->unit == "bytes_per_second");
  CHECK(bandwidth->source == Source::measured);
  const Finding* const best = find(found, "best_stride");
  CHECK(*best->value == 512.0);
  CHECK(*best->low == 512.0);
  CHECK(*best->high == 512.0);
  CHECK(find(found, "class")->label == "gpu-coalescing");
  CHECK(*find(found, "knee")->value == 128.0);
  CHECK(*find(found, "knee")->low == 64.0);
  CHECK(*find(found, "sector")->value == 32.0);
  CHECK(find(found, "sub_group")->value == 32.0);  // the bandwidth doubles once more at 128 bytes
  CHECK(*find(found, "end_droop")->value == doctest::Approx(0.25).epsilon(0.01));
  const std::string& advice = find(found, "advice")->label;
  CHECK(advice.find("neighbouring work-items read neighbouring elements") != std::string::npos);
  CHECK(advice.find("128 B") != std::string::npos);
  CHECK(advice.find("below 16 KiB") != std::string::npos);
}

TEST_CASE("a curve that rises ever more slowly, as caches make it, tells no sub-group") {
  // Reads of int on an H200, with strides from 4 bytes to 4 KiB.
  const Findings found =
      analyse(gpu(), points_of({0.979e12, 1.909e12, 2.861e12, 3.641e12, 4.048e12, 4.216e12,
                                4.066e12, 4.106e12, 4.153e12, 4.207e12, 4.237e12}));
  CHECK(find(found, "class")->label == "gpu-coalescing");
  CHECK_FALSE(find(found, "sub_group")->value.has_value());
  CHECK(find(found, "sub_group")->reason.find("without a step") != std::string::npos);
}

TEST_CASE("a CPU: no knee and no hints, with the reason") {
  const Findings found =
      analyse(gpu(), points_of({10e9, 10e9, 9.9e9, 9.5e9, 7e9, 5e9, 3e9, 2e9, 1e9, 0.5e9}));
  CHECK(find(found, "class")->label == "cpu-serial");
  CHECK_FALSE(find(found, "knee")->value.has_value());
  CHECK(find(found, "knee")->reason.starts_with("not visible"));
  CHECK(find(found, "sector") == nullptr);
  CHECK(find(found, "end_droop") == nullptr);  // slow large strides are the class itself
  CHECK(find(found, "advice")->label.find("one contiguous run") != std::string::npos);
}

TEST_CASE("the best stride lies among those that another run might find best") {
  // Two strides are equally fast if they differ by at most 1 % on a GPU, or 10 % on a CPU, beyond
  // the scatter of the samples.
  const auto bracket = [](DeviceType type, double other) {
    DeviceInfo device = gpu();
    device.type = type;
    const Findings found = analyse(device, points_of({1e10, 1e10, other * 4e10, 1e10, 4e10, 1e10}));
    const Finding& best = *find(found, "best_stride");
    // If several strides are equally fast, the best stride has no value.
    CHECK(best.value.has_value() == (best.low == best.high));
    CHECK((best.value
               ? *best.value == 64.0
               : best.reason == "several strides are equally fast: 16 B to 64 B, with slower ones "
                                "between"));
    return std::pair(*best.low, *best.high);
  };
  using Bracket = std::pair<double, double>;
  CHECK(bracket(DeviceType::gpu, 0.99) == Bracket{16.0, 64.0});
  CHECK(bracket(DeviceType::gpu, 0.95) == Bracket{64.0, 64.0});
  CHECK(bracket(DeviceType::cpu, 0.9) == Bracket{16.0, 64.0});
  CHECK(bracket(DeviceType::cpu, 0.85) == Bracket{64.0, 64.0});
}

TEST_CASE("no rule for large strides that the smallest stride beats, and slower ones are said") {
  // The smallest stride is the fastest, and two strides before the knee are slow.
  const std::vector<double> hollow{4e12,   2e12,   1.9e12, 2.1e12, 3.7e12, 3.7e12, 3.7e12,
                                   3.7e12, 3.7e12, 3.9e12, 3.8e12, 3.8e12, 3.8e12};
  const Findings found = analyse(gpu(), points_of(hollow));
  const Finding* const advice = find(found, "advice");
  REQUIRE(advice != nullptr);
  CHECK(advice->label == "use a stride of 4 B, the fastest here; no simple rule fits this curve");
  const Finding* const best = find(found, "best_stride");
  REQUIRE(best != nullptr);
  CHECK(best->value == 4.0);
}

TEST_CASE("failed points, points without times and gaps are not guessed over") {
  std::vector<Point> points = points_of(coalescing);
  points[4].failure = "wrong result";
  const Findings gap = analyse(gpu(), points);
  CHECK(find(gap, "class")->label.empty());
  CHECK(find(gap, "class")->reason.find("have gaps") != std::string::npos);
  CHECK(find(gap, "knee") == nullptr);
  points = points_of(coalescing);
  points.erase(points.begin());
  CHECK(find(analyse(gpu(), points), "class")->reason.find("one element") != std::string::npos);
  for (Point& point : points) point.samples.clear();
  CHECK(analyse(gpu(), points).findings.empty());
  CHECK(analyse(gpu(), {}).findings.empty());
}

TEST_CASE("points of a stored run that lack parameters are no crash") {
  std::vector<Point> points = points_of(coalescing);
  for (Point& point : points) point.parameters = {};
  CHECK_NOTHROW(analyse(gpu(), points));
}

}  // namespace
}  // namespace clprobe::stride
