// SPDX-License-Identifier: Apache-2.0
// lat_mem_rd of lmbench, by itself or in a file of all of its results: blocks of
//
//   "stride=64
//   0.00049 1.360
//   0.00098 1.360
//
// which are MiB and ns. Every stride is a run: latency by working set differs between them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/curve.hpp"
#include "import/formats.hpp"

namespace clprobe::import::lat_mem_rd {

extern const Format format;

namespace {

constexpr std::string_view block_start = "\"stride=";

/// The stride of a block that begins in this line.
std::optional<std::int64_t> stride_in(std::string_view line) {
  if (!line.starts_with(block_start)) return std::nullopt;
  constexpr double max_stride = 1e9;
  const std::optional<double> stride = positive_number(line.substr(block_start.size()));
  if (!stride || *stride > max_stride || *stride != std::floor(*stride)) return std::nullopt;
  return static_cast<std::int64_t>(*stride);
}

/// Its five decimals of a MiB are exact to 10 bytes; it measures whole lines.
double bytes_of(double mebibytes) {
  constexpr double line_bytes = 64.0;
  return std::max(1.0, std::round(mebibytes * mebi / line_bytes)) * line_bytes;
}

bool recognises(const Document& document) {
  for (Lines lines(document.text); lines.next();) {
    if (stride_in(lines.line())) return true;
  }
  return false;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  std::vector<Run> runs;
  std::vector<std::int64_t> strides;
  bool is_in_block = false;
  for (Lines lines(document.text); lines.next();) {
    if (const std::optional<std::int64_t> stride = stride_in(lines.line())) {
      runs.push_back(imported_run(hints, "lat_mem_rd", format));
      runs.back().device.index = static_cast<int>(runs.size()) - 1;
      if (hints.clock_hertz > 0.0) set_clock(runs.back(), hints.clock_hertz);
      strides.push_back(*stride);
      is_in_block = true;
      continue;
    }
    const std::optional<std::vector<double>> numbers = numbers_in(lines.line());
    const bool is_pair = numbers && numbers->size() == 2;
    const bool begins_with_digit =
        !lines.line().empty() && lines.line().front() >= '0' && lines.line().front() <= '9';
    if (is_in_block && !is_pair && begins_with_digit) {
      lines.refuse_instead_of("a size in MiB and a latency in ns");
    }
    // Other results may follow behind a blank line, and have pairs of their own.
    is_in_block = is_in_block && is_pair;
    if (!is_in_block) continue;
    Point point =
        latency_point(series_or(hints, "global"), bytes_of((*numbers)[0]), (*numbers)[1], lines);
    point.parameters.set("step_bytes", strides.back());
    result_of(runs.back(), "latency").points.push_back(std::move(point));
  }
  if (runs.size() > 1) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].device.name += fmt::format(", stride {}", strides[i]);
    }
  }
  std::erase_if(runs, [](const Run& run) { return run.results.empty(); });
  if (runs.empty()) {
    throw RunFormatError(
        "document: expected a size and a latency after lat_mem_rd's \"stride=N, found none");
  }
  return runs;
}

}  // namespace

const Format format{.name = "lat_mem_rd",
                    .tool = "lat_mem_rd",
                    .uses = Uses::clock_and_series,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::lat_mem_rd
