// SPDX-License-Identifier: Apache-2.0
// Second-level cache and main memory, which all compute units share, and the link from each compute
// unit to both memories. Banks and ports have limited bandwidths, and latencies depend on the line.
// Requests arrive in order of time, so the time of an answer is known when its request arrives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"
#include "simulation/simulator/cache.hpp"

namespace clprobe::simulator {

/// Returns a uniformly distributed value of the range, which `place` and `seed` determine.
std::uint64_t draw(const Latency& range, std::uint64_t place, std::uint64_t seed);

/// The cycle in which a value is available at the core, and the level that supplied the value.
struct Service {
  std::uint64_t ready{0};
  Level level{Level::l2};
};

/// The cycle in which an atomic reaches the second level, and the cycles from there back to the
/// core.
struct AtomicWay {
  std::uint64_t arrival{0};
  std::uint64_t back_cycles{0};
};

/// A port with a limited rate. Its members are in 1/1024 cycle; `pass` takes and returns cycles.
struct Port {
  static constexpr std::uint64_t fraction = 1024;

  std::uint64_t sector_cost{0};
  std::uint64_t free{0};

  std::uint64_t pass(std::uint64_t now, std::uint64_t sectors) {
    const std::uint64_t start = std::max(free, now * fraction);
    free = start + sectors * sector_cost;
    // The last sector passes at the time at which the port is free again, minus the cost of one
    // sector.
    return (free - sector_cost) / fraction;
  }
};

/// The memory that compute units share: the second level, its banks, and the owners of lines.
class FarMemory {
 public:
  /// `units`: number of compute units that share the memory.
  FarMemory(const Machine& machine, std::uint64_t units);

  /// Adds the first level of the next compute unit. This first level loses a line when another unit
  /// takes ownership of the line.
  void add_unit(Cache& l1) { l1s_.push_back(&l1); }

  Cache& l2() { return l2_; }
  /// Occupies the line's bank for the first free cycle from `now` on, and returns this cycle.
  std::uint64_t enter_bank(std::uint64_t now, std::uint64_t line);
  /// Performs an atomic that arrives in cycle `arrival`, after earlier atomics on the same line.
  /// Returns the cycle in which it is performed.
  std::uint64_t perform_atomic(std::uint64_t arrival, std::uint64_t line);

  /// Returns true if a unit other than `unit` owns the line.
  [[nodiscard]] bool is_owned_elsewhere(std::size_t unit, std::uint64_t line) const {
    const auto owner = owners_.find(line);
    return owner != owners_.end() && owner->second != unit;
  }
  /// Makes `unit` the owner of the line, and removes the line from the first level of another unit
  /// that owned it. Returns true if there was such a unit.
  bool take_ownership(std::size_t unit, std::uint64_t line);
  void end_ownership(std::size_t unit, std::uint64_t line);

 private:
  std::uint64_t atomic_cycles_;
  bool is_shared_;
  Cache l2_;
  // Cycle in which each bank accepts its next request; empty: no limit.
  std::vector<std::uint64_t> banks_;
  std::vector<Cache*> l1s_{};
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_{};  // cycle of the next atomic, by line
  std::unordered_map<std::uint64_t, std::size_t> owners_{};     // unit that owns a line, by line
};

/// A compute unit's link to the shared memory: its ports, its translations, and its latency to each
/// line.
class FarLink {
 public:
  /// Keeps a reference to `far`. `unit`: index of the unit among the units that share the memory.
  FarLink(const Machine& machine, FarMemory& far, std::size_t unit, std::uint64_t seed);

  /// Reads sectors of a line. `is_remote`: true if a compute unit outside the simulation owns the
  /// line.
  Service read(std::uint64_t now, std::uint64_t line, std::uint32_t sectors, bool is_remote);
  /// Writes sectors of a line. Returns the cycle in which the core receives the acknowledgement.
  std::uint64_t write(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Writes an owned line back, and ends the ownership. Returns the cycle of the acknowledgement.
  std::uint64_t write_back(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Registers this unit as the owner of a line, without moving data. Returns the cycle of the
  /// answer.
  std::uint64_t take_ownership(std::uint64_t now, std::uint64_t line, bool is_remote);
  /// Performs an atomic on a line. Returns the cycle in which the core receives the answer.
  std::uint64_t atomic(std::uint64_t now, std::uint64_t line);
  /// Sends an atomic in cycle `earliest` or later. The atomic queues at the port from `now` on.
  AtomicWay send_atomic(std::uint64_t now, std::uint64_t earliest, std::uint64_t line);
  void make_resident(std::uint64_t line, std::uint32_t sectors);

 private:
  [[nodiscard]] std::uint64_t l2_cycles_to(std::uint64_t line) const {
    return draw(l2_latency_, line, seed_);
  }
  [[nodiscard]] std::uint64_t memory_cycles_to(std::uint64_t line) const;
  [[nodiscard]] std::uint64_t remote_cycles_to(std::uint64_t line) const;
  /// Returns the cycles until the line's page is translated, and inserts the page's translation.
  std::uint64_t translate(std::uint64_t line);
  /// Returns the line in the second level, and inserts it if it is absent. Returns null without a
  /// second level. If a dirty line is evicted, its sectors pass this unit's memory port.
  CacheLine* find_or_allocate(std::uint64_t now, std::uint64_t line);

  FarMemory& far_;
  std::size_t unit_;
  Latency l2_latency_;
  Latency memory_latency_;
  Latency remote_latency_;
  std::uint64_t seed_;
  std::uint64_t page_lines_;
  std::uint64_t walk_cycles_;
  Cache pages_;
  Port port_;
  Port memory_port_;
};

}  // namespace clprobe::simulator
