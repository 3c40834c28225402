// SPDX-License-Identifier: Apache-2.0
// The probe `inflight` on simulated machines with small pools, latencies that differ from line to
// line, and scoreboards. CLPROBE_MACHINES=500 tries as many.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "probes/inflight/simulated_runs_test.hpp"

namespace clprobe {
namespace {

using simulator::Machine;

/// Returns a random machine with a small pool, scattered latencies and, in most trials, a
/// scoreboard.
Trial scattered_trial(Random& random) {
  Trial trial;
  Machine& machine = trial.machine;
  machine = simulator::preset("gsi");
  machine.core.max_work_group_size = 256;
  machine.memory.bytes_per_cycle = static_cast<double>(machine.l1.line_bytes);  // one line per
                                                                                // cycle
  machine.pending.entries = static_cast<std::uint64_t>(random.whole_log_uniform(12, 160));
  const double latency = random.uniform(200.0, 800.0);
  const double spread = random.uniform(0.0, 0.15);
  machine.memory.latency_cycles = {static_cast<std::uint64_t>(latency * (1.0 - spread)),
                                   static_cast<std::uint64_t>(latency * (1.0 + spread))};
  machine.core.pending_loads_per_warp = random.one_of(std::vector<std::uint64_t>{0, 2, 3, 4, 5, 6});
  trial.noise = random.uniform(0.0, 1.0) < 0.3 ? 0.0 : random.uniform(0.0, 0.01);
  return trial;
}

/// Returns true if the pool is full before half of a latency has passed, so that the first jump is
/// at least half a latency.
bool is_clear(const Machine& machine) {
  const auto entries = static_cast<double>(machine.pending.entries);
  return entries < 0.5 * static_cast<double>(machine.memory.latency_cycles.low);
}

struct ScatterTally {
  int clear{0};
  int right{0};
  int scoreboards{0};
  int boards_found{0};
  int wrong{0};
};

void judge(const Trial& trial, const ProbeResult& result, ScatterTally& tally) {
  const Machine& machine = trial.machine;
  const auto entries = static_cast<double>(machine.pending.entries);
  const std::uint64_t depth = machine.core.pending_loads_per_warp;
  const std::string kind = limit_of(result);
  const bool is_right = kind == "MSHR" && holds(find(result, "requests"), entries, 4.0);
  const Finding* const loads = find(result, "loads_per_sub_group");
  const Finding* const at_least = find(result, "loads_per_sub_group_at_least");
  const bool has_loads = loads != nullptr && loads->value;
  const bool is_exact = has_loads && *loads->low == static_cast<double>(depth) &&
                        *loads->high == static_cast<double>(depth);
  const bool is_above =
      at_least != nullptr && depth > 0 && *at_least->value > static_cast<double>(depth);
  const bool is_wrong =
      (!is_right && (kind == "MSHR" || kind == "PRT")) || (has_loads && !is_exact) || is_above;
  if (is_clear(machine)) {
    ++tally.clear;
    if (is_right) ++tally.right;
  }
  if (depth > 0) ++tally.scoreboards;
  if (depth > 0 && is_exact) ++tally.boards_found;
  if (is_wrong) ++tally.wrong;
  if (!is_wrong && is_right) return;
  MESSAGE(kind << " for " << entries << " entries, latency " << machine.memory.latency_cycles.low
               << " to " << machine.memory.latency_cycles.high << ", scoreboard " << depth
               << ", found " << (has_loads ? *loads->low : -1.0) << ", at least "
               << (at_least == nullptr ? -1.0 : *at_least->value) << ", noise " << trial.noise
               << (is_wrong ? ": WRONG" : "") << (is_clear(machine) ? "" : ", not clear"));
}

TEST_CASE("small pools and scoreboards come out right where latencies scatter, or not at all") {
  const int count = machines_to_try(6);
  Random random(20261123);
  ScatterTally tally;
  Request request;
  request.own.set("target", std::vector<std::string>{"memory"});
  for (int i = 0; i < count; ++i) {
    const Trial trial = scattered_trial(random);
    judge(trial, measured(trial.machine, request, trial.noise, static_cast<std::uint64_t>(i + 1)),
          tally);
  }
  MESSAGE(count << " machines: " << tally.clear << " clear, of these " << tally.right << " right; "
                << tally.scoreboards << " scoreboards, of these " << tally.boards_found
                << " found; " << tally.wrong << " wrong");
  CHECK(tally.clear > 0);
  CHECK(100 * tally.right >= 90 * tally.clear);
  CHECK(100 * tally.boards_found >= 80 * tally.scoreboards);
  CHECK(tally.wrong == 0);
}

}  // namespace
}  // namespace clprobe
