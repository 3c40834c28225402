// SPDX-License-Identifier: Apache-2.0
// Kernels behind the prelude that renames nothing, against the same kernels without it.
#include <doctest/doctest.h>

#include "device.hpp"

namespace clprobe::prelude {
namespace {

struct Case {
  std::string name;
  std::string kernel;
  NdRange launch;
  std::string text;
  std::string options{};
};

constexpr std::size_t out_words = 4096;

NdRange one(std::uint64_t global, std::uint64_t local, std::uint64_t offset = 0) {
  return {.dimensions = 1, .offset = {offset}, .global = {global, 1, 1}, .local = {local, 1, 1}};
}

NdRange two(std::array<std::uint64_t, 2> global, std::array<std::uint64_t, 2> local,
            std::array<std::uint64_t, 2> offset = {}) {
  return {.dimensions = 2,
          .offset = {offset[0], offset[1]},
          .global = {global[0], global[1], 1},
          .local = {local[0], local[1], 1}};
}

const std::string arguments = "#define ARGUMENTS global const uint* in, global uint* out, uint n\n";

std::vector<Case> simple_cases() {
  return {
      {"triad", "k", one(256, 16), R"(kernel void k(ARGUMENTS) {
         const size_t i = get_global_id(0);
         out[i] = as_uint(convert_float(in[i] & 0xffffu) * 1.7f + convert_float(i));
       })"},
      {"an offset", "k", one(128, 8, 40), R"(kernel void k(ARGUMENTS) {
         out[get_global_id(0)] = in[get_global_id(0) - get_global_offset(0)] + get_group_id(0);
       })"},
      {"the driver chooses the group size",
       "k",
       {.dimensions = 1, .global = {200, 1, 1}},
       R"(kernel void k(ARGUMENTS) { out[get_global_id(0)] = in[get_global_id(0)] * 3u; })"},
      {"grid stride", "k", one(32, 8), R"(kernel void k(ARGUMENTS) {
         for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = in[i] ^ 5u;
       })"},
      {"vectors", "k", one(64, 4), R"(kernel void k(ARGUMENTS) {
         const size_t i = get_global_id(0);
         const float4 v = convert_float4(vload4(i, in) & 0xffffffu);
         vstore4(as_uint4(sqrt(v) + sin(v)), i, out);
       })"},
      {"sizes of the launch", "k", two({8, 6}, {4, 2}), R"(kernel void k(ARGUMENTS) {
         out[get_global_id(1) * get_global_size(0) + get_global_id(0)] =
             get_work_dim() + 10 * get_num_groups(1) + 100 * get_num_groups(2) +
             1000 * get_global_size(2) + 10000 * get_local_size(0);
       })"},
  };
}

std::vector<Case> many_dimensions() {
  return {
      {"naive transpose", "k", two({32, 16}, {4, 2}), R"(kernel void k(ARGUMENTS) {
         const size_t x = get_global_id(0), y = get_global_id(1);
         out[x * get_global_size(1) + y] = in[y * get_global_size(0) + x];
       })"},
      {"an offset in two dimensions", "k", two({16, 8}, {4, 4}, {3, 9}), R"(
       kernel void k(ARGUMENTS) {
         out[get_global_id(1) * 64 + get_global_id(0)] =
             in[get_global_id(1) + get_global_id(0)] + (uint)get_global_offset(1);
       })"},
      {"stencil in three dimensions",
       "k",
       {.dimensions = 3, .global = {8, 8, 8}, .local = {4, 2, 2}},
       R"(uint at(size_t x, size_t y, size_t z) { return (x & 7) + 8 * ((y & 7) + 8 * (z & 7)); }
       kernel void k(ARGUMENTS) {
         const size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
         out[at(x, y, z)] = in[at(x + 1, y, z)] + in[at(x, y + 7, z)] * 3u + in[at(x, y, z + 1)];
       })"},
      {"a group per row of planes",
       "k",
       {.dimensions = 3, .offset = {1, 2}, .global = {6, 5, 4}, .local = {6, 1, 1}},
       R"(kernel void k(ARGUMENTS) {
         out[(get_group_id(2) * 5 + get_group_id(1)) * 6 + get_local_id(0)] =
             in[get_global_id(0) + get_global_id(1) + get_global_id(2)];
       })"},
  };
}

