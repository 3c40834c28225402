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

#include "clprobe/stalls.hpp"
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
    gsi_.push_back({.first = state.first, .end = state.first + state.cycles});
    if (!state.is_last_flush) see_cycles(state, static_cast<double>(state.cycles));
  }
  void serve(std::uint64_t load, Level level) { levels_[load] = level; }

  /// Of the cycles from `first` to before `end`.
  [[nodiscard]] Breakdown gsi(std::uint64_t first, std::uint64_t end) const {
    Breakdown sum;
    for (const Stretch& each : gsi_) {
      const std::uint64_t begin = std::max(first, each.first);
      const std::uint64_t last = std::min(end, each.end);
      if (begin < last) add_to(sum, each.share, static_cast<double>(last - begin));
    }
    return sum;
  }
  [[nodiscard]] Breakdown gsi() const { return gsi(0, ~std::uint64_t{0}); }
  [[nodiscard]] Breakdown all_causes() const {
    Breakdown sum;
    add_to(sum, all_causes_, 1.0);
    return sum;
  }
  [[nodiscard]] std::map<std::uint32_t, Breakdown> warps() const {
    std::map<std::uint32_t, Breakdown> sums;
    for (const auto& [number, cycles] : warps_) add_to(sums[number], cycles, 1.0);
    return sums;
  }

 private:
  /// Cycles in which the same holds, and how one of them is shared.
  struct Stretch {
    std::uint64_t first{0};
    std::uint64_t end{0};
    Cycles share{};
  };

  void see_cycles(const CycleState& state, double cycles) {
    std::vector<Reason> blocked;
    StallSet found = state.issued > 0 ? bit_of(Stall::none) : StallSet{0};
    for (const WarpState& warp : state.warps) {
      const Causes causes = state.causes_of(warp);
      if (causes == cause::idle) continue;
      const Reason reason{classify_instruction(conditions_of(causes), priorities_), causes,
                          warp.load};
      warps_[warp.number][reason] += cycles;
      if (causes == 0) continue;
      found = static_cast<StallSet>(found | bit_of(std::get<Stall>(reason)));
      blocked.push_back(reason);
    }
    const Stall stall = classify_cycle(found, priorities_);
    share(gsi_.back().share, stall, blocked);
    share_slots(state.issued, blocked, cycles);
  }
  static void share(Cycles& cycle, Stall stall, const std::vector<Reason>& blocked) {
    const auto is_it = [stall](const Reason& each) { return std::get<Stall>(each) == stall; };
    const auto sharing = std::count_if(blocked.begin(), blocked.end(), is_it);
    if (sharing == 0) cycle[{stall, 0, 0}] = 1.0;
    for (const Reason& each : blocked) {
      if (is_it(each)) cycle[each] += 1.0 / static_cast<double>(sharing);
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
  void add_to(Breakdown& sum, const Cycles& cycles, double times) const {
    for (const auto& [reason, part_of_time] : cycles) {
      const double count = times * part_of_time;
      const auto [stall, causes, load] = reason;
      sum.cycles[static_cast<std::size_t>(stall)] += count;
      if (stall == Stall::memory_data) {
        sum.memory_data[static_cast<std::size_t>(levels_.at(load))] += count;
      } else if (const auto part = part_of(stall, causes)) {
        sum.parts(stall)[*part] += count;
      }
    }
  }

  std::uint64_t issue_width_;
  Priorities priorities_;
  std::vector<Stretch> gsi_{};
  Cycles all_causes_{};
  std::map<std::uint32_t, Cycles> warps_{};
  std::map<std::uint64_t, Level> levels_{};
};

bool is_equal(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::abs(x - y) <= 1e-9 * (1.0 + std::abs(x));
  });
}

bool is_equal(const Breakdown& a, const Breakdown& b) {
  if (!is_equal(a.cycles, b.cycles)) return false;
  for (std::size_t i = 0; i < stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    if (!is_equal(a.parts(stall), b.parts(stall))) return false;
  }
  return true;
}

void check_equal(const StallAccount& account, const PlainAccountant& plain) {
  REQUIRE(is_equal(account.gsi, plain.gsi()));
  REQUIRE(is_equal(account.all_causes, plain.all_causes()));
  const std::map<std::uint32_t, Breakdown> warps = plain.warps();
  REQUIRE(account.warps.size() == warps.size());
  for (const WarpStalls& each : account.warps) {
    CAPTURE(each.number);
    REQUIRE(is_equal(each.cycles, warps.at(each.number)));
  }
  for (std::size_t i = 0; i < account.timeline.windows.size(); ++i) {
    CAPTURE(i);
    const std::uint64_t cycles = account.timeline.window_cycles;
    REQUIRE(is_equal(account.timeline.windows[i].gsi, plain.gsi(i * cycles, (i + 1) * cycles)));
  }
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
    Accounting accounting{.max_windows = 16 * random.below(3)};
    if (random.chance(0.5)) shuffle(random, accounting.priorities.instruction);
    if (random.chance(0.5)) shuffle(random, accounting.priorities.cycle);
    const StallAccountant accountant(machine, accounting);
    PlainAccountant plain(machine.core.issue_width, accounting.priorities);
    Observer observer;
    observer.cycles = [&](const CycleState& state) {
      accountant.observer().cycles(state);
      plain.see(state);
    };
    observer.served = [&](std::uint64_t load, Level level) {
      accountant.observer().served(load, level);
      plain.serve(load, level);
    };
    Options options;
    options.max_cycles = 20000;
    try {
      check_equal(accountant.account(simulate(machine, trace, options, &observer)), plain);
      ++ended;
    } catch (const Deadlock&) {
      continue;  // locks that spin for ever
    }
  }
  CHECK(ended >= rounds(60) * 3 / 4);
}

}  // namespace clprobe::simulator
