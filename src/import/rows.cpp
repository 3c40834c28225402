// SPDX-License-Identifier: Apache-2.0
// Benchmarks that print one row per working set.
//
// RRZE's gpu-benches (kB are KiB, GB are 10^9 bytes):
//   gpu-latency: loads, MHz, KiB, ms, cycles; later versions add the median and two bounds
//     1000000  2490        1     14.5    36.0
//   gpu-cache, and gpu-l2-cache with the part that a block reads before the working set
//          64 kB         5ms       0.2%   13873.4 GB/s         0 GB/s ...
//         512 kB      1536 kB      4ms       1.0%   13526.6 GB/s ...
//   cuda-memcpy, from pinned memory to each device
//     Device: 0          128kB     0.03ms    4.02GB/s   115.61%
// lat_mem_rd of lmbench, by itself or in a file of all of its results (MiB and ns):
//     "stride=64
//     0.00049 1.360
// Chips and Cheese's MemoryLatency (of a CPU) and GpuMemLatency (by OpenCL), in KiB and ns:
//     Region,Latency (ns)
//     2,1.500000
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "clprobe/estimate.hpp"
#include "import/formats.hpp"

namespace clprobe::import::rows {
namespace {

// gpu-latency

constexpr std::string_view clock_start = "clock:";
constexpr double hertz_per_mhz = 1e6;

struct LatencyRow {
  double loads;
  double mhz;
  double kibibytes;
  double ms;
  double mean_cycles;
  double cycles;  // the median where there is one: the mean of few runs follows its outliers
};

std::optional<LatencyRow> latency_row(std::string_view line) {
  constexpr std::size_t old_columns = 5;
  constexpr std::size_t columns = 8;
  const std::optional<std::vector<double>> numbers = numbers_in(line);
  if (!numbers || (numbers->size() != old_columns && numbers->size() != columns)) {
    return std::nullopt;
  }
  const std::vector<double>& all = *numbers;
  return LatencyRow{all[0], all[1], all[2],
                    all[3], all[4], all.size() == columns ? all[5] : all[4]};
}

/// Whether the columns mean what they must: the time of a load in cycles follows from the others.
/// Times have one decimal, 5.7 ms at the least.
bool is_consistent(const LatencyRow& row) {
  constexpr double tolerance = 0.1;
  const double cycles = row.ms * 1e-3 / row.loads * row.mhz * hertz_per_mhz;
  return std::fabs(cycles / row.mean_cycles - 1.0) < tolerance;
}

bool is_gpu_latency(const Document& document) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty() || lines.line().starts_with(clock_start)) continue;
    const std::optional<LatencyRow> row = latency_row(lines.line());
    return row && is_consistent(*row);
  }
  return false;
}

std::vector<Run> read_gpu_latency(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, "gpu-latency", gpu_latency);
  ProbeResult& result = result_of(run, "latency");
  double first_mhz = 0.0;
  bool is_one_clock = true;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty() || lines.line().starts_with(clock_start)) continue;
    const std::optional<LatencyRow> row = latency_row(lines.line());
    if (!row) lines.refuse_instead_of("loads, MHz, KiB, ms and cycles");
    if (first_mhz == 0.0) first_mhz = row->mhz;
    is_one_clock = is_one_clock && row->mhz == first_mhz;
    const double hertz = hints.clock_hertz > 0.0 ? hints.clock_hertz : row->mhz * hertz_per_mhz;
    result.points.push_back(latency_point(series_or(hints, "global"), row->kibibytes * kibi,
                                          row->cycles * ns_per_second / hertz, lines));
  }
  if (is_one_clock) set_clock(run, first_mhz * hertz_per_mhz);
  return {std::move(run)};
}

// gpu-cache, gpu-l2-cache and cuda-memcpy

/// How a tool writes a rate: the units of its row, the size first, then the time and the others.
struct RateTool {
  std::string_view tool;
  const Format& format;
  std::string_view device;   // word before the number of a device; empty: all rows are of one
  std::string_view heading;  // beginning of the line above the rows; empty: there is none
  std::array<std::string_view, 4> units;
  std::string_view expected;
  std::string_view probe;
  Point (*point)(double bytes, const ImportHints&);
};

