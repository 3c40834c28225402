// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/copy.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/stamps.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::copy {
namespace {

// Operations on a word between load and store, a quarter of them.
constexpr std::uint32_t steps_of_word = 4;
// Of a group: a work-item has four words or more.
constexpr std::int64_t max_items = 128;
// A GPU's compute unit holds so many groups of 8 KiB of local memory, and as many again for noise.
constexpr std::uint32_t groups_per_unit = 4;
// Sixteen times that is more than a chunk takes.
constexpr NoiseUnits noise_units{.arithmetic = 24, .local_memory = 12, .cache = 8, .memory = 1};
constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

std::uint32_t chunks_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / (chunk_words * word_bytes)));
}

Point usual_point(std::uint32_t way, const DeviceInfo& device, const Asked& asked) {
  const WorkingSets sets = WorkingSets::of(device, asked);
  const std::vector<Cause> causes =
      sets.is_lumped ? std::vector{Cause::beyond_first, Cause::chain}
                     : std::vector{Cause::main_memory, Cause::second_cache, Cause::chain};
  Shape shape;
  shape.timer = to_word(timer_of_kernels(device));
  shape.ablated.factors = joined(causes);
  shape.way = way;
  shape.groups = static_cast<std::uint32_t>(std::max<std::int64_t>(device.compute_units, 1)) *
                 (is_gpu(device) ? groups_per_unit : 1);
  shape.work_items = static_cast<std::uint32_t>(group_size(device, max_items));
  shape.far_bytes = sets.far_bytes / 2;
  shape.near_bytes = sets.near_bytes / 2;
  shape.first_bytes = sets.first_bytes;
  Point point;
  point.series = all_ways[way];
  write_shape(shape, point);
  return point;
}

/// The phases that a way has.
bool has_phase(std::uint32_t way, std::size_t phase) {
  if (way == way_direct) return false;
  return phase != 0 || way == way_async;
}

std::uint32_t noise_groups_of(const Point& point) {
  return static_cast<std::uint32_t>(point.parameters.integer_or("noise_groups", 0));
}

void add_clocks(std::string_view bar, const Points& points, const DeviceInfo& device,
                std::vector<Finding>& findings) {
  const bool has_phases = std::any_of(points.begin(), points.end(),
                                      [](const Point* point) { return !phase_of(*point).empty(); });
  if (!has_phases) return;
  const auto started = phase_time(points, "start", device);
  const auto waited = phase_time(points, "copy", device);
  const bool is_async = bar == all_ways[way_async];
  const bool is_pending = is_async && waited && (!started || waited->ns > started->ns);
  const std::vector<PhaseLabel> labels{{"start", "memory data: copy to local memory, start"},
                                       {"copy", is_pending ? "memory structural: pending copy"
                                                           : "memory data: copy to local memory"},
                                       {"work", "no stall: work on local memory"},
                                       {"copy back", "memory data: copy back"}};
  add_clock_parts(bar, phase_times(points, device, labels), 0.0, points, device, findings);
  if (!is_async) return;
  Finding engine = finding_of(engine_name, bar, "", stack_view_clock);
  engine.label = is_pending ? "waited for" : "emulated";
  engine.reason = is_pending ? "waiting for a copy takes longer than starting it"
                             : "starting a copy already performs it, so nothing is pending";
  findings.push_back(std::move(engine));
}

}  // namespace

std::string way_option(std::uint32_t way) { return " -DWAY=" + std::to_string(way); }

std::optional<std::size_t> place_of_phase(std::string_view phase) {
  const auto* const found = std::find(std::begin(all_phases), std::end(all_phases), phase);
  if (found == std::end(all_phases)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(all_phases));
}

Arguments Arguments::of(const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const auto has_taken = [&](Cause cause) { return shape.ablated.has_taken(cause); };
  const std::uint32_t far = chunks_in(shape.far_bytes) - 1;
  const std::uint32_t near = chunks_in(shape.near_bytes) - 1;
  const std::uint32_t first = std::min(near, chunks_in(shape.first_bytes) - 1);
  const bool is_beyond_taken = has_taken(Cause::beyond_first);
  const bool is_memory_taken = has_taken(Cause::main_memory) || is_beyond_taken;
  Arguments arguments;
  arguments.way = shape.way;
  arguments.groups = shape.groups;
  arguments.work_items = shape.work_items;
  arguments.to_mask = is_memory_taken ? near : far;
  arguments.from_mask = arguments.to_mask;
  if (is_memory_taken && (has_taken(Cause::second_cache) || is_beyond_taken)) {
    arguments.from_mask = first;
  }
  arguments.steps = steps_of_word;
  arguments.is_chain = !has_taken(Cause::chain);
  arguments.noise_groups = noise_groups_of(point);
  const auto noise = noise_of(point);
  const std::uint64_t noise_bytes =
      noise && noise->kind == "memory" ? shape.far_bytes : shape.first_bytes;
  arguments.noise.mask = static_cast<std::uint32_t>(noise_bytes / (line_words * word_bytes)) - 1;
  if (noise) {
    arguments.noise.kind = place_of_noise(noise->kind);
    arguments.noise.amount = noise->amount * noise_units.of(arguments.noise.kind);
  }
  return arguments;
}

