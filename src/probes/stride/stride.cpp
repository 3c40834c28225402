// SPDX-License-Identifier: Apache-2.0
// Bandwidth by the stride between the elements of a work-item. Method: docs/stride.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe::stride {

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
     .summary = "elements per buffer, a power of two such as 2^28 or 256M",
     .details =
         "Elements per buffer, a power of two: `268435456`, `256M` or `2^28`. Default: 1 GiB per "
         "buffer on a GPU with at least 16 GiB of memory, 256 MiB on other GPUs and with --quick, "
         "four times the last-level cache on a CPU.",
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
     .details =
         "Clock that times a launch: the device's clock through OpenCL events (`event`), or the "
         "host's clock (`host`). Default: `event`, if the device's event times are reliable.",
     .value = Choice{timer_choices}},
    {.name = "per-launch",
     .value_name = "WORD",
     .summary = "how much data a launch moves",
     .details =
         "How much data a launch moves. `whole`: the whole buffer, however long that takes. "
         "`usual`: a part of the buffer on a CPU, or if a launch would take more than 100 ms; "
         "otherwise the whole buffer. `whole` needs `--timer event`. Default: `usual`.",
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
    {.name = "dip", .unit = "bytes", .role = Role::remark},
    {.name = "advice", .role = Role::advice},
};

constexpr DescribedNumber described[]{
    // Some devices show no sector while they read.
    {"coalescing.sector", "sector", "read int"},
    {"coalescing.sector", "sector", "copy int4"},
    {"coalescing.stride", "knee", "read int"},
};

// A launch averages over many accesses, so few launches suffice if they agree.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2),
              .relative_interval = 0.05,
              .min_visits = 1,
              .max_visits = 2},
    .normal = {.probe_time = std::chrono::seconds(6), .relative_interval = 0.02},
    .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

/// Requested options. For options that are 0, empty or nothing, the probe chooses values.
struct Options {
  explicit Options(const Request& request)
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

  Effort effort{};
  Bytes max_memory{};
  Bytes last_cache{};
  std::uint64_t elements{};
  std::uint64_t grid{};
  std::uint64_t work_group{};
  std::vector<ElementType> types{};
  std::vector<int> vectors{};
  std::vector<Operation> operations{};
  std::vector<BufferKind> buffers{};
  std::optional<Timer> timer{};
  bool is_whole{false};  ///< each launch moves the whole buffer
};

// Size of a GPU's buffer. With 1 GiB a launch takes at least 200 us, even on the fastest memory.
// Smaller GPUs have slower memory.
constexpr Bytes large_gpu_buffer = gibibytes(1);
constexpr Bytes small_gpu_buffer = mebibytes(256);
constexpr Bytes large_gpu_memory = gibibytes(16);
constexpr Bytes min_cpu_buffer = mebibytes(64);
// Size of the buffer as a multiple of the last cache. A pass should find no data of the previous
// pass in the last cache.
constexpr std::uint64_t caches = 4;
// Twice the number of work-items that a GPU's compute unit holds at once, so that every compute
// unit is always full.
constexpr std::uint64_t gpu_items_per_unit = std::uint64_t{2} * 2048;
// A CPU runs the work-items of a group one after another. With many groups all threads end at
// about the same time.
constexpr std::uint64_t cpu_items_per_unit = 2048;
// Each work-item has 16 elements if elements are as wide as a cache line. With large strides these
// are 16 streams, and neighbouring work-items read neighbouring lines: on a Xeon the bandwidth is
// 1.5 times that of one stream. With narrower elements a work-item would take less time than the
// driver needs to start a work-item.
constexpr std::uint64_t cpu_line_bytes = 64;
constexpr std::uint64_t cpu_streams = 16;

template <typename Value>
std::vector<Value> requested_or(const std::vector<Value>& requested, Value otherwise) {
  return requested.empty() ? std::vector<Value>{otherwise} : requested;
}

/// Returns the size of the last cache: as measured, or on a CPU as reported if the reported size
/// is larger. On a busy CPU the last cache may be mistaken for memory. A GPU's report is not used,
/// since the driver may report the first cache.
Bytes last_cache(const DeviceInfo& device, const Options& requested) {
  if (!runs_items_in_turn(device)) return requested.last_cache;
  return std::max(requested.last_cache, reported_cache(device));
}

