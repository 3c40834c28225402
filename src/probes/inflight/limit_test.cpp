// SPDX-License-Identifier: Apache-2.0
// The spikes that Lashgar et al. publish for two GPUs, and what follows from them.
#include "probes/inflight/thread_latency.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace clprobe::inflight {
namespace {

/// Returns a curve with only a spike after `work_items` work-items, in a sweep with steps of 2
/// work-items.
CurveFinding spike_after(int work_items, int loads, int merger, MergerMode mode) {
  CurveFinding curve;
  curve.pattern = {loads, merger, mode, ""};
  curve.spike = Gap{work_items, work_items + 2};
  return curve;
}

CurveFinding silent(int loads, int merger, MergerMode mode) {
  CurveFinding curve;
  curve.pattern = {loads, merger, mode, ""};
  return curve;
}

std::vector<CurveFinding> m2070_unique() {
  return {spike_after(128, 1, 1, MergerMode::within), spike_after(64, 2, 1, MergerMode::within)};
}

std::vector<CurveFinding> m2070(MergerMode mode) {
  std::vector<CurveFinding> curves = m2070_unique();
  curves.push_back(spike_after(256, 1, 2, mode));
  curves.push_back(spike_after(256, 2, 4, mode));
  curves.push_back(spike_after(256, 4, 8, mode));
  curves.push_back(silent(4, 16, mode));
  curves.push_back(silent(4, 32, mode));
  return curves;
}

std::vector<CurveFinding> k20() {
  return {silent(1, 1, MergerMode::within), spike_after(680, 2, 1, MergerMode::within),
          spike_after(454, 3, 1, MergerMode::within)};
}

constexpr int warp = 32;

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("A lone step gives a third of its square at both of its sides") {
  const double step = 90.0;
  const std::array values{400.0, 400.0, 400.0, 400.0 + step, 400.0 + step, 400.0 + step};
  const std::vector<double> variance = three_point_variance(values);
  REQUIRE(variance.size() == values.size());
  CHECK(variance[0] == 0.0);
  CHECK(variance[1] == doctest::Approx(0.0));
  CHECK(variance[2] == doctest::Approx(step * step / 3.0));
  CHECK(variance[3] == doctest::Approx(step * step / 3.0));
  CHECK(variance[4] == doctest::Approx(0.0));
  CHECK(variance[5] == 0.0);
}

TEST_CASE("A ramp gives the square of its slope, ends give nothing") {
  std::array<double, 9> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 300.0 + 7.0 * static_cast<double>(i);
  const std::vector<double> variance = three_point_variance(values);
  for (std::size_t i = 1; i + 1 < values.size(); ++i) CHECK(variance[i] == doctest::Approx(49.0));
  CHECK(variance.front() == 0.0);
  CHECK(variance.back() == 0.0);
  CHECK(three_point_variance({}).empty());
}

TEST_CASE("The harmonic mean of three runs") {
  CHECK(harmonic_mean(std::array{2.0, 3.0, 6.0}) == doctest::Approx(3.0));
  CHECK(harmonic_mean(std::array{5.0}) == doctest::Approx(5.0));
  CHECK_THROWS_AS(harmonic_mean({}), std::invalid_argument);
  CHECK_THROWS_AS(harmonic_mean(std::array{1.0, 0.0}), std::invalid_argument);
}

TEST_CASE("A plot sorts, drops what is no time, and keeps a robust curve beside the mean") {
  ThreadLatencyCurve curve;
  curve.points = {{4, {600.0, 300.0, 300.0}}, {2, {200.0, 200.0, 200.0}}, {6, {}}, {8, {1.0, 0.0}}};
  const ThreadLatencyPlot plot = plot_of(curve);
  CHECK(plot.work_items == std::vector{2, 4});
  CHECK(plot.harmonic_mean[1] == doctest::Approx(360.0));
  CHECK(plot.robust == std::vector{200.0, 300.0});
}

TEST_CASE("The least of a curve has the end that its runs allow in 95 of 100 bootstraps") {
  ThreadLatencyCurve curve;
  // The minimum of the curve is 400. A bootstrap sample of six runs misses the smallest run with
  // probability (5/6)^6 = 0.33, and the three smallest with 0.016. The end is the third smallest
  // run.
  curve.points = {{2, {405.0, 400.0, 410.0, 420.0, 430.0, 440.0}}};
  CHECK(high_end_of_least(curve) == 410.0);
  // A point with runs of 402 lowers the upper end of the minimum to 402.
  curve.points.push_back({4, {402.0, 402.0, 402.0, 500.0, 500.0, 500.0}});
  CHECK(high_end_of_least(curve) == 402.0);
  CHECK(high_end_of_least(ThreadLatencyCurve{}) == 0.0);
  // With nine runs the robust curve is the third smallest. A bootstrap sample exceeds the end if
  // at most two of its draws are within the end.
  curve.points = {{2, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}}};
  CHECK(high_end_of_least(curve) == 5.0);
}

