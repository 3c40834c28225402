// SPDX-License-Identifier: Apache-2.0
// What made curves say, on a device of 10 units at 2 cycles a nanosecond.
#include "probes/bandwidth/bandwidth.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"
#include "unit/random.hpp"

namespace clprobe::bandwidth {

namespace {

DeviceInfo device_of_10() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 10;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.clock = {ClockKind::nvidia, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return device;
}

Point measured(std::string_view series, double size, double bytes_per_ns) {
  Point point;
  point.series = series;
  Shape shape{.timer = Timer::event};
  shape.working_set_bytes = static_cast<std::uint64_t>(size);
  write_shape(shape, point);
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample;
    sample.accesses = 1'000'000'000;
    sample.event_ns = static_cast<std::uint64_t>(1e9 / bytes_per_ns);
    sample.host_ns = *sample.event_ns;
    sample.visit = visit;
    point.samples.push_back(sample);
  }
  return point;
}

/// Bandwidths, in bytes per ns, of a cache of 128 KiB, a cache of 8 MiB and memory. Beyond the end
/// of a cache, the share that does not fit comes from the next level.
struct Hierarchy {
  double near{1000.0};
  double cache{400.0};
  double memory{50.0};

  [[nodiscard]] double at(double size) const {
    const double first = static_cast<double>(kibibytes(128).count);
    const double second = static_cast<double>(mebibytes(8).count);
    if (size <= first) return near;
    if (size <= second) return 1.0 / (1.0 / cache + std::exp(-(size / first - 1.0) * 4.0) / near);
    return 1.0 / (1.0 / memory + std::exp(-(size / second - 1.0) * 4.0) / cache);
  }
};

std::vector<Point> curve_of(std::string_view series, const Hierarchy& hierarchy) {
  std::vector<Point> points;
  for (double size = 4096.0; size <= 1.1e9; size *= std::pow(2.0, 0.25)) {
    points.push_back(measured(series, size, hierarchy.at(size)));
  }
  return points;
}

const Finding& of(const Findings& found, std::string_view name, std::string_view series,
                  int level) {
  for (const Finding& each : found.findings) {
    if (each.name == name && each.series == series && each.level == level) return each;
  }
  REQUIRE_MESSAGE(false, name << " of " << series << ", level " << level);
  return found.findings.front();
}

}  // namespace

TEST_CASE("bandwidth: more than the units can move at their clock is a warning") {
  const auto warnings_at = [](double clock_mhz, DeviceType type, double near) {
    DeviceInfo device = device_of_10();
    device.type = type;
    device.reported.set("max_clock_mhz", static_cast<std::int64_t>(clock_mhz));
    return analyse(device, curve_of("read", {.near = near})).warnings;
  };
  // The maximum is 10 units x 1000 MHz x 512 bytes per cycle = 5.12 TB/s.
  const std::vector<Warning> warnings = warnings_at(1000, DeviceType::gpu, 5300.0);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "rate_too_high");
  CHECK(warnings[0].facts.text_or("series", "") == "read");
  CHECK(warnings_at(1000, DeviceType::gpu, 5000.0).empty());
  CHECK(warnings_at(0, DeviceType::gpu, 5300.0).empty());  // unknown clock: no maximum
  // A CPU's driver may report the clock of an idle core.
  CHECK(warnings_at(800, DeviceType::cpu, 17000.0).empty());
  CHECK(warnings_at(800, DeviceType::cpu, 19000.0).size() == 1);
}

/// A device of 10 units with the memory that an H200's driver reports: 6144 bit at 3201 MHz, which
/// is 4.917 TB/s.
DeviceInfo device_with_peak() {
  DeviceInfo device = device_of_10();
  device.reported = {{"memory_bus_bits", std::int64_t{6144}},
                     {"max_memory_clock_mhz", std::int64_t{3201}}};
  return device;
}

Hierarchy fast(double memory) { return {.near = 33000.0, .cache = 12000.0, .memory = memory}; }

