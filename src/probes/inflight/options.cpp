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

// More than the nearest caches hold, so that a launch does not find what the one before left.
constexpr Bytes usual_cache = mebibytes(4);
constexpr Bytes min_cache = kibibytes(256);
// On a CPU what stays near one core, wherever the launches before have run.
constexpr Bytes usual_cache_of_cpu = kibibytes(256);
constexpr Bytes usual_memory = mebibytes(256);
constexpr Bytes max_memory = mebibytes(512);
// Drivers give whole pages.
constexpr Bytes page = kibibytes(4);

Bytes cache_wanted(const DeviceInfo& device, Bytes known_cache) {
  const Bytes said = reported_cache(device);
  Bytes size = runs_items_in_turn(device) ? usual_cache_of_cpu : usual_cache;
  // A GPU's driver may mean a nearer cache.
  const bool is_sure = !is_gpu(device) && said.count != 0;
  if (is_sure || known_cache.count != 0) size = std::min(size, std::max(known_cache, said) / 2);
  return std::max(size, min_cache);
}

Bytes memory_wanted(const DeviceInfo& device, Bytes known_cache) {
  const Bytes last_cache = std::max(known_cache, reported_cache(device));
  return std::clamp(last_cache * 4, usual_memory, max_memory);
}

/// Results, starts of chains, progress of streams: what they take at most, whatever is planned.
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

bool plans_loaded(const DeviceInfo& device, const Options& requested) {
  return requested.wants("loaded") && requested.has_target("memory") && !requested.is_narrowed() &&
         !is_simulated(device) && device.timer == Timer::clock;
}

Buffers choose_buffers(const DeviceInfo& device, const Options& requested) {
  const Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  Bytes cache = std::min(cache_wanted(device, requested.last_cache), most);
  Bytes memory = std::min(memory_wanted(device, requested.last_cache), most);
  const auto floor = [&](Bytes size) {
    return Bytes{std::bit_floor(std::max(size, line_of(device)).count)};
  };
  if (requested.max_memory.count == 0) return {floor(cache), floor(memory)};
  const Bytes rest = requested.max_memory - std::min(requested.max_memory, small_buffers(device));
  const std::uint64_t near = requested.has_target("cache") ? 1 : 0;
  const std::uint64_t far =
      requested.targets.size() - near + (plans_loaded(device, requested) ? 1 : 0);
  cache = floor(std::min(cache, rest / (near + far)));
  if (far > 0) memory = std::min(memory, (rest - std::min(rest, cache * near)) / far);
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
