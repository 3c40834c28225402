// SPDX-License-Identifier: Apache-2.0
// Kernels with an entry of ours: what they leave, launched whole and in parts, and what they count.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "device.hpp"

namespace clprobe::prelude {
namespace {

constexpr std::uint32_t not_written = 0xc0ffee;

struct Case {
  std::string name;
  NdRange launch;
  std::string body;
};

/// Every kernel writes a word for each work-item, at a place of its own.
std::vector<Case> cases() {
  return {
      {"one dimension",
       {.dimensions = 1, .global = {64, 1, 1}, .local = {8, 1, 1}},
       "out[get_global_id(0)] = in[get_global_id(0)] + get_group_id(0) + get_num_groups(0);"},
      {"an offset",
       {.dimensions = 1, .offset = {40, 0, 0}, .global = {64, 1, 1}, .local = {8, 1, 1}},
       "out[get_global_id(0) - get_global_offset(0)] = get_global_id(0) + get_global_size(0);"},
      {"two dimensions and barriers",
       {.dimensions = 2, .global = {24, 8, 1}, .local = {8, 2, 1}},
       R"(local uint kept[16];
          const size_t l = get_local_id(1) * 8 + get_local_id(0);
          kept[l] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)];
          barrier(CLK_LOCAL_MEM_FENCE);
          out[get_global_id(1) * get_global_size(0) + get_global_id(0)] =
              kept[15 - l] + 100u * get_group_id(1) + 1000u * get_num_groups(1);)"},
      {"three dimensions",
       {.dimensions = 3, .global = {6, 4, 10}, .local = {2, 2, 5}},
       R"(const size_t row = get_global_id(2) * get_global_size(1) + get_global_id(1);
          out[row * get_global_size(0) + get_global_id(0)] =
              in[get_group_id(2) * 6 + get_group_id(1) * 3 + get_group_id(0)] + get_work_dim();)"},
  };
}

std::string text_of(const Case& each) {
  return "kernel void k(global const uint* in, global uint* out, uint n  // last\n) {" + each.body +
         "}";
}

/// With all arguments of the entry, and `padding` bytes.
cl::Kernel entered(const Device& device, const std::string& text, const NdRange& launch,
                   EntryMode mode, std::uint32_t amount, const cl::Buffer& room) {
  cl::Kernel kernel = device.build(entry_text(launch) + with_entry(text, "k"), "k");
  kernel.setArg(3, static_cast<cl_uint>(mode));
  kernel.setArg(4, cl_uint{amount});
  kernel.setArg(5, room);
  kernel.setArg(6, 64, nullptr);
  return kernel;
}

}  // namespace

TEST_CASE("kernels with an entry give what they gave, to the last bit, and parts of it by groups") {
  const Device device;
  const Words in = distinct_words(1024);
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    cl::Kernel plain = device.build(text_of(each), "k");
    const Words all = device.run(plain, each.launch, in, 512);
    const std::uint64_t groups = count_all_groups(each.launch);
    const cl::Buffer room = device.buffer(entry_counter_words);
    cl::Kernel kernel = entered(device, text_of(each), each.launch, EntryMode::none, 0, room);
    CHECK(device.run(kernel, range_of_groups(each.launch, groups), in, 512) == all);
    for (const std::uint64_t some : {std::uint64_t{1}, groups - 1}) {
      const Words out = device.run(kernel, range_of_groups(each.launch, some), in, 512);
      std::uint64_t written = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == not_written) continue;
        CHECK(out[i] == all[i]);
        ++written;
      }
      const auto& local = each.launch.local;
      CHECK(written == some * local[0] * local[1] * local[2]);
    }
  }
}

TEST_CASE("groups count how many run at once, and do nothing else") {
  const Device device;
  const Words in = distinct_words(1024);
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const cl::Buffer room = device.buffer(entry_counter_words);
    cl::Kernel kernel = entered(device, text_of(each), each.launch, EntryMode::count, 100, room);
    const Words out = device.run(kernel, range_of_groups(each.launch, 64), in, 512);
    CHECK(std::all_of(out.begin(), out.end(),
                      [](std::uint32_t word) { return word == not_written; }));
    const Words counted = device.read(room, entry_counter_words);
    CHECK(counted[entry_resident_counter] >= 1);
    // Oclgrind says that it has one compute unit, and runs a group on each core.
    CHECK(counted[entry_resident_counter] <=
          std::max(std::thread::hardware_concurrency(), device.compute_units()));
    CHECK(counted[entry_resident_counter] <= counted[0]);
  }
}

TEST_CASE("groups that end at once do nothing") {
  const Device device;
  const Words in = distinct_words(1024);
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const cl::Buffer room = device.buffer(entry_counter_words);
    cl::Kernel kernel = entered(device, text_of(each), each.launch, EntryMode::end, 100, room);
    const Words out = device.run(kernel, range_of_groups(each.launch, 4), in, 512);
    CHECK(std::all_of(out.begin(), out.end(),
                      [](std::uint32_t word) { return word == not_written; }));
    for (const std::uint32_t word : device.read(room, entry_counter_words)) CHECK(word == 0);
  }
}

}  // namespace clprobe::prelude