TEST_CASE("bandwidth: memory's bandwidth is a share of the reported peak") {
  ProbeResult result{.points = curve_of("read", fast(4640.0))};
  const Findings found = analyse(device_with_peak(), result.points);
  const Finding& share = of(found, "share_of_peak", "read", 3);
  const Finding& rate = of(found, "bandwidth", "read", 3);
  constexpr double peak = 6144.0 / 8.0 * 2.0 * 3201e6;
  CHECK(*share.value == doctest::Approx(4640e9 / peak).epsilon(0.005));
  CHECK(*share.value == doctest::Approx(*rate.value / peak));
  CHECK(*share.low == doctest::Approx(*rate.low / peak));
  CHECK(*share.high == doctest::Approx(*rate.high / peak));
  CHECK(found.warnings.empty());
  result.findings = found.findings;
  const Card shown = probe.card(result);
  CHECK(shown.rows.at(0).text.ends_with("4.64 TB/s (94 % of the reported peak)"));
  // The interval stays that of the bandwidth.
  for (Finding& each : result.findings) {
    if (each.name == "bandwidth" && each.level == 3) each.low = 0.9 * *each.value;
  }
  combine(result.findings);
  const Finding* const last = find_finding(result.findings, "share_of_peak");
  CHECK(*last->low == doctest::Approx(0.9 * *last->value));
  CHECK(*last->high == doctest::Approx(*share.high));
}

TEST_CASE("bandwidth: a share of the peak needs a report, and working sets beyond caches") {
  for (const char* const missing : {"memory_bus_bits", "max_memory_clock_mhz"}) {
    DeviceInfo device = device_with_peak();
    device.reported.set(missing, std::int64_t{0});
    const Findings found = analyse(device, curve_of("read", fast(4640.0)));
    CHECK(find_finding(found.findings, "share_of_peak") == nullptr);
  }
  // The plateau of a cache that ends the curve is not memory.
  std::vector<Point> small;
  for (double size = 4096.0; size < 199.0 * 1048576.0; size *= 1.2) {
    small.push_back(measured("read", size, 9100.0));
  }
  const Findings found = analyse(device_with_peak(), small);
  CHECK(of(found, "share_of_peak", "read", 1).reason ==
        "a cache may hold working sets below 200 MiB: add larger --sizes");
  CHECK(found.warnings.empty());
  small.push_back(measured("read", 201.0 * 1048576.0, 9100.0));
  CHECK(*of(analyse(device_with_peak(), small), "share_of_peak", "read", 1).value > 1.8);
  CHECK(find_finding(analyse(device_with_peak(), curve_of("write", {})).findings,
                     "share_of_peak") == nullptr);
}

TEST_CASE("bandwidth: more than 1.02 times the reported peak is a warning") {
  const auto warnings_at = [](double share) {
    return analyse(device_with_peak(), curve_of("read", fast(4916.7 * share))).warnings;
  };
  CHECK(warnings_at(1.01).empty());
  const std::vector<Warning> warnings = warnings_at(1.03);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "above_reported_peak");
  CHECK(warnings[0].facts.integer("bus_bits") == 6144);
  CHECK(warnings[0].facts.integer("clock_mhz") == 3201);
}

TEST_CASE("bandwidth: each level with what all units read, what one does, and its end") {
  const Findings found = analyse(device_of_10(), curve_of("read", {}));
  CHECK(*of(found, "bandwidth", "read", 1).value == doctest::Approx(1000e9).epsilon(0.01));
  CHECK(*of(found, "bandwidth", "read", 2).value == doctest::Approx(400e9).epsilon(0.02));
  CHECK(*of(found, "bandwidth", "read", 3).value == doctest::Approx(50e9).epsilon(0.02));
  // 10 units read 1000 bytes per ns at 2 cycles per ns.
  CHECK(*of(found, "unit_bandwidth", "read", 1).value == doctest::Approx(50.0).epsilon(0.01));
  CHECK(of(found, "unit_bandwidth", "read", 1).unit == "bytes_per_cycle");
  const Finding& capacity = of(found, "capacity", "read", 1);
  CHECK(*capacity.low <= 131072.0);
  CHECK(*capacity.high >= 131072.0);
  const Finding& memory = of(found, "capacity", "read", 3);
  CHECK_FALSE(memory.value.has_value());
  CHECK(memory.reason.find("the end was not reached: the level extends beyond ") !=
        std::string::npos);
  DeviceInfo without_clock = device_of_10();
  without_clock.clock = {};
  without_clock.timer = Timer::event;
  const Findings plain = analyse(without_clock, curve_of("read", {}));
  CHECK(of(plain, "unit_bandwidth", "read", 1).unit == "bytes_per_second");
  CHECK(*of(plain, "unit_bandwidth", "read", 1).value == doctest::Approx(100e9).epsilon(0.01));
  // Without the number of units, the bandwidth of one unit is unknown.
  without_clock.compute_units = 0;
  const Findings unknown = analyse(without_clock, curve_of("read", {}));
  CHECK(std::none_of(unknown.findings.begin(), unknown.findings.end(),
                     [](const Finding& each) { return each.name == "unit_bandwidth"; }));
  CHECK(*of(unknown, "bandwidth", "read", 1).value == doctest::Approx(1000e9).epsilon(0.01));
}

