// SPDX-License-Identifier: Apache-2.0
// Each work-item loads 16 words at random from 4 MiB.
kernel void gather(global float* out, global const float* in) {
  uint state = get_global_id(0) * 2654435761u;
  float sum = 0;
  for (uint i = 0; i < 16; ++i) {
    state = state * 1664525u + 1013904223u;
    sum += in[state >> 8 & 0xfffffu];
  }
  out[get_global_id(0)] = sum;
}
