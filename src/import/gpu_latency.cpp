// SPDX-License-Identifier: Apache-2.0
// gpu-latency of RRZE's gpu-benches: no header, a row for each size:
//
//   clock: 2490 2490 2490 ...
//     1000000  2490        1     14.5    36.0                        loads, MHz, KiB, ms, cycles
//      100000  2096      2.9      5.7   119.8 116.0 116.0 128.0      ... mean, median and two
//      bounds
//
// The mean of few runs follows its outliers, so that the median counts where there is one.
#include <cmath>

#include "import/curve.hpp"
#include "import/formats.hpp"

namespace clprobe::import::gpu_latency {

extern const Format format;

namespace {

constexpr std::string_view clock_start = "clock:";
constexpr double hertz_per_mhz = 1e6;

struct Row {
  double loads;
  double mhz;
  double kibibytes;
  double ms;
  double mean_cycles;
  double cycles;  // the median where there is one
};

std::optional<Row> row_of(std::string_view line) {
  constexpr std::size_t old_columns = 5;
  constexpr std::size_t columns = 8;
  const std::optional<std::vector<double>> numbers = numbers_in(line);
  if (!numbers || (numbers->size() != old_columns && numbers->size() != columns)) {
    return std::nullopt;
  }
  const std::vector<double>& all = *numbers;
  return Row{all[0], all[1], all[2], all[3], all[4], all.size() == columns ? all[5] : all[4]};
}

/// Whether the columns mean what they must: the time of a load in cycles follows from the others.
/// Times have one decimal, 5.7 ms at the least.
bool is_consistent(const Row& row) {
  constexpr double tolerance = 0.1;
  const double cycles = row.ms * 1e-3 / row.loads * row.mhz * hertz_per_mhz;
  return std::fabs(cycles / row.mean_cycles - 1.0) < tolerance;
}

bool recognises(const Document& document) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty() || lines.line().starts_with(clock_start)) continue;
    const std::optional<Row> row = row_of(lines.line());
    return row && is_consistent(*row);
  }
  return false;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  Run run = imported_run(hints, "gpu-latency", format);
  ProbeResult& result = result_of(run, "latency");
  double first_mhz = 0.0;
  bool is_one_clock = true;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty() || lines.line().starts_with(clock_start)) continue;
    const std::optional<Row> row = row_of(lines.line());
    if (!row) lines.refuse_instead_of("loads, MHz, KiB, ms and cycles");
    if (first_mhz == 0.0) first_mhz = row->mhz;
    is_one_clock = is_one_clock && row->mhz == first_mhz;
    const double hertz = hints.clock_hertz > 0.0 ? hints.clock_hertz : row->mhz * hertz_per_mhz;
    result.points.push_back(latency_point(series_or(hints, "global"), row->kibibytes * kibi,
                                          row->cycles * ns_per_second / hertz, lines));
  }
  if (hints.clock_hertz > 0.0) {
    set_clock(run, hints.clock_hertz);
  } else if (is_one_clock) {
    set_clock(run, first_mhz * hertz_per_mhz);
  }
  return {std::move(run)};
}

}  // namespace

const Format format{.name = "gpu-latency",
                    .tool = "gpu-latency",
                    .uses = Uses::clock_and_series,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::gpu_latency
