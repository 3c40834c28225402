// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/inflight.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::inflight {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Larger than the first caches, so that a launch finds none of the previous launch's lines there.
constexpr Bytes usual_cache = mebibytes(4);
constexpr Bytes min_cache = kibibytes(256);
// Small enough for the caches of one CPU core.
constexpr Bytes usual_cache_of_cpu = kibibytes(256);
constexpr Bytes usual_memory = mebibytes(256);
constexpr Bytes max_memory = mebibytes(512);
// Drivers allocate whole pages.
constexpr Bytes page = kibibytes(4);

/// Returns the size of the buffer for the last cache: at most half of the cache if its size is
/// known.
Bytes cache_buffer(const DeviceInfo& device, Bytes known_cache) {
  const Bytes reported = reported_cache(device);
  Bytes size = runs_items_in_turn(device) ? usual_cache_of_cpu : usual_cache;
  // A GPU's driver may report the first cache.
  const bool is_certain = !is_gpu(device) && reported.count != 0;
  if (is_certain || known_cache.count != 0) {
    size = std::min(size, std::max(known_cache, reported) / 2);
  }
  return std::max(size, min_cache);
}

Bytes memory_buffer(const DeviceInfo& device, Bytes known_cache) {
  const Bytes last_cache = std::max(known_cache, reported_cache(device));
  return std::clamp(last_cache * 4, usual_memory, max_memory);
}

/// Returns the maximum memory of results, starts of chains and progress of streams.
Bytes small_buffers(const DeviceInfo& device) {
  const auto items = static_cast<std::uint64_t>(max_items(device));
  const auto groups = static_cast<std::uint64_t>(stream_groups(device));
  const Bytes starts{items * max_chains * sizeof(std::uint32_t)};
  const Bytes results{std::max(1 + 3 * items, words_of_chase + 2 * groups) * sizeof(std::uint64_t)};
  return std::max(starts, page) + std::max(results, page) + page;
}

}  // namespace

Options::Options(const Request& request)
    : max_memory(request.max_memory),
      effort(request.effort),
      series(request.series),
      last_cache(request.known.last_cache),
      work_items(request.own.numbers("work-items")),
      loads(request.own.numbers("loads")),
      mergers(request.own.numbers("mergers")),
      targets(request.own.words("target")) {
  if (targets.empty()) targets = {"cache", "memory"};
}

bool Options::wants(std::string_view name) const { return is_wanted(series, name); }

bool Options::names(std::string_view name) const { return contains(series, name); }

bool Options::has_target(std::string_view target) const { return contains(targets, target); }

bool Options::is_narrowed() const {
  return !work_items.empty() || !loads.empty() || !mergers.empty();
}

Bytes line_of(const DeviceInfo& device) {
  return std::max(Bytes{64}, Bytes{std::bit_ceil(device.cache_line.count)});
}

std::int64_t max_items(const DeviceInfo& device) {
  return std::max<std::int64_t>(1, device.max_work_group_size);
}

std::string why_no_loaded(const DeviceInfo& device) {
  if (is_simulated(device)) return "the simulator runs a single compute unit";
  if (device.timer == Timer::clock) return {};
  return "timing a chase next to other work-groups needs an in-kernel clock";
}

bool wants_loaded(const Options& requested) {
  return requested.wants("loaded") && requested.has_target("memory") && !requested.is_narrowed();
}

Buffers choose_buffers(const DeviceInfo& device, const Options& requested) {
  const Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  Bytes cache = std::min(cache_buffer(device, requested.last_cache), most);
  Bytes memory = std::min(memory_buffer(device, requested.last_cache), most);
  const auto floor = [&](Bytes size) {
    return Bytes{std::bit_floor(std::max(size, line_of(device)).count)};
  };
  if (requested.max_memory.count == 0) return {floor(cache), floor(memory)};
  const Bytes rest = requested.max_memory - std::min(requested.max_memory, small_buffers(device));
  const bool has_streams = wants_loaded(requested) && why_no_loaded(device).empty();
  const std::uint64_t caches = requested.has_target("cache") ? 1 : 0;
  const std::uint64_t memories = requested.targets.size() - caches + (has_streams ? 1 : 0);
  cache = floor(std::min(cache, rest / (caches + memories)));
  if (memories > 0) memory = std::min(memory, (rest - std::min(rest, cache * caches)) / memories);
  return {cache, floor(memory)};
}

Bytes memory_for(const DeviceInfo& device, std::span<const Point> points) {
  std::map<std::string, Bytes> of_target;
  Bytes streamed{};
  for (const Point& point : points) {
    const Shape shape = is_loaded(point) ? LoadedShape::of(point).chase : Shape::of(point);
    const Bytes buffer{shape.buffer_bytes};
    Bytes& largest = of_target[shape.pattern.target];
    largest = std::max(largest, buffer);
    if (is_loaded(point)) streamed = std::max(streamed, buffer);
  }
  Bytes all = streamed;
  for (const auto& [target, buffer] : of_target) all = all + buffer;
  return points.empty() ? Bytes{} : all + small_buffers(device);
}

}  // namespace clprobe::inflight
