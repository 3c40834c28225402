// SPDX-License-Identifier: Apache-2.0
// Compute units in several threads: the same to the cycle as in one, whatever the threads' speeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "clprobe/free_cores.hpp"
#include "clprobe/simulator.hpp"
#include "simulator/gate.hpp"
#include "simulator/grid.hpp"
#include "simulator/pace.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t enough_cycles = 10000000;

/// All that the observer of a unit is told, in order.
struct Told {
  std::uint64_t first{0};
  std::uint64_t cycles{0};
  std::uint32_t issued{0};
  std::uint64_t load{0};
  Level level{Level::l1};
  Busy busy{};
  std::vector<WarpState> warps{};

  friend bool operator==(const Told&, const Told&) = default;
};

struct Run {
  std::vector<Result> results{};
  std::vector<std::vector<Told>> told{};
  std::string fault{};

  friend bool operator==(const Run&, const Run&) = default;
};

/// A stretch of cycles and in how many threads.
struct Part {
  std::uint64_t end{0};
  std::size_t threads{1};
  bool is_patient{true};
};

/// Runs the parts, then to the end in `threads`.
Run run(const Machine& machine, const Trace& trace, std::size_t units, const Options& options,
        std::size_t threads, std::initializer_list<Part> parts = {}) {
  Run run;
  run.told.resize(units);
  std::vector<Observer> observers(units);
  std::vector<const Observer*> given;
  for (std::size_t unit = 0; unit < units; ++unit) {
    std::vector<Told>& told = run.told[unit];
    observers[unit].cycles = [&told](const CycleState& state) {
      told.push_back({.first = state.first,
                      .cycles = state.cycles,
                      .issued = state.issued,
                      .busy = state.busy,
                      .warps = {state.warps.begin(), state.warps.end()}});
    };
    observers[unit].served = [&told](std::uint64_t load, Level level) {
      told.push_back({.load = load, .level = level});
    };
    given.push_back(&observers[unit]);
  }
  Grid grid(machine, trace, units, options, given);
  try {
    for (const Part& part : parts) {
      using Time = Progress::Clock::time_point;
      grid.run_until(part.end, part.threads, part.is_patient ? Time::max() : Time::min());
    }
    grid.run_until(options.max_cycles + 1, threads);
    run.results = grid.run();
  } catch (const Deadlock& deadlock) {
    run.fault = deadlock.what();
    run.told.clear();  // what came behind it in time may have been told or not
  }
  return run;
}

Options limited() { return {.max_cycles = enough_cycles}; }

/// What units share is contended: banks, a small second level, shared locks, groups to share out.
void share_more(Random& random, Machine& machine, Trace& trace) {
  machine.sharing.coherence = random.chance(0.9) ? Coherence::gpu : Coherence::ownership;
  machine.l2_banks.count = random.below(3);
  machine.synchronization.owns_atomics = random.chance(0.3);
  trace.locks[0].is_shared = random.chance(0.5);
  while (trace.groups.size() < 7) trace.groups.push_back(trace.groups.front());
}

struct Sharing {
  Machine machine{};
  Trace trace{};
};

/// A random machine and trace whose units share much.
Sharing random_sharing(Random& random) {
  Sharing made{.machine = random_machine(random)};
  made.trace = random_trace(random, made.machine);
  share_more(random, made.machine, made.trace);
  return made;
}

/// A queue of programs for all warps: who comes first has the longer one.
Trace with_queue(Trace trace, std::uint32_t tasks) {
  const auto left = std::make_shared<std::uint32_t>(tasks);
  const Program body = trace.programs[0];
  for (std::uint32_t i = 0; i < 3; ++i) {
    trace.programs.push_back(body);
    trace.programs.back().insert(trace.programs.back().begin(), alu(1));
    trace.programs.back().push_back(repeat(0, i + 1));
  }
  trace.next_program = [left](std::uint32_t warp, std::uint64_t cycle) -> std::uint32_t {
    if (*left == 0) return 4;
    --*left;
    return static_cast<std::uint32_t>((*left + warp + cycle) % 4);
  };
  return trace;
}

}  // namespace