TEST_CASE("Unique requests and load instructions are counted as patterns share lines") {
  const auto within = [](int n, int loads, int merger) {
    return unique_requests(n, {loads, merger, MergerMode::within, ""}, warp);
  };
  const auto across = [](int n, int loads, int merger) {
    return unique_requests(n, {loads, merger, MergerMode::across, ""}, warp);
  };
  CHECK(within(680, 2, 1) == 1360);
  CHECK(within(256, 1, 2) == 128);
  CHECK(within(258, 1, 2) == 129);
  CHECK(within(33, 1, 32) == 2);
  // In the program of Lashgar et al., lanes of neighbouring warps share lines.
  CHECK(across(256, 4, 8) == 128);
  CHECK(across(258, 4, 8) == 136);
  CHECK(across(200, 4, 8) == 128);
  CHECK(across(20, 1, 8) == 20);
  CHECK(load_instructions(680, {2, 1, MergerMode::within, ""}, warp) == 44);
  CHECK(load_instructions(454, {3, 1, MergerMode::within, ""}, warp) == 45);
}

TEST_CASE("M2070: the unique patterns alone leave a pool of 128 and a table of 4 open") {
  const OutstandingLimit limit = infer_limit(m2070_unique(), warp);
  CHECK(limit.kind == OutstandingKind::ambiguous);
  REQUIRE(limit.requests);
  CHECK(*limit.requests == CountRange{128, 129});
  REQUIRE(limit.instructions);
  CHECK(*limit.instructions == CountRange{4, 4});
  CHECK_FALSE(limit.mergers);
}

TEST_CASE("M2070: read as mergers within a warp, exactly 128 and nothing about merge lists") {
  const OutstandingLimit limit = infer_limit(m2070(MergerMode::within), warp);
  CHECK(limit.kind == OutstandingKind::request_pool);
  REQUIRE(limit.requests);
  CHECK(*limit.requests == CountRange{128, 128});
  CHECK_FALSE(limit.mergers);
}

TEST_CASE("K20: the spikes refute a table and fit a pool of 1362 or 1363") {
  const std::vector<CurveFinding> curves = k20();
  const OutstandingLimit limit = infer_limit(curves, warp);
  CHECK(limit.kind == OutstandingKind::request_pool);
  REQUIRE(limit.requests);
  CHECK(*limit.requests == CountRange{1362, 1363});
  bool is_said = false;
  for (const std::string& reason : limit.reasons) {
    is_said = is_said || mentions(reason, "A table of load instructions explains no jump");
  }
  CHECK(is_said);
}

TEST_CASE("K20: a table of 44 or 45 would have other spikes") {
  // A table of 44 instructions is full after 704 work-items with 2 loads each, or 448 work-items
  // with 3 loads each.
  const std::vector<CurveFinding> table44{spike_after(704, 2, 1, MergerMode::within),
                                          spike_after(448, 3, 1, MergerMode::within)};
  const OutstandingLimit limit = infer_limit(table44, warp);
  CHECK(limit.kind == OutstandingKind::request_table);
  REQUIRE(limit.instructions);
  CHECK(*limit.instructions == CountRange{44, 44});
}

