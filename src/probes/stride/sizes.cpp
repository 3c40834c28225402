// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/shared/choices.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::stride {
namespace {

// Launches of 200 us and more on the fastest memory there is; smaller GPUs have slower memory.
constexpr Bytes large_gpu_buffer = gibibytes(1);
constexpr Bytes small_gpu_buffer = mebibytes(256);
constexpr Bytes large_gpu_memory = gibibytes(16);
constexpr Bytes min_cpu_buffer = mebibytes(64);
// Of what one pass leaves in the last cache the next pass should find nothing.
constexpr std::uint64_t caches = 4;
// Work-items that a GPU's compute unit holds at once; twice as many, so that none runs dry.
constexpr std::uint64_t gpu_items_per_unit = std::uint64_t{2} * 2048;
// A CPU runs the items of a group one after another; many groups, so that its threads end together.
constexpr std::uint64_t cpu_items_per_unit = 2048;
// But of elements as wide as a line 16 for each item: larger strides then make as many streams, of
// which neighbouring items read neighbouring lines. Those had 1.5 times the bandwidth of one stream
// on a Xeon. (A driver's work for an item costs more than a narrow element.)
constexpr std::uint64_t cpu_line_bytes = 64;
constexpr std::uint64_t cpu_streams = 16;

template <typename Value>
std::vector<Value> asked_or(const std::vector<Value>& asked, Value otherwise) {
  return asked.empty() ? std::vector<Value>{otherwise} : asked;
}

/// The last cache as measured, or, if that is larger, as a CPU's driver reports it. (A GPU's driver
/// reports the first. On a busy CPU the last cache may look like memory.)
Bytes last_cache(const DeviceInfo& device, const Asked& asked) {
  if (!runs_items_in_turn(device)) return asked.last_cache;
  return std::max(asked.last_cache, reported_cache(device));
}

/// Of a buffer where nothing was asked for.
Bytes default_buffer(const DeviceInfo& device, const Asked& asked) {
  Bytes min = min_cpu_buffer;
  if (!runs_items_in_turn(device)) {
    const bool is_large = device.global_memory >= large_gpu_memory;
    min = is_large && asked.effort != Effort::quick ? large_gpu_buffer : small_gpu_buffer;
  }
  return {std::bit_ceil(std::max(min, last_cache(device, asked) * caches).count)};
}

std::uint64_t default_grid(const DeviceInfo& device, const Kind& kind, std::uint64_t elements) {
  constexpr std::uint64_t min_gpu_grid = 1U << 16U;
  constexpr std::uint64_t max_gpu_grid = 1U << 21U;
  if (!runs_items_in_turn(device)) {
    return std::clamp(std::bit_ceil(units_of(device) * gpu_items_per_unit), min_gpu_grid,
                      max_gpu_grid);
  }
  const std::uint64_t min = std::bit_ceil(units_of(device) * cpu_items_per_unit);
  return kind.element_bytes() < cpu_line_bytes ? min : std::max(min, elements / cpu_streams);
}

}  // namespace

Asked::Asked(const Request& request)
    : effort(request.effort),
      max_memory(request.max_memory),
      last_cache(request.known.last_cache),
      elements(request.own.number("elements").value_or(0)),
      grid(request.own.number("grid").value_or(0)),
      work_group(request.own.number("work-group").value_or(0)),
      types(values_in(type_words, request.own.words("type"))),
      vectors(numbers_in(request.own.words("vector"))),
      operations(values_in(operation_words, request.own.words("operation"))),
      buffers(values_in(buffer_words, request.own.words("buffer"))),
      timer(from_word<Timer>(request.own.word("timer"))),
      is_whole(request.own.word("per-launch") == "whole") {}

std::string Kind::name() const {
  const std::string width = vector == 1 ? "" : fmt::to_string(vector);
  const std::string_view where = buffer == BufferKind::device ? ""
                                 : buffer == BufferKind::host ? " in host memory"
                                                              : " in svm";
  return fmt::format("{} {}{}{}", word_in(operation_words, operation), word_in(type_words, type),
                     width, where);
}

