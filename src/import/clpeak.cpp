// SPDX-License-Identifier: Apache-2.0
// clpeak's files and printed text. Version 1.1 writes XML of platforms and devices, with one
// element for each test and metric. Format 2 of later versions is XML of runs, categories, tests
// and metrics, or JSON or CSV with one record for each metric. Format 3 is JSON of devices, tests
// and metrics.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <pugixml.hpp>

#include "analysis/api/estimate.hpp"
#include "import/columns.hpp"
#include "import/formats.hpp"
#include "text/api/text.hpp"

namespace clprobe::import::clpeak {
namespace {

constexpr std::string_view probe = "clpeak";

/// A metric that a probe of clprobe also measures, and the series of the probe's finding.
struct Counterpart {
  std::string_view test;
  std::string_view metric;
  std::string_view probe;
  std::string_view series;
};

// clpeak reads vectors of float, and the probe `stride` reads vectors of int. Both types have 4
// bytes.
constexpr std::string_view memory_test = "global_memory_bandwidth";
constexpr std::array counterparts{
    Counterpart{memory_test, "float", "stride", "read int"},
    Counterpart{memory_test, "float2", "stride", "read int2"},
    Counterpart{memory_test, "float4", "stride", "read int4"},
    Counterpart{memory_test, "float8", "stride", "read int8"},
    Counterpart{memory_test, "float16", "stride", "read int16"},
    Counterpart{"transfer_bandwidth", "enqueuewritebuffer", "transfer", "to-device"},
    Counterpart{"transfer_bandwidth", "enqueuereadbuffer", "transfer", "from-device"}};

const Counterpart* counterpart_of(std::string_view test, std::string_view metric) {
  const auto* const found = std::ranges::find_if(counterparts, [&](const Counterpart& each) {
    return each.test == test && each.metric == metric;
  });
  return found == counterparts.end() ? nullptr : found;
}

std::string series_of(std::string_view test, std::string_view metric) {
  return fmt::format("{}{}{}", test, metric.empty() ? "" : " ", metric);
}

/// Returns true if the metric is the time from a launch to its end, as the host waits for it. The
/// probe `launch` also measures this time. Other metrics of this test, such as "dispatch", are
/// START - QUEUED of an event.
bool is_round_trip(std::string_view test, std::string_view metric) {
  return test == "kernel_launch_latency" && metric == "roundtrip";
}

Point round_trip_point(double seconds) {
  Point point;
  point.series = "queued";
  point.parameters = {
      {"manner", std::string("plain")}, {"arguments", std::int64_t{0}},
      {"idle_queues", std::int64_t{0}}, {"launches", std::int64_t{1}},
      {"idle_ms", std::int64_t{0}},     {"timer", std::string(to_word(Timer::imported))}};
  point.facts.set(imported_ns, seconds * ns_per_second);
  return point;
}

struct Identity {
  std::string backend{};
  std::string platform{};
  std::string device{};
  std::string driver{};
  std::string compute_units{};  // set only by the reader of printed text

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// Runs by device, in order of first use.
class Runs {
 public:
  Runs(const ImportHints& hints, std::string tool, const Format& format)
      : hints_(hints), tool_(std::move(tool)), format_(format) {}

  Run& of(const Identity& identity) {
    for (std::size_t i = 0; i < identities_.size(); ++i) {
      if (identities_[i] == identity) return runs_[i];
    }
    Run run = imported_run(hints_, tool_, format_);
    run.device.index = static_cast<int>(runs_.size());
    run.device.platform = identity.platform;
    if (!identity.device.empty() && hints_.device_name.empty()) run.device.name = identity.device;
    run.device.driver = identity.driver;
    if (!identity.compute_units.empty()) {
      run.device.reported.set("compute_units", identity.compute_units);
    }
    if (!identity.backend.empty()) run.device.reported.set("backend", identity.backend);
    identities_.push_back(identity);
    runs_.push_back(std::move(run));
    return runs_.back();
  }

  void add(Run& run, std::string_view test, std::string_view metric, double value,
           std::string_view unit) const {
    // A buffer that is mapped without a copy takes no time, so that its rate is meaningless.
    if (!std::isfinite(value) || !(value > 0.0)) {
      add_gap(run, test, metric, unit, "the tool reports 0 or a number that is not finite");
      return;
    }
    const Counterpart* const known = counterpart_of(test, metric);
    const std::string series =
        known == nullptr ? series_of(test, metric) : std::string(known->series);
    Finding finding = imported_finding(series, value, unit, tool_);
    if (known != nullptr) finding.method += fmt::format(", {} {}", test, metric);
    if (is_round_trip(test, metric) && finding.unit == "seconds") {
      result_of(run, "launch").points.push_back(round_trip_point(*finding.value));
      return;
    }
    result_of(run, known == nullptr ? probe : known->probe).findings.push_back(std::move(finding));
  }

