// SPDX-License-Identifier: Apache-2.0
// Tests of the attribution: made-up kernels with known costs, and working-set curves from an H200
// (driver 580.159.04).
#include "probes/kernel/causes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::vector<FoldedTime> sweep_of(const std::map<std::uint64_t, double>& ns_by_groups) {
  std::vector<FoldedTime> sweep;
  for (const auto& [groups, ns] : ns_by_groups) sweep.push_back({groups, around(ns, groups)});
  return sweep;
}

const FoldingOptions h200{.buffer_bytes = 3.0 * gib, .last_cache_bytes = 50.0e6};

// Time in us by the number of distinct groups on an H200: triad of 3 buffers of 1 GiB, and naive
// transpose of 8192 x 8192 floats.
std::vector<FoldedTime> triad_sweep() {
  return sweep_of({{262144, 734},
                   {16384, 736},
                   {4096, 620},
                   {1024, 270},
                   {256, 267},
                   {64, 293},
                   {16, 452},
                   {4, 855},
                   {1, 1242}});
}
std::vector<FoldedTime> transpose_sweep() {
  return sweep_of(
      {{262144, 1001}, {16384, 968}, {4096, 1105}, {1024, 1505}, {64, 2959}, {1, 5065}});
}

using prelude::Possibility;

const prelude::Verdict absent{Possibility::not_present, ""};

prelude::Verdict& verdict_of(KernelTimes& times, Factor factor) {
  return times.verdicts.at(static_cast<std::size_t>(factor));
}

KernelTimes times_of(const std::vector<FoldedTime>& sweep, double none, double least) {
  KernelTimes times{.plain_ns = around(none, 1), .identity_ns = around(none, 2), .sweep = sweep};
  times.folding = h200;
  times.verdicts.fill(absent);
  verdict_of(times, Factor::memory) = {};
  verdict_of(times, Factor::atomics) = {Possibility::refused, "the result of atomic_inc is used"};
  times.builds = {{0, around(none, 3)}, {1, around(least, 4)}};
  return times;
}

const KernelCause& cause_in(const KernelCauses& causes, std::string_view name) {
  for (const KernelCause& each : causes.causes) {
    if (each.row.name == name) return each;
  }
  FAIL("no such cause");
  return causes.causes.front();
}

}  // namespace

TEST_CASE("the least of a sweep lies where the groups fit a cache and do not collide yet") {
  const auto folding = find_folding(triad_sweep(), h200);
  REQUIRE(folding);
  CHECK(folding->all_groups == 262144);
  CHECK(folding->fastest_groups == 256);
  // The share of 1024 of the 262144 groups is 12 MiB. The share of 4096 groups is 48 MiB, which is
  // more than half of the cache.
  CHECK(folding->cached_groups == 1024);
  CHECK(folding->fastest_cached_groups == 1024);
  CHECK(folding->collide_from == 64);
}

TEST_CASE("groups that write the same lines are seen, and nothing is where nothing changes") {
  const auto folding = find_folding(transpose_sweep(), h200);
  REQUIRE(folding);
  CHECK(folding->fastest_groups == 16384);
  CHECK(folding->collide_from == 4096);
  const auto tiles = find_folding(sweep_of({{65536, 21100}, {1024, 21050}, {1, 21080}}), {});
  REQUIRE(tiles);
  CHECK(tiles->collide_from == 0);
  CHECK(!tiles->cached_groups);
  CHECK(!find_folding(sweep_of({{65536, 21100}}), {}));
}

TEST_CASE(
    "groups that reach more than their part meet main memory until half of them take no less") {
  // 264 groups on 512 MiB, each of which accesses four times its share: 8 groups still access main
  // memory.
  const FoldingOptions far{.buffer_bytes = 0.5 * gib, .last_cache_bytes = 50.0e6};
  const std::map<std::uint64_t, double> ns{{264, 100}, {128, 95}, {64, 92}, {32, 88}, {16, 80},
                                           {8, 60},    {4, 45},   {2, 44},  {1, 30}};
  const auto folding = find_folding(sweep_of(ns), far);
  REQUIRE(folding);
  CHECK(folding->cached_groups == 4);
  CHECK(folding->fastest_cached_groups == 4);
  CHECK(folding->fastest_groups == 1);
  // `min_groups` is the lower limit of `cached_groups`.
  FoldingOptions full = far;
  full.min_groups = 8;
  CHECK(find_folding(sweep_of(ns), full)->cached_groups == 8);
  // The search stops at a sixteenth of the groups that fit, although the times continue to fall.
  std::map<std::uint64_t, double> steep;
  double time = 1000;
  for (std::uint64_t groups = 4096; groups > 0; groups /= 2, time *= 0.9) steep[groups] = time;
  CHECK(find_folding(sweep_of(steep), {.buffer_bytes = 4096, .last_cache_bytes = 512})
            ->cached_groups == 16);
}

