// SPDX-License-Identifier: Apache-2.0
// Benchmarks that print one row per working set, with an example of each output.
//
// RRZE's gpu-benches (kB are KiB, GB are 10^9 bytes):
//   gpu-latency: loads, MHz, KiB, ms, cycles; later versions append the median and two bounds
//     1000000  2490        1     14.5    36.0
//   gpu-cache; gpu-l2-cache also prints the bytes that a block reads, before the working set
//          64 kB         5ms       0.2%   13873.4 GB/s         0 GB/s ...
//         512 kB      1536 kB      4ms       1.0%   13526.6 GB/s ...
//   cuda-memcpy, from pinned memory to each device
//     Device: 0          128kB     0.03ms    4.02GB/s   115.61%
// lat_mem_rd of lmbench, by itself or in a file of all lmbench results (MiB and ns):
//     "stride=64
//     0.00049 1.360
// Chips and Cheese's MemoryLatency (of a CPU) and GpuMemLatency (by OpenCL), in KiB and ns:
//     Region,Latency (ns)
//     2,1.500000
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/api/estimate.hpp"
#include "import/formats.hpp"

namespace clprobe::import::rows {
namespace {

// Rows of gpu-latency.

constexpr double hertz_per_mhz = 1e6;

struct LatencyRow {
  double mhz;
  double kibibytes;
  double cycles;
  bool is_consistent;  // true if the columns give equal times of a load, within 10 %
};

std::optional<LatencyRow> latency_row(std::string_view line) {
  const auto old_form = numbers_in(line, "# # # # #");
  const auto row = old_form ? old_form : numbers_in(line, "# # # # # # # #");
  if (!row || std::ranges::min(*row) <= 0.0) return std::nullopt;
  const std::vector<double>& all = *row;
  constexpr double tolerance = 0.1;  // relative; times have one decimal and are at least 5.7 ms
  const double cycles = all[3] * 1e-3 / all[0] * all[1] * hertz_per_mhz;
  return LatencyRow{.mhz = all[1],
                    .kibibytes = all[2],
                    // Uses the median if known, since outliers affect the mean of few runs.
                    .cycles = old_form ? all[4] : all[5],
                    .is_consistent = std::fabs(cycles / all[4] - 1.0) < tolerance};
}

bool is_no_latency_row(std::string_view line) { return line.empty() || line.starts_with("clock:"); }

bool is_gpu_latency(const Document& document) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (is_no_latency_row(lines.line())) continue;
    const std::optional<LatencyRow> row = latency_row(lines.line());
    return row && row->is_consistent;
  }
  return false;
}

std::vector<Run> read_gpu_latency(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, "gpu-latency", gpu_latency);
  ProbeResult& result = result_of(run, "latency");
  double first_mhz = 0.0;
  bool is_one_clock = true;
  for (Lines lines(document.text); lines.next();) {
    if (is_no_latency_row(lines.line())) continue;
    const std::optional<LatencyRow> row = latency_row(lines.line());
    if (!row) lines.refuse_instead_of("a number of loads, and numbers in MHz, KiB, ms and cycles");
    if (first_mhz == 0.0) first_mhz = row->mhz;
    is_one_clock = is_one_clock && row->mhz == first_mhz;
    const double hertz = hints.clock_hertz > 0.0 ? hints.clock_hertz : row->mhz * hertz_per_mhz;
    result.points.push_back(latency_point(series_or(hints, "global"), row->kibibytes * kibi,
                                          row->cycles * ns_per_second / hertz, lines));
  }
  if (is_one_clock) set_clock(run, first_mhz * hertz_per_mhz);
  return {std::move(run)};
}

// Rows of gpu-cache, gpu-l2-cache and cuda-memcpy.

