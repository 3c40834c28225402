// SPDX-License-Identifier: Apache-2.0
// Fills the caches with other things than what a replayed kernel left there. One work-item loads
// and stores 16 bytes. clock.clh is put before this file.
kernel void kernel_flush(global uint4* words) { words[get_global_id(0)] += (uint4)(1); }
