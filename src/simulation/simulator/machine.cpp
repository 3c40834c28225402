// SPDX-License-Identifier: Apache-2.0
// The file format of machines, the checks of their fields, and their description as devices.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "run/api/fields.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::json {
namespace {

// Maxima far above the values of any device. With these limits, the cycles of a run stay below
// 2^63.
constexpr std::int64_t max_cycles = 1000000;
constexpr std::int64_t max_entries = std::int64_t{1} << 24U;
constexpr std::int64_t max_count = std::int64_t{1} << 16U;
constexpr std::int64_t max_bytes = std::int64_t{1} << 50U;

template <typename Class>
constexpr auto count(std::string_view key, std::uint64_t Class::*member, int least = 1,
                     std::int64_t most = max_count) {
  return always(key, member).from(least, most);
}
template <typename Class>
constexpr auto cycles(std::string_view key, std::uint64_t Class::*member, int least = 1) {
  return always(key, member).from(least, max_cycles);
}
template <typename Class>
constexpr auto rate(std::string_view key, double Class::*member) {
  return always(key, member).between(0.01, 1e6);
}

}  // namespace

template <>
struct Fields<simulator::Latency> {
  static constexpr auto list = std::tuple(cycles("low", &simulator::Latency::low, 0),
                                          cycles("high", &simulator::Latency::high, 0));
};

template <>
struct Fields<simulator::Core> {
  using M = simulator::Core;
  static constexpr auto list = std::tuple(
      always("clock_ghz", &M::clock_ghz).between(0.001, 100.0),
      count("compute_units", &M::compute_units), count("warp_width", &M::warp_width, 1, 128),
      count("warp_contexts", &M::warp_contexts, 1, 1024),
      count("max_work_group_size", &M::max_work_group_size),
      count("issue_width", &M::issue_width, 1, 64), always("scheduler", &M::scheduler),
      count("pending_loads_per_warp", &M::pending_loads_per_warp, 0, max_entries),
      cycles("branch_cycles", &M::branch_cycles, 0), cycles("barrier_cycles", &M::barrier_cycles));
};

template <>
struct Fields<simulator::Instructions> {
  using M = simulator::Instructions;
  static constexpr auto list = std::tuple(cycles("start_cycles", &M::start_cycles, 0));
};

template <>
struct Fields<simulator::FunctionUnits> {
  using M = simulator::FunctionUnits;
  static constexpr auto list =
      std::tuple(count("count", &M::count, 1, 64), cycles("latency_cycles", &M::latency_cycles),
                 cycles("interval_cycles", &M::interval_cycles));
};

template <>
struct Fields<simulator::LoadStore> {
  using M = simulator::LoadStore;
  static constexpr auto list =
      std::tuple(count("queue_instructions", &M::queue_instructions, 1, 64),
                 count("lines_per_interval", &M::lines_per_interval),
                 cycles("interval_cycles", &M::interval_cycles));
};

template <>
struct Fields<simulator::LoadStoreUnits> {
  using M = simulator::LoadStoreUnits;
  static constexpr auto list = std::tuple(count("count", &M::count, 1, 16));
};

template <>
struct Fields<simulator::LocalMemory> {
  using M = simulator::LocalMemory;
  static constexpr auto list = std::tuple(
      count("bytes", &M::bytes, 0, max_bytes), count("banks", &M::banks, 1, 1024),
      count("bank_bytes", &M::bank_bytes, 1, 64),
      count("lanes_together", &M::lanes_together, 1, 128),
      cycles("latency_cycles", &M::latency_cycles), cycles("way_cycles", &M::way_cycles));
};

template <>
struct Fields<simulator::FirstLevel> {
  using M = simulator::FirstLevel;
  static constexpr auto list = std::tuple(
      count("bytes", &M::bytes, 0, max_bytes), count("line_bytes", &M::line_bytes, 4, 4096),
      count("sector_bytes", &M::sector_bytes, 4, 4096), count("ways", &M::ways),
      cycles("latency_cycles", &M::latency_cycles), always("keeps_loads", &M::keeps_loads));
};

template <>
struct Fields<simulator::Banks> {
  using M = simulator::Banks;
  static constexpr auto list = std::tuple(count("count", &M::count, 0, 1024));
};

template <>
struct Fields<simulator::Pending> {
  using M = simulator::Pending;
  static constexpr auto list =
      std::tuple(always("kind", &M::kind), count("entries", &M::entries, 0, max_entries),
                 count("mergers", &M::mergers, 0, max_entries));
};