std::vector<Kind> choose_kinds(const DeviceInfo& device, const Asked& asked) {
  // An overview: single values and vectors read, vectors copied, and of a CPU lines read. Whoever
  // asks gets what was asked.
  const bool is_overview = asked.types.empty() && asked.vectors.empty() &&
                           asked.operations.empty() && asked.buffers.empty();
  std::vector<Kind> kinds;
  if (is_overview && asked.effort != Effort::quick) {
    kinds = {{.operation = Operation::read, .vector = 1},
             {.operation = Operation::read, .vector = 4},
             {.operation = Operation::copy, .vector = 4}};
    // (Elements that were asked for are of vectors up to int4: so many lines may not fit.)
    if (runs_items_in_turn(device) && asked.elements == 0) {
      kinds.push_back({.operation = Operation::read, .vector = 16});
    }
    return kinds;
  }
  for (const BufferKind buffer : asked_or(asked.buffers, BufferKind::device)) {
    for (const Operation operation : asked_or(asked.operations, Operation::read)) {
      for (const ElementType type : asked_or(asked.types, ElementType::int32)) {
        for (const int vector : asked_or(asked.vectors, 1)) {
          kinds.push_back({operation, type, vector, buffer});
        }
      }
    }
  }
  return kinds;
}

std::uint64_t count_buffers(const std::vector<Kind>& kinds) {
  std::uint64_t buffers = 0;
  for (const auto& [buffer, word] : buffer_words) {
    const auto is_any = [&, here = buffer](bool (*uses)(Operation)) {
      return std::any_of(kinds.begin(), kinds.end(), [&](const Kind& each) {
        return each.buffer == here && uses(each.operation);
      });
    };
    buffers += (is_any(reads_source) ? 1U : 0U) + (is_any(writes_target) ? 1U : 0U);
  }
  return std::max<std::uint64_t>(1, buffers);
}

std::uint64_t widest_element(const std::vector<Kind>& kinds) {
  std::uint64_t widest = 1;
  for (const Kind& each : kinds) widest = std::max(widest, each.element_bytes());
  return widest;
}

Bytes memory_of_checks(const DeviceInfo& device, const std::vector<Kind>& kinds, Bytes buffer) {
  std::uint64_t bytes = 0;
  const auto is_any = [&](bool (*is)(Operation)) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const Kind& each) { return is(each.operation); });
  };
  // Each on the device and once more on the host.
  if (is_any([](Operation each) { return !writes_target(each); })) bytes += 2 * sums_bytes;
  if (is_any(writes_target)) {
    constexpr std::uint64_t narrowest_word = 4;
    bytes += 2 * sizeof(std::uint32_t) *
             max_walkers(buffer.count / narrowest_word, runs_items_in_turn(device));
  }
  return {bytes};
}

Bytes max_buffer(const DeviceInfo& device, const Asked& asked, const std::vector<Kind>& kinds) {
  Bytes all = asked.elements != 0 ? device.global_memory : device.global_memory / 4;
  if (asked.max_memory.count != 0) {
    const Bytes checks = memory_of_checks(device, kinds, asked.max_memory);
    all = asked.max_memory > checks ? asked.max_memory - checks : Bytes{};
  }
  return std::min(all / count_buffers(kinds), device.max_allocation);
}

std::uint64_t max_work_group(const DeviceInfo& device) {
  return std::bit_floor(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.max_work_group_size)));
}

Dimensions choose_dimensions(const DeviceInfo& device, const Asked& asked,
                             const std::vector<Kind>& kinds, const Kind& kind) {
  Dimensions chosen;
  const Bytes max = max_buffer(device, asked, kinds);
  const Bytes buffer = std::min(default_buffer(device, asked), {std::bit_floor(max.count)});
  chosen.elements = asked.elements != 0
                        ? asked.elements
                        : std::max<std::uint64_t>(1, buffer.count / kind.element_bytes());
  // At least a batch for each work-item, unless another grid was asked for.
  constexpr std::uint64_t min_run = 16;
  chosen.grid = asked.grid != 0 ? asked.grid
                                : std::min(default_grid(device, kind, chosen.elements),
                                           std::max<std::uint64_t>(1, chosen.elements / min_run));
  const std::uint64_t default_group = std::min<std::uint64_t>(256, max_work_group(device));
  chosen.work_group =
      asked.work_group != 0 ? asked.work_group : std::min(default_group, chosen.grid);
  chosen.grid = std::max(chosen.grid, asked.grid != 0 ? 1 : chosen.work_group);
  return chosen;
}

}  // namespace clprobe::stride
