// SPDX-License-Identifier: Apache-2.0
// The machines that clprobe provides. Numbers without a source are marked as assumed.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "simulation/api/machine.hpp"
#include "text/api/text.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t kib = 1U << 10U;
constexpr std::uint64_t mib = 1U << 20U;
constexpr std::uint64_t gib = 1U << 30U;

/// NVIDIA Tesla M2070. Lashgar et al. 2015: 128 MSHRs with 8 mergers, 4 instructions of a warp in
/// flight. Anderson et al., quoted by Lashgar et al.: shared memory 27 cycles, global memory 570
/// cycles. Fermi whitepaper: 14 SMs, 48 warps, 16 or 48 KiB of L1, 768 KiB of L2. Assumed: the
/// latencies of L1 and L2, and one line per cycle.
Machine fermi_m2070() {
  Machine machine;
  machine.core = {.clock_ghz = 1.15,
                  .compute_units = 14,
                  .warp_contexts = 48,
                  .issue_width = 2,
                  .pending_loads_per_warp = 4,
                  .branch_cycles = 18,
                  .barrier_cycles = 10};
  machine.alu = {.count = 2, .latency_cycles = 18};
  machine.special = {.latency_cycles = 44, .interval_cycles = 8};
  machine.local = {.bytes = 48 * kib, .latency_cycles = 27};
  machine.l1 = {.bytes = 16 * kib, .sector_bytes = 128, .ways = 4, .latency_cycles = 45};
  machine.pending = {.entries = 128, .mergers = 8};
  machine.l2 = {.bytes = 768 * kib,
                .ways = 16,
                .latency_cycles = {365, 365},
                .bytes_per_cycle = 128.0,
                .atomic_cycles = 4};
  machine.memory = {.bytes = 6 * gib, .latency_cycles = {570, 570}, .bytes_per_cycle = 64.0};
  machine.sharing = {.remote_latency_cycles = {365, 365}};
  return machine;
}

/// The M2070 with three load/store units, which fits Fig. 1 of Lashgar et al. There, the latency
/// rises up to 32 threads, is flat from 33 to 96 threads, and then rises again. With three units,
/// three warps send their requests at the same time, each one line per cycle. Assumed, because no
/// published measurement exists: a second level with enough bandwidth for three units.
Machine fermi_m2070_units() {
  Machine machine = fermi_m2070();
  machine.load_store_units.count = 3;
  machine.l2.bytes_per_cycle = 384.0;
  return machine;
}

/// NVIDIA Tesla K20, for two interpretations of the measurements of Lashgar et al. Lashgar et al.:
/// 3 instructions of a warp in flight. Kepler whitepaper: 13 SMs of 64 warps, 1.25 MiB of L2.
/// Assumed: loads that bypass L1, the latencies, and 16 lines per cycle. The rate of 16 lines is
/// needed for the measured spikes of latency at 1360 requests. At one line per cycle, the first
/// answer would arrive before 1360 requests fill the table, and no spike would occur.
Machine kepler_k20(const Pending& pending) {
  Machine machine = fermi_m2070();
  machine.core.clock_ghz = 0.706;
  machine.core.compute_units = 13;
  machine.core.warp_contexts = 64;
  machine.core.issue_width = 4;
  machine.core.pending_loads_per_warp = 3;
  machine.core.branch_cycles = 10;
  machine.alu = {.count = 6, .latency_cycles = 10};
  machine.special = {.latency_cycles = 24};
  machine.load_store = {.lines_per_interval = 16};
  machine.local.latency_cycles = 33;
  machine.l1.keeps_loads = false;
  machine.pending = pending;
  machine.l2 = {.bytes = 1280 * kib,
                .ways = 16,
                .latency_cycles = {222, 222},
                .bytes_per_cycle = 2048.0,
                .atomic_cycles = 1};
  machine.memory = {.bytes = 5 * gib, .latency_cycles = {301, 301}, .bytes_per_cycle = 1024.0};
  return machine;
}

/// The K20 with a pool of requests. Spikes after 680 threads with two loads and after 454 threads
/// with three loads imply a capacity from 1360 to below 1364.
Machine kepler_k20_pool() {
  return kepler_k20({.kind = PendingKind::request_pool, .entries = 1362});
}

/// The K20 with a table of warp instructions, which is the paper's interpretation. The paper
/// concludes that the table has at least 45 entries, and computes with 44 entries of 32 requests.
Machine kepler_k20_prt() { return kepler_k20({.kind = PendingKind::prt, .entries = 44}); }

/// NVIDIA GeForce GTX 780 Ti. Okamoto et al. 2014: 15 SMs at 928 MHz, 3 GB, local memory in 64-bit
/// mode. Other numbers are taken from the K20, which is also a Kepler GPU. Assumed: 1.5 MiB of L2.
/// Of the paper's constants, c1 = 1.047 follows from one cycle per wavefront, which is a parameter;
/// c2 = 337.7 is no parameter.
Machine gtx_780_ti() {
  Machine machine = kepler_k20_pool();
  machine.core.clock_ghz = 0.928;
  machine.core.compute_units = 15;
  machine.local.bank_bytes = 8;
  machine.l2.bytes = 1536 * kib;
  machine.memory.bytes = 3 * gib;
  return machine;
}

