// SPDX-License-Identifier: Apache-2.0
// The windows of the time are the whole, part by part, whatever the machine does.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/stalls.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::size_t some_windows = 48;

/// Windows without the flush add up to GSI's view, and with it to the time.
void check_timeline(const StallAccount& account) {
  const Timeline& timeline = account.timeline;
  Breakdown all;
  std::uint64_t flush = 0;
  for (std::size_t i = 0; i < timeline.windows.size(); ++i) {
    CAPTURE(i);
    const Timeline::Window& each = timeline.windows[i];
    add(all, each.gsi, 1.0);
    flush += each.flush_cycles;
    const double length = each.gsi.total() + static_cast<double>(each.flush_cycles);
    const bool is_last = i + 1 == timeline.windows.size();
    const auto whole = static_cast<double>(timeline.window_cycles);
    if (is_last) {
      CHECK(length <= whole * (1.0 + 1e-9));
    } else {
      CHECK(length == doctest::Approx(whole).epsilon(1e-9));
    }
  }
  CHECK(flush == account.flush_cycles);
  for (std::size_t i = 0; i < stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    CAPTURE(to_word(stall));
    CHECK(all.of(stall) == doctest::Approx(account.gsi.of(stall)).epsilon(1e-9));
    const auto parts = account.gsi.parts(stall);
    for (std::size_t place = 0; place < parts.size(); ++place) {
      CHECK(all.parts(stall)[place] == doctest::Approx(parts[place]).epsilon(1e-9));
    }
  }
}

}  // namespace

TEST_CASE("the windows of the time add up to the whole, part by part, on any machine and trace") {
  Random random(19);
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    const Trace trace = random_trace(random, machine);
    Options options;
    options.max_cycles = 100000;
    try {
      const GridAccount account =
          account_units(machine, trace, 2, options, {.max_windows = some_windows});
      for (const StallAccount& unit : account.units) check_timeline(unit);
      check_timeline(account.mean);
      // The bars are those without windows.
      const GridAccount plain = account_units(machine, trace, 2, options);
      CHECK(plain.mean.timeline.windows.empty());
      CHECK(plain.mean.result == account.mean.result);
      CHECK(plain.mean.gsi.total() == doctest::Approx(account.mean.gsi.total()).epsilon(1e-9));
    } catch (const Deadlock&) {
      continue;  // locks that spin for ever
    }
  }
}

TEST_CASE("a launch has from half to all of the windows, and as many as cycles if it is short") {
  const auto windows_of = [](std::uint64_t operations) {
    Trace trace;
    trace.programs = {{alu(1, {1}), repeat(0, operations)}};
    const Machine machine = preset("gsi");
    trace.groups = {make_group(machine, machine.core.warp_width)};
    const StallAccount account =
        account_units(machine, trace, 1, {}, {.max_windows = some_windows}).mean;
    check_timeline(account);
    return account.timeline.windows.size();
  };
  for (const std::uint64_t operations : std::vector<std::uint64_t>{10, 15, 30, 100, 333, 4000}) {
    CAPTURE(operations);
    CHECK(windows_of(operations) >= some_windows / 2);
    CHECK(windows_of(operations) <= some_windows);
  }
}

}  // namespace clprobe::simulator
