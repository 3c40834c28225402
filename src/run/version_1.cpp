// SPDX-License-Identifier: Apache-2.0
#include "run/version_1.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace clprobe {
namespace {

// Among the parameters, but nothing of which point it is. The account of a simulated launch had a
// number of cycles for each part of it.
constexpr std::array<std::string_view, 5> facts{"buffer_bytes", "huge_page_percent", "page_kind",
                                                "imported_ns", "imported_bytes_per_second"};
constexpr std::string_view account_suffix = "cycles";

constexpr std::array<std::string_view, 2> of_the_analysis{"small_pages", "too_fast"};

template <std::size_t count>
bool is_among(const std::array<std::string_view, count>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void separate_facts(Point& point) {
  Parameters kept;
  for (const auto& [name, value] : point.parameters) {
    const bool is_fact = is_among(facts, name) || name.ends_with(account_suffix);
    (is_fact ? point.facts : kept).set(name, value);
  }
  point.parameters = std::move(kept);
}

void upgrade(ProbeResult& result) {
  for (Point& point : result.points) separate_facts(point);
  for (Warning& warning : result.warnings) {
    if (is_among(of_the_analysis, warning.code)) warning.source = WarningSource::analysis;
  }
  for (Finding& finding : result.findings) {
    finding.better = usual_direction(finding.unit);
    if (finding.name == "capacity" && finding.unit == "bytes") finding.better = Better::more;
  }
}

}  // namespace

void upgrade_version_1(Run& run) {
  for (ProbeResult& result : run.results) upgrade(result);
}

Unit unit_of_quantity(std::string_view quantity) {
  return quantity == "bytes_per_second" ? Unit::bytes_per_second : Unit::seconds;
}

void infer_launch_timer(DeviceInfo& device) {
  device.launch_timer = device.timer == Timer::clock ? Timer::event : device.timer;
}

}  // namespace clprobe