TEST_CASE(
    "bandwidth: what a CPU writes is known to a fifth, in any run, and what it reads as seen") {
  DeviceInfo cpu = device_of_10();
  cpu.type = DeviceType::cpu;
  const auto high_of = [](const DeviceInfo& device, std::string_view series) {
    const Findings found = analyse(device, curve_of(series, {}));
    const Finding& rate = of(found, "bandwidth", series, 1);
    return *rate.high / *rate.value;
  };
  for (const std::string_view series : {"write", "copy", "update", "image"}) {
    CHECK(high_of(cpu, series) == doctest::Approx(1.0 / 0.8).epsilon(0.005));
    CHECK(high_of(device_of_10(), series) < 1.1);
  }
  CHECK(high_of(cpu, "read") < 1.1);
}

TEST_CASE("bandwidth: what is left of a cache in a set that is too large for it is no level") {
  const auto levels_with = [](double shelf, double end_kib) {
    std::vector<Point> points;
    for (double kib = 4.0; kib <= 65536.0; kib *= std::pow(2.0, 0.0625)) {
      const double rate = kib <= 256.0 ? 1000.0 : kib <= end_kib ? shelf : 400.0;
      points.push_back(measured("read", 1024.0 * kib, rate));
    }
    const Findings found = analyse(device_of_10(), points);
    return std::count_if(found.findings.begin(), found.findings.end(), [](const Finding& each) {
      return each.name == "bandwidth" && each.value.has_value();
    });
  };
  CHECK(levels_with(880.0, 400.0) == 2);
  CHECK(levels_with(720.0, 400.0) == 3);   // much slower than L1
  CHECK(levels_with(880.0, 1024.0) == 3);  // much larger than L1
}

TEST_CASE("bandwidth: a level that was measured and has no plateau keeps its number") {
  const auto thinned = [](std::string_view series, const Hierarchy& hierarchy) {
    std::vector<Point> points = curve_of(series, hierarchy);
    // Only one size of the first level is left.
    points.erase(points.begin() + 1, points.begin() + 22);
    return points;
  };
  std::vector<Point> points = thinned("read", {});
  for (Point& each : thinned("read-one-unit", {.near = 100.0, .cache = 80.0, .memory = 20.0})) {
    points.push_back(std::move(each));
  }
  const Findings found = analyse(device_of_10(), points);
  const Finding& lost = of(found, "bandwidth", "read", 1);
  CHECK_FALSE(lost.value.has_value());
  CHECK(lost.unit == "bytes_per_second");
  CHECK(*lost.low == doctest::Approx(1e12).epsilon(0.02));
  CHECK(*of(found, "bandwidth", "read", 2).value == doctest::Approx(400e9).epsilon(0.02));
  CHECK(of(found, "capacity", "read", 2).value.has_value());
  CHECK(*of(found, "unit_bandwidth", "read", 2).value == doctest::Approx(20.0).epsilon(0.02));
  CHECK(*of(found, "scaling", "read", 2).value == doctest::Approx(0.5).epsilon(0.05));
  CHECK(of(found, "limit", "read", 3).label == limited_by_level);
  CHECK(std::none_of(found.findings.begin(), found.findings.end(), [](const Finding& each) {
    return each.level == 1 && each.series == "read" && each.name != "bandwidth";
  }));
  // The start of the second level is unknown, so the card shows the levels in a line instead of a
  // column.
  ProbeResult result{.probe = "bandwidth", .unit = Unit::bytes_per_second, .points = points};
  analyse_again(probe, device_of_10(), result);
  result.card = probe.card(result);
  CHECK(result.card.columns.at(0).plateaus.empty());
  CHECK(result.card.columns[0].alone.text.starts_with("read 1.00 TB/s (no plateau), 4"));
}