Point read_point(double bytes, const ImportHints& hints) {
  Point point;
  point.series = series_or(hints, "read");
  point.parameters.set("working_set_bytes", static_cast<std::int64_t>(bytes));
  return point;
}

Point copy_point(double bytes, const ImportHints&) {
  Point point;
  point.series = "to-device-pinned";
  point.parameters = {{"transfer_bytes", static_cast<std::int64_t>(bytes)},
                      {"direction", std::string("to-device")},
                      {"way", std::string("pinned")},
                      {"timer", std::string(to_word(Timer::imported))}};
  return point;
}

// In gpu-benches' caches all units read one set.
constexpr RateTool cache_tool{"gpu-cache",
                              gpu_cache,
                              "",
                              "data set",
                              {"kB", "ms", "%", "GB/s"},
                              "a size in kB, ms, % and GB/s",
                              "bandwidth",
                              read_point};
constexpr RateTool copy_tool{"cuda-memcpy",
                             cuda_memcpy,
                             "Device:",
                             "",
                             {"kB", "ms", "GB/s", "%"},
                             "a device, kB, ms, GB/s and %",
                             "transfer",
                             copy_point};

struct Amount {
  double number;
  std::string_view unit;
};

/// The numbers of a line with their units, with or without a blank between the two: "5ms", "64 kB".
/// Nothing where a word is neither.
std::optional<std::vector<Amount>> amounts_in(std::string_view line) {
  std::vector<Amount> amounts;
  for (const std::string_view word : split_words(line, " \t")) {
    double number = 0.0;
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, number);
    if (error == std::errc{} && std::isfinite(number)) {
      amounts.push_back({number, word.substr(static_cast<std::size_t>(rest - word.data()))});
    } else if (!amounts.empty() && amounts.back().unit.empty()) {
      amounts.back().unit = word;
    } else {
      return std::nullopt;
    }
  }
  return amounts;
}

struct RateRow {
  int device{0};
  double kibibytes{0.0};
  double gigabytes_per_second{0.0};
};

/// The row in the line; nothing where it is none.
std::optional<RateRow> rate_row(std::string_view line, const RateTool& tool) {
  constexpr double max_devices = 1024.0;
  if (!line.starts_with(tool.device)) return std::nullopt;
  const std::optional<std::vector<Amount>> amounts = amounts_in(line.substr(tool.device.size()));
  if (!amounts) return std::nullopt;
  RateRow row;
  std::size_t at = 0;
  if (!tool.device.empty()) {
    const Amount device = amounts->empty() ? Amount{-1.0, {}} : (*amounts)[at++];
    row.device = static_cast<int>(std::clamp(device.number, 0.0, max_devices - 1.0));
    if (!device.unit.empty() || device.number != row.device) return std::nullopt;
  }
  // The last of the sizes is the working set.
  const auto is_size = [&](std::size_t i) {
    return i < amounts->size() && (*amounts)[i].unit == tool.units.front();
  };
  while (is_size(at + 1)) ++at;
  for (const std::string_view unit : tool.units) {
    if (at == amounts->size() || (*amounts)[at].unit != unit) return std::nullopt;
    const double number = (*amounts)[at++].number;
    if (unit == "kB") row.kibibytes = number;
    if (unit == "GB/s") row.gigabytes_per_second = number;
  }
  const bool has_numbers = row.kibibytes > 0.0 && row.gigabytes_per_second > 0.0;
  return has_numbers ? std::optional(row) : std::nullopt;
}

bool is_heading(std::string_view line, const RateTool& tool) {
  return !tool.heading.empty() && line.starts_with(tool.heading);
}

template <const RateTool& tool>
bool is_rates(const Document& document) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty()) continue;
    return is_heading(lines.line(), tool) || rate_row(lines.line(), tool).has_value();
  }
  return false;
}

