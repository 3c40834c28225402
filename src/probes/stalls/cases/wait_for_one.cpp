// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/wait_for_one.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::wait_for_one {
namespace {

// Sub-groups whose size the driver does not say, or of which it says what is no hardware's.
constexpr std::int64_t usual_lanes = 32;
// Lanes that take turns, one in so many.
constexpr std::uint32_t turns_of_lanes = 8;
constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
// Of a chase, one behind the other (cl/stalls_mixed.clh).
constexpr int chased_loads = 4;

/// NVIDIA's driver runs no more of a kernel that does not say how many it takes. A CPU does them
/// one after another.
std::int64_t max_items(const DeviceInfo& device) { return is_gpu(device) ? 256 : 64; }

std::uint32_t lanes_of(const DeviceInfo& device) {
  const std::int64_t said = device.sub_group_size;
  const bool is_usable = said >= 8 && said <= 64 && std::has_single_bit(std::uint64_t(said));
  return static_cast<std::uint32_t>(is_usable ? said : usual_lanes);
}

std::vector<Cause> causes_of(const Mix& mix, bool is_lumped) {
  std::vector<Cause> causes;
  if (mix.far_loads != 0 && !is_lumped) causes.push_back(Cause::main_memory);
  if (mix.far_loads != 0 || mix.near_loads != 0) {
    causes.push_back(mix.far_loads != 0 && is_lumped ? Cause::beyond_first : Cause::second_cache);
  }
  if (mix.tile_loads != 0) causes.push_back(Cause::bank_conflict);
  if (mix.has_barrier) causes.push_back(Cause::barrier);
  if (mix.chain_steps != 0) causes.push_back(Cause::chain);
  if (mix.is_divergent) causes.push_back(Cause::divergence);
  const std::vector<Cause> more = structural::causes_of(mix.structural);
  causes.insert(causes.end(), more.begin(), more.end());
  return causes;
}

/// A CPU's compute unit does one group after another.
std::uint32_t groups_of(const DeviceInfo& device, std::uint32_t per_unit) {
  const auto units = static_cast<std::uint32_t>(std::max<std::int64_t>(device.compute_units, 1));
  return is_gpu(device) ? units * per_unit : units;
}

Shape usual_shape(const Mix& mix, const DeviceInfo& device, const Options& requested) {
  const WorkingSets sets = WorkingSets::of(device, requested);
  const bool is_lump = sets.is_lumped && mix.built_for == Cause::main_memory;
  Shape shape;
  shape.name = mix.name;
  shape.timer = to_word(timer_of_kernels(device));
  shape.built_for = label_of(is_lump ? Cause::beyond_first : mix.built_for);
  shape.ablated.factors = joined(causes_of(mix, sets.is_lumped));
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

/// With nothing left to wait for, and enough groups to fill what gaps there still are: what each of
/// them takes then is the time in which its instructions are issued. A CPU's core runs one group
/// after another.
void add_crowd(std::vector<Point>& points, const Mix& mix, Shape shape, const DeviceInfo& device) {
  if (!is_gpu(device)) return;
  shape.ablated.idealised = (1U << causes_in(shape.ablated.factors).size()) - 1;
  shape.crowd = mix.crowd;
  shape.groups *= mix.crowd;
  points.push_back(point_of(mix, shape));
}

/// Clocks where groups end, and of a GPU's sub-groups where they meet: a CPU's core runs the
/// work-items of a group one after another, and nobody waits.
void add_phases(std::vector<Point>& points, const Point& usual, const Mix& mix,
                const DeviceInfo& device) {
  if (device.timer != Timer::clock) return;
  if (mix.has_barrier && is_gpu(device)) {
    points.push_back(with_phase(usual, phase_barrier));
    points.push_back(with_phase(usual, phase_all));
  }
  // Where groups share no clock, sub-groups are compared with those of their own group.
  const bool is_alone = shape_of<Shape>(usual).parts_of_group() == 1;
  if (is_alone && !has_shared_clock(device)) return;
  if (has_shared_clock(device)) return add_tail(points, usual, device);
  points.push_back(with_phase(usual, phase_tail));
  points.push_back(with_phase(usual, phase_span));
}

/// Noise is made by as many work-items again, in the same groups: what waits goes on waiting
/// meanwhile, in whatever order the device takes sub-groups.
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

/// The variables of a work-item.
struct Item : NoiseItem {
  std::uint32_t far{0};
  std::array<std::uint32_t, 4> x{};
  std::array<std::uint32_t, 4> x_more{};  ///< x4 to x7
};

/// An iteration of stalls_mixed in cl/stalls_mixed.clh.
void work(const Arguments& arguments, std::uint32_t number, std::uint32_t i, Item& item) {
  const std::uint32_t lane = number % line_words;
  for (std::uint32_t k = 0; k < arguments.far_loads; ++k) {
    if (arguments.is_chase) {
      for (int load = 0; load < chased_loads; ++load) {
        item.far += mixed((item.far >> 8U) & arguments.far_mask);
        item.far = next_state(item.far);
      }
    } else {
      item.sum += load_lines(item.far, arguments.far_mask, 8);
    }
  }
  for (std::uint32_t k = 0; k < arguments.near_loads; ++k) {
    item.sum += load_lines(item.near, arguments.near_mask, 4);
  }
  for (std::uint32_t k = 0; k < arguments.tile_loads; ++k) {
    item.sum += load_tile(lane * arguments.tile_stride, item.turned);
  }
  item.sum += structural::work(arguments.structural, lane, item.near);
  if (arguments.is_chain) {
    for (std::uint32_t k = 0; k < 4 * arguments.chain_steps; ++k) item.x[0] = step(item.x[0]);
  } else {
    step_all(item.x, (arguments.chain_steps + 1) / 2, step_addend);
    step_all(item.x_more, arguments.chain_steps / 2, step_addend);
  }
  if (((number >> arguments.turn_shift) & arguments.turn_mask) == (i & arguments.turn_mask)) {
    step_all(item.y, arguments.turn_steps, step_addend);
  }
}

void add_clocks(std::string_view bar, const Points& points, const DeviceInfo& device,
                std::vector<Finding>& findings) {
  const auto waited = paired_phase_time(points, phase_barrier, device);
  const auto all = paired_phase_time(points, phase_all, device);
  std::vector<PhaseTime> times;
  if (waited && all && all->ns > 0.0) times.push_back({"synchronization: barrier", *waited});
  add_clock_parts(bar, times, times.empty() ? 0.0 : all->ns, points, device, findings);
}

}  // namespace

std::uint32_t Shape::parts_of_group() const { return (work_items + line_words - 1) / line_words; }

std::uint32_t Shape::rows() const { return (groups * work_items + line_words - 1) / line_words; }

Arguments Arguments::of(const Mix& mix, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const auto has_taken = [&](Cause cause) { return shape.ablated.has_taken(cause); };
  const std::uint32_t first = mask_of(shape.first_bytes);
  const std::uint32_t near = has_taken(Cause::second_cache) || has_taken(Cause::beyond_first)
                                 ? first
                                 : mask_of(shape.near_bytes);
  const std::uint32_t far = mask_of(shape.far_bytes);
  const std::uint32_t lanes = std::max(shape.lanes, 1U);
  const bool lanes_take_turns = mix.is_divergent && !has_taken(Cause::divergence);
  Arguments arguments;
  arguments.groups = shape.groups;
  arguments.work_items = shape.work_items;
  arguments.workers = shape.workers;
  arguments.far_loads = mix.far_loads;
  arguments.far_mask = has_taken(Cause::main_memory) || has_taken(Cause::beyond_first) ? near : far;
  arguments.is_chase = mix.is_chase;
  arguments.near_loads = mix.near_loads;
  arguments.near_mask = near;
  arguments.tile_loads = mix.tile_loads;
  arguments.tile_stride = has_taken(Cause::bank_conflict) ? 1 : mix.tile_stride;
  arguments.chain_steps = mix.chain_steps;
  arguments.is_chain = !has_taken(Cause::chain);
  arguments.turn_steps = mix.turn_steps;
  arguments.turn_shift = lanes_take_turns ? 0 : static_cast<std::uint32_t>(std::countr_zero(lanes));
  arguments.turn_mask = mix.is_divergent ? turns_of_lanes - 1
                                         : std::bit_floor(std::max(shape.workers / lanes, 1U)) - 1;
  arguments.has_barrier = mix.has_barrier && !has_taken(Cause::barrier);
  arguments.structural = structural::Arguments::of(
      mix.structural, shape.ablated,
      {.count = shape.rows(), .far_bytes = shape.far_bytes, .first_bytes = shape.first_bytes});
  const auto noise = noise_of(point);
  if (noise) {
    arguments.noise.kind = place_of_noise(noise->kind);
    arguments.noise.amount = noise->amount * mix.noise_units.of(arguments.noise.kind);
  }
  arguments.noise.addend = step_addend;
  arguments.noise.mask = noise && noise->kind == "memory" ? far : first;
  return arguments;
}

std::uint64_t most_iterations(const Mix& mix, const DeviceInfo& device, const Point& point) {
  const Arguments a = Arguments::of(mix, point);
  const std::uint64_t items = std::max(a.work_items, 1U);
  // Work-items that run together take the branches of all of them.
  return fitting_turns(device, (tile_words + items - 1) / items,
                       std::uint64_t{1} + a.far_loads + a.near_loads + a.tile_loads +
                           a.chain_steps + a.turn_steps + a.structural.turns() + a.noise.amount);
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
  memory.copies = Arguments::of(mix, point).structural.stored_bytes();
  memory.results = std::uint64_t{shape.groups} * shape.work_items * word_bytes;
  if (has_stamps(point)) {
    memory.stamps = std::uint64_t{shape.groups} * shape.parts_of_group() * sizeof(Stamp);
  }
  return memory;
}

std::uint32_t result_of(const Arguments& arguments, std::uint32_t launch, std::uint32_t iterations,
                        std::uint32_t group, std::uint32_t item) {
  const std::uint32_t row = (group * arguments.work_items + item) / line_words;
  Item all{};
  all.far = mixed(row ^ mixed(launch));
  all.near = mixed(all.far);
  all.x = {item, item + 1, item + 2, item + 3};
  all.x_more = {item + 4, item + 5, item + 6, item + 7};
  all.y = all.x;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    if (item < arguments.workers) {
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
