// SPDX-License-Identifier: Apache-2.0
// Bandwidth by the stride between the elements of a work-item. Method: docs/stride.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/choices.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stride/card.hpp"
#include "probes/stride/findings.hpp"
#include "probes/stride/launch.hpp"
#include "probes/stride/shape.hpp"
#include "probes/stride/sizes.hpp"
#include "probes/stride/walk.hpp"

namespace clprobe::stride {

extern const Probe probe;

namespace {

constexpr auto type_choices = words_of_table(type_words);
constexpr std::array<std::string_view, 5> vector_choices{"1", "2", "4", "8", "16"};
constexpr auto operation_choices = words_of_table(operation_words);
constexpr auto buffer_choices = words_of_table(buffer_words);
constexpr std::array<std::string_view, 2> timer_choices{"event", "host"};
constexpr std::array<std::string_view, 2> per_launch_choices{"usual", "whole"};
constexpr Option options[]{
    {.name = "elements",
     .value_name = "N",
     .summary = "elements per buffer, a power of two: 2^28, 256M",
     .details =
         "Elements per buffer, a power of two: `268435456`, `256M` or `2^28`. Default: 1 GiB per "
         "buffer on a large GPU, 256 MiB on a small one, four times the last-level cache on a CPU.",
     .value = Count{.power_of_two = true}},
    {.name = "grid",
     .value_name = "N",
     .summary = "work-items per launch, a power of two",
     .details = "Work-items per launch, a power of two, at most the number of elements. Default: "
                "enough to fill the device twice.",
     .value = Count{.power_of_two = true}},
    {.name = "work-group",
     .value_name = "N",
     .summary = "work-items per work-group, a power of two",
     .details = "Work-items per work-group: a power of two, no larger than `--grid`. Default: 256.",
     .value = Count{}},
    {.name = "type",
     .value_name = "LIST",
     .summary = "element types",
     .details = "Comma-separated list of element types. Default: `int`.",
     .value = Choices{type_choices}},
    {.name = "vector",
     .value_name = "LIST",
     .summary = "values per element",
     .details = "Comma-separated list of values per element: `4` makes an element an int4. "
                "Default: 1 and 4, on a CPU also 16.",
     .value = Choices{vector_choices}},
    {.name = "operation",
     .value_name = "LIST",
     .summary = "what a work-item does with its elements",
     .details =
         "Comma-separated list of what a work-item does with its elements: `read` them, `write` "
         "them, `copy` them to another buffer, or `update` them in place. A copy or an update "
         "moves every byte twice, and both moves count. Default: read int and int4, copy int4.",
     .value = Choices{operation_choices}},
    {.name = "buffer",
     .value_name = "LIST",
     .summary = "memory that holds the buffers",
     .details =
         "Comma-separated list of memories for the buffers. `device`: device memory. `host`: "
         "host memory that the driver allocates (CL_MEM_ALLOC_HOST_PTR). `svm`: shared "
         "virtual memory. Default: `device`.",
     .value = Choices{buffer_choices}},
    {.name = "timer",
     .value_name = "WORD",
     .summary = "clock that times a launch",
     .details = "Clock that times a launch: that of its `event` or that of the `host`. Default: "
                "events, where the device's event times are reliable.",
     .value = Choice{timer_choices}},
    {.name = "per-launch",
     .value_name = "WORD",
     .summary = "how much a launch moves",
     .details =
         "How much a launch moves. `whole`: the whole buffer, however long that takes. `usual`: "
         "only a part of the buffer on a CPU or where a launch would take more than 100 ms, "
         "otherwise all of it. Needs events. Default: `usual`.",
     .value = Choice{per_launch_choices}},
};

constexpr FindingSpec findings[]{
    {.name = "bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    {.name = "best_stride", .unit = "bytes"},
    {.name = "class", .role = Role::headline},
    {.name = "knee", .unit = "bytes"},
    {.name = "sector", .unit = "bytes"},
    {.name = "sub_group"},
    {.name = "end_droop", .unit = "share"},
    {.name = "dip", .unit = "bytes"},
    {.name = "advice", .role = Role::advice},
};

// A launch moves enough to be its own mean, so that few are enough where they agree.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2),
              .relative_interval = 0.05,
              .min_visits = 1,
              .max_visits = 2},
    .normal = {.probe_time = std::chrono::seconds(6), .relative_interval = 0.02},
    .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

bool has_double(const DeviceInfo& device) {
  return device.reported.integer_or("double_fp_config", 0) != 0;
}

bool has_svm(const DeviceInfo& device) {
  return device.reported.integer_or("svm_capabilities", 0) != 0;
}

/// Why the device has no such elements or buffers; empty when it has.
std::string find_missing(const DeviceInfo& device, const Kind& kind) {
  if (kind.type == ElementType::float64 && !has_double(device)) {
    return "the device does not support double";
  }
  if (kind.buffer == BufferKind::svm && !has_svm(device)) {
    return "the device has no shared virtual memory";
  }
  return {};
}

Shape shape_for(const Kind& kind, const Dimensions& size, Timer timer) {
  Shape shape;
  shape.elements = size.elements;
  shape.grid = size.grid;
  shape.work_group = size.work_group;
  shape.vector = static_cast<std::uint64_t>(kind.vector);
  shape.type = kind.type;
  shape.operation = kind.operation;
  shape.buffer = kind.buffer;
  shape.timer = timer;
  return shape;
}

Point point_of(const Kind& kind, const Shape& shape) {
  Point point;
  point.series = kind.name();
  write_shape(shape, point);
  return point;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  const Asked asked(request);
  Plan result;
  const std::vector<Kind> kinds = choose_kinds(device, asked);
  const Bytes largest = max_buffer(device, asked, kinds);
  const Timer timer = asked.timer.value_or(device.launch_timer);
  std::vector<Kind> measured;
  std::vector<Shape> shapes;
  std::uint64_t buffer_bytes = 0;
  for (const Kind& kind : kinds) {
    std::string reason = find_missing(device, kind);
    if (timer == Timer::event && device.launch_timer != Timer::event) {
      reason = "the device's event times are unreliable; choose --timer host";
    }
    if (asked.is_whole && timer != Timer::event && reason.empty()) {
      reason = "the host's clock needs launches of two lengths; omit --per-launch";
    }
    const Dimensions size = choose_dimensions(device, asked, kinds, kind);
    if (reason.empty() && size.elements > largest / Bytes{kind.element_bytes()}) {
      reason = fmt::format("{} elements of {} need more than {} of memory", size.elements,
                           format_bytes({kind.element_bytes()}), format_bytes(largest));
    }
    if (!reason.empty()) {
      result.findings.push_back(not_measured("bandwidth", kind.name(), reason));
      continue;
    }
    measured.push_back(kind);
    shapes.push_back(shape_for(kind, size, timer));
    if (asked.is_whole) shapes.back().per_launch = "whole";
    buffer_bytes = std::max(buffer_bytes, shapes.back().buffer_bytes());
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    Shape& shape = shapes[i];
    shape.shared_buffer_bytes = buffer_bytes;
    for (shape.stride = 1; shape.stride <= shape.grid; shape.stride *= 2) {
      // Of reads, the pattern that all devices stream best.
      const bool is_first_read = shape.stride == 1 && shape.operation == Operation::read &&
                                 result.references.empty() && asked.effort != Effort::quick;
      if (is_first_read) {
        Shape alone = shape;
        alone.shared_buffer_bytes = shape.buffer_bytes();
        result.references = {
            {ReferenceKind::memory, result.points.size(),
             PointAlone{point_of(measured[i], alone), Bytes{shape.buffer_bytes()}}}};
      }
      result.points.push_back(point_of(measured[i], shape));
    }
  }
  if (!measured.empty()) {
    result.memory = Bytes{buffer_bytes} * count_buffers(measured) +
                    memory_of_checks(device, measured, {buffer_bytes});
  }
  return result;
}

std::string check_kinds(const DeviceInfo& device, const std::vector<Kind>& kinds) {
  for (const Kind& kind : kinds) {
    const std::string reason = find_missing(device, kind);
    if (reason.empty()) continue;
    const bool is_type = kind.type == ElementType::float64 && !has_double(device);
    return fmt::format("--{}: {}; choose {}", is_type ? "type" : "buffer", reason,
                       is_type ? "int or float" : "device or host");
  }
  return {};
}

/// Only the device tells which powers of two may be chosen.
std::string check_work_group(const DeviceInfo& device, const Asked& asked) {
  const std::uint64_t most = max_work_group(device);
  if (asked.work_group > most) {
    return fmt::format("--work-group: {} exceeds the device's maximum; choose at most {}",
                       asked.work_group, most);
  }
  if (asked.work_group == 0 || std::has_single_bit(asked.work_group)) return {};
  const std::uint64_t below = std::bit_floor(asked.work_group);
  return fmt::format("--work-group: {} is not a power of two; choose {}{}", asked.work_group, below,
                     2 * below > most ? "" : fmt::format(" or {}", 2 * below));
}

std::string check_dimensions(const Asked& asked, const Dimensions& size) {
  if (size.grid > size.elements && asked.grid == 0) {
    return fmt::format(
        "--elements: {} is less than the number of work-items in a work-group; choose at least {}",
        size.elements, size.grid);
  }
  if (size.grid > size.elements) {
    return fmt::format("--grid: {} work-items exceed the {} elements; choose at most {}", size.grid,
                       size.elements, size.elements);
  }
  if (size.work_group > size.grid) {
    return fmt::format("--work-group: {} does not divide the grid of {}; choose at most {}",
                       size.work_group, size.grid, size.grid);
  }
  return {};
}

std::string check_sizes(const DeviceInfo& device, const Asked& asked,
                        const std::vector<Kind>& kinds) {
  const std::uint64_t widest = widest_element(kinds);
  const Bytes largest = max_buffer(device, asked, kinds);
  const bool is_known = device.max_allocation.count != 0 && largest.count != 0;
  const std::uint64_t max_elements =
      std::bit_floor(std::max<std::uint64_t>(1, largest.count / widest));
  if (is_known && asked.elements > max_elements) {
    return fmt::format(
        "--elements: {} elements of {} bytes in {} exceed the available memory; choose at most {}",
        asked.elements, widest, format_count(count_buffers(kinds), "buffer"), max_elements);
  }
  for (const Kind& kind : kinds) {
    std::string problem = check_dimensions(asked, choose_dimensions(device, asked, kinds, kind));
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string check(const DeviceInfo& device, const Request& request) {
  const Asked asked(request);
  if (std::string problem = check_work_group(device, asked); !problem.empty()) return problem;
  const std::vector<Kind> kinds = choose_kinds(device, asked);
  const std::string problem = check_kinds(device, kinds);
  return problem.empty() ? check_sizes(device, asked, kinds) : problem;
}

}  // namespace

const Probe probe{
    .id = "stride",
    .title = "Access patterns",
    .question = "Which stride between a work-item's elements reaches full memory bandwidth?",
    .lends_references = true,
    .unit = Unit::bytes_per_second,
    .options = options,
    .findings = findings,
    .view = {.kind = ViewKind::curve, .x = "stride_bytes", .value_title = "bandwidth"},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .open = open,
    .trace = trace,
    .variants = variants,
    .builds = builds,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .card = card,
    .loops = loops,
};

}  // namespace clprobe::stride
