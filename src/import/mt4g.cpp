// SPDX-License-Identifier: Apache-2.0
// JSON of mt4g. The object "memory" contains an object with results for each cache and memory.
// Results that the probes `latency` and `bandwidth` also measure become findings of these probes. A
// run of clprobe can then be compared with mt4g's results. Other results are findings of "mt4g".
#include <fmt/format.h>

#include <array>

#include "import/formats.hpp"

namespace clprobe::import::mt4g {

namespace {

constexpr std::string_view tool_name = "mt4g";

struct Element {
  const char* key;    // key in "memory"
  const char* inner;  // key in the object at `key`; null if there is no inner object
  std::string_view name;
  std::string_view series;  // series of the probe `latency`; empty if no series matches
};

// Elements of one series are listed in the order of its levels.
constexpr std::array elements{Element{"l1", nullptr, "l1", "global"},
                              Element{"l2", nullptr, "l2", "global"},
                              Element{"l3", nullptr, "l3", "global"},
                              Element{"main", nullptr, "main memory", "global"},
                              Element{"scalarL1", nullptr, "scalar l1", "global-scalar"},
                              Element{"constant", "l1", "constant l1", "constant-program"},
                              Element{"constant", "l1.5", "constant l1.5", "constant-program"},
                              Element{"shared", nullptr, "shared memory", "local"},
                              Element{"texture", nullptr, "texture", "image"},
                              Element{"readOnly", nullptr, "read only", ""}};

/// Property of an element other than latency and size, in the tool's unit.
struct Property {
  const char* key;
  std::string_view name;
  std::string_view unit;
  std::string_view series{};  // series of the probe `bandwidth`, for properties of global memory
};

constexpr std::array properties{
    Property{"lineSize", "line_size", "bytes"},
    Property{"fetchGranularity", "fetch_granularity", "bytes"},
    Property{"missPenalty", "miss_penalty", "cycles"},
    Property{"amount", "amount", ""},
    Property{"amountPerMultiprocessor", "amount_per_unit", ""},
    Property{"readBandwidth", "read_bandwidth", "GiB/s", "read"},
    Property{"writeBandwidth", "write_bandwidth", "GiB/s", "write"},
    Property{"readBandwidthPerCU", "read_bandwidth_per_unit", "GiB/s", "read-one-unit"},
    Property{"writeBandwidthPerCU", "write_bandwidth_per_unit", "GiB/s", "write-one-unit"}};

/// Returns the number at `key` if it is above 0. mt4g writes 0 for a failed measurement.
std::optional<double> number_at(const json::Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double number = found->get<double>();
  return number > 0.0 ? std::optional(number) : std::nullopt;
}

/// Returns the number at `key`. If an object is at `key`, returns its "value", "size" or
/// "measuredBandwidth".
std::optional<double> value_at(const json::Json& object, const char* key) {
  const json::Json* const inner = object_at(object, key);
  if (inner == nullptr) return number_at(object, key);
  for (const char* const each : {"value", "size", "measuredBandwidth"}) {
    if (const auto number = number_at(*inner, each)) return number;
  }
  return std::nullopt;
}

Finding size_finding(const json::Json& object, const char* key, std::string_view name,
                     std::string_view series) {
  Finding finding = imported_finding(series, 0.0, "bytes", tool_name);
  finding.name = name;
  finding.value.reset();
  const json::Json* const inner = object_at(object, key);
  // Only sizes with a confidence were measured by mt4g. Sizes with "value" and "unit" were reported
  // by the driver.
  if (inner != nullptr && inner->contains("value") && inner->contains("unit")) {
    finding.source = Source::reported;
  }
  const std::optional<double> bytes = value_at(object, key);
  const auto confidence =
      inner == nullptr ? json::Json() : inner->value("confidence", json::Json());
  if (bytes && confidence.is_number() && !(confidence.get<double>() > 0.0)) {
    finding.reason = fmt::format("mt4g reports no confidence in the value of {:.0f} bytes", *bytes);
    return finding;
  }
  finding.value = bytes;
  if (confidence.is_number()) {
    finding.method += fmt::format(", confidence {:.3g}", confidence.get<double>());
  }
  return finding;
}

/// Returns the median latency in cycles; without a median, the mean. The median is preferred: cold
/// misses distort the mean latency of an L1. Throws RunFormatError for another unit.
std::optional<double> latency_of(const json::Json& element) {
  const json::Json* const latency = object_at(element, "latency");
  if (latency == nullptr) return std::nullopt;
  const std::string unit = text_at(*latency, "unit");
  if (unit != "cycles") {
    throw RunFormatError(
        fmt::format("memory: expected latencies in cycles, found '{}'", excerpt(unit)));
  }
  const std::optional<double> median = number_at(*latency, "p50");
  return median ? median : number_at(*latency, "mean");
}

class Reader {
 public:
  Reader(Run& run, double hertz) : run_(run), hertz_(hertz) {}

  void read(const json::Json& object, const Element& element) {
    const std::optional<double> cycles = latency_of(object);
    const bool is_of_latency = cycles && !element.series.empty();
    const std::string_view series = is_of_latency ? element.series : element.name;
    const std::optional<int> level =
        is_of_latency ? std::optional(next_level(series)) : std::nullopt;
    const std::string_view probe = is_of_latency ? "latency" : tool_name;
    if (cycles) add_time(probe, series, level, *cycles, is_of_latency ? "latency" : "time");
    add_capacity(probe, object, series, level);
    if (is_of_latency && series == "global") add_step(element, level);
    // Only elements of global memory have a level, since properties of other memories must not be
    // mistaken for levels of global memory.
    const bool is_global = is_of_latency && element.series == "global";
    for (const Property& each : properties) {
      add_property(object, each, element.name, is_global ? level : std::nullopt);
    }
  }

