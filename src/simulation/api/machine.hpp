// SPDX-License-Identifier: Apache-2.0
// A compute unit to simulate, as plain data: what it has, how long things take, where they block.
//
// Times are cycles of the core's clock, sizes bytes. A latency is load-to-use: a load that issues
// at cycle t and is served at a latency of n gives its value to an instruction at t + n.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/words.hpp"

namespace clprobe::simulator {

/// The order in which ready warps issue.
enum class Scheduler { loose_round_robin, greedy_then_oldest };

/// The kind of limit on loads that are under way to the next level.
/// `mshr`: one entry a line, which further requests to that line join, up to `mergers`.
/// `request_pool`: one entry a request, whatever its line.
/// `prt`: one entry a warp instruction, however many lines it asks for (pending-request table).
/// Source: Lashgar, Salehi, Baniasadi, Understanding outstanding memory request handling resources
/// in GPGPUs, 2015, section 2; the pool is a reading of their K20 figures.
enum class PendingKind { mshr, request_pool, prt };

/// The coherence of the caches of several compute units. `gpu`: stores are written through, an
/// acquire invalidates the first-level cache, a release flushes the store buffer. `ownership`: a
/// release registers written lines as owned; those stay through acquires and need no flush again,
/// and a line that another unit owns comes from there. Source: Alsop, GSI, 2016, section 6.1.1.
enum class Coherence { gpu, ownership };

/// The scope that an incomplete copy into local memory blocks (Alsop, section 6.2.1).
enum class CopyGranularity { core, warp };

/// The words of a machine file.
inline constexpr Word<Scheduler> scheduler_words[]{
    {Scheduler::loose_round_robin, "loose-round-robin"},
    {Scheduler::greedy_then_oldest, "greedy-then-oldest"}};
inline constexpr Word<PendingKind> pending_kind_words[]{{PendingKind::mshr, "mshr"},
                                                        {PendingKind::request_pool, "request-pool"},
                                                        {PendingKind::prt, "prt"}};
inline constexpr Word<Coherence> coherence_words[]{{Coherence::gpu, "gpu"},
                                                   {Coherence::ownership, "ownership"}};
inline constexpr Word<CopyGranularity> copy_granularity_words[]{{CopyGranularity::core, "core"},
                                                                {CopyGranularity::warp, "warp"}};
inline std::string_view to_word(PendingKind kind) { return word_in(pending_kind_words, kind); }

/// A latency that depends on where a line lies: between both ends, by a hash of line and seed.
struct Latency {
  std::uint64_t low{0};
  std::uint64_t high{0};

  friend bool operator==(const Latency&, const Latency&) = default;
};

/// Warps, and what issues their instructions.
struct Core {
  double clock_ghz{1.0};
  std::uint64_t compute_units{1};  ///< of the device
  std::uint64_t warp_width{32};
  std::uint64_t warp_contexts{48};
  std::uint64_t max_work_group_size{1024};
  std::uint64_t issue_width{1};
  Scheduler scheduler{Scheduler::loose_round_robin};
  std::uint64_t pending_loads_per_warp{0};  ///< limit of the scoreboard; 0: none
  std::uint64_t branch_cycles{8};           ///< until the next instruction of a divergent warp
  std::uint64_t barrier_cycles{1};          ///< from the last arrival

  friend bool operator==(const Core&, const Core&) = default;
};

/// The supply of instructions to the warps, which the published machines leave open.
struct Instructions {
  std::uint64_t start_cycles{0};  ///< from a warp's dispatch to its first instruction

  friend bool operator==(const Instructions&, const Instructions&) = default;
};

/// Pipelines of one kind. Each takes a warp instruction every `interval_cycles`.
struct FunctionUnits {
  std::uint64_t count{1};
  std::uint64_t latency_cycles{4};
  std::uint64_t interval_cycles{1};

  friend bool operator==(const FunctionUnits&, const FunctionUnits&) = default;
};

/// The load/store units: each takes warp instructions in order, splits each into lines and sends
/// `lines_per_interval` of them every `interval_cycles`. Loads of global memory go to the unit that
/// has least to do; all else, which has an order or one local memory, to the first.
struct LoadStore {
  std::uint64_t queue_instructions{1};  ///< capacity, with the instruction at work
  std::uint64_t lines_per_interval{1};
  std::uint64_t interval_cycles{1};
  std::uint64_t units{1};

  friend bool operator==(const LoadStore&, const LoadStore&) = default;
};

/// Banked local memory. `lanes_together` are served at once; if the busiest bank has to give n
/// different words to them, they take n ways, each `way_cycles`. Wider accesses go in more parts.
struct LocalMemory {
  std::uint64_t bytes{49152};
  std::uint64_t banks{32};
  std::uint64_t bank_bytes{4};
  std::uint64_t lanes_together{32};
  std::uint64_t latency_cycles{30};
  std::uint64_t way_cycles{1};

  friend bool operator==(const LocalMemory&, const LocalMemory&) = default;
};

/// The first-level cache: lines in sets, filled by sectors, least recently used out first.
struct FirstLevel {
  std::uint64_t bytes{16384};  ///< 0: there is none
  std::uint64_t line_bytes{128};
  std::uint64_t sector_bytes{32};
  std::uint64_t ways{4};
  std::uint64_t latency_cycles{30};
  bool keeps_loads{true};  ///< false: loads of global memory go past it

