// SPDX-License-Identifier: Apache-2.0
// The curve of time over distinct groups.
#include <algorithm>
#include <iterator>
#include <limits>

#include "analysis/gain.hpp"
#include "clprobe/kernel_causes.hpp"

namespace clprobe {
namespace {

std::vector<FoldedTime> sorted_by_groups(std::span<const FoldedTime> sweep) {
  std::vector<FoldedTime> sorted;
  std::copy_if(sweep.begin(), sweep.end(), std::back_inserter(sorted),
               [](const FoldedTime& each) { return !each.visits_ns.empty(); });
  std::stable_sort(sorted.begin(), sorted.end(), [](const FoldedTime& a, const FoldedTime& b) {
    return a.distinct_groups > b.distinct_groups;
  });
  return sorted;
}

/// Of the points with at least `groups`, the one that takes least; of equal ones that with most
/// groups.
const FoldedTime& fastest_of(const std::vector<FoldedTime>& sorted, std::uint64_t groups) {
  const FoldedTime* least = &sorted.front();
  double min_ns = std::numeric_limits<double>::infinity();
  for (const FoldedTime& each : sorted) {
    const double ns = typical_ns(each.visits_ns);
    if (each.distinct_groups < groups || !(ns < min_ns)) continue;
    least = &each;
    min_ns = ns;
  }
  return *least;
}

/// Groups may reach more than their part of the buffers. Then main memory is still met with as many
/// as should fit, and as long as half of them clearly take less, at most a sixteenth. The first
/// cache's own fall begins far below: it is that much smaller than what all units share.
std::size_t find_cached(const std::vector<FoldedTime>& sorted, std::size_t fitting,
                        std::uint64_t min_groups) {
  constexpr double clearly_less = 0.95;
  constexpr std::uint64_t max_reach = 16;
  std::size_t cached = fitting;
  for (std::size_t i = fitting + 1; i < sorted.size(); ++i) {
    const FoldedTime& before = sorted[cached];
    const bool is_less =
        typical_ns(sorted[i].visits_ns) < clearly_less * typical_ns(before.visits_ns) &&
        find_gain(before.visits_ns, sorted[i].visits_ns).is_resolved;
    const bool is_near = sorted[i].distinct_groups * max_reach >= sorted[fitting].distinct_groups;
    if (!is_less || !is_near || sorted[i].distinct_groups < min_groups) break;
    cached = i;
  }
  return cached;
}

std::uint64_t find_collision(const std::vector<FoldedTime>& sorted, const FoldedTime& least,
                             std::uint64_t min_groups) {
  constexpr double clearly_longer = 1.05;
  std::uint64_t from = 0;
  // From few groups to many, as long as they take longer.
  const std::vector<FoldedTime> rising(sorted.rbegin(), sorted.rend());
  for (const FoldedTime& each : rising) {
    if (each.distinct_groups < min_groups) continue;
    if (each.distinct_groups >= least.distinct_groups) break;
    const bool is_longer =
        typical_ns(each.visits_ns) > clearly_longer * typical_ns(least.visits_ns) &&
        find_gain(each.visits_ns, least.visits_ns).is_resolved;
    if (!is_longer) break;
    from = each.distinct_groups;
  }
  return from;
}

}  // namespace

std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options) {
  const std::vector<FoldedTime> sorted = sorted_by_groups(sweep);
  if (sorted.size() < 2) return std::nullopt;
  Folding folding{.all_groups = sorted.front().distinct_groups};
  const FoldedTime& least = fastest_of(sorted, options.min_groups);
  folding.fastest_groups = least.distinct_groups;
  folding.collide_from = find_collision(sorted, least, options.min_groups);
  if (!(options.buffer_bytes > 0.0) || !options.last_cache_bytes) return folding;
  const double group_bytes = options.buffer_bytes / static_cast<double>(folding.all_groups);
  const auto fits = [&](const FoldedTime& each) {
    // Half: other data, and lines that share a set, are in it as well.
    const double bytes = group_bytes * static_cast<double>(each.distinct_groups);
    return bytes <= *options.last_cache_bytes / 2.0;
  };
  const auto fitting = std::find_if(sorted.begin(), sorted.end(), fits);
  if (fitting == sorted.end() || fitting->distinct_groups < options.min_groups) return folding;
  const auto place = static_cast<std::size_t>(fitting - sorted.begin());
  folding.cached_groups = sorted[find_cached(sorted, place, options.min_groups)].distinct_groups;
  folding.fastest_cached_groups = fastest_of(sorted, *folding.cached_groups).distinct_groups;
  return folding;
}

}  // namespace clprobe
