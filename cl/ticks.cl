// SPDX-License-Identifier: Apache-2.0
// Self-test of a clock: a chain of dependent arithmetic of known length between two reads. One
// work-item; no loads, two stores. The host puts clock.clh before this file.

// One link of the chain. Compilers cannot combine links; they could combine products and sums.
#define LINK value = (value * 6364136223846793005ul) ^ 1442695040888963407ul;
#define LINK_8 LINK LINK LINK LINK LINK LINK LINK LINK
#define LINK_64 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8 LINK_8

// out: ticks around 64 * iterations links, the end of the chain
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

// Measures the differences of consecutive reads. Their minimum is the overhead of a pair of reads,
// their greatest common divisor the resolution. `steps` receives `count` values.
kernel void ticks_steps(uint count, global ulong* steps) {
  ulong last = clock_now();
  for (uint i = 0; i < count; ++i) {
    const ulong now = clock_now();
    steps[i] = now - last;
    last = clock_now();
  }
}

kernel void ticks_read(global ulong* out) { *out = clock_now(); }
