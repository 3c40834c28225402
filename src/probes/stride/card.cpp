// SPDX-License-Identifier: Apache-2.0
// The bandwidth of each operation, and the pattern that reaches it.
#include "probes/stride/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/card_parts.hpp"
#include "probes/stride/curve.hpp"

namespace clprobe::stride {
namespace {

/// The pattern by the class of a curve; empty where no rule fits.
std::string_view pattern_of(const Finding* kind) {
  if (kind == nullptr) return {};
  const std::string_view word = kind->label;
  if (word == word_in(class_words, CurveClass::gpu_coalescing)) {
    return "coalesced";
  }
  if (word == word_in(class_words, CurveClass::cpu_serial)) {
    return "one contiguous run per work-item";
  }
  if (word == word_in(class_words, CurveClass::flat)) return "at any stride";
  return {};
}

/// The fastest series of an operation: "read", of "read int" and "read int4".
struct Best {
  std::string operation{};
  std::string type{};
  double bandwidth{0.0};
  std::string_view pattern{};
};

std::vector<Best> best_of(const ProbeResult& result) {
  std::vector<Best> all;
  for (const std::string& series : series_in(result.findings)) {
    const Finding* const bandwidth = find_value(result.findings, "bandwidth", series);
    if (bandwidth == nullptr) continue;
    const std::size_t space = std::min(series.find(' '), series.size());
    Best one{series.substr(0, space), series.substr(std::min(space + 1, series.size())),
             *bandwidth->value, pattern_of(find_finding(result.findings, "class", series))};
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Best& each) { return each.operation == one.operation; });
    if (found == all.end()) {
      all.push_back(std::move(one));
    } else if (one.bandwidth > found->bandwidth) {
      *found = std::move(one);
    }
  }
  return all;
}

/// "read 4.55 TB/s, copy 4.03 TB/s (int4, neighbours side by side)": what all have in common stands
/// once.
std::string text_of(const std::vector<Best>& all) {
  const auto share = [&](auto part) {
    return std::all_of(all.begin(), all.end(),
                       [&](const Best& each) { return each.*part == all.front().*part; });
  };
  const bool is_one_type = share(&Best::type);
  const bool is_one_pattern = share(&Best::pattern);
  std::string text;
  for (const Best& each : all) {
    std::string own;
    if (!is_one_type) append(own, ", ", each.type);
    if (!is_one_pattern) append(own, ", ", each.pattern);
    append(text, ", ", fmt::format("{} {}", each.operation, format_rate(each.bandwidth)));
    if (!own.empty()) text += fmt::format(" ({})", own);
  }
  std::string common;
  if (is_one_type) append(common, ", ", all.front().type);
  if (is_one_pattern) append(common, ", ", all.front().pattern);
  return common.empty() ? text : fmt::format("{} ({})", text, common);
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  const std::vector<Best> all = best_of(result);
  if (!all.empty()) card.lines.push_back({"best stride", text_of(all)});
  for (const std::string& series : series_in(result.findings)) {
    card.titles.emplace(series, fmt::format("strided memory access: {}", series));
    const Finding* const bandwidth = find_value(result.findings, "bandwidth", series);
    if (bandwidth == nullptr) continue;
    std::string text = format_rate(*bandwidth->value);
    const std::string_view pattern = pattern_of(find_finding(result.findings, "class", series));
    if (!pattern.empty()) text += fmt::format(", {}", pattern);
    if (const Finding* const knee = find_value(result.findings, "knee", series)) {
      text += fmt::format(" from {} on", size_text(*knee->value));
    }
    if (const Finding* const sector = find_value(result.findings, "sector", series)) {
      text += fmt::format(", sectors of {}", size_text(*sector->value));
    }
    card.rows.push_back({series, std::move(text)});
  }
  return card;
}

}  // namespace clprobe::stride
