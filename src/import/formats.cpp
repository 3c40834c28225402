// SPDX-License-Identifier: Apache-2.0
#include "import/formats.hpp"

#include <algorithm>
#include <array>

namespace clprobe::import {

namespace clpeak_json {
extern const Format format;
}
namespace clpeak_xml {
extern const Format format;
}
namespace clpeak_csv {
extern const Format format;
}
namespace clpeak_text {
extern const Format format;
}
namespace mt4g {
extern const Format format;
}
namespace nvbandwidth {
extern const Format format;
extern const Format text_format;
}  // namespace nvbandwidth
namespace clmempatterns {
extern const Format format;
}
namespace cuda_memcpy {
extern const Format format;
}
namespace gpu_cache {
extern const Format format;
}
namespace gpu_latency {
extern const Format format;
}
namespace lat_mem_rd {
extern const Format format;
}
namespace chips_and_cheese {
extern const Format format;
}
namespace size_latency {
extern const Format format;
}

namespace {

// A list of sizes and latencies has no mark of its own, and comes last.
constexpr std::array formats{
    &clpeak_json::format,      &clpeak_xml::format,    &clpeak_csv::format,
    &clpeak_text::format,      &mt4g::format,          &nvbandwidth::format,
    &nvbandwidth::text_format, &clmempatterns::format, &gpu_latency::format,
    &gpu_cache::format,        &cuda_memcpy::format,   &lat_mem_rd::format,
    &chips_and_cheese::format, &size_latency::format};

struct UnitRow {
  std::string_view word;  // of the other tool
  std::string_view unit;  // ours
  double factor;
  std::string_view name;  // of the finding
};

// clpeak's "gflops" and "gops" are 10^9 a second, its "gbps" are gigabytes.
constexpr std::array units{
    UnitRow{"gbps", "bytes_per_second", 1e9, "bandwidth"},
    UnitRow{"B/s", "bytes_per_second", 1.0, "bandwidth"},
    UnitRow{"FLOP/s", "operations_per_second", 1.0, "throughput"},
    UnitRow{"op/s", "operations_per_second", 1.0, "throughput"},
    UnitRow{"s", "seconds", 1.0, "time"},
    UnitRow{"GB/s", "bytes_per_second", 1e9, "bandwidth"},
    UnitRow{"MB/s", "bytes_per_second", 1e6, "bandwidth"},
    UnitRow{"GiB/s", "bytes_per_second", 1024.0 * 1024.0 * 1024.0, "bandwidth"},
    UnitRow{"gflops", "operations_per_second", 1e9, "throughput"},
    UnitRow{"gops", "operations_per_second", 1e9, "throughput"},
    UnitRow{"giops", "operations_per_second", 1e9, "throughput"},
    UnitRow{"tflops", "operations_per_second", 1e12, "throughput"},
    UnitRow{"tops", "operations_per_second", 1e12, "throughput"},
    UnitRow{"us", "seconds", 1e-6, "time"},
    UnitRow{"ns", "seconds", 1e-9, "time"},
    UnitRow{"ms", "seconds", 1e-3, "time"}};

}  // namespace

std::span<const Format* const> all_formats() { return formats; }

Run imported_run(const ImportHints& hints, std::string_view tool, const Format& format) {
  Run run;
  run.imported = ImportInfo{std::string(tool), std::string(format.name), hints.file};
  run.device.timer = Timer::imported;
  run.device.type = DeviceType::other;
  run.device.name = hints.device_name.empty() ? hints.file : hints.device_name;
  return run;
}

Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool) {
  Finding finding;
  finding.series = series;
  finding.source = Source::measured;
  finding.method = tool;
  const auto* const known = std::find_if(units.begin(), units.end(),
                                         [&](const UnitRow& each) { return each.word == unit; });
  finding.name = known == units.end() ? "result" : known->name;
  finding.unit = known == units.end() ? unit : known->unit;
  finding.value = known == units.end() ? value : value * known->factor;
  finding.better = usual_direction(finding.unit);
  return finding;
}

Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool) {
  Finding finding = imported_finding(series, 1.0, unit, tool);
  finding.value.reset();
  finding.source = Source::reported;
  finding.reason = reason.empty() ? "the tool gives no reason" : reason;
  return finding;
}

ProbeResult& result_of(Run& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ProbeResult& each) { return each.probe == probe; });
  if (found != run.results.end()) return *found;
  ProbeResult result;
  result.probe = probe;
  run.results.push_back(std::move(result));
  return run.results.back();
}

std::string text_at(const json::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json::Json* object_at(const json::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

}  // namespace clprobe::import