TEST_CASE("Lists that are full behind as many sub-groups with any loads have that length") {
  // The curves with 2 and 4 sub-groups per line show the pool. With 8 sub-groups per line the pool
  // fills too late to make a spike.
  std::vector<CurveFinding> curves = m2070(MergerMode::within);
  curves.push_back(spike_after(256, 1, 2, MergerMode::across));
  curves.push_back(spike_after(256, 2, 4, MergerMode::across));
  curves.push_back(silent(2, 8, MergerMode::across));
  curves.push_back(spike_after(8 * warp, 2, 16, MergerMode::across));
  const auto mergers = [&] { return infer_limit(curves, warp).mergers; };
  // Curves with a single number of loads prove nothing: with separate entries for every 4
  // sub-groups, the pool would be full at the same spike.
  CHECK_FALSE(mergers());
  curves.push_back(spike_after(8 * warp, 3, 16, MergerMode::across));
  CHECK(mergers() == std::optional(8));
  // If curves with different numbers of loads disagree, the length of the merge list is unknown.
  curves.back() = spike_after(4 * warp, 3, 16, MergerMode::across);
  CHECK_FALSE(mergers());
}

TEST_CASE("Loads that wait for each other from the first on are no witnesses") {
  constexpr double latency = 400.0;
  std::vector<ThreadLatencyCurve> curves(2);
  curves[1].pattern.loads = 8;
  for (int n = 2; n <= 256; n += 2) {
    // The first curve shows a pool of 128 requests. In the second curve a scoreboard allows 4
    // loads in flight, so that 8 loads wait for each other.
    curves[0].points.push_back({n, {latency * (n > 128 ? 2.0 : 1.0) + 0.3 * n}});
    curves[1].points.push_back({n, {2.0 * latency * (n > 48 ? 2.0 : 1.0) + 2.4 * n}});
  }
  const std::vector<CurveFinding> found = find_spikes(curves, warp);
  CHECK(found[0].spike);
  CHECK_FALSE(found[1].spike);
  CHECK(mentions(found[1].reason, "wait for each other"));
  CHECK(found[1].waits);
}

TEST_CASE("Spikes of which no two agree are scatter, and say nothing of a limit") {
  const std::vector<CurveFinding> curves{spike_after(100, 1, 1, MergerMode::within),
                                         spike_after(300, 2, 1, MergerMode::within),
                                         spike_after(74, 3, 1, MergerMode::within)};
  const OutstandingLimit limit = infer_limit(curves, warp);
  CHECK(limit.kind == OutstandingKind::unobservable);
  CHECK(mentions(limit.reasons.front(), "clprobe treats the jumps as scatter"));
}

TEST_CASE("Spikes that agree on a limit and as many that do not are neither") {
  std::vector<CurveFinding> curves = m2070_unique();
  curves.push_back(spike_after(100, 3, 1, MergerMode::within));
  curves.push_back(spike_after(74, 4, 1, MergerMode::within));
  CHECK(infer_limit(curves, warp).kind == OutstandingKind::neither);
}

TEST_CASE("A jump that the curve falls by as well is scatter") {
  ThreadLatencyCurve curve;
  for (int n = 2; n <= 256; n += 2) {
    // Beyond 128 work-items the curve alternates: five points take one latency more, and the next
    // five do not.
    const bool is_slow = n > 128 && n / 10 % 2 == 1;
    const double cycles = 400.0 + 0.5 * n + (is_slow ? 400.0 : 0.0) + n % 3;
    curve.points.push_back({n, {cycles}});
  }
  CHECK_FALSE(find_spikes(std::vector{curve}, warp).front().spike);
}

