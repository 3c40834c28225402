// SPDX-License-Identifier: Apache-2.0
// The division of working sets into walks, the sums of walks, and the lengths of their loops.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "probes/bandwidth/bandwidth.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::bandwidth {

namespace {

constexpr std::uint64_t gpu_vector = 4;
// Work-items of a writing walk on a GPU if the working set is too small to give vectors to every
// resident work-item. Larger working sets have groups of up to 1,024 work-items. On an H100 with 33
// MiB, large groups copied 5 % faster than groups of 64, and wrote and updated 1 to 3 % faster. In
// a native kernel on an H200, large groups updated 5 % faster and copied 1.5 % slower.
constexpr std::uint64_t gpu_lanes = 64;
constexpr std::uint64_t largest_group = 1024;
constexpr std::uint64_t local_lanes = 128;
// Maximum work-group size for reads of working sets below 4 MiB, which caches serve. Half of
// `largest_group` keeps enough loads in flight, and halves the size of blocks.
constexpr std::uint64_t group_near = 512;
constexpr Bytes far_from_units = mebibytes(4);
// Assumed number of work-items that a GPU's compute unit holds at once.
constexpr std::uint64_t items_of_unit = 2048;
// Minimum number of writing walks per unit. A single walk that repeats its block of 4 KiB is
// faster than any level. On an H100 single walks updated 528 KiB at 9.5 TB/s. Two walks per unit
// updated 1 MiB at 6.7 TB/s, and larger working sets at 7.3 TB/s. With single walks, only some
// runs found a first level.
constexpr std::uint64_t min_writing_walks = 2;
// Words per vector on a CPU: one cache line.
constexpr std::uint64_t cpu_vector = 16;
// Reading walks per unit on a CPU. The driver's threads take work-groups in batches: PoCL's first
// thread takes more than half of the groups, so that many walks spread the work better.
constexpr std::uint64_t cpu_reading_walks = 32;

std::uint64_t largest_group_of(const DeviceInfo& device) {
  return std::bit_floor(std::min(largest_group, max_group_of(device)));
}

/// Returns true for devices that run work-items one after another, and for devices with groups of
/// fewer than 64 work-items.
bool is_like_cpu(const DeviceInfo& device) {
  return runs_items_in_turn(device) || largest_group_of(device) < gpu_lanes;
}

std::uint64_t directions_of(const SeriesSpec& series) {
  return series.operation == Operation::copy ? 2 : 1;
}

/// Returns the walks of a series for a working set of `wanted` bytes; regions and blocks are not
/// set. Each unit of a GPU has a single walk of a shared region. Two or more walks would find each
/// other's data in caches and continue together, so that the rate would be too high.
Shape walks_of(const SeriesSpec& series, const DeviceInfo& device, Bytes wanted) {
  const std::uint64_t units = series.is_one_unit ? 1 : units_of(device);
  Shape shape{.operation = series.operation, .timer = device.launch_timer};
  if (is_like_cpu(device)) {
    // llvmpipe's compiler takes 30 s for a kernel of eight vectors of 16 words, but 5 s for one of
    // four vectors of 4 words.
    const bool is_small = series.operation == Operation::image || may_cut_loops(device);
    shape.vector = is_small ? texel_words : cpu_vector;
    // Each written region belongs to one work-group. With 32 groups per region, cores would take
    // cache lines from each other: a Xeon wrote 256 KiB at 74 GB/s instead of 1250 GB/s.
    const bool is_read = series.sharing != Sharing::walk;
    shape.walks = is_read && !series.is_one_unit ? units * cpu_reading_walks : units;
    return shape;
  }
  shape.vector = gpu_vector;
  // Writes by all units use many groups. A single unit has one group, even in small regions.
  if (series.sharing == Sharing::walk && !series.is_one_unit) {
    const std::uint64_t bytes_of_item = shape.unroll() * shape.vector * 4 * directions_of(series);
    const bool have_all_blocks = wanted.count >= units * items_of_unit * bytes_of_item;
    shape.lanes = shape.group = have_all_blocks ? largest_group_of(device) : gpu_lanes;
    shape.walks = units * (items_of_unit / shape.lanes);
  } else if (series.operation == Operation::local) {
    // Local memory is small and has no cache, so many walks may share it.
    shape.lanes = std::min(local_lanes, largest_group_of(device));
    shape.group = std::min(group_near, largest_group_of(device));
    shape.walks = units * (shape.group / shape.lanes);
  } else {
    // Simulated units have long latencies even in caches, and no small caches, so they get the
    // largest group.
    const bool is_near = !series.is_one_unit && !is_simulated(device) && wanted < far_from_units;
    const std::uint64_t most = is_near ? group_near : largest_group;
    shape.lanes = shape.group = std::min(most, largest_group_of(device));
    shape.walks = units;
  }
  return shape;
}

/// Returns a step that visits all of `count` positions, and neighbouring positions late. The step
/// is the first number from the golden section of `count` upwards that is coprime to `count`.
std::uint64_t golden_step(std::uint64_t count) {
  constexpr double golden = 0.6180339887498949;
  auto step = static_cast<std::uint64_t>(static_cast<double>(count) * golden);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

}  // namespace

const SeriesSpec* series_named(std::string_view name) {
  const auto* const found = std::find_if(all_series.begin(), all_series.end(),
                                         [&](const SeriesSpec& each) { return each.name == name; });
  return found == all_series.end() ? nullptr : found;
}

std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  if (series.operation == Operation::local && device.local_memory.count == 0) {
    return "the device has no local memory";
  }
  if (series.operation == Operation::image && device.image_buffer_pixels == 0) {
    return "the device does not support images created from buffers";
  }
  if (is_simulated(device) && series.sharing == Sharing::walk) {
    return "the simulator runs one compute unit and does not model the time of write-backs";
  }
  if (!is_like_cpu(device)) return {};
  if (series.operation == Operation::local) {
    return "a CPU's local memory is ordinary memory, which 'read' measures";
  }
  if (series.sharing == Sharing::unit) {
    return "a CPU's driver chooses the core for each work-group, so clprobe cannot give each core "
           "its own working set; 'read' measures each core's caches";
  }
  return {};
}