/// Alsop 2016, table 5.1 and chapter 5: a GPU similar to a GTX 480 at 700 MHz, simulated by
/// GPGPU-Sim 3.2.1. From the GTX 480 of GPGPU-Sim: two schedulers (greedy then oldest), the
/// pipelines, and the lines of 128 bytes. Assumed: MSHRs with unlimited mergers, and banks with one
/// port each. From bench/calibrate.py: both bandwidths, and two cycles per atomic on a line.
Machine gsi() {
  Machine machine;
  machine.core = {.clock_ghz = 0.7,
                  .compute_units = 15,
                  .warp_contexts = 48,
                  .issue_width = 2,
                  .scheduler = Scheduler::greedy_then_oldest,
                  .branch_cycles = 8,
                  .barrier_cycles = 1};
  machine.alu = {.count = 2, .latency_cycles = 4};
  machine.special = {.latency_cycles = 16, .interval_cycles = 8};
  machine.local = {.bytes = 16 * kib, .latency_cycles = 1};
  machine.l1 = {.bytes = 32 * kib, .sector_bytes = 128, .ways = 8, .latency_cycles = 1};
  machine.l1_banks = {.count = 8};
  machine.pending = {.entries = 32};
  machine.l2 = {.bytes = 4 * mib,
                .ways = 16,
                .latency_cycles = {29, 61},
                .bytes_per_cycle = 256.0,
                .atomic_cycles = 2};
  machine.l2_banks = {.count = 16};
  machine.memory = {.bytes = 4 * gib, .latency_cycles = {197, 261}, .bytes_per_cycle = 256.0};
  machine.copy = {.granularity = CopyGranularity::core};
  machine.sharing = {.remote_latency_cycles = {35, 83}};
  return machine;
}

/// A machine similar to an NVIDIA H200. Published pointer chases: L1 32 cycles up to 205 KiB, L2
/// 280 cycles, memory 620 to 690 cycles, local memory 29 cycles (GH200). Published sizes: 132 SMs
/// of 64 warps. Assumed: 512 pending sectors as on Volta (Hopper has at least 320), 64 bytes per
/// cycle from L2, and one SM's share of the memory bandwidth.
Machine hopper_like() {
  Machine machine;
  machine.core = {.clock_ghz = 1.98,
                  .compute_units = 132,
                  .warp_contexts = 64,
                  .issue_width = 4,
                  .scheduler = Scheduler::greedy_then_oldest,
                  .branch_cycles = 10,
                  .barrier_cycles = 20};
  machine.alu = {.count = 4, .latency_cycles = 4};
  machine.special = {.latency_cycles = 18, .interval_cycles = 2};
  machine.load_store = {.queue_instructions = 2};
  machine.local = {.bytes = 48 * kib, .latency_cycles = 29};
  machine.l1 = {.bytes = 208 * kib, .sector_bytes = 32, .ways = 8, .latency_cycles = 32};
  machine.pending = {.entries = 512, .mergers = 8};
  machine.store_buffer = {.entries = 64};
  machine.l2 = {.bytes = 60 * mib,
                .ways = 16,
                .latency_cycles = {264, 296},
                .bytes_per_cycle = 64.0,
                .atomic_cycles = 1};
  machine.memory = {.bytes = 141 * gib, .latency_cycles = {620, 690}, .bytes_per_cycle = 18.4};
  machine.sharing = {.remote_latency_cycles = {280, 280}};
  return machine;
}

struct Preset {
  std::string_view name;
  Machine (*make)();
};

constexpr std::array presets{
    Preset{"fermi-m2070", fermi_m2070},         Preset{"fermi-m2070-units", fermi_m2070_units},
    Preset{"kepler-k20-pool", kepler_k20_pool}, Preset{"kepler-k20-prt", kepler_k20_prt},
    Preset{"gtx-780-ti", gtx_780_ti},           Preset{"gsi", gsi},
    Preset{"hopper-like", hopper_like}};

}  // namespace

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  names.reserve(presets.size());
  for (const Preset& each : presets) names.push_back(each.name);
  return names;
}

Machine preset(std::string_view name) {
  const auto* const found = std::find_if(presets.begin(), presets.end(),
                                         [&](const Preset& each) { return each.name == name; });
  if (found != presets.end()) {
    Machine machine = found->make();
    machine.name = name;
    return machine;
  }
  const std::vector<std::string_view> names = preset_names();
  const std::optional<std::string_view> meant = nearest(name, names);
  throw MachineError(fmt::format("no machine is called '{}'{}; available: {}", name,
                                 meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                                 fmt::join(names, ", ")));
}

}  // namespace clprobe::simulator
