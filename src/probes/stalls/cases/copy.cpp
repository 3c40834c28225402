// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/copy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/launch.hpp"

namespace clprobe::stalls::copy {
namespace {

// Mean number of operations on a word between its load and its store.
constexpr std::uint32_t steps_of_word = 4;
// Maximum size of a group, at which each work-item has at least eight words of a chunk.
constexpr std::int64_t max_items = 128;
// Number of groups on a compute unit of a GPU. Each group uses up to 8 KiB of local memory.
constexpr std::uint32_t groups_per_unit = 4;
constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
constexpr std::uint64_t cpu_launch_ns = 5'000'000;
constexpr std::uint64_t few_iterations = 2;
constexpr std::uint32_t checked_chunks = 3;
// Number of words that a group stores: the ticks of its phases, its beginning and its end
// (cl/stalls_copy.clh).
constexpr std::size_t ticks_of_group = std::size(all_phases) + 2;

std::uint32_t chunks_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / (chunk_words * word_bytes)));
}

Point usual_point(std::uint32_t way, const DeviceInfo& device, const Options& requested) {
  const WorkingSets sets = WorkingSets::of(device, requested);
  const std::vector<Cause> causes =
      sets.is_combined ? std::vector{Cause::beyond_first, Cause::chain}
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

bool has_phase(std::uint32_t way, std::size_t phase) {
  if (way == way_direct) return false;
  return phase != 0 || way == way_async;
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
  add_clock_parts(bar, phase_times(points, device, labels), 0.0, points, findings);
  if (!is_async) return;
  Finding engine = finding_of(engine_name, bar, "", stack_view_clock);
  engine.label = is_pending ? "waited for" : "emulated";
  engine.reason = is_pending ? "waiting for a copy takes longer than starting the copy"
                             : "starting a copy takes longer than waiting for the copy";
  findings.push_back(std::move(engine));
}

class Copies {
 public:
  Copies(Shared& shared, const Point& point)
      : shared_(shared),
        arguments_(Arguments::of(point)),
        phase_(phase_of(point)),
        has_stamps_(has_stamps(point)),
        kernel_(shared.session.kernel(kernel_file, "stalls_copy",
                                      options_of(shared.session.info(), point))) {
    require_group(shared.session, kernel_, arguments_.shape.work_items);
    const Memory memory = memory_of(point);
    to_ = shared.copies.at_least(shared.session, memory.copies);
    ticks_ = shared.stamps.at_least(shared.session, memory.stamps);
    set_arguments(kernel_, 0, shared.filled_data(memory.data), to_);
    set_arguments(kernel_, 4, arguments_.from_mask, arguments_.to_mask, steps_of_word,
                  cl_uint{arguments_.is_chain ? 1U : 0U}, step_multiplier);
    set_arguments(kernel_, 10, never, ticks_);
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::uint64_t ticks() const;
  void check_results(cl_uint first, cl_uint count, cl_uint addend, Measurement& measurement) const;

  Shared& shared_;
  Arguments arguments_;
  std::string phase_;
  bool has_stamps_;
  cl::Kernel kernel_;
  cl::Buffer to_{};
  cl::Buffer ticks_{};
  cl_uint next_{0};
};

/// Checks a sample of the stored chunks, which differs from launch to launch. Data of an earlier
/// launch fail the check, because the addend depends on the launch.
void Copies::check_results(cl_uint first, cl_uint count, cl_uint addend,
                           Measurement& measurement) const {
  std::vector<cl_uint> found(chunk_words);
  for (std::uint32_t k = 0; k < checked_chunks; ++k) {
    const std::uint32_t iteration = first + (k == 0 ? count - 1 : mixed(addend + k) % count);
    const std::uint32_t group = mixed(addend * checked_chunks + k) % arguments_.shape.groups;
    const std::uint32_t number = iteration * arguments_.shape.groups + group;
    const std::uint64_t bytes = chunk_words * sizeof(cl_uint);
    shared_.session.queue().enqueueReadBuffer(to_, CL_TRUE, (number & arguments_.to_mask) * bytes,
                                              bytes, found.data());
    const std::vector<std::uint32_t> expected = copied_chunk(arguments_, number, addend);
    for (std::uint32_t at = 0; at < chunk_words; ++at) {
      measurement.sample.witness = measurement.sample.witness * 31 + found[at];
      measurement.expected_witness = measurement.expected_witness * 31 + expected[at];
    }
  }
}

/// Returns the mean ticks of the phase over all groups or, without a phase, the ticks of the median
/// group.
std::uint64_t Copies::ticks() const {
  const auto words =
      read_values<cl_ulong>(shared_.session, ticks_, ticks_of_group * arguments_.shape.groups);
  std::vector<Stamp> stamps;
  std::uint64_t sum = 0;
  const std::optional<std::size_t> index = index_of_phase(phase_);
  for (std::size_t group = 0; group < arguments_.shape.groups; ++group) {
    const cl_ulong* const own = &words[group * ticks_of_group];
    if (index) sum += own[*index];
    stamps.push_back({.shared_began = own[std::size(all_phases)],
                      .shared_ended = own[std::size(all_phases) + 1]});
  }
  if (index) return sum / std::max<std::uint64_t>(arguments_.shape.groups, 1);
  const double ticks = phase_.empty() ? median_group_ticks(stamps) : phase_ticks(phase_, stamps);
  return static_cast<std::uint64_t>(std::llround(ticks_of_shared(shared_.session.info()) * ticks));
}

Measurement Copies::run(std::uint64_t iterations) {
  const cl_uint addend = step_addend + ++shared_.last_launch;
  const auto count = static_cast<cl_uint>(iterations);
  // The launch loads the chunks after the chunks of the previous launch, because caches may still
  // contain earlier chunks.
  const cl_uint first = next_;
  next_ += count;
  set_arguments(kernel_, 2, first, count);
  kernel_.setArg(9, addend);
  const LaunchSize size{
      .items = std::uint64_t{arguments_.shape.groups} * arguments_.shape.work_items,
      .group = arguments_.shape.work_items};
  Measurement measurement = measurement_of(launch_over(shared_.session, kernel_, size), iterations);
  if (has_stamps_) measurement.sample.ticks = ticks();
  check_results(first, count, addend, measurement);
  return measurement;
}

std::uint64_t most_iterations(const DeviceInfo& device, const Arguments& arguments) {
  const std::uint64_t items = std::max(arguments.shape.work_items, 1U);
  const std::uint64_t chunk = (chunk_words + items - 1) / items;
  const std::uint64_t fours = (chunk + 3) / 4;
  return max_fitting_iterations(device, chunk, 1 + 2 * chunk + fours * (1 + steps_of_word));
}

}  // namespace

std::optional<std::size_t> index_of_phase(std::string_view phase) {
  const auto* const found = std::find(std::begin(all_phases), std::end(all_phases), phase);
  if (found == std::end(all_phases)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(all_phases));
}

Arguments Arguments::of(const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const auto is_removed = [&](Cause cause) { return shape.ablated.is_removed(cause); };
  const std::uint32_t far = chunks_in(shape.far_bytes) - 1;
  const std::uint32_t near = chunks_in(shape.near_bytes) - 1;
  const std::uint32_t first = std::min(near, chunks_in(shape.first_bytes) - 1);
  const bool is_beyond_taken = is_removed(Cause::beyond_first);
  const bool is_memory_taken = is_removed(Cause::main_memory) || is_beyond_taken;
  Arguments arguments{.shape = shape};
  arguments.to_mask = is_memory_taken ? near : far;
  arguments.from_mask = arguments.to_mask;
  if (is_memory_taken && (is_removed(Cause::second_cache) || is_beyond_taken)) {
    arguments.from_mask = first;
  }
  arguments.is_chain = !is_removed(Cause::chain);
  return arguments;
}

std::vector<Point> points(const DeviceInfo& device, const Options& requested) {
  std::vector<Point> points;
  for (std::uint32_t way = 0; way < std::size(all_ways); ++way) {
    const Point usual = usual_point(way, device, requested);
    std::vector<Point> sets = with_all_sets(usual);
    points.insert(points.end(), std::make_move_iterator(sets.begin()),
                  std::make_move_iterator(sets.end()));
    if (device.timer != Timer::clock) continue;
    for (std::size_t phase = 0; phase < std::size(all_phases); ++phase) {
      if (has_phase(way, phase)) points.push_back(with_phase(usual, all_phases[phase]));
    }
    add_tail(points, usual, device);
  }
  return points;
}

Memory memory_of(const Point& point) {
  const auto shape = shape_of<Shape>(point);
  Memory memory;
  memory.data = std::uint64_t{chunks_in(shape.far_bytes)} * chunk_words * word_bytes;
  memory.copies = memory.data;
  memory.stamps = shape.groups * ticks_of_group * sizeof(std::uint64_t);
  return memory;
}

std::vector<std::uint32_t> copied_chunk(const Arguments& arguments, std::uint32_t number,
                                        std::uint32_t addend) {
  const std::uint64_t begin = std::uint64_t{number & arguments.from_mask} * chunk_words;
  const std::uint64_t items = arguments.shape.work_items;
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
        if (!arguments.is_chain) x.at(k) = stepped(x.at(k), steps_of_word);
      }
      if (arguments.is_chain) x[0] = stepped(x[0], 4 * steps_of_word);
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

std::string options_of(const DeviceInfo& device, const Point& point) {
  return part_options(1, true, device) + " -DWAY=" + std::to_string(Arguments::of(point).shape.way);
}

Work prepare(Shared& shared, const Point& point) {
  const auto copies = std::make_shared<Copies>(shared, point);
  const DeviceInfo& device = shared.session.info();
  const LaunchPlan plan{.few = few_iterations,
                        .max = most_iterations(device, Arguments::of(point)),
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !phase_of(point).empty(),
                        .options = options_of(device, point)};
  return work_of(shared, plan, [copies](std::uint64_t count) { return copies->run(count); });
}

}  // namespace clprobe::stalls::copy
