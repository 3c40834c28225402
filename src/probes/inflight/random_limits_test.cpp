// SPDX-License-Identifier: Apache-2.0
// Limits of random machines whose truth is known: a small event model of one compute unit, which
// shares no code with the inference nor with the simulator. Seeded: every run sees the same ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "probes/inflight/thread_latency.hpp"
#include "random.hpp"
#include "rounds.hpp"

namespace clprobe::inflight {
namespace {

struct Machine {
  bool is_pool{true};
  int capacity{128};  ///< requests in a pool, or load instructions in a table
  int merges{8};      ///< maximum loads of the same line in an entry of a pool
  int warp{32};
  int max_items{1024};
  double latency{400.0};
  double interval{1.0};         ///< time between two requests
  double merged_interval{0.0};  ///< time for a request that is merged into another request
  double instruction{0.0};      ///< additional issue time of a load instruction
  double overhead{0.0};
  double noise{0.0};             ///< standard deviation of a run, relative to its time
  bool only_slower{false};       ///< noise only lengthens runs
  double disturbed{0.0};         ///< share of the runs that take up to 3 times as long
  bool all_warps_first{true};    ///< all warps issue load 1, then load 2; false: warp by warp
  bool is_full_list_new{false};  ///< a full list takes a new entry; false: the request waits
};

Machine random_machine(Random& random) {
  Machine machine;
  machine.is_pool = random.chance(0.6);
  machine.capacity =
      machine.is_pool ? random.whole_log_uniform(16, 2048) : random.whole_log_uniform(8, 128);
  machine.merges = random.whole_log_uniform(1, 16);
  machine.warp = random.one_of(std::array{16, 32, 64});
  machine.max_items = random.one_of(std::array{256, 512, 1024});
  machine.latency = random.uniform(200.0, 900.0);
  machine.interval = random.chance(0.5) ? random.uniform(0.1, 1.0) : random.uniform(1.0, 4.0);
  if (random.chance(0.4)) machine.merged_interval = machine.interval;
  if (random.chance(0.5)) machine.instruction = random.uniform(0.0, 6.0);
  machine.overhead = random.uniform(0.0, 60.0);
  machine.noise = random.chance(0.2) ? 0.0 : random.uniform(0.0, 0.03);
  machine.only_slower = random.chance(0.3);
  if (random.chance(0.3)) machine.disturbed = random.uniform(0.0, 0.03);
  machine.all_warps_first = random.chance(0.2);
  machine.is_full_list_new = random.chance(0.5);
  return machine;
}

/// Load instruction of a warp: its warp, the number of the load and the number of active lanes.
struct Instruction {
  int warp{0};
  int load{0};
  int lanes{0};
};

struct Line {
  double arrives{0.0};
  int holders{0};
};

/// Pool with in-order issue: a request that finds the pool full delays all later requests.
class Pool {
 public:
  Pool(const Machine& machine, const LoadPattern& pattern)
      : machine_(machine),
        pattern_(pattern),
        lines_(static_cast<std::size_t>((machine.max_items + machine.warp) * pattern.loads)) {}

  void issue(const Instruction& instruction) {
    const bool is_across = pattern_.mode == MergerMode::across;
    const int shared = is_across ? 1 : pattern_.merger;
    if (!arrivals_.empty()) now_ += machine_.instruction;
    for (int lane = 0; lane < instruction.lanes; lane += shared) {
      const std::size_t line = row_of(instruction) + static_cast<std::size_t>(lane / shared);
      request(lines_[line]);
    }
  }
  [[nodiscard]] double end() const { return arrivals_.back(); }

  /// State of the pool before a warp's requests: the time, the number of requests and the lines of
  /// the warp. `restore` returns to this state.
  struct State {
    double now{0.0};
    std::size_t requests{0};
    std::vector<Line> rows{};
  };
  [[nodiscard]] State save(int warp) const {
    const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(row_of({warp, 0, 0}));
    return {
        now_, arrivals_.size(), {begin, begin + std::ptrdiff_t{pattern_.loads} * machine_.warp}};
  }
  void restore(int warp, const State& state) {
    now_ = state.now;
    arrivals_.resize(state.requests);
    std::copy(state.rows.begin(), state.rows.end(),
              lines_.begin() + static_cast<std::ptrdiff_t>(row_of({warp, 0, 0})));
  }

