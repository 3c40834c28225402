// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {

extern const Probe probe;

TEST_CASE("kernel: the launch as it was comes first, then ever fewer groups") {
  const Plan made = plan_of(std::string(triad), 1024);
  CHECK(made.is_ordered);
  CHECK(made.memory.count == 4 * 4096);
  // Points: plain and warm; 11 instrumented points with 1024, 512, ... 1 distinct groups; one whose
  // groups end at once; and 9 paddings.
  REQUIRE(made.points.size() == 2 + 11 + 1 + 9);
  CHECK(made.points[0].series == "triad");
  CHECK(made.points[1].series == "triad, warm");
  CHECK(made.points[2].series == "triad, folded");
  CHECK(shape_of<Shape>(made.points[2]).setting == prelude::Setting{});
  CHECK(made.points[3].series == "triad, by groups at once");
  CHECK(shape_of<Shape>(made.points[3]).padding_eighths == 0);
  std::uint64_t groups = 512;
  for (std::size_t i = 4; i < 4 + 10; ++i) {
    CHECK(made.points[i].series == "triad, folded");
    CHECK(shape_of<Shape>(made.points[i]).distinct_groups == groups);
    groups /= 2;
  }
  CHECK(made.points[14].series == "triad, ending at once");
  CHECK(shape_of<Shape>(made.points[14]).variant == Variant::ending);
  CHECK(shape_of<Shape>(made.points[14]).distinct_groups == 1024);
  for (std::size_t i = 15; i < 15 + 8; ++i) {
    CHECK(made.points[i].series == "triad, by groups at once");
    CHECK(shape_of<Shape>(made.points[i]).padding_eighths == i - 14);
    CHECK(shape_of<Shape>(made.points[i]).distinct_groups == 1024);
  }
}

TEST_CASE("kernel: few groups that do the work of all find their memory in the caches") {
  for (const Point& point : plan_of(std::string(triad), 1024).points) {
    const auto shape = shape_of<Shape>(point);
    if (shape.variant == Variant::warm) continue;
    CHECK(shape.is_warm() == is_folded(shape.setting));
  }
}

TEST_CASE("kernel: a core runs one group at a time, whatever its local memory") {
  DeviceInfo cpu = device_with_events();
  cpu.type = DeviceType::cpu;
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  const Plan made = plan(cpu, request);
  CHECK(made.points.size() == 2 + 11 + 1 + 1);
  std::vector<Point> points = made.points;
  for (Point& point : points) {
    measure(point, 1e6);
    if (has_entry(shape_of<Shape>(point).variant)) {
      point.facts.set(resident_fact, std::int64_t{8});
    }
  }
  const Findings found = probe.analyse(cpu, points);
  CHECK(*need(found, "resident_groups").value == 8);
  CHECK(*need(found, "waves").value == 128);
  CHECK(need(found, "occupancy").reason == "not present: a CPU core runs one work-group at a time");
}

TEST_CASE("kernel: shapes are written and read, whatever the setting") {
  for (const Point& point : measured(1.0)) {
    const auto shape = shape_of<Shape>(point);
    Point again;
    write_shape(shape, again);
    CHECK(again.parameters == point.parameters);
    CHECK_FALSE(probe.find_problem(point).has_value());
  }
}

TEST_CASE(
    "kernel: of a group size that the driver chooses, and a kernel unknown, only plain launches") {
  Request request;
  request.launches = {asked(std::string(triad), 1024)};
  request.launches[0].bundle.launch.range.local = {};
  const Plan without_local = plan(device_with_events(), request);
  for (const Point& point : without_local.points) {
    CHECK(shape_of<Shape>(point).setting == prelude::Setting{});
  }
  CHECK(without_local.points.front().facts.text_or("memory_absence", "").find("size") !=
        std::string::npos);
  const Plan unknown = plan_of("kernel void other(global float* a) { a[0] = 1; }", 1024);
  // The points are the plain launch, the warm launch, and the instrumented launch that removes
  // nothing.
  CHECK(unknown.points.size() == 3);
  for (const Point& point : unknown.points) {
    CHECK(shape_of<Shape>(point).setting == prelude::Setting{});
  }
  CHECK(unknown.points.front().facts.text_or("memory_absence", "") != "");
}

