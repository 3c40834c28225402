// SPDX-License-Identifier: Apache-2.0
#include "hostile/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "compare/api/compare.hpp"
#include "present/api/report.hpp"

namespace clprobe::hostile {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string around(std::string_view text, std::size_t place) {
  constexpr std::size_t context = 40;
  const std::size_t begin = place - std::min(place, context);
  return std::string(text.substr(begin, 2 * context));
}

/// A word of its own, and no part of "inflight" or "nano".
std::size_t find_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    if (begins && (end == text.size() || !is_letter(text[end]))) return at;
  }
  return text.npos;
}

/// "-1.00 s", but not the range "1-2 s".
bool is_below_zero(std::string_view text, std::size_t unit) {
  std::size_t begin = unit;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  if (begin == unit || begin == 0 || text[begin - 1] != '-') return false;
  return begin == 1 || !is_digit(text[begin - 2]);
}

std::string find_in_text(std::string_view text) {
  for (const std::string_view word : {"inf", "nan", "Infinity", "NaN"}) {
    if (const auto at = find_word(text, word); at != text.npos) return around(text, at);
  }
  constexpr std::array units{" ns", " µs", " ms", " s", " B/s", " kB/s", " MB/s", " GB/s", " TB/s"};
  for (const std::string_view unit : units) {
    for (auto at = text.find(unit); at != text.npos; at = text.find(unit, at + 1)) {
      if (is_below_zero(text, at)) return around(text, at);
    }
  }
  return {};
}

}  // namespace

std::vector<Shown> show_reports(std::span<const Run> runs, bool with_page) {
  std::vector<Shown> shown;
  TableStyle wide;
  wide.all_points = true;
  wide.unicode = true;
  wide.width = 200;
  shown.push_back({"wide table", formats::table.runs(runs, wide)});
  std::set<std::string> probes;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) probes.insert(result.probe);
  }
  for (const Writer* const each : writers()) {
    if (each->name == "html" && !with_page) continue;
    if (!each->is_of_one_probe) {
      if (each->runs == nullptr) continue;
      shown.push_back({std::string(each->name), each->runs(runs, {})});
      continue;
    }
    for (const std::string& probe : probes) {
      shown.push_back(
          {fmt::format("{} of {}", each->name, probe), each->runs(runs, {.probe = probe})});
    }
  }
  return shown;
}

std::vector<Shown> show_comparisons(const Run& baseline, std::span<const Run> runs,
                                    bool with_page) {
  constexpr double threshold = 0.03;
  std::vector<RunDigest> digests{digest(baseline, "baseline.json")};
  for (const Run& run : runs) digests.push_back(digest(run, "new.json"));
  const Comparison comparison = compare(digests, 0, threshold);
  std::vector<Shown> shown;
  TableStyle wide;
  wide.all_points = true;
  shown.push_back({"wide comparison", formats::table.comparison(comparison, digests, wide)});
  for (const Writer* const each : writers()) {
    if (each->comparison == nullptr || (each->name == "html" && !with_page)) continue;
    shown.push_back(
        {fmt::format("comparison {}", each->name), each->comparison(comparison, digests, {})});
  }
  return shown;
}

std::string find_nonsense(std::string_view text) {
  constexpr std::string_view script = "<script";
  constexpr std::string_view end_of_script = "</script>";
  while (true) {
    const std::size_t begin = std::min(text.find(script), text.size());
    std::string found = find_in_text(text.substr(0, begin));
    if (!found.empty() || begin == text.size()) return found;
    const std::size_t end = text.find(end_of_script, begin);
    if (end == text.npos) return {};
    text.remove_prefix(end);
  }
}

}  // namespace clprobe::hostile
