// SPDX-License-Identifier: Apache-2.0
// cuda-memcpy of RRZE's gpu-benches: a row for each device and size, from pinned memory to it.
//
//   Device: 0          128kB     0.03ms    4.02GB/s   115.61%
//
// kB are KiB, GB 10^9 bytes, and the last number is how far apart its runs are.
#include <map>

#include "clprobe/estimate.hpp"
#include "import/curve.hpp"
#include "import/formats.hpp"
#include "import/lines.hpp"

namespace clprobe::import::cuda_memcpy {

extern const Format format;

namespace {

constexpr std::string_view tool = "cuda-memcpy";

struct Row {
  int device{0};
  double kibibytes{0.0};
  double gigabytes_per_second{0.0};
};

std::optional<double> number_before(std::string_view word, std::string_view unit) {
  if (!word.ends_with(unit)) return std::nullopt;
  word.remove_suffix(unit.size());
  return positive_number(word);
}

/// Times and spreads may be rounded to none.
bool is_number_before(std::string_view word, std::string_view unit) {
  return number_before(word, unit) || word == "0.00" + std::string(unit);
}

/// The number of a device: positive_number() knows no 0.
std::optional<int> device_of(std::string_view word) {
  constexpr double max_devices = 1024.0;
  if (word == "0") return 0;
  const std::optional<double> number = positive_number(word);
  const bool is_one = number && *number < max_devices && *number == static_cast<int>(*number);
  return is_one ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<Row> row_of(std::string_view line) {
  constexpr std::size_t words_of_row = 6;
  const std::vector<std::string_view> words = split_words(line, " \t");
  if (words.size() != words_of_row || words[0] != "Device:") return std::nullopt;
  const std::optional<int> device = device_of(words[1]);
  const std::optional<double> size = number_before(words[2], "kB");
  const std::optional<double> rate = number_before(words[4], "GB/s");
  const bool is_row =
      device && size && is_number_before(words[3], "ms") && rate && is_number_before(words[5], "%");
  return is_row ? std::optional(Row{*device, *size, *rate}) : std::nullopt;
}

bool recognises(const Document& document) {
  if (document.json) return false;
  for (Lines lines(document.text); lines.next();) {
    if (!lines.line().empty()) return row_of(lines.line()).has_value();
  }
  return false;
}

Point point_of(const Row& row) {
  Point point;
  point.series = "to-device-pinned";
  point.parameters = {{"transfer_bytes", static_cast<std::int64_t>(row.kibibytes * kibi)},
                      {"direction", std::string("to-device")},
                      {"way", std::string("pinned")},
                      {"timer", std::string(to_word(Timer::imported))}};
  point.facts.set(imported_bytes_per_second, row.gigabytes_per_second * 1e9);
  return point;
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  constexpr double max_kibibytes = 1e12;
  constexpr double max_rate = 1e6;
  std::map<int, Run> runs;
  for (Lines lines(document.text); lines.next();) {
    if (lines.line().empty()) continue;
    const std::optional<Row> row = row_of(lines.line());
    if (!row) lines.refuse_instead_of("a device, kB, ms, GB/s and %");
    if (row->kibibytes < 1.0 || row->kibibytes > max_kibibytes ||
        row->gigabytes_per_second > max_rate) {
      lines.refuse("expected a size from 1 to 10^12 kB and a bandwidth up to 10^6 GB/s");
    }
    const auto [run, is_new] = runs.try_emplace(row->device);
    if (is_new) {
      run->second = imported_run(hints, tool, format);
      run->second.device.index = row->device;
    }
    result_of(run->second, "transfer").points.push_back(point_of(*row));
  }
  std::vector<Run> all;
  all.reserve(runs.size());
  for (auto& [device, run] : runs) all.push_back(std::move(run));
  return all;
}

}  // namespace

const Format format{.name = "cuda-memcpy", .tool = tool, .recognises = recognises, .read = read};

}  // namespace clprobe::import::cuda_memcpy
