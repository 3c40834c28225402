// SPDX-License-Identifier: Apache-2.0
// Latency by working set, as pointer chases print it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/import.hpp"
#include "import/lines.hpp"

namespace clprobe::import {

inline constexpr double kibi = 1024.0;
inline constexpr double mebi = kibi * kibi;

/// The series that the hints name; else `otherwise`.
std::string series_or(const ImportHints& hints, std::string_view otherwise);

/// A point of `latency`; the line that it stands in is refused where it cannot be one.
Point latency_point(std::string_view series, double bytes, double ns, const Lines& at);

/// Refuses times of copies and of whole loops, which begin above 2 us or grow as the size. Loads of
/// host memory across PCIe take 1.5 us. `line`: of the first point.
void expect_loads(const std::vector<Point>& points, int line);

/// The device's clock, by which times are cycles of its core, too.
void set_clock(Run& run, double hertz);

}  // namespace clprobe::import
