// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/wait_for_one.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <string>

#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls::wait_for_one {
namespace {

// Size of a sub-group if the driver reports no size, or a size that no hardware has.
constexpr std::int64_t usual_lanes = 32;
// One in this number of divergent lanes is active at a time.
constexpr std::uint32_t lanes_per_active_lane = 8;
constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
// Number of dependent loads in one unit of a chase (cl/stalls_mixed.clh).
constexpr int chased_loads = 4;

constexpr std::uint64_t block_bytes = block_words * word_bytes;
constexpr std::uint32_t all_ones = 0xffffffff;
constexpr std::uint32_t function_chains = 4;
// Bits of the float 8388608 (2^23). A small whole number that is added changes only the low bits.
constexpr std::uint32_t whole_bits = 0x4b000000;

/// Returns the maximum size of a group. On a GPU, this is the limit of NVIDIA's driver for kernels
/// without a declared group size. On a CPU, the size is small because work-items run one after
/// another.
std::int64_t max_items(const DeviceInfo& device) { return is_gpu(device) ? 256 : 64; }

std::uint32_t lanes_of(const DeviceInfo& device) {
  const std::int64_t said = device.sub_group_size;
  const bool is_usable = said >= 8 && said <= 64 && std::has_single_bit(std::uint64_t(said));
  return static_cast<std::uint32_t>(is_usable ? said : usual_lanes);
}

std::vector<Cause> causes_of(const Mix& mix, bool is_combined) {
  std::vector<Cause> causes;
  if (mix.far_loads != 0 && !is_combined) causes.push_back(Cause::main_memory);
  if (mix.far_loads != 0 || mix.near_loads != 0) {
    causes.push_back(mix.far_loads != 0 && is_combined ? Cause::beyond_first : Cause::second_cache);
  }
  if (mix.tile_loads != 0) causes.push_back(Cause::bank_conflict);
  if (mix.has_barrier) causes.push_back(Cause::barrier);
  if (mix.chain_steps != 0) causes.push_back(Cause::chain);
  if (mix.is_divergent) causes.push_back(Cause::divergence);
  if (mix.is_scattered) causes.push_back(Cause::serial_requests);
  if (mix.has_fence) causes.push_back(Cause::release);
  if (mix.stores != 0) causes.push_back(Cause::store_buffer);
  if (mix.functions != 0) causes.push_back(Cause::function_unit);
  return causes;
}

/// Returns the number of groups of a launch. A CPU gets one group per core, because a core runs one
/// group after another.
std::uint32_t groups_of(const DeviceInfo& device, std::uint32_t per_unit) {
  const auto units = static_cast<std::uint32_t>(std::max<std::int64_t>(device.compute_units, 1));
  return is_gpu(device) ? units * per_unit : units;
}

Shape usual_shape(const Mix& mix, const DeviceInfo& device, const Options& requested) {
  const WorkingSets sets = WorkingSets::of(device, requested);
  const bool is_combined_cause = sets.is_combined && mix.built_for == Cause::main_memory;
  Shape shape;
  shape.name = mix.name;
  shape.timer = to_word(timer_of_kernels(device));
  shape.built_for = label_of(is_combined_cause ? Cause::beyond_first : mix.built_for);
  shape.ablated.factors = joined(causes_of(mix, sets.is_combined));
  shape.lanes = lanes_of(device);
  shape.groups = groups_of(device, mix.groups_per_unit);
  shape.work_items = static_cast<std::uint32_t>(
      group_size(device, std::min<std::int64_t>(mix.work_items, max_items(device))));
  shape.workers = shape.work_items;
  shape.far_bytes = sets.far_bytes;
  shape.near_bytes = sets.near_bytes;
  shape.first_bytes = sets.first_bytes;
  return shape;
}

Point point_of(const Mix& mix, const Shape& shape) {
  Point point;
  point.series = mix.name;
  write_shape(shape, point);
  return point;
}

/// Adds the kernel with all causes removed, in a launch with enough groups to keep the units busy.
/// The time per group is then the issue time of its instructions. A CPU gets no launch with
/// additional groups: a core runs one group after another, without gaps.
void add_crowd(std::vector<Point>& points, const Mix& mix, Shape shape, const DeviceInfo& device) {
  if (!is_gpu(device)) return;
  shape.ablated.idealised = (1U << causes_in(shape.ablated.factors).size()) - 1;
  shape.crowd = mix.crowd;
  shape.groups *= mix.crowd;
  points.push_back(point_of(mix, shape));
}

/// Adds clocks at the end of groups and, on a GPU, at barriers. On a CPU, a core runs the
/// work-items of a group one after another, so no work-item waits at a barrier.
void add_phases(std::vector<Point>& points, const Point& usual, const Mix& mix,
                const DeviceInfo& device) {
  if (device.timer != Timer::clock) return;
  if (mix.has_barrier && is_gpu(device)) {
    points.push_back(with_phase(usual, phase_barrier));
    points.push_back(with_phase(usual, phase_all));
  }
  add_tail(points, usual, device);
}

/// Returns points in which half of each group's work-items make noise and the other half runs the
/// kernel. The noise then runs while the kernel waits, regardless of the order of sub-groups.
std::vector<Point> noisy_points(const Mix& mix, Shape shape, const DeviceInfo& device,
                                const Options& requested) {
  const std::int64_t items =
      group_size(device, std::min(std::int64_t{2} * mix.work_items, max_items(device)));
  if (items < 2) return {};
  shape.groups = groups_of(device, mix.noisy_groups_per_unit);
  shape.work_items = static_cast<std::uint32_t>(items);
  shape.workers = shape.work_items / 2;
  return noise_points(point_of(mix, shape), device, requested.effort);
}

std::uint32_t mask_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(bytes / (line_words * word_bytes) - 1);
}

