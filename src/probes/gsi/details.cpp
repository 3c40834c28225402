// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/details.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/gsi/account.hpp"
#include "probes/gsi/case_options.hpp"
#include "probes/gsi/case_points.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Breakdown;
using simulator::GridAccount;
using simulator::Stall;
using simulator::StallAccount;
using simulator::Timeline;

/// Of more sub-groups than these a bar is the mean of several, one after the other in the trace.
constexpr std::uint64_t max_sub_group_bars = 64;

std::uint64_t sub_groups_of_a_bar(std::uint64_t count) {
  return std::max<std::uint64_t>(1, (count + max_sub_group_bars - 1) / max_sub_group_bars);
}

std::string window_view(std::size_t window) { return fmt::format("window_{}_gsi", window); }
std::string window_flush(std::size_t window) {
  return fmt::format("window_{}_flush_cycles", window);
}
std::string sub_groups_view(std::uint64_t first) { return fmt::format("sub_group_{}", first); }

void add_timeline(const Timeline& timeline, Parameters& facts) {
  facts.set("window_cycles", static_cast<std::int64_t>(timeline.window_cycles));
  for (std::size_t i = 0; i < timeline.windows.size(); ++i) {
    const Timeline::Window& window = timeline.windows[i];
    add_facts(window_view(i), window.gsi, facts);
    if (window.flush_cycles == 0) continue;
    facts.set(window_flush(i), static_cast<std::int64_t>(window.flush_cycles));
  }
}

/// Each sub-group is idle while it is not there.
void add_sub_groups(const StallAccount& account, Parameters& facts) {
  const std::uint64_t count = account.warps.size();
  const std::uint64_t together = sub_groups_of_a_bar(count);
  const double cycles = account.gsi.total();
  facts.set("sub_groups", static_cast<std::int64_t>(count));
  for (std::uint64_t first = 0; first < count; first += together) {
    const std::uint64_t last = std::min(first + together, count);
    Breakdown mean;
    for (std::uint64_t i = first; i < last; ++i) {
      add(mean, account.warps[i].cycles, 1.0 / static_cast<double>(last - first));
    }
    mean.cycles.at(static_cast<std::size_t>(Stall::idle)) += cycles - mean.total();
    add_facts(sub_groups_view(first), mean, facts);
  }
}

std::vector<Detail> units_of(const CaseRun& run) {
  std::vector<Detail> details;
  for (std::size_t unit = 0; unit < run.units.size(); ++unit) {
    details.push_back({.what = fmt::format("unit {}", unit),
                       .cycles = run.account.result.cycles,
                       .flush_cycles = run.account.flush_cycles,
                       .breakdown = run.units[unit]});
  }
  return details;
}

std::vector<Detail> sub_groups_of(const Point& point, const CaseRun& run) {
  const std::uint64_t count = count_in(point.facts, "sub_groups").value_or(0);
  const std::uint64_t together = sub_groups_of_a_bar(count);
  std::vector<Detail> details;
  for (std::uint64_t first = 0; first < count; first += together) {
    const std::uint64_t last = std::min(first + together, count) - 1;
    const auto breakdown = breakdown_in(point.facts, sub_groups_view(first),
                                        run.account.result.cycles - run.account.flush_cycles);
    if (!breakdown) return {};
    details.push_back({.what = first == last ? fmt::format("sub-group {}", first)
                                             : fmt::format("sub-groups {} to {}", first, last),
                       .cycles = run.account.result.cycles,
                       .flush_cycles = run.account.flush_cycles,
                       .breakdown = *breakdown});
  }
  return details;
}

std::vector<Detail> windows_of(const Point& point, const CaseRun& run) {
  const std::uint64_t length = count_in(point.facts, "window_cycles").value_or(0);
  const std::uint64_t all = run.account.result.cycles;
  if (length == 0) return {};
  std::vector<Detail> details;
  for (std::uint64_t first = 0; first < all; first += length) {
    const std::size_t window = details.size();
    const std::uint64_t cycles = std::min(length, all - first);
    const std::uint64_t flush = count_in(point.facts, window_flush(window)).value_or(0);
    const auto breakdown = flush > cycles
                               ? std::nullopt
                               : breakdown_in(point.facts, window_view(window), cycles - flush);
    if (!breakdown) return {};
    details.push_back({.what = fmt::format("cycles {} to {}", first, first + cycles - 1),
                       .cycles = cycles,
                       .flush_cycles = flush,
                       .breakdown = *breakdown});
  }
  return details;
}

}  // namespace

std::function<Parameters(const GridAccount&)> facts_for(const Point& point) {
  return [has_timeline = shows(point, timeline_word),
          has_sub_groups = shows(point, sub_groups_word)](const GridAccount& account) {
    Parameters facts = facts_of(account);
    if (has_timeline) add_timeline(account.mean.timeline, facts);
    if (has_sub_groups) add_sub_groups(account.mean, facts);
    return facts;
  };
}

std::vector<Detail> details_in(const Point& point, const CaseRun& run, std::string_view view) {
  if (!shows(point, view)) return {};
  if (view == units_word) return units_of(run);
  return view == timeline_word ? windows_of(point, run) : sub_groups_of(point, run);
}

}  // namespace clprobe::gsi
