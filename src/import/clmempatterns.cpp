// SPDX-License-Identifier: Apache-2.0
// Format of clmempatterns: settings as "name : value", followed by one line per stride. The
// imported points have the parameters of the probe `stride`, which measures the same access
// patterns.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analysis/api/estimate.hpp"
#include "import/formats.hpp"
#include "text/api/text.hpp"

namespace clprobe::import::clmempatterns {

namespace {

constexpr std::string_view stride_start = "Stride magnitude";
constexpr std::string_view title = "clmempatterns";

/// Settings that precede the first stride; 0 if missing.
struct Settings {
  std::int64_t elements{0};
  std::int64_t vector{0};
  std::int64_t grid{0};
  std::int64_t work_group{0};
  bool is_host_buffer{false};
};

struct SettingRow {
  std::string_view key;  // the tool's name of the setting
  std::int64_t Settings::*member;
};

// Versions of the tool name the same setting differently.
constexpr std::array setting_rows{
    SettingRow{"index space", &Settings::elements}, SettingRow{"vector width", &Settings::vector},
    SettingRow{"vector length", &Settings::vector}, SettingRow{"grid space", &Settings::grid},
    SettingRow{"workgroup size", &Settings::work_group}};

std::string_view pattern_of(std::int64_t stride, const Settings& settings) {
  if (stride == 1) return "serial";
  if (stride == settings.grid) return "grid stride";
  return stride == settings.work_group ? "work-group stride" : "between";
}

/// Sets the series and parameters of a point of the probe `stride`, in the probe's order. If the
/// element size is unknown, the stride is the only parameter.
void describe(Point& point, std::int64_t stride, const Settings& settings) {
  constexpr std::int64_t max_vector = 16;
  constexpr std::int64_t word_bytes = 4;  // size of int, the only type that the tool reads
  constexpr std::int64_t max_elements = std::int64_t{1} << 48;
  point.series = "read";
  if (settings.vector < 1 || settings.vector > max_vector) {
    point.parameters.set("stride_elements", stride);
    return;
  }
  const std::int64_t element_bytes = word_bytes * settings.vector;
  point.series += settings.vector == 1 ? " int" : fmt::format(" int{}", settings.vector);
  if (settings.is_host_buffer) point.series += " in host memory";
  point.parameters.set("stride_bytes", stride * element_bytes);
  point.parameters.set("stride_elements", stride);
  if (settings.grid > 0) {
    point.parameters.set("pattern", std::string(pattern_of(stride, settings)));
  }
  point.parameters.set("operation", std::string("read"));
  point.parameters.set("type", std::string("int"));
  point.parameters.set("vector", settings.vector);
  point.parameters.set("buffer", std::string(settings.is_host_buffer ? "host" : "device"));
  if (settings.elements > 0 && settings.elements <= max_elements) {
    point.parameters.set("elements", settings.elements);
    point.parameters.set("working_set_bytes", settings.elements * element_bytes);
  }
  if (settings.grid > 0) point.parameters.set("grid", settings.grid);
  if (settings.work_group > 0) point.parameters.set("work_group", settings.work_group);
}

/// Returns the point in a line such as
/// "Stride magnitude  5: Bandwidth 332.622 GB/sec (avg time   0.807029 msecs)".
Point stride_point(const Lines& at, const Settings& settings) {
  const auto numbers = numbers_in(at.line(), "Stride magnitude #: Bandwidth # GB/sec*");
  constexpr double max_magnitude = 48.0;  // a grid of 2^48 work-items
  const double magnitude = numbers ? numbers->front() : -1.0;
  if (magnitude < 0.0 || magnitude > max_magnitude || magnitude != std::floor(magnitude) ||
      numbers->back() <= 0.0) {
    at.refuse_instead_of("\"Stride magnitude N: Bandwidth X GB/sec\"");
  }
  Point point;
  describe(point, std::int64_t{1} << static_cast<int>(magnitude), settings);
  point.facts.set(imported_bytes_per_second, numbers->back() * 1e9);
  return point;
}

/// Stores a setting: "Selected device  : gfx803" in the device, "grid space : 1048576 (...)" in
/// `settings`.
void read_setting(std::string_view line, Run& run, Settings& settings) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = trimmed(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (key == "Selected platform") run.device.platform = value;
  if (key == "Selected device") run.device.name = value;
  if (key == "Driver version") run.device.driver = value;
  if (key == "allocated buffer") settings.is_host_buffer = value.starts_with("host");
  constexpr double max_setting = 1e15;  // whole numbers up to this value are exact as double
  const auto number = numbers_in(value, "#*");
  if (!number || number->front() < 1.0 || number->front() > max_setting) return;
  for (const SettingRow& each : setting_rows) {
    if (each.key == key) settings.*each.member = static_cast<std::int64_t>(number->front());
  }
}

bool recognises(const Document& document) {
  return document.text.find(stride_start) != std::string_view::npos;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, title, format);
  Settings settings;
  std::vector<Point> points;
  for (Lines lines(document.text); lines.next();) {
    const std::string_view line = lines.line();
    if (line.starts_with(stride_start)) {
      points.push_back(stride_point(lines, settings));
    } else if (line.starts_with(title) && line.find(" rel. ") != std::string_view::npos) {
      run.imported->tool = fmt::format("{} {}", title, line.substr(line.find(" rel. ") + 6));
    } else {
      read_setting(line, run, settings);
    }
  }
  if (!hints.device_name.empty()) run.device.name = hints.device_name;
  ProbeResult& result = result_of(run, "stride");
  result.unit = Unit::bytes_per_second;
  result.points = std::move(points);
  return {std::move(run)};
}

}  // namespace

const Format format{
    .name = "clmempatterns", .tool = "clmempatterns", .recognises = recognises, .read = read};

}  // namespace clprobe::import::clmempatterns