std::uint32_t blocks_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(
      std::bit_floor(std::max(bytes / block_bytes, std::uint64_t{1})));
}

/// Returns the addend of one unit of special functions to the sum of a work-item.
std::uint32_t sum_of_functions(const Arguments& arguments, std::uint32_t near) {
  // Bits 27 to 30 select the chains that begin at 2^64.
  const auto large = static_cast<std::uint32_t>(std::popcount((near >> 27U) & 0xfU));
  // A chain of six inverse roots maps 2^64 to 2, and 2^-64 to 1/2. A chain of six halvings maps
  // 2^64 to 2^58, and 2^-64 to nearly 0.
  return whole_bits + (arguments.is_special ? 4 * large + (function_chains - large) : 2 * large);
}

void set_structural(const Mix& mix, const Shape& shape, Arguments& arguments) {
  const auto is_removed = [&](Cause cause) { return shape.ablated.is_removed(cause); };
  // By default, each row stores to one block, so that caches keep the blocks. With `stores_go_far`,
  // the rows store to the whole array.
  const std::uint32_t all = blocks_in(shape.far_bytes / 2);
  const std::uint32_t rows = std::max(shape.rows(), 1U);
  const std::uint32_t blocks = mix.stores_go_far ? all : std::min(all, std::bit_ceil(rows));
  const bool is_scattered = mix.is_scattered && !is_removed(Cause::serial_requests);
  arguments.load_mask = blocks_in(shape.first_bytes) - 1;
  arguments.lane_stride = is_scattered ? line_words : 1;
  arguments.turn_stride = is_scattered ? 1 : line_words;
  arguments.row_blocks = std::max(blocks / rows, 1U);
  arguments.store_mask = blocks - 1;
  arguments.gate = is_removed(Cause::store_buffer) ? all_ones : 0;
  arguments.mix.has_fence = mix.has_fence && !is_removed(Cause::release);
  arguments.is_special = mix.functions != 0 && !is_removed(Cause::function_unit);
}

/// Returns the sum of `count` loads from lines that the generator chooses.
std::uint32_t load_lines(std::uint32_t& state, std::uint32_t mask, int count) {
  std::uint32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    sum += mixed((state >> 8U) & mask);
    state = next_state(state);
  }
  return sum;
}

std::uint32_t load_tile(std::uint32_t first, std::uint32_t& turned) {
  std::uint32_t sum = 0;
  for (int k = 0; k < 4; ++k) sum += mixed(~((first + turned++) & (tile_words - 1)));
  return sum;
}

void step_all(std::array<std::uint32_t, 4>& values, std::uint32_t count) {
  for (std::uint32_t k = 0; k < count; ++k) {
    for (std::uint32_t& each : values) each = step(each);
  }
}

std::uint32_t folded(const std::array<std::uint32_t, 4>& values) {
  return mixed(values[0] ^ mixed(values[1])) + mixed(values[2] ^ mixed(values[3]));
}

struct Item {
  std::uint32_t near{0};
  std::uint32_t turned{0};
  std::uint32_t sum{0};
  std::array<std::uint32_t, 4> y{};
  std::uint32_t far{0};
  std::array<std::uint32_t, 4> x{};
  std::array<std::uint32_t, 4> x_more{};  ///< variables x4 to x7 of the kernel
};

