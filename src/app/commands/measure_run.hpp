// SPDX-License-Identifier: Apache-2.0
// The probes of one device, measured into a run.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "app/cli/options.hpp"
#include "measure/api/engine.hpp"

namespace clprobe::commands {

/// Calls while a run is measured.
struct RunObserver {
  std::function<void(std::size_t probe)> done;  ///< a probe, by its place, is done
  std::function<void()> save;                   ///< the run has more to keep
};

/// Measures the probes until all are done or the observer cancels. Results go into `run` as they
/// come. Throws UsageError as known_levels().
void measure_run(const cli::Options& options, Backend& backend, Observer observer,
                 std::span<const Probe* const> probes, Run& run, const RunObserver& heard);

}  // namespace clprobe::commands