TEST_CASE("threads change nothing: not a cycle, a counter, nor what observers are told") {
  Random random(20261126);
  for (int round = 0; round < rounds(24); ++round) {
    CAPTURE(round);
    auto [machine, trace] = random_sharing(random);
    const std::size_t units = random.from_to(2, 5);
    const Run alone = run(machine, trace, units, limited(), 1);
    REQUIRE(alone.fault.empty());
    FreeCores cores(2);
    Options by_pace = limited();
    by_pace.cores = &cores;
    REQUIRE(alone.results == simulate_units(machine, trace, units, by_pace));
    REQUIRE(cores.take(9) == 2);  // what was taken was given back
    for (const std::size_t threads : {2U, 3U}) {
      CAPTURE(threads);
      const bool is_equal = run(machine, trace, units, limited(), threads) == alone;
      REQUIRE(is_equal);
    }
  }
}

TEST_CASE("work that is shared out while running goes to the same warps in any number of threads") {
  Random random(4);
  for (int round = 0; round < rounds(12); ++round) {
    CAPTURE(round);
    auto [machine, trace] = random_sharing(random);
    machine.sharing.coherence = Coherence::gpu;
    trace.programs[0] = {load(1, random_lanes(random)), alu(2, {1}), store(random_lanes(random))};
    const Run alone = run(machine, with_queue(trace, 60), 4, limited(), 1);
    for (const std::size_t threads : {2U, 4U}) {
      const bool is_equal = run(machine, with_queue(trace, 60), 4, limited(), threads) == alone;
      REQUIRE(is_equal);
    }
  }
}

TEST_CASE("the number of threads may change while it runs") {
  Random random(5);
  for (int round = 0; round < rounds(12); ++round) {
    CAPTURE(round);
    auto [machine, trace] = random_sharing(random);
    const Run alone = run(machine, trace, 4, limited(), 1);
    const bool is_equal = run(machine, trace, 4, limited(), 3,
                              {{100, 1}, {101, 2}, {300, 4}, {777, 1}, {1500, 2}}) == alone;
    REQUIRE(is_equal);
  }
}

TEST_CASE("threads that have no patience end before the same cycle, and one goes on from there") {
  Random random(6);
  for (int round = 0; round < rounds(12); ++round) {
    CAPTURE(round);
    auto [machine, trace] = random_sharing(random);
    const Run alone = run(machine, trace, 4, limited(), 1);
    const Part impatient{.end = limited().max_cycles, .threads = 3, .is_patient = false};
    const bool is_equal =
        run(machine, trace, 4, limited(), 2, {impatient, impatient, {500, 1}, impatient}) == alone;
    REQUIRE(is_equal);
  }
}

TEST_CASE("all threads end before the first cycle that none has begun") {
  constexpr std::size_t moments_of_cycle = 10;
  Progress progress(3, moments_of_cycle);
  progress.reach(0, 41);
  progress.reach(1, 57);
  progress.reach(2, end_of_time);  // has ended
  CHECK(!progress.ends_before(1000));
  progress.end_early();
  CHECK(!progress.ends_before(5));
  CHECK(progress.ends_before(6));
  progress.reach(1, 99);
  progress.end_early();  // once is enough
  CHECK(progress.ends_before(6));
}

TEST_CASE("who waits when patience is over ends early, and is there when the others are") {
  Progress progress(2, 10, Progress::Clock::now());
  progress.reach(0, 35);
  std::thread other([&] {
    while (!progress.ends_before(4)) std::this_thread::yield();
    progress.reach(1, end_of_time);
  });
  CHECK(progress.wait(0, 35) == end_of_time);
  other.join();
}

