// SPDX-License-Identifier: Apache-2.0
// Bars of the cases, changes between bars for which the thesis gives numbers, and facts of
// launches.
#include "probes/gsi/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "analysis/api/estimate.hpp"

namespace clprobe::gsi {
namespace {

namespace cause = simulator::cause;
using simulator::Coherence;
using simulator::Stall;

using Quantity = double (*)(const CaseRun&);

double time_of(const CaseRun& run) { return static_cast<double>(run.account.result.cycles); }

template <Stall stall>
double cycles_of(const CaseRun& run) {
  return run.account.gsi.of(stall);
}

template <simulator::Causes causes>
double cycles_by(const CaseRun& run) {
  return run.account.gsi.of(causes);
}

double release_share(const CaseRun& run) {
  return cycles_by<cause::pending_release>(run) / time_of(run);
}

/// Ratio of a quantity in two bars, or the quantity if `against` is empty, as the thesis states it.
struct Statement {
  std::string_view what;
  double thesis;
  Quantity quantity;
  std::string_view bar;
  std::string_view against{};
};

constexpr Statement of_searches[]{
    {"time, utsd against uts, GPU coherence", 0.09, time_of, "utsd, GPU coherence",
     "uts, GPU coherence"},
    {"time, utsd against uts, ownership", 0.06, time_of, "utsd, ownership", "uts, ownership"},
    {"time, utsd, ownership against GPU coherence", 0.72, time_of, "utsd, ownership",
     "utsd, GPU coherence"},
    {"memory structural stalls, utsd, ownership against GPU coherence", 0.29,
     cycles_of<Stall::memory_structural>, "utsd, ownership", "utsd, GPU coherence"},
    {"memory data stalls, utsd, ownership against GPU coherence", 0.43,
     cycles_of<Stall::memory_data>, "utsd, ownership", "utsd, GPU coherence"},
    {"pending release as a share of the time, utsd, GPU coherence", 0.10, release_share,
     "utsd, GPU coherence"},
    {"pending release as a share of the time, utsd, ownership", 0.04, release_share,
     "utsd, ownership"},
};

constexpr std::string_view scratchpad_32 = "implicit, scratchpad, 32 MSHRs";
constexpr std::string_view scratchpad_256 = "implicit, scratchpad, 256 MSHRs";
constexpr std::string_view dma_32 = "implicit, scratchpad with DMA, 32 MSHRs";
constexpr std::string_view dma_256 = "implicit, scratchpad with DMA, 256 MSHRs";
constexpr std::string_view stash_32 = "implicit, stash, 32 MSHRs";
constexpr std::string_view stash_256 = "implicit, stash, 256 MSHRs";

constexpr Statement of_implicit[]{
    {"no stall, DMA against scratchpad", 0.64, cycles_of<Stall::none>, dma_32, scratchpad_32},
    {"no stall, stash against scratchpad", 0.69, cycles_of<Stall::none>, stash_32, scratchpad_32},
    {"memory structural stalls, DMA against scratchpad", 1.67, cycles_of<Stall::memory_structural>,
     dma_32, scratchpad_32},
    {"memory structural stalls, stash against scratchpad", 1.34,
     cycles_of<Stall::memory_structural>, stash_32, scratchpad_32},
    {"full MSHR, scratchpad, 256 MSHRs against 32", 0.0, cycles_by<cause::full_mshr>,
     scratchpad_256, scratchpad_32},
    {"memory data stalls, scratchpad, 256 MSHRs against 32", 13.0, cycles_of<Stall::memory_data>,
     scratchpad_256, scratchpad_32},
    {"pending DMA, DMA, 256 MSHRs against 32", 8.9, cycles_by<cause::pending_copy>, dma_256,
     dma_32},
    {"memory data stalls, stash, 256 MSHRs against 32", 2.1, cycles_of<Stall::memory_data>,
     stash_256, stash_32},
};

/// Returns the changes for these statements; empty if `runs` lacks a bar of any statement.
std::vector<CaseChange> compare(const std::vector<CaseRun>& runs,
                                std::span<const Statement> statements) {
  const auto find = [&](std::string_view bar) {
    return std::find_if(runs.begin(), runs.end(),
                        [bar](const CaseRun& each) { return each.name == bar; });
  };
  std::vector<CaseChange> changes;
  changes.reserve(statements.size());
  for (const Statement& each : statements) {
    const auto run = find(each.bar);
    const auto other = find(each.against);
    if (run == runs.end() || (!each.against.empty() && other == runs.end())) return {};
    const double base = each.against.empty() ? 1.0 : each.quantity(*other);
    const double here =
        base == 0.0 ? std::numeric_limits<double>::quiet_NaN() : each.quantity(*run) / base;
    changes.push_back({std::string(each.what), each.thesis, here});
  }
  return changes;
}

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

/// Returns the name of a fact: "unit_3_gsi_memory_data_l2_cycles" for the view "unit_3_gsi".
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
  for (std::size_t i = 0; i < stall_parts.size(); ++i) {
    const double cycles = breakdown.cycles[i];
    if (cycles != 0.0) facts.set(fact_name(view, stall_parts[i]), cycles);
  }
}

/// Returns the cycles without the last flush; nothing if the facts of cycles are missing or
/// invalid.
std::optional<std::int64_t> cycles_in(const Parameters& facts) {
  const std::int64_t cycles = facts.integer_or("cycles", -1);
  const std::int64_t flush = facts.integer_or("flush_cycles", -1);
  if (flush < 0 || cycles < flush) return std::nullopt;
  return cycles - flush;
}

/// Returns the view that add_facts() stored; nothing if its parts do not add up to `cycles`.
std::optional<Breakdown> breakdown_in(const Parameters& facts, std::string_view view,
                                      std::int64_t cycles) {
  Breakdown breakdown;
  for (std::size_t i = 0; i < stall_parts.size(); ++i) {
    breakdown.cycles[i] = number_in(facts, fact_name(view, stall_parts[i])).value_or(0.0);
  }
  constexpr double rounding = 1e-6;
  const auto all = static_cast<double>(cycles);
  if (!(std::fabs(breakdown.total() - all) <= rounding * std::max(1.0, all))) return std::nullopt;
  return breakdown;
}

}  // namespace