std::vector<Point> points(const DeviceInfo& device, const Asked& asked) {
  std::vector<Point> points;
  const auto append = [&](std::vector<Point> more) {
    points.insert(points.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  };
  for (std::uint32_t way = 0; way < std::size(all_ways); ++way) {
    const Point usual = usual_point(way, device, asked);
    append(with_all_sets(usual));
    Point noisy = usual;
    noisy.parameters.set("noise_groups", usual.parameters.integer("groups"));
    // What groups of their own take from the others shows where all have ended.
    noisy.parameters.set("timer", std::string(to_word(device.launch_timer)));
    append(noise_points(noisy, device, asked.effort));
    if (device.timer != Timer::clock) continue;
    for (std::size_t phase = 0; phase < std::size(all_phases); ++phase) {
      if (has_phase(way, phase)) points.push_back(with_phase(usual, all_phases[phase]));
    }
    add_tail(points, usual, device);
  }
  return points;
}

Turns turns_of(const DeviceInfo& device, const Point& point) {
  const Arguments a = Arguments::of(point);
  const std::uint64_t items = std::max(a.work_items, 1U);
  const std::uint64_t chunk = (chunk_words + items - 1) / items;
  const std::uint64_t fours = (chunk + 3) / 4;
  const std::uint64_t copied = std::uint64_t{1} + 2 * chunk + fours * (1 + a.steps);
  // A group copies or makes noise.
  return fitted(device,
                {.first = chunk, .iteration = std::max(copied, std::uint64_t{1} + a.noise.amount)});
}

KernelLoops loops(const DeviceInfo& device, const Point& point) {
  return {"stalls_copy", turns_of(device, point).total()};
}

Memory memory_of(const Point& point) {
  const auto shape = shape_of<Shape>(point);
  constexpr std::uint64_t stamps_of_group = std::size(all_phases) + 2;
  Memory memory;
  memory.data = std::uint64_t{chunks_in(shape.far_bytes)} * chunk_words * word_bytes;
  memory.copies = memory.data;
  memory.results =
      std::uint64_t{std::max(noise_groups_of(point), 1U)} * shape.work_items * word_bytes;
  memory.stamps = shape.groups * stamps_of_group * sizeof(std::uint64_t);
  return memory;
}

std::uint32_t noise_result(const Arguments& arguments, std::uint32_t addend,
                           std::uint32_t iterations, std::uint32_t group, std::uint32_t item) {
  const std::uint32_t row = ((arguments.groups + group) * arguments.work_items + item) / line_words;
  Noise noise = arguments.noise;
  noise.addend = addend;
  NoiseItem all{};
  all.near = mixed(row ^ mixed(addend));
  all.y = {item, item + 1, item + 2, item + 3};
  for (std::uint32_t i = 0; i < iterations; ++i) make_noise(noise, item % line_words, all);
  return mixed(all.sum) + folded(all.y);
}

std::vector<std::uint32_t> copied_chunk(const Arguments& arguments, std::uint32_t number,
                                        std::uint32_t addend) {
  const std::uint64_t begin = std::uint64_t{number & arguments.from_mask} * chunk_words;
  const std::uint64_t items = arguments.work_items;
  std::vector<std::uint32_t> words(chunk_words);
  const auto stepped = [&](std::uint32_t x, std::uint32_t steps) {
    for (std::uint32_t k = 0; k < steps; ++k) x = step(x, addend);
    return x;
  };
  for (std::uint64_t base = 0; base < chunk_words; base += 4 * items) {
    for (std::uint64_t item = 0; item < items; ++item) {
      std::array<std::uint32_t, 4> x{};
      for (std::uint64_t k = 0; k < 4; ++k) {
        x.at(k) = mixed(static_cast<std::uint32_t>((begin + base + item + k * items) / line_words));
        if (!arguments.is_chain) x.at(k) = stepped(x.at(k), arguments.steps);
      }
      if (arguments.is_chain) x[0] = stepped(x[0], 4 * arguments.steps);
      for (std::uint64_t k = 0; k < 4; ++k) {
        words[base + item + k * items] = k == 0 ? x[0] : x.at(k) ^ x[0];
      }
    }
  }
  return words;
}

void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings) {
  add_ablation(bar, points, device, findings);
  add_clocks(bar, points, device, findings);
}

}  // namespace clprobe::stalls::copy
