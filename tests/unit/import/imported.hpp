// SPDX-License-Identifier: Apache-2.0
// What the tests of the importers share.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "golden.hpp"
#include "import/api/import.hpp"

namespace clprobe {

inline constexpr double kibi = 1024.0;

inline ImportHints hints(double bytes_per_size_unit = 0.0, double ns_per_time_unit = 0.0) {
  ImportHints made;
  made.file = "file.txt";
  made.bytes_per_size_unit = bytes_per_size_unit;
  made.ns_per_time_unit = ns_per_time_unit;
  return made;
}

inline ImportHints clock_hints(double hertz) {
  ImportHints made = hints();
  made.clock_hertz = hertz;
  return made;
}

/// A file of tests/import.
inline std::string example_file(std::string_view name) {
  return read_text(std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / ".." / "import" / name);
}

inline std::string refusal(std::string_view text, const ImportHints& with = hints()) {
  try {
    static_cast<void>(import_runs(text, with));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return "accepted";
}

/// The only finding of the series with that name, in whichever result it is.
inline const Finding& finding(const Run& run, std::string_view series, std::string_view name) {
  const Finding* found = nullptr;
  for (const ProbeResult& result : run.results) {
    for (const Finding& each : result.findings) {
      if (each.series != series || each.name != name) continue;
      REQUIRE(found == nullptr);
      found = &each;
    }
  }
  REQUIRE(found != nullptr);
  return *found;
}

inline const std::vector<Point>& points_in(const Run& run) { return run.results.at(0).points; }

/// Size and time of a point.
inline std::pair<std::int64_t, double> size_and_ns(const Run& run, std::size_t i) {
  const Point& point = points_in(run).at(i);
  const auto time = estimate(point, run.device);
  REQUIRE(time.has_value());
  return {point.parameters.integer("working_set_bytes"), time->ns};
}

inline std::vector<Level> levels_in(const Run& run, std::string_view series = "global") {
  return find_levels(latency_curve(points_in(run), series, run.device));
}

}  // namespace clprobe
