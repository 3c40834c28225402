// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "clprobe/estimate.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Breakdown;
using simulator::GridAccount;
using simulator::Stall;
using simulator::StallAccount;

constexpr std::array<std::string_view, simulator::level_count> level_labels{
    "L1", "L1 coalescing", "L2", "remote L1", "main memory"};

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

template <typename Word>
void add_parts(std::vector<StallPart>& parts, Stall stall, std::size_t count, Word word) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string label = fmt::format("{}: {}", to_word(stall), word(i));
    parts.push_back({.label = label, .fact = fact_word(label), .stall = stall, .place = i});
  }
}

std::vector<StallPart> make_parts() {
  std::vector<StallPart> parts;
  for (std::size_t i = 0; i < simulator::stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    if (stall == Stall::synchronization) {
      add_parts(parts, stall, simulator::synchronization_stall_count, [](std::size_t place) {
        return to_word(static_cast<simulator::SynchronizationStall>(place));
      });
    } else if (stall == Stall::memory_data) {
      add_parts(parts, stall, simulator::level_count,
                [](std::size_t place) { return level_labels.at(place); });
    } else if (stall == Stall::memory_structural) {
      add_parts(parts, stall, simulator::structural_stall_count, [](std::size_t place) {
        return to_word(static_cast<simulator::StructuralStall>(place));
      });
    } else {
      const std::string label(to_word(stall));
      parts.push_back({.label = label, .fact = fact_word(label), .stall = stall});
    }
  }
  return parts;
}

/// The place of a part's cycles in a breakdown, const or not.
template <typename Of>
auto& place_of(Of& breakdown, const StallPart& part) {
  if (part.place && part.stall == Stall::synchronization) {
    return breakdown.synchronization.at(*part.place);
  }
  if (part.place && part.stall == Stall::memory_data) return breakdown.memory_data.at(*part.place);
  if (part.place) return breakdown.memory_structural.at(*part.place);
  return breakdown.cycles.at(static_cast<std::size_t>(part.stall));
}

std::string fact_name(std::string_view view, const StallPart& part) {
  return fmt::format("{}_{}_cycles", view, part.fact);
}

std::string unit_view(std::size_t unit) { return fmt::format("unit_{}_gsi", unit); }

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

double number_in(const Parameters& facts, const std::string& name) {
  const Value* const value = facts.find(name);
  if (value == nullptr) return 0.0;
  if (const auto* const whole = std::get_if<std::int64_t>(value)) {
    return static_cast<double>(*whole);
  }
  const auto* const number = std::get_if<double>(value);
  return number == nullptr ? 0.0 : *number;
}

}  // namespace

const std::vector<StallPart>& stall_parts() {
  static const std::vector<StallPart> parts = make_parts();
  return parts;
}

double cycles_of(const Breakdown& breakdown, const StallPart& part) {
  return place_of(breakdown, part);
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

namespace {

/// Nothing where it does not add up to so many cycles.
std::optional<Breakdown> breakdown_in(const Parameters& facts, std::string_view view,
                                      std::uint64_t cycles) {
  Breakdown breakdown;
  for (const StallPart& part : stall_parts()) {
    const double of_part = number_in(facts, fact_name(view, part));
    place_of(breakdown, part) = of_part;
    if (part.place) breakdown.cycles.at(static_cast<std::size_t>(part.stall)) += of_part;
  }
  constexpr double rounding = 1e-6;
  const auto all = static_cast<double>(cycles);
  if (!(std::fabs(breakdown.total() - all) <= rounding * std::max(1.0, all))) return std::nullopt;
  return breakdown;
}

}  // namespace

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
