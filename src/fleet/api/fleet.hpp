// SPDX-License-Identifier: Apache-2.0
// Fleets: folders with a run document per device, and what they say about the devices.
#pragma once

namespace clprobe::fleet {

/// Measures the devices of this node. Returns the exit code. Throws std::runtime_error.
int run();

/// Prints a script that measures the nodes of a cluster. Returns the exit code. Throws
/// std::runtime_error.
int script();

}  // namespace clprobe::fleet
