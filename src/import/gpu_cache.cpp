// SPDX-License-Identifier: Apache-2.0
// gpu-cache and gpu-l2-cache of RRZE's gpu-benches: a header, and a row for each size, which the
// second one writes behind the part that a block reads:
//
//      data set   exec time     spread        Eff. bw       DRAM read ...
//          64 kB         5ms       0.2%   13873.4 GB/s         0 GB/s ...
//         512 kB      1536 kB      4ms       1.0%   13526.6 GB/s ...
//
// In both all units read one set; kB are KiB, and GB 10^9 bytes.
#include "clprobe/estimate.hpp"
#include "import/curve.hpp"
#include "import/formats.hpp"

namespace clprobe::import::gpu_cache {

extern const Format format;

namespace {

struct Row {
  double kibibytes;
  double gigabytes_per_second;
};

/// The number before a unit that stands beside it: "5ms".
std::optional<double> number_before(std::string_view word, std::string_view unit) {
  if (!word.ends_with(unit)) return std::nullopt;
  word.remove_suffix(unit.size());
  return word == "0" || word == "0.0" ? std::optional(0.0) : positive_number(word);
}

/// The row in the line; nothing where it is none.
std::optional<Row> row_of(std::string_view line) {
  constexpr std::size_t words_of_size = 2;
  constexpr std::size_t words_behind = 4;
  const std::vector<std::string_view> words = split_words(line, " \t");
  std::size_t at = 0;
  std::optional<double> size;
  // The last of the sizes is the set.
  while (at + words_of_size <= words.size() && words[at + 1] == "kB") {
    size = positive_number(words[at]);
    if (!size) return std::nullopt;
    at += words_of_size;
  }
  if (!size || words.size() < at + words_behind) return std::nullopt;
  const bool has_time = number_before(words[at], "ms") && number_before(words[at + 1], "%");
  const std::optional<double> rate = positive_number(words[at + 2]);
  if (!has_time || !rate || words[at + 3] != "GB/s") return std::nullopt;
  return Row{*size, *rate};
}

bool is_heading(std::string_view line) {
  return line.starts_with("data set") && line.find("Eff. bw") != std::string_view::npos;
}

bool recognises(const Document& document) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty()) continue;
    return is_heading(lines.line()) || row_of(lines.line()).has_value();
  }
  return false;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  constexpr double max_kibibytes = 1e15;
  constexpr double max_rate = 1e12;
  Run run = imported_run(hints, "gpu-cache", format);
  ProbeResult& result = result_of(run, "bandwidth");
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty() || is_heading(lines.line())) continue;
    const std::optional<Row> row = row_of(lines.line());
    if (!row) lines.refuse_instead_of("a size in kB, ms, % and GB/s");
    if (row->kibibytes < 1.0 || row->kibibytes > max_kibibytes ||
        row->gigabytes_per_second > max_rate) {
      lines.refuse("expected a size from 1 to 10^15 kB and a bandwidth up to 10^12 GB/s");
    }
    Point point;
    point.series = series_or(hints, "read");
    point.parameters.set("working_set_bytes", static_cast<std::int64_t>(row->kibibytes * kibi));
    point.facts.set(imported_bytes_per_second, row->gigabytes_per_second * 1e9);
    result.points.push_back(std::move(point));
  }
  if (result.points.empty()) {
    throw RunFormatError("document: expected a size and a bandwidth below the heading, found none");
  }
  if (hints.clock_hertz > 0.0) set_clock(run, hints.clock_hertz);
  return {std::move(run)};
}

}  // namespace

const Format format{.name = "gpu-cache",
                    .tool = "gpu-cache",
                    .uses = Uses::clock_and_series,
                    .recognises = recognises,
                    .read = read};

}  // namespace clprobe::import::gpu_cache
