// SPDX-License-Identifier: Apache-2.0
// The run document, read. Strict: a run file is evidence, and a key that is skipped or a value that
// is guessed would make it say something else than was measured.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <limits>

#include "run/json.hpp"
#include "run/version_1.hpp"

namespace clprobe::json {
namespace {

// One `read_*` per type, each listing the keys that it knows before it reads them.

std::string text_if_any(const Cursor& text) {
  return text.is_missing() ? std::string() : text.text();
}

std::optional<std::uint64_t> natural_if_any(const Cursor& number) {
  if (number.is_missing()) return std::nullopt;
  return number.natural();
}

std::optional<double> number_if_any(const Cursor& number) {
  if (number.is_missing()) return std::nullopt;
  return number.number();
}

int small_integer(const Cursor& number, int least) {
  const std::int64_t value = number.integer_from(least);
  if (value > std::numeric_limits<int>::max()) number.refuse("an integer below 2^31");
  return static_cast<int>(value);
}

Bytes read_bytes(const Cursor& number) { return Bytes{number.natural()}; }

std::vector<std::string> read_texts(const Cursor& texts) {
  return read_each(texts, [](const Cursor& each) { return each.text(); });
}

Value read_value(const Cursor& cursor) {
  if (cursor.is_text()) return cursor.text();
  if (cursor.is_whole()) return cursor.integer();
  if (cursor.is_number()) return cursor.number();
  cursor.refuse("a number or a string");
}

template <typename Enum>
Enum word_or(const Cursor& word, Enum otherwise) {
  return word.is_missing() ? otherwise : read_word<Enum>(word);
}

Parameters read_parameters(const Cursor& cursor) {
  Parameters parameters;
  std::ptrdiff_t count = 0;
  cursor.for_each_member([&](std::string_view name, const Cursor& value) {
    parameters.set(name, read_value(value));
    if (parameters.end() - parameters.begin() != ++count) value.refuse("this key only once");
  });
  return parameters;
}

Sample read_sample(const Cursor& cursor) {
  static constexpr std::array<std::string_view, 6> keys{"accesses", "ticks",   "event_ns",
                                                        "host_ns",  "witness", "visit"};
  const auto [accesses, ticks, event_ns, host_ns, witness, visit] = cursor.members(keys);
  return {.accesses = accesses.natural(),
          .ticks = natural_if_any(ticks),
          .event_ns = natural_if_any(event_ns),
          .host_ns = host_ns.natural(),
          .witness = witness.natural(),
          .visit = visit.natural()};
}

Point read_point(const Cursor& cursor) {
  static constexpr std::array<std::string_view, 5> keys{"series", "parameters", "facts", "samples",
                                                        "failure"};
  const auto [series, parameters, facts, samples, failure] = cursor.members(keys);
  return {.series = series.text(),
          .parameters = read_parameters(parameters),
          .facts = facts.is_missing() ? Parameters{} : read_parameters(facts),
          .samples = read_each(samples, read_sample),
          .failure = text_if_any(failure)};
}

Finding read_finding(const Cursor& cursor) {
  cursor.expect_object({"name", "series", "level", "value", "low", "high", "unit", "label",
                        "source", "method", "reason", "role", "better"});
  const Cursor level(cursor, "level");
  Finding finding{.name = Cursor(cursor, "name").text(),
                  .series = Cursor(cursor, "series").text(),
                  .value = number_if_any(Cursor(cursor, "value")),
                  .low = number_if_any(Cursor(cursor, "low")),
                  .high = number_if_any(Cursor(cursor, "high")),
                  .unit = text_if_any(Cursor(cursor, "unit")),
                  .label = text_if_any(Cursor(cursor, "label")),
                  .source = read_word<Source>(Cursor(cursor, "source")),
                  .method = text_if_any(Cursor(cursor, "method")),
                  .reason = text_if_any(Cursor(cursor, "reason")),
                  .role = word_or(Cursor(cursor, "role"), Role::fact),
                  .better = word_or(Cursor(cursor, "better"), Better::unknown)};
  if (!level.is_missing()) finding.level = small_integer(level, 1);
  return finding;
}

Warning read_warning(const Cursor& cursor) {
  cursor.expect_object({"code", "facts", "source"});
  return {.code = Cursor(cursor, "code").text(),
          .facts = read_parameters(Cursor(cursor, "facts")),
          .source = word_or(Cursor(cursor, "source"), WarningSource::engine)};
}

KernelBuild read_build(const Cursor& cursor) {
  cursor.expect_object({"sha256", "options"});
  return {.sha256 = Cursor(cursor, "sha256").text(), .options = Cursor(cursor, "options").text()};
}

View read_view(const Cursor& cursor) {
  if (cursor.is_missing()) return {};
  cursor.expect_object({"kind", "x", "y", "value_title"});
  return {.kind = read_word<ViewKind>(Cursor(cursor, "kind")),
          .x = text_if_any(Cursor(cursor, "x")),
          .y = text_if_any(Cursor(cursor, "y")),
          .value_title = text_if_any(Cursor(cursor, "value_title"))};
}

/// Version 1 had a quantity in its place: "seconds_per_access" or "bytes_per_second".
Unit read_unit(const Cursor& result) {
  const Cursor quantity(result, "quantity");
  if (quantity.is_missing()) return read_word<Unit>(Cursor(result, "unit"));
  return quantity.text() == "bytes_per_second" ? Unit::bytes_per_second : Unit::seconds;
}

ProbeResult read_result(const Cursor& cursor) {
  cursor.expect_object({"probe", "quantity", "unit", "view", "status", "reason", "elapsed_seconds",
                        "findings", "warnings", "kernels", "points"});
  return {.probe = Cursor(cursor, "probe").text(),
          .unit = read_unit(cursor),
          .view = read_view(Cursor(cursor, "view")),
          .status = read_word<Status>(Cursor(cursor, "status")),
          .reason = text_if_any(Cursor(cursor, "reason")),
          .elapsed_seconds = Cursor(cursor, "elapsed_seconds").number(),
          .kernels = read_each(Cursor(cursor, "kernels"), read_build),
          .points = read_each(Cursor(cursor, "points"), read_point),
          .findings = read_each(Cursor(cursor, "findings"), read_finding),
          .warnings = read_each(Cursor(cursor, "warnings"), read_warning)};
}

Clock read_clock(const Cursor& cursor) {
  cursor.expect_object({"kind", "rate", "overhead_ticks", "quantum_ticks", "ticks_per_ns",
                        "ticks_per_ns_low", "ticks_per_ns_high", "r_squared"});
  return {.kind = read_word<ClockKind>(Cursor(cursor, "kind")),
          .rate = read_word<ClockRate>(Cursor(cursor, "rate")),
          .overhead_ticks = Cursor(cursor, "overhead_ticks").natural(),
          .quantum_ticks = Cursor(cursor, "quantum_ticks").natural(),
          .ticks_per_ns = Cursor(cursor, "ticks_per_ns").number(),
          .ticks_per_ns_low = Cursor(cursor, "ticks_per_ns_low").number(),
          .ticks_per_ns_high = Cursor(cursor, "ticks_per_ns_high").number(),
          .r_squared = Cursor(cursor, "r_squared").number()};
}

/// The first documents of version 1 lack it; there, events had to be true for a clock to count.
Timer read_launch_timer(const Cursor& device) {
  const Cursor own(device, "launch_timer");
  if (!own.is_missing()) return read_word<Timer>(own);
  const auto timer = read_word<Timer>(Cursor(device, "timer"));
  return timer == Timer::clock ? Timer::event : timer;
}

DeviceInfo read_device(const Cursor& cursor) {
  cursor.expect_object({"index",
                        "platform_index",
                        "platform",
                        "name",
                        "type",
                        "vendor",
                        "driver",
                        "version",
                        "uuid",
                        "pci",
                        "isa",
                        "compute_units",
                        "sub_group_size",
                        "max_work_group_size",
                        "global_memory_bytes",
                        "max_allocation_bytes",
                        "local_memory_bytes",
                        "constant_buffer_bytes",
                        "cache_line_bytes",
                        "image_buffer_pixels",
                        "pointers_stay_valid",
                        "clock",
                        "timer",
                        "launch_timer",
                        "reported"});
  return {.index = small_integer(Cursor(cursor, "index"), 0),
          .platform_index = Cursor(cursor, "platform_index").text(),
          .platform = Cursor(cursor, "platform").text(),
          .name = Cursor(cursor, "name").text(),
          .type = read_word<DeviceType>(Cursor(cursor, "type")),
          .vendor = Cursor(cursor, "vendor").text(),
          .driver = Cursor(cursor, "driver").text(),
          .version = Cursor(cursor, "version").text(),
          .uuid = text_if_any(Cursor(cursor, "uuid")),
          .pci = text_if_any(Cursor(cursor, "pci")),
          .isa = text_if_any(Cursor(cursor, "isa")),
          .compute_units = Cursor(cursor, "compute_units").integer_from(0),
          .sub_group_size = Cursor(cursor, "sub_group_size").integer_from(0),
          .max_work_group_size = Cursor(cursor, "max_work_group_size").integer_from(0),
          .global_memory = read_bytes(Cursor(cursor, "global_memory_bytes")),
          .max_allocation = read_bytes(Cursor(cursor, "max_allocation_bytes")),
          .local_memory = read_bytes(Cursor(cursor, "local_memory_bytes")),
          .constant_buffer = read_bytes(Cursor(cursor, "constant_buffer_bytes")),
          .cache_line = read_bytes(Cursor(cursor, "cache_line_bytes")),
          .image_buffer_pixels = Cursor(cursor, "image_buffer_pixels").integer_from(0),
          .pointers_stay_valid = Cursor(cursor, "pointers_stay_valid").boolean(),
          .clock = read_clock(Cursor(cursor, "clock")),
          .timer = read_word<Timer>(Cursor(cursor, "timer")),
          .launch_timer = read_launch_timer(cursor),
          .reported = read_parameters(Cursor(cursor, "reported"))};
}

Work read_work(const Cursor& cursor) {
  cursor.expect_object(
      {"accesses_per_iteration", "iterations", "max_iterations", "facts", "build"});
  return {.accesses_per_iteration = Cursor(cursor, "accesses_per_iteration").natural(),
          .iterations = Cursor(cursor, "iterations").natural(),
          .max_iterations = Cursor(cursor, "max_iterations").natural(),
          .facts = read_parameters(Cursor(cursor, "facts")),
          .build = read_build(Cursor(cursor, "build"))};
}

Measurement read_measurement(const Cursor& cursor) {
  cursor.expect_object({"sample", "expected_witness"});
  return {.sample = read_sample(Cursor(cursor, "sample")),
          .expected_witness = Cursor(cursor, "expected_witness").natural()};
}

ToolInfo read_tool(const Cursor& cursor) {
  cursor.expect_object({"version", "commit", "compiler"});
  return {.version = Cursor(cursor, "version").text(),
          .commit = Cursor(cursor, "commit").text(),
          .compiler = Cursor(cursor, "compiler").text()};
}

ImportInfo read_import(const Cursor& cursor) {
  cursor.expect_object({"tool", "format", "file"});
  return {.tool = Cursor(cursor, "tool").text(),
          .format = Cursor(cursor, "format").text(),
          .file = Cursor(cursor, "file").text()};
}

HostInfo read_host(const Cursor& cursor) {
  cursor.expect_object({"cpu", "os", "kernel", "logical_cpus"});
  return {.cpu = Cursor(cursor, "cpu").text(),
          .os = Cursor(cursor, "os").text(),
          .kernel = Cursor(cursor, "kernel").text(),
          .logical_cpus = Cursor(cursor, "logical_cpus").integer_from(0)};
}

// Before anything else is looked at: the keys of another schema, or of a newer version of this one,
// would be refused one by one with messages that hide the cause.
void expect_known_schema(const Cursor& cursor) {
  cursor.expect_any_object();
  const Cursor name(cursor, "schema");
  if (name.text() != run_schema_name) name.refuse(fmt::format("\"{}\"", run_schema_name));
  const Cursor version(cursor, "schema_version");
  if (version.integer_from(1) > run_schema_version) {
    version.refuse(fmt::format("at most {} (a newer clprobe wrote this file)", run_schema_version));
  }
}

Run read_run(const Cursor& cursor) {
  expect_known_schema(cursor);
  cursor.expect_object({"schema", "schema_version", "tool", "started", "arguments", "seed",
                        "interrupted", "imported", "host", "device", "warnings", "results"});
  const Cursor imported(cursor, "imported");
  Run run{.tool = read_tool(Cursor(cursor, "tool")),
          .started = Cursor(cursor, "started").text(),
          .arguments = read_texts(Cursor(cursor, "arguments")),
          .seed = Cursor(cursor, "seed").natural(),
          .interrupted = Cursor(cursor, "interrupted").boolean(),
          .imported = imported.is_missing() ? std::nullopt : std::optional(read_import(imported)),
          .host = read_host(Cursor(cursor, "host")),
          .device = read_device(Cursor(cursor, "device")),
          .results = read_each(Cursor(cursor, "results"), read_result),
          .warnings = read_each(Cursor(cursor, "warnings"), read_warning)};
  if (Cursor(cursor, "schema_version").integer() == 1) upgrade_version_1(run);
  return run;
}

}  // namespace

template <>
Parameters decode(const Json& value) {
  return read_parameters(Cursor(value));
}
template <>
Sample decode(const Json& value) {
  return read_sample(Cursor(value));
}
template <>
Point decode(const Json& value) {
  return read_point(Cursor(value));
}
template <>
Warning decode(const Json& value) {
  return read_warning(Cursor(value));
}
template <>
DeviceInfo decode(const Json& value) {
  return read_device(Cursor(value));
}
template <>
Clock decode(const Json& value) {
  return read_clock(Cursor(value));
}
template <>
Work decode(const Json& value) {
  return read_work(Cursor(value));
}
template <>
Measurement decode(const Json& value) {
  return read_measurement(Cursor(value));
}
template <>
Run decode(const Json& value) {
  return read_run(Cursor(value));
}

}  // namespace clprobe::json

