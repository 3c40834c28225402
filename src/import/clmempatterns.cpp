// SPDX-License-Identifier: Apache-2.0
// What clmempatterns prints: its settings as "name : value", then a line for each stride.
#include <fmt/format.h>

#include <array>

#include "clprobe/estimate.hpp"
#include "import/formats.hpp"

namespace clprobe::import {
namespace {

constexpr std::string_view stride_start = "Stride magnitude";
constexpr std::string_view title = "clmempatterns";

struct Setting {
  std::string_view key;   // as printed
  std::string_view name;  // ours
};

// Versions differ in two of the words.
constexpr std::array settings{
    Setting{"index space", "index_space"},        Setting{"vector width", "vector_width"},
    Setting{"vector length", "vector_width"},     Setting{"grid space", "grid"},
    Setting{"workgroup size", "work_group_size"}, Setting{"granularity", "granularity"}};

/// The whole number that the text begins with.
std::optional<std::int64_t> leading_integer(std::string_view text) {
  text = text.substr(0, text.find_first_not_of("0123456789"));
  constexpr std::size_t max_digits = 15;  // exact as a double
  if (text.size() > max_digits) return std::nullopt;
  const std::optional<double> number = positive_number(text);
  if (!number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// The text between two words; empty when either is missing.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t start = line.find(before);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = line.substr(start + before.size());
  const std::size_t end = rest.find(after);
  return end == std::string_view::npos ? std::string_view() : trimmed(rest.substr(0, end));
}

/// "Stride magnitude  5: Bandwidth 332.622 GB/sec (avg time   0.807029 msecs)"
Point stride_point(std::string_view line, int number, const Parameters& common) {
  const std::string_view magnitude = between(line, stride_start, ":");
  const std::optional<double> bandwidth = positive_number(between(line, "Bandwidth", "GB/sec"));
  const std::optional<double> stride =
      magnitude == "0" ? std::optional(0.0) : positive_number(magnitude);
  constexpr double max_magnitude = 62.0;
  if (!bandwidth || !stride || *stride > max_magnitude ||
      *stride != static_cast<double>(static_cast<int>(*stride))) {
    throw RunFormatError(
        fmt::format("line {}: expected \"Stride magnitude N: Bandwidth X GB/sec\", found '{}'",
                    number, excerpt(line)));
  }
  Point point;
  point.series = "read";
  point.parameters = common;
  point.parameters.set("stride_elements", std::int64_t{1} << static_cast<int>(*stride));
  point.facts.set(imported_bytes_per_second, *bandwidth * 1e9);
  return point;
}

/// "Selected device  : gfx803" into the device, "grid space : 1048576 (...)" into the settings.
void read_setting(std::string_view line, Run& run, Parameters& common) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = trimmed(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (key == "Selected platform") run.device.platform = value;
  if (key == "Selected device") run.device.name = value;
  if (key == "Driver version") run.device.driver = value;
  if (key == "required memory") common.set("memory", std::string(value));
  for (const Setting& each : settings) {
    const std::optional<std::int64_t> number = leading_integer(value);
    if (each.key == key && number) common.set(each.name, *number);
  }
}

}  // namespace

bool is_clmempatterns(std::string_view text) {
  return text.find(stride_start) != std::string_view::npos;
}

std::vector<Run> import_clmempatterns(std::string_view text, const ImportHints& hints) {
  Run run = imported_run(hints, title, title);
  Parameters common;
  std::vector<Point> points;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(next_line(text));
    if (line.starts_with(stride_start)) {
      points.push_back(stride_point(line, number, common));
    } else if (line.starts_with(title) && line.find(" rel. ") != std::string_view::npos) {
      const std::string_view version = line.substr(line.find(" rel. ") + 6);
      run.imported->tool = fmt::format("{} {}", title, version);
    } else {
      read_setting(line, run, common);
    }
  }
  if (!hints.device_name.empty()) run.device.name = hints.device_name;
  // The probe that measures the same patterns; its analysis finds what there is to find.
  ProbeResult& result = result_of(run, "stride");
  result.unit = Unit::bytes_per_second;
  result.points = std::move(points);
  return {std::move(run)};
}

}  // namespace clprobe::import
