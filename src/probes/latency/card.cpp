// SPDX-License-Identifier: Apache-2.0
// The card of the probe `latency`: each level of global memory, the first of local memory, and a
// row for each other series.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/latency/latency.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::latency {

namespace {

constexpr std::string_view local_series = "local";

/// Returns the levels of a series in the order of their findings. `what` is the label of the
/// finding `step`.
std::vector<CardLevel> levels_of(const ProbeResult& result, std::string_view series) {
  std::vector<CardLevel> levels;
  std::vector<int> numbers;
  for (const Finding& finding : result.findings) {
    if (finding.series != series || !finding.level) continue;
    const auto known = std::find(numbers.begin(), numbers.end(), *finding.level);
    const auto i = static_cast<std::size_t>(known - numbers.begin());
    if (known == numbers.end()) {
      numbers.push_back(*finding.level);
      levels.push_back({.name = fmt::format("{} {}", series, *finding.level)});
    }
    CardLevel& level = levels[i];
    if (finding.name == "latency") level.latency = finding;
    if (finding.name == "cycles") level.cycles = finding;
    if (finding.name == "capacity") level.capacity = finding;
    if (finding.name == "step") level.what = finding.label;
  }
  return levels;
}

/// Returns true if the last level is memory: the largest working set is at least 4 times the last
/// cache.
bool is_memory_last(const std::vector<CardLevel>& levels) {
  if (levels.size() < 2) return false;
  constexpr double far = 4.0;
  const Finding& last = levels.back().capacity;
  const Finding& before = levels[levels.size() - 2].capacity;
  return !last.value && last.low && before.value && *last.low >= far * *before.value;
}

/// Describes a level that has no plateau or may not be a cache, by its label `step`.
void describe_level(CardLevel& level, const std::string& step) {
  if (!level.latency.value) {
    level.what = "no plateau";
  } else if (step == to_word(StepKind::cache_or_far)) {
    level.what = "or its near half";
    level.short_what = "or half";
  } else if (level.capacity.value) {
    level.what = "cache, or reach of a TLB";
    level.short_what = "cache or TLB";
    level.may_be_tlb = true;
  } else if (level.capacity.low) {
    level.what = "cache or memory";
  }
}

/// Names the levels "L1", "far L1", "level 2" (reach of a TLB) or "memory", and describes uncertain
/// levels. A "?" marks an uncertain number or kind.
void name_levels(std::vector<CardLevel>& levels) {
  const bool has_memory = is_memory_last(levels);
  int number = 0;
  bool is_sure = true;
  bool follows_half = false;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CardLevel& level = levels[i];
    const std::string step = std::exchange(level.what, {});
    if ((has_memory && i + 1 == levels.size()) || step == "memory") {  // imported label
      level.name = "memory";
    } else if (step == to_word(StepKind::translation)) {
      level.name = fmt::format("level {}", i + 1);
      level.what = "reach of a TLB";
      level.short_what = "TLB reach";
    } else {
      const bool is_cache = step == to_word(StepKind::cache);
      const bool is_half = step == to_word(StepKind::cache_or_far);
      is_sure = is_sure && (is_cache || is_half);
      const bool is_far = is_cache && follows_half;
      if (!is_far) ++number;
      level.name = fmt::format("{}L{}{}", is_far ? "far " : "", number, is_sure ? "" : "?");
      if (!is_cache) describe_level(level, step);
      if (is_far) {
        level.what = fmt::format("far half of L{}, or L{}", number, number + 1);
        level.short_what = fmt::format("or L{}", number + 1);
      }
      follows_half = is_half && !is_far;
      is_sure = is_sure && is_cache;
    }
  }
}

Bytes largest_set(const ProbeResult& result, std::string_view series) {
  std::int64_t largest = 0;
  for (const Point& point : result.points) {
    const bool is_measured = !point.samples.empty() || point.facts.find(imported_ns) != nullptr;
    if (point.series != series || !is_measured) continue;
    largest = std::max(largest, point.parameters.integer_or("working_set_bytes", 0));
  }
  return {static_cast<std::uint64_t>(largest)};
}

/// Adds the rise of the curve after the last level, as a level "beyond" without a plateau.
void add_beyond(Card& card, const ProbeResult& result, std::string_view series) {
  const Finding* const beyond = find_finding(result.findings, "beyond", series);
  if (beyond == nullptr || !beyond->value) return;
  CardLevel rest{.name = "beyond", .what = "rising, no plateau"};
  rest.memory = CardMemory::global;
  rest.latency.value = beyond->value;
  rest.latency.low = beyond->low;
  rest.latency.high = beyond->high;
  rest.latency.unit = beyond->unit;
  rest.latency.series = series;
  rest.capacity.low = static_cast<double>(largest_set(result, series).count);
  rest.capacity.unit = "bytes";
  card.levels.push_back(std::move(rest));
}

