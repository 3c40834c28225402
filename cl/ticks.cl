// SPDX-License-Identifier: Apache-2.0
// Tries a clock: a chain of dependent arithmetic of known length between two reads.
// One work-item; no loads, two stores. clock.clh is put before this file.

// The chain: no compiler can make fewer links of many. (Of additions it can: 64 times a product and
// a sum are one product and one sum.)
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

// Steps between reads that follow each other: their least is the cost of a pair, their greatest
// common divisor the quantum. `steps` receives `count` values.
kernel void ticks_steps(uint count, global ulong* steps) {
  ulong last = clock_now();
  for (uint i = 0; i < count; ++i) {
    const ulong now = clock_now();
    steps[i] = now - last;
    last = clock_now();
  }
}

kernel void ticks_read(global ulong* out) { *out = clock_now(); }
