// SPDX-License-Identifier: Apache-2.0
// Properties of a device that only a launch can determine. Each kernel runs with one work-item and
// makes at most two loads and two stores. The host's part is src/measure/device/clocks.cpp.

// Stores one bit for each property that the device's compiler defines as a macro.
kernel void facts(global uint* bits) {
  uint seen = 0;
#ifdef __NV_CL_C_VERSION
  seen |= 1u;
#endif
#ifdef __AMDGCN__
  seen |= 2u;
#endif
#if defined(__SPIR__) || defined(__SPIR64__) || defined(__SPIRV__)
  seen |= 4u;
#endif
#if defined(__x86_64__)
  seen |= 8u;
#endif
#if defined(__aarch64__)
  seen |= 16u;
#endif
#if defined(__riscv)
  seen |= 32u;
#endif
#if defined(__opencl_c_kernel_clock_scope_device)
  seen |= 64u;
#endif
#if defined(__opencl_c_kernel_clock_scope_sub_group)
  seen |= 128u;
#endif
#ifdef __GFX11__
  seen |= 256u;
#endif
  *bits = seen;
}

// Stores a pointer to byte `offset` of the buffer at its beginning, and `mark` at `offset`. In the
// next launch, pointer_follow stores the word that the pointer leads to, and the word's offset.
kernel void pointer_store(global uchar* buffer, ulong offset, ulong mark) {
  *(global uchar * global*)buffer = buffer + offset;
  *(global ulong*)(buffer + offset) = mark;
}

kernel void pointer_follow(global uchar* buffer, global ulong* out) {
  global uchar* const at = *(global uchar * global*)buffer;
  out[0] = *(global ulong*)at;
  out[1] = (ulong)(at - buffer);
}