std::vector<Case> shared_memory() {
  return {
      {"tiled transpose", "k", two({32, 32}, {8, 8}), R"(
       __attribute__((reqd_work_group_size(8, 8, 1))) kernel void k(ARGUMENTS) {
         local uint tile[8][9];
         const size_t lx = get_local_id(0), ly = get_local_id(1);
         tile[ly][lx] = in[get_global_id(1) * 32 + get_global_id(0)];
         barrier(CLK_LOCAL_MEM_FENCE);
         out[(get_group_id(0) * 8 + ly) * 32 + get_group_id(1) * 8 + lx] = tile[lx][ly];
       })"},
      {"reduction", "k", one(256, 32), R"(kernel void k(ARGUMENTS) {
         local float sums[32];
         const size_t l = get_local_id(0);
         sums[l] = convert_float(in[get_global_id(0)] >> 8);
         barrier(CLK_LOCAL_MEM_FENCE);
         for (size_t s = 16; s > 0; s /= 2) {
           if (l < s) sums[l] += sums[l + s];
           barrier(CLK_LOCAL_MEM_FENCE);
         }
         if (l == 0) out[get_group_id(0)] = as_uint(sums[0]);
       })"},
      {"histogram", "k", one(512, 64), R"(kernel void k(ARGUMENTS) {
         local uint bins[16];
         const size_t l = get_local_id(0);
         if (l < 16) bins[l] = 0;
         barrier(CLK_LOCAL_MEM_FENCE);
         atomic_inc(&bins[in[get_global_id(0)] >> 28]);
         barrier(CLK_LOCAL_MEM_FENCE);
         if (l < 16) atomic_add(&out[l], bins[l]);
         atomic_max(out + 20, in[get_global_id(0)]);
         atom_xor(out + 21, in[get_global_id(0)]);
         atomic_min((volatile global int*)(out + 22), (int)in[get_global_id(0)]);
         atomic_sub(out + 23, 3u);
         atomic_dec(out + 24);
         atomic_or(out + 25, in[get_global_id(0)] & 0xf0u);
         atomic_and(out + 26, in[get_global_id(0)] | 0xfffu);
       })"},
  };
}

std::vector<Case> programs() {
  const std::string several = R"(
       #define GID get_global_id(0)
       #define AT(a, i) ((a)[(i)])
       #define BOTH(f) f(0) + 100 * f(1)
       uint shared_function(global const uint* in) { return AT(in, GID); }
       kernel void first(ARGUMENTS) { AT(out, GID) = shared_function(in) + BOTH(get_group_id); }
       kernel void second(ARGUMENTS) { AT(out, GID) = shared_function(in) * 7u; }
       kernel void third(ARGUMENTS) { first(in, out, n); AT(out, GID) += LIMIT; })";
  return {
      {"names that come out of macros", "k_4", one(64, 8), R"(
         #define JOINED(a, b) a##_##b
         #define NAME(a, b) JOINED(a, b)
         #define WIDTH 4
         #define ENTRY kernel void
         ENTRY NAME(k, WIDTH)(ARGUMENTS) { out[get_global_id(0)] = in[get_global_id(0)] * WIDTH; })"},
      {"the first of several kernels", "first", one(64, 8), several, "-DLIMIT=5"},
      {"the second of several kernels", "second", one(64, 8), several, "-DLIMIT=5"},
      {"a kernel that calls another one", "third", one(64, 8), several, "-DLIMIT=5"},
      {"numbers of lines", "k", one(16, 4), R"(
       kernel void k(ARGUMENTS) {
         out[get_global_id(0)] = __LINE__ + n;
       })"},
      {"an extension that is asked for, and warnings that are errors", "k", one(16, 4), R"(
       #pragma OPENCL EXTENSION cl_khr_fp64 : enable
       kernel void k(ARGUMENTS) {
         out[get_global_id(0)] = (uint)((double)in[get_global_id(0)] / 3.0);
       })",
       "-Werror"},
      {"OpenCL C 1.1", "k", one(16, 4),
       "kernel void k(ARGUMENTS) { out[get_global_id(0)] = in[get_local_id(0)]; }",
       "-cl-std=CL1.1"},
  };
}

