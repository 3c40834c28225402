// SPDX-License-Identifier: Apache-2.0
// Chains of dependent multiplications, CHAINS of them side by side. One work-item; no loads, two
// stores. A square, so that no compiler can make one step of several; x + (x * x | 5) goes through all
// numbers before it repeats one (A. Klimov, A. Shamir, A New Class of Invertible Mappings, 2002).
kernel void @ID@_chains(ulong seed, uint iterations, ulong never, global ulong* out) {
  ulong value[CHAINS];
  ulong sum = 0;
  for (uint chain = 0; chain < CHAINS; ++chain) value[chain] = seed + chain;
  // A clock is read only behind what it must wait for.
  const ulong before = clock_after(value[CHAINS - 1], never);
  for (uint i = 0; i < iterations; ++i) {
    for (uint chain = 0; chain < CHAINS; ++chain) value[chain] += value[chain] * value[chain] | 5;
  }
  for (uint chain = 0; chain < CHAINS; ++chain) sum += value[chain];
  const ulong after = clock_after(sum, never);
  out[0] = after - before;
  out[1] = sum;
}