TEST_CASE("bandwidth: beside one unit it is seen what limits a level") {
  std::vector<Point> points = curve_of("read", {});
  // Ten units read their own caches at ten times the rate of one unit, but shared levels at less.
  for (Point& each : curve_of("read-one-unit", {.near = 100.0, .cache = 80.0, .memory = 20.0})) {
    points.push_back(std::move(each));
  }
  const Findings found = analyse(device_of_10(), points);
  CHECK(*of(found, "scaling", "read", 1).value == doctest::Approx(1.0).epsilon(0.01));
  CHECK(of(found, "limit", "read", 1).label == limited_by_units);
  CHECK(*of(found, "scaling", "read", 2).value == doctest::Approx(0.5).epsilon(0.05));
  CHECK(of(found, "limit", "read", 2).label == limited_by_level);
  CHECK(*of(found, "scaling", "read", 3).value == doctest::Approx(0.25).epsilon(0.05));
  // The bandwidth of the series of one unit is not divided by the number of units.
  CHECK(*of(found, "unit_bandwidth", "read-one-unit", 1).value ==
        doctest::Approx(50.0).epsilon(0.01));
  // The units are the limit if the scaling is above 90 %: 1000 / 1090 is, 1000 / 1130 is not.
  for (const auto& [near, word] : {std::pair{109.0, limited_by_units}, {113.0, limited_by_level}}) {
    std::vector<Point> pair = curve_of("read", {});
    for (Point& each : curve_of("read-one-unit", {.near = near, .cache = 80.0, .memory = 20.0})) {
      pair.push_back(std::move(each));
    }
    CHECK(of(analyse(device_of_10(), pair), "limit", "read", 1).label == word);
  }
}

TEST_CASE("bandwidth: the final interval of the scaling decides what limits a level") {
  Finding scaling = finding_of("scaling", "read", "share", "", 1.0, 0.95, 1.05);
  Finding limit = finding_of("limit", "read", "", "");
  scaling.level = limit.level = 1;
  std::vector<Finding> all{scaling, limit};
  combine(all);
  CHECK(all[1].label == limited_by_units);
  all[0].low = 0.85;  // a disturbance of the run
  combine(all);
  CHECK(all[1].label.empty());
  CHECK(all[1].reason ==
        "the scaling's interval includes 90 %, so the limit may be the compute units or the level");
}

TEST_CASE(
    "bandwidth: what limits a level is not said where the interval of the scaling allows both") {
  const auto limit_with = [](double slowest) {
    std::vector<Point> points = curve_of("read", {});
    std::vector<Point> alone = curve_of("read-one-unit", {.near = 100.0});
    // At every second size within the first level, one unit has a higher bandwidth than at the
    // other sizes.
    for (std::size_t i = 0; i < alone.size(); i += 2) {
      const auto size = static_cast<double>(shape_of<Shape>(alone[i]).working_set_bytes);
      if (size < 131072.0) alone[i] = measured("read-one-unit", size, 1000.0 / slowest / 10.0);
    }
    points.insert(points.end(), alone.begin(), alone.end());
    const Findings found = analyse(device_of_10(), points);
    const Finding& scaling = of(found, "scaling", "read", 1);
    CHECK(*scaling.low == doctest::Approx(slowest).epsilon(0.01));
    return of(found, "limit", "read", 1);
  };
  CHECK(limit_with(0.95).label == limited_by_units);
  const Finding unclear = limit_with(0.85);
  CHECK(unclear.label.empty());
  CHECK(unclear.reason ==
        "the scaling's interval includes 90 %, so the limit may be the compute units or the level");
}

TEST_CASE("bandwidth: what one unit writes stands in the levels of what all write") {
  for (const std::string operation : {"write", "copy", "update"}) {
    CAPTURE(operation);
    std::vector<Point> points = curve_of(operation, {});
    const std::string one_unit = operation + "-one-unit";
    // One unit has one size in the first and third level, and two sizes in the second level.
    for (const auto& [size, rate] :
         {std::pair{65536.0, 100.0}, {1e6, 70.0}, {2e6, 90.0}, {200e6, 20.0}}) {
      points.push_back(measured(one_unit, size, rate));
    }
    const Findings found = analyse(device_of_10(), points);
    CHECK(*of(found, "bandwidth", one_unit, 1).value == doctest::Approx(100e9).epsilon(0.01));
    CHECK(*of(found, "unit_bandwidth", one_unit, 1).value == doctest::Approx(50.0).epsilon(0.01));
    CHECK(*of(found, "scaling", operation, 1).value == doctest::Approx(1.0).epsilon(0.01));
    CHECK(of(found, "limit", operation, 1).label == limited_by_units);
    CHECK(*of(found, "bandwidth", one_unit, 2).low == doctest::Approx(74e9).epsilon(0.02));
    CHECK(*of(found, "bandwidth", one_unit, 2).high == doctest::Approx(84e9).epsilon(0.02));
    CHECK(*of(found, "scaling", operation, 3).value == doctest::Approx(0.25).epsilon(0.05));
    CHECK(of(found, "limit", operation, 3).label == limited_by_level);
    CHECK(find_finding(found.findings, "capacity", one_unit) == nullptr);
    // Without a series of all units, a series of one unit has its own levels.
    const Findings own = analyse(device_of_10(), curve_of(one_unit, {}));
    CHECK(of(own, "capacity", one_unit, 1).value.has_value());
    CHECK(find_finding(own.findings, "scaling", operation) == nullptr);
  }
}

