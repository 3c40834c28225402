// SPDX-License-Identifier: Apache-2.0
// What the cores that this process may use did, and what of it was its own work.
#pragma once

namespace clprobe::system {

/// Since some moment before this process began: only differences mean something.
struct CoreUse {
  double own_s{0.0};  ///< of this process, of its children that have ended, and of one that has not
  double busy_s{0.0};  ///< of all processes, and of other machines that share a virtual one's cores
  double idle_s{0.0};
};

/// Zeros where the system does not say. It counts in steps of 10 ms. Source: /proc/stat and
/// /proc/PID/stat of Linux (proc(5)).
/// `child`: a process whose work is this one's, or 0.
CoreUse core_use(int child);

}  // namespace clprobe::system
