// SPDX-License-Identifier: Apache-2.0
// Compute units in one clock, with their second level, main memory and locks shared.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "clprobe/trace.hpp"
#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {

class Grid {
 public:
  /// Keeps references to all. `observers`: one per unit, or none at all.
  Grid(const Machine& machine, const Trace& trace, std::uint64_t units, const Options& options,
       std::span<const Observer* const> observers);

  std::vector<Result> run();

 private:
  void dispatch();
  /// Returns the first cycle after `now` in which any of it has to act.
  std::uint64_t step(std::uint64_t now);
  [[nodiscard]] bool has_ended() const;
  [[noreturn]] void report_deadlock(std::uint64_t now) const;
  std::vector<Result> finish();

  Options options_;
  Shared shared_;
  std::vector<std::unique_ptr<ComputeUnit>> units_{};  // which stay where they are
  std::vector<std::uint64_t> due_;                     // by unit: when to step it
};

}  // namespace clprobe::simulator