namespace clprobe {

namespace {

/// What simdjson and the typed reader accept without a doubt; nothing where either has one.
std::optional<std::vector<Run>> runs_from_good_json(std::string_view text) {
  // Parsing needs eight bytes a character in advance: a hostile file is left to the slower one.
  constexpr std::size_t most_bytes = std::size_t{16} << 20U;
  if (text.size() > most_bytes) return std::nullopt;
  // Kept by each thread: of a thousand small files, to get new pages for each costs as much as to
  // read it.
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element document;
  const bool has_room =
      parser.capacity() >= text.size() && parser.max_depth() == json::deepest_nesting;
  if ((!has_room && parser.allocate(text.size(), json::deepest_nesting) != simdjson::SUCCESS) ||
      parser.parse(text.data(), text.size()).get(document) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  try {
    const json::Cursor root(document);
    if (document.is_array()) return json::read_each(root, json::read_run);
    std::vector<Run> runs;
    runs.push_back(json::read_run(root));
    return runs;
  } catch (const RunFormatError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Run> runs_from_json(std::string_view text) {
  // A document that is refused is read twice; the second time says why.
  if (std::optional<std::vector<Run>> runs = runs_from_good_json(text)) return std::move(*runs);
  const json::Json document = json::parse(text);
  const json::Cursor root(document);
  if (!document.is_array()) {
    if (!document.is_object()) root.refuse("a run (an object) or an array of runs");
    return {json::decode<Run>(document)};
  }
  return json::read_each(root, json::read_run);
}

}  // namespace clprobe
