// SPDX-License-Identifier: Apache-2.0
// The same work in eight times as many groups, each an eighth as long: a last wave that is partly
// filled is short.
kernel void spin(global float* a, uint rounds) {
  float x = a[get_global_id(0)];
  for (uint i = 0; i < rounds; ++i) x = x * 0.999f + 0.5f;
  a[get_global_id(0)] = x;
}
