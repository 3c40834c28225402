// SPDX-License-Identifier: Apache-2.0
// Findings and card of the probe `pages`. Method: docs/pages.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/units.hpp"
#include "probes/pages/pages.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::pages {
namespace {

// Differences below this share of the latency are not attributed to translation.
constexpr double least_share = 0.02;
// A level ends where the latency rises by this factor.
constexpr double least_rise = 1.4;
// Share of the way from a level's latency to the next one's at which a ring no longer fits. A
// buffer of N entries in sets misses some of N pages.
constexpr double share_at_end = 0.15;
// Page walks that miss caches look like further levels.
constexpr std::size_t max_levels = 2;

constexpr std::string_view by_pages = "number of pages that fit";

/// Returns the curve with the time that translation adds to each ring of `paged`.
std::vector<CurvePoint> with_translation(const std::vector<CurvePoint>& paged,
                                         const std::vector<CurvePoint>& packed, double first_ns) {
  std::vector<CurvePoint> curve;
  for (const CurvePoint& each : paged) {
    const auto same =
        std::ranges::find(packed, each.working_set_bytes, &CurvePoint::working_set_bytes);
    if (same == packed.end()) continue;
    const double more = each.latency - same->latency;
    const bool is_translation = more > least_share * same->latency;
    curve.push_back({each.working_set_bytes, first_ns + (is_translation ? more : 0.0)});
  }
  for (std::size_t i = curve.size(); i-- > 1;) {
    curve[i - 1].latency = std::min(curve[i - 1].latency, curve[i].latency);
  }
  return curve;
}

/// Size of a level's pages, and number of them that fit.
struct Reach {
  NodesThatFit fit{};
  std::uint64_t page{0};
  std::uint64_t too_small{0};  ///< largest assumed page size that is smaller than a page, or 0
  bool is_least{false};        ///< pages may be larger
};

/// Returns what fits a level. As many nodes fit at all assumed sizes of at least a page. At smaller
/// sizes, several nodes share a page, so that more nodes fit. `first` is what fits the first level,
/// if known: all levels have the same pages.
std::optional<Reach> reach_of(const Translation& translation, std::span<const std::uint64_t> sizes,
                              double end_ns, const std::optional<Reach>& first) {
  if (first && !first->is_least) {
    const auto i = std::ranges::find(sizes, first->page) - sizes.begin();
    const auto fit = fit_of(translation.paged[static_cast<std::size_t>(i)], end_ns);
    if (fit && !fit->is_more) {
      return Reach{.fit = *fit, .page = first->page, .too_small = first->too_small};
    }
  }
  std::optional<Reach> reach;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const auto fit = fit_of(translation.paged[i], end_ns);
    if (!fit || fit->is_more) continue;  // too few pages of this size
    if (!reach) {
      reach = Reach{.fit = *fit, .page = sizes[i], .is_least = true};
    } else if (fit->nodes <= equal_nodes * reach->fit.nodes) {
      reach = Reach{.fit = *fit, .page = sizes[i]};
    } else {
      reach->too_small = sizes[i];
      break;
    }
  }
  return reach;
}

/// Returns true if a level seems to end where the first cache ends. Loads that hit this cache may
/// need no translation.
bool is_end_of_first_cache(const Translation& translation, const NodesThatFit& fit) {
  constexpr double hit = 1.25;
  const auto end = fit_of(translation.packed, hit * translation.first_ns);
  return end && !end->is_more && fit.nodes > end->nodes / equal_nodes &&
         fit.nodes < end->nodes * equal_nodes;
}

void add_level(Findings& found, const Translation& translation, const Reach& reach,
               const TranslationLevel& level, int number) {
  const auto make = [&](std::string_view name, std::string_view unit) {
    Finding finding = finding_of(name, paged_series, unit, by_pages);
    finding.level = number;
    return finding;
  };
  Finding reach_finding = make("reach", "bytes");
  const auto page = static_cast<double>(reach.page);
  if (is_end_of_first_cache(translation, reach.fit)) {
    reach_finding.high = reach.fit.nodes_above * page;
    reach_finding.reason = "loads that hit the first cache need no translation";
  } else {
    reach_finding = with_value(reach_finding, reach.fit.nodes * page, reach.fit.nodes_below * page,
                               reach.fit.nodes_above * page);
  }
  found.findings.push_back(std::move(reach_finding));
  Finding page_finding = make("page", "bytes");
  page_finding.value = page;
  page_finding.low = static_cast<double>(reach.too_small);
  if (reach.is_least) {
    page_finding.low = page;
    page_finding.reason = "larger pages would need larger rings";
  } else {
    page_finding.high = page;
  }
  found.findings.push_back(std::move(page_finding));
  const double cost = (level.next_ns - level.latency_ns) * 1e-9;
  found.findings.push_back(with_value(make("miss_cost", "seconds"), cost, cost, cost));
}