TEST_CASE("bandwidth: of what all write memory is a level, however slow small sets are") {
  struct Measured {
    double mib;
    double rate;  // GB/s
  };
  const auto levels_of = [](const std::vector<Measured>& curve, std::uint64_t seed) {
    Random random(seed);
    std::vector<Point> points;
    for (const auto& [mib, rate] : curve) {
      // Writes to memory scatter less than writes to L2.
      const double most = seed == 0 ? 0.0 : mib > 100.0 ? 0.01 : 0.02;
      const double noise = random.uniform(1.0 - most, 1.0 + most);
      points.push_back(measured("write", mib * 1048576.0, rate * noise));
    }
    std::vector<double> rates;
    for (const Finding& each : analyse(device_of_10(), points).findings) {
      if (each.name == "bandwidth" && each.value) rates.push_back(*each.value / 1e9);
    }
    return rates;
  };
  // Write rates of results/nvidia of 2026-11-26, with two more sizes in memory. On the H100 a
  // smaller size is faster than the following level. On the H200, L2 and memory differ by only
  // 8 %.
  const std::vector<Measured> h100{{0.52, 5989}, {1.03, 3435}, {2.06, 3493}, {4.13, 3584},
                                   {8.25, 3757}, {16.5, 3813}, {33, 3870},   {66, 4033},
                                   {132, 3706},  {264, 3198},  {373, 3199},  {528, 3200},
                                   {746, 3196},  {1023, 3192}};
  const std::vector<Measured> h200{{0.52, 3933}, {1.03, 3355}, {2.06, 3886}, {4.13, 4210},
                                   {8.25, 4270}, {16.5, 4276}, {33, 4280},   {66, 4623},
                                   {132, 4639},  {264, 4198},  {373, 4250},  {528, 4310},
                                   {746, 4320},  {1023, 4330}};
  int lost = 0;
  for (std::uint64_t seed = 0; seed <= 100; ++seed) {
    CAPTURE(seed);
    const std::vector<double> rates = levels_of(h100, seed);
    if (rates.size() != 2) {
      ++lost;
      continue;
    }
    CHECK(rates[0] == doctest::Approx(4000).epsilon(0.05));
    CHECK(rates[1] == doctest::Approx(3200).epsilon(0.02));
    const std::vector<double> one = levels_of(h200, seed);
    REQUIRE(one.size() == 1);
    CHECK(one[0] == doctest::Approx(4400).epsilon(0.06));
  }
  MESSAGE("lost levels in " << lost << " of 101");
  CHECK(lost == 0);
}

TEST_CASE("bandwidth: local memory is one level without an end") {
  const std::vector<Point> points{measured("local", 24576.0, 640.0)};
  const Findings found = analyse(device_of_10(), points);
  CHECK(*of(found, "bandwidth", "local", 1).value == doctest::Approx(640e9).epsilon(0.001));
  CHECK(find_finding(found.findings, "capacity", "local") == nullptr);
}

TEST_CASE("bandwidth: points that jump have the value of the largest size, and nothing else") {
  Random random(5);
  std::vector<Point> points;
  for (double size = 4096.0; size < 5e6; size *= 2.0) {
    points.push_back(measured("read", size, random.chance(0.5) ? 100.0 : 700.0));
  }
  points.resize(2);
  const Findings found = analyse(device_of_10(), points);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].value.has_value());
  CHECK_FALSE(found.findings[0].level.has_value());
  CHECK(found.findings[0].method == "at 8 KiB");
  ProbeResult result{.probe = "bandwidth", .points = points, .findings = found.findings};
  const std::string text = probe.card(result).columns.at(0).alone.text;
  CAPTURE(text);
  CHECK(text.starts_with("read "));
  CHECK(text.ends_with(" at 8 KiB (2 sizes; no plateau)"));
}

