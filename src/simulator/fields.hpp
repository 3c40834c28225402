// SPDX-License-Identifier: Apache-2.0
// Every field of a machine once: its key in a file, where it is, and its bounds. The reader, the
// writer and the check walk this one list with a visitor of their own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "clprobe/machine.hpp"

namespace clprobe::simulator {

/// Whole numbers from `least` to `most`.
struct Bounds {
  std::uint64_t least{0};
  std::uint64_t most{0};
};

// Far above any device, low enough that sums of a whole run stay below 2^63.
inline constexpr Bounds any_cycles{0, 1000000};
inline constexpr Bounds some_cycles{1, 1000000};
inline constexpr Bounds any_count{0, 1U << 24U};
inline constexpr Bounds some_count{1, 1U << 16U};
inline constexpr Bounds any_bytes{0, std::uint64_t{1} << 50U};
inline constexpr Bounds line_sizes{4, 4096};

/// The words of an enumeration, in the order of its enumerators.
template <typename Enum>
struct Words;
template <>
struct Words<Scheduler> {
  static constexpr std::array<std::string_view, 2> all{"loose-round-robin", "greedy-then-oldest"};
};
template <>
struct Words<PendingKind> {
  static constexpr std::array<std::string_view, 3> all{"mshr", "request-pool", "prt"};
};
template <>
struct Words<Coherence> {
  static constexpr std::array<std::string_view, 2> all{"gpu", "ownership"};
};
template <>
struct Words<CopyGranularity> {
  static constexpr std::array<std::string_view, 2> all{"core", "warp"};
};

template <typename Visitor, typename LatencyField>
void visit_latency(Visitor& fields, std::string_view key, LatencyField& latency) {
  fields.section(key, [&](auto& each) {
    each.natural("low", latency.low, any_cycles);
    each.natural("high", latency.high, any_cycles);
  });
}

template <typename Visitor, typename CoreField>
void visit_core(Visitor& each, CoreField& core) {
  each.real("clock_ghz", core.clock_ghz, 0.001, 100.0);
  each.natural("compute_units", core.compute_units, some_count);
  each.natural("warp_width", core.warp_width, Bounds{1, 128});
  each.natural("warp_contexts", core.warp_contexts, Bounds{1, 1024});
  each.natural("max_work_group_size", core.max_work_group_size, some_count);
  each.natural("issue_width", core.issue_width, Bounds{1, 64});
  each.word("scheduler", core.scheduler);
  each.natural("pending_loads_per_warp", core.pending_loads_per_warp, any_count);
  each.natural("branch_cycles", core.branch_cycles, any_cycles);
  each.natural("barrier_cycles", core.barrier_cycles, some_cycles);
}

template <typename Visitor, typename UnitsField>
void visit_units(Visitor& fields, std::string_view key, UnitsField& units) {
  fields.section(key, [&](auto& each) {
    each.natural("count", units.count, Bounds{1, 64});
    each.natural("latency_cycles", units.latency_cycles, some_cycles);
    each.natural("interval_cycles", units.interval_cycles, some_cycles);
  });
}

template <typename Visitor, typename MachineField>
void visit_near_memory(Visitor& fields, MachineField& machine) {
  fields.section("load_store", [&](auto& each) {
    each.natural("queue_instructions", machine.load_store.queue_instructions, Bounds{1, 64});
    each.natural("lines_per_interval", machine.load_store.lines_per_interval, some_count);
    each.natural("interval_cycles", machine.load_store.interval_cycles, some_cycles);
  });
  // Machines were written before they could have several.
  const bool has_several = machine.load_store.units > 1;
  fields.optional_section("load_store_units", has_several, [&](auto& each) {
    each.natural("count", machine.load_store.units, Bounds{1, 16});
  });
  fields.section("local", [&](auto& each) {
    each.natural("bytes", machine.local.bytes, any_bytes);
    each.natural("banks", machine.local.banks, Bounds{1, 1024});
    each.natural("bank_bytes", machine.local.bank_bytes, Bounds{1, 64});
    each.natural("lanes_together", machine.local.lanes_together, Bounds{1, 128});
    each.natural("latency_cycles", machine.local.latency_cycles, some_cycles);
    each.natural("way_cycles", machine.local.way_cycles, some_cycles);
  });
  fields.section("l1", [&](auto& each) {
    each.natural("bytes", machine.l1.bytes, any_bytes);
    each.natural("line_bytes", machine.l1.line_bytes, line_sizes);
    each.natural("sector_bytes", machine.l1.sector_bytes, line_sizes);
    each.natural("ways", machine.l1.ways, some_count);
    each.natural("latency_cycles", machine.l1.latency_cycles, some_cycles);
    each.boolean("keeps_loads", machine.l1.keeps_loads);
  });
  // Machines were written before they could have them.
  fields.optional_section("l1_banks", machine.l1_banks.count > 0, [&](auto& each) {
    each.natural("count", machine.l1_banks.count, Bounds{0, 1024});
  });
  fields.section("pending", [&](auto& each) {
    each.word("kind", machine.pending.kind);
    each.natural("entries", machine.pending.entries, any_count);
    each.natural("mergers", machine.pending.mergers, any_count);
  });
  fields.section("store_buffer", [&](auto& each) {
    each.natural("entries", machine.store_buffer.entries, any_count);
  });
}

template <typename Visitor, typename MachineField>
void visit_far_memory(Visitor& fields, MachineField& machine) {
  // Machines were written before they had one.
  fields.optional_section("translation", machine.translation.entries > 0, [&](auto& each) {
    each.natural("entries", machine.translation.entries, Bounds{0, 1U << 14U});
    each.natural("page_bytes", machine.translation.page_bytes, Bounds{4096, 1U << 30U});
    each.natural("miss_cycles", machine.translation.miss_cycles, any_cycles);
  });
  fields.section("l2", [&](auto& each) {
    each.natural("bytes", machine.l2.bytes, any_bytes);
    each.natural("ways", machine.l2.ways, some_count);
    visit_latency(each, "latency_cycles", machine.l2.latency_cycles);
    each.real("bytes_per_cycle", machine.l2.bytes_per_cycle, 0.01, 1e6);
    each.natural("atomic_cycles", machine.l2.atomic_cycles, some_cycles);
  });
  // Machines were written when one unit alone was simulated.
  fields.optional_section("l2_banks", machine.l2_banks.count > 0, [&](auto& each) {
    each.natural("count", machine.l2_banks.count, Bounds{0, 1024});
  });
  fields.section("memory", [&](auto& each) {
    each.natural("bytes", machine.memory.bytes, any_bytes);
    visit_latency(each, "latency_cycles", machine.memory.latency_cycles);
    each.real("bytes_per_cycle", machine.memory.bytes_per_cycle, 0.01, 1e6);
  });
  fields.section("copy", [&](auto& each) {
    each.natural("requests_per_cycle", machine.copy.requests_per_cycle, some_count);
    each.word("granularity", machine.copy.granularity);
  });
  fields.section("sharing", [&](auto& each) {
    each.word("coherence", machine.sharing.coherence);
    visit_latency(each, "remote_latency_cycles", machine.sharing.remote_latency_cycles);
  });
  // Machines were written before they could have it.
  const bool is_published = machine.synchronization == Synchronization{};
  fields.optional_section("synchronization", !is_published, [&](auto& each) {
    each.boolean("stores_pass_releases", machine.synchronization.stores_pass_releases);
    each.boolean("owns_atomics", machine.synchronization.owns_atomics);
  });
}

/// `MachineField` is Machine or const Machine.
template <typename Visitor, typename MachineField>
void visit_machine(Visitor& fields, MachineField& machine) {
  fields.text("name", machine.name);
  fields.section("core", [&](auto& each) { visit_core(each, machine.core); });
  // Machines were written before they could have it.
  const bool has_start = machine.instructions.start_cycles > 0;
  fields.optional_section("instructions", has_start, [&](auto& each) {
    each.natural("start_cycles", machine.instructions.start_cycles, any_cycles);
  });
  visit_units(fields, "alu", machine.alu);
  visit_units(fields, "special", machine.special);
  visit_near_memory(fields, machine);
  visit_far_memory(fields, machine);
}

}  // namespace clprobe::simulator