  friend bool operator==(const FirstLevel&, const FirstLevel&) = default;
};

/// Banks of the first level, by line, each with one port: a request takes its line's bank for a
/// cycle, and so does a line that comes, which goes first. Local memory is then of one port, too: a
/// line that comes for it takes it for a cycle. Who finds the port taken waits: a bank conflict.
struct FirstLevelBanks {
  std::uint64_t count{0};  ///< 0: any number of requests at once, and what comes delays nobody

  friend bool operator==(const FirstLevelBanks&, const FirstLevelBanks&) = default;
};

struct Pending {
  PendingKind kind{PendingKind::mshr};
  std::uint64_t entries{128};  ///< 0: no limit
  std::uint64_t mergers{0};    ///< requests that one MSHR serves, the first included; 0: no limit

  friend bool operator==(const Pending&, const Pending&) = default;
};

/// Write-combining, one entry a line. Flushed when it is full, by a release and at the end.
struct StoreBuffer {
  std::uint64_t entries{32};  ///< 0: no limit

  friend bool operator==(const StoreBuffer&, const StoreBuffer&) = default;
};

/// A translation buffer between the first level and all that lies behind it, fully associative,
/// least recently used out first. A page that is not in it delays its line by `miss_cycles`.
struct Translation {
  std::uint64_t entries{0};  ///< 0: every page is translated at once
  std::uint64_t page_bytes{65536};
  std::uint64_t miss_cycles{200};

  friend bool operator==(const Translation&, const Translation&) = default;
};

struct SecondLevel {
  std::uint64_t bytes{786432};  ///< 0: there is none
  std::uint64_t ways{16};
  Latency latency_cycles{200, 200};
  double bytes_per_cycle{64.0};    ///< of one compute unit
  std::uint64_t atomic_cycles{1};  ///< between two atomics on one line

  friend bool operator==(const SecondLevel&, const SecondLevel&) = default;
};

/// Banks of the second level, by line: each takes a request a cycle of all compute units that are
/// simulated together. One unit alone sends no more.
struct SecondLevelBanks {
  std::uint64_t count{0};  ///< 0: any number of requests at once

  friend bool operator==(const SecondLevelBanks&, const SecondLevelBanks&) = default;
};

struct MainMemory {
  std::uint64_t bytes{std::uint64_t{1} << 30U};
  Latency latency_cycles{500, 500};  ///< the whole way from the core
  double bytes_per_cycle{32.0};      ///< of one compute unit

  friend bool operator==(const MainMemory&, const MainMemory&) = default;
};

/// Moves memory to local memory and back beside the warps, past the first-level cache.
struct CopyEngine {
  std::uint64_t requests_per_cycle{1};
  CopyGranularity granularity{CopyGranularity::warp};

  friend bool operator==(const CopyEngine&, const CopyEngine&) = default;
};

struct Sharing {
  Coherence coherence{Coherence::gpu};
  Latency remote_latency_cycles{200, 200};  ///< to a line that another compute unit owns

  friend bool operator==(const Sharing&, const Sharing&) = default;
};

/// Features that would make synchronization cheaper (outlook of Alsop 2016, section 6.1.4).
/// The published machines have neither.
struct Synchronization {
  /// Stores behind a release issue while it flushes those before it, which a queue keeps apart
  /// (QuickRelease's S-FIFO).
  bool stores_pass_releases{false};
  /// A lock that no other unit wants is owned by this unit's first level, and takes no way to the
  /// second: owned atomics, or such as are scoped to the unit.
  bool owns_atomics{false};

  friend bool operator==(const Synchronization&, const Synchronization&) = default;
};

struct Machine {
  std::string name{"unnamed"};
  Core core{};
  Instructions instructions{};
  FunctionUnits alu{};
  FunctionUnits special{1, 16, 4};  ///< for the slower operations: square roots and the like
  LoadStore load_store{};
  LocalMemory local{};
  FirstLevel l1{};
  FirstLevelBanks l1_banks{};
  Pending pending{};
  StoreBuffer store_buffer{};
  Translation translation{};
  SecondLevel l2{};
  SecondLevelBanks l2_banks{};
  MainMemory memory{};
  CopyEngine copy{};
  Sharing sharing{};
  Synchronization synchronization{};

  friend bool operator==(const Machine&, const Machine&) = default;
};

/// A machine that cannot be: "l1.sector_bytes: expected a power of two up to l1.line_bytes, found
/// 48". Also a word that names no preset.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MachineError at the first field that is out of its bounds or does not fit another.
void check(const Machine& machine);

/// The machines that come with clprobe; where their numbers are from stands in presets.cpp.
std::vector<std::string_view> preset_names();
/// Throws MachineError with the list and the nearest name.
Machine preset(std::string_view name);

/// A machine file: one JSON object, every field present. With a newline at the end.
std::string to_json(const Machine& machine);
/// Like to_json(), on one line.
std::string to_json_line(const Machine& machine);
/// Reads what `to_json` writes. Strict: throws RunFormatError with the JSON path and what was
/// expected, also for a machine that `check` refuses.
Machine machine_from_json(std::string_view text);

/// The machine as `clprobe list` and the probes see a device. What a driver would report is taken
/// from the machine; the clock's overhead is found by simulating two reads in a row.
DeviceInfo describe_device(const Machine& machine);

}  // namespace clprobe::simulator
