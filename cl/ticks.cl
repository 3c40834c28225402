// SPDX-License-Identifier: Apache-2.0
// Self-tests of a clock with one work-item, which stores but does not load: a chain of dependent
// arithmetic of known length between two clock reads, and differences of consecutive reads. The
// host puts clock.clh before this file.

// One link of the chain: a product and an XOR, because compilers could combine products and sums of
// successive links.
#define LINK value = (value * 6364136223846793005ul) ^ 1442695040888963407ul;
#define LINK_8 LINK LINK LINK LINK LINK LINK LINK LINK
#define LINK_64 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8

// out: ticks of 64 * iterations links, then the last value of the chain.
kernel void ticks_chain(ulong seed, uint iterations, ulong never, global ulong* out) {
  ulong value = seed;
  const ulong before = clock_after(value, never);
  for (uint i = 0; i < iterations; ++i) {
    LINK_64
  }
  const ulong after = clock_after(value, never);
  out[0] = after - before;
  out[1] = value;
}

// Measures differences of consecutive clock reads. The minimum difference is the overhead of a pair
// of reads. The greatest common divisor of the differences is the resolution. `steps` receives
// `count` differences.
kernel void ticks_steps(uint count, global ulong* steps) {
  ulong last = clock_now();
  for (uint i = 0; i < count; ++i) {
    const ulong now = clock_now();
    steps[i] = now - last;
    last = clock_now();
  }
}

kernel void ticks_read(global ulong* out) { *out = clock_now(); }
