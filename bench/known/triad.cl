// SPDX-License-Identifier: Apache-2.0
// Bound by memory: half of the groups at once still reach the bandwidth.
kernel void triad(global float4* a, global const float4* b, global const float4* c, float s) {
  const size_t i = get_global_id(0);
  a[i] = b[i] + s * c[i];
}
