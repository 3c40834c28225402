// SPDX-License-Identifier: Apache-2.0
// The accountant against a plain one, which looks at each warp of each state by itself, over any
// machine, trace and order of priorities.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

/// A type of stall with its causes, and with memory data the load that was waited for.
using Reason = std::tuple<Stall, Causes, std::uint64_t>;
using Cycles = std::map<Reason, double>;

class PlainAccountant {
 public:
  PlainAccountant(std::uint64_t issue_width, const Priorities& priorities)
      : issue_width_(issue_width), priorities_(priorities) {}

  void see(const CycleState& state) {
    if (!state.is_last_flush) see_cycles(state, static_cast<double>(state.cycles));
  }
  void serve(std::uint64_t load, Level level) { levels_[load] = level; }

  [[nodiscard]] Breakdown gsi() const { return of(gsi_); }
  [[nodiscard]] Breakdown all_causes() const { return of(all_causes_); }

 private:
  void see_cycles(const CycleState& state, double cycles) {
    std::vector<Reason> blocked;
    StallSet found = state.issued > 0 ? bit_of(Stall::none) : StallSet{0};
    for (const WarpState& warp : state.warps) {
      const Causes causes = warp.causes;
      if (causes == cause::idle) continue;
      const Reason reason{classify_instruction(conditions_of(causes), priorities_), causes,
                          warp.load};
      if (causes == 0) continue;
      found = static_cast<StallSet>(found | bit_of(std::get<Stall>(reason)));
      blocked.push_back(reason);
    }
    const Stall stall = classify_cycle(found, priorities_);
    share(stall, blocked, cycles);
    share_slots(state.issued, blocked, cycles);
  }
  void share(Stall stall, const std::vector<Reason>& blocked, double cycles) {
    const auto is_it = [stall](const Reason& each) { return std::get<Stall>(each) == stall; };
    const auto sharing = std::count_if(blocked.begin(), blocked.end(), is_it);
    if (sharing == 0) gsi_[{stall, 0, 0}] += cycles;
    for (const Reason& each : blocked) {
      if (is_it(each)) gsi_[each] += cycles / static_cast<double>(sharing);
    }
  }
  void share_slots(std::uint64_t issued, const std::vector<Reason>& blocked, double cycles) {
    const auto slots = static_cast<double>(std::min(issue_width_, issued + blocked.size()));
    const double filled = slots == 0.0 ? 0.0 : static_cast<double>(issued) / slots;
    if (slots == 0.0) all_causes_[{Stall::idle, 0, 0}] += cycles;
    all_causes_[{Stall::none, 0, 0}] += cycles * filled;
    for (const auto& [stall, causes, load] : blocked) {
      const auto parts = static_cast<double>(blocked.size()) * std::popcount(causes);
      for (Causes bit = 1; bit < cause::end; bit <<= 1U) {
        if ((causes & bit) == 0) continue;
        all_causes_[{classify_instruction(conditions_of(bit)), bit, load}] +=
            cycles * (1.0 - filled) / parts;
      }
    }
  }
  [[nodiscard]] Breakdown of(const Cycles& cycles) const {
    Breakdown sum;
    for (const auto& [reason, count] : cycles) {
      const auto [stall, causes, load] = reason;
      const auto level =
          stall == Stall::memory_data ? static_cast<std::size_t>(levels_.at(load)) : 0;
      sum.cycles.at(part_of(stall, causes) + level) += count;
    }
    return sum;
  }

  std::uint64_t issue_width_;
  Priorities priorities_;
  Cycles gsi_{};
  Cycles all_causes_{};
  std::map<std::uint64_t, Level> levels_{};
};

bool is_equal(const Breakdown& a, const Breakdown& b) {
  return std::equal(a.cycles.begin(), a.cycles.end(), b.cycles.begin(), [](double x, double y) {
    return std::abs(x - y) <= 1e-9 * (1.0 + std::abs(x));
  });
}

void shuffle(Random& random, std::array<Stall, Priorities::count>& stalls) {
  for (std::size_t i = stalls.size() - 1; i > 0; --i) {
    std::swap(stalls[i], stalls[random.below(i + 1)]);
  }
}

/// Loads and stores of a line per lane, for which nearly all warps wait most of the time.
Program many_lines(Random& random) {
  const Lanes lanes{.lane_step = 128, .warp_step = 8192, .turn_step = 64};
  Program program{load(1, lanes), load(2, random_lanes(random)), alu(3, {1})};
  if (random.chance(0.5)) program.push_back(store(lanes, {2}));
  if (random.chance(0.5)) program.push_back(local_load(4, {.lane_step = 128}, {3}));
  program.push_back(special(5, {3}));
  program.push_back(repeat(0, random.from_to(1, 3)));
  return program;
}

}  // namespace

TEST_CASE("what warps get together is what each of them gets cycle by cycle") {
  Random random(20261128);
  int ended = 0;
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    Trace trace = random_trace(random, machine);
    if (round % 2 == 0) trace.programs[0] = many_lines(random);
    Priorities priorities;
    if (random.chance(0.5)) shuffle(random, priorities.instruction);
    if (random.chance(0.5)) shuffle(random, priorities.cycle);
    StallAccountant accountant(machine, priorities);
    PlainAccountant plain(machine.core.issue_width, priorities);
    Observer observer;
    observer.cycles = [&](const CycleState& state) {
      accountant.see(state);
      plain.see(state);
    };
    observer.served = [&](std::uint64_t load, Level level) {
      accountant.serve(load, level);
      plain.serve(load, level);
    };
    Options options;
    options.max_cycles = 20000;
    try {
      const StallAccount account = accountant.account(simulate(machine, trace, options, &observer));
      REQUIRE(is_equal(account.gsi, plain.gsi()));
      REQUIRE(is_equal(account.all_causes, plain.all_causes()));
      ++ended;
    } catch (const Deadlock&) {
      continue;  // locks that spin for ever
    }
  }
  CHECK(ended >= rounds(60) * 2 / 3);
}

}  // namespace clprobe::simulator
