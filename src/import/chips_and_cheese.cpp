// SPDX-License-Identifier: Apache-2.0
// The latency tests of Chips and Cheese's Microbenchmarks: rows of KiB and ns behind
// "Region,Latency (ns)" (MemoryLatency, of a CPU), or behind "Sattolo, global memory latency ..."
// and "Sattolo, constant memory ..." (GpuMemLatency, by OpenCL).
#include <array>

#include "clprobe/estimate.hpp"
#include "import/curve.hpp"
#include "import/formats.hpp"

namespace clprobe::import::chips_and_cheese {

extern const Format format;

namespace {

struct Heading {
  std::string_view start;
  std::string_view tool;
  std::string_view series;
};

// GpuMemLatency's constants are an argument of its kernel.
constexpr std::array headings{
    Heading{"Region,Latency (ns)", "MemoryLatency", "global"},
    Heading{"Sattolo, global memory", "GpuMemLatency", "global"},
    Heading{"Sattolo, constant memory", "GpuMemLatency", "constant-argument"}};

const Heading* heading_in(std::string_view line) {
  for (const Heading& each : headings) {
    if (line.starts_with(each.start)) return &each;
  }
  return nullptr;
}

/// The size of "1048576,0.000000", by which the tool says that a launch failed.
std::optional<double> failed_size_in(std::string_view line) {
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view time = line.substr(comma + 1);
  if (time.empty() || time.find_first_not_of("0.") != std::string_view::npos) return std::nullopt;
  return positive_number(line.substr(0, comma));
}

bool recognises(const Document& document) {
  for (Lines lines(document.text); lines.next();) {
    if (heading_in(lines.line()) != nullptr) return true;
  }
  return false;
}

/// The point in the line; nothing where the line is a remark.
std::optional<Point> point_in(const Lines& at, const std::string& series) {
  // With performance counters there are more columns.
  const std::vector<std::string_view> words = split_words(at.line(), ", \t");
  const auto size = words.size() < 2 ? std::nullopt : positive_number(words[0]);
  const auto latency = words.size() < 2 ? std::nullopt : positive_number(words[1]);
  if (size && latency) return latency_point(series, *size * kibi, *latency, at);
  if (const std::optional<double> failed = failed_size_in(at.line())) {
    Point point = latency_point(series, *failed * kibi, 1.0, at);
    point.facts = {};
    point.failure = "the tool reports no time";
    return point;
  }
  if (!at.line().empty() && !is_prose(at.line())) {
    at.refuse_instead_of("a size in KiB and a latency in ns");
  }
  return std::nullopt;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, "", format);
  ProbeResult& result = result_of(run, "latency");
  const Heading* heading = nullptr;
  for (Lines lines(document.text); lines.next();) {
    if (const Heading* const next = heading_in(lines.line())) {
      heading = next;
      run.imported->tool = next->tool;
      continue;
    }
    if (heading == nullptr) continue;
    const std::optional<Point> point = point_in(lines, series_or(hints, heading->series));
    if (point) result.points.push_back(*point);
  }
  if (result.points.empty()) {
    throw RunFormatError("document: expected a size and a latency after the heading, found none");
  }
  if (hints.clock_hertz > 0.0) set_clock(run, hints.clock_hertz);
  return {std::move(run)};
}

}  // namespace

const Format format{.name = "chips-and-cheese",
                    .tool = "Chips and Cheese's latency tests",
                    .uses = Uses::clock_and_series,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::chips_and_cheese