/// Returns "8 MiB in pages of 4 KiB (+21.0 ns)" for a level.
std::string level_text(std::span<const Finding> findings, int level) {
  std::string text;
  for (const Finding& each : findings) {
    if (each.level != level) continue;
    if (each.name == "reach" && each.value) {
      text = fmt::format("{}{}", each.high ? "" : "at least ", size_text(*each.value));
    } else if (each.name == "reach" && each.high) {
      text = fmt::format("at most {}", size_text(*each.high));
    } else if (each.name == "page" && each.value) {
      text +=
          fmt::format(" in pages of {}{}", each.high ? "" : "at least ", size_text(*each.value));
    } else if (each.name == "miss_cost" && each.value) {
      text += fmt::format(" (then +{})", format_seconds(*each.value));
    }
  }
  return text;
}

}  // namespace

Translation translation_of(const DeviceInfo& device, std::span<const Point> points) {
  Translation translation;
  translation.packed = curve_of(read_rings(device, points, packed_series), line_bytes(device));
  if (translation.packed.empty()) return translation;
  translation.first_ns = translation.packed.front().latency;
  const std::vector<MeasuredRing> paged = read_rings(device, points, paged_series);
  for (const std::uint64_t size : page_sizes(device)) {
    translation.paged.push_back(with_translation(curve_of(paged, step_of(device, size)),
                                                 translation.packed, translation.first_ns));
  }
  return translation;
}

std::vector<TranslationLevel> levels_of(const Translation& translation) {
  std::vector<TranslationLevel> found;
  if (translation.paged.empty() || translation.paged.front().empty()) return found;
  const std::vector<CurvePoint>& curve = translation.paged.front();
  const std::vector<Level> levels = find_levels(curve);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double next = i + 1 < levels.size() ? levels[i + 1].latency : curve.back().latency;
    if (!levels[i].capacity || next < least_rise * levels[i].latency) continue;
    const double latency = levels[i].latency;
    found.push_back({latency, latency + share_at_end * (next - latency), next});
    if (found.size() == max_levels) break;
  }
  return found;
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  const Translation translation = translation_of(device, points);
  if (translation.paged.empty() || translation.paged.front().empty()) return found;
  const std::span<const std::uint64_t> sizes = page_sizes(device);
  std::optional<Reach> first;
  int number = 0;
  for (const TranslationLevel& level : levels_of(translation)) {
    const auto reach = reach_of(translation, sizes, level.end_ns, first);
    if (!reach) continue;
    if (!first) first = reach;
    add_level(found, translation, *reach, level, ++number);
  }
  if (!found.findings.empty()) return found;
  Finding finding = finding_of("reach", paged_series, "bytes", by_pages);
  finding.level = 1;
  finding.value = translation.paged.front().back().working_set_bytes *
                  static_cast<double>(step_of(device, sizes.front()));
  finding.low = finding.value;
  finding.reason = "no ring of pages is slower than a ring of as many adjacent lines";
  found.findings.push_back(std::move(finding));
  return found;
}

Card card(const ProbeResult& result) {
  Card card;
  std::string line;
  std::copy_if(result.findings.begin(), result.findings.end(), std::back_inserter(card.reaches),
               [](const Finding& each) { return each.name == "reach" && each.low; });
  for (int level = 1; !level_text(result.findings, level).empty(); ++level) {
    append(line, ", ", level_text(result.findings, level));
  }
  if (!line.empty()) {
    card.lines.push_back({"TLB reach", std::move(line)});
  } else if (!result.findings.empty()) {
    card.unseen.emplace_back("TLB reach");
  }
  return card;
}

}  // namespace clprobe::pages
