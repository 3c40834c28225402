// SPDX-License-Identifier: Apache-2.0
// Findings and card of the probe `line`. Method: docs/line.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/units.hpp"
#include "probes/line/line.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/ring.hpp"

namespace clprobe::line {
namespace {

/// Returns a latency between a level and the next: the middle. Returns nothing if the curve does
/// not show the end of the level. On a CPU, distant nodes are in more pages, so that the latency of
/// the next level depends on the distance: the latency is at most 2.5 times that of the level.
std::optional<double> end_latency(const std::vector<Level>& levels, std::size_t i, bool is_cpu) {
  constexpr double most = 2.5;
  if (i >= levels.size()) return std::nullopt;
  const bool is_last = i + 1 == levels.size();
  if (is_last && !levels[i].capacity) return std::nullopt;
  // After a last level with an end, the curve rises without another plateau.
  const double next = is_last ? 3.0 * levels[i].latency : levels[i + 1].latency;
  const double middle = (levels[i].latency + next) / 2.0;
  return is_cpu ? std::min(middle, most * levels[i].latency) : middle;
}

constexpr std::string_view by_nodes = "number of nodes that fit";

Finding size_finding(std::string_view name, std::string_view series, std::size_t i) {
  constexpr std::string_view by_pairs = "latency of the second word";
  Finding finding = finding_of(name, series, "bytes", name == "line" ? by_nodes : by_pairs);
  finding.level = static_cast<int>(i) + 1;
  return finding;
}

/// Returns the finding of a size of at least `bytes`.
Finding at_least(Finding finding, std::uint64_t bytes, std::string reason) {
  finding.value = static_cast<double>(bytes);
  finding.low = finding.value;
  finding.reason = std::move(reason);
  return finding;
}

/// Returns the size of the lines of a level. As many nodes fit at all distances of at least a line.
/// At half of that distance, two nodes share a line.
Finding line_of(std::span<const MeasuredRing> rings, const std::vector<Level>& levels,
                std::size_t i, bool is_cpu) {
  Finding finding = size_finding("line", spacing_series, i);
  const auto latency = end_latency(levels, i, is_cpu);
  const auto widest = latency ? fit_of(curve_of(rings, spacings.front()), *latency) : std::nullopt;
  if (!widest || widest->is_more) {
    finding.reason = fmt::format("the end of level {} is beyond the measured sizes", i + 1);
    return finding;
  }
  std::size_t line = 0;
  double step = 1.0;  // how many times as many nodes fit at half of the line as at the line
  double fits = widest->nodes;
  for (std::size_t k = 1; k < spacings.size(); ++k) {
    const auto fit = fit_of(curve_of(rings, spacings[k]), *latency);
    const bool is_known = fit && (!fit->is_more || fit->nodes >= clear_step * fits);
    if (!is_known) {
      finding.reason =
          "too few rings with sizes near the end of this level: repeat on an idle device";
      return finding;
    }
    step = fit->nodes / fits;
    if (step > equal_nodes) break;
    line = k;
    fits = fit->nodes;
  }
  const auto bytes = static_cast<double>(spacings[line]);
  if (step <= equal_nodes) return with_value(finding, bytes, 0.0, bytes);
  if (step < clear_step) {
    finding.reason = fmt::format(
        "no clear step: with {} instead of {} bytes between nodes, {} times as many nodes fit",
        spacings[line + 1], spacings[line], format_number(step));
    return finding;
  }
  if (line == 0) {
    return at_least(std::move(finding), spacings.front(),
                    "fewer nodes fit at this distance than at half this distance");
  }
  return with_value(finding, bytes, bytes, bytes);
}

/// Latency of a pair's second word by distance, in ns.
using SecondLoads = std::vector<std::pair<std::uint64_t, double>>;

/// Returns the latencies of the second words in ascending order of distance; `hit_ns` is that of
/// the closest word.
SecondLoads second_loads(const std::vector<MeasuredRing>& pairs, double hit_ns) {
  SecondLoads loads;
  for (const MeasuredRing& each : pairs) {
    if (each.shape.distance_bytes) {
      loads.emplace_back(*each.shape.distance_bytes, each.time.ns);
    }
  }
  std::sort(loads.begin(), loads.end());
  const double first_ns = loads.empty() ? 0.0 : loads.front().second - hit_ns;
  for (auto& each : loads) each.second -= first_ns;
  return loads;
}

/// Distances at which the second word is no longer among the fetched bytes. Between `begin` and
/// `end`, it comes from a level in between.
struct Steps {
  std::size_t begin{0};
  std::size_t end{0};
};

Steps steps_of(const SecondLoads& loads) {
  // Shares of the way from the latency of the closest word to that of the farthest.
  constexpr double begins = 0.25;
  constexpr double ends = 0.8;
  const double low = loads.front().second;
  const double all = loads.back().second - low;
  const auto first_above = [&](double share) {
    return static_cast<std::size_t>(
        std::find_if(loads.begin(), loads.end(),
                     [&](const auto& each) { return each.second >= low + share * all; }) -
        loads.begin());
  };
  return {first_above(begins), first_above(ends)};
}

/// Returns how many bytes the level `i` fetches. For pairs that miss all caches, L1 may fetch fewer
/// bytes than the caches after L1: the end of the rise counts.
Finding fetch_of(const SecondLoads& loads, std::string_view series, std::size_t i) {
  Finding finding = size_finding("fetch", series, i);
  if (loads.size() < distances.size()) {
    finding.reason = "not measured at all distances";
    return finding;
  }
  constexpr double equal_latency = 1.1;
  if (loads.back().second < equal_latency * loads.front().second) {
    return at_least(std::move(finding), loads.back().first,
                    "loading the second word takes equally long at all distances");
  }
  const Steps steps = steps_of(loads);
  const std::size_t step = i == 0 ? steps.begin : steps.end;
  const auto bytes = static_cast<double>(loads[step].first);
  // A level in between makes two steps of the rise.
  const double ratio = loads[steps.end].second / loads[steps.begin - 1].second;
  if (ratio < clear_step) {
    finding.reason = fmt::format(
        "no clear step: loading the second word takes {} times as long at {} bytes as at {} bytes",
        format_number(ratio), loads[steps.end].first, loads[steps.begin - 1].first);
    return finding;
  }
  return with_value(finding, bytes, bytes, bytes);
}

/// Adds a word on how a level fills its lines, if its line and what it fetches are known.
void add_filling(Findings& found, std::size_t i, bool has_shelf) {
  const auto value_of = [&](std::string_view name) -> std::optional<double> {
    for (const Finding& each : found.findings) {
      const bool is_it = each.name == name && each.level == static_cast<int>(i) + 1;
      if (is_it && each.value && each.high) return each.value;
    }
    return std::nullopt;
  };
  const auto line = value_of("line");
  const auto fetch = value_of("fetch");
  if (!line || !fetch) return;
  Finding finding = finding_of("filling", spacing_series, "", "fetch / line");
  finding.level = static_cast<int>(i) + 1;
  finding.label = *fetch < *line                ? "sectored"
                  : *fetch > *line || has_shelf ? "neighbours"
                                                : "lines";
  found.findings.push_back(std::move(finding));
}

/// Returns "L1 128 B (fetches 32 B)"; empty if both are unknown.
std::string level_text(std::span<const Finding> findings, int level) {
  std::string line;
  std::string fetch;
  for (const Finding& each : findings) {
    if (each.level != level || !each.value) continue;
    const std::string text =
        fmt::format("{}{}", each.high ? "" : "at least ", size_text(*each.value));
    if (each.name == "line") line = text;
    if (each.name == "fetch") fetch = text;
  }
  if (line.empty() && fetch.empty()) return {};
  if (line.empty()) return fmt::format("L{} fetches {}", level, fetch);
  if (fetch.empty()) return fmt::format("L{} {}", level, line);
  return fmt::format("L{} {} (fetches {})", level, line, fetch);
}

}  // namespace

std::vector<Level> levels_of(std::span<const MeasuredRing> rings) {
  return find_levels(curve_of(rings, spacings.front()));
}

std::optional<double> nodes_that_fit(std::span<const MeasuredRing> rings,
                                     const std::vector<Level>& levels, std::size_t i, bool is_cpu) {
  const auto latency = end_latency(levels, i, is_cpu);
  if (!latency) return std::nullopt;
  const auto fit = fit_of(curve_of(rings, spacings.front()), *latency);
  return fit && !fit->is_more ? std::optional(fit->nodes) : std::nullopt;
}

std::optional<std::uint64_t> nodes_of_pairs(std::span<const MeasuredRing> rings) {
  constexpr double tolerance = 1.25;
  const std::vector<Level> levels = levels_of(rings);
  if (levels.empty()) return std::nullopt;
  const std::vector<CurvePoint> far = curve_of(rings, pair_step);
  // Without a second plateau, the first ring that clearly misses L1 counts.
  const bool has_second = levels.size() > 1;
  const double least = has_second ? levels[1].latency / tolerance : 2.0 * levels[0].latency;
  const auto first = std::find_if(far.begin(), far.end(),
                                  [&](const CurvePoint& each) { return each.latency >= least; });
  if (first == far.end()) return std::nullopt;
  const double most = tolerance * std::max(first->latency, has_second ? levels[1].latency : 0.0);
  const auto last =
      std::find_if(first, far.end(), [&](const CurvePoint& each) { return each.latency > most; });
  // A pair may need two lines, so the lower middle is safer than the upper.
  const auto middle = first + std::max<std::ptrdiff_t>(0, last - first - 1) / 2;
  return static_cast<std::uint64_t>(middle->working_set_bytes);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const std::vector<MeasuredRing> rings = read_rings(device, points, spacing_series);
  const std::vector<Level> levels = levels_of(rings);
  if (levels.empty()) return found;
  // A last level without an end is memory.
  const std::size_t caches = levels.size() - (levels.back().capacity ? 0 : 1);
  const bool has_spacings = !curve_of(rings, spacings.back()).empty();
  for (std::size_t i = 0; i < std::min(caches, max_levels); ++i) {
    if (has_spacings) {
      found.findings.push_back(line_of(rings, levels, i, runs_items_in_turn(device)));
    }
    const std::string_view series = i == 0 ? pairs_series : cold_series;
    const SecondLoads loads =
        second_loads(read_rings(device, points, series), levels.front().latency);
    bool has_shelf = false;
    if (!loads.empty()) {
      found.findings.push_back(fetch_of(loads, series, i));
      const Steps steps = steps_of(loads);
      has_shelf = i == 0 && steps.begin < steps.end;
    }
    add_filling(found, i, has_shelf);
  }
  if (found.findings.empty()) {
    found.findings.push_back(without_value("line", spacing_series, by_nodes,
                                           "no cache ends within the measured sizes", "bytes"));
  }
  return found;
}

Card card(const ProbeResult& result) {
  Card card;
  std::string line;
  for (int level = 1; level <= static_cast<int>(max_levels); ++level) {
    append(line, ", ", level_text(result.findings, level));
  }
  if (!line.empty()) {
    card.lines.push_back({"line", std::move(line)});
  } else if (!result.findings.empty()) {
    card.unseen.emplace_back("cache lines");
  }
  return card;
}

}  // namespace clprobe::line