std::optional<Shape> shape_for(const SeriesSpec& series, const DeviceInfo& device, Bytes wanted) {
  Shape shape = walks_of(series, device, wanted);
  const std::uint64_t units = series.is_one_unit ? 1 : units_of(device);
  const std::uint64_t blocks = wanted.count / directions_of(series) / shape.block_bytes();
  switch (series.sharing) {
    case Sharing::all:
      shape.blocks = blocks;
      break;
    case Sharing::unit:
      shape.regions = units;
      shape.blocks = blocks;
      break;
    case Sharing::walk:
      // A CPU has one region per unit, even if the regions are small.
      if (!is_like_cpu(device)) {
        shape.walks = std::min(std::max<std::uint64_t>(1, blocks), shape.walks);
      }
      shape.regions = shape.walks;
      shape.blocks = blocks / shape.regions;
      break;
  }
  if (shape.blocks == 0) return std::nullopt;
  // If drivers end long loops, more work-items share the work. A series of one unit, or with
  // regions per walk, cannot have more work-items.
  if (may_cut_loops(device) && shape.step() > max_iterations) {
    if (series.sharing != Sharing::all || series.is_one_unit) return std::nullopt;
    while (shape.step() > max_iterations) shape.walks *= 2;
  }
  shape.working_set_bytes = shape.touched_bytes() * directions_of(series);
  if (series.sharing == Sharing::unit) shape.working_set_bytes /= units;
  return shape;
}

