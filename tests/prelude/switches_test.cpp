// SPDX-License-Identifier: Apache-2.0
// Builds that leave something out: what they may lose, and what not.
#include <doctest/doctest.h>

#include <algorithm>

#include "device.hpp"

namespace clprobe::prelude {
namespace {

const std::string histogram = R"(
  kernel void k(global const uint* in, global uint* out, uint n) {
    if (get_global_id(0) < 16) out[get_global_id(0)] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&out[in[i] >> 28]);
  }
)";

Words bins_of(const Words& in) {
  Words bins(16, 0);
  for (const std::uint32_t word : in) ++bins.at(word >> 28U);
  return bins;
}

}  // namespace

TEST_CASE("updates stay what they are, and nothing is updated where they are left out") {
  const Device device;
  const Words in = distinct_words(2000);
  cl::Kernel kernel =
      device.build(prelude_text({.barriers = true, .atomics = true}) + histogram, "k");
  const NdRange launch{.dimensions = 1, .global = {16, 1, 1}, .local = {16, 1, 1}};
  CHECK(device.run(kernel, encode(launch, {}), in, 16) == bins_of(in));
  const std::string alone = R"(
    kernel void k(global const uint* in, global uint* out, uint n) {
      for (uint i = 0; i < 9; ++i) out[i] = i;
      for (uint i = 0; i < n; ++i) {
        atomic_add(out, in[i]);
        atomic_sub(out + 1, in[i]);
        atomic_and(out + 2, in[i]);
        atomic_or(out + 3, in[i] & 0xff0u);
        atomic_xor(out + 4, in[i]);
        atomic_min(out + 5, in[i]);
        atomic_max((volatile global int*)(out + 6), (int)in[i]);
        atomic_inc(out + 7);
        atom_dec(out + 8);
      }
      for (uint i = 9; i < 16; ++i) out[i] = 2 * i;
    })";
  const NdRange single{.dimensions = 1, .global = {1, 1, 1}, .local = {1, 1, 1}};
  cl::Kernel updates = device.build(prelude_text({.atomics = true}) + alone, "k");
  const Words updated = device.run(updates, encode(single, {}), in, 16);
  const Words untouched = device.run(updates, encode(single, {.without_atomics = true}), in, 16);
  Words all{0, 1, 2, 3, 4, 5, 6, 7 + 2000, 8 - 2000U};
  for (const std::uint32_t word : in) {
    all[0] += word;
    all[1] -= word;
    all[2] &= word;
    all[3] |= word & 0xff0U;
    all[4] ^= word;
    all[5] = std::min(all[5], word);
    all[6] = static_cast<std::uint32_t>(
        std::max(static_cast<std::int32_t>(all[6]), static_cast<std::int32_t>(word)));
  }
  for (std::uint32_t i = 0; i < 16; ++i) {
    CHECK(updated[i] == (i < 9 ? all[i] : 2 * i));
    CHECK(untouched[i] == (i < 9 ? i : 2 * i));
  }
}

TEST_CASE("without barriers work-items may lose what others wrote, and nothing goes astray") {
  const Device device;
  const Words in = distinct_words(256);
  const std::string text = R"(
    kernel void k(global const uint* in, global uint* out, uint n) {
      local uint kept[64];
      const size_t l = get_local_id(0);
      kept[l] = 0;
      for (uint round = 0; round < 4; ++round) {
        barrier(CLK_LOCAL_MEM_FENCE);
        kept[l] = in[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = kept[63 - l];
      }
    })";
  cl::Kernel kernel = device.build(prelude_text({.barriers = true}) + text, "k");
  const NdRange launch{.dimensions = 1, .global = {256, 1, 1}, .local = {64, 1, 1}};
  const Words kept = device.run(kernel, encode(launch, {}), in, 300);
  const Words out = device.run(kernel, encode(launch, {.without_barriers = true}), in, 300);
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t first = i / 64 * 64;
    CHECK(kept[i] == in[first + 63 - i % 64]);
    CHECK((out[i] == kept[i] || out[i] == 0));
  }
  CHECK(Words(out.begin() + 256, out.end()) == Words(44, 0xc0ffee));
}

TEST_CASE("with fences and without them a work-item finds what it has stored itself") {
  const Device device;
  const Words in = distinct_words(256);
  const std::string text = R"(
    #ifdef POCL_DEVICE_ADDRESS_BITS
    #define ASSEMBLY __asm__ volatile("" ::: "memory")
    #else
    #define ASSEMBLY mem_fence(CLK_LOCAL_MEM_FENCE)
    #endif
    #define EACH(fence) if (l % 2 == 0) fence; else out[g] += 1;
    kernel void k(global const uint* in, global uint* out, uint n) {
      const size_t g = get_global_id(0), l = get_local_id(0);
      out[g] = in[g];
      EACH(mem_fence(CLK_GLOBAL_MEM_FENCE))
      EACH(read_mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE))
      EACH(write_mem_fence(CLK_GLOBAL_MEM_FENCE))
      EACH(ASSEMBLY)
    })";
  const NdRange launch{.dimensions = 1, .global = {256, 1, 1}, .local = {64, 1, 1}};
  for (const bool is_assembly : {false, true}) {
    cl::Kernel kernel =
        device.build(prelude_text({.fences = true, .assembly = is_assembly}) + text, "k");
    for (const bool is_without : {false, true}) {
      const Words out = device.run(kernel, encode(launch, {.without_fences = is_without}), in, 256);
      for (std::size_t i = 0; i < 256; ++i) CHECK(out[i] == in[i] + (i % 2 == 0 ? 0 : 4));
    }
  }
}

TEST_CASE("in place of special functions stands a product of the same type") {
  const Device device;
  const Words in = distinct_words(64);
  const std::string text = R"(
    kernel void k(global const uint* in, global uint* out, uint n) {
      const size_t g = get_global_id(0);
      const float x = (float)(in[g] >> 16);
      const float4 v = native_sqrt((float4)(x, x, x, x)) + exp((float4)(x));
      float sin = x;
      out[g] = (uint)(sqrt(x) + half_rsqrt(x) + native_powr(x, 2.0f) + v.w + sin);
    })";
  cl::Kernel kernel = device.build(prelude_text({.without_functions = true}) + text, "k");
  const NdRange launch{.dimensions = 1, .global = {64, 1, 1}, .local = {64, 1, 1}};
  const Words out = device.run(kernel, encode(launch, {}), in, 64);
  for (std::size_t i = 0; i < 64; ++i) {
    const auto x = static_cast<float>(in[i] >> 16U);
    CHECK(out[i] == static_cast<std::uint32_t>(5 * 0.5F * x + 2.0F + x));
  }
}

}  // namespace clprobe::prelude
