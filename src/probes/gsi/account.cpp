// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "clprobe/estimate.hpp"
#include "probes/gsi/case_points.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Breakdown;
using simulator::GridAccount;
using simulator::Stall;
using simulator::StallAccount;
using simulator::Timeline;

struct View {
  std::string_view fact;
  Breakdown StallAccount::*breakdown;
};
constexpr std::array views{View{"gsi", &StallAccount::gsi},
                           View{"all_causes", &StallAccount::all_causes}};

std::string fact_word(std::string_view label) {
  std::string word;
  for (const char c : label) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (c != ':') word += is_upper ? static_cast<char>(c - 'A' + 'a') : c == ' ' ? '_' : c;
  }
  return word;
}

StallPart make_part(std::string label, Stall stall, std::optional<std::size_t> place) {
  std::string fact = fact_word(label);
  return {.label = std::move(label), .fact = std::move(fact), .stall = stall, .place = place};
}

std::vector<StallPart> make_parts() {
  std::vector<StallPart> parts;
  for (std::size_t i = 0; i < simulator::stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    const std::size_t count = Breakdown{}.parts(stall).size();
    for (std::size_t place = 0; place < count; ++place) {
      parts.push_back(make_part(
          fmt::format("{}: {}", to_word(stall), simulator::part_word(stall, place)), stall, place));
    }
    parts.push_back(make_part(std::string(to_word(stall)), stall, std::nullopt));
  }
  return parts;
}

/// What of a type's cycles is in none of its sub-classes.
double undivided(const Breakdown& breakdown, Stall stall) {
  const double all = breakdown.of(stall);
  const std::span<const double> parts = breakdown.parts(stall);
  const double rest = std::accumulate(parts.begin(), parts.end(), all, std::minus<>());
  constexpr double rounding = 1e-9;
  return rest > rounding * all ? rest : 0.0;
}

std::string fact_name(std::string_view view, const StallPart& part) {
  return fmt::format("{}_{}_cycles", view, part.fact);
}

std::string unit_view(std::size_t unit) { return fmt::format("unit_{}_gsi", unit); }

/// Facts of one view: for what is not 0 "warp_3_memory_data_l2_cycles", where `view` is "warp_3".
void add_facts(std::string_view view, const Breakdown& breakdown, Parameters& facts) {
  for (const StallPart& part : stall_parts()) {
    const double cycles = cycles_of(breakdown, part);
    if (cycles != 0.0) facts.set(fact_name(view, part), cycles);
  }
}

/// A whole number from 0 on; nothing where there is none.
std::optional<std::uint64_t> count_in(const Parameters& facts, std::string_view name) {
  const Value* const value = facts.find(name);
  const auto* const count = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  if (count == nullptr || *count < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*count);
}

/// Of the mean of the compute units: "cycles", "flush_cycles", and for what is not 0
/// "gsi_memory_data_l2_cycles" and "all_causes_memory_data_l2_cycles". Where there are several
/// units, of each GSI's view: "unit_0_gsi_memory_data_l2_cycles".
Parameters facts_of(const GridAccount& account) {
  const StallAccount& mean = account.mean;
  Parameters facts;
  facts.set("cycles", static_cast<std::int64_t>(mean.result.cycles));
  facts.set("flush_cycles", static_cast<std::int64_t>(mean.flush_cycles));
  for (const View& view : views) add_facts(view.fact, mean.*view.breakdown, facts);
  if (account.units.size() == 1) return facts;
  for (std::size_t unit = 0; unit < account.units.size(); ++unit) {
    add_facts(unit_view(unit), account.units[unit].gsi, facts);
  }
  return facts;
}

/// What add_facts() kept. Nothing where it does not add up to so many cycles.
std::optional<Breakdown> breakdown_in(const Parameters& facts, std::string_view view,
                                      std::uint64_t cycles) {
  Breakdown breakdown;
  for (const StallPart& part : stall_parts()) {
    const double of_part = number_in(facts, fact_name(view, part)).value_or(0.0);
    if (part.place) breakdown.parts(part.stall)[*part.place] = of_part;
    breakdown.cycles.at(static_cast<std::size_t>(part.stall)) += of_part;
  }
  constexpr double rounding = 1e-6;
  const auto all = static_cast<double>(cycles);
  if (!(std::fabs(breakdown.total() - all) <= rounding * std::max(1.0, all))) return std::nullopt;
  return breakdown;
}

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

const std::vector<StallPart>& stall_parts() {
  static const std::vector<StallPart> parts = make_parts();
  return parts;
}

double cycles_of(const Breakdown& breakdown, const StallPart& part) {
  return part.place ? breakdown.parts(part.stall)[*part.place] : undivided(breakdown, part.stall);
}

std::optional<StallAccount> account_in(const Parameters& facts) {
  const auto cycles = count_in(facts, "cycles");
  const auto flush = count_in(facts, "flush_cycles");
  if (!cycles || !flush || *flush > *cycles) return std::nullopt;
  StallAccount account;
  account.result.cycles = *cycles;
  account.flush_cycles = *flush;
  for (const View& view : views) {
    const auto breakdown = breakdown_in(facts, view.fact, *cycles - *flush);
    if (!breakdown) return std::nullopt;
    account.*view.breakdown = *breakdown;
  }
  return account;
}

std::size_t units_told(const Parameters& facts) {
  std::size_t units = 0;
  const auto has_next = [&] {
    return std::any_of(stall_parts().begin(), stall_parts().end(), [&](const StallPart& part) {
      return facts.find(fact_name(unit_view(units), part)) != nullptr;
    });
  };
  while (has_next()) ++units;
  return units;
}

std::vector<Breakdown> units_in(const Parameters& facts, std::size_t units) {
  const auto cycles = count_in(facts, "cycles");
  const auto flush = count_in(facts, "flush_cycles");
  if (!cycles || !flush || *flush > *cycles || units < 2) return {};
  std::vector<Breakdown> found;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const auto breakdown = breakdown_in(facts, unit_view(unit), *cycles - *flush);
    if (!breakdown) return {};
    found.push_back(*breakdown);
  }
  return found;
}

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