/// Computes one iteration of a work-item that makes noise (MAKE_NOISE in cl/stalls_noise.clh).
void make_noise(const Noise& noise, std::uint32_t lane, Item& item) {
  if (noise.kind == 0) {
    step_all(item.y, noise.amount);
    return;
  }
  for (std::uint32_t k = 0; k < noise.amount; ++k) {
    item.sum +=
        noise.kind == 1 ? load_tile(lane, item.turned) : load_lines(item.near, noise.mask, 4);
  }
}

/// Computes one iteration of a work-item of stalls_mixed (cl/stalls_mixed.clh).
void work(const Arguments& arguments, std::uint32_t number, std::uint32_t i, Item& item) {
  const Mix& mix = arguments.mix;
  const std::uint32_t lane = number % line_words;
  for (std::uint32_t k = 0; k < mix.far_loads; ++k) {
    if (mix.is_chase) {
      for (int load = 0; load < chased_loads; ++load) {
        item.far += mixed((item.far >> 8U) & arguments.far_mask);
        item.far = next_state(item.far);
      }
    } else {
      item.sum += load_lines(item.far, arguments.far_mask, 8);
    }
  }
  for (std::uint32_t k = 0; k < mix.near_loads; ++k) {
    item.sum += load_lines(item.near, arguments.near_mask, 4);
  }
  for (std::uint32_t k = 0; k < mix.tile_loads; ++k) {
    item.sum += load_tile(lane * mix.tile_stride, item.turned);
  }
  item.sum += structural_work(arguments, lane, item.near);
  if (arguments.is_chain) {
    for (std::uint32_t k = 0; k < 4 * mix.chain_steps; ++k) item.x[0] = step(item.x[0]);
  } else {
    step_all(item.x, (mix.chain_steps + 1) / 2);
    step_all(item.x_more, mix.chain_steps / 2);
  }
  if (((number >> arguments.turn_shift) & arguments.turn_mask) == (i & arguments.turn_mask)) {
    step_all(item.y, mix.turn_steps);
  }
}

void add_clocks(std::string_view bar, const Points& points, const DeviceInfo& device,
                std::vector<Finding>& findings) {
  const auto waited = paired_phase_time(points, phase_barrier, device);
  const auto all = paired_phase_time(points, phase_all, device);
  std::vector<PhaseTime> times;
  if (waited && all && all->ns > 0.0) times.push_back({"synchronization: barrier", *waited});
  add_clock_parts(bar, times, times.empty() ? 0.0 : all->ns, points, findings);
}

}  // namespace

std::uint32_t Shape::parts_of_group() const { return (work_items + line_words - 1) / line_words; }

std::uint32_t Shape::rows() const { return (groups * work_items + line_words - 1) / line_words; }

Arguments Arguments::of(const Mix& mix, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const auto is_removed = [&](Cause cause) { return shape.ablated.is_removed(cause); };
  const std::uint32_t first = mask_of(shape.first_bytes);
  const std::uint32_t near = is_removed(Cause::second_cache) || is_removed(Cause::beyond_first)
                                 ? first
                                 : mask_of(shape.near_bytes);
  const std::uint32_t far = mask_of(shape.far_bytes);
  const std::uint32_t lanes = std::max(shape.lanes, 1U);
  const bool lanes_alternate = mix.is_divergent && !is_removed(Cause::divergence);
  Arguments arguments{.mix = mix, .shape = shape};
  if (is_removed(Cause::bank_conflict)) arguments.mix.tile_stride = 1;
  arguments.mix.has_barrier = mix.has_barrier && !is_removed(Cause::barrier);
  arguments.far_mask =
      is_removed(Cause::main_memory) || is_removed(Cause::beyond_first) ? near : far;
  arguments.near_mask = near;
  arguments.is_chain = !is_removed(Cause::chain);
  arguments.turn_shift = lanes_alternate ? 0 : static_cast<std::uint32_t>(std::countr_zero(lanes));
  arguments.turn_mask = mix.is_divergent ? lanes_per_active_lane - 1
                                         : std::bit_floor(std::max(shape.workers / lanes, 1U)) - 1;
  set_structural(mix, shape, arguments);
  const auto noise = noise_of(point);
  if (noise) {
    arguments.noise.kind = index_of_noise(noise->kind);
    arguments.noise.amount = noise->amount * mix.noise_units.of(arguments.noise.kind);
  }
  arguments.noise.mask = noise && noise->kind == "memory" ? far : first;
  return arguments;
}