 private:
  int next_level(std::string_view series) {
    if (series != series_) level_ = 0;
    series_ = series;
    return ++level_;
  }

  void add(std::string_view probe, Finding finding) {
    result_of(run_, probe).findings.push_back(std::move(finding));
  }

  [[nodiscard]] Finding seconds_of(std::string_view name, std::string_view series,
                                   double cycles) const {
    Finding finding = imported_finding(series, cycles / hertz_, "s", tool_name);
    finding.name = name;
    return finding;
  }

  void add_time(std::string_view probe, std::string_view series, std::optional<int> level,
                double cycles, std::string_view name) {
    Finding time = seconds_of(name, series, cycles);
    time.level = level;
    Finding counted = time;
    add(probe, std::move(time));
    counted.name = "cycles";
    counted.unit = "cycles";
    counted.value = cycles;
    add(probe, std::move(counted));
  }

  /// Adds the capacity of an element. The size of an L2 segment is preferred to the size of the L2.
  /// Latency by working set is measured on one compute unit, which uses only one segment.
  void add_capacity(std::string_view probe, const json::Json& object, std::string_view series,
                    std::optional<int> level) {
    const char* const key = object.contains("segmentSize") ? "segmentSize" : "size";
    if (!object.contains(key)) return;
    Finding finding = size_finding(object, key, "capacity", series);
    finding.level = level;
    finding.better = Better::more;
    add(probe, std::move(finding));
  }

  /// Adds the kind of a level ("memory" or "cache"), according to the name of its element.
  void add_step(const Element& element, std::optional<int> level) {
    Finding step;
    step.name = "step";
    step.series = element.series;
    step.level = level;
    step.label = element.name == "main memory" ? "memory" : "cache";
    step.method = tool_name;
    add("latency", std::move(step));
  }

  /// Adds a property of an element. `level` is set only for global memory, whose rates are findings
  /// of `bandwidth`.
  void add_property(const json::Json& object, const Property& property, std::string_view series,
                    std::optional<int> level) {
    if (property.unit == "bytes") {
      if (!object.contains(property.key)) return;
      add(tool_name, size_finding(object, property.key, property.name, series));
      return;
    }
    const std::optional<double> value = value_at(object, property.key);
    if (!value) return;
    if (property.unit == "cycles") {
      add(tool_name, seconds_of(property.name, series, *value));
      return;
    }
    const json::Json* const inner = object_at(object, property.key);
    const std::string own_unit = inner == nullptr ? std::string() : text_at(*inner, "unit");
    const bool is_of_bandwidth = level && !property.series.empty();
    Finding finding =
        imported_finding(is_of_bandwidth ? property.series : series, *value,
                         own_unit.empty() ? property.unit : std::string_view(own_unit), tool_name);
    finding.name = is_of_bandwidth ? "bandwidth" : property.name;
    if (is_of_bandwidth) finding.level = level;
    add(is_of_bandwidth ? "bandwidth" : tool_name, std::move(finding));
  }

  Run& run_;
  double hertz_;
  std::string_view series_{};
  int level_{0};
};

/// Returns the clock rate of the latencies in Hz.
double clock_of(const json::Json& general, const ImportHints& hints) {
  if (hints.clock_hertz > 0.0) return hints.clock_hertz;
  constexpr double hertz_per_khz = 1e3;
  const json::Json* const clock = object_at(general, "clockRate");
  const auto khz = clock == nullptr || text_at(*clock, "unit") != "kHz"
                       ? std::nullopt
                       : number_at(*clock, "value");
  if (!khz) {
    throw RunFormatError(
        "general.clockRate: expected a rate above 0 in kHz: add --clock-rate, as in --clock-rate "
        "1.98GHz");
  }
  return *khz * hertz_per_khz;
}

void describe_device(const json::Json& root, const ImportHints& hints, Run& run) {
  const json::Json& general = root.at("general");
  const std::string name = text_at(general, "name");
  if (!name.empty() && hints.device_name.empty()) run.device.name = name;
  run.device.vendor = text_at(general, "vendor");
  const json::Json* const compute = object_at(root, "compute");
  const auto units = compute == nullptr ? std::nullopt : number_at(*compute, "multiProcessorCount");
  if (units) run.device.reported.set("compute_units", static_cast<std::int64_t>(*units));
  const json::Json* const meta = object_at(root, "meta");
  if (meta == nullptr) return;
  const std::string version = text_at(*meta, "mt4gVersion");
  if (!version.empty()) run.imported->tool += " " + version;
  // The driver versions of CUDA and HIP are whole numbers.
  if (const auto driver = number_at(*meta, "driver")) {
    run.device.driver = fmt::format("{:.0f}", *driver);
  }
}

bool recognises(const Document& document) {
  return document.json && document.json->is_object() &&
         object_at(*document.json, "general") != nullptr &&
         object_at(*document.json, "memory") != nullptr;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  const json::Json& root = *document.json;
  Run run = imported_run(hints, tool_name, format);
  describe_device(root, hints, run);
  const double hertz = clock_of(root.at("general"), hints);
  set_clock(run, hertz);
  Reader reader(run, hertz);
  for (const Element& each : elements) {
    const json::Json* object = object_at(root.at("memory"), each.key);
    if (object != nullptr && each.inner != nullptr) object = object_at(*object, each.inner);
    if (object != nullptr) reader.read(*object, each);
  }
  if (run.results.empty()) {
    throw RunFormatError("memory: expected mt4g's results for l1, l2 or main, found none");
  }
  return {std::move(run)};
}

}  // namespace

const Format format{.name = "mt4g-json",
                    .kind = Kind::json,
                    .tool = "mt4g",
                    .uses = Uses::clock,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::mt4g
