// SPDX-License-Identifier: Apache-2.0
#include "engine/given_traces.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "clprobe/trace_file.hpp"

namespace clprobe {
namespace {

using simulator::Instruction;
using simulator::Trace;

bool waits_for_locks(const Trace& trace) {
  return std::any_of(
      trace.programs.begin(), trace.programs.end(), [](const simulator::Program& program) {
        return std::any_of(program.begin(), program.end(), [](const Instruction& each) {
          return each.operation == simulator::Operation::acquire;
        });
      });
}

/// How often a lock is tried is not known beforehand: what is, is that each warp comes to its end.
void witness_ends(SimulatedWork& work, const std::shared_ptr<const Trace>& trace) {
  const auto ended = std::make_shared<std::uint64_t>(0);
  work.trace = [trace, ended](std::uint64_t) {
    *ended = 0;
    Trace counted = *trace;
    counted.next_program = [ended, none = static_cast<std::uint32_t>(trace->programs.size())](
                               std::uint32_t warp, std::uint64_t) {
      *ended += std::uint64_t{warp} + 1;
      return none;
    };
    return counted;
  };
  work.witness = [ended] { return *ended; };
  for (const simulator::Group& group : trace->groups) {
    for (const simulator::WarpWork& warp : group.warps) {
      work.expected_witness += std::uint64_t{warp.number} + 1;
    }
  }
}

}  // namespace

void run_given(SimulatedWork& work, const std::vector<AskedTrace>& traces,
               const simulator::Machine& machine) {
  const auto found = std::find_if(traces.begin(), traces.end(), [&](const AskedTrace& each) {
    return each.sha256 == work.given;
  });
  if (found == traces.end()) throw DeviceError("simulating: the trace is not at hand");
  const auto trace =
      std::make_shared<const Trace>(simulator::share_of_units(*found->file, machine, work.units));
  if (waits_for_locks(*trace)) {
    witness_ends(work, trace);
  } else {
    work.trace = [trace](std::uint64_t) { return *trace; };
  }
}

}  // namespace clprobe
