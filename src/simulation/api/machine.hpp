// SPDX-License-Identifier: Apache-2.0
// The parameters of a simulated machine: its compute units and memories, with their latencies and
// limits. Times are in cycles of the core's clock, sizes in bytes. Latencies are from load to use:
// if a load issues in cycle t, an instruction in cycle t + latency can use the loaded value.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/words.hpp"

namespace clprobe {
namespace simulator {

using clprobe::to_word;

/// The order in which ready warps issue instructions.
enum class Scheduler { loose_round_robin, greedy_then_oldest };

/// The resource that limits the number of loads in flight to the next level.
/// `mshr`: an MSHR per line; up to `mergers` requests for the line share it.
/// `request_pool`: an entry per request.
/// `prt`: an entry per warp instruction, for all of its lines (pending-request table).
/// Source: Lashgar, Salehi, Baniasadi, Understanding outstanding memory request handling resources
/// in GPGPUs, 2015, section 2. `request_pool` is our interpretation of their K20 figures.
enum class PendingKind { mshr, request_pool, prt };

/// The coherence protocol of the compute units' first-level caches. `gpu`: stores are written
/// through, an acquire invalidates the cache, and a release flushes the store buffer. `ownership`:
/// a release registers written lines as owned. An owned line stays valid through acquires, needs no
/// further flush, and serves requests of other units. Source: Alsop, GSI, 2016, section 6.1.1.
enum class Coherence { gpu, ownership };

/// The local accesses that a copy into local memory blocks until it completes (Alsop, section
/// 6.2.1). `core`: all accesses of the compute unit. `warp`: only accesses to the copy by the warp
/// that started it.
enum class CopyGranularity { core, warp };

/// A range of latencies in cycles. A hash of line and seed selects the latency of each line.
struct Latency {
  std::uint64_t low{0};
  std::uint64_t high{0};

  friend bool operator==(const Latency&, const Latency&) = default;
};

/// The number of compute units, and each unit's clock, warp contexts and issue stage.
struct Core {
  double clock_ghz{1.0};
  std::uint64_t compute_units{1};  ///< number of compute units of the device
  std::uint64_t warp_width{32};
  std::uint64_t warp_contexts{48};
  std::uint64_t max_work_group_size{1024};
  std::uint64_t issue_width{1};
  Scheduler scheduler{Scheduler::loose_round_robin};
  std::uint64_t pending_loads_per_warp{0};  ///< maximum number; 0: no limit
  /// Cycles from a branch to the next instruction of the warp.
  std::uint64_t branch_cycles{8};
  std::uint64_t barrier_cycles{1};  ///< cycles from the last warp's arrival to the next instruction

  friend bool operator==(const Core&, const Core&) = default;
};

/// The supply of instructions to warps, for which the published machines give no numbers.
struct Instructions {
  std::uint64_t start_cycles{0};  ///< cycles from a warp's dispatch to its first instruction

  friend bool operator==(const Instructions&, const Instructions&) = default;
};

/// Pipelines of one kind. Each pipeline accepts a warp instruction every `interval_cycles`.
struct FunctionUnits {
  std::uint64_t count{1};
  std::uint64_t latency_cycles{4};
  std::uint64_t interval_cycles{1};

  friend bool operator==(const FunctionUnits&, const FunctionUnits&) = default;
};

/// A load/store unit. The unit accepts warp instructions in order and splits each instruction into
/// lines. Every `interval_cycles`, it sends `lines_per_interval` lines.
struct LoadStore {
  std::uint64_t queue_instructions{1};  ///< capacity, including the instruction being sent
  std::uint64_t lines_per_interval{1};
  std::uint64_t interval_cycles{1};

  friend bool operator==(const LoadStore&, const LoadStore&) = default;
};

/// The load/store units of a compute unit. Loads of global memory go to the unit with the shortest
/// queue. All other accesses go to the first unit, so their order is kept.
struct LoadStoreUnits {
  std::uint64_t count{1};

  friend bool operator==(const LoadStoreUnits&, const LoadStoreUnits&) = default;
};

/// Banked local memory. Groups of `lanes_together` lanes are served at once. A group whose lanes
/// access n different words of one bank takes n * `way_cycles`. Accesses wider than a bank have
/// smaller groups.
struct LocalMemory {
  std::uint64_t bytes{49152};
  std::uint64_t banks{32};
  std::uint64_t bank_bytes{4};
  std::uint64_t lanes_together{32};
  std::uint64_t latency_cycles{30};
  std::uint64_t way_cycles{1};

  friend bool operator==(const LocalMemory&, const LocalMemory&) = default;
};

/// First-level cache: set-associative, filled by sectors, with least-recently-used replacement.
struct FirstLevel {
  std::uint64_t bytes{16384};  ///< 0: no first-level cache
  std::uint64_t line_bytes{128};
  std::uint64_t sector_bytes{32};
  std::uint64_t ways{4};
  std::uint64_t latency_cycles{30};
  bool keeps_loads{true};  ///< false: loads of global memory bypass the cache

  friend bool operator==(const FirstLevel&, const FirstLevel&) = default;
};

/// Banks of a cache, interleaved by line.
///
/// First level: each bank has one port. A request or an arriving line occupies the port of its bank
/// for one cycle; arriving lines have priority. Local memory also has one port. An arriving line
/// occupies this port for one cycle, and a local access for all of its ways. A request to an
/// occupied port waits, which is a bank conflict.
///
/// Second level: each bank accepts one request per cycle from all simulated compute units together.
/// In a simulation of one compute unit, these banks set no limit.
struct Banks {
  std::uint64_t count{0};  ///< 0: no limit on simultaneous accesses

