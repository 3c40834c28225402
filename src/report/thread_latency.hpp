// SPDX-License-Identifier: Apache-2.0
// What a Thread-Latency plot shows beside its curves: their 3-point variance.
#pragma once

#include "clprobe/run.hpp"
#include "report/chart.hpp"

namespace clprobe::report {

/// Of the harmonic means, in square cycles, for each series without mergers whose points have
/// work-items, loads and ticks; its zeros are left out, since axes are logarithmic. Empty for other
/// probes.
Chart variance_chart(const ProbeResult& result);

}  // namespace clprobe::report
