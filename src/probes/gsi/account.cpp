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

std::string fact_name(const View& view, const StallPart& part) {
  return fmt::format("{}_{}_cycles", view.fact, part.fact);
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

Parameters facts_of(const StallAccount& account) {
  Parameters facts;
  facts.set("cycles", static_cast<std::int64_t>(account.result.cycles));
  facts.set("flush_cycles", static_cast<std::int64_t>(account.flush_cycles));
  for (const View& view : views) {
    for (const StallPart& part : stall_parts()) {
      const double cycles = cycles_of(account.*view.breakdown, part);
      if (cycles != 0.0) facts.set(fact_name(view, part), cycles);
    }
  }
  return facts;
}

std::optional<StallAccount> account_in(const Parameters& facts) {
  const auto cycles = count_in(facts, "cycles");
  const auto flush = count_in(facts, "flush_cycles");
  if (!cycles || !flush || *flush > *cycles) return std::nullopt;
  StallAccount account;
  account.result.cycles = *cycles;
  account.flush_cycles = *flush;
  for (const View& view : views) {
    Breakdown& breakdown = account.*view.breakdown;
    for (const StallPart& part : stall_parts()) {
      const double of_part = number_in(facts, fact_name(view, part));
      place_of(breakdown, part) = of_part;
      if (part.place) breakdown.cycles.at(static_cast<std::size_t>(part.stall)) += of_part;
    }
    constexpr double rounding = 1e-6;
    const auto all = static_cast<double>(*cycles - *flush);
    if (!(std::fabs(breakdown.total() - all) <= rounding * std::max(1.0, all))) return std::nullopt;
  }
  return account;
}

}  // namespace clprobe::gsi