TEST_CASE("kernel: barriers and atomics are left out where the kernel has them") {
  const Plan made = plan_of(
      "kernel void triad(global float* a, global const float* b) {\n"
      "  a[get_global_id(0)] = b[get_global_id(0)];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n}\n",
      4);
  const auto is_without = [](const Point& point) {
    return point.series == "triad, without barriers";
  };
  CHECK(std::count_if(made.points.begin(), made.points.end(), is_without) == 1);
  CHECK(made.points.front().facts.text_or("atomics_absence", "") == not_present);
}

TEST_CASE("kernel: what folding saves is memory's, where the prelude costs nothing") {
  std::vector<Point> points = measured(1.02);
  for (Point& point : points) point.facts.set(app_share_fact, std::int64_t{800'000});
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(*need(found, "time").value == doctest::Approx(1e-3).epsilon(0.01));
  CHECK(*need(found, "warm_time").value == doctest::Approx(8e-4).epsilon(0.01));
  CHECK(*need(found, "instrument_ratio").value == doctest::Approx(1.02).epsilon(0.01));
  CHECK(*need(found, "least_groups").value >= 4);
  CHECK(*need(found, "memory").value == doctest::Approx(0.5).epsilon(0.02));
  CHECK(need(found, "memory").series == "triad, folded");
  CHECK(need(found, "barriers").reason == "not present");
  CHECK(need(found, "advice").label.find(", 40 % of the program's device time") !=
        std::string::npos);
  CHECK(need(found, "equal_to_app").reason.starts_with("not known"));
}

TEST_CASE("kernel: what its buffers take of its time") {
  std::vector<Point> points = measured(1.0);
  for (Point& point : points) {
    point.facts.set(buffer_bytes_fact, std::int64_t{40'000'000});
    point.facts.set(memory_rate_fact, std::int64_t{100'000'000'000});
  }
  const Findings found = probe.analyse(device_with_events(), points);
  const Finding& share = need(found, "buffer_transfer");
  CHECK(*share.value == doctest::Approx(0.4).epsilon(0.01));
  CHECK(*share.low < *share.high);
}

TEST_CASE("kernel: the card has the answer behind the time, and what it is of the program's") {
  const auto line = [](std::vector<Point> points) {
    ProbeResult result{.points = std::move(points)};
    result.findings = probe.analyse(device_with_events(), result.points).findings;
    const std::vector<CardLine> lines = probe.card(result).lines;
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].topic == "triad");
    return lines[0].text;
  };
  const std::string answer =
      "Finding data in near caches instead of memory saves at least 50 % of the kernel's time";
  std::vector<Point> points = measured(1.0);
  CHECK(line(points).starts_with("1.00 ms. " + answer));
  for (Point& point : points) point.facts.set(app_share_fact, std::int64_t{800'000});
  CHECK(line(points).starts_with("1.00 ms, 80 % of the program's device time. " + answer));
}

TEST_CASE("kernel: the parts of the bar make the whole") {
  const Findings found = probe.analyse(device_with_events(), measured(1.0));
  double sum = 0.0;
  for (const Finding& each : found.findings) {
    if (each.name == stack_part_name) sum += each.value.value_or(0.0);
  }
  CHECK(sum == doctest::Approx(1.0).epsilon(0.001));
}

TEST_CASE("kernel: a prelude that costs more than a tenth is not believed") {
  const Findings found = probe.analyse(device_with_events(), measured(1.2));
  CHECK(find_finding(found.findings, "memory") == nullptr);
  CHECK_FALSE(need(found, stack_part_name).value.has_value());
  CHECK(need(found, stack_part_name).reason.starts_with("not reliable: "));
  CHECK(need(found, "advice")
            .label.starts_with("No cause reported: instrumented, the kernel runs 1.20"));
  CHECK(need(found, "advice").series == "triad, folded");
  CHECK(need(found, "time").value.has_value());
}

TEST_CASE("kernel: without renaming the reason stands in the place of the causes") {
  std::vector<Point> points =
      plan_of("kernel void other(global float* a) { a[0] = 1; }", 64).points;
  for (Point& point : points) measure(point, 1e6);
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(need(found, "memory").reason.starts_with("refused: "));
  CHECK(need(found, "advice")
            .label.starts_with("No cause could be removed safely: memory, barriers, atomics"));
  // The program's names begin with clp_, so no instrumentation can be added.
  points = plan_of("kernel void triad(global float* clp_a) { clp_a[0] = 1; }", 64).points;
  for (Point& point : points) measure(point, 1e6);
  CHECK(need(probe.analyse(device_with_events(), points), "advice").label ==
        "No cause reported: the program uses names that clprobe reserves (clp_*).");
}

TEST_CASE("kernel: a replay that left other bytes than the program has no time") {
  std::vector<Point> points = measured(1.0);
  for (Point& point : points) {
    point.facts.set(equal_fact, std::int64_t{0});
    point.facts.set(wrong_buffers_fact, std::string("b0"));
  }
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(need(found, "time").reason ==
        "not reliable: after the replay, the bytes in b0 differ from the program's bytes");
  CHECK(need(found, "advice").label ==
        "No cause reported: after the replay, the bytes in b0 differ from the program's bytes.");
  CHECK(find_finding(found.findings, "memory") == nullptr);
  // A kernel with nondeterministic results may also differ from the program's results.
  for (Point& point : points) {
    point.facts.set(deterministic_fact, std::int64_t{0});
    point.facts.set(wrong_buffers_fact, std::string());
  }
  const Findings by_chance = probe.analyse(device_with_events(), points);
  CHECK(need(by_chance, "time").value.has_value());
  REQUIRE(by_chance.warnings.size() == 1);
  CHECK(by_chance.warnings.front().code == "replay_not_deterministic");
  // Bytes that are equal in two replays must also equal the program's bytes.
  for (Point& point : points) point.facts.set(wrong_buffers_fact, std::string("b1"));
  const Findings wrong = probe.analyse(device_with_events(), points);
  CHECK(need(wrong, "time").reason ==
        "not reliable: after the replay, the bytes in b1 differ from the program's bytes");
  CHECK(find_finding(wrong.findings, "memory") == nullptr);
  // Another version of the kernel may round otherwise, and take another time.
  for (Point& point : points) {
    point.facts.set(wrong_buffers_fact, std::string());
    point.facts.set(other_floats_fact, std::string("b1"));
    point.facts.set(other_text_fact, std::int64_t{1});
    point.facts.set(deterministic_fact, std::int64_t{1});
    point.facts.set(app_ns_fact, std::int64_t{9'000'000});
  }
  const Findings other = probe.analyse(device_with_events(), points);
  CHECK(need(other, "time").value.has_value());
  REQUIRE(other.warnings.size() == 1);
  CHECK(other.warnings.front().code == "other_version_differs");
}

TEST_CASE("kernel: a replay much unlike the program's launch is warned of") {
  std::vector<Point> points = measured(1.0);
  for (Point& point : points) point.facts.set(app_ns_fact, std::int64_t{2'000'000});
  const Findings far = probe.analyse(device_with_events(), points);
  CHECK(*need(far, "replay_ratio").value == doctest::Approx(0.5).epsilon(0.01));
  REQUIRE(far.warnings.size() == 1);
  CHECK(far.warnings.front().code == "replay_unlike_app");
  // A program time between the warm (0.8 ms) and the cold (1 ms) replay gives no warning.
  for (Point& point : points) point.facts.set(app_ns_fact, std::int64_t{900'000});
  CHECK(probe.analyse(device_with_events(), points).warnings.empty());
}

TEST_CASE("kernel: groups that work together are launched whole") {
  std::vector<Point> points =
      plan_of("kernel void triad(global int* a, global int* b) { while (atomic_xchg(a, 1)) ; }", 64)
          .points;
  for (Point& point : points) {
    CHECK_FALSE(has_entry(shape_of<Shape>(point).variant));
    measure(point, 1e6);
  }
  const Findings found = probe.analyse(device_with_events(), points);
  CHECK(need(found, "resident_groups").reason ==
        "refused: the kernel calls atomic_xchg, so groups can wait for each other");
}

}  // namespace clprobe::kernel
