// SPDX-License-Identifier: Apache-2.0
#include "present/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "present/api/report.hpp"
#include "present/card.hpp"
#include "run/api/json.hpp"

namespace clprobe::report {
namespace {

// Names of numbers from which others are derived.
constexpr std::string_view read_bandwidth = "read_bandwidth";
constexpr std::string_view peak = "peak.fp32";

/// Bytes to read for each byte of the last cache, to replace the cache's contents. If the cache
/// replaces random lines, reading its size leaves 37 % of the old lines, and reading twice its size
/// leaves 14 %.
constexpr double flush_factor = 2.0;

const ProbeResult* find_result(const Run& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ProbeResult::probe);
  return found == run.results.end() ? nullptr : &*found;
}

/// Returns why a probe has no finding: "the run has no results of compute", "latency failed: ...".
std::string reason_of(const Run& run, const Probe& probe) {
  const ProbeResult* const result = find_result(run, probe.id);
  if (result == nullptr) return fmt::format("the run has no results of {}", probe.id);
  if (result->status == Status::ok) return fmt::format("{} did not find it", probe.id);
  if (result->reason.empty()) return fmt::format("{}: {}", probe.id, to_word(result->status));
  return fmt::format("{}: {}: {}", probe.id, to_word(result->status), result->reason);
}

/// Returns the unit of the declared finding. "cycles|seconds" becomes the unit of the probe's other
/// findings of this kind, or "cycles".
std::string unit_of(const Probe& probe, const ProbeResult* result, std::string_view finding) {
  const auto spec = std::ranges::find(probe.findings, finding, &FindingSpec::name);
  if (spec == probe.findings.end()) return {};
  const std::size_t end = spec->unit.find('|');
  if (end != std::string_view::npos && result != nullptr) {
    for (const Finding& each : result->findings) {
      const auto of_each = std::ranges::find(probe.findings, each.name, &FindingSpec::name);
      const bool is_alike = of_each != probe.findings.end() && of_each->unit == spec->unit;
      if (is_alike && !each.unit.empty()) return each.unit;
    }
  }
  return std::string(spec->unit.substr(0, end));
}

DeviceNumber number_of(std::string name, const Finding& finding, std::string_view unit) {
  return {.name = std::move(name),
          .value = finding.value,
          .low = finding.low,
          .high = finding.high,
          .unit = finding.unit.empty() ? std::string(unit) : finding.unit,
          .reason = finding.reason};
}

const Finding* find_described(const ProbeResult& result, const DescribedNumber& wanted) {
  const auto found = std::ranges::find_if(result.findings, [&](const Finding& each) {
    const bool is_level = wanted.level == 0 || each.level == wanted.level;
    return each.name == wanted.finding && each.series == wanted.series && is_level;
  });
  return found == result.findings.end() ? nullptr : &*found;
}

/// Returns the reason why a series has no values; empty if there is none.
std::string reason_of_series(const ProbeResult& result, std::string_view series) {
  for (const Finding& each : result.findings) {
    if (each.series == series && !each.value && !each.reason.empty()) return each.reason;
  }
  return {};
}

/// Returns the number that the probe declares, or why it is missing.
DeviceNumber declared(const Run& run, const Probe& probe, const DescribedNumber& wanted) {
  const ProbeResult* const result = find_result(run, probe.id);
  DeviceNumber number{.name = std::string(wanted.name),
                      .unit = unit_of(probe, result, wanted.finding)};
  const Finding* const finding = result == nullptr ? nullptr : find_described(*result, wanted);
  if (finding == nullptr) {
    number.reason = result == nullptr ? "" : reason_of_series(*result, wanted.series);
    if (number.reason.empty()) number.reason = reason_of(run, probe);
    return number;
  }
  number = number_of(number.name, *finding, number.unit);
  if (wanted.as == DescribedAs::lower_bound && number.value) {
    number.low = number.value;
    number.value.reset();
    number.high.reset();
    if (number.reason.empty()) number.reason = "only a lower bound is known";
  } else if (!number.value && number.reason.empty()) {
    number.reason = reason_of(run, probe);
  }
  return number;
}

bool has_content(const DeviceNumber& number) { return number.value || number.low; }

class Describer {
 public:
  Describer(std::span<const Probe* const> probes, const Run& run)
      : probes_(probes), run_(run), card_(card_of(run)) {}

  Description describe() {
    for (std::size_t i = 0; i < card_.levels.size(); ++i) add_level(i);
    add_last_cache();
    for (const Probe* const probe : probes_) {
      for (const DescribedNumber& each : probe->described) {
        if (each.as != DescribedAs::of_level) add_declared(*probe, each);
      }
    }
    add_ridges();
    return std::move(all_);
  }

