// SPDX-License-Identifier: Apache-2.0
// A machine's file and its checks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/api/json.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {
namespace {

// The one list of a machine's fields: key in a file, member, and bounds. The reader and the writer
// walk it with a visitor of their own.

/// Whole numbers from `least` to `most`.
struct Bounds {
  std::uint64_t least{0};
  std::uint64_t most{0};
};

// Bounds far above any device, low enough that sums of a whole run stay below 2^63.
constexpr Bounds any_cycles{0, 1000000};
constexpr Bounds some_cycles{1, 1000000};
constexpr Bounds any_count{0, 1U << 24U};
constexpr Bounds some_count{1, 1U << 16U};
constexpr Bounds any_bytes{0, std::uint64_t{1} << 50U};
constexpr Bounds line_sizes{4, 4096};

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
  each.word("scheduler", core.scheduler, scheduler_words);
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
  // Optional: older files have no such section, and one unit.
  const bool has_several = machine.load_store.units != 1;
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
  // Optional: older files have no such section, and no ports.
  fields.optional_section("l1_banks", machine.l1_banks.count > 0, [&](auto& each) {
    each.natural("count", machine.l1_banks.count, Bounds{0, 1024});
  });
  fields.section("pending", [&](auto& each) {
    each.word("kind", machine.pending.kind, pending_kind_words);
    each.natural("entries", machine.pending.entries, any_count);
    each.natural("mergers", machine.pending.mergers, any_count);
  });
  fields.section("store_buffer", [&](auto& each) {
    each.natural("entries", machine.store_buffer.entries, any_count);
  });
}

template <typename Visitor, typename MachineField>
void visit_far_memory(Visitor& fields, MachineField& machine) {
  // Optional: older files have no such section, and no translation.
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
  // Optional: older files have no such section, from a time when one unit was simulated.
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
    each.word("granularity", machine.copy.granularity, copy_granularity_words);
  });
  fields.section("sharing", [&](auto& each) {
    each.word("coherence", machine.sharing.coherence, coherence_words);
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

using json::Cursor;
using json::Json;

class Writer {
 public:
  void text(std::string_view key, const std::string& value) { put(key, value); }
  void natural(std::string_view key, std::uint64_t value, Bounds) { put(key, value); }
  void real(std::string_view key, double value, double, double) { put(key, value); }
  void boolean(std::string_view key, bool value) { put(key, value); }
  template <typename Enum, typename Table>
  void word(std::string_view key, Enum value, const Table& words) {
    put(key, std::string(word_in(words, value)));
  }
  template <typename Visit>
  void optional_section(std::string_view key, bool is_there, Visit visit) {
    if (is_there) section(key, visit);
  }
  template <typename Visit>
  void section(std::string_view key, Visit visit) {
    Writer inner;
    visit(inner);
    put(key, inner.object_);
  }

  [[nodiscard]] const Json& object() const { return object_; }

 private:
  template <typename Value>
  void put(std::string_view key, const Value& value) {
    object_[std::string(key)] = value;
  }

  Json object_ = Json::object();
};

template <typename Table>
std::vector<std::string_view> all_words(const Table& table) {
  std::vector<std::string_view> words;
  words.reserve(std::size(table));
  for (const auto& each : table) words.push_back(each.word);
  return words;
}

class Reader {
 public:
  explicit Reader(const Cursor& cursor) : cursor_(cursor) { cursor_.expect_any_object(); }

  void text(std::string_view key, std::string& value) {
    const Cursor found = at(key);
    value = found.text();
    if (value.empty()) found.refuse("a name");
  }
  void natural(std::string_view key, std::uint64_t& value, Bounds bounds) {
    const Cursor found = at(key);
    const auto expected = [&] {
      return fmt::format("an integer from {} to {}", bounds.least, bounds.most);
    };
    if (found.is_missing()) found.refuse(expected());
    value = found.natural();
    if (value < bounds.least || value > bounds.most) found.refuse(expected());
  }
  void real(std::string_view key, double& value, double least, double most) {
    const Cursor found = at(key);
    value = found.number();
    if (!(value >= least && value <= most)) {
      found.refuse(fmt::format("a number from {} to {}", least, most));
    }
  }
  void boolean(std::string_view key, bool& value) { value = at(key).boolean(); }
  template <typename Enum, typename Table>
  void word(std::string_view key, Enum& value, const Table& words) {
    const Cursor found = at(key);
    const auto known = value_in(words, found.text());
    if (!known) found.refuse(fmt::format("one of {}", fmt::join(all_words(words), ", ")));
    value = *known;
  }
  template <typename Visit>
  void optional_section(std::string_view key, bool, Visit visit) {
    if (!at(key).is_missing()) section(key, visit);
  }
  template <typename Visit>
  void section(std::string_view key, Visit visit) {
    const Cursor found = at(key);
    Reader inner(found);
    visit(inner);
    inner.refuse_others();
  }

  void refuse_others() const {
    cursor_.for_each_member([&](std::string_view key, const Cursor& value) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        value.refuse("no key of this name");
      }
    });
  }

 private:
  Cursor at(std::string_view key) {
    known_.push_back(key);
    return {cursor_, key};
  }

  const Cursor& cursor_;
  std::vector<std::string_view> known_{};
};