 private:
  [[nodiscard]] std::size_t row_of(const Instruction& instruction) const {
    const bool is_across = pattern_.mode == MergerMode::across;
    const int row = is_across ? instruction.warp / pattern_.merger : instruction.warp;
    const int first = (row * pattern_.loads + instruction.load) * machine_.warp;
    return static_cast<std::size_t>(first);
  }

  void request(Line& line) {
    bool is_merged = line.holders > 0 && line.arrives > now_;
    if (is_merged && line.holders >= machine_.merges) {
      is_merged = false;
      if (!machine_.is_full_list_new) now_ = line.arrives;
    }
    const bool is_cached = line.holders > 0 && line.arrives <= now_;
    if (is_merged || is_cached) {
      if (is_merged) ++line.holders;
      now_ += machine_.merged_interval;
      return;
    }
    if (!arrivals_.empty()) now_ += machine_.interval;
    const auto capacity = static_cast<std::size_t>(machine_.capacity);
    if (arrivals_.size() >= capacity) {
      now_ = std::max(now_, arrivals_[arrivals_.size() - capacity]);
    }
    line = {now_ + machine_.latency, 1};
    arrivals_.push_back(line.arrives);
  }

  const Machine& machine_;
  const LoadPattern& pattern_;
  std::vector<Line> lines_;
  std::vector<double> arrivals_{};  // in ascending order, since requests are issued in order
  double now_{0.0};
};

std::vector<Instruction> instructions_of(const Machine& machine, int loads, int items) {
  std::vector<Instruction> all;
  const int warps = (items + machine.warp - 1) / machine.warp;
  for (int k = 0; k < warps * loads; ++k) {
    const int warp = machine.all_warps_first ? k % warps : k / loads;
    const int load = machine.all_warps_first ? k / warps : k % loads;
    all.push_back({warp, load, std::min(machine.warp, items - warp * machine.warp)});
  }
  return all;
}

/// Returns the time of a work-group with a table of instructions. An entry becomes free when the
/// last request of its instruction has arrived. The table does not merge requests.
double table_time(const Machine& machine, const LoadPattern& pattern, int items) {
  std::vector<double> done;
  double now = 0.0;
  for (const Instruction& instruction : instructions_of(machine, pattern.loads, items)) {
    const auto capacity = static_cast<std::size_t>(machine.capacity);
    if (!done.empty()) now += machine.instruction + machine.interval;
    if (done.size() >= capacity) now = std::max(now, done[done.size() - capacity]);
    const int shared = pattern.mode == MergerMode::across ? 1 : pattern.merger;
    const int requests = (instruction.lanes + shared - 1) / shared;
    now += (requests - 1) * machine.interval;
    done.push_back(now + machine.latency);
  }
  return done.back();
}

struct TruePoint {
  int items{0};
  double cycles{0.0};
};

/// Returns the true curve of a pool, computed warp by warp. Points of the curve with equal numbers
/// of full warps share the work of these warps.
std::vector<TruePoint> pool_curve_by_warps(const Machine& machine, const LoadPattern& pattern) {
  std::vector<TruePoint> curve;
  Pool pool(machine, pattern);
  for (int warp = 0; warp * machine.warp < machine.max_items; ++warp) {
    const Pool::State before = pool.save(warp);
    for (int lanes = 2; lanes <= machine.warp; lanes += 2) {
      pool.restore(warp, before);
      for (int load = 0; load < pattern.loads; ++load) pool.issue({warp, load, lanes});
      curve.push_back({warp * machine.warp + lanes, pool.end()});
    }
  }
  return curve;
}

std::vector<TruePoint> true_curve(const Machine& machine, const LoadPattern& pattern) {
  const bool is_by_warps = !machine.all_warps_first || pattern.loads == 1;
  if (machine.is_pool && is_by_warps) return pool_curve_by_warps(machine, pattern);
  std::vector<TruePoint> curve;
  for (int n = 2; n <= machine.max_items; n += 2) {
    if (!machine.is_pool) {
      curve.push_back({n, table_time(machine, pattern, n)});
      continue;
    }
    Pool pool(machine, pattern);
    for (const Instruction& each : instructions_of(machine, pattern.loads, n)) pool.issue(each);
    curve.push_back({n, pool.end()});
  }
  return curve;
}

ThreadLatencyCurve measure(const Machine& machine, const LoadPattern& pattern,
                           const std::vector<TruePoint>& truth, Random& random) {
  ThreadLatencyCurve curve;
  curve.pattern = pattern;
  curve.overhead_cycles = machine.overhead;
  for (const TruePoint& point : truth) {
    ThreadLatencyPoint measured{point.items, {}};
    for (int run = 0; run < 3; ++run) {
      const double error = machine.noise * random.normal();
      double factor = 1.0 + (machine.only_slower ? std::abs(error) : error);
      if (random.chance(machine.disturbed)) factor *= random.uniform(1.0, 3.0);
      measured.runs_cycles.push_back(std::round(point.cycles * factor + machine.overhead));
    }
    curve.points.push_back(measured);
  }
  return curve;
}

/// Returns the last number of work-items whose requests fit the limit, from the definition of the
/// limit. The first jump of a curve without merge lists follows this number.
int last_that_fits(const Machine& machine, const LoadPattern& pattern) {
  int fits = 0;
  for (int n = 2; n <= machine.max_items; n += 2) {
    const int warps = (n + machine.warp - 1) / machine.warp;
    int asked = pattern.loads * warps;
    if (machine.is_pool) {
      asked = 0;
      for (int w = 0; w < warps; ++w) {
        const int lanes = std::min(machine.warp, n - w * machine.warp);
        asked += pattern.loads * ((lanes + pattern.merger - 1) / pattern.merger);
      }
    }
    if (asked <= machine.capacity) fits = n;
  }
  return fits;
}

/// Returns true if the jump after `fits` is visible as defined in measurement.md 3(d).3. The jump
/// must exceed 15 % of the latency and 8 standard deviations of the difference of two points. The
/// jump must lie after the first warp and at least 16 work-items before the end of the curve.
bool is_visible(const Machine& machine, const std::vector<TruePoint>& truth, int fits) {
  if (fits <= machine.warp + 1 || fits + 16 > machine.max_items) return false;
  const auto i = static_cast<std::size_t>(fits / 2 - 1);
  const double slope = truth[i].cycles - truth[i - 1].cycles;
  const double jump = truth[i + 1].cycles - truth[i].cycles - slope;
  // Standard deviation of the minimum of three runs, relative to that of one run: 0.748 for normal
  // noise, 0.49 for its absolute value.
  const double sigma = machine.noise * (machine.only_slower ? 0.49 : 0.748) * truth[i].cycles;
  return jump > std::max(0.15 * truth.front().cycles, 8.0 * 1.4142 * sigma);
}

struct Trial {
  Machine machine{};
  int visible{0};
  bool is_telling{false};  ///< the visible spikes exclude the other kind of limit
  /// Smallest step of a visible curve, or of any curve if none is visible. The unit is that of the
  /// capacity: requests or instructions.
  int step{8};
  OutstandingLimit limit{};
};

/// Ranges of capacities that the positions of the true spikes allow, for both kinds of limits.
struct Open {
  bool any{false};
  CountRange requests{0, 1 << 20};
  CountRange instructions{0, 1 << 20};

