// SPDX-License-Identifier: Apache-2.0
// Bandwidth by the stride between the elements of a work-item. Method: docs/stride.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"
#include "probes/stride/findings.hpp"
#include "probes/stride/launch.hpp"
#include "probes/stride/shape.hpp"

namespace clprobe::stride {

extern const Probe probe;

namespace {

// Launches of 200 us and more on the fastest memory there is; smaller GPUs have slower memory.
constexpr Bytes large_gpu_buffer = gibibytes(1);
constexpr Bytes small_gpu_buffer = mebibytes(256);
constexpr Bytes large_gpu_memory = gibibytes(16);
constexpr Bytes least_cpu_buffer = mebibytes(64);
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

std::uint64_t units_of(const DeviceInfo& device) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
}

bool has_double(const DeviceInfo& device) {
  return device.reported.integer_or("double_fp_config", 0) != 0;
}

bool has_svm(const DeviceInfo& device) {
  return device.reported.integer_or("svm_capabilities", 0) != 0;
}

/// One series: what is done with which elements, and where.
struct Kind {
  Operation operation{Operation::read};
  ElementType type{ElementType::int32};
  int vector{1};
  BufferKind buffer{BufferKind::device};

  [[nodiscard]] std::uint64_t element_bytes() const {
    return word_bytes_of(type) * static_cast<std::uint64_t>(vector);
  }
  /// "read int4", "copy double in host memory".
  [[nodiscard]] std::string name() const {
    const std::string width = vector == 1 ? "" : fmt::to_string(vector);
    const std::string_view where = buffer == BufferKind::device ? ""
                                   : buffer == BufferKind::host ? " in host memory"
                                                                : " in svm";
    return fmt::format("{} {}{}{}", to_word(operation), to_word(type), width, where);
  }
};

template <typename Value>
std::vector<Value> wanted(const std::vector<Value>& asked, std::vector<Value> otherwise) {
  return asked.empty() ? otherwise : asked;
}

std::vector<Kind> kinds_of(const DeviceInfo& device, const Limits& limits) {
  const StreamLimits& asked = limits.stream;
  // An overview: single values and vectors read, vectors copied, and of a CPU lines read. Whoever
  // asks gets what was asked.
  const bool is_overview = asked.types.empty() && asked.vectors.empty() &&
                           asked.operations.empty() && asked.buffers.empty();
  if (is_overview && limits.effort != Effort::quick) {
    std::vector<Kind> kinds{{Operation::read, ElementType::int32, 1, BufferKind::device},
                            {Operation::read, ElementType::int32, 4, BufferKind::device},
                            {Operation::copy, ElementType::int32, 4, BufferKind::device}};
    // (Elements that were asked for are of vectors up to int4: so many lines may not fit.)
    if (runs_items_in_turn(device) && asked.elements == 0) {
      kinds.push_back({Operation::read, ElementType::int32, 16, BufferKind::device});
    }
    return kinds;
  }
  std::vector<Kind> kinds;
  for (const BufferKind buffer : wanted(asked.buffers, {BufferKind::device})) {
    for (const Operation operation : wanted(asked.operations, {Operation::read})) {
      for (const ElementType type : wanted(asked.types, {ElementType::int32})) {
        for (const int vector : wanted(asked.vectors, {1})) {
          kinds.push_back({operation, type, vector, buffer});
        }
      }
    }
  }
  return kinds;
}

/// Buffers of the widest elements that exist at once.
std::uint64_t buffers_of(const std::vector<Kind>& kinds) {
  std::uint64_t buffers = 0;
  for (const BufferKind kind : {BufferKind::device, BufferKind::host, BufferKind::svm}) {
    bool has_source = false;
    bool has_target = false;
    for (const Kind& each : kinds) {
      if (each.buffer != kind) continue;
      has_source |= each.operation == Operation::read || each.operation == Operation::copy;
      has_target |= each.operation != Operation::read;
    }
    buffers += (has_source ? 1U : 0U) + (has_target ? 1U : 0U);
  }
  return std::max<std::uint64_t>(1, buffers);
}

std::uint64_t widest_element(const std::vector<Kind>& kinds) {
  std::uint64_t widest = 1;
  for (const Kind& each : kinds) widest = std::max(widest, each.element_bytes());
  return widest;
}

/// The largest buffer that all kinds can have. Elements that were asked for are measured if they
/// fit; else a quarter of the memory is left to others.
Bytes largest_buffer(const DeviceInfo& device, const Limits& limits,
                     const std::vector<Kind>& kinds) {
  Bytes all = limits.max_memory;
  if (all.count == 0) {
    all = limits.stream.elements != 0 ? device.global_memory : device.global_memory / 4;
  }
  return std::min(all / buffers_of(kinds), device.max_allocation);
}

/// The last cache as measured, or, if that is larger, as a CPU's driver reports it. (A GPU's driver
/// reports the first. On a busy CPU the last cache may look like memory.)
Bytes last_cache(const DeviceInfo& device, const Limits& limits) {
  if (!runs_items_in_turn(device)) return limits.last_cache;
  const std::int64_t reported = device.reported.integer_or("cache_bytes", 0);
  return std::max(limits.last_cache,
                  Bytes{static_cast<std::uint64_t>(std::max<std::int64_t>(0, reported))});
}

/// Of a buffer where nothing was asked for.
Bytes usual_buffer(const DeviceInfo& device, const Limits& limits) {
  Bytes least = least_cpu_buffer;
  if (!runs_items_in_turn(device)) {
    const bool is_large = device.global_memory >= large_gpu_memory;
    least = is_large && limits.effort != Effort::quick ? large_gpu_buffer : small_gpu_buffer;
  }
  return {std::bit_ceil(std::max(least, last_cache(device, limits) * caches).count)};
}

/// How many elements, work-items and work-items a group.
struct Dimensions {
  std::uint64_t elements{1};
  std::uint64_t grid{1};
  std::uint64_t work_group{1};
};

std::uint64_t usual_grid(const DeviceInfo& device, const Kind& kind, std::uint64_t elements) {
  constexpr std::uint64_t least_gpu_grid = 1U << 16U;
  constexpr std::uint64_t most_gpu_grid = 1U << 21U;
  if (!runs_items_in_turn(device)) {
    return std::clamp(std::bit_ceil(units_of(device) * gpu_items_per_unit), least_gpu_grid,
                      most_gpu_grid);
  }
  const std::uint64_t least = std::bit_ceil(units_of(device) * cpu_items_per_unit);
  return kind.element_bytes() < cpu_line_bytes ? least : std::max(least, elements / cpu_streams);
}

std::uint64_t largest_work_group(const DeviceInfo& device) {
  return std::bit_floor(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.max_work_group_size)));
}

