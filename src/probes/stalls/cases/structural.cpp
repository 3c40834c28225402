// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/structural.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/shared/mixed.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::structural {
namespace {

constexpr std::uint64_t block_bytes = block_words * sizeof(std::uint32_t);
static_assert(block_words == line_words * line_words);
constexpr std::uint32_t all_ones = 0xffffffff;
constexpr std::uint32_t chains = 4;
// As a float, 8388608: added to a small whole number it leaves it in the low bits.
constexpr std::uint32_t whole_bits = 0x4b000000;

std::uint32_t blocks_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(
      std::bit_floor(std::max(bytes / block_bytes, std::uint64_t{1})));
}

/// A block for each row, so that caches hold them; or the array as a whole.
std::uint32_t stored_blocks(const Mix& mix, const Rows& rows) {
  const std::uint32_t all = blocks_in(rows.far_bytes / 2);
  return mix.stores_go_far ? all : std::min(all, std::bit_ceil(rows.count));
}

/// What a unit adds to a work-item's sum.
std::uint32_t functions_of(const Arguments& arguments, std::uint32_t near) {
  // Bits 30, 29, 28 and 27 say which chains begin at 2^64.
  const auto large = static_cast<std::uint32_t>(std::popcount((near >> 27U) & 0xfU));
  // Six inverse roots make 2 of 2^64 and 1/2 of 2^-64; six halvings 2^58, and next to nothing.
  return whole_bits + (arguments.is_special ? 4 * large + (chains - large) : 2 * large);
}

bool is_opencl(const DeviceInfo& device, std::string_view major) {
  return device.version.starts_with(fmt::format("OpenCL {}.", major));
}

bool is_nvidia(const DeviceInfo& device) { return device.isa == "nvptx"; }

}  // namespace

std::vector<Cause> causes_of(const Mix& mix) {
  std::vector<Cause> causes;
  if (mix.is_scattered) causes.push_back(Cause::serial_requests);
  if (mix.has_fence) causes.push_back(Cause::release);
  if (mix.stores != 0) causes.push_back(Cause::store_buffer);
  if (mix.functions != 0) causes.push_back(Cause::function_unit);
  return causes;
}

Arguments Arguments::of(const Mix& mix, const Ablated& ablated, const Rows& rows) {
  Arguments arguments;
  const std::uint32_t blocks = stored_blocks(mix, rows);
  const bool is_scattered = mix.is_scattered && !ablated.has_taken(Cause::serial_requests);
  arguments.loads = mix.loads;
  arguments.load_mask = blocks_in(rows.first_bytes) - 1;
  arguments.lane_stride = is_scattered ? line_words : 1;
  arguments.turn_stride = is_scattered ? 1 : line_words;
  arguments.stores = mix.stores;
  arguments.row_blocks = std::max(blocks / std::max(rows.count, 1U), 1U);
  arguments.store_mask = blocks - 1;
  arguments.gate = ablated.has_taken(Cause::store_buffer) ? all_ones : 0;
  arguments.has_fence = mix.has_fence && !ablated.has_taken(Cause::release);
  arguments.functions = mix.functions;
  arguments.is_special = mix.functions != 0 && !ablated.has_taken(Cause::function_unit);
  return arguments;
}

std::uint64_t Arguments::stored_bytes() const {
  return stores == 0 ? 0 : (std::uint64_t{store_mask} + 1) * block_bytes;
}

std::uint64_t Arguments::turns() const { return std::uint64_t{loads} + stores + functions; }

float Arguments::function_scale() const { return is_special ? 0x1p1F : 0x1p-57F; }

std::uint32_t work(const Arguments& arguments, std::uint32_t lane, std::uint32_t& near) {
  std::uint32_t sum = 0;
  if (arguments.loads != 0) {
    const std::uint32_t begin =
        ((near >> 8U) & arguments.load_mask) * block_words + lane * arguments.lane_stride;
    near = next_state(near);
    for (std::uint32_t turn = 0; turn < 4 * arguments.loads; ++turn) {
      sum += mixed((begin + turn * arguments.turn_stride) / line_words);
    }
  }
  for (std::uint32_t k = 0; k < arguments.functions; ++k) {
    sum += functions_of(arguments, near);
    near = next_state(near);
  }
  return sum;
}

std::uint32_t place_of(const Arguments& arguments, const Store& store) {
  const std::uint32_t block =
      (store.row * arguments.row_blocks + store.iteration % arguments.row_blocks) &
      arguments.store_mask;
  return block * block_words + store.lane * arguments.lane_stride +
         store.turn * arguments.turn_stride;
}

std::uint32_t stored_word(std::uint32_t place, std::uint32_t launch) {
  // Clear of the gate, which is all ones.
  return (place ^ mixed(launch)) & (all_ones >> 1U);
}

std::string option_of(const Mix& mix, const DeviceInfo& device) {
  if (!mix.is_used()) return "";
  if (!mix.has_fence) return " -DSTRUCTURAL=1";
  // The fence came with OpenCL C 2.0. NVIDIA's compiler has an instruction for it in any version.
  if (is_nvidia(device) || !find_fence_problem(device).empty()) return " -DSTRUCTURAL=2";
  return fmt::format(" -cl-std=CL{}.0 -DSTRUCTURAL=2", is_opencl(device, "3") ? 3 : 2);
}

std::string find_fence_problem(const DeviceInfo& device) {
  if (is_nvidia(device) || is_opencl(device, "2") || is_opencl(device, "3")) return "";
  return fmt::format("{} has no fence that makes a work-item's stores visible to the whole device",
                     device.version.substr(0, std::string_view("OpenCL 1.2").size()));
}

}  // namespace clprobe::stalls::structural
