// SPDX-License-Identifier: Apache-2.0
// A chain of dependent arithmetic, whose reference point every run has.
#pragma once

#include "clprobe/probe.hpp"

namespace clprobe::arithmetic {

/// In no list of probes: it has neither options nor findings.
extern const Probe probe;

}  // namespace clprobe::arithmetic
