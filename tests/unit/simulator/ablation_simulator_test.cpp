// SPDX-License-Identifier: Apache-2.0
// The ablation method against the truth: on made-up kernels on a simulated compute unit, do the
// values that it computes from times alone say what the exact account says?
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "unit/random_kernels.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

// Of shares that are nearer to each other than this, either may be the second.
constexpr double tie = 0.05;
constexpr double near_enough = 0.15;

std::uint32_t idealised_by(const std::vector<Factor>& factors, std::uint32_t set) {
  std::uint32_t idealised = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (((set >> i) & 1U) != 0) idealised |= 1U << static_cast<unsigned>(factors[i]);
  }
  return idealised;
}

/// Shapley values as shares of the time.
std::vector<double> ablate(const Machine& machine, const RandomKernel& kernel,
                           const std::vector<Factor>& factors) {
  std::vector<AblationBuild> builds;
  for (std::uint32_t set = 0; set < (1U << factors.size()); ++set) {
    const Trace trace = make_kernel(machine, kernel, idealised_by(factors, set));
    builds.push_back({set, {{static_cast<double>(simulate(machine, trace).cycles)}}});
  }
  AblationOptions options;
  options.resamples = 0;
  const Ablation found = attribute_time(builds, factors.size(), options);
  std::vector<double> shares;
  for (const Cost& each : found.factors) shares.push_back(each.ns / found.none.ns);
  return shares;
}

/// Places of the two largest.
std::vector<std::size_t> top_two(const std::vector<double>& shares) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  order.resize(2);
  return order;
}

/// Whether the top two of `a` are, within a tie, among the top two of `b`.
bool are_among(const std::vector<double>& a, const std::vector<double>& b, double slack) {
  const double second = b[top_two(b)[1]];
  const std::vector<std::size_t> top = top_two(a);
  return std::all_of(top.begin(), top.end(),
                     [&](std::size_t each) { return b[each] >= second - slack; });
}

struct Score {
  int kernels{0};
  int agree{0};
  int agree_within_ties{0};
  int shares{0};
  int near{0};

  [[nodiscard]] double part(int count) const { return static_cast<double>(count) / kernels; }
  [[nodiscard]] double near_shares() const { return static_cast<double>(near) / shares; }
};

Score try_kernels(const Machine& machine, std::string_view machine_name, std::uint64_t seed) {
  Random random(seed);
  Score score;
  const int kernels = rounds(50);
  while (score.kernels < kernels) {
    const RandomKernel kernel = random_kernel(random);
    const std::vector<Factor> factors = factors_of(kernel);
    if (factors.size() < 2) continue;  // its top two are all
    const std::vector<double> found = ablate(machine, kernel, factors);
    const auto all = expected_shares(machine, kernel);
    std::vector<double> expected;
    for (const Factor each : factors) expected.push_back(all[static_cast<std::size_t>(each)]);
    ++score.kernels;
    if (are_among(found, expected, 0.0) && are_among(expected, found, 0.0)) ++score.agree;
    if (are_among(found, expected, tie) && are_among(expected, found, tie)) {
      ++score.agree_within_ties;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      ++score.shares;
      if (std::abs(found[i] - expected[i]) <= near_enough) {
        ++score.near;
      } else {
        MESSAGE(machine_name << ", kernel " << score.kernels << ", " << kernel.warps << " warps, "
                             << to_word(factors[i]) << ": ablation " << found[i] << ", account "
                             << expected[i]);
      }
    }
  }
  MESSAGE(machine_name << ": top two the same in " << score.agree << " of " << score.kernels
                       << ", but for ties in " << score.agree_within_ties << "; within 15 points "
                       << score.near << " of " << score.shares << " shares");
  return score;
}

}  // namespace

// The shares that are farther off are nearly all of one kind: many warps that queue for a local
// memory in conflict, and wait for one another at a barrier meanwhile, or have other work to do
// that is hidden behind it. The account blames what each warp waits for, ablation the conflict that
// made them.
TEST_CASE("on a machine that issues four instructions ablation says what the account says") {
  const Score score = try_kernels(preset("hopper-like"), "hopper-like", 2026);
  CHECK(score.part(score.agree) >= 0.9);
  CHECK(score.near_shares() >= 0.95);
}

// Here many kernels are bound by issue: no factor has more than some hundredths of the time, and
// which of these comes second is chance.
TEST_CASE("on a machine that issues one instruction it does so but for ties") {
  Machine machine = preset("gsi");
  machine.core.issue_width = 1;
  machine.core.scheduler = Scheduler::loose_round_robin;
  const Score score = try_kernels(machine, "gsi", 5);
  CHECK(score.part(score.agree_within_ties) >= 0.9);
  CHECK(score.near_shares() >= 0.95);
}

TEST_CASE("all builds of a kernel have the same instructions") {
  Random random(8);
  const Machine machine = preset("hopper-like");
  for (int round = 0; round < rounds(10); ++round) {
    const RandomKernel kernel = random_kernel(random);
    const std::uint64_t expected =
        simulate(machine, make_kernel(machine, kernel, 0)).warp_instructions;
    for (const std::uint32_t idealised : {1U, 2U, 3U, 8U, 21U, 63U}) {
      CHECK(simulate(machine, make_kernel(machine, kernel, idealised)).warp_instructions ==
            expected);
    }
  }
}

}  // namespace clprobe::simulator