 private:
  /// Adds a number, unless the description has a number of this name.
  void add(DeviceNumber number) {
    if (!number.value && number.reason.empty()) number.reason = "not measured";
    if (find(number.name) == nullptr) all_.numbers.push_back(std::move(number));
  }

  DeviceNumber* find(std::string_view name) {
    const auto found = std::ranges::find(all_.numbers, name, &DeviceNumber::name);
    return found == all_.numbers.end() ? nullptr : &*found;
  }

  /// Adds a declared number. An alternative replaces a number without a value.
  void add_declared(const Probe& probe, const DescribedNumber& wanted) {
    DeviceNumber number = declared(run_, probe, wanted);
    DeviceNumber* const before = find(number.name);
    if (before == nullptr) return add(std::move(number));
    if (!has_content(*before) && has_content(number)) *before = std::move(number);
  }

  void add_level(std::size_t index) {
    const CardLevel& level = card_.levels[index].own;
    if (level.memory == CardMemory::other) return;
    // "far L2?" becomes "far_L2": the remark says what is not sure.
    std::string name = level.name;
    std::erase(name, '?');
    std::ranges::replace(name, ' ', '_');
    if (level.memory == CardMemory::global) all_.levels.emplace_back(name, level.what);
    DeviceNumber cycles = number_of(name + ".latency_cycles", level.cycles, "cycles");
    if (!cycles.value) cycles.reason = "the clock does not count core cycles";
    DeviceNumber capacity = number_of(name + ".capacity", level.capacity, "bytes");
    // Without a plateau, the remark is the reason.
    if (!capacity.value && capacity.reason.empty()) capacity.reason = level.what;
    add(number_of(name + ".latency", level.latency, "seconds"));
    add(std::move(cycles));
    add(std::move(capacity));
    if (level.memory != CardMemory::global) return;
    for (const Probe* const probe : probes_) {
      for (const DescribedNumber& each : probe->described) {
        if (each.as == DescribedAs::of_level) add_of_level(*probe, each, index, name);
      }
    }
  }

  void add_of_level(const Probe& probe, const DescribedNumber& wanted, std::size_t index,
                    const std::string& level) {
    const ProbeResult* const result = find_result(run_, probe.id);
    DeviceNumber number{.name = fmt::format("{}.{}", level, wanted.name),
                        .unit = unit_of(probe, result, wanted.finding)};
    number.reason = reason_of(run_, probe);
    if (result != nullptr && result->status == Status::ok) {
      number.reason = "no value is typical of this level's working sets";
      const auto column =
          std::ranges::find(result->card.columns, wanted.series, &CardColumn::series);
      const CardPlateau* const plateau =
          column == result->card.columns.end() ? nullptr : plateau_of(card_, index, *column);
      if (plateau != nullptr) number = number_of(number.name, plateau->value, number.unit);
    }
    add(std::move(number));
  }

  /// Adds the size of the last cache, as later probes of a run know it, and the bytes that flush
  /// it.
  void add_last_cache() {
    DeviceNumber capacity{.name = "last_cache.capacity", .unit = "bytes"};
    for (const Probe* const probe : probes_) {
      const ProbeResult* const result = find_result(run_, probe->id);
      if (probe->learn == nullptr) continue;
      Known known;
      if (result != nullptr) probe->learn(*result, known);
      capacity.reason = reason_of(run_, *probe);
      for (const DeviceLevel& each : card_.levels) {
        const Finding& size = each.own.capacity;
        if (each.own.memory != CardMemory::global || !size.value || *size.value <= 0.0) continue;
        const auto bytes = static_cast<std::uint64_t>(*size.value);
        std::string remark = fmt::format("{} ({})", each.own.name, each.own.what);
        std::erase(remark, '?');
        if (bytes == known.last_cache.count) {
          capacity = number_of(capacity.name, size, capacity.unit);
          if (!each.own.what.empty()) capacity.reason = fmt::format("this is {}", remark);
        } else if (capacity.value && bytes > known.last_cache.count) {
          capacity.reason = fmt::format("without {}", remark);
        }
      }
    }
    DeviceNumber flush{.name = "last_cache.flush", .unit = "bytes", .source = Source::derived};
    if (capacity.value) {
      flush.value = flush_factor * capacity.high.value_or(*capacity.value);
    } else {
      flush.reason = fmt::format("{} has no value", capacity.name);
    }
    add(std::move(capacity));
    add(std::move(flush));
  }

