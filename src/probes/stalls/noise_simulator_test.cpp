// SPDX-License-Identifier: Apache-2.0
// Tests noise on random kernels on a simulated compute unit. Noise must rarely contradict the cause
// that the account of the simulator puts first. Noise must contradict a cause that the kernel does
// not have.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "probes/stalls/bars.hpp"
#include "unit/random_kernels.hpp"

namespace clprobe::simulator {
namespace {

using stalls::Absorption;
using stalls::NoiseKind;
using stalls::NoisePoint;
using stalls::NoiseVerdict;
using stalls::Resource;

constexpr std::array all_resources{Resource::arithmetic, Resource::local_memory, Resource::cache,
                                   Resource::memory};
constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t far_base = std::uint64_t{8} << 32U;
constexpr std::uint64_t near_base = std::uint64_t{4} << 20U;
constexpr Register first_register = 30;
constexpr Register sum = 62;

/// Returns the program of a warp that only makes noise. As in cl/stalls_mixed.clh, the warp waits
/// for the results of its loads after every fourth load. The simulator's account of stalls is not
/// used, so the noise need not be separated from the kernel.
Program noise_program(const RandomKernel& kernel, Resource resource, std::uint64_t units,
                      std::uint64_t warp) {
  Program program;
  const std::uint64_t region = (units + 1) * line_bytes;
  for (std::uint64_t i = 0; i < units; ++i) {
    const auto result = static_cast<Register>(first_register + i % 4);
    if (resource == Resource::arithmetic) {
      program.push_back(alu(result));
      continue;
    }
    if (resource == Resource::local_memory) {
      program.push_back(local_load(result, {.lane_step = 4}));
    } else if (resource == Resource::cache) {
      program.push_back(load(result, {.base = near_base + warp * line_bytes, .lane_step = 4}));
    } else {
      program.push_back(
          load(result, {.base = far_base + (warp * kernel.turns) * region + i * line_bytes,
                        .lane_step = 4,
                        .turn_step = static_cast<std::int64_t>(region)}));
    }
    if (i % 4 == 3) program.push_back(alu(sum, {result}));
  }
  program.push_back(kernel.has_barrier ? barrier() : alu(first_register));
  program.push_back(repeat(0, kernel.turns));
  return program;
}

/// Returns the cycles of the kernel with additional warps that only make noise, as many as the
/// kernel has.
double time_with(const Machine& machine, const RandomKernel& kernel, Resource resource,
                 std::uint64_t units) {
  Trace trace = make_kernel(machine, kernel, 0);
  for (std::uint64_t w = 0; w < kernel.warps; ++w) {
    trace.programs.push_back(noise_program(kernel, resource, units, w));
    WarpWork noisy = trace.groups[0].warps[0];
    noisy.program = static_cast<std::uint32_t>(trace.programs.size() - 1);
    noisy.number = static_cast<std::uint32_t>(kernel.warps + w);
    trace.groups[0].warps.push_back(noisy);
    trace.resident.push_back(
        {.home = Resident::Home::l1, .base = near_base + w * line_bytes, .bytes = line_bytes});
  }
  return static_cast<double>(simulate(machine, trace).cycles);
}

/// Returns the absorption of noise of every kind. With the largest amount, the noise alone takes
/// `extent` times the kernel's time on its resource.
std::vector<NoiseKind> noise_of(const Machine& machine, const RandomKernel& kernel, double extent) {
  const auto usual = static_cast<double>(simulate(machine, make_kernel(machine, kernel, 0)).cycles);
  std::vector<NoiseKind> kinds;
  for (const Resource resource : all_resources) {
    // Accepted per cycle: four operations, one load from L1 or local memory, or a quarter of a line
    // from main memory.
    const double rate = resource == Resource::arithmetic ? 4.0
                        : resource == Resource::memory   ? 0.25
                                                         : 1.0;
    constexpr double most = 16.0;
    const double unit =
        usual * rate * extent / most / static_cast<double>(kernel.warps * kernel.turns);
    std::vector<NoisePoint> points;
    for (const double amount : {0.0, 1.0, 2.0, 4.0, 8.0, most}) {
      const auto units = static_cast<std::uint64_t>(unit * amount + 0.5);
      points.push_back({amount, {{time_with(machine, kernel, resource, units)}}});
    }
    kinds.push_back({resource, stalls::find_absorption(points, 0)});
  }
  return kinds;
}

Resource resource_of(Factor factor) {
  switch (factor) {
    case Factor::memory:
      return Resource::memory;
    case Factor::l2:
      return Resource::cache;
    case Factor::bank_conflict:
      return Resource::local_memory;
    case Factor::divergence:
      return Resource::arithmetic;
    default:
      return Resource::waiting;
  }
}

/// Returns the verdict on a first cause that loads `first`.
NoiseVerdict verdict_of(Resource first, const std::vector<NoiseKind>& noise) {
  return compare_with_noise(first, noise).verdict;
}

}  // namespace

TEST_CASE("noise speaks against few of the causes that the account names first") {
  const Machine machine = preset("hopper-like");
  Random random(2026);
  int kernels = 0;
  int alarms = 0;
  int credulous = 0;
  while (kernels < 12) {
    RandomKernel kernel = random_kernel(random);
    kernel.warps = std::min<std::uint64_t>(kernel.warps, 8);
    kernel.turns = 8;
    const auto shares = expected_shares(machine, kernel);
    const auto* const first = std::max_element(shares.begin(), shares.end());
    if (*first < 0.1) continue;  // no cause is large enough to be named
    ++kernels;
    const auto factor = static_cast<Factor>(first - shares.begin());
    for (const double extent : {0.5, 2.0}) {
      std::vector<NoiseKind> noise = noise_of(machine, kernel, extent);
      if (verdict_of(resource_of(factor), noise) == NoiseVerdict::inconclusive) {
        ++alarms;
        MESSAGE("kernel " << kernels << ", noise of " << extent << ": " << to_word(factor) << " "
                          << *first);
      }
      for (NoiseKind& each : noise) each.absorption.is_decisive = true;
      if (verdict_of(resource_of(factor), noise) == NoiseVerdict::inconclusive) ++credulous;
    }
  }
  MESSAGE(alarms << " false alarms in " << 2 * kernels << ", and " << credulous
                 << " when all noise is taken for enough");
  CHECK(credulous > alarms);
  CHECK(alarms <= 2 * kernels / 10);
}

TEST_CASE("noise speaks against causes that are not there where a resource is in use throughout") {
  const Machine machine = preset("hopper-like");
  // The 32 lanes of each of eight warps access one bank, so local memory is busy in every cycle.
  RandomKernel banks;
  banks.warps = 8;
  banks.turns = 8;
  banks.local_loads = 6;
  banks.local_stride = 32;
  const std::vector<NoiseKind> noise = noise_of(machine, banks, 4.0);
  CHECK(verdict_of(Resource::local_memory, noise) == NoiseVerdict::agree);
  CHECK(verdict_of(Resource::memory, noise) == NoiseVerdict::inconclusive);
  CHECK(verdict_of(Resource::waiting, noise) == NoiseVerdict::inconclusive);
}

}  // namespace clprobe::simulator