TEST_CASE("simulations share the cores that are free") {
  FreeCores cores(4);
  cores.occupy();
  CHECK(cores.take(2) == 2);
  CHECK(cores.take(2) == 1);
  cores.occupy();
  CHECK(cores.take(2) == 0);
  cores.give_back(1);
  CHECK(cores.take(2) == 0);
  cores.give_back(4);
  CHECK(cores.take(9) == 4);
}

TEST_CASE("a lock that is asked for at no distance is served in the next cycle") {
  Machine machine = preset("gsi");
  machine.sharing.coherence = Coherence::gpu;
  machine.l2.latency_cycles = {1, 1};
  Trace trace;
  trace.locks = {{.address = 4096, .is_shared = true}};
  trace.programs = {{acquire(0), release(0), repeat(0, 50)}, {alu(1), repeat(0, 500)}};
  for (std::uint32_t unit = 0; unit < 2; ++unit) {
    trace.groups.push_back(make_group(machine, 64, 0, 10 * unit));
    trace.groups.back().warps[1].program = 1;
  }
  for (const std::size_t threads : {1U, 2U}) {
    const Run seen = run(machine, trace, 2, limited(), threads);
    // A unit that was stepped twice in a cycle would have issued twice.
    for (std::size_t unit = 0; unit < 2; ++unit) {
      std::uint64_t issued = 0;
      for (const Told& each : seen.told[unit]) issued += each.issued;
      CHECK(issued == seen.results[unit].warp_instructions);
    }
  }
}

TEST_CASE("units that take lines out of each other's first levels are stepped by one thread") {
  Machine machine = preset("gsi");
  Trace trace;
  trace.programs = {{alu(1)}};
  trace.groups = {make_group(machine, 32)};
  const auto max_threads = [&](Coherence coherence, std::uint64_t max_cycles) {
    machine.sharing.coherence = coherence;
    Options options;
    options.max_cycles = max_cycles;
    return Grid(machine, trace, 5, options, {}).max_threads();
  };
  CHECK(max_threads(Coherence::gpu, Options{}.max_cycles) == 5);
  CHECK(max_threads(Coherence::ownership, Options{}.max_cycles) == 1);
  // Moments of all cycles have to have numbers.
  CHECK(max_threads(Coherence::gpu, end_of_time / 10) == 1);
  CHECK(max_threads(Coherence::gpu, end_of_time / 10 - 2) == 5);
}

TEST_CASE("a warp that ends with a lock is told of as in one thread: the first of several") {
  const Machine machine = preset("gsi");
  Trace trace;
  trace.locks = {{.address = 4096, .is_shared = true}, {.address = 8192, .is_shared = true}};
  for (std::uint32_t unit = 0; unit < 4; ++unit) {
    // The third has its fault first, the second a little later, the others go on for long.
    Program program{alu(1)};
    if (unit == 1 || unit == 2) program.push_back(acquire(unit - 1));
    const std::uint64_t turns = unit == 2 ? 50 : unit == 1 ? 60 : 4000;
    program.push_back(alu(1, {1}));
    program.push_back(repeat(static_cast<std::uint32_t>(program.size() - 1), turns));
    program.push_back(load(2, {.base = unit << 14U}));
    trace.programs.push_back(program);
    trace.groups.push_back(make_group(machine, 32, unit, unit));
  }
  const Run alone = run(machine, trace, 4, limited(), 1);
  CHECK(alone.fault.find("warp 2 ends with a lock") == 0);
  for (int round = 0; round < rounds(12); ++round) {
    for (const std::size_t threads : {2U, 3U, 4U}) {
      REQUIRE(run(machine, trace, 4, limited(), threads).fault == alone.fault);
    }
  }
}