/// Returns the size of a buffer in bytes for runs without requested elements.
Bytes default_buffer(const DeviceInfo& device, const Options& requested) {
  Bytes min = min_cpu_buffer;
  if (!runs_items_in_turn(device)) {
    const bool is_large = device.global_memory >= large_gpu_memory;
    min = is_large && requested.effort != Effort::quick ? large_gpu_buffer : small_gpu_buffer;
  }
  return {std::bit_ceil(std::max(min, last_cache(device, requested) * caches).count)};
}

std::uint64_t default_grid(const DeviceInfo& device, const Shape& shape) {
  constexpr std::uint64_t min_gpu_grid = 1U << 16U;
  constexpr std::uint64_t max_gpu_grid = 1U << 21U;
  if (!runs_items_in_turn(device)) {
    return std::clamp(std::bit_ceil(units_of(device) * gpu_items_per_unit), min_gpu_grid,
                      max_gpu_grid);
  }
  const std::uint64_t min = std::bit_ceil(units_of(device) * cpu_items_per_unit);
  return shape.element_bytes() < cpu_line_bytes ? min : std::max(min, shape.elements / cpu_streams);
}

/// Returns one shape per series, with its operation, element type, vector width and kind of buffer.
/// Sizes are not set.
std::vector<Shape> choose_kinds(const DeviceInfo& device, const Options& requested) {
  // By default the probe measures reads of single values and of vectors, and copies of vectors. On
  // a CPU the probe also measures reads of whole cache lines.
  const bool is_overview = requested.types.empty() && requested.vectors.empty() &&
                           requested.operations.empty() && requested.buffers.empty();
  std::vector<Shape> kinds;
  if (is_overview && requested.effort != Effort::quick) {
    kinds = {{.vector = 1}, {.vector = 4}, {.vector = 4, .operation = Operation::copy}};
    // If elements are requested, whole cache lines are left out: the same number of lines may
    // exceed the memory.
    if (runs_items_in_turn(device) && requested.elements == 0) kinds.push_back({.vector = 16});
    return kinds;
  }
  for (const BufferKind buffer : requested_or(requested.buffers, BufferKind::device)) {
    for (const Operation operation : requested_or(requested.operations, Operation::read)) {
      for (const ElementType type : requested_or(requested.types, ElementType::int32)) {
        for (const int vector : requested_or(requested.vectors, 1)) {
          kinds.push_back({.vector = static_cast<std::uint64_t>(vector),
                           .type = type,
                           .operation = operation,
                           .buffer = buffer});
        }
      }
    }
  }
  return kinds;
}

/// Returns the number of buffers that exist at the same time.
std::uint64_t count_buffers(const std::vector<Shape>& kinds) {
  std::uint64_t buffers = 0;
  for (const auto& [buffer, word] : buffer_words) {
    const auto is_any = [&, here = buffer](bool (*uses)(Operation)) {
      return std::any_of(kinds.begin(), kinds.end(), [&](const Shape& each) {
        return each.buffer == here && uses(each.operation);
      });
    };
    buffers += (is_any(reads_source) ? 1U : 0U) + (is_any(writes_target) ? 1U : 0U);
  }
  return std::max<std::uint64_t>(1, buffers);
}

/// Returns the memory for checks on device and host. The buffers of size `buffer` are not
/// included.
Bytes memory_of_checks(const DeviceInfo& device, const std::vector<Shape>& kinds, Bytes buffer) {
  std::uint64_t bytes = 0;
  const auto is_any = [&](bool (*is)(Operation)) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const Shape& each) { return is(each.operation); });
  };
  // The sums exist on the device and on the host.
  if (is_any([](Operation each) { return !writes_target(each); })) bytes += 2 * sums_bytes;
  if (is_any(writes_target)) {
    constexpr std::uint64_t narrowest_word = 4;
    bytes += 2 * sizeof(std::uint32_t) *
             max_walkers(buffer.count / narrowest_word, runs_items_in_turn(device));
  }
  return {bytes};
}

