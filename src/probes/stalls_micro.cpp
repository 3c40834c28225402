// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls_micro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <stdexcept>

#include "probes/mixed.hpp"
#include "probes/stalls_stamps.hpp"

namespace clprobe::stalls_device {
namespace {

struct CauseRow {
  Cause cause;
  std::string_view word;
  std::string_view label;
  Resource resource;
};

constexpr std::array cause_rows{
    CauseRow{Cause::main_memory, "main-memory", "memory data: main memory", Resource::memory},
    CauseRow{Cause::second_cache, "second-cache", "memory data: L2", Resource::cache},
    CauseRow{Cause::beyond_first, "beyond-first", "memory data: L2 or main memory",
             Resource::memory},
    CauseRow{Cause::bank_conflict, "bank-conflict", "memory structural: bank conflict",
             Resource::local_memory},
    CauseRow{Cause::barrier, "barrier", "synchronization: barrier", Resource::waiting},
    CauseRow{Cause::chain, "chain", "compute data", Resource::waiting},
    // Lanes that are off still take the issue slots of those that are on.
    CauseRow{Cause::divergence, "divergence", "control", Resource::arithmetic}};

const CauseRow& row_of(Cause cause) { return cause_rows.at(static_cast<std::size_t>(cause)); }

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

bool is_gpu(const DeviceInfo& device) { return device.type == "gpu"; }

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

/// The variables of a work-item.
struct Item : NoiseItem {
  std::uint32_t far{0};
  std::array<std::uint32_t, 4> x{};
};

void work(const MicroShape& shape, std::uint32_t number, std::uint32_t i, Item& item) {
  const std::uint32_t lane = number % line_words;
  for (std::uint32_t k = 0; k < shape.far_loads; ++k) {
    if (shape.is_chase) {
      item.far += mixed((item.far >> 8U) & shape.far_mask);
      item.far = item.far * 1664525 + 1013904223;
    } else {
      item.sum += load_lines(item.far, shape.far_mask, 8);
    }
  }
  for (std::uint32_t k = 0; k < shape.near_loads; ++k) {
    item.sum += load_lines(item.near, shape.near_mask, 4);
  }
  for (std::uint32_t k = 0; k < shape.tile_loads; ++k) {
    item.sum += load_tile(lane * shape.tile_stride, item.turned);
  }
  if (shape.is_chain) {
    for (std::uint32_t k = 0; k < 4 * shape.chain_steps; ++k) item.x[0] = step(item.x[0]);
  } else {
    step_all(item.x, shape.chain_steps, step_addend);
  }
  if (((number >> shape.turn_shift) & shape.turn_mask) == (i & shape.turn_mask)) {
    step_all(item.y, shape.turn_steps, step_addend);
  }
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

std::string joined(std::span<const Cause> causes) {
  std::string words;
  for (const Cause cause : causes) {
    if (!words.empty()) words += ',';
    words += to_word(cause);
  }
  return words;
}

std::int64_t group_of(const DeviceInfo& device, std::int64_t most) {
  const std::int64_t allowed = std::max<std::int64_t>(device.max_work_group_size, 1);
  return static_cast<std::int64_t>(std::bit_floor(std::uint64_t(std::min(most, allowed))));
}

std::string_view label_of(Cause cause) { return row_of(cause).label; }

std::string_view to_word(Cause cause) { return row_of(cause).word; }

Cause cause_of(std::string_view word) {
  for (const CauseRow& row : cause_rows) {
    if (row.word == word) return row.cause;
  }
  throw std::out_of_range(fmt::format("cause {}", word));
}

Resource resource_of(Cause cause) { return row_of(cause).resource; }

std::vector<Cause> causes_in(std::string_view words) {
  std::vector<Cause> causes;
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    causes.push_back(cause_of(words.substr(0, comma)));
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
  return causes;
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

std::vector<Cause> taken_causes(const Point& point) {
  const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
  const auto set = static_cast<std::uint32_t>(point.parameters.integer("idealised"));
  std::vector<Cause> taken;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (((set >> i) & 1U) != 0) taken.push_back(causes[i]);
  }
  return taken;
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

std::uint32_t micro_result(const MicroShape& shape, std::uint32_t launch, std::uint32_t iterations,
                           std::uint32_t group, std::uint32_t item) {
  const std::uint32_t row = (group * shape.work_items + item) / line_words;
  Item all{};
  all.far = mixed(row ^ mixed(launch));
  all.near = mixed(all.far);
  all.x = {item, item + 1, item + 2, item + 3};
  all.y = all.x;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    if (item < shape.workers) {
      work(shape, item, i, all);
    } else {
      make_noise(shape.noise, item % line_words, all);
    }
  }
  return mixed(all.far) + mixed(all.sum) + folded(all.x) + folded(all.y);
}

}  // namespace clprobe::stalls_device