  void add_gap(Run& run, std::string_view test, std::string_view metric, std::string_view unit,
               std::string_view reason) const {
    result_of(run, probe)
        .findings.push_back(imported_gap(series_of(test, metric), unit, reason, tool_));
  }

  std::vector<Run> take() {
    if (runs_.empty()) {
      throw RunFormatError("document: expected results of clpeak, found no device with results");
    }
    return std::move(runs_);
  }

 private:
  const ImportHints& hints_;
  std::string tool_;
  const Format& format_;
  std::vector<Identity> identities_{};
  std::vector<Run> runs_{};
};

double xml_number(const pugi::xml_node& node) {
  const std::string_view text = trimmed(node.text().get());
  const std::optional<double> number = positive_number(text);
  if (number) return *number;
  if (text.empty() || text.find_first_not_of("0.-+einfaINFA") != std::string_view::npos) {
    throw RunFormatError(fmt::format("{}: expected a number, found '{}'",
                                     excerpt(std::string_view(node.path('.')).substr(1)),
                                     excerpt(text)));
  }
  return 0.0;
}

void read_test_of_1(Runs& runs, Run& run, const pugi::xml_node& test) {
  const std::string_view unit = test.attribute("unit").value();
  bool has_metrics = false;
  for (const pugi::xml_node& metric : test.children()) {
    if (metric.type() != pugi::node_element) continue;
    has_metrics = true;
    runs.add(run, test.name(), metric.name(), xml_number(metric), unit);
  }
  // A test with a single result has no metrics: <kernel_launch_latency unit="us">8.4</...>.
  if (!has_metrics && !trimmed(test.text().get()).empty()) {
    runs.add(run, test.name(), "", xml_number(test), unit);
  }
}

void read_device_of_1(Runs& runs, const pugi::xml_node& platform, const pugi::xml_node& device) {
  Run& run = runs.of({"", platform.attribute("name").value(), device.attribute("name").value(),
                      device.attribute("driver_version").value()});
  for (const char* const name : {"compute_units", "clock_frequency"}) {
    const std::string_view value = device.attribute(name).value();
    if (positive_number(value)) run.device.reported.set(name, std::string(value));
  }
  for (const pugi::xml_node& test : device.children()) {
    if (test.type() == pugi::node_element) read_test_of_1(runs, run, test);
  }
}

void read_run_of_2(Runs& runs, const pugi::xml_node& node) {
  Run& run = runs.of({node.attribute("backend").value(), node.attribute("platform").value(),
                      node.attribute("device").value(), node.attribute("driver").value()});
  for (const pugi::xml_node& prop : node.children("prop")) {
    run.device.reported.set(prop.attribute("name").value(),
                            std::string(prop.attribute("value").value()));
  }
  for (const pugi::xml_node& category : node.children("category")) {
    for (const pugi::xml_node& test : category.children("test")) {
      for (const pugi::xml_node& metric : test.children("metric")) {
        const std::string_view status = metric.attribute("status").value();
        const char* const name = metric.attribute("name").value();
        if (status.empty() || status == "ok") {
          runs.add(run, test.attribute("name").value(), name, xml_number(metric),
                   test.attribute("unit").value());
        } else {
          runs.add_gap(run, test.attribute("name").value(), name, test.attribute("unit").value(),
                       fmt::format("{}: {}", status, metric.attribute("reason").value()));
        }
      }
    }
  }
}

std::string tool_text(std::string_view version) {
  return version.empty() ? "clpeak" : fmt::format("clpeak {}", version);
}

void read_entry(Runs& runs, const json::Json& entry, std::size_t index) {
  const auto refuse = [&](std::string_view expected) {
    throw RunFormatError(fmt::format("entries[{}]: expected {}", index, expected));
  };
  if (!entry.is_object()) refuse("an object");
  Run& run = runs.of({text_at(entry, "backend"), text_at(entry, "platform"),
                      text_at(entry, "device"), text_at(entry, "driver")});
  const std::string test = text_at(entry, "test");
  const std::string metric = text_at(entry, "metric");
  if (test.empty()) refuse("the name of a test");
  const auto value = entry.find("value");
  if (value != entry.end() && value->is_number()) {
    runs.add(run, test, metric, value->get<double>(), text_at(entry, "unit"));
  } else if (!text_at(entry, "status").empty()) {
    runs.add_gap(run, test, metric, text_at(entry, "unit"),
                 fmt::format("{}: {}", text_at(entry, "status"), text_at(entry, "reason")));
  } else {
    refuse("a value, or a status that explains its absence");
  }
}

bool is_clpeak_json(const Document& document) {
  return document.json && document.json->is_object() &&
         (document.json->contains("entries") || text_at(*document.json, "schema") == "clpeak/run");
}

/// Returns the list at `key`; an empty list if the object has none.
const json::Json& list_at(const json::Json& object, const char* key) {
  static const json::Json none = json::Json::array();
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : none;
}

/// Returns the metrics of format 3 as records of format 2.
json::Json entries_of_3(const json::Json& root) {
  json::Json entries = json::Json::array();
  for (const json::Json& device : list_at(root, "devices")) {
    for (const json::Json& test : list_at(device, "tests")) {
      for (const json::Json& metric : list_at(test, "metrics")) {
        if (!metric.is_object()) {
          throw RunFormatError("devices: expected each metric to be an object");
        }
        json::Json entry = metric;
        for (const char* const each : {"backend", "platform", "driver"}) {
          entry[each] = text_at(device, each);
        }
        entry["device"] = text_at(device, "name");
        entry["test"] = text_at(test, "id");
        entry["metric"] = text_at(metric, "id");
        if (text_at(metric, "unit").empty()) entry["unit"] = text_at(test, "unit");
        entries.push_back(std::move(entry));
      }
    }
  }
  return entries;
}

std::vector<Run> read_entries(const json::Json& entries, const json::Json& devices,
                              std::string_view version, const ImportHints& hints,
                              const Format& format) {
  Runs runs(hints, tool_text(version), format);
  std::size_t index = 0;
  for (const json::Json& entry : entries) read_entry(runs, entry, index++);
  for (const json::Json& device : devices) {
    const json::Json& props = list_at(device, "props");
    if (props.empty()) continue;
    Run& run = runs.of({text_at(device, "backend"), text_at(device, "platform"),
                        text_at(device, "device"), text_at(device, "driver")});
    for (const json::Json& prop : props) {
      if (prop.is_object()) run.device.reported.set(text_at(prop, "k"), text_at(prop, "v"));
    }
  }
  return runs.take();
}

std::vector<Run> read_clpeak_json(const Document& document, const ImportHints& hints) {
  const json::Json& root = *document.json;
  constexpr int entries_version = 2;
  constexpr int devices_version = 3;
  const auto version = root.find("format_version");
  if (version == root.end()) {
    throw RunFormatError(R"(document: expected clpeak's "format_version")");
  }
  const int number = version->is_number_integer() ? version->get<int>() : 0;
  if (number != entries_version && number != devices_version) {
    throw RunFormatError(fmt::format(
        "format_version: expected clpeak's format {} or {}, found {}: save results as XML",
        entries_version, devices_version, excerpt(version->dump())));
  }
  return read_entries(number == devices_version ? entries_of_3(root) : list_at(root, "entries"),
                      list_at(root, "devices"), text_at(root, "clpeak_version"), hints,
                      json_format);
}

constexpr std::string_view csv_start = "format_version,backend,platform,device,driver,";

bool is_clpeak_csv(const Document& document) { return document.text.starts_with(csv_start); }

std::vector<Run> read_clpeak_csv(const Document& document, const ImportHints& hints) {
  json::Json entries = json::Json::array();
  std::vector<std::string_view> names;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty()) continue;
    const std::vector<std::string_view> cells = cells_of(lines.line(), Separator::comma);
    if (names.empty()) names = cells;
    if (names.size() != cells.size()) {
      lines.refuse_instead_of(fmt::format("{} cells", names.size()));
    }
    if (names == cells) continue;
    json::Json entry = json::Json::object();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::optional<double> number =
          names[i] == "value" ? positive_number(cells[i]) : std::nullopt;
      if (number) entry["value"] = *number;
      if (!number && names[i] != "value") entry[std::string(names[i])] = std::string(cells[i]);
    }
    if (text_at(entry, "format_version") != "2") lines.refuse("expected format 2 of clpeak's CSV");
    entries.push_back(std::move(entry));
  }
  return read_entries(entries, json::Json::array(), "", hints, csv_format);
}

