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

namespace clprobe::gsi {
namespace {

using simulator::Breakdown;
using simulator::GridAccount;
using simulator::Stall;
using simulator::StallAccount;

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

}  // namespace

const std::vector<StallPart>& stall_parts() {
  static const std::vector<StallPart> parts = make_parts();
  return parts;
}

double cycles_of(const Breakdown& breakdown, const StallPart& part) {
  return part.place ? breakdown.parts(part.stall)[*part.place] : undivided(breakdown, part.stall);
}

void add_facts(std::string_view view, const Breakdown& breakdown, Parameters& facts) {
  for (const StallPart& part : stall_parts()) {
    const double cycles = cycles_of(breakdown, part);
    if (cycles != 0.0) facts.set(fact_name(view, part), cycles);
  }
}

std::optional<std::uint64_t> count_in(const Parameters& facts, std::string_view name) {
  const Value* const value = facts.find(name);
  const auto* const count = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  if (count == nullptr || *count < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*count);
}

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

}  // namespace clprobe::gsi