simulator::Machine adapt(simulator::Machine machine, Coherence coherence,
                         std::uint64_t mshr_entries) {
  machine.sharing.coherence = coherence;
  if (mshr_entries == 0) return machine;
  machine.pending.entries = mshr_entries;
  machine.store_buffer.entries = mshr_entries;
  return machine;
}

std::string bar_name(TaskQueues queues, Coherence coherence, std::uint64_t mshr_entries) {
  std::string name = fmt::format("{}, {}", to_word(queues),
                                 coherence == Coherence::gpu ? "GPU coherence" : "ownership");
  if (mshr_entries != 0) name += fmt::format(", {} MSHRs", mshr_entries);
  return name;
}

std::string bar_name(LocalCopy copy, std::uint64_t mshr_entries) {
  if (mshr_entries == 0) return fmt::format("implicit, {}", to_word(copy));
  return fmt::format("implicit, {}, {} MSHRs", to_word(copy), mshr_entries);
}

std::string bar_name(ComputeWork work) { return fmt::format("compute, {}", to_word(work)); }

std::vector<CaseChange> compare_with_thesis(const std::vector<CaseRun>& runs) {
  std::vector<CaseChange> changes = compare(runs, of_searches);
  const std::vector<CaseChange> more = compare(runs, of_implicit);
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

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
    // For a launch of 0 cycles, absent views also add up, and the loop would not end.
    if (*cycles == 0) break;
    units.push_back(*unit);
  }
  if (units.size() < 2) units.clear();
  return units;
}

}  // namespace clprobe::gsi
