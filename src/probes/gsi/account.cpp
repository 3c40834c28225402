// SPDX-License-Identifier: Apache-2.0
// The facts of a launch, and the account that they keep.
#include "probes/gsi/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>

#include "analysis/api/estimate.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Breakdown;
using simulator::GridAccount;
using simulator::stall_parts;
using simulator::StallAccount;
using simulator::StallPart;

struct View {
  std::string_view fact;
  Breakdown StallAccount::*breakdown;
};
constexpr std::array views{View{"gsi", &StallAccount::gsi},
                           View{"all_causes", &StallAccount::all_causes}};

/// The name of a fact: "unit_3_gsi_memory_data_l2_cycles", where `view` is "unit_3_gsi".
std::string fact_name(std::string_view view, const StallPart& part) {
  std::string name = fmt::format("{}_{}_cycles", view, label_of(part));
  std::erase(name, ':');
  for (char& c : name) {
    c = c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string unit_view(std::size_t unit) { return fmt::format("unit_{}_gsi", unit); }

void add_facts(std::string_view view, const Breakdown& breakdown, Parameters& facts) {
  for (std::size_t place = 0; place < stall_parts.size(); ++place) {
    const double cycles = breakdown.cycles[place];
    if (cycles != 0.0) facts.set(fact_name(view, stall_parts[place]), cycles);
  }
}

/// The cycles without the last flush. Nothing where they are missing or invalid.
std::optional<std::int64_t> cycles_in(const Parameters& facts) {
  const std::int64_t cycles = facts.integer_or("cycles", -1);
  const std::int64_t flush = facts.integer_or("flush_cycles", -1);
  if (flush < 0 || cycles < flush) return std::nullopt;
  return cycles - flush;
}

/// The view that add_facts() kept. Nothing where it does not add up to so many cycles.
std::optional<Breakdown> breakdown_in(const Parameters& facts, std::string_view view,
                                      std::int64_t cycles) {
  Breakdown breakdown;
  for (std::size_t place = 0; place < stall_parts.size(); ++place) {
    breakdown.cycles[place] = number_in(facts, fact_name(view, stall_parts[place])).value_or(0.0);
  }
  constexpr double rounding = 1e-6;
  const auto all = static_cast<double>(cycles);
  if (!(std::fabs(breakdown.total() - all) <= rounding * std::max(1.0, all))) return std::nullopt;
  return breakdown;
}

}  // namespace

Parameters facts_of(const GridAccount& account) {
  const StallAccount& mean = account.mean;
  Parameters facts;
  facts.set("cycles", static_cast<std::int64_t>(mean.result.cycles));
  facts.set("flush_cycles", static_cast<std::int64_t>(mean.result.flush_cycles));
  for (const View& view : views) add_facts(view.fact, mean.*view.breakdown, facts);
  if (account.units.size() == 1) return facts;
  for (std::size_t unit = 0; unit < account.units.size(); ++unit) {
    add_facts(unit_view(unit), account.units[unit].gsi, facts);
  }
  return facts;
}

std::optional<StallAccount> account_in(const Parameters& facts) {
  const auto cycles = cycles_in(facts);
  if (!cycles) return std::nullopt;
  StallAccount account;
  account.result.cycles = static_cast<std::uint64_t>(facts.integer("cycles"));
  account.result.flush_cycles = static_cast<std::uint64_t>(facts.integer("flush_cycles"));
  for (const View& view : views) {
    const auto breakdown = breakdown_in(facts, view.fact, *cycles);
    if (!breakdown) return std::nullopt;
    account.*view.breakdown = *breakdown;
  }
  return account;
}

std::vector<Breakdown> units_in(const Parameters& facts) {
  std::vector<Breakdown> units;
  const auto cycles = cycles_in(facts);
  while (const auto unit =
             cycles ? breakdown_in(facts, unit_view(units.size()), *cycles) : std::nullopt) {
    // A launch of no cycles has no facts of units.
    if (*cycles == 0) break;
    units.push_back(*unit);
  }
  if (units.size() < 2) units.clear();
  return units;
}

}  // namespace clprobe::gsi