template <const RateTool& tool>
std::vector<Run> read_rates(const Document& document, const ImportHints& hints) {
  constexpr double max_kibibytes = 1e12;
  constexpr double max_rate = 1e6;
  std::map<int, Run> runs;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty() || is_heading(lines.line(), tool)) continue;
    const std::optional<RateRow> row = rate_row(lines.line(), tool);
    if (!row) lines.refuse_instead_of(tool.expected);
    if (row->kibibytes < 1.0 || row->kibibytes > max_kibibytes ||
        row->gigabytes_per_second > max_rate) {
      lines.refuse("expected a size from 1 to 10^12 kB and a bandwidth up to 10^6 GB/s");
    }
    const auto [run, is_new] = runs.try_emplace(row->device);
    if (is_new) run->second = imported_run(hints, tool.tool, tool.format);
    run->second.device.index = row->device;
    Point point = tool.point(row->kibibytes * kibi, hints);
    point.facts.set(imported_bytes_per_second, row->gigabytes_per_second * 1e9);
    result_of(run->second, tool.probe).points.push_back(std::move(point));
  }
  if (runs.empty()) {
    throw RunFormatError("document: expected a size and a bandwidth below the heading, found none");
  }
  std::vector<Run> all;
  all.reserve(runs.size());
  for (auto& [device, run] : runs) all.push_back(std::move(run));
  return all;
}

// lat_mem_rd: every stride is a run, since latency by working set differs between them

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

bool is_lat_mem_rd(const Document& document) {
  for (Lines lines(document.text); lines.next();) {
    if (stride_in(lines.line())) return true;
  }
  return false;
}

std::vector<Run> read_lat_mem_rd(const Document& document, const ImportHints& hints) {
  std::vector<Run> runs;
  std::vector<std::int64_t> strides;
  bool is_in_block = false;
  for (Lines lines(document.text); lines.next();) {
    const std::string_view line = lines.line();
    if (const std::optional<std::int64_t> stride = stride_in(line)) {
      runs.push_back(imported_run(hints, "lat_mem_rd", lat_mem_rd));
      runs.back().device.index = static_cast<int>(runs.size()) - 1;
      strides.push_back(*stride);
      is_in_block = true;
      continue;
    }
    const std::optional<std::vector<double>> numbers = numbers_in(line);
    const bool is_pair = numbers && numbers->size() == 2;
    const bool begins_with_digit = !line.empty() && line.front() >= '0' && line.front() <= '9';
    if (is_in_block && !is_pair && begins_with_digit) {
      lines.refuse_instead_of("a size in MiB and a latency in ns");
    }
    // Other results may follow after a blank line, and have pairs of their own.
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

// Chips and Cheese

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

bool is_chips_and_cheese(const Document& document) {
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
  // By "1048576,0.000000" the tool says that a launch failed.
  const bool has_failed = size && words[1].find_first_not_of("0.") == std::string_view::npos;
  if (has_failed) {
    Point point = latency_point(series, *size * kibi, 1.0, at);
    point.facts = {};
    point.failure = "the tool reports no time";
    return point;
  }
  if (!at.line().empty() && !is_prose(at.line())) {
    at.refuse_instead_of("a size in KiB and a latency in ns");
  }
  return std::nullopt;
}

std::vector<Run> read_chips_and_cheese(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, "", chips_and_cheese);
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
  return {std::move(run)};
}

}  // namespace

const Format gpu_latency{.name = "gpu-latency",
                         .tool = "gpu-latency",
                         .uses = Uses::clock_and_series,
                         .recognises = is_gpu_latency,
                         .read = read_gpu_latency};
const Format gpu_cache{.name = "gpu-cache",
                       .tool = "gpu-cache",
                       .uses = Uses::clock_and_series,
                       .recognises = is_rates<cache_tool>,
                       .read = read_rates<cache_tool>};
const Format cuda_memcpy{.name = "cuda-memcpy",
                         .tool = "cuda-memcpy",
                         .recognises = is_rates<copy_tool>,
                         .read = read_rates<copy_tool>};
const Format lat_mem_rd{.name = "lat_mem_rd",
                        .tool = "lat_mem_rd",
                        .uses = Uses::clock_and_series,
                        .recognises = is_lat_mem_rd,
                        .read = read_lat_mem_rd};
const Format chips_and_cheese{.name = "chips-and-cheese",
                              .tool = "Chips and Cheese's latency tests",
                              .uses = Uses::clock_and_series,
                              .recognises = is_chips_and_cheese,
                              .read = read_chips_and_cheese};

}  // namespace clprobe::import::rows
