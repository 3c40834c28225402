// SPDX-License-Identifier: Apache-2.0
// The run document, written. The schema is tools/schema/clprobe-run-1.schema.json: a key that is
// added here is added there and in from_json.cpp.
#include <fmt/format.h>

#include <cmath>

#include "run/json.hpp"

namespace clprobe::json {
namespace {

// nlohmann would write null, which no reader can tell from "not measured".
double finite(double value, std::string_view name) {
  if (!std::isfinite(value)) throw std::invalid_argument(fmt::format("{} is not finite", name));
  return value;
}

void put_if_any(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put_if_any(Json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = finite(*value, key);
}

template <typename T>
Json encode_all(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(encode(value));
  return array;
}

Json encode(const ToolInfo& tool) {
  return {{"version", tool.version}, {"commit", tool.commit}, {"compiler", tool.compiler}};
}

Json encode(const ImportInfo& imported) {
  return {{"tool", imported.tool}, {"format", imported.format}, {"file", imported.file}};
}

Json encode(const HostInfo& host) {
  return {{"cpu", host.cpu},
          {"os", host.os},
          {"kernel", host.kernel},
          {"logical_cpus", host.logical_cpus}};
}

}  // namespace

Json encode(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    if (const auto* const number = std::get_if<double>(&value)) finite(*number, name);
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  }
  return object;
}

Json encode(const Sample& sample) {
  Json object{{"accesses", sample.accesses}};
  if (sample.ticks) object["ticks"] = *sample.ticks;
  if (sample.event_ns) object["event_ns"] = *sample.event_ns;
  object["host_ns"] = sample.host_ns;
  object["witness"] = sample.witness;
  object["visit"] = sample.visit;
  return object;
}

Json encode(const Point& point) {
  Json object{{"series", point.series},
              {"parameters", encode(point.parameters)},
              {"facts", encode(point.facts)},
              {"samples", encode_all(point.samples)}};
  put_if_any(object, "failure", point.failure);
  return object;
}

Json encode(const Finding& finding) {
  Json object{{"name", finding.name}, {"series", finding.series}};
  if (finding.level) object["level"] = *finding.level;
  put_if_any(object, "value", finding.value);
  put_if_any(object, "low", finding.low);
  put_if_any(object, "high", finding.high);
  put_if_any(object, "unit", finding.unit);
  put_if_any(object, "label", finding.label);
  object["source"] = to_word(finding.source);
  put_if_any(object, "method", finding.method);
  put_if_any(object, "reason", finding.reason);
  if (finding.role != Role::fact) object["role"] = to_word(finding.role);
  if (finding.better != Better::unknown) object["better"] = to_word(finding.better);
  return object;
}

Json encode(const Warning& warning) {
  return {{"code", warning.code},
          {"facts", encode(warning.facts)},
          {"source", to_word(warning.source)}};
}

Json encode(const KernelBuild& build) {
  return {{"sha256", build.sha256}, {"options", build.options}};
}

Json encode(const View& view) {
  Json object{{"kind", to_word(view.kind)}};
  put_if_any(object, "x", view.x);
  put_if_any(object, "y", view.y);
  put_if_any(object, "value_title", view.value_title);
  return object;
}

Json encode(const ProbeResult& result) {
  Json object{{"probe", result.probe},
              {"unit", to_word(result.unit)},
              {"view", encode(result.view)},
              {"status", to_word(result.status)}};
  put_if_any(object, "reason", result.reason);
  object["elapsed_seconds"] = finite(result.elapsed_seconds, "elapsed_seconds");
  object["findings"] = encode_all(result.findings);
  object["warnings"] = encode_all(result.warnings);
  object["kernels"] = encode_all(result.kernels);
  object["points"] = encode_all(result.points);
  return object;
}

Json encode(const Clock& clock) {
  return {{"kind", to_word(clock.kind)},
          {"rate", to_word(clock.rate)},
          {"overhead_ticks", clock.overhead_ticks},
          {"quantum_ticks", clock.quantum_ticks},
          {"ticks_per_ns", finite(clock.ticks_per_ns, "ticks_per_ns")},
          {"ticks_per_ns_low", finite(clock.ticks_per_ns_low, "ticks_per_ns_low")},
          {"ticks_per_ns_high", finite(clock.ticks_per_ns_high, "ticks_per_ns_high")},
          {"r_squared", finite(clock.r_squared, "r_squared")}};
}

Json encode(const DeviceInfo& device) {
  Json object{{"index", device.index},        {"platform_index", device.platform_index},
              {"platform", device.platform},  {"name", device.name},
              {"type", to_word(device.type)}, {"vendor", device.vendor},
              {"driver", device.driver},      {"version", device.version}};
  put_if_any(object, "uuid", device.uuid);
  put_if_any(object, "pci", device.pci);
  put_if_any(object, "isa", device.isa);
  object["compute_units"] = device.compute_units;
  object["sub_group_size"] = device.sub_group_size;
  object["max_work_group_size"] = device.max_work_group_size;
  object["global_memory_bytes"] = device.global_memory.count;
  object["max_allocation_bytes"] = device.max_allocation.count;
  object["local_memory_bytes"] = device.local_memory.count;
  object["constant_buffer_bytes"] = device.constant_buffer.count;
  object["cache_line_bytes"] = device.cache_line.count;
  object["image_buffer_pixels"] = device.image_buffer_pixels;
  object["pointers_stay_valid"] = device.pointers_stay_valid;
  object["clock"] = encode(device.clock);
  object["timer"] = to_word(device.timer);
  object["launch_timer"] = to_word(device.launch_timer);
  object["reported"] = encode(device.reported);
  return object;
}

Json encode(const Work& work) {
  return {{"accesses_per_iteration", work.accesses_per_iteration},
          {"iterations", work.iterations},
          {"max_iterations", work.max_iterations},
          {"facts", encode(work.facts)},
          {"build", encode(work.build)}};
}

Json encode(const Measurement& measurement) {
  return {{"sample", encode(measurement.sample)},
          {"expected_witness", measurement.expected_witness}};
}

Json encode(const Run& run) {
  Json object{{"schema", run_schema_name},      {"schema_version", run_schema_version},
              {"tool", encode(run.tool)},       {"started", run.started},
              {"arguments", run.arguments},     {"seed", run.seed},
              {"interrupted", run.interrupted}, {"host", encode(run.host)}};
  if (run.imported) object["imported"] = encode(*run.imported);
  object["device"] = encode(run.device);
  object["warnings"] = encode_all(run.warnings);
  object["results"] = encode_all(run.results);
  return object;
}

}  // namespace clprobe::json

namespace clprobe {

std::string to_json(std::span<const Run> runs) {
  if (runs.size() == 1) return json::many_lines(json::encode(runs.front()));
  json::Json documents = json::Json::array();
  for (const Run& run : runs) documents.push_back(json::encode(run));
  return json::many_lines(documents);
}

}  // namespace clprobe
