// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/micro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <stdexcept>

#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

// Each has one large cause and some of the others, so that there is something to tell apart. The
// numbers put the large one at some times the rest on a GPU whose compute unit runs 4 sub-groups at
// once, loads from main memory in 700 cycles and from its second cache in 280.
constexpr std::array micro_cases{
    MicroCase{"memory",
              Cause::main_memory,
              2,
              4,
              256,
              1,
              false,
              0,
              1,
              2,
              1,
              0,
              false,
              false,
              {16, 8, 8, 1}},
    MicroCase{"latency",
              Cause::main_memory,
              1,
              1,
              32,
              1,
              true,
              0,
              1,
              2,
              1,
              0,
              false,
              false,
              {16, 4, 4, 1}},
    MicroCase{"banks",
              Cause::bank_conflict,
              2,
              4,
              256,
              0,
              false,
              1,
              4,
              32,
              1,
              0,
              true,
              false,
              {64, 16, 8, 1}},
    MicroCase{"barrier",
              Cause::barrier,
              1,
              2,
              256,
              0,
              false,
              1,
              1,
              2,
              1,
              128,
              true,
              false,
              {32, 8, 8, 1}},
    MicroCase{
        "chain", Cause::chain, 1, 1, 32, 0, false, 1, 1, 2, 64, 0, true, false, {32, 8, 8, 1}},
    MicroCase{"divergence",
              Cause::divergence,
              2,
              4,
              256,
              0,
              false,
              1,
              1,
              2,
              1,
              64,
              false,
              true,
              {16, 8, 8, 1}}};

// Sub-groups whose size the driver does not say, or of which it says what is no hardware's.
constexpr std::int64_t usual_lanes = 32;
// Lanes that take turns, one in so many.
constexpr std::uint32_t turns_of_lanes = 8;

/// NVIDIA's driver runs no more of a kernel that does not say how many it takes. A processor does
/// them one after another.
std::int64_t most_items_of(const DeviceInfo& device) { return is_gpu(device) ? 256 : 64; }

std::uint32_t lanes_of(const DeviceInfo& device) {
  const std::int64_t said = device.sub_group_size;
  const bool is_usable = said >= 8 && said <= 64 && std::has_single_bit(std::uint64_t(said));
  return static_cast<std::uint32_t>(is_usable ? said : usual_lanes);
}

std::vector<Cause> causes_of(const MicroCase& micro, bool is_lumped) {
  std::vector<Cause> causes;
  if (micro.far_loads != 0 && !is_lumped) causes.push_back(Cause::main_memory);
  causes.push_back(micro.far_loads != 0 && is_lumped ? Cause::beyond_first : Cause::second_cache);
  causes.push_back(Cause::bank_conflict);
  if (micro.has_barrier) causes.push_back(Cause::barrier);
  causes.push_back(Cause::chain);
  if (micro.is_divergent) causes.push_back(Cause::divergence);
  return causes;
}

/// A processor's compute unit does one group after another.
std::int64_t groups_of(const DeviceInfo& device, std::uint32_t per_unit) {
  const std::int64_t units = std::max<std::int64_t>(device.compute_units, 1);
  return is_gpu(device) ? units * per_unit : units;
}

Point point_of(const MicroCase& micro, const DeviceInfo& device, const Limits& limits) {
  const Footprints footprints = footprints_of(device, limits);
  Point point;
  point.series = micro.name;
  point.parameters.set("case", std::string(micro.name));
  point.parameters.set("timer", std::string(to_word(device.launch_timer)));
  const bool is_lump = footprints.is_lumped && micro.built_for == Cause::main_memory;
  point.parameters.set("built_for",
                       std::string(label_of(is_lump ? Cause::beyond_first : micro.built_for)));
  point.parameters.set("factors", joined(causes_of(micro, footprints.is_lumped)));
  point.parameters.set("idealised", std::int64_t{0});
  point.parameters.set("lanes", std::int64_t{lanes_of(device)});
  point.parameters.set("groups", groups_of(device, micro.groups_per_unit));
  const std::int64_t items =
      group_of(device, std::min<std::int64_t>(micro.work_items, most_items_of(device)));
  point.parameters.set("work_items", items);
  point.parameters.set("workers", items);
  point.parameters.set("far_bytes", static_cast<std::int64_t>(footprints.far_bytes));
  point.parameters.set("near_bytes", static_cast<std::int64_t>(footprints.near_bytes));
  point.parameters.set("first_bytes", static_cast<std::int64_t>(footprints.first_bytes));
  return point;
}

/// Clocks where groups end, and of a GPU's sub-groups where they meet: a processor's core runs the
/// work-items of a group one after another, and nobody waits.
void add_phases(std::vector<Point>& points, const Point& usual, const MicroCase& micro,
                const DeviceInfo& device) {
  if (device.timer != Timer::clock) return;
  if (micro.has_barrier && is_gpu(device)) {
    points.push_back(phase_of_point(usual, phase_barrier));
    points.push_back(phase_of_point(usual, phase_all));
  }
  // Where groups share no clock, sub-groups are compared with those of their own group.
  const bool is_alone = usual.parameters.integer("work_items") <= line_words;
  if (is_alone && !has_shared_clock(device)) return;
  points.push_back(phase_of_point(usual, phase_tail));
  points.push_back(phase_of_point(usual, phase_span));
}

std::uint32_t mask_of(const Point& point, std::string_view bytes) {
  constexpr std::int64_t line_bytes = line_words * sizeof(std::uint32_t);
  return static_cast<std::uint32_t>(point.parameters.integer(bytes) / line_bytes - 1);
}

}  // namespace