  friend bool operator==(const Banks&, const Banks&) = default;
};

struct Pending {
  PendingKind kind{PendingKind::mshr};
  std::uint64_t entries{128};  ///< number of entries; 0: no limit
  std::uint64_t mergers{0};    ///< maximum requests per MSHR, including the first; 0: no limit

  friend bool operator==(const Pending&, const Pending&) = default;
};

/// Write-combining buffer with one entry per line. The buffer is flushed when it is full, by a
/// release, and at the end of the launch.
struct StoreBuffer {
  std::uint64_t entries{32};  ///< number of lines; 0: no limit

  friend bool operator==(const StoreBuffer&, const StoreBuffer&) = default;
};

/// Translation buffer between the first and the second level: fully associative, with
/// least-recently-used replacement. A miss delays the request for a line by `miss_cycles`.
struct Translation {
  std::uint64_t entries{0};  ///< 0: translation takes no time
  std::uint64_t page_bytes{65536};
  std::uint64_t miss_cycles{200};

  friend bool operator==(const Translation&, const Translation&) = default;
};

struct SecondLevel {
  std::uint64_t bytes{786432};  ///< 0: no second-level cache
  std::uint64_t ways{16};
  Latency latency_cycles{200, 200};
  double bytes_per_cycle{64.0};    ///< bandwidth per compute unit
  std::uint64_t atomic_cycles{1};  ///< cycles between two atomics on one line

  friend bool operator==(const SecondLevel&, const SecondLevel&) = default;
};

struct MainMemory {
  std::uint64_t bytes{std::uint64_t{1} << 30U};
  Latency latency_cycles{500, 500};  ///< latency from the core, including L2
  double bytes_per_cycle{32.0};      ///< bandwidth per compute unit

  friend bool operator==(const MainMemory&, const MainMemory&) = default;
};

/// Engine that copies between global and local memory in the background and bypasses the first
/// level.
struct CopyEngine {
  std::uint64_t requests_per_cycle{1};
  CopyGranularity granularity{CopyGranularity::warp};

  friend bool operator==(const CopyEngine&, const CopyEngine&) = default;
};

struct Sharing {
  Coherence coherence{Coherence::gpu};
  Latency remote_latency_cycles{200, 200};  ///< latency of a line that another compute unit owns

  friend bool operator==(const Sharing&, const Sharing&) = default;
};

/// Features that make synchronization cheaper (Alsop 2016, section 6.1.4). The published machines
/// have neither feature.
struct Synchronization {
  /// True if stores after a release may issue while the release still flushes earlier stores. A
  /// queue separates later stores from earlier stores (the S-FIFO of QuickRelease).
  bool stores_pass_releases{false};
  /// True if the first level owns locks that no other compute unit requests. Accesses to these
  /// locks do not reach the second level (owned atomics, or atomics scoped to the compute unit).
  bool owns_atomics{false};

  friend bool operator==(const Synchronization&, const Synchronization&) = default;
};

/// A simulated machine. Machine files may omit the sections that older versions lack:
/// `instructions`, `load_store_units`, the banks, `translation` and `synchronization`.
struct Machine {
  std::string name{"unnamed"};
  Core core{};
  Instructions instructions{};
  FunctionUnits alu{};
  FunctionUnits special{1, 16, 4};  ///< pipelines of slow operations, such as square roots
  LoadStore load_store{};
  LoadStoreUnits load_store_units{};
  LocalMemory local{};
  FirstLevel l1{};
  Banks l1_banks{};
  Pending pending{};
  StoreBuffer store_buffer{};
  Translation translation{};
  SecondLevel l2{};
  Banks l2_banks{};
  MainMemory memory{};
  CopyEngine copy{};
  Sharing sharing{};
  Synchronization synchronization{};

  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Error of an invalid machine ("l1.sector_bytes: expected a power of two up to l1.line_bytes,
/// found 48") or of an unknown preset.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MachineError for the first field that is out of range or contradicts another field.
void check(const Machine& machine);

/// Returns the names of the machines in presets.cpp, which gives the sources of their numbers.
std::vector<std::string_view> preset_names();
/// Returns a preset. Throws MachineError with all names and the nearest name for an unknown name.
Machine preset(std::string_view name);

/// Returns a machine file: one JSON object that ends with a newline.
std::string to_json(const Machine& machine);
/// Returns the JSON object of to_json() on one line.
std::string to_json_line(const Machine& machine);
/// Reads a machine file. Throws RunFormatError with the JSON path and the expected value. Also
/// throws RunFormatError for a machine that check() refuses.
Machine machine_from_json(std::string_view text);

/// Returns the machine as a device, with the properties that a driver would report. The clock's
/// overhead is the number of cycles between two clock reads in a simulation. Throws MachineError.
DeviceInfo describe_device(const Machine& machine);

}  // namespace simulator

template <>
struct EnumWords<simulator::Scheduler> {
  static constexpr std::array table{
      Word{simulator::Scheduler::loose_round_robin, "loose-round-robin"},
      Word{simulator::Scheduler::greedy_then_oldest, "greedy-then-oldest"}};
};
template <>
struct EnumWords<simulator::PendingKind> {
  static constexpr std::array table{Word{simulator::PendingKind::mshr, "mshr"},
                                    Word{simulator::PendingKind::request_pool, "request-pool"},
                                    Word{simulator::PendingKind::prt, "prt"}};
};
template <>
struct EnumWords<simulator::Coherence> {
  static constexpr std::array table{Word{simulator::Coherence::gpu, "gpu"},
                                    Word{simulator::Coherence::ownership, "ownership"}};
};
template <>
struct EnumWords<simulator::CopyGranularity> {
  static constexpr std::array table{Word{simulator::CopyGranularity::core, "core"},
                                    Word{simulator::CopyGranularity::warp, "warp"}};
};

}  // namespace clprobe