/// A tool that prints rows of a size and a rate. A row may begin with a device index.
struct RateTool {
  const Format& format;
  std::string_view heading;                  // beginning of the line before the rows; may be empty
  std::array<std::string_view, 2> patterns;  // forms of a row (see `numbers_in`)
  bool has_device;
  // Position of the rate, counted back from the last number of a row, which is 0.
  std::size_t rate_from_end;
  std::string_view expected;
  std::string_view probe;
  Point (*point)(double bytes, const ImportHints&);
};

// All compute units read one working set, whose size is the last size of a row.
constexpr RateTool cache_tool{.format = gpu_cache,
                              .heading = "data set",
                              .patterns = {"# kB # ms # % # GB/s *", "# kB # kB # ms # % # GB/s *"},
                              .has_device = false,
                              .rate_from_end = 0,
                              .expected = "numbers in kB, ms, % and GB/s",
                              .probe = "bandwidth",
                              .point = [](double bytes, const ImportHints& hints) {
                                Point point;
                                point.series = series_or(hints, "read");
                                point.parameters.set("working_set_bytes",
                                                     static_cast<std::int64_t>(bytes));
                                return point;
                              }};
constexpr RateTool copy_tool{.format = cuda_memcpy,
                             .heading = "",
                             .patterns = {"Device: # # kB # ms # GB/s # %"},
                             .has_device = true,
                             .rate_from_end = 1,
                             .expected = "a device and numbers in kB, ms, GB/s and %",
                             .probe = "transfer",
                             .point = [](double bytes, const ImportHints&) {
                               Point point;
                               point.series = "to-device-pinned";
                               point.parameters = {
                                   {"transfer_bytes", static_cast<std::int64_t>(bytes)},
                                   {"direction", std::string("to-device")},
                                   {"way", std::string("pinned")},
                                   {"timer", std::string(to_word(Timer::imported))}};
                               return point;
                             }};

struct RateRow {
  int device;
  double kibibytes;
  double gigabytes_per_second;
};

/// Returns the row in a line; nothing if the line has another form.
std::optional<RateRow> rate_row(std::string_view line, const RateTool& tool) {
  constexpr double max_devices = 1024.0;
  constexpr std::size_t behind_size = 3;  // the time, the rate and another number follow the size
  for (const std::string_view pattern : tool.patterns) {
    const auto numbers = numbers_in(line, pattern);
    if (!numbers || numbers->empty()) continue;
    const double device = tool.has_device ? numbers->front() : 0.0;
    const std::size_t count = numbers->size();
    const RateRow row{.device = static_cast<int>(std::clamp(device, 0.0, max_devices - 1.0)),
                      .kibibytes = (*numbers)[count - 1 - behind_size],
                      .gigabytes_per_second = (*numbers)[count - 1 - tool.rate_from_end]};
    if (device != row.device || row.kibibytes <= 0.0 || row.gigabytes_per_second <= 0.0) break;
    return row;
  }
  return std::nullopt;
}

bool is_heading(std::string_view line, const RateTool& tool) {
  return !tool.heading.empty() && line.starts_with(tool.heading);
}

bool is_rates(const Document& document, const RateTool& tool) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty()) continue;
    return is_heading(lines.line(), tool) || rate_row(lines.line(), tool).has_value();
  }
  return false;
}