std::vector<Case> of_opencl_2() {
  const std::string options = "-cl-std=CL2.0";
  return {
      {"linear ids", "k", two({12, 10}, {4, 5}, {2, 3}), R"(kernel void k(ARGUMENTS) {
         out[get_global_linear_id()] = in[get_local_linear_id()] + get_enqueued_local_size(1);
       })",
       options},
      {"a smaller last group", "k", two({13, 11}, {4, 3}), R"(kernel void k(ARGUMENTS) {
         out[get_global_id(1) * 13 + get_global_id(0)] =
             in[get_local_size(0) + 8 * get_local_size(1)] + (uint)get_enqueued_local_size(0);
       })",
       options},
      {"work_group_barrier", "k", one(64, 16), R"(kernel void k(ARGUMENTS) {
         local uint kept[16];
         kept[get_local_id(0)] = in[get_global_id(0)];
         work_group_barrier(CLK_LOCAL_MEM_FENCE);
         uint sum = kept[15 - get_local_id(0)];
         work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
         kept[get_local_id(0)] = sum;
         work_group_barrier(CLK_LOCAL_MEM_FENCE);
         out[get_global_id(0)] = kept[15 - get_local_id(0)] + sum;
       })",
       options},
  };
}

void check_identity(const Device& device, const Case& each) {
  CAPTURE(each.name);
  const Words in = distinct_words(1024);
  const std::string text = arguments + each.text;
  cl::Kernel plain = device.build(text, each.kernel, each.options);
  const Words expected = device.run(plain, each.launch, in, out_words);
  CHECK(expected != Words(out_words, 0xc0ffee));
  for (const Switches switches : {Switches{}, Switches{.barriers = true, .atomics = true}}) {
    cl::Kernel kernel = device.build(prelude_text(switches) + text, each.kernel, each.options);
    CHECK(device.run(kernel, each.launch, in, out_words) == expected);
    CHECK(device.run(kernel, encode(each.launch, {}), in, out_words) == expected);
  }
}

}  // namespace

TEST_CASE("kernels behind the prelude give what they gave, to the last bit") {
  const Device device;
  for (const auto& cases : {simple_cases(), many_dimensions(), shared_memory(), programs()}) {
    for (const Case& each : cases) check_identity(device, each);
  }
}

TEST_CASE("what came with OpenCL 2.0 gives what it gave") {
  const Device device;
  if (!device.compiles("-cl-std=CL2.0")) return;
  for (const Case& each : of_opencl_2()) {
    const bool is_uniform = each.launch.global[0] % each.launch.local[0] == 0;
    if (is_uniform || device.takes_non_uniform()) check_identity(device, each);
  }
}

TEST_CASE("folded groups write where the groups write that they stand for, and nowhere else") {
  const Device device;
  const Words in = distinct_words(1024);
  const NdRange launch = two({32, 32}, {8, 8});
  const std::string text = arguments + shared_memory()[0].text;
  cl::Kernel kernel = device.build(prelude_text() + text, "k");
  const Words all = device.run(kernel, encode(launch, {}), in, 1024);
  for (const Setting& setting : fold_sweep(launch)) {
    const Words out = device.run(kernel, encode(launch, setting), in, 1024);
    std::size_t written = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] == 0xc0ffee) continue;
      CHECK(out[i] == all[i]);
      ++written;
    }
    CHECK(written == 64 * count_distinct_groups(launch, setting));
  }
}

}  // namespace clprobe::prelude
