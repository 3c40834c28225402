// SPDX-License-Identifier: Apache-2.0
// Each work-item loads one word, and a scale, an offset and a limit for it.
kernel void table(global float* out, global const float* in, global const float* scale,
                  global const float* offset, global const float* limit) {
  const size_t i = get_global_id(0);
  out[i] = min(in[i] * scale[i] + offset[i], limit[i]);
}
