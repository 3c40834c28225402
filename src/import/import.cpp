// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "import/formats.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace import {
namespace {

struct UnitRow {
  std::string_view word;  // of the other tool
  std::string_view unit;  // ours
  double factor;
  std::string_view name;  // of the finding
};

// clpeak's words; its "gflops" and "gops" are 10^9 a second, its "gbps" are gigabytes.
constexpr std::array units{UnitRow{"gbps", "bytes_per_second", 1e9, "bandwidth"},
                           UnitRow{"GB/s", "bytes_per_second", 1e9, "bandwidth"},
                           UnitRow{"gflops", "operations_per_second", 1e9, "throughput"},
                           UnitRow{"gops", "operations_per_second", 1e9, "throughput"},
                           UnitRow{"giops", "operations_per_second", 1e9, "throughput"},
                           UnitRow{"tflops", "operations_per_second", 1e12, "throughput"},
                           UnitRow{"tops", "operations_per_second", 1e12, "throughput"},
                           UnitRow{"us", "seconds", 1e-6, "time"},
                           UnitRow{"ns", "seconds", 1e-9, "time"},
                           UnitRow{"ms", "seconds", 1e-3, "time"}};

}  // namespace

Run imported_run(const ImportHints& hints, std::string_view tool, std::string_view format) {
  Run run;
  run.imported = ImportInfo{std::string(tool), std::string(format), hints.file};
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
  finding.reason = reason.empty() ? "no reason is given" : reason;
  return finding;
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || rest != last || !std::isfinite(value) || !(value > 0.0)) {
    return std::nullopt;
  }
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return line;
}

std::string excerpt(std::string_view text) {
  constexpr int max_columns = 43;
  constexpr std::size_t max_bytes = 176;  // more than these columns; a line may be the whole file
  return cut_to_width(printable_ascii(text.substr(0, max_bytes)), max_columns, "...");
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

}  // namespace import

namespace {

std::vector<Run> import_any(std::string_view text, const ImportHints& hints) {
  if (text.find(fmt::format(R"("schema": "{}")", run_schema_name)) != std::string_view::npos) {
    throw RunFormatError("it is a run of clprobe: use `clprobe report` or `clprobe compare`");
  }
  if (import::is_clpeak_json(text)) return import::import_clpeak_json(text, hints);
  if (import::is_clpeak_xml(text)) return import::import_clpeak_xml(text, hints);
  if (import::is_clmempatterns(text)) return import::import_clmempatterns(text, hints);
  return import::import_size_latency(text, hints);
}

void expect_sane(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    const auto* const number = std::get_if<double>(&value);
    if (number == nullptr || is_sane(*number)) continue;
    throw RunFormatError(
        fmt::format("{} is {}: expected a number that a device can have", name, *number));
  }
}

}  // namespace

std::vector<Run> import_runs(std::string_view text, const ImportHints& hints) {
  std::vector<Run> runs = import_any(text, hints);
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      for (const Point& point : result.points) {
        expect_sane(point.parameters);
        expect_sane(point.facts);
      }
    }
  }
  return runs;
}

}  // namespace clprobe