/// Returns the size of the largest buffer that all kinds can have. With requested elements, the
/// buffers may use the whole memory; otherwise a quarter. --max-memory replaces both limits.
Bytes max_buffer(const DeviceInfo& device, const Options& requested,
                 const std::vector<Shape>& kinds) {
  Bytes all = requested.elements != 0 ? device.global_memory : device.global_memory / 4;
  if (requested.max_memory.count != 0) {
    const Bytes checks = memory_of_checks(device, kinds, requested.max_memory);
    all = requested.max_memory > checks ? requested.max_memory - checks : Bytes{};
  }
  return std::min(all / count_buffers(kinds), device.max_allocation);
}

/// Returns the size of the largest work-group that is a power of two.
std::uint64_t max_work_group(const DeviceInfo& device) {
  return std::bit_floor(max_group_of(device));
}

/// Returns the shape with numbers of elements, work-items and work-items per group: as requested,
/// or otherwise as suitable for the device.
Shape with_sizes(const DeviceInfo& device, const Options& requested,
                 const std::vector<Shape>& kinds, Shape shape) {
  const Bytes max = max_buffer(device, requested, kinds);
  const Bytes buffer = std::min(default_buffer(device, requested), {std::bit_floor(max.count)});
  shape.elements = requested.elements != 0
                       ? requested.elements
                       : std::max<std::uint64_t>(1, buffer.count / shape.element_bytes());
  // Without --grid, each work-item has at least 16 elements, the largest batch.
  constexpr std::uint64_t min_run = 16;
  shape.grid = requested.grid != 0 ? requested.grid
                                   : std::min(default_grid(device, shape),
                                              std::max<std::uint64_t>(1, shape.elements / min_run));
  const std::uint64_t default_group = std::min<std::uint64_t>(256, max_work_group(device));
  shape.work_group =
      requested.work_group != 0 ? requested.work_group : std::min(default_group, shape.grid);
  shape.grid = std::max(shape.grid, requested.grid != 0 ? 1 : shape.work_group);
  return shape;
}

bool has_double(const DeviceInfo& device) {
  return device.reported.integer_or("double_fp_config", 0) != 0;
}

bool has_svm(const DeviceInfo& device) {
  return device.reported.integer_or("svm_capabilities", 0) != 0;
}

/// Returns the reason why the device does not support the elements or the buffer. If the device
/// supports both, returns an empty string.
std::string find_missing(const DeviceInfo& device, const Shape& kind) {
  if (kind.type == ElementType::float64 && !has_double(device)) {
    return "the device does not support doubles";
  }
  if (kind.buffer == BufferKind::svm && !has_svm(device)) {
    return "the device has no shared virtual memory";
  }
  return {};
}

std::string find_obstacle(const DeviceInfo& device, const Options& requested, const Shape& shape,
                          Bytes largest) {
  if (shape.timer == Timer::event && device.launch_timer != Timer::event) {
    return "the device's event times are unreliable; choose --timer host";
  }
  if (std::string missing = find_missing(device, shape); !missing.empty()) return missing;
  if (requested.is_whole && shape.timer != Timer::event) {
    return "the host's clock needs launches of two lengths, but --per-launch whole allows only "
           "one; omit --per-launch";
  }
  if (shape.elements <= largest / Bytes{shape.element_bytes()}) return {};
  return fmt::format("{} elements of {} need more than the available {} of memory", shape.elements,
                     format_bytes({shape.element_bytes()}), format_bytes(largest));
}

Point point_of(const Shape& shape) {
  Point point;
  point.series = shape.name();
  write_shape(shape, point);
  return point;
}

/// Returns a reference point with its own buffer.
PointAlone alone(Shape shape) {
  shape.shared_buffer_bytes = shape.buffer_bytes();
  return {point_of(shape), Bytes{shape.buffer_bytes()}};
}