TEST_CASE("no progress is told of as in one thread") {
  const Machine machine = preset("gsi");
  Trace trace;
  trace.programs = {{load(1, {.lane_step = 4}), alu(2, {1}), barrier()}, {alu(1), acquire(0)}};
  trace.locks = {{.address = 4096, .is_shared = true}};
  trace.programs[0].push_back(repeat(0, 5));
  trace.programs[1].push_back(acquire(0));  // which it has
  trace.programs[1].push_back(release(0));
  for (std::uint32_t unit = 0; unit < 3; ++unit) {
    trace.groups.push_back(make_group(machine, 64, unit == 1 ? 1 : 0, unit * 10));
  }
  Options options;
  options.max_cycles = 20000;
  const Run alone = run(machine, trace, 3, options, 1);
  CHECK(alone.fault ==
        "no progress after cycle 20000: warp 10 stands at instruction 1 of program 1");
  for (const std::size_t threads : {2U, 3U}) {
    CHECK(run(machine, trace, 3, options, threads).fault == alone.fault);
  }
}

TEST_CASE("all threads are used where they are faster by a fifth, and tried again") {
  const auto ns = [](std::int64_t count) { return std::chrono::nanoseconds(count); };
  // Of two threads, so many ns a step against 100 of one.
  const auto share_of_all = [&](std::int64_t ns_of_all) {
    Pace pace;
    CHECK(!pace.uses_threads());
    int all = 0;
    for (int stretch = 0; stretch < 1000; ++stretch) {
      if (pace.uses_threads()) ++all;
      pace.note(pace.uses_threads(), 10, ns(pace.uses_threads() ? 10 * ns_of_all : 1000));
    }
    return all;
  };
  CHECK(share_of_all(60) == 994);
  CHECK(share_of_all(82) == 994);
  // Not by that much: tried at once, after 16 stretches, after 32 more, and so on.
  CHECK(share_of_all(85) == 6);
  CHECK(share_of_all(300) == 6);
}

TEST_CASE("threads are given up when they take twice as long as one") {
  Pace pace;
  pace.note(false, 10, std::chrono::nanoseconds(1000));
  CHECK(pace.uses_threads());
  CHECK(pace.patience(50) == std::chrono::nanoseconds(2 * 5000));
  pace.note(true, 10, std::chrono::nanoseconds(500));
  CHECK(pace.patience(50) == std::chrono::nanoseconds(2 * 5000));
}

TEST_CASE("a stretch without a free core says nothing of threads") {
  Pace pace;
  pace.note(false, 10, std::chrono::nanoseconds(1000));
  for (int stretch = 0; stretch < 100; ++stretch) {
    CHECK(pace.uses_threads());
    pace.note(false, 10, std::chrono::nanoseconds(1000));
  }
  pace.note(true, 10, std::chrono::nanoseconds(3000));
  CHECK(!pace.uses_threads());
}

TEST_CASE("what becomes faster in threads later runs in threads then") {
  Pace pace;
  int all_before = 0;
  int all_after = 0;
  for (int stretch = 0; stretch < 2000; ++stretch) {
    const bool uses_all = pace.uses_threads();
    const bool is_fast = stretch >= 1000;
    if (uses_all) ++(is_fast ? all_after : all_before);
    pace.note(uses_all, 10, std::chrono::nanoseconds(uses_all && is_fast ? 300 : 1000));
  }
  CHECK(all_before < 10);
  CHECK(all_after > 400);
}

TEST_CASE("what becomes slower in threads runs in one at once") {
  Pace pace;
  int all = 0;
  for (int stretch = 0; stretch < 900; ++stretch) {
    const bool uses_all = pace.uses_threads();
    if (uses_all && stretch >= 300) ++all;
    const std::int64_t of_all = stretch < 300 ? 500 : 5000;
    pace.note(uses_all, 10, std::chrono::nanoseconds(uses_all ? of_all : 1000));
  }
  CHECK(all < 10);
}

TEST_CASE("the moment of the first failure is kept, and nobody passes it") {
  Progress progress(3, 1);
  progress.fail(50);
  progress.fail(70);
  CHECK(progress.has_failed_before(51));
  CHECK(!progress.has_failed_before(50));
  progress.reach(1, 60);
  progress.reach(2, 55);
  CHECK(progress.wait(0, 40) == 55);
  CHECK_THROWS_AS(progress.wait(0, 51), Stopped);
}

}  // namespace clprobe::simulator