void require(bool holds, std::string_view path, std::string_view expected, std::uint64_t found) {
  if (!holds) throw RunFormatError(fmt::format("{}: expected {}, found {}", path, expected, found));
}

void check_latency(const Latency& latency, std::string_view path) {
  require(latency.low <= latency.high, fmt::format("{}.high", path), "at least low", latency.high);
}

/// The simulator holds every line that was touched, with some 60 bytes, and walks all of them
/// before it measures: a cache of more lines fits neither memory nor patience. 512 MiB of lines of
/// 64 bytes.
constexpr std::uint64_t max_lines = std::uint64_t{1} << 23U;

void check_lines(std::uint64_t bytes, std::uint64_t line_bytes, std::string_view path) {
  require(bytes / line_bytes <= max_lines, path,
          fmt::format("at most {} ({} lines of l1.line_bytes)", max_lines * line_bytes, max_lines),
          bytes);
}

/// Checks fields against each other.
void check_together(const Machine& machine) {
  const FirstLevel& l1 = machine.l1;
  require(std::has_single_bit(l1.line_bytes), "l1.line_bytes", "a power of two", l1.line_bytes);
  require(std::has_single_bit(l1.sector_bytes) && l1.sector_bytes <= l1.line_bytes,
          "l1.sector_bytes", "a power of two up to l1.line_bytes", l1.sector_bytes);
  require(l1.line_bytes / l1.sector_bytes <= 32, "l1.sector_bytes", "at least l1.line_bytes / 32",
          l1.sector_bytes);
  require(l1.bytes % (l1.line_bytes * l1.ways) == 0, "l1.bytes",
          "a multiple of l1.line_bytes times l1.ways", l1.bytes);
  require(machine.l2.bytes % (l1.line_bytes * machine.l2.ways) == 0, "l2.bytes",
          "a multiple of l1.line_bytes times l2.ways", machine.l2.bytes);
  check_lines(l1.bytes, l1.line_bytes, "l1.bytes");
  check_lines(machine.l2.bytes, l1.line_bytes, "l2.bytes");
  const Core& core = machine.core;
  require(core.max_work_group_size <= core.warp_contexts * core.warp_width,
          "core.max_work_group_size", "at most core.warp_contexts times core.warp_width",
          core.max_work_group_size);
  check_latency(machine.l2.latency_cycles, "l2.latency_cycles");
  check_latency(machine.memory.latency_cycles, "memory.latency_cycles");
  check_latency(machine.sharing.remote_latency_cycles, "sharing.remote_latency_cycles");
}

Json encode(const Machine& machine) {
  Writer writer;
  visit_machine(writer, machine);
  return writer.object();
}

/// Throws RunFormatError for a document that is no machine.
Machine decode(const Json& document) {
  const Cursor root(document);
  Reader reader(root);
  Machine machine;
  visit_machine(reader, machine);
  reader.refuse_others();
  check_together(machine);
  return machine;
}

/// Cycles between two clock reads of one warp with nothing in between.
std::uint64_t clock_overhead(const Machine& machine) {
  Trace trace;
  trace.programs = {{read_clock(0), read_clock(1)}};
  trace.groups = {make_group(machine, 1)};
  const Result result = simulate(machine, trace);
  return result.clock_reads.at(1).cycle - result.clock_reads.at(0).cycle;
}

}  // namespace

void check(const Machine& machine) {
  try {
    static_cast<void>(decode(encode(machine)));
  } catch (const RunFormatError& error) {
    throw MachineError(error.what());
  }
}

std::string to_json(const Machine& machine) { return json::many_lines(encode(machine)); }

std::string to_json_line(const Machine& machine) { return json::one_line(encode(machine)); }

Machine machine_from_json(std::string_view text) { return decode(json::parse(text)); }

DeviceInfo describe_device(const Machine& machine) {
  check(machine);
  const auto whole = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  DeviceInfo device;
  device.platform = "clprobe simulator";
  device.name = "simulated " + machine.name;
  device.type = DeviceType::simulated;
  device.vendor = "clprobe";
  device.driver = "cycle by cycle";
  device.version = "no OpenCL";
  device.compute_units = whole(machine.core.compute_units);
  device.sub_group_size = whole(machine.core.warp_width);
  device.max_work_group_size = whole(machine.core.max_work_group_size);
  device.global_memory = {machine.memory.bytes};
  device.max_allocation = {machine.memory.bytes / 4};
  device.local_memory = {machine.local.bytes};
  device.cache_line = {machine.l1.line_bytes};
  device.pointers_stay_valid = true;
  const double rate = machine.core.clock_ghz;
  device.clock = {.kind = ClockKind::simulated,
                  .rate = ClockRate::core_cycles,
                  .overhead_ticks = clock_overhead(machine),
                  .quantum_ticks = 1,
                  .ticks_per_ns = rate,
                  .ticks_per_ns_low = rate,
                  .ticks_per_ns_high = rate,
                  .r_squared = 1.0};
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.reported.set("cache_bytes", whole(machine.l2.bytes));
  device.reported.set("machine", to_json_line(machine));
  return device;
}

}  // namespace clprobe::simulator