TEST_CASE("Two slow points, behind which the curve goes on as before, are no limit") {
  // Minimum times of 8 loads per work-item from L2 of an NVIDIA H100, in cycles. In all six
  // launches with 54 and 56 work-items the cache had lost some of the lines.
  constexpr std::array<std::pair<int, double>, 56> times{
      {{2, 440},    {4, 453},    {6, 476},    {8, 487},    {10, 515},   {12, 537},   {14, 548},
       {16, 564},   {18, 591},   {20, 799},   {22, 630},   {24, 641},   {26, 667},   {28, 692},
       {30, 704},   {32, 713},   {34, 722},   {36, 738},   {38, 758},   {40, 771},   {42, 787},
       {44, 809},   {46, 824},   {48, 838},   {50, 854},   {52, 876},   {54, 1029},  {56, 1035},
       {58, 917},   {60, 939},   {62, 954},   {64, 974},   {72, 1028},  {80, 1099},  {88, 1158},
       {96, 1230},  {104, 1293}, {112, 1361}, {120, 1424}, {128, 1490}, {136, 1557}, {144, 1621},
       {152, 1685}, {160, 1751}, {168, 1814}, {176, 1874}, {184, 1940}, {192, 2010}, {200, 2072},
       {208, 2132}, {216, 2200}, {224, 2260}, {232, 2326}, {240, 2404}, {248, 2455}, {256, 2523}}};
  ThreadLatencyCurve curve;
  curve.pattern.loads = 8;
  curve.overhead_cycles = 103.0;
  for (const auto& [items, cycles] : times) curve.points.push_back({items, {cycles}});
  const CurveFinding found = find_spikes(std::vector{curve}, warp).front();
  CHECK_FALSE(found.spike);
  CHECK(found.cycles_per_request == doctest::Approx(1.02).epsilon(0.01));
}

TEST_CASE("Jumps that are too near to each other, or too high, are none of one limit") {
  constexpr double latency = 400.0;
  // Returns the finding of a curve that rises by one latency after each of `jumps`. The sweep has
  // steps of 2 work-items.
  const auto found = [&](const std::vector<int>& jumps) {
    ThreadLatencyCurve curve;
    for (int n = 2; n <= 256; n += 2) {
      double cycles = latency + 0.3 * n;
      for (const int jump : jumps) cycles += n > jump ? latency : 0.0;
      curve.points.push_back({n, {cycles}});
    }
    return find_spikes(std::vector{curve}, warp).front();
  };
  REQUIRE(found({128}).spike);
  CHECK(found({128}).spike == Gap{128, 130});
  REQUIRE(found({128, 192}).spike);
  CHECK(found({128, 192}).spike == Gap{128, 130});
  // Jumps that are three points apart look like a slope. Jumps that are four points apart are
  // distinguished.
  CHECK_FALSE(found({128, 134}).spike);
  CHECK(mentions(found({128, 134}).reason, "too close together"));
  CHECK(found({128, 136}).spike);
  // A rise by two latencies at one point counts as two jumps.
  CHECK_FALSE(found({128, 128}).spike);
  CHECK(mentions(found({128, 128}).reason, "several jumps coincide"));
}

TEST_CASE("Between a pool and a table that both hold, fewer exceptions decide") {
  // A pool of 1024 requests and a table of 32 instructions have equal spikes if all sub-groups are
  // full: 1024 = 32 x 32.
  std::vector<CurveFinding> curves;
  for (const char* const target : {"a", "b", "c"}) {
    for (const int loads : {1, 2, 4, 8}) {
      curves.push_back(spike_after(1024 / loads, loads, 1, MergerMode::within));
      curves.back().pattern.target = target;
    }
  }
  const auto add = [&](int work_items, int loads) {
    curves.push_back(spike_after(work_items, loads, 1, MergerMode::within));
    curves.back().pattern.target = "d";
  };
  CHECK(infer_limit(curves, warp).kind == OutstandingKind::ambiguous);
  add(600, 1);  // a spike that neither hypothesis explains
  CHECK(infer_limit(curves, warp).kind == OutstandingKind::ambiguous);
  // With 3 loads the pool is full after 341 work-items, in the middle of a sub-group. A table
  // cannot explain this spike, since no instruction is added there.
  add(340, 3);
  const OutstandingLimit found = infer_limit(curves, warp);
  CHECK(found.kind == OutstandingKind::request_pool);
  REQUIRE(found.requests.has_value());
  CHECK(found.requests->low == 1024);
}