template <>
struct Fields<simulator::StoreBuffer> {
  using M = simulator::StoreBuffer;
  static constexpr auto list = std::tuple(count("entries", &M::entries, 0, max_entries));
};

template <>
struct Fields<simulator::Translation> {
  using M = simulator::Translation;
  static constexpr auto list = std::tuple(count("entries", &M::entries, 0, 1U << 14U),
                                          count("page_bytes", &M::page_bytes, 4096, 1U << 30U),
                                          cycles("miss_cycles", &M::miss_cycles, 0));
};

template <>
struct Fields<simulator::SecondLevel> {
  using M = simulator::SecondLevel;
  static constexpr auto list = std::tuple(
      count("bytes", &M::bytes, 0, max_bytes), count("ways", &M::ways),
      always("latency_cycles", &M::latency_cycles), rate("bytes_per_cycle", &M::bytes_per_cycle),
      cycles("atomic_cycles", &M::atomic_cycles));
};

template <>
struct Fields<simulator::MainMemory> {
  using M = simulator::MainMemory;
  static constexpr auto list = std::tuple(count("bytes", &M::bytes, 0, max_bytes),
                                          always("latency_cycles", &M::latency_cycles),
                                          rate("bytes_per_cycle", &M::bytes_per_cycle));
};

template <>
struct Fields<simulator::CopyEngine> {
  using M = simulator::CopyEngine;
  static constexpr auto list = std::tuple(count("requests_per_cycle", &M::requests_per_cycle),
                                          always("granularity", &M::granularity));
};

template <>
struct Fields<simulator::Sharing> {
  using M = simulator::Sharing;
  static constexpr auto list =
      std::tuple(always("coherence", &M::coherence),
                 always("remote_latency_cycles", &M::remote_latency_cycles));
};

template <>
struct Fields<simulator::Synchronization> {
  using M = simulator::Synchronization;
  static constexpr auto list = std::tuple(always("stores_pass_releases", &M::stores_pass_releases),
                                          always("owns_atomics", &M::owns_atomics));
};

template <>
struct Fields<simulator::Machine> {
  using M = simulator::Machine;
  static constexpr auto list = std::tuple(
      always("name", &M::name), always("core", &M::core), if_any("instructions", &M::instructions),
      always("alu", &M::alu), always("special", &M::special), always("load_store", &M::load_store),
      if_any("load_store_units", &M::load_store_units), always("local", &M::local),
      always("l1", &M::l1), if_any("l1_banks", &M::l1_banks), always("pending", &M::pending),
      always("store_buffer", &M::store_buffer), if_any("translation", &M::translation),
      always("l2", &M::l2), if_any("l2_banks", &M::l2_banks), always("memory", &M::memory),
      always("copy", &M::copy), always("sharing", &M::sharing),
      if_any("synchronization", &M::synchronization));
};

}  // namespace clprobe::json

namespace clprobe::simulator {
namespace {

void require(bool holds, std::string_view path, std::string_view expected, std::uint64_t found) {
  if (!holds) throw RunFormatError(fmt::format("{}: expected {}, found {}", path, expected, found));
}

void check_latency(const Latency& latency, std::string_view path) {
  require(latency.low <= latency.high, fmt::format("{}.high", path), "at least the value of low",
          latency.high);
}

/// Maximum number of lines of a cache: 512 MiB with lines of 64 bytes. The limit bounds the
/// simulator's memory, which is about 60 bytes per accessed line. Probes access all lines before
/// they measure.
constexpr std::uint64_t max_lines = std::uint64_t{1} << 23U;

void check_lines(std::uint64_t bytes, std::uint64_t line_bytes, std::string_view path) {
  require(bytes / line_bytes <= max_lines, path,
          fmt::format("at most {} ({} lines of l1.line_bytes)", max_lines * line_bytes, max_lines),
          bytes);
}

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

/// Returns the machine of a document. Throws RunFormatError for an invalid document.
Machine decode(const json::Json& document) {
  const json::Cursor root(document);
  Machine machine;
  json::Reader::read(root, machine);
  if (machine.name.empty()) json::Cursor(root, "name").refuse("a name");
  check_together(machine);
  return machine;
}

/// Returns the cycles between two consecutive clock reads by a warp.
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
    static_cast<void>(decode(json::Writer::write({}, machine)));
  } catch (const RunFormatError& error) {
    throw MachineError(error.what());
  }
}

std::string to_json(const Machine& machine) {
  return json::many_lines(json::Writer::write({}, machine));
}

std::string to_json_line(const Machine& machine) {
  return json::one_line(json::Writer::write({}, machine));
}

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