/// Returns the name that files use for a printed name: "single_precision_compute" for
/// "Single-precision compute".
std::string id_of(std::string_view words) {
  std::string id;
  for (const char c : words) {
    const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (is_letter) id += static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') id += c;
    if (!is_letter && !(c >= '0' && c <= '9') && !id.empty() && id.back() != '_') id += '_';
  }
  if (id.ends_with('_')) id.pop_back();
  return id;
}

struct Heading {
  std::string test{};
  std::string unit{};  // the unit's name in files
};

/// Returns the test and the unit of a heading such as "Global memory bandwidth (GBPS)".
std::optional<Heading> heading_in(std::string_view line) {
  const std::size_t open = line.rfind(" (");
  if (!line.ends_with(')') || open == std::string_view::npos) return std::nullopt;
  const std::string_view unit = line.substr(open + 2, line.size() - open - 3);
  Heading heading{id_of(line.substr(0, open)), id_of(unit)};
  const bool is_upper = std::ranges::none_of(unit, [](char c) { return c >= 'a'; });
  if (!is_upper || imported_finding("", 1.0, heading.unit, "").name == "result") {
    return std::nullopt;
  }
  return heading;
}

bool is_clpeak_text(const Document& document) {
  return has_line(document, [](std::string_view line) { return heading_in(line).has_value(); });
}