/// Returns the curves of the two recorded runs in tests/curves/h200_inflight.csv.
std::array<std::vector<ThreadLatencyCurve>, 2> h200_curves() {
  std::array<std::vector<ThreadLatencyCurve>, 2> runs;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places;
  std::array<double, 2> overhead{};
  std::ifstream file(CLPROBE_GOLDEN_FOLDER "/../curves/h200_inflight.csv");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
    const std::size_t run = std::stoul(fields.at(0)) - 1;
    ThreadLatencyPoint point{std::stoi(fields.at(4)), {}};
    for (std::size_t i = 6; i < fields.size(); ++i) {
      point.runs_cycles.push_back(std::stod(fields[i]) / std::stod(fields.at(5)));
    }
    if (fields.at(1) == "overhead") {
      overhead.at(run) = *std::min_element(point.runs_cycles.begin(), point.runs_cycles.end());
      continue;
    }
    std::vector<ThreadLatencyCurve>& curves = runs.at(run);
    const auto [place, is_new] = places.try_emplace({run, fields[1]}, curves.size());
    const LoadPattern pattern{std::stoi(fields.at(2)), 1, MergerMode::within, fields.at(3)};
    if (is_new) curves.push_back({pattern, overhead.at(run), {}});
    curves[place->second].points.push_back(std::move(point));
  }
  return runs;
}

TEST_CASE("An H200 steps behind 128 work-items, whatever they load: its limit is unobservable") {
  for (const std::vector<ThreadLatencyCurve>& curves : h200_curves()) {
    REQUIRE(curves.size() == 10);
    const std::vector<CurveFinding> found = find_spikes(curves, warp);
    CHECK(found[1].spike);
    CHECK(found[2].spike);
    for (const CurveFinding& each : found) {
      if (!each.spike) continue;
      CHECK(each.spike->before <= 128);
      CHECK(each.spike->after > 128);
    }
    const OutstandingLimit limit = infer_limit(found, warp);
    CHECK(limit.kind == OutstandingKind::unobservable);
    CHECK(limit.min_requests >= 200);
  }
}

TEST_CASE("One spike alone is ambiguous, none is unobservable") {
  const std::vector<CurveFinding> one{spike_after(96, 1, 1, MergerMode::within)};
  const OutstandingLimit limit = infer_limit(one, warp);
  CHECK(limit.kind == OutstandingKind::ambiguous);
  CHECK(*limit.requests == CountRange{96, 97});
  CHECK(*limit.instructions == CountRange{3, 3});

  const std::vector<CurveFinding> none{silent(1, 1, MergerMode::within)};
  CHECK(infer_limit(none, warp).kind == OutstandingKind::unobservable);
  CHECK(infer_limit({}, warp).kind == OutstandingKind::unobservable);
  CHECK_THROWS_AS(infer_limit({}, 0), std::invalid_argument);
}

/// Returns a curve without a limit. Each request is issued `interval` cycles after the previous
/// one.
ThreadLatencyCurve unlimited(int loads, double latency, double interval) {
  ThreadLatencyCurve curve;
  curve.pattern.loads = loads;
  for (int n = 2; n <= 1024; n += 2) {
    const double cycles = latency + (loads * n - 1) * interval;
    curve.points.push_back({n, {cycles, cycles, cycles}});
  }
  return curve;
}

