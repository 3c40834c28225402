// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/copy.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "probes/shared/mixed.hpp"
#include "probes/stalls/micro.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

// Operations on a word between load and store, a quarter of them.
constexpr std::uint32_t steps_of_word = 4;
// Of a group: a work-item has four words or more.
constexpr std::int64_t most_items = 128;
// A GPU's compute unit holds so many groups of 8 KiB of local memory, and as many again for noise.
constexpr std::int64_t groups_per_unit = 4;
// Units of noise "1" in an iteration, by kind: sixteen times that is more than a chunk takes.
constexpr std::array<std::uint32_t, std::size(all_noise)> noise_units{24, 12, 8, 1};

constexpr std::uint32_t way_async = 1;
constexpr std::uint32_t way_direct = 2;

std::uint32_t chunks_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, bytes / (chunk_words * sizeof(std::uint32_t))));
}

Point point_of(std::uint32_t way, const DeviceInfo& device, const Limits& limits) {
  const Footprints footprints = footprints_of(device, limits);
  Point point;
  point.series = all_copies[way];
  point.parameters.set("case", std::string("implicit"));
  point.parameters.set("timer", std::string(to_word(device.launch_timer)));
  const std::vector<Cause> causes =
      footprints.is_lumped ? std::vector{Cause::beyond_first, Cause::chain}
                           : std::vector{Cause::main_memory, Cause::second_cache, Cause::chain};
  point.parameters.set("factors", joined(causes));
  point.parameters.set("idealised", std::int64_t{0});
  point.parameters.set("way", std::int64_t{way});
  const std::int64_t per_unit = is_gpu(device) ? groups_per_unit : 1;
  point.parameters.set("groups", std::max<std::int64_t>(device.compute_units, 1) * per_unit);
  point.parameters.set("work_items", group_of(device, most_items));
  point.parameters.set("far_bytes", static_cast<std::int64_t>(footprints.far_bytes / 2));
  point.parameters.set("near_bytes", static_cast<std::int64_t>(footprints.near_bytes / 2));
  point.parameters.set("first_bytes", static_cast<std::int64_t>(footprints.first_bytes));
  return point;
}

/// The phases that a way has.
bool has_phase(std::uint32_t way, std::size_t phase) {
  if (way == way_direct) return false;
  return phase != 0 || way == way_async;
}

}  // namespace

std::string way_option(std::uint32_t way) { return " -DWAY=" + std::to_string(way); }

std::optional<std::size_t> place_of_copy_phase(std::string_view phase) {
  const auto* const found =
      std::find(std::begin(all_copy_phases), std::end(all_copy_phases), phase);
  if (found == std::end(all_copy_phases)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(all_copy_phases));
}

CopyShape CopyShape::of(const Point& point) {
  const auto number = [&](std::string_view name) {
    return static_cast<std::uint32_t>(point.parameters.integer(name));
  };
  const std::vector<Cause> taken = taken_causes(point);
  const auto is_taken = [&](Cause cause) {
    return std::find(taken.begin(), taken.end(), cause) != taken.end();
  };
  const std::uint32_t far = chunks_in(number("far_bytes")) - 1;
  const std::uint32_t near = chunks_in(number("near_bytes")) - 1;
  const std::uint32_t first = std::min(near, chunks_in(number("first_bytes")) - 1);
  CopyShape shape{};
  shape.way = number("way");
  shape.groups = number("groups");
  shape.work_items = number("work_items");
  const bool is_beyond_taken = is_taken(Cause::beyond_first);
  const bool is_memory_taken = is_taken(Cause::main_memory) || is_beyond_taken;
  shape.to_mask = is_memory_taken ? near : far;
  shape.from_mask = shape.to_mask;
  if (is_memory_taken && (is_taken(Cause::second_cache) || is_beyond_taken)) {
    shape.from_mask = first;
  }
  shape.steps = steps_of_word;
  shape.is_chain = !is_taken(Cause::chain);
  shape.words = std::uint64_t{far + 1} * chunk_words;
  const auto lines_in = [&](std::string_view name) {
    return static_cast<std::uint32_t>(point.parameters.integer(name) /
                                      static_cast<std::int64_t>(line_words * 4));
  };
  shape.noise_groups = static_cast<std::uint32_t>(point.parameters.integer_or("noise_groups", 0));
  const std::string noise = point.parameters.text_or("noise", "");
  shape.noise.mask = lines_in(noise == "memory" ? "far_bytes" : "first_bytes") - 1;
  if (!noise.empty()) {
    shape.noise.kind = place_of_noise(noise);
    shape.noise.amount = number("noise_amount") * noise_units.at(shape.noise.kind);
  }
  shape.phase = point.parameters.text_or("phase", "");
  return shape;
}