TEST_CASE("fewer groups than the device needs are not looked at") {
  const auto sweep = sweep_of({{1024, 100}, {256, 60}, {64, 50}, {2, 20}});
  CHECK(find_folding(sweep, {.min_groups = 64})->fastest_groups == 64);
  CHECK(find_folding(sweep, {})->fastest_groups == 2);
}

TEST_CASE("what a stream gains without main memory is its first cause") {
  const KernelTimes times = times_of(triad_sweep(), 734, 267);
  const KernelCauses found = find_kernel_causes(times);
  REQUIRE(found.is_believed);
  const KernelCause& main = cause_in(found, "main_memory");
  CHECK(main.state == CauseState::found);
  CHECK(main.share == doctest::Approx((734.0 - 270.0) / 734.0).epsilon(0.02));
  CHECK(main.share_interval.low < main.share);
  CHECK(main.share_interval.high > main.share);
  CHECK(!main.is_lower_bound);
  CHECK(found.unattributed_share == doctest::Approx(267.0 / 734.0).epsilon(0.02));
  REQUIRE(!ranked_causes(found).empty());
  CHECK(ranked_causes(found).front().row.name == "main_memory");
  CHECK(kernel_advice(found, {}, 0.5)
            .starts_with(
                "Finding data in near caches instead of main memory saves at most 63 % of the "
                "kernel's time, 3"));
  CHECK(cause_in(found, "barriers").state == CauseState::not_present);
  CHECK(cause_in(found, "atomics").reason == "the result of atomic_inc is used");
  // The costs and the unattributed time add up to the whole time.
  CHECK(main.cost.ns + cause_in(found, "last_cache").cost.ns + found.unattributed.ns ==
        doctest::Approx(found.total.ns));
}

TEST_CASE("where groups collide before they fit the cache main memory has a lower bound") {
  const KernelCauses found = find_kernel_causes(times_of(transpose_sweep(), 1001, 968));
  const KernelCause& main = cause_in(found, "main_memory");
  CHECK(main.is_lower_bound);
  CHECK(main.reason.find(
            "with 4096 or fewer distinct groups, several groups write the same cache lines") !=
        std::string::npos);
}