TEST_CASE("Without a jump there is a lower bound from latency and interval") {
  // Values of L2 on an H200: a latency of 280 cycles, and 1.02 cycles per line with 8 loads.
  const std::vector<ThreadLatencyCurve> curves{unlimited(1, 280.0, 1.02),
                                               unlimited(8, 280.0, 1.02)};
  const auto found = find_spikes(curves, warp);
  CHECK_FALSE(found[0].spike);
  CHECK_FALSE(found[1].spike);
  CHECK(found[1].cycles_per_request == doctest::Approx(1.02));
  const OutstandingLimit limit = infer_limit(found, warp);
  CHECK(limit.kind == OutstandingKind::unobservable);
  CHECK(limit.min_requests <= static_cast<int>(280.0 / 1.02));
  CHECK(limit.min_requests >= 260);
}

TEST_CASE("Overhead that is told does not raise the lower bound") {
  std::vector<ThreadLatencyCurve> curves{unlimited(8, 280.0, 1.02)};
  for (ThreadLatencyPoint& point : curves[0].points) {
    for (double& cycles : point.runs_cycles) cycles += 50.0;
  }
  curves[0].overhead_cycles = 50.0;
  const auto found = find_spikes(curves, warp);
  CHECK(found[0].latency_cycles == doctest::Approx(280.0 + 15 * 1.02));
  CHECK(found[0].min_requests <= static_cast<int>(280.0 / 1.02));
}

TEST_CASE("A full pool makes the time jump by what is left of the latency") {
  constexpr int capacity = 128;
  constexpr double latency = 570.0;
  constexpr double interval = 2.0;
  constexpr double jump = latency - capacity * interval;
  std::vector<ThreadLatencyCurve> curves;
  for (int loads = 1; loads <= 3; ++loads) {
    curves.push_back(unlimited(loads, latency, interval));
    for (ThreadLatencyPoint& point : curves.back().points) {
      const int requests = point.work_items * loads;
      const int full = (requests - 1) / capacity;
      for (double& cycles : point.runs_cycles) cycles += full * jump;
    }
  }
  const auto found = find_spikes(curves, warp);
  REQUIRE(found[0].spike);
  CHECK(found[0].spike == Gap{128, 130});
  REQUIRE(found[2].spike);
  CHECK(found[2].spike == Gap{42, 44});
  const OutstandingLimit limit = infer_limit(found, warp);
  CHECK(limit.kind == OutstandingKind::request_pool);
  CHECK(*limit.requests == CountRange{128, 129});
}

TEST_CASE("A pool that is full all the time bounds itself closely") {
  constexpr int capacity = 128;
  ThreadLatencyCurve curve = unlimited(4, 500.0, 1.0);
  for (ThreadLatencyPoint& point : curve.points) {
    const int full = (point.work_items * 4 - 1) / capacity;
    for (double& cycles : point.runs_cycles) cycles += full * (500.0 - capacity);
  }
  const auto found = find_spikes(std::vector{curve}, warp);
  CHECK(found[0].min_requests <= capacity);
  CHECK(found[0].min_requests >= 0.9 * capacity);
}

TEST_CASE("A jump to less than 2 latencies is no limit, and hides none behind it") {
  std::vector<ThreadLatencyCurve> curves{unlimited(1, 400.0, 0.5)};
  const auto raise = [&](int from, double step) {
    for (ThreadLatencyPoint& point : curves[0].points) {
      for (double& cycles : point.runs_cycles) cycles += point.work_items > from ? step : 0.0;
    }
  };
  raise(100, 100.0);
  auto found = find_spikes(curves, warp);
  CHECK_FALSE(found[0].spike);
  CHECK(mentions(found[0].reason, "twice the latency"));
  raise(300, 250.0);
  found = find_spikes(curves, warp);
  REQUIRE(found[0].spike);
  CHECK(found[0].spike == Gap{300, 302});
}

TEST_CASE("Too few points say so") {
  ThreadLatencyCurve curve;
  curve.points = {{2, {300.0}}, {4, {302.0}}};
  const auto found = find_spikes(std::vector{curve}, warp);
  CHECK_FALSE(found[0].spike);
  CHECK(found[0].reason == "fewer than 8 usable points");
  CHECK_THROWS_AS(find_spikes({}, -1), std::invalid_argument);
}

}  // namespace
}  // namespace clprobe::inflight
