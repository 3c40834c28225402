// SPDX-License-Identifier: Apache-2.0
// The probe `inflight` on simulated compute units, from its plan to its findings: presets and
// random machines, whose truth is known. CLPROBE_MACHINES=500 tries as many of the latter.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/inflight/shape.hpp"
#include "probes/inflight/simulated_runs_test.hpp"
#include "sample_once.hpp"

namespace clprobe {
namespace {

using simulator::Machine;
using simulator::PendingKind;

Request near_only(std::vector<int> loads = {}) {
  Request request;
  request.own.set("target", std::vector<std::string>{"cache"});
  request.own.set("loads", std::move(loads));
  return request;
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the M2070 has a pool of 128 requests that merge 8, by spikes and by two latencies") {
  const ProbeResult result = measured(simulator::preset("fermi-m2070"), {});
  CHECK(result.status == Status::ok);
  for (const Finding& each : result.findings) {
    CAPTURE(each.name);
    CHECK(each.value.has_value() == (each.low && each.high));
    const auto specs = find_probe("inflight")->findings;
    CHECK(std::any_of(specs.begin(), specs.end(), [&](const FindingSpec& of) {
      return of.name == each.name && (of.unit == each.unit || each.method == "plan");
    }));
  }
  CHECK(limit_of(result) == "MSHR");
  CHECK(holds(find(result, "requests"), 128));
  const Finding* const mergers = find(result, "mergers");
  REQUIRE(mergers != nullptr);
  CHECK(*mergers->low == 8);
  CHECK(*mergers->high == 8);
  CHECK(holds(find(result, "spike", "cache-x1"), 128));
  CHECK(holds(find(result, "spike", "cache-x2"), 64));
  REQUIRE(find(result, "bound_by") != nullptr);
  CHECK(find(result, "bound_by")->label == "capacity");
  CHECK(holds(find(result, "in_flight"), 128));
  const Finding* const device = find(result, "memory_parallelism", "device");
  REQUIRE(device != nullptr);
  CHECK(mentions(device->reason, "single compute unit"));
}

TEST_CASE("the pool of 32 of GSI is seen in memory, since its cache answers too soon") {
  // One sub-group's loads can fill the pool of 32, so that the jumps are within the first
  // sub-group.
  const ProbeResult result = measured(simulator::preset("gsi"), {});
  CHECK(limit_of(result) == "MSHR");
  const Finding* const requests = find(result, "requests");
  CHECK(holds(requests, 32));
  CHECK(*requests->high - *requests->low <= 1);
  CHECK(holds(find(result, "spike", "memory-x1"), 32));
  CHECK(holds(find(result, "spike", "memory-x3"), 10));
  CHECK(holds(find(result, "spike", "memory-x2-within-2"), 32));
  // The 33rd request needs an entry 32 cycles after the first request. In the cache the first line
  // has arrived by then, so that there is no spike.
  REQUIRE(find(result, "spike", "cache-x1") != nullptr);
  CHECK_FALSE(find(result, "spike", "cache-x1")->value);
  CHECK(*find(result, "requests_at_least")->value <= 32);
  CHECK(find(result, "loads_per_sub_group_at_least") != nullptr);
}

TEST_CASE("the scoreboard's limit is found beside the compute unit's") {
  Request cache;
  cache.own.set("target", std::vector<std::string>{"cache"});
  struct Limit {
    const char* preset;
    int loads;
  };
  for (const Limit& limit :
       {Limit{"fermi-m2070", 4}, Limit{"kepler-k20-pool", 3}, Limit{"kepler-k20-prt", 3}}) {
    CAPTURE(limit.preset);
    const ProbeResult result = measured(simulator::preset(limit.preset), cache);
    const Finding* const found = find(result, "loads_per_sub_group");
    REQUIRE(found != nullptr);
    CHECK(found->value == limit.loads);
    CHECK(found->low == limit.loads);
    CHECK(found->high == limit.loads);
    CHECK(find(result, "loads_per_sub_group_at_least") == nullptr);
  }
}

TEST_CASE("a scoreboard that is as deep as the table of the compute unit is not told from it") {
  Machine machine = simulator::preset("fermi-m2070");
  machine.core.pending_loads_per_warp = 0;
  machine.pending = {.kind = PendingKind::prt, .entries = 4, .mergers = 0};
  Request cache;
  cache.own.set("target", std::vector<std::string>{"cache"});
  const ProbeResult result = measured(machine, cache);
  const Finding* const found = find(result, "loads_per_sub_group");
  REQUIRE(found != nullptr);
  CHECK_FALSE(found->value);
  CHECK(mentions(found->reason, "The limit is possibly that of the compute unit"));
  CHECK(*find(result, "loads_per_sub_group_at_least")->value <= 4);
}

TEST_CASE("both readings of the K20 are told apart") {
  const ProbeResult pool = measured(simulator::preset("kepler-k20-pool"), near_only({1, 2, 3}));
  CHECK(limit_of(pool) == "MSHR");
  CHECK(holds(find(pool, "requests"), 1362));
  CHECK(holds(find(pool, "spike", "cache-x2"), 680));
  CHECK(holds(find(pool, "spike", "cache-x3"), 454));
  REQUIRE(find(pool, "spike", "cache-x1") != nullptr);
  CHECK_FALSE(find(pool, "spike", "cache-x1")->value);
  CHECK(find(pool, "spike", "cache-x1")->label == "none");
  const ProbeResult table = measured(simulator::preset("kepler-k20-prt"), near_only({2, 3, 4}));
  CHECK(limit_of(table) == "PRT");
  CHECK(holds(find(table, "instructions"), 44));
}

TEST_CASE("a fast pool that outlasts the latency is unobservable, with a bound below the truth") {
  const ProbeResult result = measured(simulator::preset("hopper-like"), near_only({1, 8}));
  CHECK(limit_of(result) == "unobservable");
  const Finding* const least = find(result, "requests_at_least");
  REQUIRE(least != nullptr);
  CHECK(*least->value <= 512);
  CHECK(*least->value >= 200);
}

Trial random_trial(Random& random) {
  Trial trial;
  Machine& machine = trial.machine;
  machine = simulator::preset("fermi-m2070");
  const bool is_table = random.uniform(0.0, 1.0) < 0.4;
  machine.core.pending_loads_per_warp = 0;
  machine.core.warp_width = random.one_of(std::vector<std::uint64_t>{16, 32, 64});
  machine.core.max_work_group_size = random.one_of(std::vector<std::uint64_t>{256, 512, 1024});
  machine.core.warp_contexts = machine.core.max_work_group_size / machine.core.warp_width;
  machine.load_store.lines_per_interval = random.one_of(std::vector<std::uint64_t>{1, 2, 4, 8});
  machine.l2.bytes_per_cycle = 128.0 * static_cast<double>(machine.load_store.lines_per_interval);
  const auto latency = static_cast<std::uint64_t>(random.uniform(200.0, 900.0));
  machine.l2.latency_cycles = {latency, latency};
  machine.l2.bytes = std::uint64_t{8} << 20U;
  machine.memory.latency_cycles = {latency + 300, latency + 300};
  machine.l1.bytes = std::uint64_t{1} << 20U;
  machine.pending.kind = is_table ? PendingKind::prt : PendingKind::mshr;
  const int entries =
      is_table ? random.whole_log_uniform(8, 128) : random.whole_log_uniform(16, 2048);
  machine.pending.entries = static_cast<std::uint64_t>(entries);
  machine.pending.mergers =
      is_table ? 0 : static_cast<std::uint64_t>(random.whole_log_uniform(1, 16));
  trial.noise = random.uniform(0.0, 1.0) < 0.2 ? 0.0 : random.uniform(0.0, 0.03);
  return trial;
}

/// Returns true if at least two patterns have a clear jump between the true times of neighbouring
/// points. The jump must exceed 15 % of the latency and 8 standard deviations. The jump must lie
/// after the first sub-group and at least 16 work-items before the maximum.
bool is_observable(const Trial& trial) {
  const Machine& machine = trial.machine;
  const auto warp = static_cast<int>(machine.core.warp_width);
  const auto most = static_cast<int>(machine.core.max_work_group_size);
  const bool is_table = machine.pending.kind == PendingKind::prt;
  const auto backend = simulated_backend(machine, 42);
  const auto cycles = [&](int loads, int items) {
    inflight::Shape shape;
    shape.pattern = {loads, 1, inflight::MergerMode::within, "cache"};
    shape.work_items = static_cast<std::uint64_t>(items);
    shape.sub_group = static_cast<std::uint64_t>(warp);
    shape.line_bytes = 128;
    shape.buffer_bytes = 4 << 20;
    Point point;
    point.series = "cache-x1";
    write_shape(shape, point);
    return static_cast<double>(
        *sample_once(backend->prepare(*find_probe("inflight"), point)).ticks);
  };
  int visible = 0;
  for (const int loads : {1, 2, 3, 4, 8}) {
    const auto entries = static_cast<int>(machine.pending.entries);
    const int fits = is_table ? entries / loads * warp : entries / loads / 2 * 2;
    if (fits <= warp + 1 || fits + 16 > most) continue;
    const double slope = cycles(loads, fits) - cycles(loads, fits - 2);
    const double after = cycles(loads, fits + 2);
    const double jump = after - cycles(loads, fits) - std::max(0.0, slope);
    const double sigma = 0.75 * trial.noise * after;
    const double latency = static_cast<double>(machine.l2.latency_cycles.low);
    if (jump > std::max(0.15 * latency, 8.0 * 1.4142 * sigma)) ++visible;
  }
  return visible >= 2;
}

struct Tally {
  int machines{0};
  int observable{0};
  int right{0};
  int ambiguous{0};
  int unobserved{0};       ///< not observable, and the probe reports no wrong limit
  int bounds_too_high{0};  ///< bounds of all machines above the true limit
};

/// Returns the resolution of the limit that one step of work-items gives: 2 instructions for a
/// table, or 16 requests for a pool.
double step_of(const Machine& machine) {
  return machine.pending.kind == PendingKind::prt ? 2.0 : 16.0;
}

void judge(const Trial& trial, const ProbeResult& result, Tally& tally) {
  const auto truth = static_cast<double>(trial.machine.pending.entries);
  const bool is_table = trial.machine.pending.kind == PendingKind::prt;
  const std::string kind = limit_of(result);
  const Finding* const range = find(result, is_table ? "instructions" : "requests");
  const bool is_within = holds(range, truth, step_of(trial.machine));
  const bool is_right = kind == (is_table ? "PRT" : "MSHR") && is_within;
  const bool is_ambiguous = kind == "ambiguous" && is_within;
  ++tally.machines;
  // Little's law gives a bound of requests. Each instruction of a table has at most one request
  // per lane of a sub-group.
  const double max_requests =
      is_table ? truth * static_cast<double>(trial.machine.core.warp_width) : truth;
  const Finding* const least = find(result, "requests_at_least");
  const bool is_too_high = least != nullptr && *least->value > max_requests;
  if (is_too_high) ++tally.bounds_too_high;
  const bool claims = kind == "MSHR" || kind == "PRT";
  if (is_observable(trial)) {
    ++tally.observable;
    if (is_right) ++tally.right;
    if (is_ambiguous) ++tally.ambiguous;
    if (is_right || is_ambiguous) return;
  } else if (!claims || is_right) {
    ++tally.unobserved;
    return;
  }
  MESSAGE(kind << " instead of " << (is_table ? "PRT " : "MSHR ") << truth << ", mergers "
               << trial.machine.pending.mergers << ", warp " << trial.machine.core.warp_width
               << ", items " << trial.machine.core.max_work_group_size << ", latency "
               << trial.machine.l2.latency_cycles.low << ", lines "
               << trial.machine.load_store.lines_per_interval << ", noise " << trial.noise
               << (is_observable(trial) ? "" : ", not observable"));
}

TEST_CASE("random machines come out as what they are") {
  const int count = machines_to_try(4);
  Random random(20261121);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Trial trial = random_trial(random);
    const auto seed = static_cast<std::uint64_t>(i + 1);
    judge(trial, measured(trial.machine, near_only(), trial.noise, seed), tally);
  }
  MESSAGE(tally.machines << " machines: " << tally.observable << " observable, of these "
                         << tally.right << " right and " << tally.ambiguous << " ambiguous; "
                         << tally.unobserved << " others without a wrong limit; "
                         << tally.bounds_too_high << " bounds above the truth");
  CHECK(tally.observable > 0);
  CHECK(100 * tally.right >= 97 * tally.observable);
  CHECK(tally.unobserved == tally.machines - tally.observable);
  CHECK(tally.bounds_too_high == 0);
}

}  // namespace
}  // namespace clprobe