TEST_CASE("bandwidth: a level in which one unit was not measured says why it has no scaling") {
  std::vector<Point> points = curve_of("read", {});
  CHECK(find_finding(analyse(device_of_10(), points).findings, "scaling", "read") == nullptr);
  double largest = 0.0;
  for (const Point& each : points) {
    largest =
        std::max(largest, static_cast<double>(each.parameters.integer_or("working_set_bytes", 0)));
  }
  points.push_back(measured("read-one-unit", largest, 100.0));
  const Findings found = analyse(device_of_10(), points);
  const Finding* const scaling = find_finding(found.findings, "scaling", "read");
  REQUIRE(scaling != nullptr);
  CHECK(scaling->level == 1);
  CHECK_FALSE(scaling->value.has_value());
  CHECK(scaling->reason ==
        "the bandwidth of a single compute unit was not measured at any size of this level");
}

TEST_CASE("bandwidth: where no plateau follows, the card has the rate of the largest set") {
  std::vector<Point> points = curve_of("read", {});
  std::erase_if(points, [](const Point& each) {
    return shape_of<Shape>(each).working_set_bytes > mebibytes(9).count;
  });
  const double falling[]{300.0, 180.0, 110.0, 60.0};  // GB/s at 16, 32, 64 and 128 MiB
  for (std::size_t i = 0; i < std::size(falling); ++i) {
    points.push_back(measured("read", std::exp2(24.0 + static_cast<double>(i)), falling[i]));
  }
  ProbeResult result{.probe = "bandwidth", .unit = Unit::bytes_per_second, .points = points};
  analyse_again(probe, device_of_10(), result);
  result.card = probe.card(result);
  const Finding* const beyond = find_finding(result.findings, "beyond", "read");
  REQUIRE(beyond != nullptr);
  CHECK(*beyond->value == doctest::Approx(60e9));
  CHECK(*beyond->low == doctest::Approx(60e9));
  CHECK(*beyond->high == doctest::Approx(110e9));  // the last end is 64 MiB at most
  CHECK(beyond->reason == "no plateau beyond 64 MiB: 110 GB/s at that size, 60.0 GB/s at 128 MiB");
  const CardColumn& column = result.card.columns.at(0);
  CHECK(column.plateaus.back().is_open);
  CHECK(column.plateaus.back().text == "60.0 GB/s at 128 MiB");
  CHECK(column.alone.text.find(", 60.0 GB/s at 128 MiB") != std::string::npos);
  const Findings level = analyse(device_of_10(), curve_of("read", {}));
  CHECK(find_finding(level.findings, "beyond", "read") == nullptr);
}

TEST_CASE("bandwidth: the card has the levels that all units read, and one unit's") {
  std::vector<Point> points = curve_of("read", {});
  for (Point& each : curve_of("read-one-unit", {.near = 100.0, .cache = 80.0, .memory = 20.0})) {
    points.push_back(std::move(each));
  }
  ProbeResult result{.probe = "bandwidth", .unit = Unit::bytes_per_second, .points = points};
  analyse_again(probe, device_of_10(), result);
  result.card = probe.card(result);
  CHECK(result.card.lines.empty());
  REQUIRE(result.card.columns.size() == 1);
  const CardColumn& column = result.card.columns[0];
  CHECK(column.memory == CardMemory::global);
  REQUIRE(column.plateaus.size() == 3);
  CHECK(column.plateaus[0].from == 4096.0);  // smallest measured size
  CHECK(column.plateaus[0].text == "1.00 TB/s");
  CHECK(column.plateaus[1].from > column.plateaus[0].to);  // upper end of the capacity's interval
  CHECK_FALSE(column.plateaus[1].is_open);
  CHECK(column.plateaus[2].is_open);
  CHECK(column.plateaus[2].to > 5e8);
  CHECK(column.alone.topic == "bandwidth");
  const std::string& text = column.alone.text;
  CHECK(text.starts_with("read 1.00 TB/s to 1"));
  CAPTURE(text);
  CHECK(text.ends_with("50.0 GB/s; one compute unit 50 B/cycle"));
  CHECK(result.card.rows.size() == 2);
  // A level without a value has no text in the card, but the next level still begins after its
  // end.
  for (Finding& each : result.findings) {
    if (each.name == "bandwidth" && each.series == "read" && each.level == 2) each.value.reset();
  }
  result.card = probe.card(result);
  const std::vector<CardPlateau>& two = result.card.columns.at(0).plateaus;
  REQUIRE(two.size() == 2);
  CHECK(two[1].from > two[0].to);
}

}  // namespace clprobe::bandwidth