/// Reader of the printed text: devices, the tests of each device, and the metrics of each test.
class TextReader {
 public:
  explicit TextReader(Runs& runs) : runs_(runs) {}

  void read(std::string_view line) {
    if (const auto heading = heading_in(line)) {
      heading_ = *heading;
      return;
    }
    const std::size_t colon = line.find(": ");
    const std::string_view name = trimmed(line.substr(0, colon));
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 2));
    if (name.starts_with("Platform")) identity_.platform = value;
    if (name == "Backend") identity_.backend = value;
    if (name == "Device" || name.starts_with("Device ")) {
      identity_.device = value;
      identity_.driver.clear();
      identity_.compute_units.clear();
      heading_ = {};
    }
    if (name == "Compute units") identity_.compute_units = value;
    // Version 1.1 appends the operating system in parentheses to the driver version.
    if (name == "Driver version") identity_.driver = value.substr(0, value.rfind(" ("));
    if (name == "Kernel launch latency") heading_ = {id_of(name), ""};
    if (!heading_.test.empty()) add(name, value.empty() ? line : value);
  }

 private:
  void add(std::string_view name, std::string_view value) {
    const std::vector<std::string_view> words = split_words(value, " ");
    const bool is_alone = heading_.unit.empty() && words.size() > 1;
    const std::string unit = is_alone ? std::string(words[1]) : heading_.unit;
    const std::string metric = is_alone ? std::string() : id_of(name);
    if (words.empty()) return;
    if (value.starts_with('[')) {
      runs_.add_gap(runs_.of(identity_), heading_.test, name == value ? "" : metric, unit, value);
    } else if (const auto number = positive_number(words[0])) {
      runs_.add(runs_.of(identity_), heading_.test, metric, *number, unit);
    }
    if (is_alone) heading_ = {};
  }

  Runs& runs_;
  Identity identity_{};
  Heading heading_{};
};

std::vector<Run> read_clpeak_text(const Document& document, const ImportHints& hints) {
  Runs runs(hints, "clpeak", text_format);
  TextReader reader(runs);
  for (Lines lines(document.text); lines.next();) {
    if (!lines.line().empty()) reader.read(lines.line());
  }
  return runs.take();
}

bool is_xml(const Document& document) {
  const std::size_t first = document.text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && document.text[first] == '<';
}

std::vector<Run> read_clpeak_xml(const Document& document, const ImportHints& hints) {
  pugi::xml_document xml;
  const pugi::xml_parse_result parsed = xml.load_buffer(document.text.data(), document.text.size());
  if (!parsed) {
    throw RunFormatError(fmt::format("document: expected XML, found an error at byte {}: {}",
                                     parsed.offset, parsed.description()));
  }
  const pugi::xml_node root = xml.child("clpeak");
  if (!root) throw RunFormatError("document: expected the root element <clpeak>, found another");
  Runs runs(hints, tool_text(root.attribute("clpeak_version").value()), xml_format);
  for (const pugi::xml_node& platform : root.children("platform")) {
    for (const pugi::xml_node& device : platform.children("device")) {
      read_device_of_1(runs, platform, device);
    }
  }
  for (const pugi::xml_node& run : root.children("run")) read_run_of_2(runs, run);
  return runs.take();
}

}  // namespace

const Format json_format{.name = "clpeak-json",
                         .kind = Kind::json,
                         .tool = "clpeak",
                         .recognises = is_clpeak_json,
                         .read = read_clpeak_json};

// This format accepts any XML, since no other supported tool writes XML.
const Format xml_format{.name = "clpeak-xml",
                        .kind = Kind::xml,
                        .tool = "clpeak",
                        .recognises = is_xml,
                        .read = read_clpeak_xml};

const Format csv_format{
    .name = "clpeak-csv", .tool = "clpeak", .recognises = is_clpeak_csv, .read = read_clpeak_csv};

const Format text_format{.name = "clpeak-text",
                         .tool = "clpeak",
                         .recognises = is_clpeak_text,
                         .read = read_clpeak_text};

}  // namespace clprobe::import::clpeak