// Returns a row of levels: "14.3 ns to 2.04 KiB, 49.7 ns to > 63.9 KiB".
// With more than three levels, the row has only the first and the last level:
// "2.51 ns to 47.7 KiB, 2 more, 158 ns to > 128 MiB".
std::string row_of(const std::vector<CardLevel>& levels) {
  constexpr std::size_t max_levels = 3;
  std::string text;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels.size() > max_levels && i > 0 && i + 1 < levels.size()) {
      if (i == 1) append(text, ", ", fmt::format("{} more", levels.size() - 2));
      continue;
    }
    const CardLevel& level = levels[i];
    const Finding& size = level.capacity;
    const Finding& time = level.latency;
    std::string one = time.value ? format_seconds(*time.value)
                                 : format_seconds(time.low.value_or(0.0)) + " (no plateau)";
    if (size.value) one += " to " + size_text(*size.value);
    if (!size.value && size.low) one += " to > " + size_text(*size.low);
    append(text, ", ", one);
  }
  return text;
}

/// Returns "4 % of the latency in random order: prefetched".
std::string in_order_text(const Finding& in_order) {
  constexpr double surely_faster = 0.5;
  constexpr double hardly_faster = 0.9;
  if (!in_order.value) return in_order.reason;
  const double share = *in_order.value;
  return fmt::format("{:.0f} % of the latency in random order{}", 100.0 * share,
                     share <= surely_faster   ? ": prefetched"
                     : share >= hardly_faster ? ": not prefetched"
                                              : "");
}

/// Returns "; faster from 2 MiB on; 32 ns to 256 KiB, 44 ns". Parts without findings are left out.
std::string in_order_levels(const ProbeResult& result, std::string_view series) {
  std::string text;
  const Finding* const from = find_finding(result.findings, "in_order_from", series);
  if (from != nullptr && from->value) {
    text += fmt::format("; faster from {} on", size_text(*from->value));
  }
  if (const auto levels = levels_of(result, series); !levels.empty()) {
    text += "; " + row_of(levels);
  }
  return text;
}

/// Returns "a loop around each load adds 0.07 % to the latency".
std::string loop_text(const Finding& added) {
  if (!added.value) return added.reason;
  return fmt::format("a loop around each load adds {:.2g} % to the latency", 100.0 * *added.value);
}

/// Returns "; 12 % below L1", "; 2.1 times L1", "; like L1", "; same as global" or an empty string.
std::string beside_global_text(const Finding* ratio) {
  if (ratio == nullptr || !ratio->value) return {};
  if (ratio->label == alike_global) return "; same as global";
  constexpr double twice = 2.0;
  // An interval that contains 1 does not show a difference from L1.
  if (ratio->low.value_or(0.0) <= 1.0 && ratio->high.value_or(0.0) >= 1.0) return "; like L1";
  if (*ratio->value >= twice) return fmt::format("; {:.2g} times L1", *ratio->value);
  const double percent = 100.0 * (*ratio->value - 1.0);
  return fmt::format("; {:.2g} % {} L1", std::fabs(percent), percent < 0.0 ? "below" : "above");
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  for (const std::string& series : series_in(result.findings)) {
    if (const Finding* const in_order = find_finding(result.findings, "in_order", series)) {
      card.rows.push_back({series, in_order_text(*in_order) + in_order_levels(result, series)});
      continue;
    }
    if (const Finding* const added = find_finding(result.findings, "loop_overhead", series)) {
      card.rows.push_back({series, loop_text(*added)});
      continue;
    }
    std::vector<CardLevel> levels = levels_of(result, series);
    const bool is_on_card = series == global_series || series == local_series;
    const Finding* const link = find_value(result.findings, "link_latency", series);
    if (levels.empty() && link != nullptr) {
      card.rows.push_back({series, format_seconds(*link->value) + " over the link"});
      continue;
    }
    if (levels.empty()) {
      const Finding* const found = find_finding(result.findings, "latency", series);
      if (found == nullptr) continue;
      if (!is_at_one_size(*found) || !is_on_card) {
        card.rows.push_back({series, found->value ? observed_text(*found) : found->reason});
        continue;
      }
      levels.push_back({.latency = *found});
      levels.front().capacity.label = found->method;
      levels.front().what = found->reason.substr(0, found->reason.find(':'));
      levels.front().short_what = "no plateau";
    }
    if (!is_on_card) {
      const Finding* const ratio = find_finding(result.findings, "beside_global", series);
      const Finding* const memory = find_finding(result.findings, "host_memory", series);
      const bool is_here = memory != nullptr && memory->label == kept_on_device;
      card.rows.push_back({series, row_of(levels) + beside_global_text(ratio) +
                                       (is_here ? "; in device memory" : "")});
      continue;
    }
    const bool is_global = series == global_series;
    if (is_global && levels.front().latency.level) name_levels(levels);
    for (CardLevel& level : levels) {
      level.memory = is_global ? CardMemory::global : CardMemory::local;
      if (!is_global || level.name.empty()) level.name = series;
    }
    if (!is_global && levels.size() > 1) card.rows.push_back({series, row_of(levels)});
    const std::size_t shown = is_global ? levels.size() : 1;
    for (std::size_t i = 0; i < shown; ++i) card.levels.push_back(std::move(levels[i]));
    if (is_global) add_beyond(card, result, series);
  }
  return card;
}

}  // namespace clprobe::latency