Dimensions dimensions_of(const DeviceInfo& device, const Limits& limits,
                         const std::vector<Kind>& kinds, const Kind& kind) {
  const StreamLimits& asked = limits.stream;
  Dimensions chosen;
  const Bytes most = largest_buffer(device, limits, kinds);
  const Bytes usual = std::min(usual_buffer(device, limits), {std::bit_floor(most.count)});
  chosen.elements = asked.elements != 0
                        ? asked.elements
                        : std::max<std::uint64_t>(1, usual.count / kind.element_bytes());
  // At least a batch for each work-item, unless another grid was asked for.
  constexpr std::uint64_t least_run = 16;
  chosen.grid = asked.grid != 0 ? asked.grid
                                : std::min(usual_grid(device, kind, chosen.elements),
                                           std::max<std::uint64_t>(1, chosen.elements / least_run));
  const std::uint64_t usual_group = std::min<std::uint64_t>(256, largest_work_group(device));
  chosen.work_group = asked.work_group != 0 ? asked.work_group : std::min(usual_group, chosen.grid);
  chosen.grid = std::max(chosen.grid, asked.grid != 0 ? 1 : chosen.work_group);
  return chosen;
}

std::string_view pattern_name(std::uint64_t stride, const Dimensions& size) {
  if (stride == 1) return "serial";
  if (stride == size.grid) return "grid stride";
  return stride == size.work_group ? "work-group stride" : "between";
}

Point point_of(const Kind& kind, const Dimensions& size, std::uint64_t stride, Timer timer) {
  const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  Point point;
  point.series = kind.name();
  point.parameters = {{"stride_bytes", integer(stride * kind.element_bytes())},
                      {"stride_elements", integer(stride)},
                      {"pattern", std::string(pattern_name(stride, size))},
                      {"operation", std::string(to_word(kind.operation))},
                      {"type", std::string(to_word(kind.type))},
                      {"vector", std::int64_t{kind.vector}},
                      {"buffer", std::string(to_word(kind.buffer))},
                      {"elements", integer(size.elements)},
                      {"working_set_bytes", integer(size.elements * kind.element_bytes() *
                                                    (uses_two_buffers(kind.operation) ? 2 : 1))},
                      {"grid", integer(size.grid)},
                      {"work_group", integer(size.work_group)},
                      {"timer", std::string(to_word(timer))}};
  return point;
}

/// Why the device has no such elements or buffers; empty when it has.
std::string missing(const DeviceInfo& device, const Kind& kind) {
  if (kind.type == ElementType::float64 && !has_double(device)) return "the device has no double";
  if (kind.buffer == BufferKind::svm && !has_svm(device)) {
    return "the device has no shared virtual memory";
  }
  return {};
}