TEST_CASE("a kernel that only works gains nothing, and is told so") {
  const auto sweep = sweep_of({{65536, 21100}, {1024, 21100}, {1, 21100}});
  const KernelCauses found = find_kernel_causes(times_of(sweep, 21100, 21100));
  CHECK(ranked_causes(found).empty());
  CHECK(kernel_advice(found) ==
        "Removing any one of the causes saves little. The kernel is bound by its own instructions, "
        "by waits within a group, or by causes that could not be removed: atomics (the result of "
        "atomic_inc is used).");
  CHECK(found.unattributed_share == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("what may cost much is not said to cost nothing: samples that scatter leave it open") {
  KernelCauses causes{.is_believed = true};
  const auto advice = [&](double main_high, double cache_high) {
    causes.causes = {{.row = {"main_memory", "main memory"}, .share_interval = {-0.2, main_high}},
                     {.row = {"last_cache", "last cache"}, .share_interval = {-0.2, cache_high}}};
    return kernel_advice(causes);
  };
  const std::string none = "Removing any one of the causes saves little: ";
  CHECK(advice(0.149, 0.1).starts_with(none));
  CHECK(
      advice(0.15, 0.1) ==
      "Up to 15 % of the kernel's time may be due to main memory, but the samples scatter too much "
      "to decide: close other programs, or repeat with --thorough.");
  CHECK(
      advice(0.3, 1.27).starts_with("Up to 100 % of the kernel's time may be due to last cache, "));
  // A found cause gives the advice even if an unresolved cause may cost more.
  causes.causes = {{.row = {"lanes", "lanes"}, .state = CauseState::found, .share = 0.3},
                   {.row = {"memory", "memory"}, .share_interval = {-0.2, 0.9}}};
  CHECK(kernel_advice(causes).starts_with(
      "Removing lanes saves at most 30 % of the kernel's time: "));
}

TEST_CASE("another kernel behind the prelude is not believed") {
  KernelTimes times = times_of(triad_sweep(), 734, 267);
  times.identity_ns = around(734 * 1.88, 5);
  KernelCauses found = find_kernel_causes(times);
  CHECK(!found.is_believed);
  CHECK(found.doubt ==
        "instrumented, the kernel runs 1.88 times as long, so a breakdown would not describe the "
        "original");
  CHECK(found.causes.empty());
  CHECK(kernel_advice(found) == "No cause reported: " + found.doubt + ".");
  CHECK(doubt_advice("").empty());
  times.identity_ns = around(734 * 0.85, 5);
  CHECK(!find_kernel_causes(times).is_believed);
  CHECK(find_kernel_causes({}).doubt == "not measured");
}

TEST_CASE("in turns the prelude is believed where their interval leaves it open, and is not wide") {
  KernelTimes times = times_of(triad_sweep(), 734, 267);
  // The samples of the points show a slowdown of 1.3, as if the host became busy between the
  // points.
  times.identity_ns = around(734 * 1.3, 5);
  const auto in_turns = [&](const std::vector<double>& ratios) {
    times.log_ratios.clear();
    for (const double each : ratios) times.log_ratios.push_back(std::log(each));
    return find_kernel_causes(times);
  };
  KernelCauses found = in_turns({1.01, 1.02, 1.01, 1.02, 1.01, 1.02});
  CHECK(found.is_believed);
  CHECK(found.instrument_ratio == doctest::Approx(1.015).epsilon(0.001));
  CHECK(found.instrument_interval.low < 1.015);
  CHECK(found.instrument_interval.high > 1.015);
  CHECK(instrument_reason(found.instrument_interval).empty());
  // The mean ratio exceeds the limit, but the interval includes the limit.
  found = in_turns({1.05, 1.18, 1.08, 1.16, 1.10, 1.15});
  CHECK(found.is_believed);
  CHECK(found.instrument_ratio > max_instrument_ratio);
  CHECK(instrument_reason(found.instrument_interval) ==
        "not resolved: the interval extends beyond the range 0.91 to 1.10");
  CHECK(!in_turns({1.2, 1.21, 1.2, 1.21, 1.2, 1.21}).is_believed);
  CHECK(!in_turns({0.8, 0.81, 0.8, 0.81, 0.8, 0.81}).is_believed);
  found = in_turns({0.5, 1.9, 0.7, 1.5, 0.6, 1.8});
  CHECK(!found.is_believed);
  CHECK(found.doubt.starts_with("the slowdown from instrumentation is uncertain (0."));
  // Three blocks give no interval, so the ratio is that of the samples.
  CHECK(!in_turns({1.0, 1.0, 1.0}).is_believed);
  times.identity_ns = around(734 * 1.02, 5);
  CHECK(in_turns({1.3, 1.3, 1.3}).is_believed);
  CHECK(!in_turns({1.3, 1.3, 1.3, 1.3}).is_believed);
}

TEST_CASE("barriers and memory that hide each other share what both together are worth") {
  KernelTimes times = times_of(sweep_of({{1024, 100}, {16, 80}}), 100, 80);
  times.folding = {};
  verdict_of(times, Factor::barriers) = {};
  times.builds = {{0, around(100, 3)}, {1, around(80, 4)}, {2, around(90, 5)}, {3, around(40, 6)}};
  const KernelCauses found = find_kernel_causes(times);
  // Shapley values in ns: (20 + 50) / 2 for memory and (10 + 40) / 2 for barriers.
  CHECK(cause_in(found, "memory").cost.ns == doctest::Approx(35.0).epsilon(0.03));
  CHECK(cause_in(found, "barriers").cost.ns == doctest::Approx(25.0).epsilon(0.03));
  CHECK(cause_in(found, "barriers").row.gsi == "synchronization: barrier");
  CHECK(ranked_causes(found).size() == 2);
}

TEST_CASE("what makes the kernel slower when it is taken away takes nothing from the others") {
  // Without fences, 16 of 100 ns remain, with or without barriers. Without barriers only, the
  // kernel takes 110 ns.
  KernelTimes times = times_of(sweep_of({{1024, 100}, {16, 98}}), 100, 98);
  times.folding = {};
  times.verdicts.fill(absent);
  for (const Factor each : {Factor::memory, Factor::barriers, Factor::fences}) {
    verdict_of(times, each) = {};
  }
  times.builds = {{0, around(100, 1)}, {1, around(98, 2)},  {2, around(110, 3)},
                  {3, around(109, 4)}, {4, around(16, 5)},  {5, around(15.5, 6)},
                  {6, around(16, 7)},  {7, around(15.5, 8)}};
  const KernelCauses found = find_kernel_causes(times);
  // If barriers counted as a cause, the Shapley values would be -4.7 ns for barriers and 88 ns for
  // fences.
  CHECK(cause_in(found, "fences").share == doctest::Approx(0.833).epsilon(0.01));
  const KernelCause& barriers = cause_in(found, "barriers");
  CHECK(barriers.state == CauseState::not_resolved);
  CHECK(barriers.share == 0.0);
  CHECK(barriers.reason.starts_with("not resolved: without this cause the kernel takes "));
  CHECK(barriers.reason.ends_with(" % longer"));
  CHECK(found.unattributed_share == doctest::Approx(0.155).epsilon(0.03));
  // No cause remains if the removal of the only factor slows the kernel.
  verdict_of(times, Factor::memory) = absent;
  verdict_of(times, Factor::fences) = absent;
  times.builds = {{0, around(100, 1)}, {1, around(110, 3)}};
  const KernelCauses nothing = find_kernel_causes(times);
  CHECK(ranked_causes(nothing).empty());
  CHECK(nothing.unattributed_share == 1.0);
}

TEST_CASE("lanes go only where memory has, and have what is saved then") {
  const std::vector<FoldedTime> sweep = triad_sweep();
  KernelTimes times = times_of(sweep, 734, 600);
  verdict_of(times, Factor::lanes) = {};
  // Bit 0 is memory and bit 1 is lanes. No build lacks only lanes, because lanes are removed only
  // together with memory.
  times.builds = {{0, around(734, 3)}, {1, around(600, 4)}, {3, around(200, 5)}};
  const KernelCauses found = find_kernel_causes(times);
  const KernelCause& lanes = cause_in(found, "lanes");
  CHECK(lanes.state == CauseState::found);
  CHECK(lanes.cost.ns == doctest::Approx(400).epsilon(0.02));
  CHECK(lanes.row.gsi == "memory structural: lanes");
  CHECK(found.unattributed.ns == doctest::Approx(200).epsilon(0.02));
  CHECK(kernel_advice(found).starts_with("Removing differences between lanes saves at most 54 %"));
  times.builds.pop_back();
  CHECK_THROWS_AS(find_kernel_causes(times), AblationError);
}

TEST_CASE("a missing build is an error, and everything refused is no cause") {
  KernelTimes times = times_of(triad_sweep(), 734, 267);
  times.builds.pop_back();
  CHECK_THROWS_AS(find_kernel_causes(times), AblationError);
  verdict_of(times, Factor::memory) = {Possibility::refused, "the kernel calls atomic_xchg"};
  verdict_of(times, Factor::atomics) = {Possibility::refused, "the kernel calls atomic_xchg"};
  // A kernel without barriers does not count as a refused removal of barriers.
  const std::string refused =
      "No cause could be removed safely: memory, atomics (the kernel calls atomic_xchg).";
  CHECK(kernel_advice(find_kernel_causes(times)) == refused);
  verdict_of(times, Factor::lanes) = {Possibility::refused, "exchanged values decide"};
  CHECK(kernel_advice(find_kernel_causes(times)) ==
        "No cause could be removed safely: memory, atomics (the kernel calls atomic_xchg); "
        "differences between lanes (exchanged values decide).");
  times.verdicts.fill(absent);
  CHECK(kernel_advice(find_kernel_causes(times)) == "No cause can be removed from the kernel.");
}

}  // namespace clprobe::kernel