std::vector<Point> copy_points(const DeviceInfo& device, const Limits& limits) {
  std::vector<Point> points;
  for (std::uint32_t way = 0; way < std::size(all_copies); ++way) {
    const Point usual = point_of(way, device, limits);
    const std::size_t factors = causes_in(usual.parameters.text("factors")).size();
    for (std::int64_t set = 0; set < (std::int64_t{1} << factors); ++set) {
      Point point = usual;
      point.parameters.set("idealised", set);
      points.push_back(std::move(point));
    }
    Point noisy = usual;
    noisy.parameters.set("noise_groups", usual.parameters.integer("groups"));
    std::vector<Point> noise = noise_points(noisy, limits);
    points.insert(points.end(), std::make_move_iterator(noise.begin()),
                  std::make_move_iterator(noise.end()));
    if (device.timer != Timer::clock) continue;
    for (std::size_t phase = 0; phase < std::size(all_copy_phases); ++phase) {
      if (has_phase(way, phase)) points.push_back(phase_of_point(usual, all_copy_phases[phase]));
    }
    add_tail(points, usual, device);
  }
  return points;
}

std::uint32_t noise_result(const CopyShape& shape, std::uint32_t addend, std::uint32_t iterations,
                           std::uint32_t group, std::uint32_t item) {
  const std::uint32_t row = ((shape.groups + group) * shape.work_items + item) / line_words;
  Noise noise = shape.noise;
  noise.addend = addend;
  NoiseItem all{};
  all.near = mixed(row ^ mixed(addend));
  all.y = {item, item + 1, item + 2, item + 3};
  for (std::uint32_t i = 0; i < iterations; ++i) make_noise(noise, item % line_words, all);
  return mixed(all.sum) + folded(all.y);
}

std::vector<std::uint32_t> copied_chunk(const CopyShape& shape, std::uint32_t number,
                                        std::uint32_t addend) {
  const std::uint64_t begin = std::uint64_t{number & shape.from_mask} * chunk_words;
  const std::uint64_t items = shape.work_items;
  std::vector<std::uint32_t> words(chunk_words);
  const auto stepped = [&](std::uint32_t x, std::uint32_t steps) {
    for (std::uint32_t k = 0; k < steps; ++k) x = (x * step_multiplier) ^ addend;
    return x;
  };
  for (std::uint64_t base = 0; base < chunk_words; base += 4 * items) {
    for (std::uint64_t item = 0; item < items; ++item) {
      std::array<std::uint32_t, 4> x{};
      for (std::uint64_t k = 0; k < 4; ++k) {
        x.at(k) = mixed(static_cast<std::uint32_t>((begin + base + item + k * items) / line_words));
        if (!shape.is_chain) x.at(k) = stepped(x.at(k), shape.steps);
      }
      if (shape.is_chain) x[0] = stepped(x[0], 4 * shape.steps);
      for (std::uint64_t k = 0; k < 4; ++k) {
        words[base + item + k * items] = k == 0 ? x[0] : x.at(k) ^ x[0];
      }
    }
  }
  return words;
}

}  // namespace clprobe::stalls
