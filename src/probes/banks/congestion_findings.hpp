// SPDX-License-Identifier: Apache-2.0
// What the points of the model E = c1 * w * l * k + c2 say, beside the bound of theory. Pure.
#pragma once

#include <span>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/banks/model.hpp"

namespace clprobe::banks {

/// What `accesses` that do not wait for each other, of so many wavefronts together, take at least
/// on a discrete memory machine: its memory takes one wavefront every `way_time` and answers an
/// access `latency` after it began, all others while it waits. In any unit.
/// Source: K. Nakano, Simple memory machine models for GPUs, 2014.
double discrete_memory_machine_time(double wavefronts, double latency, double way_time);

/// Of loads and of stores: the line, where it is off, and up to 8 points one by one. The bound
/// needs what load-latency and load-throughput found of the same words, which stands in `found`
/// already.
void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model);

/// Charts of what the model's points took over the product of their three numbers, the mean of
/// those with one product, with the line that was found.
std::vector<CardPlot> model_plots(const ProbeResult& result);

}  // namespace clprobe::banks
