// SPDX-License-Identifier: Apache-2.0
#include "clprobe/simulator.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "simulator/grid.hpp"

namespace clprobe::simulator {

std::string_view to_word(Level level) {
  constexpr std::array<std::string_view, level_count> words{"l1", "l1-coalescing", "l2",
                                                            "remote-l1", "memory"};
  return words.at(static_cast<std::size_t>(level));
}

Result simulate(const Machine& machine, const Trace& trace, const Options& options,
                const Observer* observer) {
  return simulate_units(machine, trace, 1, options, std::span(&observer, 1)).front();
}

std::vector<Result> simulate_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                                   const Options& options,
                                   std::span<const Observer* const> observers) {
  check(machine);
  check(trace, machine);
  Grid grid(machine, trace, units, options, observers);
  return grid.run();
}

Result sum_of(std::vector<Result> units) {
  Result sum = std::move(units.front());
  for (std::size_t i = 1; i < units.size(); ++i) {
    const Result& each = units[i];
    sum.warp_instructions += each.warp_instructions;
    sum.full_table_cycles += each.full_table_cycles;
    sum.max_pending = std::max(sum.max_pending, each.max_pending);
    sum.lines_written += each.lines_written;
    for (std::size_t level = 0; level < level_count; ++level) {
      sum.served_by.at(level) += each.served_by.at(level);
    }
    sum.clock_reads.insert(sum.clock_reads.end(), each.clock_reads.begin(), each.clock_reads.end());
  }
  // Those of one unit are in the order in which they issued, which equal cycles keep.
  std::stable_sort(sum.clock_reads.begin(), sum.clock_reads.end(),
                   [](const ClockRead& a, const ClockRead& b) { return a.cycle < b.cycle; });
  return sum;
}

}  // namespace clprobe::simulator
