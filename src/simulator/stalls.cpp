// SPDX-License-Identifier: Apache-2.0
#include "clprobe/stalls.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace clprobe::simulator {

StallAccount account_stalls(const Machine& machine, const Trace& trace, const Options& options) {
  const StallAccountant accountant(machine);
  return accountant.account(simulate(machine, trace, options, &accountant.observer()));
}

void add(Breakdown& sum, const Breakdown& each, double share) {
  const auto add_all = [share](std::span<double> to, std::span<const double> from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += share * from[i];
  };
  add_all(sum.cycles, each.cycles);
  for (std::size_t i = 0; i < stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    add_all(sum.parts(stall), each.parts(stall));
  }
}

namespace {

/// The units have been seen for the same time, so that their windows are the same.
void add(Timeline& sum, const Timeline& each, double share) {
  sum.window_cycles = each.window_cycles;
  sum.windows.resize(each.windows.size());
  for (std::size_t i = 0; i < each.windows.size(); ++i) {
    add(sum.windows[i].gsi, each.windows[i].gsi, share);
    sum.windows[i].flush_cycles = each.windows[i].flush_cycles;
  }
}

StallAccount mean_of(const std::vector<StallAccount>& units) {
  StallAccount mean;
  const double share = 1.0 / static_cast<double>(units.size());
  std::vector<Result> results;
  for (const StallAccount& each : units) {
    add(mean.gsi, each.gsi, share);
    add(mean.all_causes, each.all_causes, share);
    add(mean.timeline, each.timeline, share);
    mean.warps.insert(mean.warps.end(), each.warps.begin(), each.warps.end());
    results.push_back(each.result);
  }
  std::sort(mean.warps.begin(), mean.warps.end(),
            [](const WarpStalls& a, const WarpStalls& b) { return a.number < b.number; });
  mean.result = sum_of(std::move(results));
  mean.flush_cycles = mean.result.flush_cycles;
  return mean;
}

}  // namespace

GridAccount account_units(const Machine& machine, const Trace& trace, std::uint64_t units,
                          const Options& options, const Accounting& accounting) {
  std::vector<std::unique_ptr<StallAccountant>> accountants;
  std::vector<const Observer*> observers;
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    accountants.push_back(std::make_unique<StallAccountant>(machine, accounting));
    observers.push_back(&accountants.back()->observer());
  }
  std::vector<Result> results = simulate_units(machine, trace, units, options, observers);
  GridAccount account;
  for (std::size_t unit = 0; unit < results.size(); ++unit) {
    account.units.push_back(accountants[unit]->account(std::move(results[unit])));
  }
  account.mean = mean_of(account.units);
  return account;
}

}  // namespace clprobe::simulator