Bytes smallest_set(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr Bytes min_cpu = kibibytes(4);
  const Shape shape = walks_of(series, device, {});
  std::uint64_t bytes = shape.block_bytes();
  const std::uint64_t units = series.is_one_unit ? 1 : units_of(device);
  if (series.sharing == Sharing::walk) bytes *= units * directions_of(series);
  const bool is_of_all_on_gpu = !is_like_cpu(device) && !series.is_one_unit;
  if (is_of_all_on_gpu && series.sharing == Sharing::walk) bytes *= min_writing_walks;
  return is_like_cpu(device) ? std::max(Bytes{bytes}, min_cpu) : Bytes{bytes};
}

bool writes(Operation operation) {
  return operation == Operation::write || operation == Operation::copy ||
         operation == Operation::update;
}

std::uint64_t Shape::bytes_per_iteration() const {
  const std::uint64_t directions =
      operation == Operation::copy || operation == Operation::update ? 2 : 1;
  return walks * step() * block_bytes() * directions;
}

std::vector<Place> places_of(const Shape& shape) {
  const std::uint64_t sharers = shape.sharers();
  const std::uint64_t spread = golden_step(sharers);
  std::vector<Place> places;
  places.reserve(shape.walks);
  for (std::uint64_t walk = 0; walk < shape.walks; ++walk) {
    const std::uint64_t region = walk / sharers % shape.regions;
    const std::uint64_t start = walk % sharers * spread % sharers * shape.blocks / sharers;
    places.push_back(
        {static_cast<std::uint32_t>(region * shape.blocks), static_cast<std::uint32_t>(start)});
  }
  return places;
}

// Word w is (square w + line) w. The sum of the words below n is square n (n - 1) (2 n - 1) / 6 +
// line n (n - 1) / 2.
std::uint32_t sum_before(std::uint64_t words) {
  constexpr std::uint32_t square = 0x7f4a7c15;
  constexpr std::uint32_t line = 0x42ef9505;
  if (words == 0) return 0;
  const std::uint64_t pairs = words % 2 == 0 ? words / 2 * (words - 1) : (words - 1) / 2 * words;
  const std::uint64_t odd = 2 * words - 1;
  // Either n (n - 1) / 2 or 2 n - 1 is divisible by 3.
  const std::uint64_t squares = pairs % 3 == 0 ? pairs / 3 * odd : odd / 3 * pairs;
  return static_cast<std::uint32_t>(square * squares + line * pairs);
}

std::uint32_t expected_sum(const Shape& shape, std::span<const Place> places, std::uint64_t count) {
  const auto laps = static_cast<std::uint32_t>(count / shape.blocks);
  const std::uint64_t rest = count % shape.blocks;
  const std::uint64_t words_of_block = shape.block_bytes() / sizeof(std::uint32_t);
  std::uint32_t sum = 0;
  for (const Place& place : places) {
    const auto before = [&](std::uint64_t block) {
      return sum_before((place.region + block) * words_of_block);
    };
    const std::uint32_t all = before(shape.blocks) - before(0);
    const std::uint64_t end = place.start + rest;
    sum += laps * all;
    if (end <= shape.blocks) {
      sum += before(end) - before(place.start);
    } else {
      sum += before(shape.blocks) - before(place.start);
      sum += before(end - shape.blocks) - before(0);
    }
  }
  return sum;
}

std::string build_options(const Shape& shape) {
  std::string options = fmt::format("-DLANES={} -DVECTOR={}", shape.lanes, shape.vector);
  if (shape.operation == Operation::image) options += " -DIMAGE";
  if (shape.group > usual_group) options += large_group(shape.group);
  return options;
}

std::uint64_t max_iterations_of(const DeviceInfo& device, const Shape& shape) {
  const std::uint64_t most =
      may_cut_loops(device) ? max_iterations : std::numeric_limits<std::uint32_t>::max();
  return std::max<std::uint64_t>(1, most / shape.step());
}

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& point) {
  return {{build_options(shape_of<Shape>(point)), ""}};
}

}  // namespace clprobe::bandwidth
