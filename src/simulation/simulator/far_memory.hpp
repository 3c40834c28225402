// SPDX-License-Identifier: Apache-2.0
// Second-level cache and main memory, which all compute units share, and the links of the units to
// them. Banks and ports have limited bandwidths, and latencies depend on the line. Requests arrive
// in order of time, so that the time of an answer is known at once.
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

/// Returns a value of the range, uniformly distributed and determined by line and seed.
std::uint64_t draw(const Latency& range, std::uint64_t place, std::uint64_t seed);

/// The cycle in which a value is available at the core, and the level that it comes from.
struct Service {
  std::uint64_t ready{0};
  Level level{Level::l2};
};

/// The cycle in which an atomic reaches the second level, and the latency of its answer.
struct AtomicWay {
  std::uint64_t arrival{0};
  std::uint64_t back_cycles{0};
};

/// A port with a limited rate. Times are in 1/1024 of a cycle.
struct Port {
  static constexpr std::uint64_t fraction = 1024;

  std::uint64_t sector_cost{0};
  std::uint64_t free{0};

  std::uint64_t pass(std::uint64_t now, std::uint64_t sectors) {
    const std::uint64_t start = std::max(free, now * fraction);
    free = start + sectors * sector_cost;
    // The last sector starts one cost before the port is free again.
    return (free - sector_cost) / fraction;
  }
};

/// The shared part: the second level, its banks, and the owners of lines.
class FarMemory {
 public:
  /// `units`: number of compute units that share the memory.
  FarMemory(const Machine& machine, std::uint64_t units);

  /// Adds the first level of the next compute unit, which loses lines to new owners.
  void add_unit(Cache& l1) { l1s_.push_back(&l1); }

  Cache& l2() { return l2_; }
  /// Returns the cycle in which the line's bank accepts a request.
  std::uint64_t enter_bank(std::uint64_t now, std::uint64_t line);
  /// Returns the cycle in which an atomic that arrives at `arrival` is performed. Atomics on a line
  /// are performed one after another.
  std::uint64_t perform_atomic(std::uint64_t arrival, std::uint64_t line);

  /// Returns true if another unit owns the line.
  [[nodiscard]] bool is_owned_elsewhere(std::size_t unit, std::uint64_t line) const {
    const auto owner = owners_.find(line);
    return owner != owners_.end() && owner->second != unit;
  }
  /// Makes `unit` the owner, and removes the line from a previous owner's first level. Returns true
  /// if there was a previous owner.
  bool take_ownership(std::size_t unit, std::uint64_t line);
  void end_ownership(std::size_t unit, std::uint64_t line);

 private:
  std::uint64_t atomic_cycles_;
  bool is_shared_;
  Cache l2_;
  // Cycle in which each accepts the next request; empty: no limit.
  std::vector<std::uint64_t> banks_;
  std::vector<Cache*> l1s_{};
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_{};  // cycle of the next atomic, by line
  std::unordered_map<std::uint64_t, std::size_t> owners_{};     // owning unit, by line
};

/// A compute unit's link to far memory: its ports, its translations, and its latency to each line.
class FarLink {
 public:
  /// Keeps a reference to `far`. `unit`: index among the units that share the memory.
  FarLink(const Machine& machine, FarMemory& far, std::size_t unit, std::uint64_t seed);

  /// Reads sectors. `is_remote`: a compute unit outside the simulation owns the line.
  Service read(std::uint64_t now, std::uint64_t line, std::uint32_t sectors, bool is_remote);
  /// Writes sectors. Returns the cycle in which the core receives the confirmation.
  std::uint64_t write(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Writes an owned line, and ends the ownership.
  std::uint64_t write_back(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Registers this unit as the owner of a line, without moving data.
  std::uint64_t take_ownership(std::uint64_t now, std::uint64_t line, bool is_remote);
  /// Returns the cycle in which the core has the answer.
  std::uint64_t atomic(std::uint64_t now, std::uint64_t line);
  /// Sends an atomic at `earliest` or later, which is known at `now`.
  AtomicWay send_atomic(std::uint64_t now, std::uint64_t earliest, std::uint64_t line);
  void make_resident(std::uint64_t line, std::uint32_t sectors);

 private:
  [[nodiscard]] std::uint64_t l2_cycles_to(std::uint64_t line) const {
    return draw(l2_latency_, line, seed_);
  }
  [[nodiscard]] std::uint64_t memory_cycles_to(std::uint64_t line) const;
  [[nodiscard]] std::uint64_t remote_cycles_to(std::uint64_t line) const;
  /// Returns the cycles until the line's page is translated, and keeps the translation.
  std::uint64_t translate(std::uint64_t line);
  /// Returns the line in the second level, inserting it if necessary; null without a second level.
  /// An evicted dirty line passes this unit's port.
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