Plan plan(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  Plan result;
  const std::vector<Shape> kinds = choose_kinds(device, requested);
  const Bytes largest = max_buffer(device, requested, kinds);
  std::vector<Shape> measured;
  std::uint64_t buffer_bytes = 0;
  for (const Shape& kind : kinds) {
    Shape shape = with_sizes(device, requested, kinds, kind);
    shape.timer = requested.timer.value_or(device.launch_timer);
    if (requested.is_whole) shape.per_launch = "whole";
    const std::string obstacle = find_obstacle(device, requested, shape, largest);
    if (!obstacle.empty()) {
      result.findings.push_back(not_measured("bandwidth", kind.name(), obstacle));
      continue;
    }
    buffer_bytes = std::max(buffer_bytes, shape.buffer_bytes());
    measured.push_back(std::move(shape));
  }
  for (Shape& shape : measured) {
    shape.shared_buffer_bytes = buffer_bytes;
    for (shape.stride = 1; shape.stride <= shape.grid; shape.stride *= 2) {
      // The reference is the point with a stride of one element in the first series of reads.
      const bool is_first_read = shape.stride == 1 && shape.operation == Operation::read &&
                                 result.references.empty() && requested.effort != Effort::quick;
      if (is_first_read) {
        result.references = {{ReferenceKind::memory, result.points.size(), alone(shape)}};
      }
      result.points.push_back(point_of(shape));
    }
  }
  if (!measured.empty()) {
    result.memory = Bytes{buffer_bytes} * count_buffers(measured) +
                    memory_of_checks(device, measured, {buffer_bytes});
  }
  return result;
}

std::string check_kinds(const DeviceInfo& device, const std::vector<Shape>& kinds) {
  for (const Shape& kind : kinds) {
    const std::string reason = find_missing(device, kind);
    if (reason.empty()) continue;
    const bool is_type = kind.type == ElementType::float64 && !has_double(device);
    return fmt::format("--{}: {}; choose {}", is_type ? "type" : "buffer", reason,
                       is_type ? "int or float" : "device or host");
  }
  return {};
}

/// Returns what is wrong with --work-group; empty for a power of two up to the device's maximum.
std::string check_work_group(const DeviceInfo& device, const Options& requested) {
  const std::uint64_t most = max_work_group(device);
  if (requested.work_group > most) {
    return fmt::format("--work-group: {} exceeds the device's maximum; choose at most {}",
                       requested.work_group, most);
  }
  if (requested.work_group == 0 || std::has_single_bit(requested.work_group)) return {};
  const std::uint64_t below = std::bit_floor(requested.work_group);
  return fmt::format("--work-group: {} is not a power of two; choose {}{}", requested.work_group,
                     below, 2 * below > most ? "" : fmt::format(" or {}", 2 * below));
}

std::string check_sizes_of(const Options& requested, const Shape& size) {
  if (size.grid > size.elements && requested.grid == 0) {
    return fmt::format(
        "--elements: {} is less than the number of work-items in a work-group; choose at least {}",
        size.elements, size.grid);
  }
  if (size.grid > size.elements) {
    return fmt::format("--grid: {} work-items exceed the {} elements; choose at most {}", size.grid,
                       size.elements, size.elements);
  }
  if (size.work_group > size.grid) {
    return fmt::format("--work-group: {} exceeds the grid of {} work-items; choose at most {}",
                       size.work_group, size.grid, size.grid);
  }
  return {};
}

