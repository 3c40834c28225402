// SPDX-License-Identifier: Apache-2.0
// What the cores that this process may use did, and what of it was its own work.
#pragma once

namespace clprobe::system {

/// Since some moment before this process began: only differences mean something.
struct CoreUse {
  double own_s{0.0};  ///< work of this process, of its ended children, and of one running child
  double busy_s{
      0.0};  ///< work of all processes, and of other machines that share a virtual machine's cores
  double idle_s{0.0};
};

/// Zeros where the system does not say. It counts in steps of 10 ms. Source: /proc/stat and
/// /proc/PID/stat of Linux (proc(5)).
/// `child`: a process whose work is this one's, or 0.
CoreUse core_use(int child);

}  // namespace clprobe::system
