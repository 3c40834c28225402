// SPDX-License-Identifier: Apache-2.0
// From the accounts of simulated launches to bars. Pure.
#pragma once

#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::gsi {

/// From the accounts among the points' facts: stacks, and the changes that the thesis gives in
/// numbers where all bars are there.
Findings analyse(std::span<const Point> points);

}  // namespace clprobe::gsi