std::string check_sizes(const DeviceInfo& device, const Options& requested,
                        const std::vector<Shape>& kinds) {
  std::uint64_t widest = 1;
  for (const Shape& each : kinds) widest = std::max(widest, each.element_bytes());
  const Bytes largest = max_buffer(device, requested, kinds);
  const bool is_known = device.max_allocation.count != 0 && largest.count != 0;
  const std::uint64_t max_elements =
      std::bit_floor(std::max<std::uint64_t>(1, largest.count / widest));
  if (is_known && requested.elements > max_elements) {
    return fmt::format(
        "--elements: {} elements of {} bytes in {} exceed the available memory; choose at most {}",
        requested.elements, widest, format_count(count_buffers(kinds), "buffer"), max_elements);
  }
  for (const Shape& kind : kinds) {
    std::string problem = check_sizes_of(requested, with_sizes(device, requested, kinds, kind));
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string check(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  if (std::string problem = check_work_group(device, requested); !problem.empty()) return problem;
  const std::vector<Shape> kinds = choose_kinds(device, requested);
  const std::string problem = check_kinds(device, kinds);
  return problem.empty() ? check_sizes(device, requested, kinds) : problem;
}

/// Returns the access pattern that suits the class of a curve. Returns an empty string if no rule
/// fits.
std::string_view pattern_of(const Finding* kind) {
  if (kind == nullptr) return {};
  const std::string_view word = kind->label;
  if (word == word_in(class_words, CurveClass::gpu_coalescing)) {
    return "coalesced";
  }
  if (word == word_in(class_words, CurveClass::cpu_serial)) {
    return "small strides";
  }
  // The slowest stride reaches 80 % of the best.
  if (word == word_in(class_words, CurveClass::flat)) return "almost any stride";
  return {};
}

/// Fastest series of an operation: for `read`, the faster of "read int" and "read int4".
struct Best {
  std::string operation{};
  std::string type{};
  double bandwidth{0.0};
  std::string_view pattern{};
};

std::vector<Best> best_of(const ProbeResult& result) {
  std::vector<Best> all;
  for (const std::string& series : series_in(result.findings)) {
    const Finding* const bandwidth = find_value(result.findings, "bandwidth", series);
    if (bandwidth == nullptr) continue;
    const std::size_t space = std::min(series.find(' '), series.size());
    Best one{series.substr(0, space), series.substr(std::min(space + 1, series.size())),
             *bandwidth->value, pattern_of(find_finding(result.findings, "class", series))};
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Best& each) { return each.operation == one.operation; });
    if (found == all.end()) {
      all.push_back(std::move(one));
    } else if (one.bandwidth > found->bandwidth) {
      *found = std::move(one);
    }
  }
  return all;
}

/// Returns "read 4.55 TB/s, copy 4.03 TB/s (int4, coalesced)". Element type and pattern follow at
/// the end if all operations have them in common.
std::string text_of(const std::vector<Best>& all) {
  const auto share = [&](auto part) {
    return std::all_of(all.begin(), all.end(),
                       [&](const Best& each) { return each.*part == all.front().*part; });
  };
  const bool is_one_type = share(&Best::type);
  const bool is_one_pattern = share(&Best::pattern);
  std::string text;
  for (const Best& each : all) {
    std::string own;
    if (!is_one_type) append(own, ", ", each.type);
    if (!is_one_pattern) append(own, ", ", each.pattern);
    append(text, ", ", fmt::format("{} {}", each.operation, format_rate(each.bandwidth)));
    if (!own.empty()) text += fmt::format(" ({})", own);
  }
  std::string common;
  if (is_one_type) append(common, ", ", all.front().type);
  if (is_one_pattern) append(common, ", ", all.front().pattern);
  return common.empty() ? text : fmt::format("{} ({})", text, common);
}

Card card(const ProbeResult& result) {
  Card card;
  const std::vector<Best> all = best_of(result);
  if (!all.empty()) card.lines.push_back({"best stride", text_of(all)});
  for (const std::string& series : series_in(result.findings)) {
    card.titles.emplace(series, fmt::format("strided memory access: {}", series));
    const Finding* const bandwidth = find_value(result.findings, "bandwidth", series);
    if (bandwidth == nullptr) continue;
    std::string text = format_rate(*bandwidth->value);
    const std::string_view pattern = pattern_of(find_finding(result.findings, "class", series));
    if (!pattern.empty()) text += fmt::format(", {}", pattern);
    if (const Finding* const knee = find_value(result.findings, "knee", series)) {
      text += fmt::format(" from {} on", size_text(*knee->value));
    }
    if (const Finding* const sector = find_value(result.findings, "sector", series)) {
      text += fmt::format(", sectors of {}", size_text(*sector->value));
    }
    card.rows.push_back({series, std::move(text)});
  }
  return card;
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
    .trace = CLPROBE_TRACE(trace),
    .builds = builds,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .card = card,
    .described = described,
    .is_in_checkup = true,
};

}  // namespace clprobe::stride