Finding not_measured(const std::string& series, std::string reason) {
  Finding finding;
  finding.name = "bandwidth";
  finding.series = series;
  finding.source = Source::reported;
  finding.method = "plan";
  finding.reason = std::move(reason);
  return finding;
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan result;
  const std::vector<Kind> kinds = kinds_of(device, limits);
  const Timer timer = limits.stream.timer.value_or(device.launch_timer);
  std::int64_t buffer_bytes = 0;
  for (const Kind& kind : kinds) {
    std::string reason = missing(device, kind);
    if (timer == Timer::event && device.launch_timer != Timer::event) {
      reason = "the device's event times are not true: choose --timer host";
    }
    const Dimensions size = dimensions_of(device, limits, kinds, kind);
    const Bytes largest = largest_buffer(device, limits, kinds);
    if (reason.empty() && size.elements > largest / Bytes{kind.element_bytes()}) {
      reason = fmt::format("{} elements of {} are more than {} of memory", size.elements,
                           format_bytes({kind.element_bytes()}), format_bytes(largest));
    }
    if (!reason.empty()) {
      result.findings.push_back(not_measured(kind.name(), reason));
      continue;
    }
    buffer_bytes =
        std::max(buffer_bytes, static_cast<std::int64_t>(size.elements * kind.element_bytes()));
    for (std::uint64_t stride = 1; stride <= size.grid; stride *= 2) {
      result.points.push_back(point_of(kind, size, stride, timer));
    }
  }
  for (Point& point : result.points) point.facts.set("buffer_bytes", buffer_bytes);
  return result;
}

/// "choose 512 or 1024", the powers of two around a number.
std::string powers_around(std::uint64_t number) {
  const std::uint64_t below = std::bit_floor(number);
  const bool has_above = below <= std::numeric_limits<std::uint64_t>::max() / 2;
  return has_above ? fmt::format("choose {} or {}", below, below * 2)
                   : fmt::format("choose {}", below);
}

std::string check_powers(const Limits& limits) {
  struct Row {
    std::string_view flag;
    std::uint64_t value;
  };
  for (const Row& row : {Row{"elements", limits.stream.elements}, Row{"grid", limits.stream.grid},
                         Row{"work-group", limits.stream.work_group}}) {
    if (row.value == 0 || std::has_single_bit(row.value)) continue;
    return fmt::format("--{}: {} is no power of two: {}", row.flag, row.value,
                       powers_around(row.value));
  }
  return {};
}

std::string check_kinds(const DeviceInfo& device, const std::vector<Kind>& kinds) {
  for (const Kind& kind : kinds) {
    const std::string reason = missing(device, kind);
    if (reason.empty()) continue;
    const bool is_type = kind.type == ElementType::float64 && !has_double(device);
    return fmt::format("--{}: {}: choose {}", is_type ? "type" : "buffer", reason,
                       is_type ? "int or float" : "device or host");
  }
  return {};
}

std::string check_sizes(const DeviceInfo& device, const Limits& limits,
                        const std::vector<Kind>& kinds) {
  const StreamLimits& asked = limits.stream;
  const std::uint64_t widest = widest_element(kinds);
  const Bytes most = largest_buffer(device, limits, kinds);
  const bool is_known = device.max_allocation.count != 0 && most.count != 0;
  const std::uint64_t most_elements =
      std::bit_floor(std::max<std::uint64_t>(1, most.count / widest));
  if (is_known && asked.elements > most_elements) {
    return fmt::format(
        "--elements: {} of {} bytes in {} buffer{} are more memory than there is: choose at most "
        "{}",
        asked.elements, widest, buffers_of(kinds), buffers_of(kinds) == 1 ? "" : "s",
        most_elements);
  }
  for (const Kind& kind : kinds) {
    const Dimensions size = dimensions_of(device, limits, kinds, kind);
    if (size.grid > size.elements) {
      return asked.grid == 0
                 ? fmt::format(
                       "--elements: {} are fewer than the work-items of a work-group: "
                       "choose at least {}",
                       size.elements, size.grid)
                 : fmt::format("--grid: {} work-items are more than {} elements: choose at most {}",
                               size.grid, size.elements, size.elements);
    }
    if (size.work_group > largest_work_group(device)) {
      return fmt::format("--work-group: {} is more than the device takes: choose at most {}",
                         size.work_group, largest_work_group(device));
    }
    if (size.work_group > size.grid) {
      return fmt::format("--work-group: {} does not divide the grid of {}: choose at most {}",
                         size.work_group, size.grid, size.grid);
    }
  }
  return {};
}