std::vector<Run> read_rates(const Document& document, const ImportHints& hints,
                            const RateTool& tool) {
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
    if (is_new) run->second = imported_run(hints, tool.format.tool, tool.format);
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

// Rows of lat_mem_rd. Each stride gives a run of its own, since latency depends on the stride.

/// Returns the stride of the block that begins in this line; nothing for other lines.
std::optional<std::int64_t> stride_in(std::string_view line) {
  constexpr double max_stride = 1e9;
  const auto stride = numbers_in(line, "\"stride=#");
  if (!stride || stride->front() < 1.0 || stride->front() > max_stride ||
      stride->front() != std::floor(stride->front())) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(stride->front());
}

/// Returns a printed size in bytes. Sizes in MiB have five decimals, which are exact to 10 bytes.
/// The result is rounded to cache lines of 64 bytes, since lat_mem_rd measures whole lines.
double bytes_of(double mebibytes) {
  constexpr double line_bytes = 64.0;
  return std::max(1.0, std::round(mebibytes * mebi / line_bytes)) * line_bytes;
}

bool is_lat_mem_rd(const Document& document) {
  return has_line(document, [](std::string_view line) { return stride_in(line).has_value(); });
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
    const auto pair = numbers_in(line, "# #");
    const bool is_pair = pair && std::ranges::min(*pair) > 0.0;
    const bool begins_with_digit = !line.empty() && line.front() >= '0' && line.front() <= '9';
    if (is_in_block && !is_pair && begins_with_digit) {
      lines.refuse_instead_of("a size in MiB and a latency in ns");
    }
    // After a blank line, other results may follow, which may also contain pairs of numbers.
    is_in_block = is_in_block && is_pair;
    if (!is_in_block) continue;
    Point point =
        latency_point(series_or(hints, "global"), bytes_of((*pair)[0]), (*pair)[1], lines);
    point.parameters.set("step_bytes", strides.back());
    result_of(runs.back(), "latency").points.push_back(std::move(point));
  }
  for (std::size_t i = 0; runs.size() > 1 && i < runs.size(); ++i) {
    runs[i].device.name += fmt::format(", stride {}", strides[i]);
  }
  std::erase_if(runs, [](const Run& run) { return run.results.empty(); });
  if (runs.empty()) {
    throw RunFormatError(
        "document: expected a size and a latency after lat_mem_rd's line '\"stride=N', found none");
  }
  return runs;
}

// Rows of Chips and Cheese's tools.

struct Heading {
  std::string_view start;
  std::string_view tool;
  std::string_view series;
};

// GpuMemLatency passes constant memory as an argument of its kernel.
constexpr std::array headings{
    Heading{"Region,Latency (ns)", "MemoryLatency", "global"},
    Heading{"Sattolo, global memory", "GpuMemLatency", "global"},
    Heading{"Sattolo, constant memory", "GpuMemLatency", "constant-argument"}};

const Heading* heading_in(std::string_view line) {
  const auto* const found = std::ranges::find_if(
      headings, [&](const Heading& each) { return line.starts_with(each.start); });
  return found == headings.end() ? nullptr : found;
}

bool is_chips_and_cheese(const Document& document) {
  return has_line(document, [](std::string_view line) { return heading_in(line) != nullptr; });
}

/// Returns the point in a line; nothing for a blank line or a remark. Throws for other lines.
std::optional<Point> point_in(const Lines& at, const std::string& series) {
  auto numbers = numbers_in(at.line(), "# #");
  // Rows with performance counters have more than two columns.
  if (!numbers) numbers = numbers_in(at.line(), "# # *");
  if (numbers && (*numbers)[0] > 0.0 && (*numbers)[1] >= 0.0) {
    // For a failed launch, the tool prints a latency of 0: "1048576,0.000000".
    const bool has_failed = (*numbers)[1] == 0.0;
    Point point = latency_point(series, (*numbers)[0] * kibi, (*numbers)[1], at);
    if (has_failed) point.facts = {};
    if (has_failed) point.failure = "the tool reports no time";
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
const Format gpu_cache{
    .name = "gpu-cache",
    .tool = "gpu-cache",
    .uses = Uses::clock_and_series,
    .recognises = [](const Document& document) { return is_rates(document, cache_tool); },
    .read = [](const Document& document,
               const ImportHints& hints) { return read_rates(document, hints, cache_tool); }};
const Format cuda_memcpy{
    .name = "cuda-memcpy",
    .tool = "cuda-memcpy",
    .recognises = [](const Document& document) { return is_rates(document, copy_tool); },
    .read = [](const Document& document,
               const ImportHints& hints) { return read_rates(document, hints, copy_tool); }};
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
