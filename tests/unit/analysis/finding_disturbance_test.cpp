// SPDX-License-Identifier: Apache-2.0
// What disturbed a run, in the intervals of its findings.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "compare/api/compare.hpp"
#include "compare/api/disturbance.hpp"

namespace clprobe {
namespace {

constexpr double long_factor = 1.1;  // of five parts over 30 s or more

std::vector<Moment> moments_of(double gap_s, const std::vector<double>& ns) {
  std::vector<Moment> moments;
  for (const double each : ns) {
    moments.push_back({gap_s * static_cast<double>(moments.size()), each});
  }
  return moments;
}

TEST_CASE("reference points of none of the probes count as theirs") {
  Run run;
  run.results.push_back({.probe = "banks", .unit = Unit::bytes_per_second});
  const auto moments = moments_of(10.0, {1.0, 1.02, 1.0, 1.0, 1.0});
  run.references = {{ReferenceKind::arithmetic, "arithmetic", {}, moments},
                    {ReferenceKind::memory, "read int", {}, moments, true}};
  const std::vector<Disturbance> found = find_disturbances(run);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == ReferenceKind::arithmetic);
  CHECK(found[0].probe == references_section);
  CHECK_FALSE(found[0].is_rate);
  CHECK(found[1].is_rate);
  CHECK(found[0].half_width == doctest::Approx(long_factor * std::log(1.02)));
}

Finding with_interval(std::string_view unit, double value, double low, double high) {
  Finding finding{.name = "found", .series = "global"};
  finding.value = value;
  finding.low = low;
  finding.high = high;
  finding.unit = unit;
  return finding;
}

TEST_CASE("what disturbed the run is in the interval of what is compared, once, and comes off") {
  const auto moments = moments_of(8.0, {100.0, 100.0, 104.0, 100.0, 100.0});
  const double seen = long_factor * std::log(1.04);
  Run run;
  run.results.push_back({.probe = "latency"});
  run.results[0].references.push_back({ReferenceKind::memory, "global", {}, moments});
  std::vector<Finding>& findings = run.results[0].findings;
  findings = {with_interval("seconds", 1e-7, 0.97e-7, 1.05e-7),
              with_interval("seconds", 1e-7, 1e-7, 1e-7),
              with_interval("bytes", 1024.0, 1000.0, 1100.0),
              with_interval("share", 0.5, 0.4, 0.6),
              with_interval("seconds", 2e-9, -1e-9, 3e-9),
              with_interval("count", 10.0, 9.0, 11.0),
              with_interval("bytes_per_second", 1e7, 0.97e7, 1.05e7),
              with_interval("seconds", 1e-7, 1e-7, 1e-7)};
  findings[4].part_of = "whole";
  findings[5].role = Role::remark;
  findings[6].role = Role::remark;
  findings[7].role = Role::remark;
  const std::vector<Finding> own = findings;
  run.disturbances = find_disturbances(run);
  hold_disturbance(run);
  hold_disturbance(run);  // once
  const auto of_line = [&](double end) {
    return std::exp(std::copysign(std::hypot(std::log(end), seen), std::log(end)));
  };
  CHECK(findings[0].disturbance == doctest::Approx(seen));
  CHECK(*findings[0].low == doctest::Approx(1e-7 * of_line(0.97)).scale(0));
  CHECK(*findings[0].high == doctest::Approx(1e-7 * of_line(1.05)).scale(0));
  CHECK(*findings[1].low == doctest::Approx(1e-7 * std::exp(-seen)).scale(0));
  CHECK(*findings[1].high == doctest::Approx(1e-7 * std::exp(seen)).scale(0));
  CHECK(findings[2] == own[2]);
  CHECK(*findings[3].high == doctest::Approx(0.5 + std::hypot(0.1, 0.25 * seen)));
  // Of a difference, as of what it is a part of.
  CHECK(*findings[4].low == doctest::Approx(2e-9 - std::hypot(3e-9, 2e-9 * seen)).scale(0));
  CHECK(findings[5] == own[5]);
  // But for a rate, which is what is compared in another form, and a time.
  CHECK(*findings[6].high == doctest::Approx(1e7 * of_line(1.05)));
  CHECK(*findings[7].low == doctest::Approx(1e-7 * std::exp(-seen)).scale(0));
  // `compare` adds it by itself, to the interval that the finding has alone.
  const RunDigest compared = digest(run, "run");
  const ComparedFinding& first = compared.results.at(0).findings.at(0);
  CHECK(first.disturbance == doctest::Approx(seen));
  CHECK(*first.finding.high == doctest::Approx(1.05e-7).scale(0));
  forget_disturbance(run);
  for (std::size_t i = 0; i < own.size(); ++i) {
    CHECK(*findings[i].low == doctest::Approx(*own[i].low).scale(1e-12));
    CHECK(*findings[i].high == doctest::Approx(*own[i].high).scale(1e-12));
    CHECK(findings[i].disturbance == 0.0);
  }
}

TEST_CASE("levels behind the first one of a virtual CPU may be otherwise in another process") {
  const auto moments = moments_of(8.0, {100.0, 100.0, 104.0, 100.0, 100.0});
  const double seen = long_factor * std::log(1.04);
  const auto disturbance = [&](bool is_virtual, DeviceType type, int level, std::string_view unit,
                               bool has_references = true) {
    Run run;
    run.device.type = type;
    run.host.is_virtual = is_virtual;
    run.results.push_back({.probe = "latency"});
    if (has_references) {
      run.results[0].references.push_back({ReferenceKind::memory, "global", {}, moments});
    }
    run.results[0].findings = {with_interval(unit, 1e-7, 0.97e-7, 1.05e-7)};
    run.results[0].findings[0].level = level;
    run.disturbances = find_disturbances(run);
    hold_disturbance(run);
    return run.results[0].findings[0].disturbance;
  };
  const double behind = disturbance(true, DeviceType::cpu, 2, "seconds");
  CHECK(behind == doctest::Approx(std::hypot(seen, 0.05)));
  CHECK(disturbance(true, DeviceType::cpu, 3, "seconds") == behind);
  CHECK(disturbance(true, DeviceType::cpu, 1, "seconds") == doctest::Approx(seen));
  CHECK(disturbance(false, DeviceType::cpu, 2, "seconds") == doctest::Approx(seen));
  CHECK(disturbance(true, DeviceType::gpu, 2, "seconds") == doctest::Approx(seen));
  CHECK(disturbance(true, DeviceType::cpu, 2, "bytes_per_second") == doctest::Approx(seen));
  CHECK(disturbance(true, DeviceType::cpu, 2, "seconds", false) == 0.0);
}

TEST_CASE("a ratio has the disturbances of both of its operands, which change independently") {
  Run run;
  run.results.push_back({.probe = "bandwidth", .unit = Unit::bytes_per_second});
  const auto add = [&](double ns, bool is_rate, double widest) {
    run.disturbances.push_back({.probe = "any",
                                .series = "any",
                                .seconds = ns * 1e-9,
                                .is_rate = is_rate,
                                .half_width = widest});
  };
  add(1.0, false, 0.03);
  add(1.0, true, 0.04);
  add(100.0, true, 0.4);
  Finding rate = with_interval("bytes_per_second", 1e9, 1e9, 1e9);
  Finding of_level = with_interval("share", 0.9, 0.9, 0.9);
  Finding of_none = with_interval("count", 10.0, 10.0, 10.0);
  rate.level = of_level.level = 1;
  of_level.is_ratio = of_none.is_ratio = true;
  run.results[0].findings = {rate, of_level, of_none};
  hold_disturbance(run);
  const std::vector<Finding>& held = run.results[0].findings;
  CHECK(held[1].disturbance == doctest::Approx(0.9 * 0.05));
  // The ends of a ratio stay above 0, however large the disturbance is.
  CHECK(*held[1].high == doctest::Approx(0.9 * std::exp(0.05)));
  CHECK(*with_disturbance(of_level, 0.9 * 3.0).low == doctest::Approx(0.9 * std::exp(-3.0)));
  // The level's rate is unknown, so the largest disturbance of a rate counts.
  CHECK(held[2].disturbance == doctest::Approx(std::hypot(0.03, 0.4)));
  CHECK(*held[2].low == doctest::Approx(10.0 * std::exp(-std::hypot(0.03, 0.4))));
  // Other processes slow down a rate of all units during the whole run.
  run.results[0].others_share = 0.5;
  hold_disturbance(run);
  CHECK(held[2].disturbance == doctest::Approx(std::hypot(0.03, std::log(2.0))));
}

}  // namespace
}  // namespace clprobe