std::uint64_t Arguments::stored_bytes() const {
  return mix.stores == 0 ? 0 : (std::uint64_t{store_mask} + 1) * block_bytes;
}

std::uint32_t structural_work(const Arguments& arguments, std::uint32_t lane, std::uint32_t& near) {
  std::uint32_t sum = 0;
  if (arguments.mix.block_loads != 0) {
    const std::uint32_t begin =
        ((near >> 8U) & arguments.load_mask) * block_words + lane * arguments.lane_stride;
    near = next_state(near);
    for (std::uint32_t turn = 0; turn < 4 * arguments.mix.block_loads; ++turn) {
      sum += mixed((begin + turn * arguments.turn_stride) / line_words);
    }
  }
  for (std::uint32_t k = 0; k < arguments.mix.functions; ++k) {
    sum += sum_of_functions(arguments, near);
    near = next_state(near);
  }
  return sum;
}

std::uint32_t index_of(const Arguments& arguments, const Store& store) {
  const std::uint32_t block =
      (store.row * arguments.row_blocks + store.iteration % arguments.row_blocks) &
      arguments.store_mask;
  return block * block_words + store.lane * arguments.lane_stride +
         store.turn * arguments.turn_stride;
}

std::uint32_t stored_word(std::uint32_t index, std::uint32_t launch) {
  // The top bit is 0, so that no stored word equals a closed gate, which is all ones.
  return (index ^ mixed(launch)) & (all_ones >> 1U);
}

std::string find_fence_problem(const DeviceInfo& device) {
  const bool has_fence = device.isa == "nvptx" || device.version.starts_with("OpenCL 2.") ||
                         device.version.starts_with("OpenCL 3.");
  if (has_fence) return "";
  return fmt::format("{} has no fence that makes a work-item's stores visible to the whole device",
                     device.version.substr(0, std::string_view("OpenCL 1.2").size()));
}

std::uint64_t most_iterations(const DeviceInfo& device, const Arguments& arguments) {
  const Mix& mix = arguments.mix;
  const std::uint64_t items = std::max(arguments.shape.work_items, 1U);
  // A sub-group executes each branch that one of its work-items takes, so all loops count.
  const std::uint64_t inner = std::uint64_t{1} + mix.far_loads + mix.near_loads + mix.tile_loads +
                              mix.chain_steps + mix.turn_steps + mix.block_loads + mix.stores +
                              mix.functions + arguments.noise.amount;
  return max_fitting_iterations(device, (tile_words + items - 1) / items, inner);
}

std::vector<Point> points_of(const Mix& mix, const DeviceInfo& device, const Options& requested) {
  const Shape shape = usual_shape(mix, device, requested);
  const Point usual = point_of(mix, shape);
  std::vector<Point> points = with_all_sets(usual);
  add_crowd(points, mix, shape, device);
  add_phases(points, usual, mix, device);
  std::vector<Point> noise = noisy_points(mix, shape, device, requested);
  points.insert(points.end(), std::make_move_iterator(noise.begin()),
                std::make_move_iterator(noise.end()));
  return points;
}

Memory memory_of(const Mix& mix, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  Memory memory;
  memory.data = shape.far_bytes;
  memory.copies = Arguments::of(mix, point).stored_bytes();
  memory.results = std::uint64_t{shape.groups} * shape.work_items * word_bytes;
  if (has_stamps(point)) {
    memory.stamps = std::uint64_t{shape.groups} * shape.parts_of_group() * sizeof(Stamp);
  }
  return memory;
}

std::uint32_t result_of(const Arguments& arguments, std::uint32_t launch, std::uint32_t iterations,
                        std::uint32_t group, std::uint32_t item) {
  const std::uint32_t row = (group * arguments.shape.work_items + item) / line_words;
  Item all{};
  all.far = mixed(row ^ mixed(launch));
  all.near = mixed(all.far);
  all.x = {item, item + 1, item + 2, item + 3};
  all.x_more = {item + 4, item + 5, item + 6, item + 7};
  all.y = all.x;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    if (item < arguments.shape.workers) {
      work(arguments, item, i, all);
    } else {
      make_noise(arguments.noise, item % line_words, all);
    }
  }
  return mixed(all.far) + mixed(all.sum) + folded(all.x) + folded(all.x_more) + folded(all.y);
}

void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings) {
  add_ablation(bar, points, device, findings);
  add_clocks(bar, points, device, findings);
}

}  // namespace clprobe::stalls::wait_for_one
