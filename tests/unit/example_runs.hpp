// SPDX-License-Identifier: Apache-2.0
// Made-up runs on plausible devices, the same on every machine: what reports and files are tested
// on.
#pragma once

#include "clprobe/run.hpp"

namespace clprobe {

/// A GPU with a core clock: three levels and memory, constant and local memory, no images.
Run example_gpu_run();
/// A CPU without a clock: event times at two lengths, from which only slopes can be told.
Run example_cpu_run();
/// A GPU that was lost half-way: some points, failed ones, an interrupted and a failed probe.
Run example_broken_run();
/// Points of two series over stride and word, as 32 banks of 4 bytes would give them.
Run example_banks_run();
/// Names full of escape sequences, table and CSV syntax, bytes that are no UTF-8, wide letters and
/// characters that are not seen.
Run example_hostile_run();
/// Makes a level of the series `global` slower, and the points of the curve that have it.
void slow_level(ProbeResult& latency, int level, double factor);

}  // namespace clprobe
