// SPDX-License-Identifier: Apache-2.0
// Waiting for another process without going to sleep.
#pragma once

#include <chrono>

namespace clprobe::system {

/// Looks again and again whether the file can be read or has hung up, for so long at most; whether
/// it can. On a virtual machine a thread that sleeps takes 50 us to wake: twice for every visit of
/// a point, of which a GPU's own work may be 30 us.
bool becomes_readable(int file, std::chrono::microseconds at_most);

}  // namespace clprobe::system