std::string check(const DeviceInfo& device, const Limits& limits) {
  const std::vector<Kind> kinds = kinds_of(device, limits);
  std::string problem = check_powers(limits);
  if (problem.empty()) problem = check_kinds(device, kinds);
  if (problem.empty()) problem = check_sizes(device, limits, kinds);
  return problem;
}

// A launch moves enough to be its own mean, so that few are enough where they agree.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2),
              .relative_interval = 0.05,
              .min_visits = 1,
              .max_visits = 2},
    .normal = {.probe_time = std::chrono::seconds(7), .relative_interval = 0.02},
    .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

}  // namespace

namespace {

constexpr std::array<std::string_view, 3> type_words{"int", "float", "double"};
constexpr std::array<std::string_view, 5> vector_words{"1", "2", "4", "8", "16"};
constexpr std::array<std::string_view, 4> operation_words{"read", "write", "copy", "update"};
constexpr std::array<std::string_view, 3> buffer_words{"device", "host", "svm"};
constexpr std::array<std::string_view, 2> timer_words{"event", "host"};
constexpr Option options[]{
    {.name = "elements",
     .value_name = "N",
     .summary = "elements in each buffer, a power of two: 2^28, 256M",
     .details =
         "Elements in each buffer, a power of two: `268435456`, `256M` or `2^28`. Without it, 1 "
         "GiB of them on a large GPU, 256 MiB on another, four times the last cache on a CPU.",
     .value = Count{.power_of_two = true}},
    {.name = "grid",
     .value_name = "N",
     .summary = "work-items of a launch, a power of two",
     .details = "Work-items of a launch, a power of two that is at most the number of "
                "elements. Without it, enough to fill the device twice.",
     .value = Count{.power_of_two = true}},
    {.name = "work-group",
     .value_name = "N",
     .summary = "work-items in a work-group, a power of two",
     .details = "Work-items in a work-group, a power of two that is at most the grid. Without "
                "it, 256.",
     .value = Count{.power_of_two = true}},
    {.name = "type",
     .value_name = "LIST",
     .summary = "types of the elements",
     .details = "Types of the elements, as a comma list; `int` by default.",
     .value = Choices{type_words}},
    {.name = "vector",
     .value_name = "LIST",
     .summary = "values in an element",
     .details = "How many values an element has, as a comma list: `4` makes it an int4. "
                "Without it, 1 and 4, and 16 on a CPU as well.",
     .value = Choices{vector_words}},
    {.name = "operation",
     .value_name = "LIST",
     .summary = "what is done with the elements",
     .details = "What a work-item does with its elements, as a comma list: `read` them, "
                "`write` them, `copy` them to another buffer, or `update` them in place. A "
                "copy and an update move every byte twice, and both count.",
     .value = Choices{operation_words}},
    {.name = "buffer",
     .value_name = "LIST",
     .summary = "where the buffers lie",
     .details = "Where the buffers lie, as a comma list: in the memory of the `device`, in "
                "memory that the driver takes from the `host` (CL_MEM_ALLOC_HOST_PTR), or in "
                "shared virtual memory, `svm`. The first by default.",
     .value = Choices{buffer_words}},
    {.name = "timer",
     .value_name = "WORD",
     .summary = "what times a launch",
     .details = "What times a launch: its `event`, or the clock of the `host`. Without it, "
                "events where they are true.",
     .value = Choice{timer_words}},
};
constexpr FindingSpec findings[]{
    {.name = "bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    {.name = "best_stride", .unit = "bytes"},
    {.name = "class"},
    {.name = "dip", .unit = "bytes"},
    {.name = "end_droop", .unit = "share"},
    {.name = "knee", .unit = "bytes"},
    {.name = "sector", .unit = "bytes"},
    {.name = "sub_group"},
    {.name = "advice", .role = Role::advice},
};

}  // namespace

const Probe probe{
    .id = "stride",
    .title = "Access patterns",
    .question = "Which stride between a work-item's elements reaches the bandwidth of memory?",
    .unit = Unit::bytes_per_second,
    .options = options,
    .findings = findings,
    .view = {.kind = ViewKind::curve, .x = "stride_bytes", .value_title = "bandwidth"},
    .budgets = budgets,
    .check = [](const DeviceInfo& device,
                const Request& request) { return check(device, limits_of(request)); },
    .plan = [](const DeviceInfo& device,
               const Request& request) { return plan(device, limits_of(request)); },
    .open = [](Session& session) -> Preparer {
      return [&session](const Point& point) { return prepare_stride(session, point); };
    },
    .trace = trace_stride,
    .variants = stride_variants,
    .analyse = stride_findings,
};

}  // namespace clprobe::stride