  /// Adds the arithmetic intensity, in floating-point operations per byte, from which on the peak
  /// limits kernels that read from a level.
  void add_ridges() {
    for (const auto& [level, remark] : all_.levels) {
      DeviceNumber ridge{
          .name = level + ".ridge", .unit = "operations_per_byte", .source = Source::derived};
      const std::string name = fmt::format("{}.{}", level, read_bandwidth);
      const DeviceNumber* const rate = find(name);
      const DeviceNumber* const flops = find(peak);
      if (rate == nullptr || flops == nullptr) continue;
      if (rate->value && flops->value) {
        ridge.value = *flops->value / *rate->value;
        ridge.low = flops->low.value_or(*flops->value) / rate->high.value_or(*rate->value);
        ridge.high = flops->high.value_or(*flops->value) / rate->low.value_or(*rate->value);
      } else {
        ridge.reason = fmt::format("{} has no value", rate->value ? std::string(peak) : name);
      }
      add(std::move(ridge));
    }
  }

  std::span<const Probe* const> probes_;
  const Run& run_;
  DeviceCard card_;
  Description all_{};
};

using json::Json;

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json json_of(const DeviceNumber& number) {
  Json object{{"value", json_of(number.value)},
              {"low", json_of(number.low)},
              {"high", json_of(number.high)},
              {"unit", number.unit},
              {"source", to_word(number.source)}};
  if (!number.reason.empty()) object["reason"] = number.reason;
  return object;
}

/// Returns what the driver reported about sizes and limits; without the numbers that it did not
/// report.
Json reported_json(const DeviceInfo& device) {
  Json object = Json::object();
  const auto put = [&](const char* name, double value) {
    if (value > 0.0) object[name] = value;
  };
  const auto put_bytes = [&](const char* name, Bytes bytes) {
    if (bytes.count > 0) object[name] = bytes.count;
  };
  const auto put_count = [&](const char* name, std::int64_t count) {
    if (count > 0) object[name] = count;
  };
  put_count("compute_units", device.compute_units);
  put_count("sub_group_size", device.sub_group_size);
  put_count("max_work_group_size", device.max_work_group_size);
  put_bytes("global_memory_bytes", device.global_memory);
  put_bytes("max_allocation_bytes", device.max_allocation);
  put_bytes("cache_bytes", reported_cache(device));
  put_bytes("cache_line_bytes", device.cache_line);
  put_bytes("local_memory_bytes", device.local_memory);
  put_bytes("constant_buffer_bytes", device.constant_buffer);
  constexpr double mega = 1e6;
  put("max_clock_hertz",
      mega * static_cast<double>(device.reported.integer_or("max_clock_mhz", 0)));
  return object;
}

Json json_of(std::span<const Probe* const> probes, const Run& run) {
  const DeviceInfo& device = run.device;
  Json document{{"schema", "clprobe-device"},
                {"schema_version", 1},
                {"device", device.name},
                {"type", to_word(device.type)},
                {"vendor", device.vendor},
                {"driver", device.driver},
                {"uuid", device.uuid},
                {"started", run.started},
                {"interrupted", run.interrupted},
                {"clprobe", run.tool.version},
                {"imported_from", run.imported ? Json(run.imported->tool) : Json()}};
  const Description description = describe(probes, run);
  document["levels"] = Json::array();
  for (const auto& [name, remark] : description.levels) {
    document["levels"].push_back({{"name", name}, {"remark", remark}});
  }
  document["numbers"] = Json::object();
  for (const DeviceNumber& each : description.numbers) {
    document["numbers"][each.name] = json_of(each);
  }
  document["reported"] = reported_json(device);
  return document;
}

}  // namespace

Description describe(std::span<const Probe* const> probes, const Run& run) {
  return Describer(probes, run).describe();
}

}  // namespace clprobe::report

namespace clprobe {

std::vector<fleet::Number> fleet_numbers(std::span<const Probe* const> probes, const Run& run) {
  constexpr double normal_widths = 2.0 * 1.96;  // width of a 95 % interval in standard errors
  std::vector<fleet::Number> numbers;
  for (const report::DeviceNumber& each : report::describe(probes, run).numbers) {
    if (!each.value || !(*each.value > 0.0) || each.source != Source::measured) continue;
    const double width = each.high.value_or(*each.value) - each.low.value_or(*each.value);
    numbers.push_back({each.name, each.unit, *each.value, width / normal_widths / *each.value});
  }
  return numbers;
}

std::string describe_devices(std::span<const Probe* const> probes, std::span<const Run> runs,
                             const TableStyle& style) {
  json::Json documents = json::Json::array();
  for (const Run& run : runs) documents.push_back(report::json_of(probes, run));
  const bool is_alone = runs.size() == 1 && !style.is_stream;
  return json::many_lines(is_alone ? documents.front() : documents);
}

}  // namespace clprobe