Footprints footprints_of(const DeviceInfo& device, const Limits& limits) {
  // A GPU's first-level cache holds up to 256 KiB, its second from 4 MiB on; a processor's first
  // 32 KiB and its second from 512 KiB on.
  const Bytes usual = is_gpu(device) ? mebibytes(512) : mebibytes(128);
  const Bytes near = is_gpu(device) ? mebibytes(2) : kibibytes(256);
  const Bytes largest_cache = is_gpu(device) ? mebibytes(64) : mebibytes(16);
  Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  if (limits.max_memory.count != 0) most = std::min(most, limits.max_memory);
  most = std::min(most, gibibytes(1));
  const Bytes wish = std::max(usual, limits.last_cache * 4);
  Footprints result{};
  result.far_bytes = std::max(std::bit_floor(std::min(wish, most).count), kibibytes(16).count);
  result.near_bytes = std::min(near.count, result.far_bytes / 4);
  result.first_bytes = std::min(kibibytes(8).count, result.near_bytes / 2);
  result.is_lumped = result.far_bytes < 2 * std::max(largest_cache, limits.last_cache).count;
  return result;
}

std::int64_t group_of(const DeviceInfo& device, std::int64_t most) {
  const std::int64_t allowed = std::max<std::int64_t>(device.max_work_group_size, 1);
  return static_cast<std::int64_t>(std::bit_floor(std::uint64_t(std::min(most, allowed))));
}

std::span<const MicroCase> all_micro_cases() { return micro_cases; }

const MicroCase* find_micro_case(std::string_view name) {
  const auto* const found = std::find_if(micro_cases.begin(), micro_cases.end(),
                                         [&](const MicroCase& each) { return each.name == name; });
  return found == micro_cases.end() ? nullptr : found;
}

bool is_wanted(std::string_view name, const Limits& limits) {
  const std::vector<std::string>& asked = limits.stalls.cases;
  return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
}

MicroShape MicroShape::of(const Point& point) {
  const MicroCase* const micro = find_micro_case(point.parameters.text("case"));
  if (micro == nullptr) throw std::out_of_range("case");
  const auto number = [&](std::string_view name) {
    return static_cast<std::uint32_t>(point.parameters.integer(name));
  };
  const std::vector<Cause> taken = taken_causes(point);
  const auto is_taken = [&](Cause cause) {
    return std::find(taken.begin(), taken.end(), cause) != taken.end();
  };
  const std::uint32_t first = mask_of(point, "first_bytes");
  const std::uint32_t near = is_taken(Cause::second_cache) || is_taken(Cause::beyond_first)
                                 ? first
                                 : mask_of(point, "near_bytes");
  const std::uint32_t far = mask_of(point, "far_bytes");
  const std::uint32_t lanes = std::max(number("lanes"), 1U);
  const auto lanes_log2 = static_cast<std::uint32_t>(std::countr_zero(lanes));
  MicroShape shape{};
  shape.groups = number("groups");
  shape.work_items = number("work_items");
  shape.workers = number("workers");
  shape.far_loads = micro->far_loads;
  shape.far_mask = is_taken(Cause::main_memory) || is_taken(Cause::beyond_first) ? near : far;
  shape.is_chase = micro->is_chase;
  shape.near_loads = micro->near_loads;
  shape.near_mask = near;
  shape.tile_loads = micro->tile_loads;
  shape.tile_stride = is_taken(Cause::bank_conflict) ? 1 : micro->tile_stride;
  shape.chain_steps = micro->chain_steps;
  shape.is_chain = !is_taken(Cause::chain);
  shape.turn_steps = micro->turn_steps;
  const bool lanes_take_turns = micro->is_divergent && !is_taken(Cause::divergence);
  shape.turn_shift = lanes_take_turns ? 0 : lanes_log2;
  shape.turn_mask = micro->is_divergent ? turns_of_lanes - 1
                                        : std::bit_floor(std::max(shape.workers / lanes, 1U)) - 1;
  shape.has_barrier = micro->has_barrier && !is_taken(Cause::barrier);
  const std::string noise = point.parameters.text_or("noise", "");
  if (!noise.empty()) {
    shape.noise.kind = place_of_noise(noise);
    shape.noise.amount = number("noise_amount") * micro->noise_units[shape.noise.kind];
  }
  shape.noise.addend = step_addend;
  shape.noise.mask = noise == "memory" ? far : first;
  shape.words = static_cast<std::uint64_t>(point.parameters.integer("far_bytes")) / 4;
  return shape;
}

std::vector<Point> micro_points(const MicroCase& micro, const DeviceInfo& device,
                                const Limits& limits) {
  std::vector<Point> points;
  const Point usual = point_of(micro, device, limits);
  const std::size_t factors = causes_in(usual.parameters.text("factors")).size();
  for (std::int64_t set = 0; set < (std::int64_t{1} << factors); ++set) {
    Point point = usual;
    point.parameters.set("idealised", set);
    points.push_back(std::move(point));
  }
  add_phases(points, usual, micro, device);
  // Noise is made by as many work-items again, in the same groups: what waits goes on waiting
  // meanwhile, in whatever order the device takes sub-groups.
  const std::int64_t items =
      group_of(device, std::min(std::int64_t{2} * micro.work_items, most_items_of(device)));
  if (items < 2) return points;
  Point noisy = usual;
  noisy.parameters.set("groups", groups_of(device, micro.noisy_groups_per_unit));
  noisy.parameters.set("work_items", items);
  noisy.parameters.set("workers", items / 2);
  std::vector<Point> noise = noise_points(noisy, limits);
  points.insert(points.end(), std::make_move_iterator(noise.begin()),
                std::make_move_iterator(noise.end()));
  return points;
}

}  // namespace clprobe::stalls
