// SPDX-License-Identifier: Apache-2.0
#include "clprobe/simulator.hpp"

#include <array>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {

std::string_view to_word(Level level) {
  constexpr std::array<std::string_view, level_count> words{"l1", "l1-coalescing", "l2",
                                                            "remote-l1", "memory"};
  return words.at(static_cast<std::size_t>(level));
}

Result simulate(const Machine& machine, const Trace& trace, const Options& options,
                const Observer* observer) {
  check(machine);
  check(trace, machine);
  ComputeUnit unit(machine, trace, options, observer);
  return unit.run();
}

}  // namespace clprobe::simulator