  void narrow(const LoadPattern& pattern, int warp, int fits) {
    any = true;
    const auto warps = [&](int n) { return (n + warp - 1) / warp; };
    const auto lines = [&](int n) {
      int sum = 0;
      for (int w = 0; w < warps(n); ++w) {
        sum += (std::min(warp, n - w * warp) + pattern.merger - 1) / pattern.merger;
      }
      return sum * pattern.loads;
    };
    cut(requests, lines(fits), lines(fits + 2) - 1);
    cut(instructions, warps(fits) * pattern.loads, warps(fits + 2) * pattern.loads - 1);
  }
  static void cut(CountRange& range, int low, int high) {
    range.low = std::max<std::int64_t>(range.low, low);
    range.high = std::min<std::int64_t>(range.high, high);
  }
};

/// Patterns of the curves that are measured on each machine.
struct Patterns {
  int max_items{1024};
  std::vector<int> loads{};
  std::vector<std::pair<int, MergerMode>> mergers{};
};

Trial run_trial(const Machine& machine, const Patterns& patterns, Random& random) {
  Trial trial;
  trial.machine = machine;
  Open open;
  std::vector<ThreadLatencyCurve> curves;
  for (const int loads : patterns.loads) {
    for (const auto& [merger, mode] : patterns.mergers) {
      const LoadPattern pattern{loads, merger, mode, "memory"};
      const std::vector<TruePoint> truth = true_curve(machine, pattern);
      curves.push_back(measure(machine, pattern, truth, random));
      if (mode == MergerMode::across) continue;
      const int fits = last_that_fits(machine, pattern);
      if (!is_visible(machine, truth, fits)) continue;
      ++trial.visible;
      open.narrow(pattern, machine.warp, fits);
      const int step = machine.is_pool ? loads * std::max(1, 2 / merger) : loads;
      trial.step = std::min(trial.step, step);
    }
  }
  const bool pool_is_left = open.any && open.requests.low <= open.requests.high;
  const bool table_is_left = open.any && open.instructions.low <= open.instructions.high;
  trial.is_telling = trial.visible >= 2 && pool_is_left != table_is_left;
  trial.limit = infer_limit(find_spikes(curves, machine.warp), machine.warp);
  return trial;
}

bool is_right_kind(const Trial& trial) {
  return trial.limit.kind ==
         (trial.machine.is_pool ? OutstandingKind::request_pool : OutstandingKind::request_table);
}

/// Returns true if the range contains the true capacity, with a tolerance of one step, and is
/// narrower than two steps.
bool is_capacity_right(const Trial& trial) {
  const auto& range = trial.machine.is_pool ? trial.limit.requests : trial.limit.instructions;
  if (!range) return false;
  return range->low - trial.step <= trial.machine.capacity &&
         trial.machine.capacity <= range->high + trial.step &&
         range->high - range->low < std::int64_t{2} * trial.step;
}

bool is_bound_kept(const Trial& trial) {
  const Machine& machine = trial.machine;
  // Each instruction of a table has at most one request per lane.
  const int max_requests = machine.is_pool ? machine.capacity : machine.capacity * machine.warp;
  if (trial.limit.min_requests > max_requests) return false;
  return machine.is_pool || trial.limit.min_instructions <= machine.capacity;
}

struct Tally {
  int telling{0};  ///< at least 2 visible spikes, which exclude the other kind of limit
  int telling_right{0};
  int telling_wrong{0};  ///< the probe reports the other kind or another capacity
  int open{0};           ///< visible spikes that do not exclude the other kind
  int open_right{0};
  int open_wrong{0};
  int hidden{0};  ///< no visible spike
  int hidden_unobservable{0};
  int hidden_right{0};  ///< the probe finds the limit although no spike counts as visible
  int hidden_open{0};   ///< the probe reports the true capacity, but leaves the kind open
  int hidden_wrong{0};
  int bounds_broken{0};
};

std::string describe(const Trial& trial, int index) {
  const Machine& machine = trial.machine;
  std::ostringstream text;
  text << "machine " << index << (machine.is_pool ? ": pool of " : ": table of ")
       << machine.capacity << ", " << machine.merges << " merges, warp " << machine.warp
       << ", latency " << machine.latency << ", interval " << machine.interval << ", noise "
       << machine.noise << ", " << trial.visible << " visible: " << to_word(trial.limit.kind)
       << ", at least " << trial.limit.min_requests;
  for (const std::string& reason : trial.limit.reasons) text << "\n  " << reason;
  return text.str();
}

void count(const Trial& trial, int index, Tally& tally) {
  const bool is_right = is_right_kind(trial) && is_capacity_right(trial);
  const bool is_wrong = !is_right && (trial.limit.kind == OutstandingKind::request_pool ||
                                      trial.limit.kind == OutstandingKind::request_table);
  const bool is_kept = is_bound_kept(trial);
  if (!is_kept) ++tally.bounds_broken;
  if (trial.is_telling) {
    ++tally.telling;
    tally.telling_right += is_right ? 1 : 0;
    tally.telling_wrong += is_wrong ? 1 : 0;
  } else if (trial.visible > 0) {
    ++tally.open;
    tally.open_right += is_right ? 1 : 0;
    tally.open_wrong += is_wrong ? 1 : 0;
  } else {
    ++tally.hidden;
    tally.hidden_unobservable += trial.limit.kind == OutstandingKind::unobservable ? 1 : 0;
    tally.hidden_right += is_right ? 1 : 0;
    const bool is_open = trial.limit.kind == OutstandingKind::ambiguous;
    tally.hidden_open += is_open && is_capacity_right(trial) ? 1 : 0;
    tally.hidden_wrong += is_wrong ? 1 : 0;
  }
  const bool is_missed = trial.is_telling && !is_right;
  if (is_wrong || is_missed || !is_kept) MESSAGE(describe(trial, index));
}

void check_machines(int machines, const Patterns& patterns) {
  Tally tally;
  for (int i = 0; i < machines; ++i) {
    // Each machine has its own seed, so that a single machine can be examined.
    Random random(20150601U + 1000003U * static_cast<std::uint64_t>(i));
    Machine machine = random_machine(random);
    machine.max_items = std::min(machine.max_items, patterns.max_items);
    count(run_trial(machine, patterns, random), i, tally);
  }
  MESSAGE("of " << machines << " machines: " << tally.telling << " with telling spikes, "
                << tally.telling_right << " right, " << tally.telling_wrong << " wrong; "
                << tally.open << " with spikes that do not tell, " << tally.open_right << " right, "
                << tally.open_wrong << " wrong; " << tally.hidden << " without, "
                << tally.hidden_unobservable << " unobservable, " << tally.hidden_right
                << " right, " << tally.hidden_open << " left open, " << tally.hidden_wrong
                << " wrong; " << tally.bounds_broken << " bounds above the truth");
  CHECK(tally.telling >= machines / 2);
  CHECK(tally.hidden >= machines / 10);
  CHECK(tally.telling_right >= 0.97 * tally.telling);
  CHECK(tally.hidden_unobservable + tally.hidden_right + tally.hidden_open == tally.hidden);
  CHECK(tally.telling_wrong + tally.open_wrong + tally.hidden_wrong == 0);
  CHECK(tally.bounds_broken == 0);
}

TEST_CASE("Random machines: kind and capacity where they show, a lower bound always") {
  check_machines(rounds(500), {512,
                               {1, 3},
                               {{1, MergerMode::within},
                                {4, MergerMode::within},
                                {16, MergerMode::within},
                                {4, MergerMode::across}}});
}

/// Returns the time of one run in which every request has its own latency. The entry of the first
/// answer becomes free first.
double varied_time(int requests, int capacity, double latency, double spread, double interval,
                   Random& random) {
  std::priority_queue<double, std::vector<double>, std::greater<>> arrivals;
  double now = 0.0;
  for (int i = 0; i < requests; ++i) {
    if (i > 0) now += interval;
    if (arrivals.size() >= static_cast<std::size_t>(capacity)) {
      now = std::max(now, arrivals.top());
      arrivals.pop();
    }
    arrivals.push(now + latency * random.uniform(1.0 - spread, 1.0 + spread));
  }
  // Only the earliest answers were removed, so that the queue still contains the last answer.
  while (arrivals.size() > 1) arrivals.pop();
  return arrivals.top();
}

TEST_CASE("Latencies of a range: a pool is found, and the bound is kept") {
  Random random(11);
  constexpr int machines = 20;
  constexpr int warp = 32;
  int right = 0;
  for (int i = 0; i < machines; ++i) {
    const int capacity = random.whole_log_uniform(40, 120);
    const double latency = random.uniform(200.0, 900.0);
    const double spread = random.uniform(0.0, 0.12);
    const double interval = random.uniform(0.1, 0.4) * latency / capacity;
    std::vector<ThreadLatencyCurve> curves;
    for (const LoadPattern& pattern :
         {LoadPattern{1, 1, MergerMode::within, ""}, LoadPattern{1, 2, MergerMode::within, ""},
          LoadPattern{3, 4, MergerMode::within, ""}}) {
      ThreadLatencyCurve curve{pattern, 0.0, {}};
      for (int n = 2; n <= 256; n += 2) {
        ThreadLatencyPoint point{n, {}};
        const int requests = pattern.loads * ((n + pattern.merger - 1) / pattern.merger);
        for (int run = 0; run < 3; ++run) {
          point.runs_cycles.push_back(
              varied_time(requests, capacity, latency, spread, interval, random));
        }
        curve.points.push_back(point);
      }
      curves.push_back(curve);
    }
    const OutstandingLimit limit = infer_limit(find_spikes(curves, warp), warp);
    CHECK(limit.min_requests <= capacity);
    CHECK(limit.kind != OutstandingKind::request_table);
    if (limit.kind == OutstandingKind::request_pool && limit.requests->low - 3 <= capacity &&
        capacity <= limit.requests->high + 3) {
      ++right;
    }
  }
  MESSAGE(right << " of " << machines << " right");
  CHECK(right >= 0.9 * machines);
}

// This test takes a minute. To run it: outstanding_property_test --no-skip
TEST_CASE("More random machines, with all patterns" * doctest::skip()) {
  check_machines(2000, {1024,
                        {1, 2, 3, 4},
                        {{1, MergerMode::within},
                         {2, MergerMode::within},
                         {8, MergerMode::within},
                         {16, MergerMode::within},
                         {2, MergerMode::across},
                         {8, MergerMode::across},
                         {32, MergerMode::across}}});
}

}  // namespace
}  // namespace clprobe::inflight
